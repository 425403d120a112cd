"""Constant folding, once for all: what is known of an expression before any device is looked at.

As cel-go plans: literals, lists and maps of constants and type names are constants, conversions are applied to them,
and constant patterns are compiled; the last two may fail, which refuses the expression. Of functions that read a text
(quantities, versions, addresses) the results are made in advance too, but charged every time.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from dra_plan.cel.library.overload import matching
from dra_plan.cel.library.patterns import compile_regex

from .ast import Call, Comprehension, Const, Expr, Ident, List, Map
from .checked import Checked
from .library import Overload
from .values import EvaluationError, Fatal, TypeValue, Uint, Value, map_key, no_such_overload
from .walk import children


def folded(checked: Checked) -> Checked:
    """Return the expression with its constants and results; raises EvaluationError where planning ends in one."""
    folding = _Folding(checked)
    folding.fold(checked.root, frozenset())
    return structs.replace(checked, constants=folding.constants, results=folding.results)


def applied(overloads: Sequence[Overload], *values: Value) -> Value:
    """Return what a call gives for these values; raises EvaluationError."""
    function = matching(overloads, values)
    if function is None:
        raise no_such_overload()
    return function(*values)


def literal_value(constant: Const) -> Value:
    """Return the value of a literal."""
    value = constant.value
    return Uint(value) if constant.kind == "uint" and isinstance(value, int) else value


class _Folding:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self.constants: dict[int, Any] = {}
        self.results: dict[int, Any] = {}

    def fold(self, expr: Expr, variables: frozenset[str]) -> None:
        """Note what is known of an expression and its parts, inside of the variables of comprehensions."""
        if isinstance(expr, Comprehension):
            self._fold_comprehension(expr, variables)
            return
        parts = children(expr)
        for part in parts:
            self.fold(part, variables)
        match expr:
            case Const():
                self.constants[expr.id] = literal_value(expr)
            case Ident() if expr.name not in variables and self._checked.types[expr.id].kind == "type":
                self.constants[expr.id] = TypeValue(self._checked.idents.get(expr.id, expr.name))
            case Call():
                self._fold_call(expr, parts)
            case List() if not expr.optional_indices and self._known(parts):
                self.constants[expr.id] = [self.constants[part.id] for part in parts]
            case Map() if self._known(parts) and not any(entry.optional for entry in expr.entries):
                self._fold_map(expr)

    def _known(self, parts: Sequence[Expr]) -> bool:
        return all(part.id in self.constants for part in parts)

    def _fold_comprehension(self, expr: Comprehension, variables: frozenset[str]) -> None:
        self.fold(expr.iter_range, variables)
        self.fold(expr.accu_init, variables)
        outer = variables | {expr.accu_var}
        inner = outer | {expr.iter_var, expr.iter_var2}
        self.fold(expr.loop_condition, inner)
        self.fold(expr.loop_step, inner)
        self.fold(expr.result, outer)

    def _fold_map(self, expr: Map) -> None:
        try:
            self.constants[expr.id] = {
                map_key(self.constants[entry.key.id]): self.constants[entry.value.id] for entry in expr.entries
            }
        except Fatal:
            return  # a key that upstream crashes on, when the map is made

    def _fold_call(self, call: Call, operands: Sequence[Expr]) -> None:
        overloads = self._checked.overloads[call.id]
        kind = overloads[0]
        if kind.pattern and isinstance(pattern := self.constants.get(operands[1].id), str):
            compile_regex(pattern)
        if not (kind.planned or kind.once) or not self._known(operands):
            return
        values = [self.constants[operand.id] for operand in operands]
        if kind.planned:
            self.constants[call.id] = applied(overloads, *values)
            return
        try:
            self.results[call.id] = applied(overloads, *values)
        except EvaluationError:
            return  # an error must be a new one every time
