"""The value of each part of an expression for a device."""

from __future__ import annotations

import itertools

import msgspec

from dra_plan.api.go_text import go_quote
from dra_plan.cel.library.conversions import double_to_string, duration_to_string, timestamp_to_string
from dra_plan.cel.library.network import cidr_to_string, ip_to_string
from dra_plan.cel.library.quantities import amount_of

from . import ast
from .ast import Expr, children
from .format_strings import Checked
from .interpret import Evaluator
from .reads import is_bind
from .rewrite import expression_text, macro_of, sort_keys
from .values import (
    NONE,
    Cidr,
    Duration,
    EvaluationError,
    Fatal,
    Ip,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    Url,
    Value,
    begin_work,
    entries_of,
    type_name,
)

_MOST_SHOWN = 200
_MOST_DEPTH = 60


class EvaluatedPart(msgspec.Struct, frozen=True, eq=False):
    """A part of an expression with its result and its own parts, in text order.

    `value` (in CEL notation) or `error` is set if the part was evaluated. Inside a comprehension, values are from the
    last iteration.
    """

    text: str
    value: str | None = None
    error: str | None = None
    parts: tuple[EvaluatedPart, ...] = ()


def explain(checked: Checked, device: Value, *, exact_quantities: bool) -> EvaluatedPart:
    """Return the results of all parts of the expression. `device` is the value of the variable `device`."""
    seen: dict[int, Value] = {}
    evaluator = Evaluator(checked, exact_quantities=exact_quantities, observer=seen.__setitem__)
    begin_work()
    value, _cost = evaluator.outcome(device)
    seen.setdefault(checked.root.id, EvaluationError(str(value)) if isinstance(value, Fatal) else value)
    return _explained(checked.root, seen, 0)


def _explained(expr: Expr, seen: dict[int, Value], depth: int) -> EvaluatedPart:
    parts = () if depth > _MOST_DEPTH else tuple(_explained(part, seen, depth + 1) for part in _written(expr))
    text = expression_text(expr)
    if expr.id not in seen:
        return EvaluatedPart(text, parts=parts)
    value = seen[expr.id]
    if type(value) is EvaluationError:
        return EvaluatedPart(text, error=str(value), parts=parts)
    return EvaluatedPart(text, value=show(value), parts=parts)


def _written(expr: Expr) -> tuple[Expr, ...]:
    """Return the parts worth showing, without constants; for a selection, only its operand if that is computed."""
    if isinstance(expr, ast.Comprehension):
        return _fold_parts(expr)
    found: list[Expr] = []
    for part in _chained(expr) if isinstance(expr, ast.Call) else children(expr):
        if _is_constant(part):
            continue
        if isinstance(expr, ast.Select) or (isinstance(expr, ast.Call) and expr.function in ("_[_]", "_[?_]", "_?._")):
            found += [part] if not _is_path(part) else []
        else:
            found.append(part)
    return tuple(found)


def _chained(expr: ast.Call) -> tuple[Expr, ...]:
    """Return the operands, in the order in which they are written; a chain of && or || is one list."""
    if expr.function not in ("_&&_", "_||_"):
        return children(expr)
    operands: list[Expr] = []
    for part in expr.args:
        same = isinstance(part, ast.Call) and part.function == expr.function
        operands += _chained(part) if same and isinstance(part, ast.Call) else (part,)
    return tuple(operands)


def _fold_parts(expr: ast.Comprehension) -> tuple[Expr, ...]:
    if is_bind(expr):
        keys = sort_keys(expr)
        return expr.accu_init, expr.result if keys is None else macro_of(keys)[1][-1]
    return expr.iter_range, *(part for part in macro_of(expr)[1] if not _is_constant(part))


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, ast.Const) or (isinstance(expr, ast.List) and all(map(_is_constant, expr.elements)))


def _is_path(expr: Expr) -> bool:
    """Return whether an expression is `device` or a constant selection from it."""
    if isinstance(expr, ast.Select):
        return _is_path(expr.operand)
    if isinstance(expr, ast.Call) and expr.function in ("_[_]", "_[?_]", "_?._"):
        return _is_path(expr.args[0]) and isinstance(expr.args[1], ast.Const)
    return isinstance(expr, ast.Ident)


def show(value: Value) -> str:
    """Return a value in CEL notation, cut off if it is long."""
    text = _shown(value, 3)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def _shown(value: Value, levels: int) -> str:
    kind = type(value)
    if kind is str:
        return go_quote(value[:_MOST_SHOWN])
    if kind is bool or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if kind is int:
        return str(value)
    if kind is Uint:
        return f"{int(value)}u"
    if kind is float:
        return double_to_string(value)
    if kind is list or isinstance(value, dict):
        return _container_shown(value, levels)
    if kind is Optional:
        return "optional.none()" if value is NONE else f"optional.of({_shown(value.value, levels)})"
    return _special_shown(value)


def _container_shown(value: Value, levels: int) -> str:
    if levels == 0:
        return "[…]" if type(value) is list else "{…}"
    if type(value) is list:
        return f"[{', '.join(_shown(item, levels - 1) for item in value[:_MOST_SHOWN])}]"
    entries = itertools.islice(entries_of(value), _MOST_SHOWN)
    return "{" + ", ".join(f"{_shown(key, 0)}: {_shown(held, levels - 1)}" for key, held in entries) + "}"


def _special_shown(value: Value) -> str:
    name = type_name(value)
    if name == "kubernetes.Quantity":
        return f'quantity("{amount_of(value).text}")'
    if name == "kubernetes.Semver":
        return f'semver("{value}")'
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, Duration):
        return f'duration("{duration_to_string(value)}")'
    if isinstance(value, Timestamp):
        return f'timestamp("{timestamp_to_string(value)}")'
    if isinstance(value, Ip):
        return f'ip("{ip_to_string(value)}")'
    if isinstance(value, Cidr):
        return f'cidr("{cidr_to_string(value)}")'
    if isinstance(value, bytes):
        return f"b{go_quote(value.decode('latin-1'))}"
    return f"<{name}>" if not isinstance(value, Url) else f"url({go_quote(value.text)})"
