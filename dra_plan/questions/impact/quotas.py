"""Quotas that allow less than is used, or because of which pods get no claim or are not made."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.controllers.quota import Quotas
from dra_plan.questions.impact.document import AffectedPod, ExceededQuota, PodEffect

_EXCEEDED = re.compile(
    r"(?P<what>\S+) \"[^\"]*\" is forbidden: exceeded quota: (?P<quota>\S+), requested: (?P<requested>\S+),"
    r" used: (?P<used>\S+), limited: (?P<hard>\S+)"
)
_DEVICES = ".deviceclass.resource.k8s.io/devices"
_STOPPED: tuple[PodEffect, ...] = ("WithoutPlace", "NoLongerStarts", "Refused", "Waits")


@dataclass(frozen=True)
class QuotaRefusal:
    """What the API server says of an object that a quota does not allow: amounts by resource."""

    quota: str
    of_claim: bool
    requested: dict[str, str]
    used: dict[str, str]
    hard: dict[str, str]


def refusal_of(message: str) -> QuotaRefusal | None:
    """The refusal in a pod's message, if a quota is why it waits."""
    found = _EXCEEDED.search(message)
    if found is None:
        return None
    amounts = (dict(each.partition("=")[::2] for each in found[at].split(",")) for at in ("requested", "used", "hard"))
    return QuotaRefusal(found["quota"], found["what"].startswith("resourceclaims"), *amounts)


def in_words(refusal: QuotaRefusal, namespace: str) -> str:
    """`waits for its claim: quota ml/gpus allows 28 h100 devices, 28 are used and 1 more is requested`."""
    limits = []
    for name, hard in refusal.hard.items():
        what = f"{name.removesuffix(_DEVICES)} devices" if name.endswith(_DEVICES) else name
        used, more = refusal.used[name], refusal.requested[name]
        are, is_ = ("is" if amount == "1" else "are" for amount in (used, more))
        limits.append(f"{hard} {what}, {used} {are} used and {more} more {is_} requested")
    said = f"quota {namespace}/{refusal.quota} allows {'; '.join(limits)}"
    return f"waits for its claim: {said}" if refusal.of_claim else f"not created: {said}"


def stopping_quotas(
    before: Inventory, end: Inventory, written: Collection[tuple[str, str, str]], pods: Iterable[AffectedPod]
) -> Iterator[ExceededQuota]:
    """The written quotas that allow less than is used, and all that keep a pod from its claim or from being made.

    `before` is the cluster as soon as the change is written, `end` once it has settled.
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
    """Namespace and name of each quota that stops pods, and how many by resource."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for pod in pods:
        said = refusal_of(pod.after.message or "") if pod.after is not None and pod.effect in _STOPPED else None
        if said is not None:
            amounts = found.setdefault((pod.namespace, said.quota), {})
            for resource in said.hard:
                amounts[resource] = amounts.get(resource, 0) + 1
    return found


def _sums(inventory: Inventory) -> Quotas:
    """What the objects of an input use."""
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
