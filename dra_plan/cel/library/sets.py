"""cel-go's sets library: lists as sets."""

from __future__ import annotations

from dra_plan.cel.ranges import ONE
from dra_plan.cel.types import BOOL, list_of, parameter
from dra_plan.cel.values import Value, cost_exceeded, equal, size_of, spend

from .overload import CallEstimate, Library, Price, plain
from .prices import size

_MOST_COMPARED = 1_000_000


def _check_product(left: list[Value], right: list[Value]) -> None:
    spend(len(left) * len(right))
    if len(left) * len(right) > _MOST_COMPARED:
        raise cost_exceeded()


def set_contains(values: list[Value], wanted: list[Value]) -> bool:
    """Whether every wanted element has an equal one."""
    _check_product(values, wanted)
    return all(any(equal(item, value) is True for value in values) for item in wanted)


def set_equivalent(left: list[Value], right: list[Value]) -> bool:
    """Whether each list has all elements of the other."""
    return set_contains(left, right) and set_contains(right, left)


def set_intersects(left: list[Value], right: list[Value]) -> bool:
    """Whether some element is in both lists."""
    _check_product(left, right)
    return any(any(equal(item, value) is True for value in right) for item in left)


def _price(factor: int) -> Price:
    return Price(
        lambda arguments, _result: 1 + size_of(arguments[0]) * size_of(arguments[1]) * factor,
        lambda operands: CallEstimate(size(operands[0]).times(size(operands[1])).scaled(factor).plus(ONE)),
    )


_TWO = (list_of(parameter("T")), list_of(parameter("T")))

SETS = Library(
    name="sets",
    since=(1, 29),
    functions={
        "sets.contains": (plain("list_sets_contains_list", _TWO, BOOL, set_contains, _price(1)),),
        "sets.equivalent": (plain("list_sets_equivalent_list", _TWO, BOOL, set_equivalent, _price(2)),),
        "sets.intersects": (plain("list_sets_intersects_list", _TWO, BOOL, set_intersects, _price(1)),),
    },
)
