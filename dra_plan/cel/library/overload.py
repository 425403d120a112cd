"""The type of the tables' entries: an overload with its signature, implementation and price.

No entries are defined here.

The price has two parts: the cost of a call when it is evaluated, and the API server's estimate in advance. Building
blocks for prices are in `prices`.
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
    """An operand of a call, as used in estimates. A size that is not known is None."""

    type: Type
    expr: Expr
    size: Interval | None
    items: Interval | None
    """The size of the elements, if the operand is a list in the device."""


class CallEstimate(Struct, frozen=True):
    """The cost of a call without the cost of its operands, and the size of its result, if known."""

    cost: Interval
    size: Interval | None = None


Cost: TypeAlias = Callable[[list[Value], Value], int]
"""A function that returns the cost of one call, given arguments and result; an EvaluationError among them has size
1."""
Estimate: TypeAlias = Callable[[Sequence[PricedOperand]], CallEstimate]


def one(_arguments: list[Value], _result: Value) -> int:
    """Return 1, which is the cost of most calls."""
    return 1


def estimate_one(_operands: Sequence[PricedOperand]) -> CallEstimate:
    """Return the estimate for a call that costs 1."""
    return CallEstimate(ONE)


class Price(Struct, frozen=True, eq=False):
    """The price of a call: a function that returns its cost, and a function that estimates the cost.

    Both functions take the target as the first operand. cel-go assigns prices by overload, and Kubernetes by function
    name. If the check left open which overload a call uses, only prices by name apply; other calls then cost 1.
    """

    cost: Cost = one
    estimate: Estimate = estimate_one
    by_name: bool = False


UNIT = Price()

_Guard: TypeAlias = tuple[frozenset[type] | None, frozenset[type] | None]
"""The classes allowed for a value, and for a list's first element; None allows any."""


class Overload(Struct, frozen=True, eq=False):
    """One signature of a function.

    The `args` of a member function begin with the target. `id` is the name that cel-go or Kubernetes gives the
    overload.

    There is no `function` if the call is planned (`&&`, `or`, indices), or if no value in a selector has a type on
    which the function could be called.
    """

    id: str
    args: tuple[Type, ...]
    result: Type
    function: Function | None = None
    price: Price = UNIT
    guards: tuple[_Guard, ...] = ()
    member: bool = False
    singleton: bool = False
    """True if all overloads of the function have this one implementation."""
    planned: bool = False
    """True if it is applied to a constant when the expression is planned; it then costs nothing, and may fail."""
    once: bool = False
    """True if the result for constants is computed once but charged every time."""
    pattern: bool = False
    """True if the second operand is a regular expression, which is compiled when planning if it is constant."""
    any_number: bool = False
    """True if upstream binds it with any number of arguments, so that it stops at the first argument that fails."""

    @property
    def generic(self) -> bool:
        """True if the signature contains type parameters."""
        return any(map(_has_parameter, (*self.args, self.result)))

    def accepts(self, arguments: Sequence[Value]) -> bool:
        """Return whether upstream's type guard accepts these run-time values as arguments."""
        if len(arguments) != len(self.guards):
            return False
        for value, (classes, elements) in zip(arguments, self.guards, strict=True):
            if classes is not None and type(value) not in classes:
                return False
            if elements is not None and value and type(value[0]) not in elements:
                return False
        return True


def matching(overloads: Iterable[Overload], arguments: Sequence[Value]) -> Function | None:
    """Return the implementation that accepts these arguments, or None if there is none."""
    for overload in overloads:
        if overload.function is not None and overload.accepts(arguments):
            return overload.function
    return None


def cost_of(overloads: Sequence[Overload]) -> Cost:
    """Return the cost function for a call, given the overloads that can still apply after the check."""
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

    If `guarded` is not set, the function itself checks the types of its arguments.
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
    """Return an overload of a member function. Its first argument is the target."""
    return plain(identifier, args, result, function, price, member=True, **flags)


class Library(Struct, frozen=True, kw_only=True):
    """A group of functions, macros and type names that were introduced together.

    New expressions can use a library from Kubernetes version `since` on. If the library has a gate, the gate decides
    instead. Stored expressions can use every library that the release knows (`known_since`).
    """

    name: str
    since: tuple[int, int]
    gate: str | None = None
    known_since: tuple[int, int] = (1, 0)
    functions: Mapping[str, tuple[Overload, ...]] = {}
    macros: Mapping[MacroKey, Expander] = {}
    types: Mapping[str, Type] = {}
