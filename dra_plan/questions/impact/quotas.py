"""The usage of quotas that are applied, or that prevent pods or claims from being created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from dra_plan.api.core import Pod, ResourceQuota
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.quantity import parse
from dra_plan.claims.owners import ended
from dra_plan.controllers.over_quota import DEVICES
from dra_plan.controllers.quota import Quotas, counts_pods_or_claims, in_scope, never_counted, scopes_of, unset
from dra_plan.planner.answer import counted
from dra_plan.questions.impact.document import AffectedPod, PodEffect, QuotaUse
from dra_plan.whatif.edits import comes_back

_STOPPED: tuple[PodEffect, ...] = ("WithoutPlace", "NoLongerStarts", "Refused", "Waits")


def quota_uses(
    before: Inventory, end: Inventory, written: Collection[tuple[str, str, str]], pods: Sequence[AffectedPod]
) -> Iterator[QuotaUse]:
    """Yield the usage of each quota that the change applies, or that prevents a pod or claim from being created.

    `before` is the cluster right after the change, and `end` is the cluster once the controllers have acted.
    """
    refused = _refused(pods)
    now, later = (_sums(inventory) for inventory in (before, end))
    classes = [each.metadata.name for each in before.classes]
    for quota in before.quotas:
        metadata = quota.metadata
        is_written = (quota.kind, metadata.namespace, metadata.name) in written
        stopped = refused.get((metadata.namespace, metadata.name), {})
        over = {resource for resource, _, _ in later.overdrawn(quota)} if is_written else set()
        lacking = _unstated(later, quota, end.pods) if is_written else Counter[str]()
        outside = _out_of_scope(quota, end.pods) if is_written else 0
        amounts, after = (sums.amounts(quota, list(quota.spec.hard)) for sums in (now, later))
        for resource, (used, hard) in amounts.items():
            nothing = never_counted(resource, classes) if is_written else ""
            shown = is_written and (nothing or used != "0" or counts_pods_or_claims(resource))
            if shown or resource in stopped or resource in lacking:
                yield QuotaUse(
                    namespace=metadata.namespace,
                    name=metadata.name,
                    resource=resource,
                    used=used,
                    used_after=after[resource][0],
                    hard=hard,
                    exceeded=resource in over,
                    pods=stopped.get(resource, 0),
                    unstated=lacking[resource],
                    scopes=scopes_of(quota) if outside else [],
                    out_of_scope=outside,
                    counts_nothing=nothing,
                )


def _out_of_scope(quota: ResourceQuota, pods: Iterable[Pod]) -> int:
    """Return the number of pods in the quota's namespace if its scopes include none of them; otherwise 0."""
    there = [pod for pod in pods if pod.metadata.namespace == quota.metadata.namespace and not ended(pod)]
    return 0 if any(in_scope(quota, pod) for pod in there) else len(there)


def _unstated(quotas: Quotas, quota: ResourceQuota, pods: Iterable[Pod]) -> Counter[str]:
    """Return the number of running pods of controllers that do not set what the quota requires, by resource."""
    found: Counter[str] = Counter()
    for pod in pods:
        if pod.spec.node_name and comes_back(pod) and pod.metadata.namespace == quota.metadata.namespace:
            found.update(unset(quotas, quota, pod))
    return found


def of_quotas(quotas: Iterable[QuotaUse], inventory: Inventory) -> Iterator[Notice]:
    """Yield a notice for each resource of an applied quota that can never count any object."""
    for one in quotas:
        if one.counts_nothing:
            said = f"counts nothing as {one.resource}: {one.counts_nothing}"
            name, key = f"ResourceQuota {one.namespace}/{one.name}", ("ResourceQuota", one.namespace, one.name)
            yield Notice(COUNTS_NOTHING, said, name, inventory.source(key))


COUNTS_NOTHING = "quota-counts-nothing"
"""The code of the warning about a quota that counts nothing because its class does not exist."""


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


# In words


def sentences(quotas: Sequence[QuotaUse]) -> Iterator[str]:
    """Yield sentences about what each quota now rejects, and about resources that never count any object."""
    exceeded, used_up = "Usage exceeds quota {}: running pods are not terminated, but", "Quota {} is used up:"
    for over, begin in ((True, exceeded), (False, used_up)):
        found: dict[str, dict[str, None]] = {}
        for one in quotas:
            if one.exceeded if over else _is_used_up(one):
                found.setdefault(f"{one.namespace}/{one.name}", {})[_next(one.resource)] = None
        for name, refused in found.items():
            yield f"{begin.format(name)} no new {' or '.join(_widest(refused))} is admitted."
    outside = {
        f"Quota {one.namespace}/{one.name} counts none of the {counted(one.out_of_scope, 'pod')} in its namespace"
        f" (scope{'' if len(one.scopes) == 1 else 's'} {', '.join(one.scopes)})."
        for one in quotas
        if one.out_of_scope
    }
    yield from sorted(outside)
    for one in quotas:
        quota = f"quota {one.namespace}/{one.name}"
        if one.unstated:
            do, them = ("does", "it") if one.unstated == 1 else ("do", "them")
            pods = f"{counted(one.unstated, 'running pod')} {do} not set {one.resource}"
            yield f"{pods}: {quota} rejects {them} when recreated."
        if one.counts_nothing:
            yield f"Q{quota[1:]} counts nothing as {one.resource}: {one.counts_nothing}."


def _is_used_up(one: QuotaUse) -> bool:
    used, hard = (parse(text).nano for text in (one.used_after, one.hard))
    return used == hard and not (one.exceeded or one.pods or one.counts_nothing)


def _widest(refused: Iterable[str]) -> Iterator[str]:
    """Yield what is rejected, without parts of something else: no new pod means no new pod with requests.cpu."""
    every = set(refused)
    for one in refused:
        both = one.removeprefix("pod or claim for ")
        kinds = [kind for kind in ("pod", "claim") if both != one and kind not in every]
        if both != one and kinds:
            yield f"{' or '.join(kinds)} for {both}"
        elif both == one and (one in ("pod", "claim") or one.partition(" ")[0] not in every):
            yield one


def _next(resource: str) -> str:
    """Return what adds to the usage of the resource."""
    kind, _, name = resource.partition(".")
    if resource in ("pods", "count/pods"):
        return "pod"
    if resource.startswith("count/"):
        kind = resource.removeprefix("count/").partition(".")[0]
        return "claim" if kind == "resourceclaims" else f"object of {kind}"
    if resource.endswith(DEVICES):
        return f"claim for {resource.removesuffix(DEVICES)} devices"
    if kind == "requests" and "/" in name:
        return f"pod or claim for {name}"
    if kind in ("requests", "limits") and name != "storage":
        return f"pod with {resource}"
    return f"pod with requests.{resource}" if resource in ("cpu", "memory") else f"object that counts as {resource}"
