"""Changes that might make a claim set fit, derived from the findings. `trials` tries them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from dra_plan.allocator import PoolDevice, PoolID, PoolState, SelectorError
from dra_plan.allocator.reasons import (
    AttributeMissing,
    BindingConditionsOff,
    CapacityMissing,
    CapacityShort,
    CounterShort,
    CountersOff,
    InUse,
    NotTolerated,
    PolicyViolated,
    SelectorRefused,
)
from dra_plan.allocator.requests import RESULTS_LIMIT, Want
from dra_plan.allocator.taints import tainted
from dra_plan.api.resource import (
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    ResourceClaim,
)
from dra_plan.cel.parts import clauses, references, strings
from dra_plan.cel.rewrite import comparison, with_clause, with_domain, without_clause
from dra_plan.documents.base import ClaimName
from dra_plan.documents.claim_changes import (
    AlternativeAdded,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    PoolAwaited,
    RequestDropped,
    SelectorChanged,
    TaintRuleDeleted,
    TaintTolerated,
)
from dra_plan.documents.cluster_changes import ClaimReleased, GateEnabled, NodeLabelled
from dra_plan.documents.devices import TaintName
from dra_plan.explanation import edits
from dra_plan.explanation.elements import BlockingSet, ClaimElement, ConstraintElement, CounterElement, RequestElement
from dra_plan.explanation.errors import ErrorDetails
from dra_plan.explanation.funnel import Funnel, NodeOffer, Removal, counter_holders, holders
from dra_plan.explanation.hints import of_text
from dra_plan.explanation.names import claim_name, pods_using, pool_name, request_name
from dra_plan.explanation.placement import Placement
from dra_plan.explanation.reasons import SelectorFailed
from dra_plan.explanation.selectors import DecisivePart, Publications, other_values, spelling_fixes
from dra_plan.near import nearest, renamed_driver

from .capacities import of_missing, of_policy, of_short
from .nearness import memory_of, with_nearness
from .node_labels import missing_labels
from .patches import Change, Held, edit_want

# -- other device classes ----------------------------------------------------------------------------------------------
# Classes for devices of the same driver.

MOST_TAINTED = 64
"""The maximum number of devices that are named for a taint."""


MOST_RULES = 4
"""The maximum number of DeviceTaintRules whose deletion is tried for one taint."""

MOST_CLASSES = 6
"""The maximum number of classes that are tried for one request."""


def of_funnel(offer: NodeOffer, funnel: Funnel) -> Iterator[Change]:
    """Yield changes that request devices of another class.

    If the request has alternatives, the other class is added as a new alternative.
    """
    want = funnel.want
    if want.device_class is None:
        return
    devices = [device for pool in offer.pools for device in pool.devices()]
    drivers = _drivers(want.device_class, devices, offer) or _named(want.device_class, devices)
    tried = 0
    for name, other in sorted(offer.placement.view.classes.items()):
        if name == want.device_class.metadata.name or tried == MOST_CLASSES:
            continue
        if drivers & _drivers(other, devices, offer):
            tried += 1
            if want.count or not want.parent:  # an alternative that requests all devices has no number to repeat
                yield _other(want, name)


def _other(want: Want, name: str) -> Change:
    if not want.parent:
        now = want.device_class.metadata.name if want.device_class else ""
        changed = ClassChanged(code="change-class", **request_name(want), from_=now, to=name)
        return Change(changed, edit_want(want, edits.set_class(name)))
    about = {**request_name(want), "request": want.parent}
    return Change(
        AlternativeAdded(code="add-alternative", **about, class_=name, count=want.count),
        lambda placement: edits.add_alternative(placement, want.claim_index, want.parent, name, want.count),
    )


def _drivers(device_class: DeviceClass, devices: list[PoolDevice], offer: NodeOffer) -> set[str]:
    """Return the drivers of the devices that pass all selectors of the class."""
    compile_ = offer.placement.view.compile
    try:
        selectors = [compile_(s.cel.expression) for s in device_class.spec.selectors if s.cel is not None]
        return {d.id.driver for d in devices if all(s.matches(d.device, d.id.driver) for s in selectors)}
    except (SelectorError, ValueError):
        return set()


def _named(device_class: DeviceClass, devices: list[PoolDevice]) -> set[str]:
    """Return the drivers that the selectors of the class name, or those that may be new names of these drivers."""
    named = {text for s in device_class.spec.selectors if s.cel is not None for text in strings(s.cel.expression)}
    drivers = {device.id.driver for device in devices}
    return drivers & named or {new for one in named if (new := renamed_driver(one, drivers)) is not None}


# -- selectors ---------------------------------------------------------------------------------------------------------
# A corrected name, another value, a part or the whole dropped.

Replacing = Callable[[str | None], Callable[[Placement], Placement]]


def of_selector(
    want: Want,
    refusal: SelectorRefused | SelectorFailed,
    found: Sequence[DecisivePart],
    nowhere: Collection[str] = (),
) -> Iterator[Change]:
    """Yield the changes to try for a selector that rejects devices or fails.

    `found` contains the decisive parts of the selector. A clause that names the driver is never dropped, because the
    devices of another driver are different hardware. `nowhere` contains clauses that are true for no device in the
    cluster. They are not dropped from classes.
    """
    position, expression = refusal.position, refusal.expression
    of_class = refusal.class_name is not None
    about = {"class_": refusal.class_name} if of_class else request_name(want)
    replacing = _replacing(want, refusal)

    def change(code: str, new: str | None, dropped: str = "") -> Change:
        told = SelectorChanged(
            code=code, **about, selector=position, expression=expression, replacement=new, dropped=dropped
        )
        return Change(told, replacing(new))

    for new in [*_of_renamed_driver(expression, found, nowhere), *spelling_fixes(expression, found)]:
        yield change("fix-spelling", new)
    if not of_class:
        for new in other_values(expression, found):
            yield change("change-value", new)
    rules = [finding.clause for finding in found if not _names_driver(finding.clause)]
    given_up = [clause for clause in rules if not of_class or clause not in nowhere]
    for clause in given_up:
        kept = without_clause(expression, clause)
        if kept is not None:
            yield change("loosen-class" if of_class else "loosen-selector", kept, clause)
    if not of_class and (rules or not found):
        yield change("drop-selector", None)
    elif of_class and given_up and len(clauses(expression)) == 1:
        yield change("loosen-class", None)


def _of_renamed_driver(expression: str, found: Sequence[DecisivePart], nowhere: Collection[str]) -> Iterator[str]:
    """Yield the expression with the name that its driver now has, if no device has a driver of the old name."""
    for clause in (one.clause for one in found if one.clause in nowhere and _names_driver(one.clause)):
        compared = comparison(clause)
        drivers = {value for one in found if one.clause == clause for each in one.found for _, value in each.values}
        if compared is None or not (compared.is_equal and compared.is_plain and isinstance(compared.value, str)):
            continue
        old, new = compared.value, renamed_driver(compared.value, drivers)
        if new is not None:
            yield with_domain(with_clause(expression, clause, compared.with_value(new)), old, new)


def _names_driver(clause: str) -> bool:
    """Return whether the clause is about nothing but the driver."""
    return {reference.kind for reference in references(clause)} == {"driver"}


def _replacing(want: Want, refusal: SelectorRefused | SelectorFailed) -> Replacing:
    """Return a function that replaces the selector; None removes it."""
    name, position = refusal.class_name, refusal.position
    return lambda new: lambda placement: edits.replace_selector(placement, want, name, position, new)


# -- all candidates for a node -----------------------------------------------------------------------------------------

_BINDING_GATE = "DRADeviceBindingConditions"


def candidates(
    offer: NodeOffer,
    blocking: BlockingSet | None,
    decisive_parts: dict[tuple[int, int], list[DecisivePart]],
    *,
    blames_all: bool = False,
    nowhere: Collection[str] = (),
) -> list[Change]:
    """Return all changes that are worth trying on this node, sorted by rank.

    - `blocking`: the blocking set. Requests that can be met alone are changed only if they are in it.
    - `decisive_parts`: the parts by the position of the request and the position of the removal
    - `blames_all`: whether to change every request, because any of them may have triggered a defect
    - `nowhere`: clauses that are true for no device in the cluster. They are not dropped from classes, which affect
      other claims too.

    Of several claims from one template, only the first is changed.
    """
    funnels = [funnel for funnels in offer.failing() for funnel in funnels]
    made: list[Change] = []
    for position, funnel in enumerate(offer.funnels):
        if offer.placement.first_alike(funnel.want.claim_index) != funnel.want.claim_index:
            continue
        if funnel not in funnels and not blames_all and not _is_blamed(offer.placement, funnel.want, blocking):
            continue
        made += _of_want(funnel)
        for number, removal in enumerate(funnel.removals):
            found = decisive_parts.get((position, number), [])
            made += _of_removal(offer, funnel, removal, found, nowhere)
        if funnel in funnels:
            made += of_funnel(offer, funnel)
    made += _of_blocking(offer, blocking)
    if blames_all:
        made += of_claims(offer.placement)
    made += _of_pools(offer)
    made += (_labelled(labels) for labels in missing_labels(offer.placement))
    unique: dict[str, Change] = {}
    for change in made:
        told = change.told
        if isinstance(told, ClaimReleased) and f"{told.release.namespace}/{told.release.name}" in offer.placement.own:
            continue
        unique.setdefault(str(told), change)
    return sorted(unique.values(), key=lambda change: change.rank)


def of_error(placement: Placement, error: ErrorDetails) -> list[Change]:
    """Return changes that may prevent an error: another class, fewer devices, or enabling a feature gate."""
    made: list[Change] = []
    for want in placement.wants():
        if error.code == "class-missing" and want.full_name == error.request and error.missing is not None:
            other = error.hint or nearest(error.missing[2], error.known)
            if other is not None:
                told = ClassChanged(code="change-class", **request_name(want), to=other)
                made.append(Change(told, edit_want(want, edits.set_class(other))))
        elif error.code == "too-many-devices" and not want.takes_all:
            made += _fewer(want, min(want.count - 1, RESULTS_LIMIT))
    guard = guarding(error)
    if guard is not None and error.mended is not None and error.mended.outcome == "Fits":
        made.append(guard)
    if error.gate is not None:
        made.append(_enable(error.gate))
    return made


def guarding(error: ErrorDetails) -> Change | None:
    """Return the change that replaces the failing selector by one without the error, or None if none is known.

    The claims may need further changes to fit.
    """
    if error.want is None or error.mended is None:
        return None
    return _rewritten(error.want, error, error.mended.expression)


def _rewritten(want: Want, error: ErrorDetails, expression: str) -> Change:
    name = error.object[2] if error.object is not None and error.object[0] == "DeviceClass" else None
    position = error.selector or 0
    about = {"class_": name} if name is not None else request_name(want)
    return Change(
        SelectorChanged(
            code="guard-selector",
            **about,
            selector=position,
            expression=error.expression or "",
            replacement=expression,
        ),
        lambda placement: edits.replace_selector(placement, want, name, position, expression),
    )


def _enable(gate: str) -> Change:
    return Change(GateEnabled(code="enable-gate", gate=gate), lambda placement: placement.with_gate(gate))


def _labelled(labels: dict[str, str]) -> Change:
    return Change(NodeLabelled(code="label-node", labels=labels), lambda placement: edits.label_node(placement, labels))


def _is_blamed(placement: Placement, want: Want, blocking: BlockingSet | None) -> bool:
    """Return whether the request, or that of another claim from the same template, is in the blocking set."""
    return any(
        isinstance(element, RequestElement)
        and (placement.first_alike(element.claim), element.request) == (want.claim_index, want.request_name)
        for element in (blocking.elements if blocking is not None else ())
    )


def _of_want(funnel: Funnel) -> Iterator[Change]:
    want = funnel.want
    if want.takes_all:
        for count in _steps_down(len(funnel.left)):
            about = {**request_name(want), "from_": funnel.need if funnel.need > count else None}
            told = CountLowered(code="count-instead-of-all", **about, to=count)
            yield Change(told, edit_want(want, edits.set_count(count)), count)
        return
    yield from _fewer(want, min(want.count - 1, len(funnel.left)))


def _fewer(want: Want, highest: int) -> Iterator[Change]:
    for count in _steps_down(highest):
        told = CountLowered(code="lower-count", **request_name(want), from_=want.count, to=count)
        yield Change(told, edit_want(want, edits.set_count(count)), count)


def _steps_down(highest: int) -> Iterable[int]:
    return range(highest, 0, -1)


def _of_removal(
    offer: NodeOffer, funnel: Funnel, removal: Removal, found: Sequence[DecisivePart], nowhere: Collection[str]
) -> Iterator[Change]:
    want = funnel.want
    for refusal in dict.fromkeys(removal.refusals):
        if isinstance(refusal, NotTolerated):
            yield from _of_rules(offer.placement, refusal, removal.devices)
            yield _toleration(want, refusal, removal.devices, max(1, funnel.need - len(funnel.left)))
        elif isinstance(refusal, SelectorRefused | SelectorFailed):
            if isinstance(refusal, SelectorFailed) and not refusal.compiles:
                yield from _compiling(offer, want, refusal)
            yield from (with_nearness(offer, change) for change in of_selector(want, refusal, found, nowhere))
        elif isinstance(refusal, CapacityMissing):
            yield from of_missing(want, refusal, removal)
        elif isinstance(refusal, CapacityShort):
            yield from of_short(want, refusal, removal, offer.checks)
        elif isinstance(refusal, PolicyViolated):
            yield from of_policy(want, refusal, removal)
    if isinstance(removal.refusal, CountersOff | BindingConditionsOff):
        yield _enable("DRAPartitionableDevices" if isinstance(removal.refusal, CountersOff) else _BINDING_GATE)
    if isinstance(removal.refusal, AttributeMissing):
        yield _drop_constraint(offer.placement, ConstraintElement(want.claim_index, removal.refusal.constraint))
    if isinstance(removal.refusal, InUse | CapacityShort | CounterShort):
        yield from (release(offer.placement, key) for key in holders(offer, want, removal))


def _compiling(offer: NodeOffer, want: Want, refusal: SelectorFailed) -> Iterator[Change]:
    """Yield the expression that was meant, for one that does not compile."""
    compile_ = offer.placement.view.compile

    def compiles(text: str) -> bool:
        try:
            compile_(text)
        except ValueError:
            return False
        return True

    published = Publications(device for pool in offer.pools for device in pool.devices())
    hint = of_text(refusal.expression, published, compiles)
    if hint is not None and hint.expression:
        about = request_name(want) if refusal.class_name is None else {"class_": refusal.class_name}
        told = SelectorChanged(
            code="fix-spelling",
            **about,
            selector=refusal.position,
            expression=refusal.expression,
            replacement=hint.expression,
        )
        yield Change(told, _replacing(want, refusal)(hint.expression))


def _of_rules(placement: Placement, taint: NotTolerated, devices: Sequence[PoolDevice]) -> Iterator[Change]:
    """Yield the device taint rules that give the taint to one of the devices, without the rule."""
    name = TaintName(key=taint.key, value=taint.value, effect=taint.effect)
    given = [one for one in placement.view.taint_rules if _taint_of(one.spec.taint) == taint][:MOST_RULES]
    for rule in (one for one in given if any(map(partial(_is_tainted, one), devices))):
        told = TaintRuleDeleted(code="delete-taint-rule", rule=rule.metadata.name, taint=name)
        yield Change(told, partial(_without_rule, rule.metadata.name))


def _without_rule(name: str, placement: Placement) -> Placement:
    return placement.without_rule(name)


def _taint_of(taint: DeviceTaint) -> tuple[str, str, str]:
    return taint.key, taint.value, taint.effect


def _is_tainted(rule: DeviceTaintRule, device: PoolDevice) -> bool:
    pool = PoolID(device.id.driver, device.id.pool)
    return len(tainted(device.device, pool, [rule])) > len(device.device.taints)


def _toleration(want: Want, taint: NotTolerated, devices: Sequence[PoolDevice], needed: int) -> Change:
    operator = "Equal" if taint.value else "Exists"
    toleration = DeviceToleration(key=taint.key, operator=operator, value=taint.value, effect=taint.effect)
    having = [
        (device, one.time_added or "")
        for device in devices
        for one in device.taints
        if (one.key, one.value, one.effect) == taint
    ]
    told = TaintTolerated(
        code="tolerate-taint",
        **request_name(want),
        toleration=toleration,
        tainted=list(dict.fromkeys(str(device.id) for device, _ in having))[:MOST_TAINTED],
        needed=needed,
        since=min((since for _, since in having if since), default=""),
    )
    return Change(told, edit_want(want, edits.tolerate(toleration)))


def release(placement: Placement, key: str) -> Change:
    """Return the change that releases the devices of an allocated claim."""
    namespace, _, name = key.partition("/")
    claim = next((claim for claim in placement.allocated if claim.key == key), None)
    pods = pods_using(claim)
    told = ClaimReleased(code="release-claim", release=ClaimName(namespace=namespace, name=name), pods=pods)
    return Change(told, lambda changed: changed.without_allocated([key]), holds=_held(placement, claim))


def _held(placement: Placement, claim: ResourceClaim | None) -> Held:
    """Return what a claim holds: whether it is in use, and equal to one of the claims, its devices and their memory."""
    if claim is None or claim.allocation is None:
        return 0, 0, 0, 0
    ids = {(one.driver, one.pool, one.device) for one in claim.allocation.devices.results}
    every = (device for pool in placement.gathered[0] for device in pool.devices())
    devices = [one for one in every if (one.id.driver, one.id.pool, one.id.device) in ids]
    is_equal = any(claim.spec == own.spec for own in placement.claims)
    return bool(pods_using(claim)), is_equal, len(claim.allocation.devices.results), sum(map(memory_of, devices))


def _of_blocking(offer: NodeOffer, blocking: BlockingSet | None) -> Iterator[Change]:
    if blocking is None:
        return
    for element in blocking.elements:
        if isinstance(element, ConstraintElement):
            yield _drop_constraint(offer.placement, element)
        elif isinstance(element, ClaimElement):
            yield release(offer.placement, element.claim)
        elif isinstance(element, CounterElement):
            held = counter_holders(offer, element.pool, element.counter_set, element.counter)
            yield from (release(offer.placement, key) for key in held)
        elif _is_dropped(offer.placement, element):
            yield _drop_request(offer.placement, element)


def of_claims(placement: Placement) -> list[Change]:
    """Return changes that drop a constraint or one of several requests, to be tried if no cause is visible."""
    claims = list(enumerate(placement.claims))
    constraints = [
        _drop_constraint(placement, ConstraintElement(index, number))
        for index, claim in claims
        for number in range(len(claim.spec.devices.constraints))
    ]
    every = [
        RequestElement(index, one.name) for index, claim in claims for one in reversed(claim.spec.devices.requests)
    ]
    return [*constraints, *(_drop_request(placement, one) for one in every if _is_dropped(placement, one))]


def _is_dropped(placement: Placement, element: RequestElement) -> bool:
    """Return whether the request may be left out: others are left, and no constraint names it."""
    first = placement.first_alike(element.claim)
    others = any(
        placement.first_alike(at) != first or one.name != element.request
        for at, claim in enumerate(placement.claims)
        for one in claim.spec.devices.requests
    )
    return others and not _is_constrained(placement, element)


def _is_constrained(placement: Placement, element: RequestElement) -> bool:
    """Return whether a constraint names the request: its device belongs to those of others, and is not left out."""
    constraints = placement.claims[element.claim].spec.devices.constraints
    return any(name.partition("/")[0] == element.request for each in constraints for name in each.requests)


def _drop_constraint(placement: Placement, element: ConstraintElement) -> Change:
    claim = placement.claims[element.claim]
    constraint = claim.spec.devices.constraints[element.position]
    told = ConstraintDropped(
        code="drop-constraint",
        claim=claim_name(placement.claims[placement.first_alike(element.claim)]),
        constraint=element.position,
        attribute=constraint.match_attribute or constraint.distinct_attribute or "",
    )
    return Change(told, lambda changed: edits.drop_constraint(changed, element.claim, element.position))


def _drop_request(placement: Placement, element: RequestElement) -> Change:
    claim = claim_name(placement.claims[placement.first_alike(element.claim)])
    told = RequestDropped(code="drop-request", claim=claim, request=element.request)
    return Change(told, lambda changed: edits.drop_request(changed, element.claim, element.request))


def _of_pools(offer: NodeOffer) -> Iterator[Change]:
    for found in offer.unusable:
        pool = found.pool
        if pool.state is not PoolState.INCOMPLETE or pool.seen >= pool.expected:
            continue  # if it states fewer slices than exist, no further one will come
        generation, seen = pool.generation, pool.seen
        newest = [
            each.object.spec for each in offer.placement.view.gatherer.slices[pool.id] if each.generation == generation
        ]
        counts = {each.pool.resource_slice_count for each in newest}
        nodes = {each.node_name or "" for each in newest}
        if len(counts) > 1:
            continue  # the slices contradict each other, so waiting does not help
        told = PoolAwaited(
            code="wait-for-slice",
            pool=pool_name(pool.id),
            generation=generation,
            seen=seen,
            expected=pool.expected,
            on=nodes.pop() if len(nodes) == 1 else "",
        )

        def apply(
            placement: Placement, pool_id: Any = pool.id, generation: int = generation, seen: int = seen
        ) -> Placement:
            return edits.complete_pool(placement, pool_id, generation, seen)

        yield Change(told, apply)
