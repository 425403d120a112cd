"""The whole story of one device: every check of every request, passed or failed, with the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dra_plan.allocator import AllocationError, DeviceID, Pool, PoolDevice, SelectorError, capacity, taints
from dra_plan.allocator.constraints import Constraint
from dra_plan.allocator.counters import Counters
from dra_plan.allocator.requests import Condition, Want
from dra_plan.api.core import Node
from dra_plan.claimsets import ClaimSet
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.explanation import JudgedClaimSet

from .change import about
from .checks import Checks
from .document import finding, holder, name
from .document import pool as pool_document
from .near import nearest
from .pools import finding as pool_finding
from .reasons import amount, code, plain
from .scene import Scene, Stage, World
from .selectors import Publications, findings

Data = dict[str, Any]


def parse(text: str) -> DeviceID | None:
    """The device of `DRIVER/POOL/DEVICE`, split at the first and the last slash; None if there are not two."""
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    return DeviceID(driver, pool, device) if driver and pool and device else None


def known_devices(world: World) -> Iterator[DeviceID]:
    """All devices that the input's slices name."""
    for slices in world.view.gatherer.slices.values():
        for slice_ in slices:
            yield from (device.id for device in slice_.devices)


def hint(world: World, device: DeviceID) -> str | None:
    """A device that may have been meant by one that is not known."""
    return nearest(str(device), [str(known) for known in known_devices(world)])


def story(world: World, nodes: Sequence[Node], claim_sets: Iterable[ClaimSet], device: DeviceID) -> Data:
    """What became of the device for each claim set, on the first of the nodes that sees it."""
    seen = [(node, found) for node in nodes if (found := _on(world, node, device)) is not None]
    slices = [s for s in world.view.gatherer.slices.get(device.pool_id, ()) if any(d.id == device for d in s.devices)]
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
    state = world.view.state
    keys = [state.dedicated[device]] if device in state.dedicated else list(dict.fromkeys(state.shared.get(device, ())))
    whole = Stage(world, ()).scene(node)
    made["holders"] = [holder(whole, key) for key in keys]
    if not pool.usable:
        made["pool"] = pool_document(pool_finding(pool, world.view.gatherer))
    made["claimSets"] = [_of_set(world, claim_set, node, pool, member) for claim_set in claim_sets]
    return made


def _on(world: World, node: Node, device: DeviceID) -> tuple[Pool, PoolDevice] | None:
    obsolete: list[Pool] = []
    try:
        pools = world.view.gatherer.gather(node, obsolete=obsolete)
    except AllocationError:
        return None
    for pool in (*pools, *obsolete):
        if pool.id == device.pool_id:
            for member in pool.devices():
                if member.id == device:
                    return pool, member
    return None


def _of_set(world: World, claim_set: ClaimSet, node: Node, pool: Pool, device: PoolDevice) -> JudgedClaimSet:
    scene = Stage(world, claim_set.claims).scene(node)
    wants = [want for ready in scene.ready() for wants in ready.requests for want in wants]
    owner = claim_set.owner
    return JudgedClaimSet(
        owner=ObjectName(kind=owner.kind, namespace=owner.namespace, name=owner.name) if owner is not None else None,
        claims=[ClaimName(**name(claim)) for claim in claim_set.claims],
        requests=[_of_want(scene, want, pool, device) for want in wants],
    )


def _of_want(scene: Scene, want: Want, pool: Pool, device: PoolDevice) -> Data:
    checks = Checks(scene)
    told: list[Data] = []
    for check in checks.of(want):
        refusal = check.refusal(want, device, pool)
        entry: Data = {"step": check.name, "passed": refusal is None}
        if refusal is not None:
            entry |= {"code": code(refusal).name, **code(refusal).data(refusal)}
        details = _DETAILS[check.name](scene, want, pool, device) if check.name in _DETAILS else []
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


def _selectors(scene: Scene, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    return [_condition(scene, condition, device) for condition in want.conditions]


def _condition(scene: Scene, condition: Condition, device: PoolDevice) -> Data:
    made: Data = {"class": condition.class_name, "selector": condition.index, "expression": condition.expression}
    compiles = True
    try:
        made["result"] = condition.holds(device)
    except SelectorError as error:
        made |= {"result": None, "error": str(error)}
        compiles = error.device is not None
    if compiles and not made["result"]:
        found = findings(condition.expression, [device], scene.view.compile, lambda: Publications([device]))
        made["selectors"] = [finding(item) for item in found]
    return made


def _capacities(scene: Scene, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    if not scene.target.features.consumable_capacity:
        return []
    demand = capacity.demand(want.capacity, device, scene.target.quirks)
    used = scene.state.aggregate.get(device.id, {})
    return [
        {
            "capacity": portion.name,
            "need": portion.text,
            "left": amount(portion.total - used.get(portion.name, 0)),
            "total": amount(portion.total),
        }
        for portion in demand.portions
    ]


def _counters(scene: Scene, _want: Want, pool: Pool, device: PoolDevice) -> list[Data]:
    if not scene.target.features.partitionable_devices or not device.consumption:
        return []
    left = Counters(scene.state, scene.target).table(device, pool, set()).left
    return [
        {
            "counterSet": counter_set,
            "counter": counter,
            "need": amount(need),
            "left": amount(left[counter_set, counter]) if (counter_set, counter) in left else None,
        }
        for counter_set, counter, need in device.consumption
    ]


def _taints(scene: Scene, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
    rules = scene.target.rules
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


def _constraints(_scene: Scene, want: Want, _pool: Pool, device: PoolDevice) -> list[Data]:
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
