"""Visits the nodes of an expression; what is done with them is for others."""

from collections.abc import Iterator

from .ast import Call, Comprehension, Expr, List, Map, Message, Select


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct parts of an expression, in cel-go's order."""
    match expr:
        case Select():
            return (expr.operand,)
        case Call():
            return expr.args if expr.target is None else (expr.target, *expr.args)
        case List():
            return expr.elements
        case Map():
            return tuple(part for entry in expr.entries for part in (entry.key, entry.value))
        case Message():
            return tuple(field.value for field in expr.fields)
        case Comprehension():
            return (expr.iter_range, expr.accu_init, expr.loop_condition, expr.loop_step, expr.result)
    return ()


def nodes(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and all its parts, each before its own parts."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))
