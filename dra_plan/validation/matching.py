"""Rules about selectors that depend on the devices in the input (DRA220 to DRA223).

Selectors that do not compile are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dra_plan.allocator import PoolDevice
from dra_plan.allocator.requests import SelectorCondition, class_conditions
from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import DeviceClass
from dra_plan.cel.parts import Reference, clauses, mentions, references
from dra_plan.cel.rewrite import access, comparison, with_compare_to
from dra_plan.explanation.hints import SelectorHint
from dra_plan.explanation.selectors import look_up, mended

from .formats import listed, nearest, none_of, shown
from .input import Input
from .matches import ChosenDevices, ConditionOutcome
from .rule import Problem, Rule, unschedulable, warning
from .subject import Subject

FAILS = unschedulable(
    "DRA220",
    "selector that fails on a device",
    (
        "A selector that fails does not evaluate to `false`. When the allocator checks a device on which "
        "the selector fails, it stops with an error, and the pod is not scheduled on any node."
    ),
    (
        "Correct the selector, add a condition before it that is false for these devices, or make the "
        "driver publish the missing values."
    ),
)
NOT_PUBLISHED = warning(
    "DRA221",
    "selector that uses a name that no device has",
    "The name may be misspelled, or may belong to another version of the driver.",
    "Use a name that the driver publishes. `dra-plan pools -o wide` lists the names.",
)
WRONG_DOMAIN = warning(
    "DRA222",
    "selector with the wrong domain",
    (
        "In a slice, names without a domain belong to the driver's domain. Other domains must be written "
        "exactly as in the slice."
    ),
    "Use the domain under which the driver publishes the name.",
)
OTHER_TYPE = warning(
    "DRA223",
    "selector that compares values of different types",
    (
        "Values of different types are never equal. A version must be compared with semver(...), and a "
        "quantity with quantity(...)."
    ),
    "Compare with a value of the type that the device publishes.",
)
RULES = (FAILS, NOT_PUBLISHED, WRONG_DOMAIN, OTHER_TYPE)

Found = Iterator[tuple[Subject, Problem]]


def check(given: Input) -> Found:
    """Evaluate all selectors of classes and requests on the devices in the input."""
    judging = _Judging(given)
    for subject, device_class in given.of(DeviceClass):
        path: FieldPath = ("spec", "selectors")
        for problem in judging.each(class_conditions(device_class, given.view.compile, given.target.rules), path):
            yield subject, problem
    for request in given.requests():
        conditions = request.want.conditions
        first = sum(condition.class_name is not None for condition in conditions)
        for problem in judging.each(conditions, (*request.path, "selectors"), first):
            yield request.subject, problem


class _Judging:
    """The problems with conditions, reported once for conditions with the same result."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._known: dict[tuple[str, ...], list[Problem]] = {}

    def each(self, conditions: Sequence[SelectorCondition], path: FieldPath, first: int = 0) -> Iterator[Problem]:
        """Check the conditions, beginning at position `first`.

        Each condition is checked on the devices for which all earlier conditions are true.
        """
        known: list[SelectorCondition] = []
        for position, condition in enumerate(conditions):
            outcome = self._given.matches.outcome([*known, condition])
            if outcome is None:  # others are reported as the API server reports them
                continue
            known.append(condition)
            if position >= first:
                place = (*path, condition.index, "cel", "expression")
                yield from (replace(problem, path=place) for problem in self._of_last(known, outcome))
                if outcome.fails and not outcome.holds:
                    known.pop()  # no devices reach the next conditions because of this condition's own fault

    def _of_last(self, conditions: Sequence[SelectorCondition], outcome: ConditionOutcome) -> list[Problem]:
        """Return the problems of the last condition, as if it were at the root."""
        key = self._given.matches.key(conditions)
        if key not in self._known:
            readings = list(_readings(self._given, conditions)) if self._given.knows_all_devices else []
            told = _merged(list(_failures(self._given, conditions[-1], outcome)), readings, outcome)
            hint = self._given.matches.hint(conditions)
            self._known[key] = told if hint is None else [_hinted(problem, hint) for problem in told]
        return self._known[key]


def _hinted(problem: Problem, hint: SelectorHint) -> Problem:
    """Return the problem at the wrong part, with the complete intended expression, if one was found."""
    return replace(
        problem,
        offset=problem.offset if hint.offset is None else hint.offset,
        suggestion=hint.expression or problem.suggestion,
    )


def _merged(failures: list[Problem], readings: list[Problem], outcome: ConditionOutcome) -> list[Problem]:
    """Return the problems; the error of a selector that fails on all devices names what none of them publishes."""
    if not failures or outcome.fails.count < outcome.asked.count:
        return failures + readings
    names = [problem.message for problem in readings if problem.rule in (NOT_PUBLISHED, WRONG_DOMAIN)]
    others = [problem for problem in readings if problem.rule not in (NOT_PUBLISHED, WRONG_DOMAIN)]
    return [replace(one, message="; ".join([one.message, *names])) for one in failures] + others


# Errors


def _failures(given: Input, condition: SelectorCondition, outcome: ConditionOutcome) -> Iterator[Problem]:
    failing = outcome.fails
    if failing:
        number, of = failing.count, outcome.asked.count
        every = {1: "the only device", 2: "both devices"}.get(of, f"all {of} devices")
        where = every if number == of else f"{number} of {of} devices"
        message = f"fails on {where}, such as {failing.first.id}: {outcome.text}"
        # If it fails on all devices, a guard only makes it false for all devices; the names are wrong.
        better = _compared(given, condition, failing)
        problem = FAILS.at((), message, better or ("" if number == of else _mended(given, condition, failing)))
        yield replace(problem, offset=_missing(condition.expression, failing.first))


def _missing(expression: str, device: PoolDevice) -> int | None:
    """Return the position of the only name that the expression reads and the device lacks; None if there are others."""
    read = [mention for mention in mentions(expression) if mention.use == "read"]
    missing = [mention for mention in read if look_up(device, mention.reference) is None]
    return missing[0].name.start if len({mention.reference for mention in missing}) == 1 else None


def _compared(given: Input, condition: SelectorCondition, failing: ChosenDevices) -> str:
    """Return the expression with compareTo instead of operators, if that was the fault."""
    compared = with_compare_to(condition.expression, versions=True)
    return compared if compared is not None and _first_failing(given, compared, failing) is None else ""


def _mended(given: Input, condition: SelectorCondition, failing: ChosenDevices) -> str:
    """Return the expression with guards, or for only one driver, so that it never fails on the devices.

    The result is empty if there is no such expression.
    """
    return mended(condition.expression, lambda text: _first_failing(given, text, failing)) or ""


def _first_failing(given: Input, expression: str, devices: ChosenDevices) -> PoolDevice | None:
    return given.matches.first_failing(SelectorCondition("", None, 0, expression, given.view.compile), devices)


# Names and types


def _readings(given: Input, conditions: Sequence[SelectorCondition]) -> Iterator[Problem]:
    """Check each part that `&&` joins on the devices for which the earlier parts are true."""
    expression, known = conditions[-1].expression, list(conditions[:-1])
    told: set[tuple[Rule, Reference]] = set()
    for clause in clauses(expression):
        devices = given.matches.of(known)
        if not devices:
            return  # no devices are left, or the earlier part has no meaning of its own
        for reference in references(clause, "read", "optional"):
            problem = _reading(clause, expression, reference, devices)
            if problem is not None and (problem.rule, reference) not in told:
                told.add((problem.rule, reference))
                yield problem
        known.append(SelectorCondition("", None, 0, clause, given.view.compile))


def _reading(clause: str, expression: str, reference: Reference, devices: ChosenDevices) -> Problem | None:
    if reference.kind not in ("attribute", "capacity"):
        return None
    if all(look_up(device, reference) is None for device in devices.examples):
        return _absent(expression, reference, devices)
    compared = comparison(clause)
    if compared is None or not compared.is_plain:
        return None
    types = sorted({value[0] for device in devices.examples if (value := look_up(device, reference)) is not None})
    if compared.type in types:
        return None
    message = f"{reference.label} is of type {' or '.join(types)} and can never equal a value of type {compared.type}"
    return OTHER_TYPE.at((), message, compared.retyped(types[0]) or "")


def _absent(expression: str, reference: Reference, devices: ChosenDevices) -> Problem | None:
    publications = devices.publications
    drivers = listed(sorted(publications.drivers))
    homes = publications.homes(reference.kind, reference.name)
    if homes:
        domain = nearest(reference.domain, homes) or homes[0]
        message = f"{drivers} publishes {reference.name} as {domain}/{reference.name}, not as {reference.label}"
        return WRONG_DOMAIN.at((), message, access(reference._replace(domain=domain)))
    names = publications.names.get((reference.kind, reference.domain), {})
    near = nearest(reference.name, names)
    if near is None and _is_guarded(expression, reference):
        return None
    suggestion = access(reference._replace(name=near)) if near else ""
    message = f"{none_of(devices.count, 'device', 'publish', drivers)} {reference.kind} {shown(reference.label)}"
    return NOT_PUBLISHED.at((), message, suggestion)


def _is_guarded(expression: str, reference: Reference) -> bool:
    """Return whether the expression tests for the name, or reads it as optional, and so expects devices without it."""
    return any(mention.reference.name == reference.name and mention.use != "read" for mention in mentions(expression))
