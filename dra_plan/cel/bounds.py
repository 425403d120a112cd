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
"""The most that an expression can cost, and the most that its value can weigh: all characters and elements in it.

Floats, because they end in infinity where integers would grow without end.
"""

_MOST_LOOKS = 20_000
_ANY_CONVERSION = 400
_SCALARS = frozenset(("bool", "int", "uint", "double", "duration", "timestamp", "null", "type", "object", "opaque"))
_PRODUCTS = frozenset(("matches", "find", "findAll", "contains", "validate"))
_SQUARES = frozenset(
    ("sort", "distinct", "@sortByAssociatedKeys", "sets.contains", "sets.equivalent", "sets.intersects")
)
_UNBOUNDED = frozenset(("format", "flatten", "lists.range"))


def stays_below_limit(checked: Checked) -> bool:
    """Whether no device of usual size makes the evaluation cost more than the limit; False where it is hard to say."""
    try:
        return _Bounds(checked).of(checked.root, {})[0] <= LIMIT
    except _TooMuchError:
        return False


class _TooMuchError(Exception):
    """The bound itself takes too long: a fold's step is looked at twice, so nested folds double the work."""


class _Bounds:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._left = _MOST_LOOKS

    def of(self, expr: Expr, variables: Mapping[str, Bound]) -> Bound:
        """The bound of an expression with the bounds of the variables around it."""
        self._left -= 1
        if self._left < 0:
            raise _TooMuchError
        match expr:
            case ast.Const():
                return 0.0, float(len(expr.value)) if isinstance(expr.value, str | bytes) else 1.0
            case ast.Ident():
                return 1.0, variables.get(expr.name, (0.0, float(QUICK_WEIGHT)))[1]
            case ast.Comprehension():
                return self._fold(expr, variables)
        parts = [self.of(part, variables) for part in children(expr)]
        cost = sum(part[0] for part in parts)
        weight = sum(part[1] for part in parts)
        place = place_of(expr, self._checked, dict.fromkeys(variables))
        if place is not None and (place.identifier is not None or place.kind == "driver"):
            return cost + 2, float(QUICK_TEXT)
        match expr:
            case ast.Select():
                return cost + 2, weight
            case ast.Call():
                own, result = _call(expr.function, [part[1] for part in parts])
                return cost + own, 1 if self._checked.types[expr.id].kind in _SCALARS else result
        return cost + MESSAGE_COST, weight + len(parts)

    def _fold(self, expr: ast.Comprehension, variables: Mapping[str, Bound]) -> Bound:
        initial = self.of(expr.accu_init, variables)
        over = (0.0, 0.0) if is_bind(expr) else self.of(expr.iter_range, variables)
        rounds = over[1]
        inner = {**variables, expr.iter_var: (0.0, over[1])}
        if expr.iter_var2:
            inner[expr.iter_var2] = (0.0, over[1])
        inner[expr.accu_var] = initial
        step = self.of(expr.loop_step, inner)
        # Each round makes the accumulator heavier by what one step adds.
        heaviest = (0.0, initial[1] + rounds * (step[1] + 1))
        outer = {**variables, expr.accu_var: heaviest}
        condition = self.of(expr.loop_condition, {**inner, expr.accu_var: heaviest})
        step = self.of(expr.loop_step, {**inner, expr.accu_var: heaviest})
        result = self.of(expr.result, outer)
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
