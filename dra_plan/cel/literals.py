"""Correct quantities and versions that CEL rejects, such as `quantity("40GB")` and `semver("9.0")`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dra_plan.api.quantity import QuantityError, parse
from dra_plan.api.semver import SemverError, normalize
from dra_plan.api.semver import parse as parse_version

from . import ast
from .ast import nodes
from .parts import TextSpan, parsed
from .rewrite import constant_text

_UNIT = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*([kmgtpe]?)(i?)b?", re.ASCII | re.IGNORECASE)


class MalformedLiteral(NamedTuple):
    """A constant that `quantity` or `semver` rejects, with the constant that was probably meant."""

    text: str
    kind: str
    place: TextSpan
    better: str


def malformed(expression: str) -> Iterator[MalformedLiteral]:
    """Yield the constants that `quantity` or `semver` rejects, if it is clear what was meant."""
    found = parsed(expression)
    for node in nodes(found.root) if found.root is not None else ():
        if not isinstance(node, ast.Call) or node.target is not None or node.function not in _REPAIRS:
            continue
        constant = node.args[0] if node.args else None
        if isinstance(constant, ast.Const) and isinstance(constant.value, str):
            kind, repair = _REPAIRS[node.function]
            if better := repair(constant.value):
                yield MalformedLiteral(constant.value, kind, found.span(constant.offset), better)


def repaired(expression: str) -> str | None:
    """Return the expression with rejected quantities and versions corrected, or None if there are none."""
    text = expression
    for one in sorted(malformed(expression), key=lambda each: each.place.start, reverse=True):
        text = f"{text[: one.place.start]}{constant_text(one.better)}{text[one.place.end :]}"
    return text if text != expression else None


def _amount(text: str) -> str:
    try:
        parse(text)
    except QuantityError:
        match = _UNIT.fullmatch(text.strip())
        if match is None or (match[3] and not match[2]):
            return ""
        unit = match[2].upper()
        return f"{match[1]}{'k' if unit == 'K' and not match[3] else unit}{match[3].lower()}"
    return ""


def _version(text: str) -> str:
    try:
        parse_version(text)
    except SemverError:
        try:
            better = normalize(text)
            parse_version(better)
        except SemverError:
            return ""
        return better
    return ""


_REPAIRS = {"quantity": ("quantity", _amount), "semver": ("semantic version", _version)}
