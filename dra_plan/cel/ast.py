"""The syntax tree of an expression after macro expansion, with the names that cel-go uses.

In order: the nodes; creating nodes; recursion over deeply nested expressions; and visiting the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct

from dra_plan.interpreter import more_frames

ConstKind: TypeAlias = Literal["null", "bool", "int", "uint", "double", "string", "bytes"]

ACCUMULATOR = "@result"
"""The accumulator variable in the comprehensions that macros create. `cel.bind` uses its own variable instead."""


class Const(Struct, frozen=True, eq=False):
    """A literal. The value of an int or uint is a Python int, and `kind` distinguishes the two."""

    id: int
    offset: int
    value: bool | int | float | str | bytes | None
    kind: ConstKind


class Ident(Struct, frozen=True, eq=False):
    """The name of a variable or type. After the check, it may be qualified, such as google.protobuf.Timestamp."""

    id: int
    offset: int
    name: str


class Select(Struct, frozen=True, eq=False):
    """A selection `operand.field` or, if `test_only` is true, the test `has(operand.field)`.

    The offset is that of the dot or of the parenthesis in `has(`.
    """

    id: int
    offset: int
    operand: Expr
    field: str
    test_only: bool = False


class Call(Struct, frozen=True, eq=False):
    """A call of a function, a member function (with `target`) or an operator.

    Operators have cel-go's names: `_&&_ _||_ !_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ -_ _[_] @in`,
    `_?._` (operand, string Const) and `_[?_]` for optional selection, and `@not_strictly_false` in comprehensions.
    After the check, a namespaced function has its full name and no target (`sets.contains`, `optional.of`).
    """

    id: int
    offset: int
    target: Expr | None
    function: str
    args: tuple[Expr, ...]


class List(Struct, frozen=True, eq=False):
    """A list literal such as `[a, ?b]`. `optional_indices` are the positions of elements with `?`."""

    id: int
    offset: int
    elements: tuple[Expr, ...]
    optional_indices: tuple[int, ...] = ()


class MapEntry(Struct, frozen=True, eq=False):
    """An entry `key: value` or `?key: value` of a map literal."""

    id: int
    offset: int
    key: Expr
    value: Expr
    optional: bool = False


class Map(Struct, frozen=True, eq=False):
    """A map literal such as `{key: value, ?key: value}`."""

    id: int
    offset: int
    entries: tuple[MapEntry, ...]


class MessageField(Struct, frozen=True, eq=False):
    """A field `field: value` or `?field: value` of a message literal."""

    id: int
    offset: int
    field: str
    value: Expr
    optional: bool = False


class Message(Struct, frozen=True, eq=False):
    """A message literal such as `name{field: value}`.

    The check accepts only the well-known types of protobuf.
    """

    id: int
    offset: int
    name: str
    fields: tuple[MessageField, ...]


class Comprehension(Struct, frozen=True, eq=False):
    """A comprehension, as cel-go's macros create it.

    With one variable, `iter_var2` is empty, and the variable is an element of a list or a key of a map. With two, the
    variables are index and element, or key and value. `cel.bind(v, init, result)` is a comprehension over an empty
    list, with `iter_var` "#unused", `accu_var` v, condition false and step v.
    """

    id: int
    offset: int
    iter_range: Expr
    iter_var: str
    iter_var2: str
    accu_var: str
    accu_init: Expr
    loop_condition: Expr
    loop_step: Expr
    result: Expr


Expr: TypeAlias = Const | Ident | Select | Call | List | Map | Message | Comprehension


# -- making nodes ------------------------------------------------------------------------------------------------------

MOST_NODES = 50_000
"""The maximum number of nodes after macro expansion. Upstream has no limit, but each optMap doubles its target."""


class TooManyNodesError(Exception):
    """Raised if macro expansion creates more than MOST_NODES nodes."""


class NodeFactory:
    """Provides node IDs, which start at 1 and are unique in an expression."""

    def __init__(self) -> None:
        self._last = 0

    def id(self) -> int:
        """Return the next unused ID."""
        self._last += 1
        if self._last > MOST_NODES:
            raise TooManyNodesError
        return self._last

    def copy(self, expr: Expr) -> Expr:
        """Return a copy of the expression, with new IDs."""
        new, at = self.id(), expr.offset
        match expr:
            case Const():
                return Const(new, at, expr.value, expr.kind)
            case Ident():
                return Ident(new, at, expr.name)
            case Select():
                return Select(new, at, self.copy(expr.operand), expr.field, expr.test_only)
            case Call():
                target = None if expr.target is None else self.copy(expr.target)
                return Call(new, at, target, expr.function, tuple(map(self.copy, expr.args)))
            case List():
                return List(new, at, tuple(map(self.copy, expr.elements)), expr.optional_indices)
            case Map():
                return Map(new, at, tuple(map(self._entry, expr.entries)))
            case Message():
                return Message(new, at, expr.name, tuple(map(self._field, expr.fields)))
            case Comprehension():
                return self._comprehension(new, expr)

    def _entry(self, entry: MapEntry) -> MapEntry:
        return MapEntry(self.id(), entry.offset, self.copy(entry.key), self.copy(entry.value), entry.optional)

    def _field(self, field: MessageField) -> MessageField:
        return MessageField(self.id(), field.offset, field.field, self.copy(field.value), field.optional)

    def _comprehension(self, new: int, fold: Comprehension) -> Comprehension:
        return Comprehension(
            new,
            fold.offset,
            iter_range=self.copy(fold.iter_range),
            iter_var=fold.iter_var,
            iter_var2=fold.iter_var2,
            accu_var=fold.accu_var,
            accu_init=self.copy(fold.accu_init),
            loop_condition=self.copy(fold.loop_condition),
            loop_step=self.copy(fold.loop_step),
            result=self.copy(fold.result),
        )


class MacroBuilder:
    """Creates the nodes of a macro expansion, at the position of the macro."""

    def __init__(self, factory: NodeFactory, offset: int) -> None:
        self._factory = factory
        self._offset = offset

    def copy(self, expr: Expr) -> Expr:
        """Return a copy of the expression, with new IDs."""
        return self._factory.copy(expr)

    def const(self, value: bool | int, kind: ConstKind) -> Const:
        """Return a literal with this value."""
        return Const(self._factory.id(), self._offset, value, kind)

    def ident(self, name: str) -> Ident:
        """Return an identifier with this name."""
        return Ident(self._factory.id(), self._offset, name)

    def accumulator(self) -> Ident:
        """Return a reference to the accumulator variable."""
        return self.ident(ACCUMULATOR)

    def call(self, function: str, *args: Expr, target: Expr | None = None) -> Call:
        """Return a function call or, with a target, a call of a member function."""
        return Call(self._factory.id(), self._offset, target, function, args)

    def list(self, *elements: Expr) -> List:
        """Return a list literal with these elements."""
        return List(self._factory.id(), self._offset, elements)

    def map(self) -> Map:
        """Return an empty map literal."""
        return Map(self._factory.id(), self._offset, ())

    def has(self, operand: Expr, field: str) -> Select:
        """Return the test `has(operand.field)`."""
        return Select(self._factory.id(), self._offset, operand, field, test_only=True)

    def fold(  # every part of a fold is needed, and callers name all of them
        self, over: Expr, variables: tuple[str, str], *, init: Expr, condition: Expr, step: Expr, result: Expr
    ) -> Comprehension:
        """Return a comprehension that uses the accumulator variable."""
        return Comprehension(
            self._factory.id(), self._offset, over, *variables, ACCUMULATOR, init, condition, step, result
        )

    def bind(self, name: str, value: Expr, result: Expr) -> Comprehension:
        """Return a comprehension that declares the local variable `name`, as `cel.bind` does."""
        nothing, never, step = self.list(), self.const(value=False, kind="bool"), self.ident(name)
        return Comprehension(self._factory.id(), self._offset, nothing, "#unused", "", name, value, never, step, result)


# -- deep nesting ------------------------------------------------------------------------------------------------------

_T = TypeVar("_T")
_FRAMES = 40_000
"""The number of frames that is enough for cel-go's 250 levels, with a dozen frames each, and the levels that macros
add."""


def with_room(function: Callable[[], _T]) -> _T:
    """Return the result of the function, with a higher recursion limit if it needs one.

    The function may run twice, so it must not have side effects.
    """
    try:
        return function()
    except RecursionError:
        pass
    with more_frames(_FRAMES):
        return function()


# -- visiting nodes ----------------------------------------------------------------------------------------------------


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct subexpressions of an expression, in cel-go's order."""
    match expr:
        case Select():
            return (expr.operand,)
        case Call():
            return expr.args if expr.target is None else (expr.target, *expr.args)
        case List():
            return expr.elements
        case Map():
            return tuple(part for entry in expr.entries for part in (entry.key, entry.value))
        case Message():
            return tuple(field.value for field in expr.fields)
        case Comprehension():
            return (expr.iter_range, expr.accu_init, expr.loop_condition, expr.loop_step, expr.result)
    return ()


def nodes(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all its subexpressions. An expression comes before its subexpressions."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))
