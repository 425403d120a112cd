"""The text form of label selectors: `a=b,c!=d,e in (f,g),h notin (i),j,!k`, as kubectl reads it."""

from __future__ import annotations

import re

from dra_plan.api.meta import LabelSelector, LabelSelectorRequirement
from dra_plan.errors import UsageError

_SET = re.compile(r"(?P<key>\S+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s=!]+)\s*(?P<operator>==|!=|=)\s*(?P<value>[^\s=!,()]*)")
_EXISTS = re.compile(r"(?P<negated>!?)\s*(?P<key>[^\s=!,()<>]+)")
_COMMA_OUTSIDE_PARENTHESES = re.compile(r",(?![^(]*\))")


def parse(text: str | None) -> LabelSelector | None:
    """The selector, or None for None or blank text, which selects everything. UsageError if it is malformed."""
    if text is None or not text.strip():
        return None
    parts = (part.strip() for part in _COMMA_OUTSIDE_PARENTHESES.split(text))
    return LabelSelector(match_expressions=[_requirement(part, text) for part in parts])


def _requirement(part: str, text: str) -> LabelSelectorRequirement:
    if match := _SET.fullmatch(part):
        operator = "In" if match["operator"] == "in" else "NotIn"
        values = [value.strip() for value in match["values"].split(",")]
        return LabelSelectorRequirement(key=match["key"], operator=operator, values=values)
    if match := _EQUAL.fullmatch(part):
        operator = "NotIn" if match["operator"] == "!=" else "In"
        return LabelSelectorRequirement(key=match["key"], operator=operator, values=[match["value"]])
    if match := _EXISTS.fullmatch(part):
        return LabelSelectorRequirement(key=match["key"], operator="DoesNotExist" if match["negated"] else "Exists")
    raise UsageError(
        f"--selector: can't read {part!r} in {text!r}; requirements are a=b, a!=b, a in (b,c), a notin (b,c), a or !a"
    )
