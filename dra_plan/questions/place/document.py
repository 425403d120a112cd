"""`Placement`, the document of `place`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta

from dra_plan.documents.base import Amount, DocumentPart, ObjectName, PrintedDocument, PrintedWarning, Text
from dra_plan.documents.claim_sets import PlacedPodClaim
from dra_plan.documents.obstacles import NextCopy
from dra_plan.documents.refusals import Refusals
from dra_plan.questions.capacity.document import PARTS as CAPACITY_PARTS

PlacementOutcome = Literal["Placed", "Impossible", "Undecided", "Refused"]
"""Refused: all that are left can be placed, but the API server refuses others of the pods asked about."""
"""Placed: all of what was asked for has a place at the same time. Impossible: that is proved not to exist. Undecided:
neither was found; `atLeast` and `atMost` say how many pods are known to fit, and how many can't be excluded."""


class PodMaker(DocumentPart, frozen=True, kw_only=True):
    """The workload from whose template a pod is made, in the pod's namespace."""

    api_version: str
    kind: Text
    name: Text


class PlacedPodEntry(DocumentPart, frozen=True, kw_only=True):
    """A pod, and the node that it would run on."""

    namespace: str
    name: Text
    node: Text
    claims: Annotated[
        list[PlacedPodClaim],
        Meta(description="Its claims with new devices; one that pods share stands with the first of them."),
    ]
    made_by: Annotated[PodMaker | None, Meta(description="What makes the pod; absent for a bare one.")] = None


class PriorityLevel(DocumentPart, frozen=True, kw_only=True):
    """The pods of one priority, and the gangs whose highest priority it is: these come first."""

    priority: int
    groups: Annotated[Amount, Meta(description="Gangs that have yet to start.")] = 0
    started: Annotated[Amount, Meta(description="How many of them start.")] = 0
    at_most_started: Annotated[Amount, Meta(description="More of them can't start; proved.")] = 0
    pods: Amount
    placed: Amount
    at_most: Annotated[
        Amount, Meta(description="More of them can't run, whatever is chosen, beside those of higher priority.")
    ]


class WantedGroup(DocumentPart, frozen=True, kw_only=True):
    """A pod group that was named, or a gang of pods that were asked about."""

    namespace: str
    name: Text
    pods: Annotated[Amount, Meta(description="How many of its waiting pods were asked about.")]
    needed: Annotated[Amount, Meta(description="So many of its waiting pods have to have a place, or none counts.")]
    placed: Amount


class ImpossibilityProof(DocumentPart, frozen=True, kw_only=True):
    """A set that can't be placed. Where it is `minimal`, the others can be without any one of its pods.

    Other sets that prove the same may have fewer pods.
    """

    pods: Annotated[
        list[ObjectName],
        Meta(description="Pods that can't all run; of a group, as many of its pods as can't run at the same time."),
    ]
    group: Annotated[
        ObjectName | None,
        Meta(description="The gang that these pods are all of that are asked about: too few, so that it can't start."),
    ] = None
    minimal: Annotated[
        bool, Meta(description="Whether it is proved that without any one of these pods the others can be placed.")
    ]
    together: Annotated[Amount, Meta(description="How many of them are known to have room at the same time.")]
    left: Annotated[ObjectName, Meta(description="One that has no place when the others are placed.")]
    message: Annotated[str, Meta(description="What the scheduler would say to it then.")]
    in_the_way: Annotated[
        NextCopy | None,
        Meta(description="What is in its way then; `nodesWithCopies` are those that hold others of the set."),
    ]


class RefusedAfterwards(DocumentPart, frozen=True, kw_only=True):
    """A pod that a filter outside the program does not let in, on the node that the program has for it."""

    namespace: str
    name: Text
    node: Text
    plugin: Text
    message: str


class SchedulerResult(DocumentPart, frozen=True, kw_only=True):
    """What kube-scheduler would do with the same pods."""

    bound: Annotated[Amount, Meta(description="How many it binds, parts of gangs left out.")]
    started: Annotated[Amount, Meta(description="How many gangs it starts.")]
    is_best: Annotated[
        bool | None,
        Meta(description="Whether it is proved that no placement is better, by `priorities`; null if that is open."),
    ]


PARTS = CAPACITY_PARTS
"""The structs of values that their types do not name."""


class PlacementDocument(PrintedDocument, frozen=True, kw_only=True):
    """Whether there is a placement of all pods asked about, and which."""

    kind: Literal["Placement"] = "Placement"
    outcome: PlacementOutcome
    pods: Annotated[Amount, Meta(description="How many pods were asked about.")]
    at_least: Annotated[Amount, Meta(description="So many of them can run at the same time.")]
    at_most: Annotated[Amount, Meta(description="More of them can't; proved.")]
    placed: Annotated[
        list[PlacedPodEntry],
        Meta(description="The placement; empty where not all have one, unless as many as possible were asked for."),
    ]
    left: Annotated[list[ObjectName], Meta(description="The pods without a place, where `placed` is not empty.")]
    groups: list[WantedGroup]
    proof: Annotated[ImpossibilityProof | None, Meta(description="Of what is Impossible.")]
    refused_afterwards: Annotated[
        list[RefusedAfterwards],
        Meta(description="Pods without a place because filters refuse that the program leaves out."),
    ]
    priorities: Annotated[list[PriorityLevel], Meta(description="With --most: highest first.")]
    scheduler: Annotated[SchedulerResult | None, Meta(description="With --most.")]
    cut_short: Annotated[
        bool, Meta(description="Whether the time was over, or the search was stopped, before all was asked.")
    ] = False
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
