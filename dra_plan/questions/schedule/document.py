"""`SchedulePlan`, the document of `schedule`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import PrintedDocument, PrintedWarning, one_of
from dra_plan.documents.refusals import Refusals
from dra_plan.documents.scheduling import (
    ContestedPods,
    EvictedPod,
    ExplainedAttempt,
    ScheduledClaim,
    ScheduledPod,
    ScheduledPodGroup,
    ScheduledVolume,
    SchedulingTrace,
    SettledCluster,
    TaintEvictedPod,
)


class ScheduleDocument(PrintedDocument, frozen=True, kw_only=True):
    """What kube-scheduler does with the pods of an input."""

    kind: Literal["SchedulePlan"] = "SchedulePlan"
    api_server: Annotated[
        str,
        one_of("recorded", "real"),
        Meta(description=("The behaviour of the simulated API server: that of the recordings, or that of a real one.")),
    ]
    pods: Annotated[list[ScheduledPod], Meta(description="In the order in which the scheduler sees them.")]
    pod_groups: Annotated[list[ScheduledPodGroup], Meta(description="PodGroups, if the gates are on.")] = []
    claims: list[ScheduledClaim]
    volumes: Annotated[
        list[ScheduledVolume], Meta(description=("The volume claims without a volume in the input, by name."))
    ]
    evictions: list[EvictedPod]
    not_evaluated: Annotated[list[str], Meta(description="Plugins of the default profile that are not simulated.")]
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
    outlook: Annotated[
        list[str] | UnsetType,
        Meta(description="Without --settle: what controllers would do next, if anything."),
    ] = UNSET
    taint_evictions: Annotated[
        list[TaintEvictedPod] | UnsetType,
        Meta(description="Without --settle: the pods that taints would evict next, if any."),
    ] = UNSET
    settled: Annotated[SettledCluster | UnsetType, Meta(description="With --settle: the final state.")] = UNSET
    trace: SchedulingTrace | UnsetType = UNSET
    explanations: Annotated[
        list[ExplainedAttempt] | UnsetType,
        Meta(description=("With --explain: explanations for pods without a node to which devices were rejected.")),
    ] = UNSET
    contested: Annotated[
        list[ContestedPods] | UnsetType,
        Meta(description="With --explain: owners of pods without a node for which pods of others leave no room."),
    ] = UNSET


def devices_by_pod(document: ScheduleDocument) -> dict[str, list[str]]:
    """Return the devices of each pod, as DRIVER/POOL/DEVICE, by the pod's NAMESPACE/NAME.

    A pod's devices are those of the claims that are reserved for it.
    """
    found: dict[str, list[str]] = {}
    for claim in document.claims:
        if claim.allocation is None:
            continue
        names = [f"{result.driver}/{result.pool}/{result.device}" for result in claim.allocation.devices.results]
        for user in claim.reserved_for:
            found.setdefault(f"{claim.namespace}/{user.name}", []).extend(names)
    return found
