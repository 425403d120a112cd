"""Selectors written anew: with a name spelt as it is published, or guarded against what a device lacks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dra_plan.allocator import PoolDevice
from dra_plan.api import quantity

from .clauses import Reference, clauses, references
from .near import nearest
from .selectors import Finding, look_up


def spelling_fixes(expression: str, found: Sequence[Finding]) -> Iterator[str]:
    """The expression with each name, domain or type that was probably meant, one at a time."""
    for finding in found:
        for item in finding.found:
            if item.hint is None:
                continue
            reference = item.reference
            if item.problem == "missing":
                yield _renamed(expression, reference.name, item.hint)
            elif item.problem in ("wrong-domain", "unknown-domain"):
                yield _renamed(expression, reference.domain, item.hint)
            elif item.problem == "wrong-type":
                yield _retyped(expression, finding.clause)


def _renamed(expression: str, old: str, new: str) -> str:
    """Every whole occurrence of a name, quoted or after a dot."""
    return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new.replace("\\", r"\\"), expression)


_LAST_CONSTANT = re.compile(r"""(?P<start>.*(?:==|!=)\s*)(?P<value>"[^"]*"|'[^']*'|-?\d+|true|false)\s*$""", re.DOTALL)


def _retyped(expression: str, clause: str) -> str:
    """The clause's constant as the other type: quoted when it is not, bare when it is."""
    match = _LAST_CONSTANT.match(clause)
    if match is None:
        return expression
    value = match["value"]
    other = value[1:-1] if value[0] in "\"'" else f'"{value}"'
    return expression.replace(clause, f"{match['start']}{other}")


MOST_VALUES = 2
"""Values that are tried for one constant."""

_BOUND = re.compile(
    r"""(?P<start>.*\.compareTo\(\s*quantity\(\s*)(?P<value>"[^"]*"|'[^']*')(?P<end>\s*\)\s*\)\s*(?:>=|==)\s*0)\s*$""",
    re.DOTALL,
)


def other_values(expression: str, found: Sequence[Finding]) -> Iterator[str]:
    """The expression with a constant that no device has replaced by one that some have: the nearest, the commonest."""
    for finding in found:
        if len(finding.found) != 1 or finding.found[0].problem is not None:
            continue
        counted = finding.found[0].values
        if (bound := _BOUND.match(finding.clause)) is not None:
            largest = max((str(value) for _, value in counted), key=lambda text: quantity.parse(text).nano)
            yield expression.replace(finding.clause, f'{bound["start"]}"{largest}"{bound["end"]}')
        elif (constant := _LAST_CONSTANT.match(finding.clause)) is not None and "==" in constant["start"]:
            for value in _likely(constant["value"], counted):
                yield expression.replace(finding.clause, f"{constant['start']}{value}")


def _likely(constant: str, counted: Counter[tuple[str, Any]]) -> list[str]:
    """Constants that might have been meant, as the language writes them; none if the values are of another type."""
    same = "string" if constant[0] in "\"'" else "bool" if constant in ("true", "false") else "int"
    values = [value for (kind, value), _ in counted.most_common() if kind == same]
    if same == "string":
        near = nearest(constant[1:-1], values)
        values.sort(key=lambda value: value != near)
        return [json.dumps(value, ensure_ascii=False) for value in values[:MOST_VALUES]]
    return [str(value).lower() for value in values[:MOST_VALUES]]


def guarded(expression: str, device: PoolDevice) -> str | None:
    """The expression with a check, in front, of each attribute and capacity that it reads and the device lacks.

    None if the device has them all.
    """
    known = clauses(expression)
    lacking = [
        reference
        for reference in references(expression)
        if reference.kind in ("attribute", "capacity") and not reference.tests and look_up(device, reference) is None
    ]
    guards = [text for reference in lacking if (text := presence(reference)) not in known]
    return " && ".join([*guards, grouped(expression)]) if guards else None


def presence(reference: Reference) -> str:
    """`"NAME" in device.attributes["DOMAIN"]`."""
    table = "attributes" if reference.kind == "attribute" else "capacity"
    return f'"{reference.name}" in device.{table}["{reference.domain}"]'


def for_driver(expression: str, driver: str) -> str:
    """The expression, looked at only for devices of one driver."""
    return f'device.driver == "{driver}" && {grouped(expression)}'


def grouped(expression: str) -> str:
    """In parentheses where `&&` in front would bind stronger than what stands in it."""
    text = expression.strip()
    outer = clauses(text)
    return f"({text})" if len(outer) == 1 and ("||" in text or "?" in text) and not _enclosed(text) else text


def _enclosed(text: str) -> bool:
    return text.startswith("(") and text.endswith(")") and clauses(f"{text} && true") == (text, "true")
