"""Expressions after macro expansion, with the names cel-go uses; parsing, checking and running live elsewhere."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

ConstKind: TypeAlias = Literal["null", "bool", "int", "uint", "double", "string", "bytes"]

ACCUMULATOR = "@result"
"""The accumulator variable of every comprehension that comes from a macro (cel.bind uses the variable's own name)."""


class Const(Struct, frozen=True, eq=False):
    """A literal; uint and int both hold a Python int, `kind` tells them apart."""

    id: int
    offset: int
    value: bool | int | float | str | bytes | None
    kind: ConstKind


class Ident(Struct, frozen=True, eq=False):
    """A variable or type name; after the check a resolved qualified name such as google.protobuf.Timestamp too."""

    id: int
    offset: int
    name: str


class Select(Struct, frozen=True, eq=False):
    """`operand.field`, or `has(operand.field)` when `test_only`. The offset is the dot's (has: the parenthesis')."""

    id: int
    offset: int
    operand: Expr
    field: str
    test_only: bool = False


class Call(Struct, frozen=True, eq=False):
    """A function, member function (with `target`) or operator.

    Operators have cel-go's names: `_&&_ _||_ !_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ -_ _[_] @in`,
    `_?._` (operand, string Const) and `_[?_]` for optional selection, `@not_strictly_false` in comprehensions.
    After the check, namespaced functions have no target and their whole name (`sets.contains`, `optional.of`).
    """

    id: int
    offset: int
    target: Expr | None
    function: str
    args: tuple[Expr, ...]


class List(Struct, frozen=True, eq=False):
    """`[a, ?b]`; `optional_indices` are the positions of elements written with `?`."""

    id: int
    offset: int
    elements: tuple[Expr, ...]
    optional_indices: tuple[int, ...] = ()


class MapEntry(Struct, frozen=True, eq=False):
    """One `key: value` (or `?key: value`) of a map literal."""

    id: int
    offset: int
    key: Expr
    value: Expr
    optional: bool = False


class Map(Struct, frozen=True, eq=False):
    """`{key: value, ?key: value}`, in the order written."""

    id: int
    offset: int
    entries: tuple[MapEntry, ...]


class MessageField(Struct, frozen=True, eq=False):
    """One `field: value` (or `?field: value`) of a message literal."""

    id: int
    offset: int
    field: str
    value: Expr
    optional: bool = False


class Message(Struct, frozen=True, eq=False):
    """`name{field: value}`; only protobuf's well-known types pass the check, `name` is resolved there."""

    id: int
    offset: int
    name: str
    fields: tuple[MessageField, ...]


class Comprehension(Struct, frozen=True, eq=False):
    """A fold, as cel-go's macros make it. `iter_var2` is empty except in two-variable comprehensions.

    With one variable over a map the variable is the key; with two variables they are index and value over a list, key
    and value over a map. `cel.bind(v, init, result)` is a fold over an empty list with `iter_var` "#unused",
    `accu_var` v, condition false and step v.
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
