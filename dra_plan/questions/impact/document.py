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
from dra_plan.documents.devices import ChangedPool, ChangedSelector
from dra_plan.documents.refusals import Refusals
from dra_plan.questions.diff.document import ChangedClaimSet, ChangedPod, HeldDevice

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
"""Gone: the pod is running, ends, and is not recreated. WithoutPlace: the pod's replacement gets no node. EvictedAgain:
the pod's replacements are evicted too, endlessly. Moves, Restarts: the pod's replacement gets another node, or the same
one. Starts, NoLongerStarts: the pending pod gets a node only with the change, or only without it. Elsewhere: the
pending pod gets a different node. Refused: the API server no longer accepts the pod. Undecided: a search was cut short.
Waits: the pod is new and gets no node. Other: the pod stays pending with a different scheduler message."""


class AffectedPod(ChangedPod, frozen=True, kw_only=True):
    """A pod that the change affects, with its states before and after the change."""

    effect: PodEffect
    foreseen: Annotated[
        bool, Meta(description="A controller would create the pod. Except in a StatefulSet, its name is a placeholder.")
    ] = False


class QuotaUse(DocumentPart, frozen=True, kw_only=True):
    """The usage of one resource of a quota that the change applies, or that keeps pods or claims from being created."""

    namespace: str
    name: Text
    resource: Text
    used: Annotated[str, Meta(description="The usage as soon as the objects are applied.")]
    used_after: Annotated[str, Meta(description="The usage once the cluster has settled.")]
    hard: str
    exceeded: Annotated[
        bool, Meta(description="The usage in the end exceeds the quota, which terminates no running pod.")
    ]
    pods: Annotated[Amount, Meta(description="Pods that are not created, or get no claim, because of it.")]
    unstated: Annotated[
        Amount,
        Meta(description="Running pods that do not set this request or limit and could not be created again."),
    ] = 0
    scopes: Annotated[list[str], Meta(description="Its scopes, if they include no pod of its namespace.")] = []
    out_of_scope: Annotated[Amount, Meta(description="The pods of its namespace, if its scopes include none.")] = 0
    counts_nothing: Annotated[str, Meta(description="Why no object counts as this resource; empty if some can.")] = ""

    @property
    def refuses(self) -> bool:
        """Return whether the quota prevents pods, claims or their replacements from being created."""
        return bool(self.exceeded or self.pods or self.unstated)


class RuleTaint(DocumentPart, frozen=True, kw_only=True):
    """An applied device taint rule, and the number of devices that it selects."""

    name: Text
    key: str
    effect: str
    devices: Annotated[Amount, Meta(description="Published devices that get the taint.")]
    in_use: Annotated[Amount, Meta(description="Those of them that claims have before.")]
    reason: Annotated[str, Meta(description="Why it taints none; empty if it taints some.")] = ""


class BrokenPool(DocumentPart, frozen=True, kw_only=True):
    """A pool with fewer slices than the slices declare. Its devices cannot be allocated until the pool is complete."""

    driver: Text
    pool: Text
    slices: Amount
    stated: Annotated[list[int], Meta(description="The numbers that the slices state.")]


class LaterPods(DocumentPart, frozen=True, kw_only=True):
    """Pods that an ordered StatefulSet does not create, because an earlier pod gets no node."""

    namespace: str
    stateful_set: Text
    waits_for: Annotated[Text, Meta(description="The earlier pod.")]
    pods: list[Text]


class ImpactDocument(PrintedDocument, frozen=True, kw_only=True):
    """What happens to a cluster when objects are applied or the release changes.

    `target` describes the cluster after the change.
    """

    kind: Literal["Impact"] = "Impact"
    upgraded_from: Annotated[
        AnswerTarget | UnsetType, Meta(description="The release before; absent if it is the same.")
    ] = UNSET
    applied: list[AppliedObject]
    pods: Annotated[list[AffectedPod], Meta(description="Running pods that are terminated come first.")]
    later_pods: list[LaterPods] = []
    claim_sets: Annotated[
        list[ChangedClaimSet], Meta(description=("Pending or future pods and claims that fit differently."))
    ]
    selectors: list[ChangedSelector]
    held_devices: Annotated[list[HeldDevice], Meta(description="Devices that claims gained or lost.")]
    pools: list[ChangedPool]
    quotas: list[QuotaUse]
    taints: Annotated[list[RuleTaint], Meta(description="The devices that each applied DeviceTaintRule taints.")] = []
    broken_pools: Annotated[
        list[BrokenPool], Meta(description="Broken pools that were complete before, or are new.")
    ] = []
    unsettled: Annotated[str, Meta(description="Why the cluster never settles afterwards; empty if it does.")] = ""
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
