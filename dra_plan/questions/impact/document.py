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
        bool,
        Meta(
            description=(
                "Whether a controller would create the pod. Its name is then a placeholder, except in a StatefulSet."
            )
        ),
    ] = False


class QuotaUse(DocumentPart, frozen=True, kw_only=True):
    """The usage of one resource of a quota that the change applies, or that keeps pods or claims from being created."""

    namespace: str
    name: Text
    resource: Text
    used: Annotated[str, Meta(description="The usage right after the objects have been applied.")]
    used_after: Annotated[str, Meta(description="The usage once the cluster has settled.")]
    hard: str
    exceeded: Annotated[
        bool, Meta(description="Whether the usage exceeds the quota in the end. This does not terminate running pods.")
    ]
    pods: Annotated[
        Amount, Meta(description="Pods that are not created, or whose claims are not created, because of the quota.")
    ]
    unstated: Annotated[
        Amount,
        Meta(description="Running pods that could not be recreated, because they do not set this request or limit."),
    ] = 0
    scopes: Annotated[
        list[str], Meta(description="The scopes of the quota, if no pod in its namespace is in scope.")
    ] = []
    out_of_scope: Annotated[
        Amount, Meta(description="The number of pods in the quota's namespace, if none of them is in scope.")
    ] = 0
    counts_nothing: Annotated[
        str, Meta(description="Why the quota can never count an object as this resource; empty if it can.")
    ] = ""

    @property
    def refuses(self) -> bool:
        """Return whether the quota prevents pods, claims or their replacements from being created."""
        return bool(self.exceeded or self.pods or self.unstated)


class RuleTaint(DocumentPart, frozen=True, kw_only=True):
    """An applied device taint rule, and the number of devices that it selects."""

    name: Text
    key: str
    effect: str
    devices: Annotated[Amount, Meta(description="The number of published devices that get the taint.")]
    in_use: Annotated[Amount, Meta(description="The number of tainted devices that claims use before the change.")]
    reason: Annotated[str, Meta(description="Why the rule taints no device; empty if it taints some.")] = ""


class BrokenPool(DocumentPart, frozen=True, kw_only=True):
    """A pool with fewer slices than the slices declare. Its devices cannot be allocated until the pool is complete."""

    driver: Text
    pool: Text
    slices: Amount
    stated: Annotated[list[int], Meta(description="The numbers of slices that the slices declare.")]


class LaterPods(DocumentPart, frozen=True, kw_only=True):
    """Pods that an ordered StatefulSet does not create, because an earlier pod gets no node."""

    namespace: str
    stateful_set: Text
    waits_for: Annotated[Text, Meta(description="The earlier pod that gets no node.")]
    pods: list[Text]


class ImpactDocument(PrintedDocument, frozen=True, kw_only=True):
    """What happens to a cluster when objects are applied or the release changes.

    `target` describes the cluster after the change.
    """

    kind: Literal["Impact"] = "Impact"
    upgraded_from: Annotated[
        AnswerTarget | UnsetType, Meta(description="The release before the change; absent if it stays the same.")
    ] = UNSET
    applied: list[AppliedObject]
    pods: Annotated[
        list[AffectedPod], Meta(description="The affected pods. Running pods that are terminated come first.")
    ]
    later_pods: list[LaterPods] = []
    claim_sets: Annotated[
        list[ChangedClaimSet], Meta(description=("Claim sets of pending or future pods whose results differ."))
    ]
    selectors: list[ChangedSelector]
    held_devices: Annotated[list[HeldDevice], Meta(description="Devices that claims gain or lose.")]
    pools: list[ChangedPool]
    quotas: list[QuotaUse]
    taints: Annotated[
        list[RuleTaint], Meta(description="The devices that each of the applied DeviceTaintRules taints.")
    ] = []
    broken_pools: Annotated[
        list[BrokenPool], Meta(description="Incomplete pools that were complete before the change, or are new.")
    ] = []
    unsettled: Annotated[str, Meta(description="Why the cluster never settles after the change; empty if it does.")] = (
        ""
    )
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
