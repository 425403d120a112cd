"""A planned expression: the step that evaluates it, and what its neighbours may know of it; and what plans more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from .ast import Expr
from .qualify import Attribute, Evaluate
from .values import Value


class Planned(msgspec.Struct, frozen=True, eq=False):
    """A planned expression. `attribute` is set when it is one, `constant` holds the value when `is_constant`."""

    evaluate: Evaluate
    attribute: Attribute | None = None
    is_constant: bool = False
    constant: Value = None


ValueObserver = Callable[[int, Value], None]


class StepPlanner(Protocol):
    """Plans the parts of an expression. `observer` is told the value of every step, by node id."""

    observer: ValueObserver | None

    def new_slot(self) -> int:
        """The place of one more variable."""

    def plan(self, expr: Expr, scope: Mapping[str, Evaluate]) -> Planned:
        """The expression as a step; `scope` gives the variables of the comprehensions around it."""
