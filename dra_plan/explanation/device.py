"""Every check of one device for each request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from dra_plan.allocator import AllocationError, DeviceID, Pool, PoolDevice, SelectorError, View, capacity, taints
from dra_plan.allocator.capacity import Counters, Steps
from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.requests import SelectorCondition, Want
from dra_plan.api.core import Node
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.base import ObjectName
from dra_plan.documents.claim_sets import DeviceStory, JudgedClaimSet, JudgedRequest
from dra_plan.documents.devices import (
    CapacityDetail,
    ConstraintDetail,
    CounterDetail,
    Detail,
    DeviceCheck,
    SelectorDetail,
    TaintDetail,
)

from .absent import all_publications
from .funnel import Checks
from .funnel import finding as pool_finding
from .hints import clause
from .names import claim_name, device_name, request_name
from .parts import holder
from .parts import pool as pool_document
from .placement import Placement, Placements
from .reasons import amount, plain, refusal_fields
from .selectors import decisive_parts


def known_devices(view: View) -> Iterator[DeviceID]:
    """Yield all devices in the slices of the input."""
    for slices in view.gatherer.slices.values():
        for slice_ in slices:
            yield from (device.id for device in slice_.devices)


def explain_device(view: View, nodes: Sequence[Node], claim_sets: Iterable[ClaimSet], device: DeviceID) -> DeviceStory:
    """Return the checks of a device for each claim set, on the first node that sees the device."""
    seen = [(node, found) for node in nodes if (found := _on(view, node, device)) is not None]
    slices = [s for s in view.gatherer.slices.get(device.pool_id, ()) if any(d.id == device for d in s.devices)]
    made = DeviceStory(
        device=device_name(device),
        slices=[slice_.name for slice_ in slices],
        nodes=[node.metadata.name for node, _ in seen],
        holders=[],
        pool=None,
        claim_sets=[],
    )
    if not seen:
        return made
    node, (pool, member) = seen[0]
    whole = Placements(view, ()).on(node)
    return replace(
        made,
        holders=[holder(whole, key) for key in view.state.holders(device)],
        pool=None if pool.usable else pool_document(pool_finding(pool, view.gatherer)),
        claim_sets=[_of_set(view, claim_set, node, pool, member) for claim_set in claim_sets],
    )


def _on(view: View, node: Node, device: DeviceID) -> tuple[Pool, PoolDevice] | None:
    obsolete: list[Pool] = []
    try:
        pools = view.gatherer.gather(node, obsolete=obsolete)
    except AllocationError:
        return None
    for pool in (*pools, *obsolete):
        if pool.id == device.pool_id:
            for member in pool.devices():
                if member.id == device:
                    return pool, member
    return None


def _of_set(view: View, claim_set: ClaimSet, node: Node, pool: Pool, device: PoolDevice) -> JudgedClaimSet:
    placement = Placements(view, claim_set.claims).on(node)
    owner = claim_set.owner
    return JudgedClaimSet(
        owner=ObjectName(kind=owner.kind, namespace=owner.namespace, name=owner.name) if owner is not None else None,
        claims=[claim_name(claim) for claim in claim_set.claims],
        requests=[_of_want(placement, want, pool, device) for want in placement.wants()],
    )


def _of_want(placement: Placement, want: Want, pool: Pool, device: PoolDevice) -> JudgedRequest:
    checks = Checks(placement)
    told: list[DeviceCheck] = []
    for step, refusal in checks.every(want, device, pool):
        told.append(
            DeviceCheck(
                step=step,
                passed=refusal is None,
                **(refusal_fields(refusal) if refusal is not None else {}),
                details=_DETAILS[step](placement, want, pool, device) if step in _DETAILS else [],
            )
        )
    return JudgedRequest(**request_name(want), passes=all(check.passed for check in told), checks=_merged(told))


def _merged(told: Sequence[DeviceCheck]) -> list[DeviceCheck]:
    """Return one entry per step; two checks with the same name count as one, which fails if either fails."""
    merged: dict[str, DeviceCheck] = {}
    for check in told:
        known = merged.get(check.step)
        if known is None or (known.passed and not check.passed):
            merged[check.step] = check
    return list(merged.values())


# -- the numbers behind the checks -------------------------------------------------------------------------------------


def _selectors(placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Detail]:
    return [_condition(placement, condition, device) for condition in want.conditions]


def _condition(placement: Placement, condition: SelectorCondition, device: PoolDevice) -> SelectorDetail:
    compiles, result, said = True, None, ""
    try:
        result = condition.holds(device)
    except SelectorError as error:
        said = str(error)
        compiles = error.device is not None
    parts = None
    if compiles and not result:
        view = placement.view
        found = decisive_parts(condition.expression, [device], view.compile, lambda: all_publications(view))
        parts = [clause(part) for part in found]
    return SelectorDetail(
        class_=condition.class_name,
        selector=condition.index,
        expression=condition.expression,
        result=result,
        error=said,
        selectors=parts,
    )


def _capacities(placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Detail]:
    if not placement.view.target.features.consumable_capacity:
        return []
    demand = capacity.demand(want.capacity, device, Steps.of(placement.view.target), placement.view.target.quirks)
    used = placement.view.state.aggregate.get(device.id, {})
    return [
        CapacityDetail(
            capacity=portion.name,
            need=portion.text,
            left=amount(portion.total - used.get(portion.name, 0)),
            total=amount(portion.total),
        )
        for portion in demand.portions
    ]


def _counters(placement: Placement, _want: Want, pool: Pool, device: PoolDevice) -> list[Detail]:
    if not placement.view.target.features.partitionable_devices or not device.consumption:
        return []
    left = Counters(placement.view.state, placement.view.target).table(device, pool, set()).left
    return [
        CounterDetail(
            counter_set=counter_set,
            counter=counter,
            need=amount(need),
            left=amount(left[counter_set, counter]) if (counter_set, counter) in left else None,
        )
        for counter_set, counter, need in device.consumption
    ]


def _taints(placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Detail]:
    rules = placement.view.target.rules
    return [
        TaintDetail(
            key=taint.key,
            value=taint.value,
            effect=taint.effect,
            blocks=taints.blocks(taint, rules),
            tolerated=taints.first_untolerated([taint], want.tolerations, rules) is None,
        )
        for taint in device.taints
    ]


def _constraints(_placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Detail]:
    return [_constraint(constraint, device) for constraint in want.constraints]


def _constraint(constraint: Constraint, device: PoolDevice) -> ConstraintDetail:
    value = constraint.value(device)
    return ConstraintDetail(
        constraint=constraint.index,
        attribute=constraint.attribute,
        value=plain(value[1]) if value is not None else None,
    )


_DETAILS = {
    "selector": _selectors,
    "capacity": _capacities,
    "counter": _counters,
    "taint": _taints,
    "constraint": _constraints,
}
