"""What a template consists of. Values only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """`.name` or `['name']`."""

    name: str


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*` or `[*]`: all items of a list, all values of a map."""


@dataclass(frozen=True, slots=True)
class Descent:
    """`..`: the value and everything below it."""


@dataclass(frozen=True, slots=True)
class Position:
    """`[n]`; negative counts from the end."""

    number: int


@dataclass(frozen=True, slots=True)
class Slice:
    """`[start:end:step]`, with a positive step."""

    start: int | None
    end: int | None
    step: int


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`[0,2]` or `['a','b']`: the results of each, in turn."""

    parts: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """`[?(left op right)]`, or `[?(left)]` with no operator: the items for which it holds."""

    left: Operand
    operator: str
    right: Operand | None


@dataclass(frozen=True, slots=True)
class Query:
    """Steps from the document (`$`) or from the current item."""

    from_root: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, number or truth value in a filter."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Text:
    """Text to print as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """`{range PATH}BODY{end}`."""

    path: Query
    body: tuple[Node, ...]


Step = Field | Wildcard | Descent | Position | Slice | Alternatives | Filter
Operand = Query | Constant
Node = Text | Query | Range
