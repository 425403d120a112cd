"""Whether the cost of an expression stays below the limit on every device of usual size, so that nobody need count.

A rough bound from above; the API server's estimate is another matter (`estimate`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from dra_plan.cel import ast
from dra_plan.cel.ast import Checked, Expr
from dra_plan.cel.cost import LIMIT, MESSAGE_COST
from dra_plan.cel.device import QUICK_TEXT, QUICK_WEIGHT
from dra_plan.cel.reads import is_bind, place_of
from dra_plan.cel.walk import children

Bound = tuple[float, float]
"""The most that an expression can cost, and the most that its value can weigh: all characters and elements in it."""

_ANY_CONVERSION = 400
_SCALARS = frozenset(("bool", "int", "uint", "double", "duration", "timestamp", "null", "type", "object", "opaque"))
_PRODUCTS = frozenset(("matches", "find", "findAll", "contains", "validate"))
_SQUARES = frozenset(
    ("sort", "distinct", "@sortByAssociatedKeys", "sets.contains", "sets.equivalent", "sets.intersects")
)
_UNBOUNDED = frozenset(("format", "flatten", "lists.range"))


def stays_below_limit(checked: Checked) -> bool:
    """Whether no device of usual size makes the evaluation cost more than the limit."""
    return _bound(checked.root, checked, {})[0] <= LIMIT


def _bound(expr: Expr, checked: Checked, variables: Mapping[str, Bound]) -> Bound:
    match expr:
        case ast.Const():
            return 0, len(expr.value) if isinstance(expr.value, str | bytes) else 1
        case ast.Ident():
            return 1, variables.get(expr.name, (0, QUICK_WEIGHT))[1]
        case ast.Comprehension():
            return _fold(expr, checked, variables)
    parts = [_bound(part, checked, variables) for part in children(expr)]
    cost = sum(part[0] for part in parts)
    weight = sum(part[1] for part in parts)
    place = place_of(expr, checked, dict.fromkeys(variables))
    if place is not None and (place.identifier is not None or place.kind == "driver"):
        return cost + 2, QUICK_TEXT
    match expr:
        case ast.Select():
            return cost + 2, weight
        case ast.Call():
            own, result = _call(expr.function, [part[1] for part in parts])
            return cost + own, 1 if checked.types[expr.id].kind in _SCALARS else result
    return cost + MESSAGE_COST, weight + len(parts)


def _fold(expr: ast.Comprehension, checked: Checked, variables: Mapping[str, Bound]) -> Bound:
    initial = _bound(expr.accu_init, checked, variables)
    over = (0.0, 0.0) if is_bind(expr) else _bound(expr.iter_range, checked, variables)
    rounds = over[1]
    inner = {**variables, expr.iter_var: (0, over[1])}
    if expr.iter_var2:
        inner[expr.iter_var2] = (0, over[1])
    inner[expr.accu_var] = initial
    step = _bound(expr.loop_step, checked, inner)
    # Each round makes the accumulator heavier by what one step adds.
    heaviest = (0, initial[1] + rounds * (step[1] + 1))
    outer = {**variables, expr.accu_var: heaviest}
    condition = _bound(expr.loop_condition, checked, {**inner, expr.accu_var: heaviest})
    step = _bound(expr.loop_step, checked, {**inner, expr.accu_var: heaviest})
    result = _bound(expr.result, checked, outer)
    return initial[0] + over[0] + rounds * (condition[0] + step[0]) + result[0], result[1]


def _call(function: str, weights: list[float]) -> Bound:
    total = sum(weights)
    if function in _UNBOUNDED:
        return math.inf, math.inf
    if function == "replace":
        return total + 1, (weights[0] + 1) * (weights[-1] + max(weights) + 1)
    if function == "join":
        weight = weights[0] * (total + 1)
        return weight + 1, weight
    if function in _PRODUCTS:
        return (total * 0.1 + 2) * (total * 0.25 + 300 * (function == "validate") + 2), total + 1
    if function in _SQUARES:
        return 3 * total * total + 20, total + 1
    return total * 0.5 + 20, total * 2 + _ANY_CONVERSION
