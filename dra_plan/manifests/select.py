"""The label selectors of the command line (`-l`), as kubectl reads them."""

from __future__ import annotations

import re

from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.errors import UsageError

_KEY = r"(?P<key>[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?)"
_VALUE = r"(?P<value>([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?)"
_FORMS = (
    (re.compile(rf"{_KEY}\s*(?P<operator>==?|!=)\s*{_VALUE}\Z"), ""),
    (re.compile(rf"{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)\Z"), ""),
    (re.compile(rf"!\s*{_KEY}\Z"), "DoesNotExist"),
    (re.compile(rf"{_KEY}\Z"), "Exists"),
)
_OPERATORS = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn"}
_COMMA = re.compile(r",(?![^(]*\))")
"""Commas outside parentheses."""


def parse_selector(text: str) -> LabelSelector:
    """`a=b,c!=d,e in (f,g),h notin (i),j,!k` as a selector; empty text selects everything.

    Raises `UsageError` for anything else.
    """
    if not text.strip():
        return LabelSelector()
    return LabelSelector(match_expressions=[_requirement(part.strip(), text) for part in _COMMA.split(text)])


def _requirement(part: str, whole: str) -> LabelSelectorRequirement:
    for form, operator in _FORMS:
        match = form.match(part)
        if match is None:
            continue
        found = match.groupdict()
        if operator:
            return LabelSelectorRequirement(key=found["key"], operator=operator)
        values = [value.strip() for value in found["values"].split(",")] if "values" in found else [found["value"]]
        return LabelSelectorRequirement(key=found["key"], operator=_OPERATORS[found["operator"]], values=values)
    raise UsageError(f"{part!r} is not a label requirement (in the selector {whole!r}); write KEY=VALUE or KEY")
