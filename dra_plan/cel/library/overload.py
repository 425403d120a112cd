"""The types for tables of functions: an overload has a signature, an implementation and a price.

A price is the cost of a call when it is evaluated, and the API server's estimate of this cost. `prices` has prices that
several libraries use.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from dra_plan.cel.ast import Expr
from dra_plan.cel.cost import ONE, Interval
from dra_plan.cel.macros import Expander, MacroKey
from dra_plan.cel.types import Type
from dra_plan.cel.values import CLASSES, Value

Function: TypeAlias = Callable[..., Value]


class PricedOperand(Struct, frozen=True):
    """An operand of a call in an estimate. Unknown sizes are None."""

    type: Type
    expr: Expr
    size: Interval | None
    items: Interval | None
    """The size of the elements, if the operand is a list in the device."""


class CallEstimate(Struct, frozen=True):
    """The estimated cost of a call, without its operands, and the size of the result if it is known."""

    cost: Interval
    size: Interval | None = None


Cost: TypeAlias = Callable[[list[Value], Value], int]
"""A function that returns the cost of a call, given its arguments and result. An EvaluationError has size 1."""
Estimate: TypeAlias = Callable[[Sequence[PricedOperand]], CallEstimate]


def one(_arguments: list[Value], _result: Value) -> int:
    """Return 1, the cost of most calls."""
    return 1


def estimate_one(_operands: Sequence[PricedOperand]) -> CallEstimate:
    """Return the estimate for a call that costs 1."""
    return CallEstimate(ONE)


class Price(Struct, frozen=True, eq=False):
    """The price of a call: a function for its cost, and a function for the estimate.

    Both functions get the target as the first operand. cel-go assigns prices by overload, and Kubernetes by function
    name (`by_name`). If the check leaves several overloads, only a price by name applies; without one, the call costs
    1.
    """

    cost: Cost = one
    estimate: Estimate = estimate_one
    by_name: bool = False


UNIT = Price()

_Guard: TypeAlias = tuple[frozenset[type] | None, frozenset[type] | None]
"""The classes allowed for a value, and for a list's first element; None allows any."""


class Overload(Struct, frozen=True, eq=False):
    """A signature of a function, with its implementation.

    `id` is the name of the overload in cel-go or Kubernetes. In a member function, the first of `args` is the target.
    `function` is None if the planner handles the call (`&&`, `or`, indices), or if no selector can have values of the
    argument types.
    """

    id: str
    args: tuple[Type, ...]
    result: Type
    function: Function | None = None
    price: Price = UNIT
    guards: tuple[_Guard, ...] = ()
    member: bool = False
    singleton: bool = False
    """True if this implementation serves all overloads of the function."""
    planned: bool = False
    """True if calls with a constant are evaluated when the expression is planned. They cost nothing, and may fail."""
    once: bool = False
    """True if calls with constants are evaluated only once, but charged each time."""
    pattern: bool = False
    """True if the second operand is a regular expression. If constant, it is compiled when the expression is
    planned."""
    any_number: bool = False
    """True if upstream accepts any number of arguments, and stops at the first that is an error."""

    @property
    def generic(self) -> bool:
        """True if the signature has type parameters."""
        return any(map(_has_parameter, (*self.args, self.result)))

    def accepts(self, arguments: Sequence[Value]) -> bool:
        """Return whether upstream's type guard accepts these values as arguments."""
        if len(arguments) != len(self.guards):
            return False
        for value, (classes, elements) in zip(arguments, self.guards, strict=True):
            if classes is not None and type(value) not in classes:
                return False
            if elements is not None and value and type(value[0]) not in elements:
                return False
        return True


def matching(overloads: Iterable[Overload], arguments: Sequence[Value]) -> Function | None:
    """Return the implementation for these arguments, or None."""
    for overload in overloads:
        if overload.function is not None and overload.accepts(arguments):
            return overload.function
    return None


def cost_of(overloads: Sequence[Overload]) -> Cost:
    """Return the cost function of a call, given the overloads that it may use."""
    if len(overloads) == 1:
        return overloads[0].price.cost
    return next((overload.price.cost for overload in overloads if overload.price.by_name), one)


def _has_parameter(of: Type) -> bool:
    return of.kind == "param" or any(map(_has_parameter, of.params))


_OPEN = frozenset(("param", "dyn", "any"))
_ANYTHING: _Guard = (None, None)


def _guard(of: Type) -> _Guard:
    """Return the parts that upstream checks: the class, and, for a list with plain elements, the first element."""
    if of.kind in _OPEN:
        return _ANYTHING
    element = of.params[0] if of.kind == "list" else None
    checked = element is not None and element.kind not in _OPEN and not element.params
    return CLASSES.get(of.name), CLASSES[element.name] if checked and element is not None else None


def plain(
    identifier: str,
    args: tuple[Type, ...],
    result: Type,
    function: Function | None = None,
    price: Price = UNIT,
    *,
    guarded: bool = True,
    **flags: bool,
) -> Overload:
    """Return an overload of a global function.

    If `guarded` is false, the function checks the types of its arguments itself.
    """
    guards = tuple(map(_guard, args)) if guarded else (_ANYTHING,) * len(args)
    return Overload(identifier, args, result, function, price, guards, **flags)


def member(
    identifier: str,
    args: tuple[Type, ...],
    result: Type,
    function: Function | None = None,
    price: Price = UNIT,
    **flags: bool,
) -> Overload:
    """Return an overload of a member function. The first argument is the target."""
    return plain(identifier, args, result, function, price, member=True, **flags)


class Library(Struct, frozen=True, kw_only=True):
    """Functions, macros and types that were introduced together.

    New expressions can use a library if its gate is on or, without a gate, from version `since` on. Stored expressions
    can use every library that the release knows (`known_since`).
    """

    name: str
    since: tuple[int, int]
    gate: str | None = None
    known_since: tuple[int, int] = (1, 0)
    functions: Mapping[str, tuple[Overload, ...]] = {}
    macros: Mapping[MacroKey, Expander] = {}
    types: Mapping[str, Type] = {}
