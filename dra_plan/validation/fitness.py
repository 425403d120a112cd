"""Requests and constraints that no devices in the input can ever meet (DRA230 to DRA232, DRA240, DRA241)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dra_plan.allocator import PoolDevice, PoolID
from dra_plan.allocator.capacity import Steps, demand, short
from dra_plan.allocator.constraints import Constraint, look_up, make
from dra_plan.allocator.reasons import CapacityMissing, CapacityReason, PolicyViolated
from dra_plan.allocator.requests import Want
from dra_plan.allocator.taints import first_untolerated
from dra_plan.api.go_text import allowed
from dra_plan.api.meta import FieldPath, QuantityText
from dra_plan.api.quantity import parse
from dra_plan.explanation.selectors import attribute_value, qualified

from .formats import count, listed, nearest, none_of, shown
from .input import Input, PlacedClaim, PlacedRequest
from .matches import ChosenDevices, Offer
from .rule import Problem, unschedulable, warning
from .subject import Subject

NEVER_MET = unschedulable(
    "DRA230",
    "request that no device can meet",
    "The devices in the input cannot satisfy the request on any node, even if nothing else is running.",
    "Change the request or its class, or add the slices of nodes that have suitable devices.",
)
ALL_WAITS = warning(
    "DRA231",
    "request for all devices when a pool is incomplete",
    (
        "A request with allocation mode All needs every matching device in every pool that the node can "
        "access. If a pool is incomplete, not all of its devices are known, so the scheduler rejects the "
        "node."
    ),
    "Add the missing slices of the pool, or request a specific number of devices instead of all.",
)
CAPACITY_DOMAIN = unschedulable(
    "DRA232",
    "capacity name without its domain",
    (
        "Names in capacity requests are compared literally. Unlike in selectors, the driver's domain is "
        "neither added nor removed."
    ),
    "Write the name exactly as it is in the slice.",
)
OTHER_TYPES = warning(
    "DRA240",
    "constraint on an attribute with several types",
    "Values of different types are never equal, so devices of these drivers can never be combined.",
    "Use an attribute that all drivers publish with the same type.",
)
NOBODY_HAS = unschedulable(
    "DRA241",
    "constraint on an attribute that no matching device has",
    "A device without the attribute cannot satisfy the constraint, so the claim can never be allocated.",
    "Correct the name, or remove the constraint.",
)
RULES = (NEVER_MET, ALL_WAITS, CAPACITY_DOMAIN, OTHER_TYPES, NOBODY_HAS)

Found = Iterator[tuple[Subject, Problem]]


def check(given: Input) -> Found:
    """Check whether the devices in the input can meet the requests and constraints, if the input has any devices."""
    if not given.pools or not given.knows_all_devices:
        return
    broken = [placed.pool.id for placed in given.pools if placed.pool.incomplete]
    for claim in given.claims:
        for problem in _of_claim(given, claim, broken):
            yield claim.subject, problem


def _of_claim(given: Input, claim: PlacedClaim, broken: Sequence[PoolID]) -> Iterator[Problem]:
    for options in claim.requests:
        yield from _request(given, options)
        for request in options:
            if request.want.takes_all and broken:
                pools = listed(broken)
                message = (
                    f"slices of {pools} are missing from the input, so nodes that can access the pool are rejected"
                )
                yield ALL_WAITS.at((*request.path, "allocationMode"), message)
    yield from _constraints(given, claim)


# Requests


def _request(given: Input, options: Sequence[PlacedRequest]) -> Iterator[Problem]:
    found = [_unmet(given, request) for request in options]
    if not found or None in found:
        return
    problems = [problem for problem in found if problem is not None]
    if len(problems) == 1:
        yield problems[0]
    elif all(problem.rule is NEVER_MET for problem in problems):
        reasons = "; ".join(
            f"{request.want.name}: {problem.message}" for request, problem in zip(options, problems, strict=True)
        )
        yield NEVER_MET.at(options[0].path[:-1], f"none of the alternatives can be met: {reasons}")
    else:
        yield from problems


def _unmet(given: Input, request: PlacedRequest) -> Problem | None:
    """Return why no device can ever serve the request, or not enough of them; None if that is unknown."""
    want, path = request.want, request.path
    devices, matches = given.devices, given.matches
    of_class = [condition for condition in want.conditions if condition.class_name is not None]
    by_class = matches.of(of_class)
    matching, offer = matches.of(want.conditions), matches.offer(want)
    if want.device_class is None or by_class is None or matching is None or offer is None:
        return None  # other rules report this
    if not by_class and matches.fail(of_class):
        return None  # the class is reported
    if not by_class:
        name = want.device_class.metadata.name
        told = none_of(len(devices), "device", "match", "the input") if devices else "the input's slices have no device"
        cause = f", because of the selectors of DeviceClass {name}" if devices else ""
        return NEVER_MET.at((*path, "deviceClassName"), f"class {name}: {told}{cause}")
    if not matching and matches.fail(want.conditions):
        return None  # other rules report this
    if not matching:
        name = want.device_class.metadata.name
        message = f"{none_of(by_class.count, 'device', 'match', f'class {name}')} the selectors"
        return _with_hint(NEVER_MET.at((*path, "selectors"), message), given, want)
    if not offer.devices:
        return NEVER_MET.at(path, _taint_words(given, want, matching))
    return _capacity(given, want, offer.devices, path) or _number(given, want, offer, path)


def _with_hint(problem: Problem, given: Input, want: Want) -> Problem:
    """Return the problem at the selector that is false for all devices, with their values and the probable intent."""
    for number, condition in enumerate(want.conditions, start=1):
        hint = given.matches.hint(want.conditions[:number])
        if hint is not None and condition.class_name is None:
            place = (*problem.path, condition.index, "cel", "expression")
            message = f"{problem.message}: {'; '.join(hint.said)}"
            return replace(problem, path=place, message=message, suggestion=hint.expression, offset=hint.offset)
    return problem


def _taint_words(given: Input, want: Want, devices: ChosenDevices) -> str:
    taint = first_untolerated(devices.first.taints, want.tolerations, given.target.rules)
    key = taint.key if taint is not None else ""
    which = "the only matching device has" if devices.count == 1 else f"all {devices.count} matching devices have"
    return f"{which} a taint that the request does not tolerate, such as {key}"


def _capacity(given: Input, want: Want, devices: Sequence[PoolDevice], path: FieldPath) -> Problem | None:
    """Return why no device can provide the requested amount; a missing capacity is reported only if all lack it."""
    if not given.target.features.consumable_capacity:
        return None
    first: tuple[PoolDevice, CapacityReason] | None = None
    for device in devices:
        refusal = _refusal(given, want, device)
        if refusal is None:
            return None
        if first is None or (isinstance(first[1], CapacityMissing) and not isinstance(refusal, CapacityMissing)):
            first = device, refusal
    return _capacity_words(want, *first, (*path, "capacity", "requests")) if first is not None else None


def _refusal(given: Input, want: Want, device: PoolDevice) -> CapacityReason | None:
    wanted = demand(want.capacity, device, Steps.of(given.target), given.target.quirks)
    return wanted.refusal or short(wanted.portions, None, None)


def _capacity_words(want: Want, device: PoolDevice, refusal: CapacityReason, path: FieldPath) -> Problem:
    asked = (want.capacity or {}).get(refusal.name)
    path = (*path, refusal.name) if asked is not None else path[:-2]
    known = device.device.capacity
    if isinstance(refusal, CapacityMissing):
        same = [
            name for name in known if qualified(name, device.id.driver) == qualified(refusal.name, device.id.driver)
        ]
        if same:
            message = f"devices such as {device.id} have {shown(same[0])}, but names are compared literally"
            return CAPACITY_DOMAIN.at(path, message, f"{same[0]}: {asked}")
        near = nearest(refusal.name, known)
        there = f"; they have {listed(known)}" if known else " or any other capacity"
        return NEVER_MET.at(path, f"no matching device has capacity {shown(refusal.name)}{there}", near or "")
    amount = f"{asked} of {refusal.name}" if asked is not None else f"that much of {refusal.name}"
    if isinstance(refusal, PolicyViolated):
        amount = amount if asked is not None else f"{refusal.amount} of {refusal.name}, the default without a request"
        return NEVER_MET.at(path, f"no matching device can give {amount}: {_policy_words(device, refusal, asked)}")
    return NEVER_MET.at(path, f"no matching device can give {amount}; {device.id} has {known[refusal.name].value}")


def _policy_words(device: PoolDevice, refusal: PolicyViolated, asked: QuantityText | None) -> str:
    """Return what a device's policy allows instead, and the rounded requested amount."""
    allows = allowed(device.device.capacity[refusal.name].request_policy, lambda values: listed(values, 10))
    told = f"the request policy of {device.id} " + (f"allows {allows}" if allows else "does not allow it")
    is_rounded = asked is not None and parse(asked) != parse(refusal.amount)
    return f"{told}, and rounds it to {refusal.amount}" if is_rounded else told


def _number(given: Input, want: Want, offer: Offer, path: FieldPath) -> Problem | None:
    shared = given.target.features.consumable_capacity and offer.shared
    if want.takes_all or shared or want.count <= offer.on_one_node:
        return None
    most = count(offer.on_one_node, "matching device")
    message = f"asks for {count(want.count, 'device')}, but no node has more than {most}"
    return NEVER_MET.at((*path, "count"), message)


# Constraints


def _constraints(given: Input, claim: PlacedClaim) -> Iterator[Problem]:
    for index, written in enumerate(claim.spec.devices.constraints):
        constraint = make(0, index, written, given.target.features, given.target.quirks)
        if constraint is None:
            continue
        field = "matchAttribute" if written.match_attribute is not None else "distinctAttribute"
        yield from _constraint(given, claim, constraint, (*claim.path, "constraints", index, field))


def _constraint(given: Input, claim: PlacedClaim, constraint: Constraint, path: FieldPath) -> Iterator[Problem]:
    types: dict[str, str] = {}
    kinds: dict[int, Sequence[PoolDevice]] = {}
    for options in claim.requests:
        for want in (request.want for request in options):
            if want.device_class is not None and constraint.applies(want.request_name, want.full_name):
                chosen = given.matches.of(want.conditions)
                if chosen is None:
                    return
                kinds.update((id(kind), kind) for kind in chosen.kinds)
    reached = [kind[0] for kind in kinds.values()]
    for device in reached:
        attribute = look_up(device, constraint.attribute)
        if attribute is not None:
            types.setdefault(_type(attribute_value(attribute)[0], constraint), device.id.driver)
    if reached and not types:
        domain, _, name = constraint.attribute.rpartition("/")
        near = nearest(name, (known for of, known in _attributes(reached) if of == domain))
        message = none_of(sum(map(len, kinds.values())), "matching device", "publish")
        yield NOBODY_HAS.at(path, f"{message} {shown(constraint.attribute)}", f"{domain}/{near}" if near else "")
    elif len(types) > 1 and "matchAttribute" in path:
        each = ", ".join(f"{kind} in {driver}" for kind, driver in types.items())
        yield OTHER_TYPES.at(path, f"{shown(constraint.attribute)} has several types: {each}")


def _type(kind: str, constraint: Constraint) -> str:
    """Return a value's type; if values may be lists, a single value counts as a list with one element."""
    return kind.removesuffix("s") if constraint.lists else kind


def _attributes(devices: Sequence[PoolDevice]) -> list[tuple[str, str]]:
    """Return the domains and names of everything that the devices publish."""
    return list(dict.fromkeys(qualified(name, d.id.driver) for d in devices for name in d.device.attributes))
