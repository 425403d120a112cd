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
    PodRejectedLater,
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
        Meta(
            description=("The API server that was simulated: a real one, or the one with which outcomes were recorded.")
        ),
    ]
    pods: Annotated[list[ScheduledPod], Meta(description="The pods, in the order in which the scheduler handles them.")]
    pod_groups: Annotated[
        list[ScheduledPodGroup], Meta(description="The pod groups, if the feature gates for gang scheduling are on.")
    ] = []
    claims: list[ScheduledClaim]
    volumes: Annotated[
        list[ScheduledVolume],
        Meta(description=("The PersistentVolumeClaims for which the input has no volume, by name.")),
    ]
    evictions: list[EvictedPod]
    not_evaluated: Annotated[list[str], Meta(description="The plugins of the default profile that are not simulated.")]
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
    outlook: Annotated[
        list[str] | UnsetType,
        Meta(description="What controllers would do next, if anything; only without --settle."),
    ] = UNSET
    taint_evictions: Annotated[
        list[TaintEvictedPod] | UnsetType,
        Meta(description="The pods that taints would evict next, if any; only without --settle."),
    ] = UNSET
    rejected_later: Annotated[
        list[PodRejectedLater] | UnsetType,
        Meta(
            description="Without --settle: the pods that quotas and limits reject when all of these pods are created."
        ),
    ] = UNSET
    settled: Annotated[SettledCluster | UnsetType, Meta(description="The settled cluster; only with --settle.")] = UNSET
    trace: SchedulingTrace | UnsetType = UNSET
    explanations: Annotated[
        list[ExplainedAttempt] | UnsetType,
        Meta(description=("Why pods without a node got no devices; only with --explain.")),
    ] = UNSET
    contested: Annotated[
        list[ContestedPods] | UnsetType,
        Meta(description="Pods that have no node because other pods leave no room, by owner; only with --explain."),
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
