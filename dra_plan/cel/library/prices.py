"""Prices that several libraries use, and functions to make prices.

Sources: cel-go interpreter/runtimecost.go and checker/cost.go, Kubernetes apiserver/pkg/cel/library/cost.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dra_plan.cel.ast import Const
from dra_plan.cel.cost import (
    LIST_COST,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    Interval,
    fixed,
    pattern_cost,
    traversal,
)
from dra_plan.cel.types import BYTES, STRING
from dra_plan.cel.values import Value, entries_of, size_of, spend

from .overload import CallEstimate, Cost, Estimate, Price, PricedOperand, one

Operands: TypeAlias = Sequence[PricedOperand]

# -- run-time costs of calls -------------------------------------------------------------------------------------------


def first(arguments: list[Value], _result: Value) -> int:
    """Return the cost of traversing the first argument."""
    return traversal(size_of(arguments[0]))


def first_twice(arguments: list[Value], _result: Value) -> int:
    """Return the cost of traversing the first argument twice."""
    return traversal(2 * size_of(arguments[0]))


def _pattern(arguments: list[Value], _result: Value) -> int:
    return pattern_cost(size_of(arguments[0]), size_of(arguments[1]))


def new_list(_arguments: list[Value], result: Value) -> int:
    """Return the cost of creating the result, which is a list."""
    return size_of(result) + 1 + LIST_COST


def _everything(arguments: list[Value], _result: Value) -> int:
    return _whole(arguments[0])


def _whole(value: Value) -> int:
    """Return the cost of traversing a value and its contents."""
    if type(value) is str:
        return len(value.encode("utf-8", "surrogatepass")) // 10
    if type(value) is bytes:
        return len(value) // 10
    if type(value) is list:
        spend(len(value) + 1)
        return sum(map(_whole, value))
    if isinstance(value, dict):
        spend(len(value) + 1)
        return sum(_whole(key) + _whole(held) for key, held in entries_of(value))
    return 1


# -- estimates in advance ----------------------------------------------------------------------------------------------


def size(operand: PricedOperand) -> Interval:
    """Return the size of the operand, or the range of all sizes if it is not known."""
    return operand.size or UNKNOWN


def through(operand: PricedOperand, factor: float = 1.0) -> Interval:
    """Return the estimate for traversing the operand `factor` times."""
    return size(operand).scaled(factor * STRING_FACTOR)


def through_first(operands: Operands) -> CallEstimate:
    """Return the estimate for traversing the first operand."""
    return CallEstimate(through(operands[0]))


def of_same_size(operands: Operands) -> CallEstimate:
    """Return the estimate for traversing the first operand, with a result of the same size."""
    return CallEstimate(through(operands[0]), size(operands[0]))


def pattern_estimate(operands: Operands) -> Interval:
    """Return the estimate for matching a pattern, given a text and the pattern.

    The text counts one character more, so that the pattern is charged for an empty text too.
    """
    text, pattern = size(operands[0]), size(operands[1])
    return text.plus(ONE).scaled(STRING_FACTOR).times(pattern.scaled(REGEX_FACTOR))


def _search(operands: Operands) -> CallEstimate:
    """Return the cost of traversing a list and its string elements once, or a string once."""
    target = operands[0]
    if not target.type.params:
        return CallEstimate(through(target))
    element = ONE
    if target.type.params[0] in (STRING, BYTES):
        element = element.plus((target.items or UNKNOWN).scaled(STRING_FACTOR))
    return CallEstimate(size(target).times(element))


def allocating(factor: float, elements: Interval) -> CallEstimate:
    """Return the estimate for creating a list of this many elements, each of which costs `factor`."""
    return CallEstimate(elements.scaled(factor).plus(ONE).plus(fixed(LIST_COST)), elements)


def literal(operand: PricedOperand, default: int) -> int:
    """Return the value of an int literal, or 0 if it is negative. For other operands, return the default."""
    expr = operand.expr
    return max(int(expr.value or 0), 0) if isinstance(expr, Const) and expr.kind == "int" else default


# -- shared prices -----------------------------------------------------------------------------------------------------


def estimated(estimate: Estimate) -> Price:
    """Return a price with this estimate, and a cost of 1."""
    return Price(one, estimate)


def by_name(cost: Cost, estimate: Estimate) -> Price:
    """Return a price that Kubernetes assigns by function name."""
    return Price(cost, estimate, by_name=True)


PARSED = by_name(first, through_first)
"""The price of parsing a string."""
SAME_SIZE = by_name(first, of_same_size)
"""The price of making a string of the same size."""
SEARCHED = by_name(_everything, _search)
"""The price of looking at each element or character."""
FOUND = by_name(
    _pattern, lambda operands: CallEstimate(pattern_estimate(operands), Interval(0, size(operands[0]).most))
)
"""The price of searching for a pattern and returning its matches."""
MATCHED = Price(_pattern, lambda operands: CallEstimate(pattern_estimate(operands)))
"""The price of searching for a pattern."""
