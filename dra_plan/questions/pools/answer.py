"""`pools`: the state and free capacity of every pool of the cluster, or of the pools that one node sees.

Fields are named as in ResourcePoolStatusRequest (resource.k8s.io/v1alpha3 in 1.36) where that API has them. Amounts are
canonical quantities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dra_plan.allocator import View
from dra_plan.allocator.pools import PoolDevice, PoolState, device_is_on
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.devices import ClaimHolder, claim_holder
from dra_plan.documents.pools import DoomedPod, ListedDevice, ListedPool
from dra_plan.errors import UsageError
from dra_plan.near import nearest
from dra_plan.planner import notices, pools
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.nodes import choose_nodes, of_devices, with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.pools import PoolRemainder, SeenPool, seen_pools
from dra_plan.planner.question import Question
from dra_plan.questions.pools.document import PoolsDocument

if TYPE_CHECKING:
    from dra_plan.controllers.foreseen import ForeseenEviction, ForeseenEvictions


@dataclass(frozen=True, repr=False)
class PoolList(PrintedAnswer[PoolsDocument]):
    """The result of `pools`. Iterating over the result yields an entry for every pool."""

    seen: tuple[SeenPool, ...]
    notices: tuple[Notice, ...]
    view: View
    evictions: ForeseenEvictions | None = None
    """The expected evictions; None if no device has a taint."""
    claims: Sequence[ResourceClaim] = ()
    leaving: frozenset[tuple[str, str]] = frozenset()
    """The namespace and name of each pod that is being deleted."""

    def __iter__(self) -> Iterator[ListedPool]:
        return iter(self.document.pools)

    def __len__(self) -> int:
        return len(self.seen)

    def __repr__(self) -> str:
        return f"<PoolList for {self.view.target.version}: {counted(len(self), 'pool')}>"

    def _document(self) -> PoolsDocument:
        holders = {claim.key: claim_holder(claim, self.leaving) for claim in self.claims}
        return PoolsDocument(
            target=answer_target(self.view.target),
            pools=[_listed_pool(seen, self.view, self.evictions, holders) for seen in self.seen],
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
    """Return the pools that the selected nodes see or, if no nodes are selected, all pools.

    `drivers` and `states` restrict the result to pools with one of these drivers and states. Raises UsageError for an
    unknown node, driver or state, and InputError for input without nodes.
    """
    _check(view, drivers, states)
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    nodes = choose_nodes(inventory.nodes, question.nodes)
    told = (
        *notices.of_target(view.target, inventory),
        *inventory.notices,
        *inferred,
        *of_devices(inventory),
        *notices.of_taint_rules(inventory, view.target),
        *of_new_fields(inventory, view.target),
    )
    seen = [
        each
        for each in seen_pools(view, nodes, everywhere=not question.nodes)
        if (not drivers or each.pool.id.driver in drivers) and (not states or each.pool.state.value in states)
    ]
    leaving = frozenset(
        (pod.metadata.namespace, pod.metadata.name)
        for pod in inventory.pods
        if pod.metadata.deletion_timestamp is not None
    )
    return PoolList(tuple(seen), told, view, _evictions(inventory, view), inventory.claims, leaving)


def _evictions(inventory: Inventory, view: View) -> ForeseenEvictions | None:
    """Return the foreseen evictions; the controllers are simulated only if there are taints."""
    tainted = any(device.taints for each in inventory.slices for device in each.spec.devices)
    if not inventory.taint_rules and not tainted:
        return None
    from dra_plan.controllers.foreseen import ForeseenEvictions

    return ForeseenEvictions(inventory, view.target)


def _check(view: View, drivers: Sequence[str], states: Sequence[str]) -> None:
    """Raise UsageError for a driver without slices, and for an unknown state."""
    known = sorted({pool.driver for pool in view.gatherer.slices})
    for what, given, names in (("driver", drivers, known), ("state", states, [state.value for state in PoolState])):
        for name in given:
            if name not in names:
                meant = nearest(name, names)
                there = f"did you mean {meant}?" if meant else f"there is {', '.join(names) or 'none'}"
                raise UsageError(f"no pool has the {what} {name!r}: {there}")


def _listed_pool(
    seen: SeenPool,
    view: View,
    evictions: ForeseenEvictions | None,
    holders: Mapping[str, ClaimHolder],
) -> ListedPool:
    pool = seen.pool
    left = PoolRemainder(view, pool)
    divided = view.target.features.partitionable_devices and any(device.consumption for device in left.devices)
    devices = [
        _listed_device(
            device,
            seen.nodes,
            left,
            evictions,
            [holders[key] for key in view.state.holders(device.id) if key in holders],
            is_part=divided and bool(device.consumption),
        )
        for device in left.devices
    ]
    states = [device.state for device in devices]
    available = [device for device, state in zip(left.devices, states, strict=True) if state == "Available"]
    return ListedPool(
        driver=pool.id.driver,
        pool_name=pool.id.pool,
        node_name=pools.node_name(view.gatherer.generation(pool.id, pool.generation).slices),
        generation=pool.generation,
        resource_slice_count=pool.expected,
        observed_resource_slice_count=pool.seen,
        state=pool.state,
        nodes=[node.metadata.name for node in seen.reached_by],
        cordoned=[node.metadata.name for node in seen.reached_by if node.spec.unschedulable],
        total_devices=len(devices),
        allocated_devices=states.count("Allocated") + states.count("Shared"),
        available_devices=states.count("Available"),
        unavailable_devices=states.count("Unavailable"),
        tainted_devices=sum(left.is_tainted(device) for device in left.devices),
        counter_sets=left.counter_sets(),
        devices=devices,
        physical_devices=pools.physical(left.devices) if divided else None,
        profiles=pools.profiles(left.counters, pool, left.devices, available) if divided else [],
        validation_error=str(pool.problem) if pool.state is PoolState.INVALID else "",
    )


def _listed_device(
    device: PoolDevice,
    nodes: Sequence[Node],
    left: PoolRemainder,
    evictions: ForeseenEvictions | None,
    holders: list[ClaimHolder],
    *,
    is_part: bool,
) -> ListedDevice:
    state, reason = left.state(device)
    per_device = device.slice.object.spec.per_device_node_selection
    return ListedDevice(
        name=device.id.device,
        state=state,
        model=pools.model(device),
        reason=reason,
        holders=holders,
        part=is_part,
        taints=list(device.taints),
        evicts=[_doomed(each) for each in evictions.of_device(*device.id)] if evictions is not None else [],
        nodes=[node.metadata.name for node in nodes if device_is_on(device, node)] if per_device else None,
        capacity=left.capacity_texts(device) if device.device.allow_multiple_allocations else {},
    )


def _doomed(eviction: ForeseenEviction) -> DoomedPod:
    metadata = eviction.pod.metadata
    return DoomedPod(
        namespace=metadata.namespace, name=metadata.name, second=round(eviction.seconds, 1), time=eviction.time
    )
