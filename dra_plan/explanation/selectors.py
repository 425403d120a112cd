"""Why a selector is false: its decisive part, and the values that the devices have instead."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from dra_plan.allocator import PoolDevice
from dra_plan.allocator.requests import Compile
from dra_plan.api import quantity
from dra_plan.api.resource import DeviceAttribute
from dra_plan.cel import Selector
from dra_plan.cel.device import named, split_name
from dra_plan.cel.literals import repaired
from dra_plan.cel.parts import Reference, calls, clauses, is_reference, references
from dra_plan.cel.rewrite import (
    Comparison,
    comparison,
    for_driver,
    guarded,
    of_kind,
    ordered_as,
    ordered_with,
    renamed,
    with_amount,
    with_clause,
    with_domain,
)
from dra_plan.near import nearest

if TYPE_CHECKING:
    from dra_plan.cel.explain import EvaluatedPart


# -- published values --------------------------------------------------------------------------------------------------
# Values of attributes and capacities by name, and the existing names.

_TYPES = (
    ("int", "int_value"),
    ("bool", "bool_value"),
    ("string", "string_value"),
    ("version", "version_value"),
    ("ints", "int_values"),
    ("bools", "bool_values"),
    ("strings", "string_values"),
    ("versions", "version_values"),
)


class Publications:
    """The attributes and capacities that devices publish. Similar names are suggested from them."""

    def __init__(self, devices: Iterable[PoolDevice]) -> None:
        self.domains: dict[str, dict[str, None]] = {"attribute": {}, "capacity": {}}
        self.names: dict[tuple[str, str], dict[str, None]] = {}
        self.drivers: dict[str, None] = {}
        for device in devices:
            self.drivers[device.id.driver] = None
            for kind, table in (("attribute", device.device.attributes), ("capacity", device.device.capacity)):
                for full in table:
                    domain, name = qualified(full, device.id.driver)
                    self.domains[kind][domain] = None
                    self.names.setdefault((kind, domain), {})[name] = None

    def have(self, reference: Reference) -> bool:
        """Return whether any device publishes the attribute or capacity.

        For a reference to a whole domain, return whether any device publishes an attribute in the domain.
        """
        if reference.kind == "domain":
            return reference.domain in self.domains["attribute"]
        return reference.name in self.names.get((reference.kind, reference.domain), ())

    def homes(self, kind: str, name: str) -> list[str]:
        """Return the domains in which devices publish the name, in sorted order."""
        return sorted(domain for (of, domain), names in self.names.items() if of == kind and name in names)


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Return the domain and the identifier of a name. The domain defaults to the driver's."""
    domain, identifier, _ = split_name(name, driver)
    return domain, identifier


def look_up(device: PoolDevice, reference: Reference) -> tuple[str, Any] | None:
    """Return the type and value of a device's attribute or capacity, or None if the device lacks it."""
    if reference.kind == "driver":
        return "string", device.id.driver
    if reference.kind == "domain":
        has = any(qualified(name, device.id.driver)[0] == reference.domain for name in device.device.attributes)
        return ("bool", True) if has else None
    if reference.kind == "capacity":
        capacity = named(device.device.capacity, device.id.driver, reference.domain, reference.name)
        return None if capacity is None else ("quantity", str(capacity.value))
    attribute = named(device.device.attributes, device.id.driver, reference.domain, reference.name)
    return None if attribute is None else attribute_value(attribute)


def attribute_value(attribute: DeviceAttribute) -> tuple[str, Any]:
    """Return the type and value of an attribute, with lists as tuples."""
    for kind, slot in _TYPES:
        value = getattr(attribute, slot)
        if value is not None:
            return kind, tuple(value) if isinstance(value, list) else value
    return "unknown", None


# -- parts that decide -------------------------------------------------------------------------------------------------

MOST_COMPUTED = 100
"""The maximum number of devices for which the parts of a clause are computed."""


class NamedValues(Struct):
    """The values that devices have for an attribute or capacity in a clause.

    - `values`: the number of devices for each (type, value)
    - `missing`: the number of devices without a value
    - `problem`: missing (the domain does not have the name), unknown-domain, wrong-domain (another domain has the
      name), wrong-kind (it is a capacity instead of an attribute, or the reverse), wrong-type, unordered (the value
      cannot be ordered against the constant) or None
    - `hint`: the name, domain or kind that was probably meant, or the type that the selector compares with
    - `known`: the names in the domain, if there is no hint

    If there are neither values nor a problem, the name belongs to other devices.
    """

    reference: Reference
    values: Counter[tuple[str, Any]]
    missing: int
    problem: str | None = None
    hint: str | None = None
    known: list[str] = field(default_factory=list)


class DecisivePart(Struct):
    """A part of a selector that is false for `count` devices, or fails on them, and the values of these devices."""

    clause: str
    count: int
    found: list[NamedValues] = field(default_factory=list)
    computed: dict[str, Counter[str]] = field(default_factory=dict)
    """The results of the parts that the clause computes before comparing them, by the text of the part."""
    error: str | None = None
    first: PoolDevice | None = None


def decisive_parts(
    expression: str, devices: Sequence[PoolDevice], compile_: Compile, publications: Callable[[], Publications]
) -> list[DecisivePart]:
    """Return the decisive parts of the selector for these devices, and the number of devices for each.

    The part with the most devices comes first. `publications` is called only if the selector reads a name that none of
    the devices has.
    """
    return decisive_parts_of_kinds(expression, [[device] for device in devices], compile_, publications)


def decisive_parts_of_kinds(
    expression: str,
    kinds: Sequence[Sequence[PoolDevice]],
    compile_: Compile,
    publications: Callable[[], Publications],
) -> list[DecisivePart]:
    """Return the same as `decisive_parts` for devices that are grouped by kind.

    The devices of each kind publish the same values, so only one of them is checked.
    """
    parts = clauses(expression)
    grouped: dict[tuple[str, str | None], list[PoolDevice]] = {}
    for kind in kinds:
        grouped.setdefault(_decisive(parts, kind[0], compile_), []).extend(kind)
    made = [
        DecisivePart(
            clause=clause,
            count=len(members),
            found=[_found(name, clause, error, members, publications) for name in references(clause)],
            computed=_computed(clause, members, compile_),
            error=error,
            first=members[0],
        )
        for (clause, error), members in grouped.items()
    ]
    return sorted(made, key=lambda finding: -finding.count)


def _computed(clause: str, devices: Sequence[PoolDevice], compile_: Compile) -> dict[str, Counter[str]]:
    """Return the outermost parts with a value other than true or false, except attributes and constants."""
    made: dict[str, Counter[str]] = {}
    try:
        selector = compile_(clause)
    except ValueError:
        return made
    if not isinstance(selector, Selector):
        return made
    for device in devices[:MOST_COMPUTED]:
        try:
            tree = selector.explain(device.device, driver=device.id.driver)
        except ValueError:
            continue
        for part in _outermost(tree):
            made.setdefault(part.text, Counter())[part.value or ""] += 1
    return made


def _outermost(part: EvaluatedPart) -> Iterator[EvaluatedPart]:
    for inner in part.parts:
        if inner.value in ("true", "false"):
            yield from _outermost(inner)
        elif inner.value is not None and _is_computed(inner.text):
            yield inner


def _is_computed(text: str) -> bool:
    """Return whether the text is more than an attribute or a constant.

    -1, 0 and 1 of a comparison are not informative.
    """
    return not is_reference(text) and bool(references(text)) and not calls(text, "compareTo")


def _decisive(parts: Sequence[str], device: PoolDevice, compile_: Compile) -> tuple[str, str | None]:
    """Return the first part that is false for the device; otherwise the first that fails on it; otherwise the last."""
    failed: tuple[str, str | None] | None = None
    for part in parts:
        try:
            if not compile_(part).matches(device.device, device.id.driver):
                return part, None
        except ValueError as error:
            failed = failed or (part, str(error))
    return failed or (parts[-1], None)


def _found(
    reference: Reference,
    clause: str,
    error: str | None,
    devices: Sequence[PoolDevice],
    publications: Callable[[], Publications],
) -> NamedValues:
    wanted = _compared_type(clause, error)
    is_ordered = comparison(clause) is None
    values = Counter(value for device in devices if (value := look_up(device, reference)) is not None)
    made = NamedValues(reference, values, len(devices) - sum(values.values()))
    if not values:
        known = publications()
        if known.have(reference):
            return made
        made.problem, made.hint = _absence(reference, known)
        if made.hint is None:
            made.known = sorted(known.names.get((reference.kind, reference.domain), ()))
        return made
    if reference.kind == "attribute" and wanted is not None and wanted not in {kind for kind, _ in values}:
        made.problem, made.hint = "unordered" if is_ordered else "wrong-type", wanted
    return made


def _compared_type(clause: str, error: str | None) -> str | None:
    """Return the type of the constant with which the only name of the clause is compared; None if there is none.

    A value computed from another may well have a different type; if the computation fails, the type of the value may be
    the cause.
    """
    compared = comparison(clause)
    if compared is None and error is not None and len(references(clause)) == 1:
        ordered = ordered_with(clause)
        return None if ordered is None else ordered[0]
    if compared is None or len(references(clause)) > 1 or not (compared.is_plain or error is not None):
        return None
    return compared.type


def _absence(reference: Reference, publications: Publications) -> tuple[str, str | None]:
    """Return the reason why no device has it: the domain, or the name in it, is not published by the given devices."""
    if reference.kind == "domain":
        return "unknown-domain", nearest(reference.domain, publications.domains["attribute"])
    other = "capacity" if reference.kind == "attribute" else "attribute"
    if reference.name in publications.names.get((other, reference.domain), ()):
        return "wrong-kind", other
    homes = publications.homes(reference.kind, reference.name)
    if reference.domain not in homes and homes:
        return "wrong-domain", nearest(reference.domain, homes) or homes[0]
    names = publications.names.get((reference.kind, reference.domain), {})
    if names:
        return "missing", nearest(reference.name, names)
    return "unknown-domain", nearest(reference.domain, publications.domains[reference.kind])


# -- rewriting selectors that fail -------------------------------------------------------------------------------------
# With guards in front, or for one driver only.

MOST_GUARDS = 8
"""The maximum number of times that guards are added to a selector."""


def mended(expression: str, fails_on: Callable[[str], PoolDevice | None]) -> str | None:
    """Return the expression, changed so that it does not fail on any device, or None if this is not possible.

    The change adds guards, or limits the expression to one of the drivers that it names. `fails_on` returns a device on
    which the given expression fails, or None if there is none.
    """
    text, drivers = expression, set()
    for _ in range(MOST_GUARDS):
        device = fails_on(text)
        if device is None:
            return text
        drivers.add(device.id.driver)
        better = guarded(text, _lacking(text, device))
        if better is None:
            break
        text = better
    for domain in dict.fromkeys(reference.domain for reference in references(expression)):
        limited = for_driver(expression, domain)
        if domain and domain not in drivers and fails_on(limited) is None:
            return limited
    return None


def _lacking(text: str, device: PoolDevice) -> list[Reference]:
    """Return the attributes and capacities that the expression reads as required and the device lacks."""
    read = (reference for reference in references(text, "read") if reference.kind in ("attribute", "capacity"))
    return [reference for reference in read if look_up(device, reference) is None]


# -- similar expressions -----------------------------------------------------------------------------------------------

MOST_VALUES = 2
"""The maximum number of values that are tried for a constant."""


def spelling_fixes(expression: str, found: Sequence[DecisivePart]) -> Iterator[str]:
    """Yield the expression with valid constants, and then with each name, domain or type that was probably meant."""
    if (valid := repaired(expression)) is not None:
        yield valid
    for finding in found:
        for item in finding.found:
            if item.hint is None:
                continue
            if item.problem == "missing":
                yield renamed(expression, item.reference, item.hint)
            elif item.problem in ("wrong-domain", "unknown-domain"):
                yield with_domain(expression, item.reference.domain, item.hint)
            elif item.problem == "wrong-kind":
                yield of_kind(expression, item.reference, item.hint)
            elif item.problem in ("wrong-type", "unordered"):
                yield from (with_clause(expression, finding.clause, new) for new in _retyped(finding.clause, item))


def _retyped(clause: str, found: NamedValues) -> Iterator[str]:
    """Yield the comparison with its constant as a type that the devices have."""
    compared = comparison(clause)
    for published in sorted({kind for kind, _ in found.values}):
        new = ordered_as(clause, published) if compared is None else compared.retyped(published)
        if new is not None:
            yield new


def other_values(expression: str, found: Sequence[DecisivePart]) -> Iterator[str]:
    """Yield the expression with other constants in place of a constant that no device has.

    The new constants are the devices' values that are most similar to the old one, and the most common values.
    """
    for finding in found:
        if len(finding.found) == 1 and finding.found[0].problem is None:
            for clause in _with_other_value(finding.clause, finding.found[0].values):
                yield with_clause(expression, finding.clause, clause)


def _with_other_value(clause: str, counted: Counter[tuple[str, Any]]) -> Iterator[str]:
    compared = comparison(clause)
    if compared is not None and compared.is_equal:
        yield from (compared.with_value(value) for value in _likely(compared, counted))
    elif compared is None:
        amounts = [str(value) for kind, value in counted if kind == "quantity"]
        bounded = with_amount(clause, max(amounts, key=lambda text: quantity.parse(text).nano)) if amounts else None
        if bounded is not None:
            yield bounded


def _likely(compared: Comparison, counted: Counter[tuple[str, Any]]) -> list[Any]:
    """Return values that might have been meant; none if they are of another type."""
    values = [value for (kind, value), _ in counted.most_common() if kind == compared.type]
    if isinstance(wanted := compared.value, str):
        near = nearest(wanted, values)
        values.sort(key=lambda value: (*_nearness(wanted, value), value != near))
    return values[:MOST_VALUES]


_NUMBER = re.compile(r"\d{1,9}")


def _nearness(wanted: str, value: str) -> tuple[int, list[int]]:
    """Return a sort key for values with the same words and other numbers: `3g.20gb`, `2g.10gb` for `2g.20gb`.

    Those that have one of the numbers and are nowhere smaller come first, the smallest before others; then those that
    are nowhere larger, the largest before others.
    """
    if value == wanted or _NUMBER.sub("0", value) != _NUMBER.sub("0", wanted) or not _NUMBER.search(value):
        return 2, []
    asked, there = ([int(each) for each in _NUMBER.findall(text)] for text in (wanted, value))
    pairs = list(zip(there, asked, strict=True))
    if all(one >= other for one, other in pairs):
        return (0, there) if any(one == other for one, other in pairs) else (2, [])
    return (2, []) if any(one > other for one, other in pairs) else (1, [-number for number in there])
