"""Device taint eviction (KEP-5055, controller-manager's device-taint-eviction-controller).

A pod is evicted if a device in a claim reserved for it has a NoExecute taint that the claim's allocation does not
tolerate. Claims for extended resources are ignored, and so are PodDisruptionBudgets.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dra_plan.allocator.identity import PoolID
from dra_plan.api.core import Pod
from dra_plan.api.resource import (
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    DeviceToleration,
    ResourceClaim,
    ResourceSlice,
)
from dra_plan.api.selectors import tolerates
from dra_plan.claims.pod_claims import PodClaimError, claim_name
from dra_plan.scheduler.clock import parse_time
from dra_plan.scheduler.cluster.keys import pod_uid

from .state import ClusterState, DeletePod, DeviceWithTaint, EndCause

_NO_EXECUTE = "NoExecute"
IN_PROGRESS = "EvictionInProgress"
"""The type of the condition in the status of device taint rules."""
BY_DEVICE_TAINT = "device taint"
CAUSE = EndCause(
    by=BY_DEVICE_TAINT,
    reason="DeletionByDeviceTaintManager",
    message="Device Taint manager: deleting due to NoExecute taint",
    event="DeviceTaintManagerEviction",
    marks="Marking for deletion",
    cancels="Cancelling deletion",
    is_disruption=True,
)


@dataclass(frozen=True)
class RuleCondition:
    """The `EvictionInProgress` condition of a device taint rule."""

    rule: str
    status: str
    reason: str
    message: str


Taints = Mapping[tuple[PoolID, str], Sequence[tuple[DeviceTaint, float]]]
"""The NoExecute taints of published devices, each with the time at which it was added."""

Rules = Sequence[tuple[DeviceTaintRule, float]]
"""The rules that evict pods, each with the time at which it was created. They also apply to unpublished devices."""


def step(state: ClusterState) -> list[DeletePod]:
    """Return the deletion of each pod that device taints evict, with its time."""
    taints, rules = published_taints(state), evicting_rules(state)
    if not taints and not rules:
        return []
    claims = {(claim.metadata.namespace, claim.metadata.name): claim for claim in state.inventory.claims}
    firsts: dict[tuple[str, str], EvictingTaint | None] = {}
    found = []
    for pod in state.running:
        used = list(reserved_claims(pod, claims))
        for claim in used:
            if (key := (claim.metadata.namespace, claim.metadata.name)) not in firsts:
                firsts[key] = min(evicting_taints(claim, taints, rules), key=_moment, default=None)
        here = (firsts[claim.metadata.namespace, claim.metadata.name] for claim in used)
        first = min((each for each in here if each is not None), key=_moment, default=None)
        if first is not None:
            wanting = tuple(rule.metadata.name for rule, _ in rules if any(_selected(rule, claim) for claim in used))
            of = first.result
            taint = DeviceWithTaint(f"{of.driver}/{of.pool}/{of.device}", first.taint, first.rule)
            found.append(DeletePod(pod, CAUSE, first.moment, wanting, taint))
    return found


def _moment(of: EvictingTaint) -> float:
    return of.moment


def rule_conditions(state: ClusterState, pending: Sequence[DeletePod]) -> list[RuleCondition]:
    """Return the condition that the controller writes to the status of each device taint rule.

    `pending` are the evictions that have not happened yet.
    """
    if not state.target.features.device_taint_rules:
        return []
    found = []
    for rule in state.inventory.taint_rules:
        name = rule.metadata.name
        evicted = sum(name in each.rules for each in state.ended)
        waiting = [each.pod for each in pending if name in each.rules]
        found.append(RuleCondition(name, *_progress(state, rule, evicted, waiting)))
    return found


def _progress(state: ClusterState, rule: DeviceTaintRule, evicted: int, waiting: Sequence[Pod]) -> tuple[str, str, str]:
    """Return the condition's status, reason and message."""
    effect = rule.spec.taint.effect
    if effect == "None":
        return "False", "NoEffect", _foretold(state, rule)
    if effect != _NO_EXECUTE:
        return "False", "OtherEffect", "Eviction only happens for the NoExecute effect."
    if waiting:
        return "True", "PodsPendingEviction", pending_message(waiting)
    if evicted:
        return "False", "Completed", f"{counted(evicted, 'pod')} evicted since starting the controller."
    return "False", "NotStarted", ""


def pending_message(pods: Sequence[Pod]) -> str:
    """Return the controller's message about the pods that a rule is about to evict."""
    needs = "needs" if len(pods) == 1 else "need"
    return f"{counted(len(pods), 'pod')} {needs} to be evicted in {_namespaces(pods)}."


def _namespaces(pods: Sequence[Pod]) -> str:
    number = len({pod.metadata.namespace for pod in pods})
    return "1 namespace" if number == 1 else f"{number} different namespaces"


def counted(number: int, noun: str) -> str:
    """Return the number with the noun, such as `1 pod` or `2 pods`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _foretold(state: ClusterState, rule: DeviceTaintRule) -> str:
    """Return the text about the pods that a rule without effect would evict."""
    published = sum(
        1
        for each in _newest(state)
        for device in each.spec.devices
        if _means(rule.spec.device_selector, each.spec.driver, each.spec.pool.name, device.name)
    )
    claims = {(claim.metadata.namespace, claim.metadata.name): claim for claim in state.inventory.claims}
    allocated = sum(_selected(rule, claim) for claim in claims.values())
    pods = [pod for pod in state.running if any(_selected(rule, claim) for claim in reserved_claims(pod, claims))]
    devices = f"{counted(published, 'published device')} selected. {counted(allocated, 'allocated device')} selected."
    would = f"{counted(len(pods), 'pod')} would be evicted in {_namespaces(pods)} if the effect was NoExecute."
    return (
        f"{devices} {would} "
        "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."
    )


def _selected(rule: DeviceTaintRule, claim: ResourceClaim) -> int:
    """Return how many of the claim's allocated devices the rule selects."""
    results = claim.allocation.devices.results if claim.allocation is not None else ()
    return sum(_means(rule.spec.device_selector, each.driver, each.pool, each.device) for each in results)


def reserved_claims(pod: Pod, claims: Mapping[tuple[str, str], ResourceClaim]) -> Iterator[ResourceClaim]:
    """Yield the pod's allocated claims that are reserved for it."""
    for entry in pod.spec.resource_claims:
        try:
            name = claim_name(pod, entry)
        except PodClaimError:
            continue
        claim = claims.get((pod.metadata.namespace, name or ""))
        if claim is None or claim.status is None or claim.status.allocation is None:
            continue
        if any(user.uid == pod_uid(pod) or user.resource == "podgroups" for user in claim.status.reserved_for):
            yield claim


@dataclass(frozen=True)
class EvictingTaint:
    """A taint on an allocated device, and the time at which it evicts the pods that use the device.

    `rule` is the name of the rule with the taint, or "". `tolerated` says whether a toleration delays the eviction
    until that time.
    """

    result: DeviceRequestAllocationResult
    taint: DeviceTaint
    moment: float
    rule: str = ""
    tolerated: bool = False


def evicting_taints(claim: ResourceClaim, taints: Taints, rules: Rules) -> Iterator[EvictingTaint]:
    """Yield the taints on the claim's devices, except those that the allocation tolerates forever."""
    for result in claim.allocation.devices.results if claim.allocation is not None else ():
        own = taints.get((PoolID(result.driver, result.pool), result.device), ())
        found = [(taint, added, "") for taint, added in own]
        found += [
            (rule.spec.taint, added, rule.metadata.name)
            for rule, added in rules
            if _means(rule.spec.device_selector, result.driver, result.pool, result.device)
        ]
        for taint, added, rule_name in found:
            seconds = tolerated_seconds(taint, result.tolerations)
            if seconds < math.inf:
                yield EvictingTaint(result, taint, added + seconds, rule_name, tolerated=seconds > 0)


def tolerated_seconds(taint: DeviceTaint, tolerations: Iterable[DeviceToleration]) -> float:
    """Return for how many seconds the taint is tolerated: 0 without a toleration, infinity without a limit.

    The lowest limit applies. Only tolerations whose effect is exactly NoExecute count. If the effect of a toleration is
    unset, the pod is scheduled but still evicted (1.36.2, recorded in dt-16, dt-66).
    """
    matching = [each for each in tolerations if each.effect == _NO_EXECUTE and tolerates(each, taint)]
    if not matching:
        return 0.0
    limits = [each.toleration_seconds for each in matching if each.toleration_seconds is not None]
    return max(0.0, float(min(limits))) if len(limits) == len(matching) else math.inf


def published_taints(state: ClusterState) -> Taints:
    """Return the NoExecute taints of the devices in the newest generation of each pool."""
    if not (state.target.features.device_taints and state.has_device_taints):
        return {}
    found: dict[tuple[PoolID, str], list[tuple[DeviceTaint, float]]] = {}
    for each in _newest(state):
        since = state.since("ResourceSlice", each.metadata.name)
        for device in each.spec.devices:
            for taint in device.taints:
                if taint.effect == _NO_EXECUTE:
                    found.setdefault((_pool(each), device.name), []).append((taint, _added(taint, since)))
    return found


def nodes_with_taints(state: ClusterState) -> frozenset[str] | None:
    """Return the nodes with devices that have NoExecute taints, or None if such a device is not local to a node."""
    taints, rules = published_taints(state), evicting_rules(state)
    found: set[str] = set()
    for each in _newest(state):
        pool = _pool(each)
        for device in each.spec.devices:
            ruled = any(_means(rule.spec.device_selector, *pool, device.name) for rule, _ in rules)
            if not (ruled or (pool, device.name) in taints):
                continue
            if not each.spec.node_name:
                return None
            found.add(each.spec.node_name)
    return frozenset(found)


def _newest(state: ClusterState) -> list[ResourceSlice]:
    """Return the slices in each pool's newest generation."""
    newest: dict[PoolID, int] = defaultdict(int)
    for each in state.inventory.slices:
        newest[_pool(each)] = max(newest[_pool(each)], each.spec.pool.generation)
    return [each for each in state.inventory.slices if each.spec.pool.generation == newest[_pool(each)]]


def _pool(each: ResourceSlice) -> PoolID:
    return PoolID(each.spec.driver, each.spec.pool.name)


def evicting_rules(state: ClusterState) -> Rules:
    """Return the device taint rules that evict pods.

    A rule without a selector evicts none, although the scheduler applies it to all devices.
    """
    if not state.target.features.device_taint_rules:
        return []
    return [
        (rule, _added(rule.spec.taint, state.since("DeviceTaintRule", rule.metadata.name)))
        for rule in state.inventory.taint_rules
        if rule.spec.device_selector is not None and rule.spec.taint.effect == _NO_EXECUTE
    ]


def _means(selector: DeviceTaintSelector | None, driver: str, pool: str, device: str) -> bool:
    """Return whether the selector matches; for the eviction controller, a rule without a selector selects nothing."""
    return (
        selector is not None
        and selector.driver in (None, driver)
        and selector.pool in (None, pool)
        and selector.device in (None, device)
    )


def _added(taint: DeviceTaint, since: float) -> float:
    """Return the time when the taint was added.

    It is the taint's own time, or else that of its object, in whole seconds as the API server writes it.
    """
    moment = parse_time(taint.time_added)
    return moment if moment is not None else math.floor(since)
