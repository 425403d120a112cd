"""A template applied to a document. Never fails: what is not there gives nothing."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from dra_plan import shown

from .nodes import (
    Alternatives,
    Constant,
    Descent,
    Field,
    Filter,
    Node,
    Operand,
    Position,
    Query,
    Range,
    Slice,
    Step,
    Text,
    Wildcard,
)
from .parser import parse

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_PAIR = re.compile("#(?=#)")
"""What may begin a command of a runner, where `[` comes behind it."""


class Template:
    """A parsed template. UsageError at once if it is malformed."""

    def __init__(self, source: str) -> None:
        self._nodes = parse(source)

    def render(self, document: object) -> str:
        """The template's text for `document`."""
        return "".join(_render(self._nodes, document, document))


def _render(nodes: Iterable[Node], root: object, current: object) -> Iterator[str]:
    for node in nodes:
        match node:
            case Text(text):
                yield text
            case Query():
                yield " ".join(_printed(value) for value in _follow(node, root, current))
            case Range(path, body):
                for item in _items(_follow(path, root, current)):
                    yield from _render(body, root, item)


def _items(values: list[Any]) -> list[Any]:
    """What a range goes over: the results, or the items of the only result if that is a list."""
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def _printed(value: object) -> str:
    if not isinstance(value, str):
        return shown.in_json(msgspec.json.encode(value).decode())
    text = shown.line(value)
    # What stands beside it may be the other half of a command: neither beginning nor end is one.
    if value.startswith((":", "#")):
        text = f"\\u{ord(value[0]):04x}{shown.line(value[1:])}"
    return _PAIR.sub(r"\\u0023", text)


def _follow(path: Query, root: object, current: object) -> list[Any]:
    values = [root if path.from_root else current]
    for step in path.steps:
        values = [found for value in values for found in _step(step, root, value)]
    return values


def _step(step: Step, root: object, value: Any) -> Iterable[Any]:
    match step:
        case Field(name):
            return [value[name]] if isinstance(value, dict) and name in value else []
        case Wildcard():
            return _children(value)
        case Descent():
            return _below(value)
        case Position(position):
            return [value[position]] if isinstance(value, list) and -len(value) <= position < len(value) else []
        case Slice(start, end, stride):
            return value[start:end:stride] if isinstance(value, list) else []
        case Alternatives(parts):
            return [found for part in parts for found in _step(part, root, value)]
        case Filter():
            return [item for item in _children(value) if _holds(step, root, item)]


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _below(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _below(child)


def _holds(condition: Filter, root: object, item: object) -> bool:
    """Whether the item passes; a missing or plural operand never does, as kubectl compares one value with one."""
    left = _operand(condition.left, root, item)
    if condition.right is None:
        return bool(left)
    right = _operand(condition.right, root, item)
    if len(left) != 1 or len(right) != 1:
        return False
    return _compares(left[0], condition.operator, right[0])


def _operand(operand: Operand, root: object, item: object) -> list[Any]:
    return [operand.value] if isinstance(operand, Constant) else _follow(operand, root, item)


def _compares(left: Any, sign: str, right: Any) -> bool:
    alike = _family(left) == _family(right)
    if sign in {"==", "!="}:
        return (alike and left == right) == (sign == "==")
    return alike and _family(left) in {str, float} and _COMPARE[sign](left, right)


def _family(value: object) -> type:
    """Numbers compare with numbers, text with text; a truth value is no number."""
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
