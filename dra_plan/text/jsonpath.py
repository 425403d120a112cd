"""`-o jsonpath=TEMPLATE`: kubectl's templates, such as `{.claimSets[*].fittingNodes}`.

As in kubectl, text outside braces is literal, the results of an expression are separated by spaces, lists and maps are
printed as JSON, no newline is added, and `range` and `end` repeat a part. Nothing is printed for a missing field or
index.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from dra_plan import shown
from dra_plan.errors import UsageError

__all__ = ["Template"]


@dataclass(frozen=True, slots=True)
class Field:
    """A step to a field, written `.name` or `['name']`."""

    name: str


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A step to all items of a list, or all values of a map, written `.*` or `[*]`."""


@dataclass(frozen=True, slots=True)
class Descent:
    """A step to a value and everything below it, written `..`."""


@dataclass(frozen=True, slots=True)
class Position:
    """A step to an item of a list, written `[n]`. A negative n counts from the end."""

    number: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A step to a range of items, written `[start:end:step]`. The step must be positive."""

    start: int | None
    end: int | None
    step: int


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A step to the results of several steps, one after another, written `[0,2]` or `['a','b']`."""

    parts: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """A step to the items that meet a condition, written `[?(left op right)]`, or `[?(left)]` without an operator."""

    left: Operand
    operator: str
    right: Operand | None


@dataclass(frozen=True, slots=True)
class Query:
    """Steps that start at the document (`$`) or at the current item."""

    from_root: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A string, number or bool in a filter."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is printed unchanged."""

    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """A body that is repeated for each result of a path, written `{range PATH}BODY{end}`."""

    path: Query
    body: tuple[Node, ...]


Step = Field | Wildcard | Descent | Position | Slice | Alternatives | Filter


Operand = Query | Constant


Node = Text | Query | Range


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


_OPERATOR = re.compile(r"==|!=|<=|>=|<|>")


_DIGITS = 20
"""The maximum number of digits; no whole number in a document has more."""


_SLICE = re.compile(r"\s*(-?[0-9]*)\s*:\s*(-?[0-9]*)\s*(?::\s*([0-9]*)\s*)?")


_ENDS_NAME = frozenset(" \t\r\n.,[]{}()$@=!<>\"'")


def parse(template: str) -> tuple[Node, ...]:
    """Return the nodes of the template. Raises UsageError if it is malformed or contains no expression."""
    if "{" not in template:
        raise UsageError(
            f"--output jsonpath: no expression in {template!r}; write expressions in braces: {{.claimSets[*]}}"
        )
    return _TemplateParser(template).template()


class _TemplateParser:
    """A recursive descent parser of one template; `at` is the next character."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def fail(self, problem: str) -> UsageError:
        return UsageError(f"--output jsonpath: {problem} at character {self.at + 1} of {self.source!r}")

    def peek(self, text: str) -> bool:
        return self.source.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Skip `text` if it comes next, and return whether it did."""
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def expect(self, text: str) -> None:
        if not self.skip(text):
            raise self.fail(f"expected {text!r}")

    def spaces(self) -> None:
        while self.at < len(self.source) and self.source[self.at].isspace():
            self.at += 1

    def template(self) -> tuple[Node, ...]:
        nodes = self.nodes(inside_range=False)
        if self.at < len(self.source):
            raise self.fail("{end} without {range}")
        return nodes

    def nodes(self, *, inside_range: bool) -> tuple[Node, ...]:
        """Return the nodes up to the end of the template, or up to (but not including) an `{end}`."""
        found: list[Node] = []
        while self.at < len(self.source):
            if not self.peek("{"):
                found.append(self.literal_text())
            elif self.is_keyword("end"):
                return tuple(found)
            elif self.is_keyword("range"):
                found.append(self.range())
            else:
                found += self.action()
        if inside_range:
            raise self.fail("{range} without {end}")
        return tuple(found)

    def is_keyword(self, word: str) -> bool:
        return re.compile(r"\{\s*" + word + r"(?=[\s}.\[])").match(self.source, self.at) is not None

    def keyword(self, word: str) -> None:
        self.expect("{")
        self.spaces()
        self.expect(word)
        self.spaces()

    def literal_text(self) -> Text:
        end = self.source.find("{", self.at)
        end = len(self.source) if end < 0 else end
        start, self.at = self.at, end
        return Text(self.source[start:end])

    def range(self) -> Range:
        self.keyword("range")
        path = self.path()
        self.spaces()
        self.expect("}")
        body = self.nodes(inside_range=True)
        self.keyword("end")
        self.expect("}")
        return Range(path, body)

    def action(self) -> list[Node]:
        """Parse `{...}`: quoted texts and one or more paths."""
        self.expect("{")
        found: list[Node] = []
        self.spaces()
        while not self.skip("}"):
            if self.at >= len(self.source):
                raise self.fail("'}' is missing")
            found.append(Text(self.quoted()) if self.peek('"') or self.peek("'") else self.path())
            self.spaces()
        return found

    def quoted(self) -> str:
        """Parse a quoted text.

        A backslash escapes n, t and r; any other character after a backslash stands for itself.
        """
        quote, text = self.source[self.at], ""
        self.at += 1
        while self.at < len(self.source):
            char = self.source[self.at]
            self.at += 1
            if char == quote:
                return text
            if char == "\\" and self.at < len(self.source):
                char = _ESCAPES.get(self.source[self.at], self.source[self.at])
                self.at += 1
            text += char
        raise self.fail("quote is not closed")

    def path(self) -> Query:
        """Parse `$`, `@` or nothing, and then steps. The first step may be a name without its dot."""
        start = self.at
        from_root = self.skip("$")
        if not from_root and not self.skip("@") and not self.peek(".") and not self.peek("["):
            return Query(False, (Field(self.name()), *self.steps()))
        steps = self.steps()
        # A single dot is the current item, as in kubectl.
        if not steps and self.at == start and not self.skip("."):
            raise self.fail("expected a path")
        return Query(from_root, steps)

    def steps(self) -> tuple[Step, ...]:
        found: list[Step] = []
        while True:
            if self.peek("["):
                found.append(self.bracket())
            elif self.skip(".."):
                found.append(Descent())
                if not self.peek("["):
                    found.append(self.member())
            elif self.peek(".") and self.source[self.at + 1 : self.at + 2] not in {"", " ", "}", ")"}:
                self.at += 1
                if not self.peek("["):
                    found.append(self.member())
            else:
                return tuple(found)

    def member(self) -> Step:
        return Wildcard() if self.skip("*") else Field(self.name())

    def name(self) -> str:
        r"""Parse a field name. A backslash makes the next character literal (`kubernetes\.io/arch`)."""
        name = ""
        while self.at < len(self.source) and self.source[self.at] not in _ENDS_NAME:
            if self.skip("\\") and self.at >= len(self.source):
                break
            name += self.source[self.at]
            self.at += 1
        if not name:
            raise self.fail("expected a field name")
        return name

    def bracket(self) -> Step:
        self.expect("[")
        if self.skip("?("):
            return self.filter()
        parts = [self.subscript()]
        while self.skip(","):
            parts.append(self.subscript())
        self.expect("]")
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def subscript(self) -> Step:
        """Parse one of `*`, a quoted name, an index, or a slice."""
        self.spaces()
        step = self.slice() or self.simple_subscript()
        self.spaces()
        return step

    def simple_subscript(self) -> Step:
        if self.skip("*"):
            return Wildcard()
        if self.peek("'") or self.peek('"'):
            return Field(self.quoted())
        number = _NUMBER.match(self.source, self.at)
        if number is None or number[1]:
            raise self.fail("expected an index, a slice, '*', a quoted name or ?(...)")
        self.at = number.end()
        return Position(self.whole(number[0]))

    def slice(self) -> Slice | None:
        match = _SLICE.match(self.source, self.at)
        if match is None:
            return None
        start, end, step = (self.whole(text) if text and text != "-" else None for text in match.groups())
        if step == 0:
            raise self.fail("the step of a slice must be positive")
        self.at = match.end()
        return Slice(start, end, step or 1)

    def whole(self, text: str) -> int:
        if len(text) > _DIGITS:
            raise self.fail("a number has too many digits")
        return int(text)

    def filter(self) -> Filter:
        self.spaces()
        left = self.operand()
        self.spaces()
        operator = _OPERATOR.match(self.source, self.at)
        right: Operand | None = None
        if operator:
            self.at = operator.end()
            self.spaces()
            right = self.operand()
            self.spaces()
        elif not self.peek(")"):
            raise self.fail("expected ==, !=, <, <=, > or >=")
        self.expect(")]")
        return Filter(left, operator[0] if operator else "", right)

    def operand(self) -> Operand:
        if self.peek('"') or self.peek("'"):
            return Constant(self.quoted())
        number = _NUMBER.match(self.source, self.at)
        if number:
            self.at = number.end()
            return Constant(float(number[0]) if number[1] else self.whole(number[0]))
        for word, value in (("true", True), ("false", False)):
            if self.skip(word):
                return Constant(value)
        if not any(self.peek(start) for start in "@$."):
            raise self.fail("expected @, a quoted text, a number, true or false")
        return self.path()


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


_PAIR = re.compile("#(?=#)")
"""The possible beginning of a runner command, if `[` follows."""


class Template:
    """A JSONPath template. Raises UsageError if the template is malformed."""

    def __init__(self, source: str) -> None:
        self._nodes = parse(source)

    def render(self, document: object) -> str:
        """Return the text that the template produces for `document`."""
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
    """Return the items that a range iterates over: the results, or the items of the only result if that is a list."""
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def _printed(value: object) -> str:
    if not isinstance(value, str):
        return shown.in_json(msgspec.json.encode(value).decode())
    text = shown.line(value)
    # The adjacent text may be the other half of a command, so the value must neither begin nor end with one.
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
    """Return whether the item passes.

    A missing or plural operand never passes, because kubectl compares single values.
    """
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
    """Return the type for comparison, because numbers compare with numbers and text with text.

    A bool is not a number.
    """
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
