"""`Impact`, the document of `impact`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import (
    Amount,
    AnswerTarget,
    AppliedObject,
    DocumentPart,
    PrintedDocument,
    PrintedWarning,
    Text,
)
from dra_plan.documents.refusals import Refusals
from dra_plan.questions.diff.document import ChangedClaimSet, ChangedPod, ChangedPool, ChangedSelector, HeldDevice

PodEffect = Literal[
    "Gone",
    "WithoutPlace",
    "EvictedAgain",
    "Moves",
    "Restarts",
    "Starts",
    "NoLongerStarts",
    "Elsewhere",
    "Refused",
    "Undecided",
    "Waits",
    "Other",
]
"""Gone: it runs, ends, and nothing recreates it. WithoutPlace: its replacement gets no node. EvictedAgain: its
replacements are evicted as well, endlessly. Moves, Restarts: its replacement gets another node or devices, or the same.
Starts, NoLongerStarts: it is pending, and gets a node only after, or only before. Elsewhere: it is pending, and gets
another node. Refused: the API server no longer accepts it. Undecided: a search was cut short. Waits: it is new, and
gets no node. Other: it is pending in both, with a different scheduler message."""


class AffectedPod(ChangedPod, frozen=True, kw_only=True):
    """A pod that the change affects, before and after."""

    effect: PodEffect
    foreseen: Annotated[
        bool, Meta(description="A controller would make the pod; except in a StatefulSet, its name is a placeholder.")
    ] = False


class ExceededQuota(DocumentPart, frozen=True, kw_only=True):
    """A quota that allows less than is used, or that keeps pods from getting their claims."""

    namespace: str
    name: Text
    resource: Text
    used: Annotated[str, Meta(description="What is used as soon as the objects are applied.")]
    used_after: Annotated[str, Meta(description="What is used once the cluster has settled.")]
    hard: str
    exceeded: Annotated[bool, Meta(description="More is used than it allows; no running pod ends because of it.")]
    pods: Annotated[Amount, Meta(description="Pods that get no claim because of it.")]


class RuleTaint(DocumentPart, frozen=True, kw_only=True):
    """An applied device taint rule, and the devices that it selects."""

    name: Text
    key: str
    effect: str
    devices: Annotated[Amount, Meta(description="Published devices that get the taint.")]
    in_use: Annotated[Amount, Meta(description="Those of them that claims have before.")]


class BrokenPool(DocumentPart, frozen=True, kw_only=True):
    """A pool with fewer slices than they declare: none of its devices is allocated until it is complete."""

    driver: Text
    pool: Text
    slices: Amount
    stated: Annotated[list[int], Meta(description="The numbers that the slices state.")]


class ImpactDocument(PrintedDocument, frozen=True, kw_only=True):
    """The effect of objects, or of another release, on a cluster. `target` is that of the cluster after."""

    kind: Literal["Impact"] = "Impact"
    upgraded_from: Annotated[
        AnswerTarget | UnsetType, Meta(description="The release before; absent if it is the same.")
    ] = UNSET
    applied: list[AppliedObject]
    pods: Annotated[list[AffectedPod], Meta(description="Running pods that end come first.")]
    claim_sets: Annotated[
        list[ChangedClaimSet], Meta(description=("Pending or future pods and claims that fit differently."))
    ]
    selectors: list[ChangedSelector]
    held_devices: Annotated[list[HeldDevice], Meta(description="Devices of claims that came or went.")]
    pools: list[ChangedPool]
    quotas: list[ExceededQuota]
    taints: Annotated[list[RuleTaint], Meta(description="What each written DeviceTaintRule reaches.")] = []
    broken_pools: Annotated[
        list[BrokenPool], Meta(description="Broken pools that were complete before, or are new.")
    ] = []
    unsettled: Annotated[str, Meta(description="Why the cluster never settles afterwards; empty if it does.")] = ""
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
