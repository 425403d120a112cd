"""The whole group of one device: every check of every request, passed or failed, with the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dra_plan.allocator import AllocationError, DeviceID, Pool, PoolDevice, SelectorError, View, capacity, taints
from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.counters import Counters
from dra_plan.allocator.requests import SelectorCondition, Want
from dra_plan.api.core import Node
from dra_plan.claimsets import ClaimSet
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.explanation import JudgedClaimSet

from .checks import Checks
from .document import finding, holder, name
from .document import pool as pool_document
from .near import nearest
from .placement import Placement, Placements
from .pools import finding as pool_finding
from .published import Publications
from .reasons import amount, code, plain
from .selectors import decisive_parts
from .suggest.change import about

Data = dict[str, Any]


def parse(text: str) -> DeviceID | None:
    """The device of `DRIVER/POOL/DEVICE`, split at the first and the last slash; None if there are not two."""
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    return DeviceID(driver, pool, device) if driver and pool and device else None


def known_devices(view: View) -> Iterator[DeviceID]:
    """All devices that the input's slices name."""
    for slices in view.gatherer.slices.values():
        for slice_ in slices:
            yield from (device.id for device in slice_.devices)


def hint(view: View, device: DeviceID) -> str | None:
    """A device that may have been meant by one that is not known."""
    return nearest(str(device), [str(known) for known in known_devices(view)])


def explain_device(view: View, nodes: Sequence[Node], claim_sets: Iterable[ClaimSet], device: DeviceID) -> Data:
    """What became of the device for each claim set, on the first of the nodes that sees it."""
    seen = [(node, found) for node in nodes if (found := _on(view, node, device)) is not None]
    slices = [s for s in view.gatherer.slices.get(device.pool_id, ()) if any(d.id == device for d in s.devices)]
    made: Data = {
        "device": device._asdict(),
        "slices": [slice_.name for slice_ in slices],
        "nodes": [node.metadata.name for node, _ in seen],
        "holders": [],
        "pool": None,
        "claimSets": [],
    }
    if not seen:
        return made
    node, (pool, member) = seen[0]
    state = view.state
    keys = [state.dedicated[device]] if device in state.dedicated else list(dict.fromkeys(state.shared.get(device, ())))
    whole = Placements(view, ()).on(node)
    made["holders"] = [holder(whole, key) for key in keys]
    if not pool.usable:
        made["pool"] = pool_document(pool_finding(pool, view.gatherer))
    made["claimSets"] = [_of_set(view, claim_set, node, pool, member) for claim_set in claim_sets]
    return made


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
        claims=[ClaimName(**name(claim)) for claim in claim_set.claims],
        requests=[_of_want(placement, want, pool, device) for want in placement.wants()],
    )


def _of_want(placement: Placement, want: Want, pool: Pool, device: PoolDevice) -> Data:
    checks = Checks(placement)
    told: list[Data] = []
    for step, refusal in checks.every(want, device, pool):
        entry: Data = {"step": step, "passed": refusal is None}
        if refusal is not None:
            entry |= {"code": code(refusal).name, **code(refusal).data(refusal)}
        details = _DETAILS[step](placement, want, pool, device) if step in _DETAILS else []
        if details:
            entry["details"] = details
        told.append(entry)
    return {**about(want), "passes": all(entry["passed"] for entry in told), "checks": _merged(told)}


def _merged(told: Sequence[Data]) -> list[Data]:
    """One entry a step: two checks of one name count as one, failed if either is."""
    merged: dict[str, Data] = {}
    for entry in told:
        known = merged.get(entry["step"])
        if known is None or (known["passed"] and not entry["passed"]):
            merged[entry["step"]] = entry
    return list(merged.values())


# -- the numbers behind the checks ---------------------------------------------------------------------------------


def _selectors(placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    return [_condition(placement, condition, device) for condition in want.conditions]


def _condition(placement: Placement, condition: SelectorCondition, device: PoolDevice) -> Data:
    made: Data = {"class": condition.class_name, "selector": condition.index, "expression": condition.expression}
    compiles = True
    try:
        made["result"] = condition.holds(device)
    except SelectorError as error:
        made |= {"result": None, "error": str(error)}
        compiles = error.device is not None
    if compiles and not made["result"]:
        found = decisive_parts(condition.expression, [device], placement.view.compile, lambda: Publications([device]))
        made["selectors"] = [finding(item) for item in found]
    return made


def _capacities(placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    if not placement.view.target.features.consumable_capacity:
        return []
    demand = capacity.demand(want.capacity, device, placement.view.target.quirks)
    used = placement.view.state.aggregate.get(device.id, {})
    return [
        {
            "capacity": portion.name,
            "need": portion.text,
            "left": amount(portion.total - used.get(portion.name, 0)),
            "total": amount(portion.total),
        }
        for portion in demand.portions
    ]


def _counters(placement: Placement, _want: Want, pool: Pool, device: PoolDevice) -> list[Data]:
    if not placement.view.target.features.partitionable_devices or not device.consumption:
        return []
    left = Counters(placement.view.state, placement.view.target).table(device, pool, set()).left
    return [
        {
            "counterSet": counter_set,
            "counter": counter,
            "need": amount(need),
            "left": amount(left[counter_set, counter]) if (counter_set, counter) in left else None,
        }
        for counter_set, counter, need in device.consumption
    ]


def _taints(placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    rules = placement.view.target.rules
    return [
        {
            "key": taint.key,
            "value": taint.value,
            "effect": taint.effect,
            "blocks": taints.blocks(taint, rules),
            "tolerated": taints.first_untolerated([taint], want.tolerations, rules) is None,
        }
        for taint in device.taints
    ]


def _constraints(_placement: Placement, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    return [_constraint(constraint, device) for constraint in want.constraints]


def _constraint(constraint: Constraint, device: PoolDevice) -> Data:
    value = constraint.value(device)
    return {
        "constraint": constraint.index,
        "attribute": constraint.attribute,
        "value": plain(value[1]) if value is not None else None,
    }


_DETAILS = {
    "selector": _selectors,
    "capacity": _capacities,
    "counter": _counters,
    "taint": _taints,
    "constraint": _constraints,
}
