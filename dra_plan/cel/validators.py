"""What cel-go checks after the types: homogeneous literals, constant times and patterns, format strings."""

from collections.abc import Iterator, Sequence

from dra_plan.cel.library.patterns import compile_regex

from .ast import Call, Const, Expr, List, Map
from .checked import Checked
from .folding import applied, literal_value
from .format_strings import format_issues
from .source import Issue
from .types import Type
from .unify import equivalent
from .values import EvaluationError
from .walk import children, nodes


def validate(checked: Checked) -> list[Issue]:
    """Return everything that the validators find wrong, in no particular order."""
    return [*_mixed_literals(checked), *_bad_constants(checked), *format_issues(checked)]


def _mixed_literals(checked: Checked) -> Iterator[Issue]:
    """Yield elements, keys and values of another type than the first; arguments of `format` may be mixed."""
    waiting = [checked.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and node.function == "format":
            continue
        if isinstance(node, List):
            optional = node.optional_indices
            types = [_held(checked, part, optional=at in optional) for at, part in enumerate(node.elements)]
            yield from list(_differing(node.elements, types))[:1]
        elif isinstance(node, Map):
            keys = tuple(entry.key for entry in node.entries)
            values = tuple(entry.value for entry in node.entries)
            yield from _differing(keys, [checked.types[key.id] for key in keys])
            held = [_held(checked, entry.value, optional=entry.optional) for entry in node.entries]
            yield from _differing(values, held)
        waiting.extend(children(node))


def _held(checked: Checked, expr: Expr, *, optional: bool) -> Type:
    of = checked.types[expr.id]
    return of.params[0] if optional and of.params else of


def _differing(parts: Sequence[Expr], types: Sequence[Type]) -> Iterator[Issue]:
    for part, of in zip(parts, types, strict=True):
        if not equivalent(types[0], of):
            yield Issue(part.offset, f"expected type '{types[0].describe()}' but found '{of.describe()}'")


def _bad_constants(checked: Checked) -> Iterator[Issue]:
    """Yield first arguments that are constants the function can't take.

    cel-go looks at the first argument of `matches`, which is the pattern of s.matches(p) but the text of matches(s, p).
    """
    for node in nodes(checked.root):
        if not isinstance(node, Call) or not node.args or node.function not in _CONSTANTS:
            continue
        first = node.args[0]
        if not isinstance(first, Const):
            continue
        try:
            if node.function == "matches":
                compile_regex(str(first.value))
            else:
                applied(checked.overloads[node.id], literal_value(first))
        except EvaluationError:
            yield Issue(first.offset, f"invalid {node.function} argument")


_CONSTANTS = frozenset(("duration", "timestamp", "matches"))
