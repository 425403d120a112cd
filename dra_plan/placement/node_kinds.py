"""The cluster that pods are placed on, with the kinds of its pods and nodes.

`PlacementCluster` answers questions about one node with the scheduler's plugins and the allocator, without scheduling
any pod. `node_capacity` finds out which pods fit on a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
from msgspec.structs import replace

from dra_plan.allocator import AllocationError, Allocator, NodeOutcome, Pool, PoolID, View
from dra_plan.allocator.capacity import Counters
from dra_plan.allocator.pools import PoolSlice
from dra_plan.allocator.signature import Observer
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import (
    CELDeviceSelector,
    Device,
    DeviceAttribute,
    DeviceRequest,
    DeviceSelector,
    ResourceClaim,
)
from dra_plan.claims.sets import is_in_reach
from dra_plan.errors import DraPlanError
from dra_plan.releases import Quirk, Target
from dra_plan.scheduler.cluster.claims import usable
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.cluster.nodes import DEFAULT_SCHEDULER, NodeInfo, PodInfo
from dra_plan.scheduler.cluster.pod_requests import PODS
from dra_plan.scheduler.dra.extended import served_names
from dra_plan.scheduler.dra.filter import UNAVAILABLE, PodState
from dra_plan.scheduler.dra.plugin import DEFAULT_BINDING_TIMEOUT, DynamicResources
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import FilterPlugin, PreFilterPlugin
from dra_plan.scheduler.framework.status import CycleState, Status, failed, is_skip
from dra_plan.scheduler.plugins.node_affinity import MISMATCH
from dra_plan.scheduler.simulation import Simulation

from .limits import SearchTime, StepBudget

# -- pods to be placed, and their kinds --------------------------------------------------------------------------------


@dataclass(eq=False)
class PodToPlace:
    """A pod after PreFilter, with the state of its filters, or the status with which all nodes reject it.

    `filters` are the filters that depend only on the node and the pod. `only` are the names of the nodes that PreFilter
    allows, or None for all nodes.
    """

    info: PodInfo
    state: CycleState
    filters: Sequence[FilterPlugin] = ()
    only: frozenset[str] | None = None
    refusal: Status | None = None
    devices: PodState | None = None
    key: Hashable = None
    """A key for pods with the same results on every node."""

    @property
    def pod(self) -> Pod:
        """The pod, as the API server admitted it."""
        return self.info.pod

    @property
    def pending(self) -> list[ResourceClaim]:
        """The pod's claims that need devices, except the claim for extended resources."""
        return [] if self.devices is None or self.devices.empty else self.devices.pending

    @property
    def settled(self) -> list[ResourceClaim]:
        """The pod's claims that have devices."""
        return [] if self.devices is None or self.devices.empty else self.devices.allocated


@dataclass(eq=False)
class PodKind:
    """Pods that are all alike.

    `count` is the number of pods. `more` creates further copies, if the pods are copies of a template. `shared` are the
    keys of pending claims that the pods share with other pods. Kinds with the same `shape` differ only in priority and
    group.
    """

    members: list[PodToPlace]
    count: int
    more: Callable[[int], PodToPlace] | None = None
    shared: frozenset[str] = field(default_factory=frozenset)
    shape: Hashable = None

    @property
    def first(self) -> PodToPlace:
        """A pod that represents all pods of the kind."""
        return self.members[0]

    @property
    def priority(self) -> int:
        """The priority of the pods."""
        return self.first.info.priority

    def take(self, number: int, start: int = 0) -> list[PodToPlace]:
        """Return `number` pods of the kind, starting at position `start`.

        Copies of a template are created as needed.
        """
        while self.more is not None and len(self.members) < start + number:
            self.members.append(self.more(len(self.members)))
        return self.members[start : start + number]


def kinds_of(candidates: Iterable[PodToPlace], groups: Collection[GroupKey] = ()) -> list[PodKind]:
    """Return the kinds of these pods, the highest priority first.

    Pods in different groups are of different kinds if one of the groups is in `groups`.
    """
    candidates = list(candidates)
    users: dict[str, int] = {}
    for each in candidates:
        for claim in each.pending:
            users[claim.key] = users.get(claim.key, 0) + 1
    found: dict[Hashable, PodKind] = {}
    for each in candidates:
        shared = frozenset(claim.key for claim in each.pending if users[claim.key] > 1)
        group = each.info.group if each.info.group in groups else None
        shape = (each.key if each.key is not None else each.info.uid, shared)
        kind = found.setdefault((group, each.info.priority, shape), PodKind([], 0, shared=shared, shape=shape))
        kind.members.append(each)
        kind.count += 1
    return sorted(found.values(), key=lambda kind: -kind.priority)


# -- questions about one node ------------------------------------------------------------------------------------------

NODE_AND_POD = (
    plugin_names.NODE_UNSCHEDULABLE,
    plugin_names.NODE_NAME,
    plugin_names.TAINT_TOLERATION,
    plugin_names.NODE_AFFINITY,
    plugin_names.NODE_PORTS,
    plugin_names.FIT,
)
"""The filters that depend only on the pod, the node, and the pods on the node."""
COUNTING = (plugin_names.NODE_PORTS, plugin_names.FIT)
"""The filters in `NODE_AND_POD` that depend on the pods on the node."""
IN_ONE_SEARCH: tuple[Quirk, ...] = (
    "admin_take_blocks",
    "late_all_failure_leaks",
    "rejection_leaks_counters",
    "shared_undo_keeps_counters",
)
"""The defects that make one search for several pods miss devices that separate searches would find."""
_NOT_NAMED = MISMATCH.by(plugin_names.NODE_AFFINITY)


class PlacementCluster:
    """A cluster with its running pods, on which more pods are placed."""

    def __init__(
        self,
        inventory: Inventory,
        target: Target,
        max_steps: int | None = None,
        common: Common | None = None,
        view: View | None = None,
        time: SearchTime | None = None,
    ) -> None:
        """Set up the cluster. `common` is shared between clusters with related inventories.

        `view` must be the view of the inventory, if given.
        """
        self.time = time if time is not None else SearchTime()
        self.simulation = Simulation(
            inventory, target=target, max_steps=max_steps, chosen=lambda _pod: False, common=common, view=view
        )
        self.simulation.start()
        self.target, self.max_steps = target, max_steps
        self.cluster = self.simulation.cluster
        self.framework = self.simulation.frameworks[DEFAULT_SCHEDULER]
        self._filters = [plugin for plugin in self.framework.points["filter"] if plugin.name in NODE_AND_POD]
        self._devices = next((p for p in self.simulation.dynamic_resources), None)
        self._observers: dict[Hashable, Observer] = {}

    @cached_property
    def view(self) -> View:
        """The cluster as the allocator sees it before any pod is placed."""
        return self.cluster.view.with_state(self.cluster.claims.state)

    @cached_property
    def joint(self) -> View:
        """The view for questions about several pods at once, without the defects in `IN_ONE_SEARCH`."""
        return self.cluster.view.repaired(*IN_ONE_SEARCH).with_state(self.view.state)

    @cached_property
    def promised(self) -> View:
        """The view without any defects of the release."""
        return self.cluster.view.repaired().with_state(self.view.state)

    @cached_property
    def nodes(self) -> list[NodeInfo]:
        """The nodes in input order."""
        return [self.cluster.nodes[node.metadata.name] for node in self.simulation.inventory.nodes]

    def holding(self, node: str) -> list[ResourceClaim]:
        """Return the claims that hold devices in the pools of the node."""
        pools = self.view.gatherer.gather(self.cluster.nodes[node].node)
        return list({claim.metadata.uid: claim for pool in pools for claim in self._holders.get(pool.id, ())}.values())

    @cached_property
    def _holders(self) -> Mapping[PoolID, list[ResourceClaim]]:
        """The claims that have devices in a pool."""
        found: dict[PoolID, dict[str, ResourceClaim]] = {}
        for claim in self.cluster.claims.seen():
            if claim.allocation is not None:
                for result in claim.allocation.devices.results:
                    found.setdefault(PoolID(result.driver, result.pool), {})[claim.metadata.uid] = claim
        return {pool: list(claims.values()) for pool, claims in found.items()}

    # Pods

    def add(self, pod: Pod) -> Pod:
        """Create a pod and its claims, without a node. Return the pod as admission changed it."""
        return self.simulation.arrive(pod).pod

    def ready(self, pod: Pod) -> PodToPlace:
        """Return the pod after PreFilter, for the plugins that matter for a placement."""
        info, state, nodes = self.cluster.info(pod), CycleState(), self.nodes
        made = PodToPlace(info, state)
        filters: list[FilterPlugin] = []
        for plugin in self._filters:
            if isinstance(plugin, PreFilterPlugin):
                result, status = plugin.pre_filter(state, pod, nodes)
                if is_skip(status):
                    continue
                if failed(status):
                    made.refusal = status.by(plugin.name)
                elif result is not None and result.node_names is not None:
                    made.only = result.node_names if made.only is None else made.only & result.node_names
            assert isinstance(plugin, FilterPlugin)
            filters.append(plugin)
        made.filters = tuple(filters)
        self._read_claims(made)
        made.key = self._key(made)
        return made

    def _read_claims(self, made: PodToPlace) -> None:
        plugin = self._devices
        if plugin is None:
            return
        _, status = plugin.pre_filter(made.state, made.pod, self.nodes)
        if failed(status) and not is_skip(status):
            made.refusal = made.refusal or status.by(plugin.name)
        made.devices = made.state.get(DynamicResources.name)

    def _key(self, made: PodToPlace) -> object:
        """Return the values on which all results for the pod depend; None if they can't be put into a key."""
        kept = made.devices
        if kept is not None and not kept.empty and kept.key is None:
            return None
        memos = tuple((plugin.name, plugin.filter_memo(made.state, made.pod)) for plugin in made.filters)
        requests = tuple(sorted(made.info.requests.items()))
        pods_claims = kept.key if kept is not None and not kept.empty else None
        named = tuple(sorted(made.only)) if made.only is not None else None
        refusal = made.refusal.message if made.refusal is not None else None
        return memos, requests, tuple(made.info.ports), pods_claims, named, refusal

    @contextmanager
    def holding_pods(self, placed: Iterable[tuple[PodToPlace, str, Sequence[ResourceClaim]]]) -> Iterator[Simulation]:
        """Put these pods on their nodes, with their claims allocated, while the context is open."""
        placed = list(placed)
        for candidate, node, claims in placed:
            self.cluster.assume(candidate.info, node)
            for claim in claims:
                self.cluster.signal_pending_allocation(claim)
        try:
            yield self.simulation
        finally:
            for candidate, node, claims in placed:
                self.cluster.forget(candidate.info, node)
                for claim in claims:
                    self.cluster.remove_pending_allocation(claim.metadata.uid)

    # One node

    def signature(self, node: NodeInfo, claims: Sequence[ResourceClaim], view: View) -> Hashable | None:
        """Return a key for everything about the node that a search for these claims reads, or None.

        `view` must be `joint`, possibly with other devices in use.
        """
        if self.target.features.node_allocatable:
            return None
        key = encoded(claims)
        counters = Counters(view.state, view.target, view.gatherer.slices, lambda: view.shared_counter_names)
        if key in self._observers:
            self._observers[key].go_on(view.state, counters)
        else:
            requests = view.requests(claims)
            self._observers[key] = Observer(requests, view.state, counters, view.target, view.device_kinds)
        observer = self._observers[key]
        seen = observer.signature(view.gatherer.gather(node.node)) if observer.is_able else None
        return None if seen is None else (key, seen.key)

    def refusal(self, candidate: PodToPlace, node: NodeInfo) -> Status | None:
        """Return why the node rejects the pod, or None. Devices are not checked."""
        if candidate.refusal is not None:
            return candidate.refusal
        if candidate.only is not None and node.name not in candidate.only:
            return _NOT_NAMED
        for plugin in candidate.filters:
            status = plugin.filter(candidate.state, candidate.pod, node)
            if failed(status):
                return status.by(plugin.name)
        return None if all(self._in_reach(claim, node) for claim in candidate.settled) else UNAVAILABLE

    def compares_amounts(self, candidate: PodToPlace) -> bool:
        """Return whether `refusal` is the same for all nodes with the same `look`.

        This is so if no filter of the pod reads the names or labels of nodes.
        """
        reads_more = candidate.only is not None or candidate.settled or candidate.pod.spec.node_name
        return not reads_more and all(plugin.name != plugin_names.NODE_AFFINITY for plugin in candidate.filters)

    def look(self, node: NodeInfo) -> Hashable:
        """Return what the filters read from the node, except its name and labels."""
        spec, amounts = node.node.spec, (sorted(node.allocatable.items()), sorted(node.requested.items()))
        return msgspec.json.encode((spec.unschedulable, spec.taints, amounts, len(node.pods), sorted(node.ports)))

    def _in_reach(self, claim: ResourceClaim, node: NodeInfo) -> bool:
        if not is_in_reach(claim, node.name, node.labels):
            return False
        if not self.target.features.binding_conditions:
            return True
        return usable(claim, DEFAULT_BINDING_TIMEOUT, self.simulation.clock.now)

    def counted(self, candidates: Sequence[PodToPlace], node: NodeInfo) -> tuple[NodeInfo, Status | None]:
        """Return the node with these pods added, up to the first pod that does not fit.

        Also return the rejection of this pod, or None if all pods fit.
        """
        trial = node.clone()
        for candidate in candidates:
            status = self.lack(candidate, trial)
            if status is not None:
                return trial, status
            trial.add(candidate.info)
        return trial, None

    def lack(self, candidate: PodToPlace, node: NodeInfo) -> Status | None:
        """Return what the node has too little of for the pod, or None. Devices are not checked."""
        for plugin in candidate.filters:
            if plugin.name in COUNTING:
                status = plugin.filter(candidate.state, candidate.pod, node)
                if failed(status):
                    return status.by(plugin.name)
        return None

    def claims_on(self, candidate: PodToPlace, node: NodeInfo) -> list[ResourceClaim]:
        """Return the claims that need devices if the pod runs on this node."""
        kept = candidate.devices
        if self._devices is None or kept is None or kept.empty:
            return []
        asked = self._devices.claims_asked_for(kept, candidate.pod, node)
        return [claim for claim in asked if claim.allocation is None and claim.spec.devices.requests]

    def joint_claims(self, candidates: Iterable[PodToPlace], node: NodeInfo) -> list[ResourceClaim]:
        """Return the claims of these pods that need devices on this node, without duplicates."""
        found = {claim.metadata.uid: claim for each in candidates for claim in self.claims_on(each, node)}
        return list(found.values())

    def allocate(
        self,
        claims: Sequence[ResourceClaim],
        node: NodeInfo,
        view: View,
        budget: StepBudget | None = None,
        *,
        timed: bool = True,
    ) -> NodeOutcome:
        """Return the outcome of allocating these claims together, within the steps that the budget has left.

        If `timed` is false, the time limit does not apply. This is used to verify a placement that was found.
        """
        steps, deadline = self.max_steps if budget is None else budget.next, self.time.deadline if timed else None
        allocator = Allocator(claims, view, max_steps=steps, deadline=deadline, shares_answers=False)
        outcome = allocator.allocate(node.node)
        if budget is not None:
            budget.spend(outcome.steps, len(claims))
        return outcome


def encoded(claims: Iterable[ResourceClaim]) -> tuple[bytes, ...]:
    """Return a key that is equal for claims with equal requests."""
    return tuple(msgspec.json.encode(claim.spec) for claim in claims)


# -- errors ------------------------------------------------------------------------------------------------------------


class UnverifiedPlacementError(DraPlanError):
    """Raised if the allocator or a filter rejects a placement that was found. This is a bug in dra-plan."""

    def __init__(self, pod: str, node: str, why: str) -> None:
        super().__init__(f"internal error: the placement of pod {pod} on node {node} could not be verified: {why}")


# -- marks on devices --------------------------------------------------------------------------------------------------
# A request can require a mark, so that the allocator considers only some devices.

_DOMAIN = "placement.dra-plan"
_MARKED = DeviceAttribute(bool_value=True)


def selector_of(mark: str) -> DeviceSelector:
    """Return a selector for the devices with this mark."""
    return DeviceSelector(cel=CELDeviceSelector(expression=f'"{mark}" in device.attributes["{_DOMAIN}"]'))


def attributes_with(device: Device, marks: Iterable[str]) -> dict[str, DeviceAttribute]:
    """Return the attributes of the device, with these marks added."""
    return {**device.attributes, **{f"{_DOMAIN}/{mark}": _MARKED for mark in marks}}


def asking(claim: ResourceClaim, changed: Callable[[DeviceRequest], DeviceRequest]) -> ResourceClaim:
    """Return the claim with each request replaced by `changed(request)`."""
    requests = [changed(request) for request in claim.spec.devices.requests]
    return replace(claim, spec=replace(claim.spec, devices=replace(claim.spec.devices, requests=requests)))


# -- nodes that are alike ----------------------------------------------------------------------------------------------
# Nodes of one kind look the same to the pods to be placed, and have the same capacity. Devices are compared as
# in the allocator (`allocator/signature.py`). Apart from devices, nodes are compared by the data that filters on node
# and pod read: whether they pass each kind of pod, and their free resources, as far as the pods could use them up.


@dataclass(eq=False)
class AlikeNodes:
    """Nodes that are alike, in input order. `refusals` has the rejection of each kind of pod, or None."""

    nodes: list[NodeInfo]
    refusals: tuple[Status | None, ...]
    shared: frozenset[str] = field(default_factory=frozenset)
    """The names of the slices with devices for the pods, if other nodes can use the slices too."""

    @property
    def first(self) -> NodeInfo:
        """A node that represents all nodes of the kind."""
        return self.nodes[0]


def node_kinds(
    ground: PlacementCluster, kinds: Sequence[PodKind], apart: Sequence[Collection[str]] = ()
) -> list[AlikeNodes]:
    """Return the kinds of nodes, in the order of their first nodes.

    Nodes inside and outside a set in `apart` are of different kinds.
    """
    sorter = _Sorter(ground, kinds)
    looks = [(node, *sorter.look(node)) for node in ground.nodes]
    sides = {node.name: tuple(i for i, names in enumerate(apart) if node.name in names) for node in ground.nodes}
    seen = Counter(slice_ for *_, slices in looks for slice_ in slices)
    found: dict[Hashable, AlikeNodes] = {}
    for node, key, refusals, slices in looks:
        shared = frozenset(slice_.name for slice_ in slices if seen[slice_] > 1)
        found.setdefault((key, shared, sides[node.name]), AlikeNodes([], refusals, shared)).nodes.append(node)
    return list(found.values())


class _Sorter:
    """The comparison of nodes as seen by all kinds of pods."""

    def __init__(self, ground: PlacementCluster, kinds: Sequence[PodKind]) -> None:
        self._ground, self._kinds, self._view = ground, kinds, ground.joint
        self._observers: dict[Hashable, Observer] = {}
        self._wanted: Counter[str] = Counter()
        for kind in kinds:
            for name, value in kind.first.info.requests.items():
                self._wanted[name] += value * kind.count
        self._wanted[PODS] = sum(kind.count for kind in kinds)
        self._names = sorted(
            {name for kind in kinds for name in (kind.first.devices.names if kind.first.devices else ())}
        )
        self._mapped = ground.cluster.extended_names()

    def look(self, node: NodeInfo) -> tuple[Hashable, tuple[Status | None, ...], list[PoolSlice]]:
        """Return everything that distinguishes the node from other nodes.

        These are the properties that the kinds of pods can distinguish, the rejections of these kinds, and foreign
        slices.
        """
        refusals = tuple(self._ground.refusal(kind.first, node) for kind in self._kinds)
        if all(refusal is not None for refusal in refusals):
            return tuple((r.plugin, r.message) for r in refusals if r is not None), refusals, []
        devices, slices = self._devices(node)
        passes = tuple((r.plugin, r.message) if r is not None else None for r in refusals)
        return (passes, self._room(node), devices), refusals, slices

    def _room(self, node: NodeInfo) -> Hashable:
        """Return the free amounts of requested resources, and the names that devices serve.

        Amounts count only as far as the pods could use them up.
        """
        left = {name: node.allocatable.get(name, 0) - node.requested.get(name, 0) for name in self._wanted}
        left[PODS] = node.allowed_pods - len(node.pods)
        amounts = tuple(min(max(left[name], -1), self._wanted[name]) for name in sorted(self._wanted))
        return amounts, served_names(self._names, self._mapped, node.allocatable)

    def _devices(self, node: NodeInfo) -> tuple[Hashable, list[PoolSlice]]:
        claims = [claim for kind in self._kinds for claim in self._ground.claims_on(kind.first, node)]
        if not claims:
            return None, []
        try:
            pools = self._view.gatherer.gather(node.node)
        except AllocationError:
            return node.name, []
        observer = self._observer(encoded(claims), claims)
        signature = observer.signature(pools) if observer.is_able else None
        if signature is None or self._ground.target.features.node_allocatable:
            return node.name, _not_local(pools)
        slices = {slice_: None for slice_, _ in signature.places if not slice_.object.spec.node_name}
        return signature.key, list(slices)

    def _observer(self, key: Hashable, claims: Iterable) -> Observer:  # type: ignore[type-arg]
        if key not in self._observers:
            view = self._view
            names = lambda: view.shared_counter_names  # noqa: E731
            counters = Counters(view.state, view.target, view.gatherer.slices, names)
            self._observers[key] = Observer(view.requests(claims), view.state, counters, view.target)
        return self._observers[key]


def _not_local(pools: Sequence[Pool]) -> list[PoolSlice]:
    return [slice_ for pool in pools for slice_ in pool.slices if not slice_.object.spec.node_name and slice_.devices]
