"""What a selector was probably meant to be, for `explain`, `validate` and `cel`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from dra_plan import shown, wording
from dra_plan.allocator import PoolDevice
from dra_plan.allocator.requests import Compile
from dra_plan.cel.literals import malformed
from dra_plan.cel.meant import ANY_DRIVER, Home, meant, rewritten
from dra_plan.cel.parts import Reference, bounds, mentions, parsed
from dra_plan.cel.rewrite import amounts, comparison, ordered_with, with_compare_to
from dra_plan.documents.devices import ComputedPart, ComputedValue, DecidingClause, FoundName, FoundValue
from dra_plan.near import nearest
from dra_plan.wording import listed

from .selectors import DecisivePart, NamedValues, Publications, decisive_parts_of_kinds, other_values, spelling_fixes

# -- values in the form of documents -----------------------------------------------------------------------------------

VALUES = 6
"""The maximum number of values that a finding lists."""


def values(counted: Counter[tuple[str, Any]]) -> list[FoundValue]:
    """Return the most common values. `counted` contains the number of devices for each type and value."""
    return [_value(typed, count) for typed, count in counted.most_common(VALUES)]


def _value(typed: tuple[str, Any], count: int) -> FoundValue:
    kind, value = typed
    return FoundValue(type=kind, value=list(value) if isinstance(value, tuple) else value, count=count)


def clause(part: DecisivePart) -> DecidingClause:
    """Return a decisive part of a selector as a part of a document."""
    computed = [
        ComputedPart(part=text, values=[ComputedValue(value=value, count=n) for value, n in values.most_common(VALUES)])
        for text, values in (part.computed or {}).items()
    ]
    found = [_found(found) for found in part.found]
    return DecidingClause(clause=part.clause, count=part.count, found=found, computed=computed, error=part.error)


def _found(found: NamedValues) -> FoundName:
    return FoundName(
        kind=found.reference.kind,
        domain=found.reference.domain,
        name=found.reference.name,
        values=values(found.values),
        other_values=max(0, len(found.values) - VALUES),
        missing=found.missing,
        problem=found.problem,
        hint=found.hint,
        known=found.known or [],
    )


# -- words -------------------------------------------------------------------------------------------------------------


def found_lines(of: FoundName, device: str = "", *, counted: bool = True) -> list[str]:
    """Return one or two sentences about the values that devices publish for an attribute or capacity in a selector.

    If only one device was examined, `device` is its name. If `counted` is False, numbers of devices are left out.
    """
    name = of.name if of.kind != "domain" else f'"{of.domain}" in device.attributes'
    table = "attribute" if of.kind != "capacity" else "capacity"
    if of.problem in ("missing", "unknown-domain", "wrong-domain", "wrong-kind"):
        return [_absent(of, table)]
    if not of.values:
        what = f"{table} {of.name}" if of.kind != "domain" else f"attribute in domain {of.domain}"
        number = f"{of.missing} " if counted else ""
        who = f"{device} has" if device else "this device has" if of.missing == 1 else f"these {number}devices have"
        return [f"{who} no {what}; other devices have {'one' if of.kind == 'domain' else 'it'}"]
    said = [f"{name} is {', '.join(_values(of)) if counted else alternatives(_uncounted(of))}"]
    if of.problem == "wrong-type":
        kinds = sorted({one.type for one in of.values})
        said.append(f"{name} is of type {listed(kinds)}, so it never equals {_a(of.hint)}")
    if of.problem == "unordered":
        kinds = sorted({one.type for one in of.values})
        said.append(f"{name} is of type {listed(kinds)} and cannot be compared with {_a(of.hint)}")
    return said


def _values(of: FoundName) -> list[str]:
    return wording.values(((one.value, one.count) for one in of.values), of.other_values, of.missing)


def _uncounted(of: FoundName) -> list[str]:
    said = [wording.value(one.value) for one in of.values]
    said += [f"one of {of.other_values} other values"] if of.other_values else []
    return [*said, "missing"] if of.missing else said


def alternatives(values: Sequence[str]) -> str:
    """Return the values joined with "or", such as `1, 2 or 3`."""
    return f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else "".join(values)


def wanted(clause: str) -> str:
    """Return what a clause of a selector requires of a value, such as `at least "80Gi"` or `"a" or "b"`."""
    found = bounds(clause)
    if found is None:
        return " ".join(clause.split())
    sign, given = found
    return f"{_BOUNDS[sign]}{' or '.join(map(wording.value, given))}"


def unequal_types(clause: str, of: FoundName) -> str:
    """Return a clause saying that the selector compares a value with a constant of another type.

    Return "" if the types are equal or the constant is not known.
    """
    bound = bounds(clause) if of.problem == "wrong-type" else None
    if bound is None:
        return ""
    constant = f"the {_TYPE_NAMES.get(of.hint or '', of.hint)} {' or '.join(map(wording.value, bound[1]))}"
    types = dict.fromkeys(_a(_TYPE_NAMES.get(one.type, "list")) for one in of.values)
    return f"the selector compares {of.name} with {constant}, but it is {' or '.join(types)} ({', '.join(_values(of))})"


_TYPE_NAMES = {"int": "integer", "bool": "boolean", "string": "string", "version": "version"}

_BOUNDS = {
    "==": "",
    "in": "",
    "!=": "another one than ",
    ">=": "at least ",
    ">": "more than ",
    "<=": "at most ",
    "<": "less than ",
}


def _a(kind: str | None) -> str:
    return f"an {kind}" if kind and kind[0] in "aeiou" else f"a {kind}"


def _absent(of: FoundName, table: str) -> str:
    meant = f"; did you mean {of.hint}?" if of.hint else ""
    if of.known:
        meant = f"; this domain has {listed(of.known, 8)}"
    if of.problem == "wrong-kind":
        return f"no device has {table} {of.name} in domain {of.domain}; {of.name} is {_a(of.hint)}"
    if of.problem == "wrong-domain":
        return f"no device has {table} {of.name} in domain {of.domain}; it is in domain {of.hint}"
    if of.problem == "unknown-domain":
        return f"no device has any {table} in domain {of.domain}{meant}"
    return f"no device has {table} {of.name} in domain {of.domain}{meant}"


# -- hints -------------------------------------------------------------------------------------------------------------


class SelectorHint(NamedTuple):
    """A description of what is wrong with a selector, the position of the error, and the expression probably meant.

    `said` contains lines without a full stop. `expression` compiles and is true for at least one device, if devices are
    known. It is "" if no such expression was found.
    """

    said: tuple[str, ...]
    expression: str
    offset: int | None


def of_text(expression: str, published: Publications, compiles: Callable[[str], bool]) -> SelectorHint | None:
    """Return the hint for an expression that does not compile, or None if no similar expression compiles.

    Names without a domain are looked up among the published names. If there are no devices, the hint contains DRIVER in
    place of the domain, and no expression.
    """

    def homes(name: str) -> Sequence[Home]:
        if not published.drivers:
            return [("attribute", ANY_DRIVER)]
        known: list[Home] = [("attribute", domain) for domain in published.homes("attribute", name)]
        known += [("capacity", domain) for domain in published.homes("capacity", name)]
        return known or _near(name, published)

    places = meant(expression, homes)
    better = rewritten(expression, places)
    better = with_compare_to(better) or with_compare_to(better, versions=True) or better
    if better == expression or not compiles(better):
        return None
    said = dict.fromkeys([one.said for one in places] or [_compared(better)])
    is_guess = any(f'["{ANY_DRIVER}"]' in one.text for one in places)
    return SelectorHint(tuple(said), "" if is_guess else better, places[0].at if places else None)


def _compared(expression: str) -> str:
    """Return that operators cannot compare amounts and versions, and what can, as in the corrected expression."""
    made = dict.fromkeys(f"compareTo({amount})" for amount in amounts(expression))
    kinds = {"amounts": "compareTo(quantity(", "versions": "compareTo(semver("}
    what = [kind for kind, start in kinds.items() if any(one.startswith(start) for one in made)] or list(kinds)
    use = listed(list(made)) if made else "compareTo"
    return f"{listed(what)} cannot be compared with operators such as >=: use {use}"


def _near(name: str, published: Publications) -> Sequence[Home]:
    """Return the homes of a name; a misspelt name belongs where the intended name is published."""
    for (kind, domain), names in published.names.items():
        if nearest(name, names) is not None:
            return [("capacity" if kind == "capacity" else "attribute", domain)]
    return []


def of_devices(
    expression: str, kinds: Sequence[Sequence[PoolDevice]], compile_: Compile, published: Publications
) -> SelectorHint | None:
    """Return the hint for an expression that is not true for any of the devices, or None if there is no hint.

    The hint contains the first similar expression that is true for any of the devices. The devices of each kind publish
    the same values, so only one of them is tried.
    """
    parts = decisive_parts_of_kinds(expression, kinds, compile_, lambda: published)
    devices = [kind[0] for kind in kinds]
    literals = list(malformed(expression))
    said = [f'"{one.text}" is not a valid {one.kind}; "{one.better}" is' for one in literals]
    said += [line for part in parts for name in clause(part).found for line in found_lines(name)]
    if not said:
        return None
    better = next((new for new in near_expressions(expression, parts) if _holds(new, devices, compile_)), "")
    offset = literals[0].place.start if literals else _offset(expression, parts)
    return SelectorHint(tuple(dict.fromkeys(said)), better, offset)


def near_expressions(expression: str, parts: Sequence[DecisivePart]) -> Iterator[str]:
    """Yield expressions that may have been meant, most likely first.

    Expressions with other names and types come before expressions with other values.
    """
    return chain(spelling_fixes(expression, parts), other_values(expression, parts))


def _holds(expression: str, devices: Sequence[PoolDevice], compile_: Compile) -> bool:
    """Return whether the expression is true for one of the devices; those on which it fails do not count."""
    for device in devices:
        try:
            if compile_(expression).matches(device.device, device.id.driver):
                return True
        except ValueError:
            continue
    return False


def _offset(expression: str, parts: Sequence[DecisivePart]) -> int | None:
    """Return the position of the wrong part, which is a name or domain, or the constant with which it is compared."""
    for part in parts:
        for item in part.found:
            if item.problem in ("missing", "wrong-domain", "unknown-domain", "wrong-kind"):
                return _mentioned(expression, item.reference, of_domain="domain" in item.problem)
        compared, ordered = comparison(part.clause), ordered_with(part.clause)
        constant = compared.place if compared is not None else ordered[1] if ordered is not None else None
        if constant is not None:
            spans = parsed(expression).clauses()
            starts = [place.start for place in spans if place.of(expression) == part.clause]
            return starts[0] + constant.start if starts else None
    return None


def marked(expression: str, offset: int | None) -> list[str]:
    """Return the expression, and a second line with a caret below the position.

    The list is empty if the expression has to be escaped, because the caret would then be misplaced.
    """
    if offset is None or not expression.isascii() or shown.line(expression) != expression:
        return []
    return [expression, f"{' ' * offset}^"]


def _mentioned(expression: str, reference: Reference, *, of_domain: bool) -> int | None:
    for mention in mentions(expression):
        if mention.reference == reference:
            return mention.domain.start if of_domain and mention.domain is not None else mention.name.start
    return None
