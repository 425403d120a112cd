"""DRA220 to DRA223: what selectors do with the devices of the input. A selector that can't be compiled is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.requests import SelectorCondition, class_conditions
from dra_plan.api.resource import DeviceClass
from dra_plan.cel.ordering import with_compare_to
from dra_plan.cel.parts import Reference, clauses, mentions, references
from dra_plan.cel.rewrite import access, comparison
from dra_plan.explanation.mending import mended
from dra_plan.explanation.published import Publications, look_up
from dra_plan.manifests.paths import FieldPath

from .input import Input
from .rule import Problem, Rule, unschedulable, warning
from .subject import Subject
from .words import listed, nearest, none_of, shown

FAILS = unschedulable(
    "DRA220",
    "selector that fails on a device",
    "An error in a selector is no `false`: as soon as the allocator looks at such a device, it gives up, and the pod "
    "is scheduled on no node at all.",
    "Ask first whether the device has what the selector reads, or name the driver.",
)
NOT_PUBLISHED = warning(
    "DRA221",
    "selector on something that no device publishes",
    "The name may be misspelt, or of another version of the driver.",
    "Use a name that the driver publishes; `dra-plan pools -o wide` and the slices show them.",
)
WRONG_DOMAIN = warning(
    "DRA222",
    "selector with the wrong domain",
    "Names without domain in a slice have the driver's name as domain; other domains have to be written as published.",
    "Use the domain under which the name is published.",
)
OTHER_TYPE = warning(
    "DRA223",
    "selector that compares with another type",
    "Values of different types are never equal; a version is compared with semver(...), a quantity with quantity(...).",
    "Compare with a value of the type that the device publishes.",
)
RULES = (FAILS, NOT_PUBLISHED, WRONG_DOMAIN, OTHER_TYPE)

Found = Iterator[tuple[Subject, Problem]]


def check(given: Input) -> Found:
    """All selectors of classes and requests."""
    for subject, device_class in given.of(DeviceClass):
        path: FieldPath = ("spec", "selectors")
        for problem in _each(given, class_conditions(device_class, given.view.compile, given.view.target.rules), path):
            yield subject, problem
    for request in given.requests():
        conditions = request.want.conditions
        first = sum(condition.class_name is not None for condition in conditions)
        for problem in _each(given, conditions, (*request.path, "selectors"), first):
            yield request.subject, problem


def _each(given: Input, conditions: Sequence[SelectorCondition], path: FieldPath, first: int = 0) -> Iterator[Problem]:
    """Each condition from the first on, on the devices for which those before it hold."""
    known = [condition for condition in conditions[:first] if _compiles(condition)]
    for condition in conditions[first:]:
        if _compiles(condition):  # others are told as the API server tells them
            known.append(condition)
            yield from _judged(given, tuple(known), (*path, condition.index, "cel", "expression"))
            if given.matches.failing(known) and not given.matches.of(known):
                known.pop()  # it lets no device through to the next ones, for its own fault


def _compiles(condition: SelectorCondition) -> bool:
    try:
        condition.compiled()
    except SelectorError:
        return False
    return True


def _judged(given: Input, conditions: Sequence[SelectorCondition], path: FieldPath) -> Iterator[Problem]:
    """The last of the conditions, on the devices for which the others hold."""
    yield from _failures(given, conditions, path)
    if given.knows_all_devices:
        yield from _readings(given, conditions, path)


# Errors


def _failures(given: Input, conditions: Sequence[SelectorCondition], path: FieldPath) -> Iterator[Problem]:
    devices, failing = given.matches.of(conditions[:-1]), given.matches.failing(conditions)
    if failing:
        device, text = failing[0]
        all_fail = len(failing) == len(devices)
        where = f"all {len(devices)} devices" if all_fail else f"{len(failing)} of {len(devices)} devices"
        where = "the only device" if len(devices) == 1 else where
        message = f"fails on {where} that it is asked for, such as {device.id}: {text}"
        # Where it fails on all, a guard only makes it false on all: the names are wrong, as another rule tells.
        failed = [device for device, _ in failing]
        mended = _compared(given, conditions[-1], failed) or (
            "" if all_fail else _mended(given, conditions[-1], failed)
        )
        yield FAILS.at(path, message, mended)


def _compared(given: Input, condition: SelectorCondition, failing: Sequence[PoolDevice]) -> str:
    """The expression with compareTo instead of signs, if that is what was wrong."""
    compared = with_compare_to(condition.expression, versions=True)
    return compared if compared is not None and _first_failing(given, compared, failing) is None else ""


def _mended(given: Input, condition: SelectorCondition, failing: Sequence[PoolDevice]) -> str:
    """The expression with guards, or for one driver only, that fails on none of the devices; empty if there is none."""
    return mended(condition.expression, lambda text: _first_failing(given, text, failing)) or ""


def _first_failing(given: Input, expression: str, devices: Sequence[PoolDevice]) -> PoolDevice | None:
    condition = SelectorCondition("", None, 0, expression, given.view.compile)
    for device in devices:
        try:
            condition.holds(device)
        except SelectorError:
            return device
    return None


# Names and types


def _readings(given: Input, conditions: Sequence[SelectorCondition], path: FieldPath) -> Iterator[Problem]:
    """Each part that `&&` joins is judged by the devices for which the parts before it hold."""
    expression, known = conditions[-1].expression, list(conditions[:-1])
    told: set[tuple[Rule, Reference]] = set()
    for clause in clauses(expression):
        devices = given.matches.of(known)
        if not devices:
            return
        for reference in references(clause, "read", "optional"):
            problem = _reading(clause, expression, reference, devices, path)
            if problem is not None and (problem.rule, reference) not in told:
                told.add((problem.rule, reference))
                yield problem
        try:
            given.view.compile(clause)
        except ValueError:
            return  # a part that means nothing by itself
        known.append(SelectorCondition("", None, 0, clause, given.view.compile))


def _reading(
    clause: str, expression: str, reference: Reference, devices: Sequence[PoolDevice], path: FieldPath
) -> Problem | None:
    if reference.kind not in ("attribute", "capacity"):
        return None
    if all(look_up(device, reference) is None for device in devices):
        return _absent(expression, reference, devices, path)
    compared = comparison(clause)
    if compared is None or not compared.is_plain:
        return None
    types = sorted({value[0] for device in devices if (value := look_up(device, reference)) is not None})
    if compared.type in types:
        return None
    message = f"{reference.label} is of type {' or '.join(types)}, and can't equal a value of type {compared.type}"
    return OTHER_TYPE.at(path, message, compared.retyped(types[0]) or "")


def _absent(
    expression: str,
    reference: Reference,
    devices: Sequence[PoolDevice],
    path: FieldPath,
) -> Problem | None:
    publications = Publications(devices)
    drivers = listed(sorted(publications.drivers))
    homes = publications.homes(reference.kind, reference.name)
    if homes:
        domain = nearest(reference.domain, homes) or homes[0]
        message = f"{drivers} publishes {reference.name} as {domain}/{reference.name}, not as {reference.label}"
        return WRONG_DOMAIN.at(path, message, access(reference._replace(domain=domain)))
    names = publications.names.get((reference.kind, reference.domain), {})
    near = nearest(reference.name, names)
    if near is None and _is_guarded(expression, reference):
        return None
    suggestion = access(reference._replace(name=near)) if near else ""
    message = f"{none_of(len(devices), 'device', 'publish', drivers)} {reference.kind} {shown(reference.label)}"
    return NOT_PUBLISHED.at(path, message, suggestion)


def _is_guarded(expression: str, reference: Reference) -> bool:
    """Whether the expression asks for the name's presence, or reads it as optional: it expects devices without it."""
    return any(mention.reference.name == reference.name and mention.use != "read" for mention in mentions(expression))
