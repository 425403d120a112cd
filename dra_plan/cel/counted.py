"""The quick evaluator that counts: an expression as one Python function that returns its value and its cost.

As `generate`, which gives the text of every operation; here each value is put into a variable, so that what an
operation costs can be added beside it, and the parts of `&&`, `||` and `?:` that are not evaluated cost nothing. Only
what selectors are mostly made of is taken: fields, comparisons, logic, membership, calls, `has` and cel.bind. It gives
up on any error, as what errors cost is for `interpret` to tell; the rules of costs are the same as there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dra_plan.cel import ast
from dra_plan.cel.ast import Checked, Expr
from dra_plan.cel.cost import call_cost, equality, inequality, one
from dra_plan.cel.generate import (
    LOGIC,
    OPTIONAL_FUNCTIONS,
    NotGenerated,
    QuickFunction,
    Scope,
    Writer,
    compiled,
    constant_value,
)
from dra_plan.cel.library.conversions import CONVERSIONS
from dra_plan.cel.reads import DevicePath, bound_place, is_bind
from dra_plan.cel.values import Fatal
from dra_plan.cel.walk import children

_MOST_INDENTS = 80
"""Python's own parser ends at 100."""
_OF_ONE = frozenset(("bool", "int", "uint", "double"))
"""Kinds whose values have size 1."""


def generate_counted(checked: Checked) -> QuickFunction | None:
    """The function for an expression, which returns value and cost; None when only `interpret` takes the expression.

    It does not look at the cost limit: only for expressions that `bounds` vouches for.
    """
    writer = _CountingWriter(checked)
    try:
        result = writer.expression(checked.root, {}, 0)
    except (NotGenerated, Fatal, RecursionError):
        return None
    return compiled(writer.finished(result), writer.constants)


class _Bound(DevicePath, frozen=True):
    """A domain that a cel.bind gives a name to. Looking it up is charged once, on its first use, from `debt`."""

    debt: str = ""


class _CountingWriter(Writer):
    """Writes statements; the texts that its methods return are names of variables and constants."""

    def __init__(self, checked: Checked) -> None:
        super().__init__(checked)
        self._lines: list[str] = [" cost = 0"]
        self._indents = 1
        self._due = 0
        """What the statements written since the last branch cost, whatever their values are."""

    def finished(self, result: str) -> str:
        """The whole body, with the variable that has the result."""
        self._settle()
        self._write(f"return {result}, cost")
        return "\n".join(self._lines)

    def expression(self, expr: Expr, scope: Scope, depth: int) -> str:
        """The name of what holds the value, after statements that compute and charge it."""
        return self._part(expr, scope, depth, observed=True)

    def _part(self, expr: Expr, scope: Scope, depth: int, *, observed: bool) -> str:
        """As `expression`. A place that a `?:` chooses is resolved, not observed, which costs one less."""
        self.enter(depth)
        place = self._place(expr, scope)
        if place is not None:
            self._charge_place(expr, scope, observed=observed)
            return self._assigned(place)
        match expr:
            case ast.Const():
                return self._const(expr)
            case ast.Call():
                return self._call(expr, scope, depth + 1)
            case ast.Comprehension() if is_bind(expr):
                return self._bind(expr, scope, depth + 1)
        raise NotGenerated

    def _charge_place(self, expr: Expr, scope: Scope, *, observed: bool) -> None:
        if isinstance(expr, ast.Select) and expr.test_only:
            self._due += self._qualifiers(expr.operand, scope) + 1
        elif isinstance(expr, ast.Call) and expr.function == "@in":
            self._due += self._qualifiers(expr.args[1], scope) + 2  # the map is observed, and looked into
        else:
            self._due += self._qualifiers(expr, scope) + observed

    def _qualifiers(self, place: Expr, scope: Scope) -> int:
        """How many keys lead to a place; what it begins with is charged."""
        count = 0
        while not isinstance(place, ast.Ident):
            place = children(place)[0]
            count += 1
        root = scope.get(place.name)
        if isinstance(root, _Bound):
            self._write(f"cost += {root.debt}")
            self._write(f"{root.debt} = 0")
        return count

    def _bind(self, expr: ast.Comprehension, scope: Scope, depth: int) -> str:
        places = {name: value if isinstance(value, DevicePath) else None for name, value in scope.items()}
        place = bound_place(expr, self.checked, places)
        if place is None or _begins_with_variable(expr.accu_init, scope):
            raise NotGenerated
        debt = self._assigned(str(self._qualifiers(expr.accu_init, scope) + 1))
        bound = _Bound(place.kind, place.domain, place.identifier, debt)
        return self.expression(expr.result, {**scope, expr.accu_var: bound}, depth)

    def _call(self, expr: ast.Call, scope: Scope, depth: int) -> str:
        function, operands = expr.function, children(expr)
        if function in LOGIC:
            result = self.variable()
            self._logic(operands, result, scope, depth, follows="" if function == "_&&_" else "not ")
            return result
        if function == "_?_:_":
            return self._choice(operands, scope, depth)
        if function in OPTIONAL_FUNCTIONS or function == "_[_]" or _is_converted_twice(expr, operands):
            raise NotGenerated
        if function == "@in" and isinstance(operands[1], ast.List):
            return self._in_list(expr, operands[0], operands[1], scope, depth)
        if function in ("_==_", "_!=_"):
            texts = [self.expression(part, scope, depth) for part in operands]
            self._charge_equality(operands, texts, negated=function == "_!=_")
            return self._assigned(self._equality(operands, texts, negated=function == "_!=_"))
        folded = self._folded(expr, operands)
        if folded is not None:
            self._charge_folded(expr, operands, folded)
            return folded
        return self._charged_call(expr, operands, scope, depth)

    def _logic(self, parts: tuple[Expr, ...], result: str, scope: Scope, depth: int, *, follows: str) -> None:
        """Each part is evaluated only when the one before did not decide."""
        self._write(f"{result} = {self.truth(parts[0], scope, depth)}")
        if len(parts) > 1:
            with self._branch(f"if {follows}{result}:"):
                self._logic(parts[1:], result, scope, depth, follows=follows)

    def _choice(self, operands: tuple[Expr, ...], scope: Scope, depth: int) -> str:
        condition = self.truth(operands[0], scope, depth)
        result = self.variable()
        for head, part in zip((f"if {condition}:", "else:"), operands[1:], strict=True):
            with self._branch(head):
                self._write(f"{result} = {self._part(part, scope, depth, observed=False)}")
        return result

    def _in_list(self, expr: ast.Call, item: Expr, values: ast.List, scope: Scope, depth: int) -> str:
        """`item in [constants]`, a look into a set, which costs nothing."""
        text = self._membership(item, values, scope, depth)
        if text is None or self.checked.overloads.get(expr.id) != ("in_list",):
            raise NotGenerated
        return self._assigned(text)

    def _charge_equality(self, operands: tuple[Expr, ...], texts: list[str], *, negated: bool) -> None:
        if all(self.kind(operand) in _OF_ONE for operand in operands):
            self._due += 1
            return
        charge = self.constant(inequality if negated else equality)
        self._write(f"cost += {charge}({', '.join(texts)})")

    def _charge_folded(self, expr: ast.Call, operands: tuple[Expr, ...], name: str) -> None:
        """A function of constants is charged every time, but conversions are applied before any evaluation."""
        if expr.function not in CONVERSIONS and name in self.constants:
            values = [constant_value(part) for part in operands if isinstance(part, ast.Const)]
            self._due += call_cost(expr.function, self._only(expr))(values, self.constants[name])

    def _charged_call(self, expr: ast.Call, operands: tuple[Expr, ...], scope: Scope, depth: int) -> str:
        texts = [self.expression(part, scope, depth) for part in operands]
        result = self._assigned(
            f"not {self.truth_of(operands[0], texts[0])}"
            if expr.function == "!_"
            else self._operator(expr, operands, texts)
        )
        cost = call_cost(expr.function, self._only(expr))
        if cost is one:
            self._due += 1
        else:
            self._write(f"cost += {self.constant(cost)}([{', '.join(texts)}], {result})")
        return result

    def _only(self, expr: ast.Call) -> str:
        """The overload, empty where the check left several."""
        candidates = self.checked.overloads.get(expr.id, ())
        return candidates[0] if len(candidates) == 1 else ""

    def _assigned(self, text: str) -> str:
        name = self.variable()
        self._write(f"{name} = {text}")
        return name

    def _write(self, statement: str) -> None:
        self._lines.append(" " * self._indents + statement)

    def _settle(self) -> None:
        if self._due:
            self._write(f"cost += {self._due}")
            self._due = 0

    @contextlib.contextmanager
    def _branch(self, head: str) -> Iterator[None]:
        """What is written and charged inside belongs to the branch; its own charges are settled at its end."""
        if self._indents > _MOST_INDENTS:
            raise NotGenerated
        outer, self._due = self._due, 0
        self._write(head)
        self._indents += 1
        yield
        self._settle()
        self._indents -= 1
        self._due = outer


def _begins_with_variable(place: Expr, scope: Scope) -> bool:
    while not isinstance(place, ast.Ident):
        place = children(place)[0]
    return place.name in scope


def _is_converted_twice(expr: ast.Call, operands: tuple[Expr, ...]) -> bool:
    """Whether it converts what may be a conversion of a constant, and so a constant that was converted in advance."""
    inner = operands[0] if operands else None
    return expr.function in CONVERSIONS and isinstance(inner, ast.Call) and inner.function in CONVERSIONS
