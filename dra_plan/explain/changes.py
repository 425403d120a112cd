"""Changes that might make a claim set fit: candidates drawn from what was found, none of them tried here.

A change carries its code and data for documents, and how to make the scene in which it is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dra_plan.allocator import PoolState
from dra_plan.allocator.reasons import (
    BindingConditionsOff,
    CapacityMissing,
    CapacityShort,
    CounterShort,
    CountersOff,
    InUse,
    NotTolerated,
    SelectorRefused,
)
from dra_plan.allocator.requests import Want
from dra_plan.api.resource import DeviceToleration

from . import edits
from .blocking import BlockingSet
from .clauses import clauses
from .faults import Fault
from .funnel import Funnel, NodeView, Removal
from .holders import holders
from .labels import missing_labels
from .near import nearest
from .reasons import SelectorFailed, amount
from .relax import ClaimElement, ConstraintElement, CounterElement, RequestElement
from .rewrites import spelling_fixes
from .scene import Scene
from .selectors import Finding

Data = dict[str, Any]

RANKS = (
    "guard-selector",
    "fix-spelling",
    "tolerate-taint",
    "wait-for-slice",
    "lower-count",
    "lower-capacity",
    "rename-capacity",
    "drop-capacity",
    "count-instead-of-all",
    "loosen-selector",
    "drop-selector",
    "drop-constraint",
    "change-class",
    "loosen-class",
    "label-node",
    "release-claim",
    "drop-request",
    "enable-gate",
)
"""All codes, from what changes least: the order of suggestions."""


_BINDING_GATE = "DRADeviceBindingConditions"


@dataclass(slots=True, frozen=True)
class Change:
    """One change. `data` says what it is about, for documents."""

    code: str
    data: Data
    apply: Callable[[Scene], Scene]

    @property
    def rank(self) -> int:
        """Its place in the order of suggestions."""
        return RANKS.index(self.code)


def candidates(
    view: NodeView, blocking: BlockingSet | None, findings: dict[tuple[int, int], list[Finding]]
) -> list[Change]:
    """Everything worth trying on this node, by rank. `findings` are those of (want position, removal position)."""
    funnels = [funnel for funnels in view.failing() for funnel in funnels]
    made: list[Change] = []
    for position, funnel in enumerate(view.funnels):
        if funnel not in funnels and not _is_blamed(funnel.want, blocking):
            continue
        made += _of_want(funnel)
        for number, removal in enumerate(funnel.removals):
            found = findings.get((position, number), [])
            made += _of_removal(view, funnel, removal, found)
    made += _of_blocking(view, blocking)
    made += _of_pools(view)
    made += (_labelled(labels) for labels in missing_labels(view.scene))
    unique: dict[str, Change] = {}
    for change in made:
        unique.setdefault(f"{change.code} {sorted(change.data.items(), key=str)}", change)
    return sorted(unique.values(), key=lambda change: change.rank)


def of_fault(scene: Scene, fault: Fault) -> list[Change]:
    """What may help against an error: another class, fewer devices, the feature gate that is off."""
    made: list[Change] = []
    for want in (want for ready in scene.ready() for wants in ready.requests for want in wants):
        if fault.code == "class-missing" and want.full_name == fault.request and fault.hint is not None:
            data = {**about(want), "to": fault.hint}
            made.append(Change("change-class", data, _edit(want, edits.set_class(fault.hint))))
        elif fault.code == "too-many-devices" and not want.takes_all:
            made += _fewer(want, want.count - 1)
    if fault.rewrite is not None and fault.rewrite.outcome == "Fits":
        made.append(_rewritten(scene, fault, fault.rewrite.expression))
    if fault.gate is not None:
        made.append(_enable(fault.gate))
    return made


def _rewritten(scene: Scene, fault: Fault, expression: str) -> Change:
    position = fault.selector or 0
    data: Data = {"selector": position, "expression": fault.expression, "replacement": expression}
    if fault.object is not None and fault.object[0] == "DeviceClass":
        name = fault.object[2]
        return Change(
            "guard-selector",
            {"class": name, **data},
            lambda changed: edits.set_class_selector(changed, name, position, expression),
        )
    want = next(
        want
        for ready in scene.ready()
        for wants in ready.requests
        for want in wants
        if want.full_name == fault.request
        and any(c.class_name is None and c.expression == fault.expression for c in want.conditions)
    )
    return Change("guard-selector", {**about(want), **data}, _edit(want, edits.set_selector(position, expression)))


def _enable(gate: str) -> Change:
    return Change("enable-gate", {"gate": gate}, lambda scene: scene.with_gate(gate))


def _labelled(labels: dict[str, str]) -> Change:
    return Change("label-node", {"labels": labels}, lambda scene: edits.label_node(scene, labels))


def _is_blamed(want: Want, blocking: BlockingSet | None) -> bool:
    if blocking is None:
        return False
    return RequestElement(want.claim_index, want.request_name) in blocking.elements


def about(want: Want) -> Data:
    """The claim and request of a want, as documents name them."""
    metadata = want.claim.metadata
    return {"claim": {"namespace": metadata.namespace, "name": metadata.name}, "request": want.full_name}


def _edit(want: Want, edit: edits.Edit) -> Callable[[Scene], Scene]:
    return lambda scene: edits.edit_request(scene, want.claim_index, want.full_name, edit)


def _of_want(funnel: Funnel) -> Iterator[Change]:
    want = funnel.want
    if want.takes_all:
        for count in _steps_down(len(funnel.left)):
            data = {**about(want), "to": count}
            yield Change("count-instead-of-all", data, _edit(want, edits.set_count(count)))
        return
    yield from _fewer(want, want.count - 1)


def _fewer(want: Want, highest: int) -> Iterator[Change]:
    for count in _steps_down(highest):
        data = {**about(want), "from": want.count, "to": count}
        yield Change("lower-count", data, _edit(want, edits.set_count(count)))


def _steps_down(highest: int) -> Iterable[int]:
    return range(highest, 0, -1)


def _of_removal(view: NodeView, funnel: Funnel, removal: Removal, found: Sequence[Finding]) -> Iterator[Change]:
    want = funnel.want
    for refusal in dict.fromkeys(removal.refusals):
        if isinstance(refusal, NotTolerated):
            yield _toleration(want, refusal)
        elif isinstance(refusal, SelectorRefused | SelectorFailed):
            yield from _of_selector(want, refusal, found)
        elif isinstance(refusal, CapacityMissing):
            yield from _other_capacity(want, refusal, removal)
        elif isinstance(refusal, CapacityShort):
            yield from _less_capacity(want, refusal)
    if isinstance(removal.refusal, CountersOff | BindingConditionsOff):
        yield _enable("DRAPartitionableDevices" if isinstance(removal.refusal, CountersOff) else _BINDING_GATE)
    if isinstance(removal.refusal, InUse | CapacityShort | CounterShort):
        yield from (release(view.scene, key) for key in holders(view, want, removal))


def _toleration(want: Want, taint: NotTolerated) -> Change:
    operator = "Equal" if taint.value else "Exists"
    edit = edits.tolerate(DeviceToleration(key=taint.key, operator=operator, value=taint.value, effect=taint.effect))
    toleration = {"key": taint.key, "operator": operator, "value": taint.value, "effect": taint.effect}
    written = {name: text for name, text in toleration.items() if text}
    return Change("tolerate-taint", {**about(want), "toleration": written}, _edit(want, edit))


def _of_selector(want: Want, refusal: SelectorRefused | SelectorFailed, found: Sequence[Finding]) -> Iterator[Change]:
    position, expression = refusal.position, refusal.expression
    data: Data = {**about(want), "selector": position, "expression": expression}
    parts = clauses(expression)
    if refusal.class_name is not None:
        name = refusal.class_name
        data = {"class": name, "selector": position, "expression": expression}

        def change(new: str | None) -> Callable[[Scene], Scene]:
            return lambda scene: edits.set_class_selector(scene, name, position, new)
    else:

        def change(new: str | None) -> Callable[[Scene], Scene]:
            return _edit(want, edits.set_selector(position, new))

    for new in spelling_fixes(expression, found):
        yield Change("fix-spelling", {**data, "replacement": new}, change(new))
    loosen, drop = (
        ("loosen-class", "loosen-class") if refusal.class_name is not None else ("loosen-selector", "drop-selector")
    )
    if len(parts) > 1:
        for finding in found:
            kept = " && ".join(part for part in parts if part != finding.clause)
            if finding.clause in parts and kept:
                yield Change(loosen, {**data, "replacement": kept, "dropped": finding.clause}, change(kept))
    if refusal.class_name is None or (found and len(parts) == 1):
        yield Change(drop, {**data, "replacement": None}, change(None))


def _other_capacity(want: Want, missing: CapacityMissing, removal: Removal) -> Iterator[Change]:
    """A capacity that the devices have and that was perhaps meant; or none."""
    asked = (want.capacity or {}).get(missing.name)
    data = {**about(want), "capacity": missing.name}
    published = dict.fromkeys(name for device in removal.devices for name in device.device.capacity)
    meant = nearest(missing.name, published)
    if meant is not None and asked is not None:
        edit = edits.rename_capacity(missing.name, meant)
        yield Change("rename-capacity", {**data, "to": meant}, _edit(want, edit))
    yield Change("drop-capacity", data, _edit(want, edits.rename_capacity(missing.name, None)))


def _less_capacity(want: Want, short: CapacityShort) -> Iterator[Change]:
    name = next((key for key in want.capacity or () if key.rpartition("/")[2] == short.name.rpartition("/")[2]), None)
    if name is None or short.left <= 0 or want.capacity is None:
        return
    to = amount(short.left)
    data = {**about(want), "capacity": name, "from": str(want.capacity[name]), "to": to}
    yield Change("lower-capacity", data, _edit(want, edits.set_capacity(name, to)))


def release(scene: Scene, key: str) -> Change:
    """An allocated claim gives its devices back."""
    namespace, _, name = key.partition("/")
    data: Data = {"release": {"namespace": namespace, "name": name}}
    claim = next((claim for claim in scene.allocated if claim.key == key), None)
    reserved = claim.status.reserved_for if claim is not None and claim.status is not None else []
    pods = [consumer.name for consumer in reserved if consumer.resource == "pods"]
    if pods:
        data["pods"] = pods
    return Change("release-claim", data, lambda changed: changed.without_allocated([key]))


def _of_blocking(view: NodeView, blocking: BlockingSet | None) -> Iterator[Change]:
    if blocking is None:
        return
    several = sum(len(claim.spec.devices.requests) for claim in view.scene.claims) > 1
    for element in blocking.elements:
        if isinstance(element, ConstraintElement):
            yield _drop_constraint(view.scene, element)
        elif isinstance(element, ClaimElement):
            yield release(view.scene, element.claim)
        elif isinstance(element, CounterElement):
            yield from (release(view.scene, key) for key in _counter_holders(view, element))
        elif several:
            yield _drop_request(view.scene, element)


def _counter_holders(view: NodeView, element: CounterElement) -> list[str]:
    state = view.scene.state
    pool = next((pool for pool in view.pools if pool.id == element.pool), None)
    found: dict[str, None] = {}
    for slice_ in (*pool.slices, *pool.elsewhere) if pool is not None else ():
        for device in slice_.devices:
            charges = any(s == element.counter_set and c == element.counter for s, c, _ in device.consumption)
            if charges and device.id in state.dedicated:
                found[state.dedicated[device.id]] = None
            if charges:
                found.update(dict.fromkeys(state.shared.get(device.id, ())))
    return list(found)


def _drop_constraint(scene: Scene, element: ConstraintElement) -> Change:
    claim = scene.claims[element.claim]
    constraint = claim.spec.devices.constraints[element.position]
    data: Data = {
        "claim": {"namespace": claim.metadata.namespace, "name": claim.metadata.name},
        "constraint": element.position,
        "attribute": constraint.match_attribute or constraint.distinct_attribute or "",
    }
    return Change(
        "drop-constraint", data, lambda changed: edits.drop_constraint(changed, element.claim, element.position)
    )


def _drop_request(scene: Scene, element: RequestElement) -> Change:
    metadata = scene.claims[element.claim].metadata
    data: Data = {
        "claim": {"namespace": metadata.namespace, "name": metadata.name},
        "request": element.request,
    }
    return Change("drop-request", data, lambda changed: edits.drop_request(changed, element.claim, element.request))


def _of_pools(view: NodeView) -> Iterator[Change]:
    for found in view.unusable:
        pool = found.pool
        if pool.state is not PoolState.INCOMPLETE:
            continue
        generation, seen = pool.generation, pool.seen
        data: Data = {
            "pool": {"driver": pool.id.driver, "pool": pool.id.pool},
            "seen": seen,
            "expected": pool.expected,
        }

        def apply(scene: Scene, pool_id: Any = pool.id, generation: int = generation, seen: int = seen) -> Scene:
            return edits.complete_pool(scene, pool_id, generation, seen)

        yield Change("wait-for-slice", data, apply)
