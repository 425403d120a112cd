"""Expressions back to text: for showing a part of an expression, with the macros that a reader wrote."""

from __future__ import annotations

import re

from dra_plan.cel.library.conversions import double_to_string

from . import ast
from .ast import Expr
from .reads import is_bind

_BINARY = {
    "_||_": ("||", 2), "_&&_": ("&&", 3), "_==_": ("==", 4), "_!=_": ("!=", 4), "_<_": ("<", 4), "_<=_": ("<=", 4),
    "_>_": (">", 4), "_>=_": (">=", 4), "@in": ("in", 4), "_+_": ("+", 5), "_-_": ("-", 5), "_*_": ("*", 6),
    "_/_": ("/", 6), "_%_": ("%", 6),
}  # fmt: skip
_UNARY = {"!_": "!", "-_": "-"}
_TERNARY, _PREFIX, _MEMBER = 1, 7, 8
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def expression_text(expr: Expr) -> str:
    """The expression in the language's syntax, with the fewest parentheses."""
    return _text(expr, 0)


def constant_text(value: bool | int | str) -> str:
    """A constant as the language writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(character, character) for character in value) + '"'
    return str(value)


def is_identifier(text: str) -> bool:
    """Whether the text can stand for a name without quotes."""
    return _IDENTIFIER.fullmatch(text) is not None


def _text(expr: Expr, outer: int) -> str:
    """The text, in parentheses when it binds less tightly than what is around it."""
    text, binding = _written(expr)
    return f"({text})" if binding < outer else text


def _written(expr: Expr) -> tuple[str, int]:
    match expr:
        case ast.Const():
            text = _constant(expr)
            return text, _PREFIX if text.startswith("-") else _MEMBER
        case ast.Ident():
            return expr.name, _MEMBER
        case ast.Select():
            text = f"{_text(expr.operand, _MEMBER)}.{expr.field}"
            return (f"has({text})" if expr.test_only else text), _MEMBER
        case ast.Call():
            return _call(expr)
        case ast.List():
            elements = (
                f"{'?' * (index in expr.optional_indices)}{_text(element, 0)}"
                for index, element in enumerate(expr.elements)
            )
            return f"[{', '.join(elements)}]", _MEMBER
        case ast.Map():
            entries = (f"{'?' * e.optional}{_text(e.key, 0)}: {_text(e.value, 0)}" for e in expr.entries)
            return "{" + ", ".join(entries) + "}", _MEMBER
        case ast.Message():
            fields = (f"{'?' * field.optional}{field.field}: {_text(field.value, 0)}" for field in expr.fields)
            return expr.name + "{" + ", ".join(fields) + "}", _MEMBER
    return _fold(expr), _MEMBER


def _constant(expr: ast.Const) -> str:
    value = expr.value
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return 'b"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in value) + '"'
    if isinstance(value, float):
        text = double_to_string(value)
        return text if set(text) & set(".eNI") else f"{text}.0"
    return f"{value}u" if expr.kind == "uint" else constant_text(value)


def _call(expr: ast.Call) -> tuple[str, int]:
    args = expr.args
    operator = _BINARY.get(expr.function)
    if operator is not None and len(args) == 2:
        sign, binding = operator
        # Operators of one level group to the left; chains of && and || are balanced by the parser and mean the same.
        right = binding if binding <= _TERNARY + 2 else binding + 1
        return f"{_text(args[0], binding)} {sign} {_text(args[1], right)}", binding
    if expr.function in _UNARY:
        return f"{_UNARY[expr.function]}{_text(args[0], _MEMBER)}", _PREFIX
    if expr.function == "_?_:_":
        condition, then, otherwise = args
        mapped = _optional_map(condition, then)
        if mapped is not None:
            return mapped, _MEMBER
        return f"{_text(condition, 2)} ? {_text(then, 2)} : {_text(otherwise, 1)}", _TERNARY
    if expr.function in ("_[_]", "_[?_]"):
        optional = "?" * (expr.function == "_[?_]")
        return f"{_text(args[0], _MEMBER)}[{optional}{_text(args[1], 0)}]", _MEMBER
    if expr.function == "_?._" and isinstance(args[1], ast.Const):
        return f"{_text(args[0], _MEMBER)}.?{args[1].value!s}", _MEMBER
    listed = ", ".join(_text(arg, 0) for arg in args)
    target = "" if expr.target is None else f"{_text(expr.target, _MEMBER)}."
    return f"{target}{expr.function}({listed})", _MEMBER


def _optional_map(condition: Expr, then: Expr) -> str | None:
    """`x.optMap(v, ...)` or `x.optFlatMap(v, ...)` from their expansion."""
    if not (isinstance(condition, ast.Call) and condition.function == "hasValue" and condition.target is not None):
        return None
    flat = isinstance(then, ast.Comprehension)
    bound = then if flat or not isinstance(then, ast.Call) or then.function != "optional.of" else then.args[0]
    if not (isinstance(bound, ast.Comprehension) and is_bind(bound)):
        return None
    macro = "optFlatMap" if flat else "optMap"
    return f"{_text(condition.target, _MEMBER)}.{macro}({bound.accu_var}, {_text(bound.result, 0)})"


def _fold(expr: ast.Comprehension) -> str:
    if is_bind(expr):
        if is_identifier(expr.accu_var):
            return f"cel.bind({expr.accu_var}, {_text(expr.accu_init, 0)}, {_text(expr.result, 0)})"
        return _sort_by(expr)
    variables = [expr.iter_var, *([expr.iter_var2] if expr.iter_var2 else [])]
    macro, arguments = macro_of(expr)
    listed = ", ".join((*variables, *(_text(argument, 0) for argument in arguments)))
    return f"{_text(expr.iter_range, _MEMBER)}.{macro}({listed})"


def _sort_by(expr: ast.Comprehension) -> str:
    keys = sort_keys(expr)
    if keys is None:
        return _text(expr.result, 0)
    return f"{_text(expr.accu_init, _MEMBER)}.sortBy({keys.iter_var}, {_text(macro_of(keys)[1][-1], 0)})"


def sort_keys(expr: ast.Comprehension) -> ast.Comprehension | None:
    """The fold over the keys when this one is the expansion of sortBy."""
    call = expr.result
    if not is_identifier(expr.accu_var) and isinstance(call, ast.Call) and call.args:
        return call.args[0] if isinstance(call.args[0], ast.Comprehension) else None
    return None


def macro_of(expr: ast.Comprehension) -> tuple[str, list[Expr]]:
    """The macro that makes this fold, and its arguments behind the variables."""
    step = expr.loop_step
    if not isinstance(step, ast.Call):
        return "fold", [step]
    if step.function == "_&&_":
        return "all", [step.args[1]]
    if step.function == "_||_":
        return "exists", [step.args[1]]
    conditions: list[Expr] = []
    if step.function == "_?_:_":
        if isinstance(expr.result, ast.Call):
            return ("existsOne" if expr.iter_var2 else "exists_one"), [step.args[0]]
        conditions = [step.args[0]]
        grown = step.args[1]
        if not isinstance(grown, ast.Call):
            return "fold", [step]
        step = grown
    if step.function == "cel.@mapInsert":
        return ("transformMap" if len(step.args) == 3 else "transformMapEntry"), [*conditions, step.args[-1]]
    addition = step.args[-1]
    element = addition.elements[0] if isinstance(addition, ast.List) and addition.elements else addition
    if expr.iter_var2:
        return "transformList", [*conditions, element]
    if conditions and isinstance(element, ast.Ident) and element.name == expr.iter_var:
        return "filter", conditions
    return "map", [*conditions, element]
