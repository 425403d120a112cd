"""The values of the device that an expression reads: the driver, attributes and capacities.

Values are named by constants, as in `device.attributes["domain"].id`, either directly or with cel.bind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from . import ast
from .ast import Expr, children
from .format_strings import Checked

Read: TypeAlias = tuple[str, str, str]
"""Kind, domain and ID. The last two are empty for the driver and allowMultipleAllocations."""


class DevicePath(msgspec.Struct, frozen=True):
    """A path from `device` that consists of constants: a kind, a domain and an ID.

    In a shorter path, the later parts are missing.
    """

    kind: str = ""
    domain: str | None = None
    identifier: str | None = None


BoundPaths: TypeAlias = Mapping[str, "DevicePath | None"]
"""The paths of the variables in the surrounding comprehensions. A variable without a path has None."""


def bound_place(expr: ast.Comprehension, checked: Checked, bindings: BoundPaths) -> DevicePath | None:
    """Return the path of the domain that a cel.bind names, or None for any other comprehension."""
    if not is_bind(expr):
        return None
    place = place_of(expr.accu_init, checked, bindings)
    return place if place is not None and place.domain is not None and place.identifier is None else None


def is_bind(expr: ast.Comprehension) -> bool:
    """Return whether the comprehension is the expansion of cel.bind."""
    return expr.iter_var == "#unused" and isinstance(expr.iter_range, ast.List) and not expr.iter_range.elements


def place_of(expr: Expr, checked: Checked, bindings: BoundPaths) -> DevicePath | None:
    """Return the path that an expression stands for, or None."""
    if isinstance(expr, ast.Ident):
        if expr.name in bindings:
            return bindings[expr.name]
        return DevicePath() if checked.idents.get(expr.id) == "device" else None
    if isinstance(expr, ast.Select) and not expr.test_only:
        outer = place_of(expr.operand, checked, bindings)
        return None if outer is None else _inside(outer, expr.field)
    if isinstance(expr, ast.Call) and expr.function == "_[_]":
        key = expr.args[1]
        if isinstance(key, ast.Const) and isinstance(key.value, str):
            outer = place_of(expr.args[0], checked, bindings)
            return None if outer is None else _inside(outer, key.value)
    return None


def _inside(place: DevicePath, key: str) -> DevicePath | None:
    if not place.kind:
        return DevicePath(key)
    if place.kind not in ("attributes", "capacity"):
        return None
    if place.domain is None:
        # No name has a slash in its domain; joined with an ID, such a domain would look like another name.
        return None if "/" in key else DevicePath(place.kind, key)
    return DevicePath(place.kind, place.domain, key) if place.identifier is None else None


def tested_place(expr: Expr, checked: Checked, bindings: BoundPaths) -> DevicePath | None:
    """Return the path of the attribute or capacity that the expression tests, or None.

    A test is `has(...)` or `"id" in ...`.
    """
    found: DevicePath | None = None
    if isinstance(expr, ast.Select) and expr.test_only:
        outer = place_of(expr.operand, checked, bindings)
        found = None if outer is None else _inside(outer, expr.field)
    elif isinstance(expr, ast.Call) and expr.function == "@in":
        key, outer = expr.args[0], place_of(expr.args[1], checked, bindings)
        if outer is not None and isinstance(key, ast.Const) and isinstance(key.value, str):
            found = _inside(outer, key.value)
    return found if found is not None and found.identifier is not None else None


def _optional_place(expr: Expr, checked: Checked, bindings: BoundPaths) -> DevicePath | None:
    """Return the attribute or capacity in `domain.?id` and `domain[?"id"]`."""
    if isinstance(expr, ast.Call) and expr.function in ("_?._", "_[?_]"):
        key, outer = expr.args[1], place_of(expr.args[0], checked, bindings)
        if outer is not None and isinstance(key, ast.Const) and isinstance(key.value, str):
            found = _inside(outer, key.value)
            return found if found is not None and found.identifier is not None else None
    return None


def reads_of(checked: Checked) -> frozenset[Read] | None:
    """Return all values of the device that the expression reads, or None if it may read any."""
    found: set[Read] = set()
    for place in _places(checked.root, checked, {}):
        if place is None:
            return None
        if place.kind in ("attributes", "capacity"):
            found.add((place.kind, place.domain or "", place.identifier or ""))
        else:
            found.add((place.kind, "", ""))
    return frozenset(found)


def _places(expr: Expr, checked: Checked, bindings: BoundPaths) -> Iterator[DevicePath | None]:
    place = (
        tested_place(expr, checked, bindings)
        or _optional_place(expr, checked, bindings)
        or place_of(expr, checked, bindings)
    )
    if place is not None:
        complete = place.identifier is not None or place.kind in ("driver", "allowMultipleAllocations")
        yield place if complete else None
        return
    if isinstance(expr, ast.Comprehension):
        yield from _fold_places(expr, checked, bindings)
        return
    for part in children(expr):
        yield from _places(part, checked, bindings)


def _fold_places(expr: ast.Comprehension, checked: Checked, bindings: BoundPaths) -> Iterator[DevicePath | None]:
    domain = bound_place(expr, checked, bindings)
    if domain is None:
        yield from _places(expr.iter_range, checked, bindings)
        yield from _places(expr.accu_init, checked, bindings)
    outer = {**bindings, expr.accu_var: domain}
    inner = {**outer, expr.iter_var: None, **({expr.iter_var2: None} if expr.iter_var2 else {})}
    if not is_bind(expr):
        yield from _places(expr.loop_condition, checked, inner)
        yield from _places(expr.loop_step, checked, inner)
    yield from _places(expr.result, checked, outer)
