"""`pools`: every pool of the cluster, or of one node, with its state and what is left of it.

Names follow ResourcePoolStatusRequest (resource.k8s.io/v1alpha3 in 1.36) where it has one. Amounts are canonical
quantities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dra_plan.allocator import PoolGatherer, View
from dra_plan.allocator.pools import Pool, PoolDevice, PoolState, device_is_on, targets
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.pools import ListedDevice, ListedPool, PoolsDocument
from dra_plan.errors import UsageError
from dra_plan.near import nearest

from . import completeness, notices, partitions
from .answer import PrintedAnswer, counted
from .newfields import of_new_fields
from .nodes import choose_nodes, with_nodes
from .pool_remainder import PoolRemainder
from .question import Question


@dataclass(slots=True)
class SeenPool:
    """A pool in one state, and the nodes that see it so. Two nodes may see different generations, or states."""

    pool: Pool
    nodes: list[Node] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class PoolList(PrintedAnswer[PoolsDocument]):
    """The answer of `pools`: the pools as the document lists them, which `for` goes through."""

    seen: tuple[SeenPool, ...]
    notices: tuple[Notice, ...]
    view: View

    def __iter__(self) -> Iterator[ListedPool]:
        return iter(self.document.pools)

    def __len__(self) -> int:
        return len(self.seen)

    def __repr__(self) -> str:
        return f"<PoolList for {self.view.target.version}: {counted(len(self), 'pool')}>"

    def _document(self) -> PoolsDocument:
        return PoolsDocument(
            target=answer_target(self.view.target),
            pools=[_listed_pool(seen, self.view) for seen in self.seen],
            warnings=warnings(self.notices),
        )


def list_pools(
    inventory: Inventory,
    view: View,
    question: Question,
    *,
    drivers: Sequence[str] = (),
    states: Sequence[str] = (),
) -> PoolList:
    """The pools of an input as the chosen nodes see them; without a choice also those that no node sees.

    `drivers` and `states` choose among them. Raises UsageError for an unknown node, driver or state, InputError for an
    input without nodes.
    """
    _check(view, drivers, states)
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    nodes = choose_nodes(inventory.nodes, question.nodes)
    told = (
        *notices.of_target(view.target, inventory.nodes),
        *inventory.notices,
        *inferred,
        *completeness.of_devices(inventory),
        *notices.of_taint_rules(inventory, view.target),
        *of_new_fields(inventory, view.target),
    )
    seen = [
        each
        for each in _seen_pools(view, nodes, everywhere=not question.nodes)
        if (not drivers or each.pool.id.driver in drivers) and (not states or each.pool.state.value in states)
    ]
    return PoolList(tuple(seen), told, view)


def _check(view: View, drivers: Sequence[str], states: Sequence[str]) -> None:
    """Raises UsageError for a driver without slices, and for a state that there is not."""
    known = sorted({pool.driver for pool in view.gatherer.slices})
    for what, given, names in (("driver", drivers, known), ("state", states, [state.value for state in PoolState])):
        for name in given:
            if name not in names:
                meant = nearest(name, names)
                there = f"did you mean {meant}?" if meant else f"there is {', '.join(names) or 'none'}"
                raise UsageError(f"no pool has the {what} {name!r}: {there}")


def _seen_pools(view: View, nodes: Sequence[Node], *, everywhere: bool) -> list[SeenPool]:
    """Each pool as different nodes see it, sorted by driver, pool name and generation."""
    found: dict[tuple[Any, ...], SeenPool] = {}
    for node in nodes:
        obsolete: list[Pool] = []
        for pool in (*view.gatherer.gather(node, obsolete=obsolete), *obsolete):
            found.setdefault(_key(pool, view.gatherer), SeenPool(pool)).nodes.append(node)
    if everywhere:
        for pool in _unseen(view, {(seen.pool.id, seen.pool.generation) for seen in found.values()}):
            found[_key(pool, view.gatherer)] = SeenPool(pool)
    return [found[key] for key in sorted(found)]


def _key(pool: Pool, gatherer: PoolGatherer) -> tuple[Any, ...]:
    """What two nodes must agree on to see the same pool: which slices it has, and what that makes of it."""
    slices: tuple[int, ...] = ()  # all of its generation, as for most pools
    if pool.seen != len(gatherer.generation(pool.id, pool.generation).slices):
        slices = tuple(sorted(each.position for each in (*pool.slices, *pool.counter_slices)))
    return (*pool.id, pool.generation, pool.state.value, str(pool.problem or ""), pool.seen, slices)


def _unseen(view: View, seen: set[Any]) -> Iterable[Pool]:
    """Generations of pools that no node sees: older ones, and those for nodes that are not in the input."""
    for pool_id, slices in view.gatherer.slices.items():
        for generation in sorted({slice_.generation for slice_ in slices}):
            if (pool_id, generation) not in seen:
                yield view.gatherer.whole(pool_id, generation)


def _listed_pool(seen: SeenPool, view: View) -> ListedPool:
    pool = seen.pool
    left = PoolRemainder(view, pool)
    devices = [_listed_device(device, seen.nodes, left) for device in left.devices]
    states = [device.state for device in devices]
    parts = [device for device in left.devices if device.consumption]
    available = [device for device, state in zip(left.devices, states, strict=True) if state == "Available"]
    divided = bool(parts) and view.target.features.partitionable_devices
    return ListedPool(
        driver=pool.id.driver,
        pool_name=pool.id.pool,
        node_name=_node_name(pool),
        generation=pool.generation,
        resource_slice_count=pool.expected,
        observed_resource_slice_count=pool.seen,
        state=pool.state,
        nodes=[node.metadata.name for node in _reaching(seen, view.gatherer)],
        total_devices=len(devices),
        allocated_devices=states.count("Allocated") + states.count("Shared"),
        available_devices=states.count("Available"),
        unavailable_devices=states.count("Unavailable"),
        tainted_devices=sum(left.is_tainted(device) for device in left.devices),
        counter_sets=left.counter_sets(),
        devices=devices,
        physical_devices=partitions.physical(parts) if divided else None,
        profiles=partitions.profiles(left.counters, pool, left.devices, available) if divided else [],
        validation_error=str(pool.problem) if pool.state is PoolState.INVALID else "",
    )


def _reaching(seen: SeenPool, gatherer: PoolGatherer) -> list[Node]:
    """The nodes with devices of the pool: one with counters is looked at on others, too (Q15)."""
    pool = seen.pool
    if not pool.counter_slices:
        return seen.nodes
    name = _node_name(pool)
    if name:
        return [node for node in seen.nodes if node.metadata.name == name]
    slices = [each for each in gatherer.generation(pool.id, pool.generation).slices if each.object.spec.devices]
    return [node for node in seen.nodes if any(targets(slice_, node) for slice_ in slices)]


def _node_name(pool: Pool) -> str:
    """The node whose pool it is, where all slices name the same one; otherwise ""."""
    names = {slice_.object.spec.node_name for slice_ in (*pool.slices, *pool.elsewhere, *pool.counter_slices)}
    [name, *others] = names or {None}
    return "" if others or not name else name


def _listed_device(device: PoolDevice, nodes: Sequence[Node], left: PoolRemainder) -> ListedDevice:
    state, reason = left.state(device)
    per_device = device.slice.object.spec.per_device_node_selection
    return ListedDevice(
        name=device.id.device,
        state=state,
        model=partitions.model(device),
        reason=reason,
        taints=list(device.taints),
        nodes=[node.metadata.name for node in nodes if device_is_on(device, node)] if per_device else None,
        capacity=left.capacity_texts(device) if device.device.allow_multiple_allocations else {},
    )
