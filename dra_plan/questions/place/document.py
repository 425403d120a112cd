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
"""Placed: everything requested fits at the same time. Impossible: it is proved that not everything fits. Undecided:
there is neither a placement nor a proof; `atLeast` pods are known to fit, and more than `atMost` pods cannot. Refused:
the remaining pods fit, but the API server rejects other selected pods."""


class PodMaker(DocumentPart, frozen=True, kw_only=True):
    """The workload from whose template a pod was created. It is in the pod's namespace."""

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
        Meta(
            description=(
                "The pod's claims that get devices. A shared claim is listed only for the first pod that uses it."
            )
        ),
    ]
    made_by: Annotated[PodMaker | None, Meta(description=("The controller of the pod; absent for a bare pod."))] = None


class PriorityLevel(DocumentPart, frozen=True, kw_only=True):
    """The pods and gangs of one priority. Gangs are placed first.

    A gang has the highest priority of any of its pods.
    """

    priority: int
    groups: Annotated[Amount, Meta(description="The number of gangs that have not started.")] = 0
    started: Annotated[Amount, Meta(description="The number of these gangs that start.")] = 0
    at_most_started: Annotated[Amount, Meta(description="A proved upper bound on the number of gangs that start.")] = 0
    pods: Amount
    placed: Amount
    at_most: Annotated[Amount, Meta(description="A proved upper bound on `placed`, given the pods of higher priority.")]


class WantedGroup(DocumentPart, frozen=True, kw_only=True):
    """A named pod group, or a gang that contains selected pods."""

    namespace: str
    name: Text
    pods: Annotated[Amount, Meta(description="The number of the group's pending pods that were selected.")]
    needed: Annotated[
        Amount,
        Meta(description=("The number of the group's pending pods that must have a node for any of them to count.")),
    ]
    placed: Amount


class ImpossibilityProof(DocumentPart, frozen=True, kw_only=True):
    """A set of pods that cannot be placed together. If `minimal` is true, leaving out any one pod makes the rest fit.

    There may be smaller sets of other pods that cannot be placed together either.
    """

    pods: Annotated[
        list[ObjectName],
        Meta(description="Pods that cannot all run at the same time."),
    ]
    alike: Annotated[
        list[ObjectName],
        Meta(
            description=(
                "Other pending pods that are equal to some of `pods`. Any equal number of pods from "
                "both lists cannot run together either."
            )
        ),
    ] = []
    group: Annotated[
        ObjectName | None,
        Meta(description=("The gang of the pods, if too few of its pods were selected for it to start.")),
    ] = None
    minimal: Annotated[
        bool, Meta(description="Whether it is proved that any pod can be left out to make the others fit.")
    ]
    together: Annotated[Amount, Meta(description="The number of pods in the set that are known to fit together.")]
    left: Annotated[ObjectName, Meta(description="The pod that does not fit once the others are placed.")]
    message: Annotated[str, Meta(description="The scheduler's message for `left`.")]
    in_the_way: Annotated[
        NextCopy | None,
        Meta(
            description=(
                "The reasons why `left` does not fit. `nodesWithCopies` counts nodes that have other pods of the set."
            )
        ),
    ]


class RefusedAfterwards(DocumentPart, frozen=True, kw_only=True):
    """A pod that cannot run on the node that the solver found, because another filter of the scheduler rejects it."""

    namespace: str
    name: Text
    node: Text
    plugin: Text
    message: str


class SchedulerResult(DocumentPart, frozen=True, kw_only=True):
    """What kube-scheduler does with the same pods."""

    bound: Annotated[
        Amount, Meta(description=("The number of pods that the scheduler binds, without pods of incomplete gangs."))
    ]
    started: Annotated[Amount, Meta(description="The number of gangs that the scheduler starts.")]
    is_best: Annotated[
        bool | None,
        Meta(
            description=(
                "Whether it is proved that no placement is better in terms of `priorities`. Null if this is not known."
            )
        ),
    ]


PARTS = CAPACITY_PARTS
"""Structs that are part of the document but do not appear in the types of its fields."""


class PlacementDocument(PrintedDocument, frozen=True, kw_only=True):
    """Whether all selected pods can be placed, and a placement."""

    kind: Literal["Placement"] = "Placement"
    outcome: PlacementOutcome
    pods: Annotated[Amount, Meta(description="The number of selected pods.")]
    at_least: Annotated[Amount, Meta(description="The number of selected pods that are known to fit together.")]
    at_most: Annotated[
        Amount, Meta(description="A proved upper bound on the number of selected pods that fit together.")
    ]
    placed: Annotated[
        list[PlacedPodEntry],
        Meta(description="The placement. Empty if not all pods have a node, unless --most is given."),
    ]
    left: Annotated[list[ObjectName], Meta(description="The pods that have no node in the placement.")]
    groups: list[WantedGroup]
    proof: Annotated[
        ImpossibilityProof | None, Meta(description="Why the pods cannot all be placed, if the outcome is Impossible.")
    ]
    refused_afterwards: Annotated[
        list[RefusedAfterwards],
        Meta(description="Pods that get no node because of filters that the integer program ignores."),
    ]
    priorities: Annotated[
        list[PriorityLevel], Meta(description="The result for each priority, the highest first; only with --most.")
    ]
    scheduler: Annotated[
        SchedulerResult | None, Meta(description="The scheduler's own result for the pods; only with --most.")
    ]
    cut_short: Annotated[bool, Meta(description="Whether the search was ended early.")] = False
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
