"""Quotas that allow less than is used, or that keep pods or their claims from being created."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.controllers.quota import DEVICES, Quotas
from dra_plan.questions.diff.document import ComparedPod
from dra_plan.questions.impact.document import AffectedPod, ExceededQuota, PodEffect

_STOPPED: tuple[PodEffect, ...] = ("WithoutPlace", "NoLongerStarts", "Refused", "Waits")


def in_words(state: ComparedPod, namespace: str) -> str:
    """Return `Waits for its claim: quota ml/gpus allows 28 h100 devices, 28 are used and 1 more is requested`.

    A pod that cannot be created itself is Refused.
    """
    amounts, kept = state.over_quota, "Refused" if state.outcome == "Refused" else "Waits for its claim"
    limits = []
    for one in amounts:
        what = f"{one.resource.removesuffix(DEVICES)} devices" if one.resource.endswith(DEVICES) else one.resource
        are, is_ = ("is" if amount == "1" else "are" for amount in (one.used, one.requested))
        limits.append(f"{one.hard} {what}, {one.used} {are} used and {one.requested} more {is_} requested")
    return f"{kept}: quota {namespace}/{amounts[0].quota} allows {'; '.join(limits)}"


def stopping_quotas(
    before: Inventory, end: Inventory, written: Collection[tuple[str, str, str]], pods: Iterable[AffectedPod]
) -> Iterator[ExceededQuota]:
    """Yield written quotas that allow less than is used, and all that keep a pod or its claim from being created.

    `before` is the cluster right after the change is written, and `end` is the settled cluster.
    """
    refused = _refused(pods)
    sums = [_sums(inventory) for inventory in (before, end)]
    for quota in before.quotas:
        metadata = quota.metadata
        over = {}
        if (quota.kind, metadata.namespace, metadata.name) in written:
            over = {resource: (used, hard) for resource, used, hard in sums[0].overdrawn(quota)}
        stopped = refused.get((metadata.namespace, metadata.name), {})
        now, later = (each.amounts(quota, [*over, *stopped]) for each in sums)
        for resource in dict.fromkeys([*over, *stopped]):
            yield ExceededQuota(
                namespace=metadata.namespace,
                name=metadata.name,
                resource=resource,
                used=now[resource][0],
                used_after=later[resource][0],
                hard=now[resource][1],
                exceeded=resource in over,
                pods=stopped.get(resource, 0),
            )


def _refused(pods: Iterable[AffectedPod]) -> dict[tuple[str, str], dict[str, int]]:
    """Return namespace and name of each quota that stops pods, with the number of these pods by resource."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for pod in pods:
        over = pod.after.over_quota if pod.after is not None and pod.effect in _STOPPED else []
        for one in over:
            amounts = found.setdefault((pod.namespace, one.quota), {})
            amounts[one.resource] = amounts.get(one.resource, 0) + 1
    return found


def _sums(inventory: Inventory) -> Quotas:
    """Return the usage of the objects of an input."""
    stay = [pod for pod in inventory.pods if not ended(pod)]
    every = [
        *stay,
        *inventory.claims,
        *inventory.workloads,
        *inventory.templates,
        *inventory.volume_claims,
        *inventory.services,
    ]
    quotas = Quotas(inventory)
    quotas.watch(
        lambda: inventory.classes, lambda namespace: [one for one in every if one.metadata.namespace == namespace]
    )
    return quotas
