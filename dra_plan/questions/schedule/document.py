"""`SchedulePlan`, the document of `schedule`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dra_plan.documents.base import PrintedDocument, PrintedWarning, one_of
from dra_plan.documents.refusals import Refusals
from dra_plan.documents.scheduling import (
    EvictedPod,
    ExplainedAttempt,
    ScheduledClaim,
    ScheduledPod,
    ScheduledPodGroup,
    ScheduledVolume,
    SchedulingTrace,
    SettledCluster,
)


class ScheduleDocument(PrintedDocument, frozen=True, kw_only=True):
    """What kube-scheduler does with the pods of an input."""

    kind: Literal["SchedulePlan"] = "SchedulePlan"
    api_server: Annotated[
        str,
        one_of("recorded", "real"),
        Meta(description="How the simulated API server behaves: as when outcomes were recorded, or as a real one."),
    ]
    pods: Annotated[list[ScheduledPod], Meta(description="In the order in which the scheduler sees them.")]
    pod_groups: Annotated[list[ScheduledPodGroup], Meta(description="PodGroups, where the gates let them count.")] = []
    claims: list[ScheduledClaim]
    volumes: Annotated[
        list[ScheduledVolume], Meta(description="The claims on volumes that had none in the input, by name.")
    ]
    evictions: list[EvictedPod]
    not_evaluated: Annotated[list[str], Meta(description="Plugins of the default profile that are not simulated.")]
    refusals: Refusals = UNSET
    warnings: list[PrintedWarning]
    outlook: Annotated[
        list[str] | UnsetType,
        Meta(description="Without --settle: what controllers would do next, where they would do anything."),
    ] = UNSET
    settled: Annotated[SettledCluster | UnsetType, Meta(description="With --settle: where everything ends.")] = UNSET
    trace: SchedulingTrace | UnsetType = UNSET
    explanations: Annotated[
        list[ExplainedAttempt] | UnsetType,
        Meta(description="With --explain: of the pods without a node that devices were refused to."),
    ] = UNSET


def devices_by_pod(document: ScheduleDocument) -> dict[str, list[str]]:
    """The devices DRIVER/POOL/DEVICE of the claims that are reserved for each pod, by NAMESPACE/NAME."""
    found: dict[str, list[str]] = {}
    for claim in document.claims:
        if claim.allocation is None:
            continue
        names = [f"{result.driver}/{result.pool}/{result.device}" for result in claim.allocation.devices.results]
        for user in claim.reserved_for:
            found.setdefault(f"{claim.namespace}/{user.name}", []).extend(names)
    return found
