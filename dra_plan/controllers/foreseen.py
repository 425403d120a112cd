"""The next actions of controllers, such as evictions and their times, found without running the controllers.

The time of an input is that of its snapshot, or the newest time in its objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.owners import ended
from dra_plan.releases import Target
from dra_plan.scheduler.clock import known_time, latest

from . import device_eviction, node_eviction
from .device_eviction import counted, evicting_rules, evicting_taints, published_taints, reserved_claims
from .state import Action, ClusterState, DeletePod

if TYPE_CHECKING:
    from dra_plan.scheduler.simulate import SimulationResult
    from dra_plan.scheduler.simulation import Simulation


@dataclass(frozen=True)
class ForeseenEviction:
    """A future eviction of a pod because of a taint on its node or on one of its devices.

    `seconds` is counted from the time of the input; 0 means immediately. `time` is the same time in RFC 3339, if it is
    known. `device` is the driver, pool and device name, or None for a taint on the node. `claim` is the name of the
    claim with the device. `rule` is the name of the DeviceTaintRule with the taint, or "". `tolerated` says whether a
    toleration delays the eviction until that time.
    """

    pod: Pod
    seconds: float
    time: str
    key: str
    value: str
    device: tuple[str, str, str] | None = None
    claim: str = ""
    node: str = ""
    rule: str = ""
    tolerated: bool = False


class ForeseenEvictions:
    """The evictions that the taints in an input will cause if nothing changes."""

    def __init__(self, inventory: Inventory, target: Target) -> None:
        self._state = _state(inventory, target, newest_time(inventory))

    def of(self, pod: Pod) -> Sequence[ForeseenEviction]:
        """Return an eviction for each taint that evicts the pod, in order of time.

        Only the first one will happen. The result is empty if the pod stays.
        """
        if not pod.spec.node_name or ended(pod) or pod.metadata.deletion_timestamp is not None:
            return ()
        taints = [*self._of_devices.of(pod), *self._of_nodes.of(pod)]
        return sorted(taints, key=lambda each: each.seconds)

    def of_device(self, driver: str, pool: str, device: str) -> Sequence[ForeseenEviction]:
        """Return the evictions that taints on this device cause, in the order of the pods.

        Each pod has at most one: its earliest.
        """
        return self._by_device.get((driver, pool, device), ())

    @cached_property
    def _of_devices(self) -> _DeviceTaints:
        return _DeviceTaints(self._state)

    @cached_property
    def _of_nodes(self) -> _NodeTaints:
        return _NodeTaints(self._state)

    @cached_property
    def _by_device(self) -> Mapping[tuple[str, str, str], Sequence[ForeseenEviction]]:
        found: dict[tuple[str, str, str], dict[str, ForeseenEviction]] = {}
        for pod in self._state.running:
            for each in self.of(pod):
                if each.device is not None:
                    found.setdefault(each.device, {}).setdefault(each.pod.key, each)
        return {device: list(pods.values()) for device, pods in found.items()}


def evictions_of(inventory: Inventory, target: Target, pod: Pod) -> Sequence[ForeseenEviction]:
    """Return an eviction for each taint that will evict the pod, in order of time.

    For several pods, use `ForeseenEvictions`.
    """
    return ForeseenEvictions(inventory, target).of(pod)


class _DeviceTaints:
    """Evictions because of taints on devices."""

    def __init__(self, state: ClusterState) -> None:
        self._now = state.now
        self._taints, self._rules = published_taints(state), evicting_rules(state)
        self._claims = {(claim.metadata.namespace, claim.metadata.name): claim for claim in state.inventory.claims}

    def of(self, pod: Pod) -> Iterator[ForeseenEviction]:
        if not (self._taints or self._rules):
            return
        for claim in reserved_claims(pod, self._claims):
            for each in evicting_taints(claim, self._taints, self._rules):
                yield ForeseenEviction(
                    pod=pod,
                    seconds=max(0.0, each.moment - self._now),
                    time=known_time(max(each.moment, self._now), self._now),
                    key=each.taint.key,
                    value=each.taint.value or "",
                    device=(each.result.driver, each.result.pool, each.result.device),
                    claim=claim.metadata.name,
                    rule=each.rule,
                    tolerated=each.tolerated,
                )


class _NodeTaints:
    """Evictions because of taints on nodes."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state

    def of(self, pod: Pod) -> Iterator[ForeseenEviction]:
        node = self._state.nodes.get(pod.spec.node_name)
        taints = [each for each in node.spec.taints if each.effect == "NoExecute"] if node is not None else []
        moment, taint = node_eviction.deciding_taint(self._state, pod, taints)
        if taint is not None:
            yield ForeseenEviction(
                pod=pod,
                seconds=max(0.0, moment - self._state.now),
                time=known_time(max(moment, self._state.now), self._state.now),
                key=taint.key,
                value=taint.value or "",
                node=pod.spec.node_name,
                tolerated=moment > self._state.now,
            )


# -- the outlook after one pass of the scheduler -----------------------------------------------------------------------


@dataclass(frozen=True)
class NextActions:
    """The next actions of controllers and admission, as clauses of a message, and the pods that taints evict."""

    said: Sequence[str] = ()
    evicted_by: Mapping[str, Sequence[Pod]] = field(default_factory=dict)
    """The pods to be evicted, by cause: `device taint` or `node taint`."""


def outlook(simulation: Simulation, outcome: SimulationResult) -> NextActions:
    """Return what controllers and admission will do next in the cluster."""
    pods, claims = list(simulation.cluster.pods.values()), list(simulation.cluster.claims)
    inventory = replace(simulation.inventory, pods=pods, claims=claims)
    state = _state(inventory, simulation.target, simulation.clock.now)
    found = []
    evicted_by = {}
    if outcome.evictions:
        found.append(f"the claims of {counted(len(outcome.evictions), 'preempted pod')} come free")
    for step, by in ((device_eviction.step, "device taint"), (node_eviction.step, "node taint")):
        if evicted := _evicted(state, step):
            evicted_by[by] = evicted
            found.append(f"{by}s evict {counted(len(evicted), 'pod')}")
    return NextActions(found, evicted_by)


def _evicted(state: ClusterState, step: Callable[[ClusterState], Iterable[Action]]) -> list[Pod]:
    return [each.pod for each in step(state) if isinstance(each, DeletePod)]


def _state(inventory: Inventory, target: Target, now: float) -> ClusterState:
    """Return the current objects, before anything has happened."""
    return ClusterState(
        now=now,
        start=now,
        inventory=inventory,
        target=target,
        ended=(),
        made=frozenset(),
        revisions={},
        lost_nodes={},
        changed={},
    )


# -- the time of an input ----------------------------------------------------------------------------------------------


def newest_time(inventory: Inventory) -> float:
    """Return the newest time in the input, at which simulations of controllers start."""
    return latest(_times(inventory))


def _times(inventory: Inventory) -> Iterator[str | None]:
    if inventory.cluster_info is not None:
        yield inventory.cluster_info.time
    for holder in ("nodes", "slices", "taint_rules", "workloads", "quotas"):
        for each in getattr(inventory, holder):
            yield each.metadata.creation_timestamp
    for pod in inventory.pods:
        yield from (pod.metadata.creation_timestamp, pod.status.start_time)
        yield from (condition.last_transition_time for condition in pod.status.conditions)
    for claim in inventory.claims:
        yield claim.metadata.creation_timestamp
        yield claim.allocation.allocation_timestamp if claim.allocation is not None else None
    yield from (rule.spec.taint.time_added for rule in inventory.taint_rules)
    yield from (taint.time_added for node in inventory.nodes for taint in node.spec.taints)
    yield from (
        taint.time_added for each in inventory.slices for device in each.spec.devices for taint in device.taints
    )
