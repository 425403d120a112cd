"""`pools`: every pool of the cluster, or of one node, with its state and what is left of it.

Names follow ResourcePoolStatusRequest (resource.k8s.io/v1alpha3 in 1.36) where it has one. Amounts are canonical
quantities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dra_plan import releases
from dra_plan.allocator import PoolGatherer
from dra_plan.allocator.counters import Counters
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import Pool, PoolDevice, PoolSlice, PoolState, device_is_on
from dra_plan.allocator.reasons import CounterShort
from dra_plan.allocator.taints import blocks
from dra_plan.api import quantity
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.notice import Notice
from dra_plan.api.resource import CounterSet
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.pools import CounterSetLeft, DeviceState, ListedDevice, ListedPool, PoolsDocument
from dra_plan.planner import documents
from dra_plan.planner.cluster import Cluster, choose_nodes, taint_rule_notices, with_nodes
from dra_plan.releases import Target


@dataclass(slots=True)
class PoolView:
    """A pool in one state, and the nodes that see it so. Two nodes may see different generations, or states."""

    pool: Pool
    nodes: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class PoolList:
    """The answer of `pools`."""

    target: Target
    views: tuple[PoolView, ...]
    notices: tuple[Notice, ...]
    cluster: Cluster

    def to_dict(self) -> dict[str, Any]:
        """The document that `dra-plan pools -o json` prints, as plain values."""
        return self.document.to_dict()

    @cached_property
    def document(self) -> PoolsDocument:
        """The document that `dra-plan pools` prints, made once."""
        return PoolsDocument(
            target=answer_target(self.target),
            pools=[_listed_pool(view, self.cluster) for view in self.views],
            warnings=warnings(self.notices),
        )


def gather_pools(
    objects: Iterable[dict[str, Any]],
    node: str | None = None,
    *,
    kubernetes_version: str = releases.NEWEST,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
) -> PoolList:
    """The pools of plain Kubernetes objects, of all nodes or of one. Raises as `allocate` does."""
    from dra_plan.manifests.loaded import inventory_of

    return list_pools(
        inventory_of(objects),
        nodes=None if node is None else [node],
        kubernetes_version=kubernetes_version,
        feature_gates=feature_gates,
        quirks=quirks,
    )


def list_pools(
    inventory: Inventory,
    *,
    nodes: Sequence[str] | None = None,
    infer_nodes: bool = False,
    kubernetes_version: str | None = None,
    feature_gates: Mapping[str, bool] | None = None,
    quirks: str = "upstream",
) -> PoolList:
    """The pools of a loaded input as the chosen nodes see them; without a choice also those that no node sees."""
    target = releases.target(kubernetes_version or releases.NEWEST, feature_gates, quirks)
    inventory, inferred = with_nodes(inventory, infer=infer_nodes)
    chosen = choose_nodes(inventory.nodes, nodes)
    cluster = Cluster(inventory, target)
    views = _views(cluster, chosen, everywhere=not nodes)
    notices = (
        *documents.target_notices(target, inventory.nodes),
        *inventory.notices,
        *inferred,
        *taint_rule_notices(inventory, target),
    )
    return PoolList(target, tuple(views), notices, cluster)


def _views(cluster: Cluster, nodes: Sequence[Node], *, everywhere: bool) -> list[PoolView]:
    """One view for each pool as different nodes see it, sorted by driver, pool name and generation."""
    views: dict[tuple[Any, ...], PoolView] = {}
    for node in nodes:
        obsolete: list[Pool] = []
        for pool in (*cluster.gatherer.gather(node, obsolete=obsolete), *obsolete):
            views.setdefault(_key(pool, cluster.gatherer), PoolView(pool)).nodes.append(node)
    if everywhere:
        for pool in _unseen(cluster, {(view.pool.id, view.pool.generation) for view in views.values()}):
            views[_key(pool, cluster.gatherer)] = PoolView(pool)
    return [views[key] for key in sorted(views)]


def _key(pool: Pool, gatherer: PoolGatherer) -> tuple[Any, ...]:
    """What two nodes must agree on to see the same pool: which slices it has, and what that makes of it."""
    slices: tuple[int, ...] = ()  # all of its generation, as for most pools
    if pool.seen != len(gatherer.generation(pool.id, pool.generation).slices):
        slices = tuple(sorted(each.position for each in (*pool.slices, *pool.counter_slices)))
    return (*pool.id, pool.generation, pool.state.value, str(pool.problem or ""), pool.seen, slices)


def _unseen(cluster: Cluster, seen: set[Any]) -> Iterable[Pool]:
    """Generations of pools that no node sees: older ones, and those for nodes that are not in the input."""
    for pool_id, slices in cluster.gatherer.slices.items():
        for generation in sorted({slice_.generation for slice_ in slices}):
            if (pool_id, generation) not in seen:
                yield cluster.gatherer.whole(pool_id, generation)


def _listed_pool(view: PoolView, cluster: Cluster) -> ListedPool:
    pool = view.pool
    left = _Left(cluster, pool)
    devices = [_listed_device(device, view.nodes, left) for device in left.devices]
    states = [device.state for device in devices]
    return ListedPool(
        driver=pool.id.driver,
        pool_name=pool.id.pool,
        node_name=_node_name(pool),
        generation=pool.generation,
        resource_slice_count=pool.expected,
        observed_resource_slice_count=pool.seen,
        state=pool.state,
        nodes=[node.metadata.name for node in view.nodes],
        total_devices=len(devices),
        allocated_devices=states.count("Allocated") + states.count("Shared"),
        available_devices=states.count("Available"),
        unavailable_devices=states.count("Unavailable"),
        tainted_devices=sum(left.is_tainted(device) for device in left.devices),
        counter_sets=left.counter_sets(),
        devices=devices,
        validation_error=str(pool.problem) if pool.state is PoolState.INVALID else "",
    )


def _node_name(pool: Pool) -> str:
    """The node whose pool it is, where all slices name the same one; otherwise ""."""
    names = {slice_.object.spec.node_name for slice_ in (*pool.slices, *pool.elsewhere, *pool.counter_slices)}
    [name, *others] = names or {None}
    return "" if others or not name else name


class _Left:
    """What is left of one pool before anything new is allocated."""

    def __init__(self, cluster: Cluster, pool: Pool) -> None:
        self._cluster, self._pool = cluster, pool
        target = cluster.target
        # Counters are kept by pool here whatever Q1 does: the list shows each pool on its own.
        self._counters = Counters(cluster.state, target.repaired("counters_by_pool_name"))
        self._empty = Ledger(0)
        slices = [*pool.slices, *pool.elsewhere]
        slices.sort(key=lambda slice_: slice_.name if target.rules.sorted else slice_.position)
        self.devices = [device for slice_ in slices for device in slice_.devices]

    def is_tainted(self, device: PoolDevice) -> bool:
        """Whether a taint keeps requests without toleration away."""
        return self._cluster.target.features.device_taints and any(
            blocks(taint, self._cluster.target.rules) for taint in device.taints
        )

    def state(self, device: PoolDevice) -> tuple[DeviceState, str]:
        """Allocated, Shared (allocated, with something left), Available, or Unavailable; and what is in the way."""
        state = self._cluster.state
        if device.id in state.dedicated:
            return "Allocated", ""
        if device.id in state.shared:
            used_up = [name for name, left in self.capacity(device).items() if left <= 0]
            return ("Allocated", f"no {used_up[0]} left") if used_up else ("Shared", self._obstacle(device))
        obstacle = self._obstacle(device)
        return ("Unavailable", obstacle) if obstacle else ("Available", "")

    def _obstacle(self, device: PoolDevice) -> str:
        """Why no request can have the device, or only one that tolerates its taints."""
        pool, target = self._pool, self._cluster.target
        if not pool.usable and (target.rules.skips_unusable_pools or pool.state is not PoolState.INCOMPLETE):
            return f"pool is {pool.state.value.lower()}"
        if device.device.binding_conditions and not target.features.binding_conditions:
            return "binding conditions, with DRADeviceBindingConditions off"
        if self.is_tainted(device):
            taint = next(taint for taint in device.taints if blocks(taint, target.rules))
            return f"taint {taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}"
        if device.device.consumes_counters:
            return self._counter_obstacle(device)
        return ""

    def _counter_obstacle(self, device: PoolDevice) -> str:
        if not self._cluster.target.features.partitionable_devices:
            return "counters, with DRAPartitionableDevices off"
        if device.id in self._cluster.state.aggregate:
            return ""  # the shares that exist have paid for it
        short = self._counters.refuses(self._empty, device, self._pool, set())
        if short is None:
            return ""
        like = self._total(device, short)
        need, left = _text(short.need, like), _text(short.left, like)
        which = f"counter {short.counter} of {short.counter_set}"
        # a counter that more was taken from than there is keeps the whole pool from being used (Q7)
        return f"{which}: {need} needed, {left} left" if short.need else f"{which} is overdrawn: {left} left"

    def _total(self, device: PoolDevice, short: CounterShort) -> quantity.Quantity:
        """The counter's total, whose notation the amounts get."""
        sources = self._pool.counter_slices if self._cluster.target.rules.counter_slices else [device.slice]
        sets = {each.name: each for slice_ in sources for each in slice_.object.spec.shared_counters}
        return quantity.parse(sets[short.counter_set].counters[short.counter].value)

    def capacity(self, device: PoolDevice) -> dict[str, int]:
        """Nano-units left of each capacity of a device that may be shared."""
        used = self._cluster.state.aggregate.get(device.id, {})
        return {
            name: quantity.parse(capacity.value).nano - used.get(name, 0)
            for name, capacity in device.device.capacity.items()
        }

    def capacity_texts(self, device: PoolDevice) -> dict[str, str]:
        """The same as quantities, in the notation of the total."""
        left = self.capacity(device)
        return {
            name: _text(left[name], quantity.parse(capacity.value)) for name, capacity in device.device.capacity.items()
        }

    def counter_sets(self) -> list[CounterSetLeft]:
        """Totals and remainders of every counter set, in the order of the slices."""
        pool = self._pool
        own = not self._cluster.target.rules.counter_slices
        sources = pool.slices if own else pool.counter_slices
        return [
            self._counter_set(slice_, counter_set)
            for slice_ in sources
            for counter_set in slice_.object.spec.shared_counters
        ]

    def _counter_set(self, slice_: PoolSlice, counter_set: CounterSet) -> CounterSetLeft:
        left = self._counters.remaining(self._pool, slice_)
        totals = {name: quantity.parse(counter.value) for name, counter in counter_set.counters.items()}
        return CounterSetLeft(
            name=counter_set.name,
            total={name: total.text for name, total in totals.items()},
            left={name: _text(left[counter_set.name, name], total) for name, total in totals.items()},
        )


def _listed_device(device: PoolDevice, nodes: Sequence[Node], left: _Left) -> ListedDevice:
    state, reason = left.state(device)
    per_device = device.slice.object.spec.per_device_node_selection
    return ListedDevice(
        name=device.id.device,
        state=state,
        reason=reason,
        taints=list(device.taints),
        nodes=[node.metadata.name for node in nodes if device_is_on(device, node)] if per_device else None,
        capacity=left.capacity_texts(device) if device.device.allow_multiple_allocations else {},
    )


def _text(nano: int, like: quantity.Quantity) -> str:
    """An amount in the notation of another one."""
    if nano == like.nano:
        return like.text
    whole, rest = divmod(nano, 10**9)
    return quantity.make(nano, -9, like.format).text if rest else quantity.canonical(whole, like.format)
