"""Quantities and versions compared by signs, which they don't have, written with `compareTo`. Nothing is evaluated.

Selectors compare amounts with `<` and `>=` as often as people write them for the first time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dra_plan.api.semver import SemverError
from dra_plan.api.semver import parse as parse_version

from . import ast
from .ast import Expr
from .environment import Environment
from .infer import infer
from .lexer import END, Token, tokenize
from .parse import parse
from .parts import parsed
from .rewrite import with_clause
from .types import QUANTITY, SEMVER, Type
from .unify import is_dyn
from .unparse import expression_text
from .walk import nodes

_SIGNS = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_JOINING = frozenset({"_&&_", "_||_", "!_", "_?_:_"})
_MADE = frozenset({"quantity", "semver"})
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_LOOSER = ("&&", "||", "?", ":", ",", "<", "<=", ">", ">=", "==", "!=", "in")
"""What ends an operand of a comparison."""


def with_compare_to(text: str, *, versions: bool = False) -> str | None:
    """The expression with `compareTo` where amounts are compared by signs; None if there is no such place.

    With `versions`, a text that is a version, compared by a sign with something of the device, is taken for one.
    """
    whole = text
    for place in parsed(text).clauses():
        clause = place.of(text)
        root = parsed(clause).root
        changed = root and _changed(root, versions=versions)
        if changed is not None and changed is not root:
            whole = with_clause(whole, clause, expression_text(changed))
    return None if whole == text else whole


def _changed(expr: Expr, *, versions: bool) -> Expr:
    if not isinstance(expr, ast.Call) or expr.target is not None:
        return expr
    if expr.function in _JOINING:
        args = tuple(_changed(arg, versions=versions) for arg in expr.args)
        same = all(new is old for new, old in zip(args, expr.args, strict=True))
        return expr if same else ast.Call(expr.id, expr.offset, None, expr.function, args)
    if expr.function not in _SIGNS:
        return expr
    left, right = expr.args
    first, second = _amount(left, right, versions), _amount(right, left, versions)
    if not (_is_amount(first) or _is_amount(second)) or isinstance(first, ast.Const) or isinstance(second, ast.Const):
        return expr
    compared = ast.Call(expr.id, expr.offset, first, "compareTo", (second,))
    return ast.Call(expr.id, expr.offset, None, expr.function, (compared, ast.Const(expr.id, expr.offset, 0, "int")))


def _is_amount(expr: Expr) -> bool:
    """Whether the expression is a quantity or a version for certain."""
    made = isinstance(expr, ast.Call) and expr.target is None and expr.function in _MADE
    return made or _is_capacity(expr)


def _is_capacity(expr: Expr) -> bool:
    """Whether it is `device.capacity[DOMAIN].NAME`, however it is written."""
    steps = 0
    while True:
        if isinstance(expr, ast.Select):
            inner, name = expr.operand, expr.field
        elif isinstance(expr, ast.Call) and expr.function == "_[_]":
            inner, name = expr.args[0], ""
        else:
            return False
        if name == "capacity" and isinstance(inner, ast.Ident) and inner.name == "device":
            return steps == 2
        expr, steps = inner, steps + 1


def _amount(expr: Expr, other: Expr, versions: bool) -> Expr:
    """A constant as what it is compared with; everything else as it is."""
    if not isinstance(expr, ast.Const):
        return expr
    if _is_capacity(other) and expr.kind in ("int", "double", "string") and isinstance(expr.value, int | float | str):
        text = ast.Const(expr.id, expr.offset, expr.value if isinstance(expr.value, str) else str(expr.value), "string")
        return ast.Call(expr.id, expr.offset, None, "quantity", (text,))
    if versions and isinstance(expr.value, str) and _is_version(expr.value):
        return ast.Call(expr.id, expr.offset, None, "semver", (expr,))
    return expr


def _is_version(text: str) -> bool:
    try:
        parse_version(text)
    except SemverError:
        return False
    return True


# -- in place, where types are certain ---------------------------------------------------------------------------------


class Insertion(NamedTuple):
    """A text that takes the place of characters of an expression."""

    begin: int
    end: int
    text: str


def compare_to_edits(expression: str, scope: Environment) -> Iterator[Insertion]:
    """The edits that make `a.compareTo(b) >= 0` of `a >= b` where two quantities, or two versions, are compared.

    Types are those that the expression has for certain in `scope`; nothing else of the text moves.
    """
    root, _ = parse(expression, scope.macros)
    if root is None:
        return
    inferred = infer(root, scope)
    tokens = [token for token in tokenize(expression)[0] if token.kind != END]
    at = {token.offset: index for index, token in enumerate(tokens)}
    for node in nodes(inferred.root):
        if isinstance(node, ast.Call) and node.function in _SIGNS and node.offset in at:
            left, right = (inferred.types.get(argument.id) for argument in node.args)
            if left is not None and right is not None and _are_compared(left, right):
                yield from _rewritten(expression, tokens, at[node.offset], _SIGNS[node.function])


def _are_compared(left: Type, right: Type) -> bool:
    """Quantities are compared with quantities only; an attribute, whose type is open, may be a version."""
    if left == right:
        return left in (QUANTITY, SEMVER)
    return SEMVER in (left, right) and (is_dyn(left) or is_dyn(right))


def _rewritten(expression: str, tokens: Sequence[Token], sign: int, text: str) -> Iterator[Insertion]:
    first, last = _start(tokens, sign), _stop(tokens, sign)
    if tokens[sign].text != text or first >= sign or last <= sign:
        return
    left_end = _end(tokens[sign - 1])
    right_begin, right_end = tokens[sign + 1].offset, _end(tokens[last])
    if expression[left_end:right_begin].strip() != text:
        return  # a comment stands between
    yield Insertion(left_end, right_begin, ".compareTo(")
    yield Insertion(right_end, right_end, f") {text} 0")


def _start(tokens: Sequence[Token], sign: int) -> int:
    """The first token of the operand before the sign."""
    depth, at = 0, sign
    while at > 0:
        text = tokens[at - 1].text
        if text in _CLOSING:
            depth += 1
        elif text in _OPENING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and text in _LOOSER:
            break
        at -= 1
    return at


def _stop(tokens: Sequence[Token], sign: int) -> int:
    """The last token of the operand behind the sign."""
    depth, at = 0, sign
    while at + 1 < len(tokens):
        text = tokens[at + 1].text
        if text in _OPENING:
            depth += 1
        elif text in _CLOSING:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and text in _LOOSER:
            break
        at += 1
    return at


def _end(token: Token) -> int:
    return token.offset + len(token.text)
