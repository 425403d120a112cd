"""The fix of quantities and versions compared by signs: `a >= b` becomes `a.compareTo(b) >= 0`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.cel import compile_selector
from dra_plan.cel.ast import Call
from dra_plan.cel.environment import Environment, environment
from dra_plan.cel.errors import CelCompileError
from dra_plan.cel.infer import infer
from dra_plan.cel.lexer import END, Token, tokenize
from dra_plan.cel.parse import parse
from dra_plan.cel.types import QUANTITY, SEMVER, Type
from dra_plan.cel.unify import is_dyn
from dra_plan.cel.walk import nodes
from dra_plan.manifests.paths import value_at
from dra_plan.manifests.scalar_positions import positions

from .edits import CharEdit, applied
from .fix import Correction, Mending

_SIGNS = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_LOOSER = ("&&", "||", "?", ":", ",", "<", "<=", ">", ">=", "==", "!=", "in")
"""What ends an operand of a comparison."""


def compared(question: Mending) -> Correction | None:
    """The expression with `compareTo` where two quantities, or two versions, are compared by signs."""
    expression = value_at(question.subject.value, question.path)
    extent = question.text.extent(question.path)
    if extent is None or not isinstance(expression, str) or not ("<" in expression or ">" in expression):
        return None
    places = positions(question.text.text, extent, expression)
    scope = environment(question.newest, question.gates, "new")
    edits = list(_edits(expression, scope))
    made = applied(expression, edits)
    if places is None or not edits or not _compiles(made, question):
        return None
    moved = [CharEdit(places[edit.begin], places[edit.end], edit.text) for edit in edits]
    return Correction(moved, question.path, made)


def _compiles(expression: str, question: Mending) -> bool:
    try:
        compile_selector(expression, kubernetes_version=question.newest, feature_gates=question.gates, rules="new")
    except CelCompileError:
        return False
    return True


def _edits(expression: str, scope: Environment) -> Iterator[CharEdit]:
    root, _ = parse(expression, scope.macros)
    if root is None:
        return
    inferred = infer(root, scope)
    tokens = [token for token in tokenize(expression)[0] if token.kind != END]
    at = {token.offset: index for index, token in enumerate(tokens)}
    for node in nodes(inferred.root):
        if isinstance(node, Call) and node.function in _SIGNS and node.offset in at:
            left, right = (inferred.types.get(argument.id) for argument in node.args)
            if left is not None and right is not None and _are_compared(left, right):
                yield from _rewritten(expression, tokens, at[node.offset], _SIGNS[node.function])


def _are_compared(left: Type, right: Type) -> bool:
    """Quantities are compared with quantities only; an attribute, whose type is open, may be a version."""
    if left == right:
        return left in (QUANTITY, SEMVER)
    return SEMVER in (left, right) and (is_dyn(left) or is_dyn(right))


def _rewritten(expression: str, tokens: Sequence[Token], sign: int, text: str) -> Iterator[CharEdit]:
    first, last = _start(tokens, sign), _stop(tokens, sign)
    if tokens[sign].text != text or first >= sign or last <= sign:
        return
    left_end = _end(tokens[sign - 1])
    right_begin, right_end = tokens[sign + 1].offset, _end(tokens[last])
    if expression[left_end:right_begin].strip() != text:
        return  # a comment stands between
    yield CharEdit(left_end, right_begin, ".compareTo(")
    yield CharEdit(right_end, right_end, f") {text} 0")


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
