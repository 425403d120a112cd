"""Prices that several libraries have, and what they are made of; those of one library stand beside its table.

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

# -- costs of calls when they are evaluated ----------------------------------------------------------------------------


def first(arguments: list[Value], _result: Value) -> int:
    """Go through the first argument."""
    return traversal(size_of(arguments[0]))


def first_twice(arguments: list[Value], _result: Value) -> int:
    """Go through the first argument twice."""
    return traversal(2 * size_of(arguments[0]))


def _pattern(arguments: list[Value], _result: Value) -> int:
    return pattern_cost(size_of(arguments[0]), size_of(arguments[1]))


def new_list(_arguments: list[Value], result: Value) -> int:
    """Make the list that is the result."""
    return size_of(result) + 1 + LIST_COST


def _everything(arguments: list[Value], _result: Value) -> int:
    return _whole(arguments[0])


def _whole(value: Value) -> int:
    """The cost of going through a value and all that it contains."""
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
    """The operand's size; all sizes are possible where it is unknown."""
    return operand.size or UNKNOWN


def through(operand: PricedOperand, factor: float = 1.0) -> Interval:
    """The cost of going through an operand, `factor` times."""
    return size(operand).scaled(factor * STRING_FACTOR)


def through_first(operands: Operands) -> CallEstimate:
    """Go through the first operand."""
    return CallEstimate(through(operands[0]))


def of_same_size(operands: Operands) -> CallEstimate:
    """Go through the first operand; the result has its size."""
    return CallEstimate(through(operands[0]), size(operands[0]))


def pattern_estimate(operands: Operands) -> Interval:
    """Length of the text plus one (an empty text still costs the pattern) times length of the pattern."""
    text, pattern = size(operands[0]), size(operands[1])
    return text.plus(ONE).scaled(STRING_FACTOR).times(pattern.scaled(REGEX_FACTOR))


def _search(operands: Operands) -> CallEstimate:
    """Go once through a list, and through its elements where they are text; or once through a text."""
    target = operands[0]
    if not target.type.params:
        return CallEstimate(through(target))
    element = ONE
    if target.type.params[0] in (STRING, BYTES):
        element = element.plus((target.items or UNKNOWN).scaled(STRING_FACTOR))
    return CallEstimate(size(target).times(element))


def allocating(factor: float, elements: Interval) -> CallEstimate:
    """Make a list with this many elements, which cost `factor` each."""
    return CallEstimate(elements.scaled(factor).plus(ONE).plus(fixed(LIST_COST)), elements)


def literal(operand: PricedOperand, default: int) -> int:
    """The int that is written there, at least 0; the default for all else."""
    expr = operand.expr
    return max(int(expr.value or 0), 0) if isinstance(expr, Const) and expr.kind == "int" else default


# -- prices that several libraries have --------------------------------------------------------------------------------


def estimated(estimate: Estimate) -> Price:
    """A price that is 1 when evaluated, whatever the estimate says."""
    return Price(one, estimate)


def by_name(cost: Cost, estimate: Estimate) -> Price:
    """A price that Kubernetes gives to a function by its name."""
    return Price(cost, estimate, by_name=True)


PARSED = by_name(first, through_first)
"""Reading a text."""
SAME_SIZE = by_name(first, of_same_size)
"""Going through a text that another of the same size is made of."""
SEARCHED = by_name(_everything, _search)
"""Looking at each element, or each character."""
FOUND = by_name(
    _pattern, lambda operands: CallEstimate(pattern_estimate(operands), Interval(0, size(operands[0]).most))
)
"""Looking for a pattern and keeping what it matches."""
MATCHED = Price(_pattern, lambda operands: CallEstimate(pattern_estimate(operands)))
"""Looking for a pattern."""
