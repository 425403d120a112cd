"""An expression that passed the check: its tree with what the check found out about each node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from .ast import Expr
from .library import Overload
from .types import Type


class Checked(Struct, frozen=True, eq=False):
    """An expression that passed the check.

    `root` has namespaced functions and qualified names resolved (see Call and Ident). `types` gives each node's type by
    id, free type parameters replaced by dyn. `overloads` gives, per Call id, the overloads that can apply, in
    declaration order: one where the types decide, several where dyn leaves it open. `idents` names, per Ident id, what
    the identifier means: a variable or a type name (then its type is type(...)); without a leading dot. `constants`
    and `results` are what `folding` finds out: the values of what cel-go takes for constants, and the results of calls
    that are made once but charged every time.
    """

    source: str
    root: Expr
    types: Mapping[int, Type]
    overloads: Mapping[int, tuple[Overload, ...]]
    idents: Mapping[int, str]
    constants: Mapping[int, Any] = {}
    results: Mapping[int, Any] = {}

    @property
    def result_type(self) -> Type:
        """The type of the whole expression."""
        return self.types[self.root.id]
