"""Text of a template to nodes. Every complaint says where it is."""

from __future__ import annotations

import re

from dra_plan.errors import UsageError

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

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_OPERATOR = re.compile(r"==|!=|<=|>=|<|>")
_DIGITS = 20
"""More characters than any whole number of a document has."""
_SLICE = re.compile(r"\s*(-?[0-9]*)\s*:\s*(-?[0-9]*)\s*(?::\s*([0-9]*)\s*)?")
_ENDS_NAME = frozenset(" \t\r\n.,[]{}()$@=!<>\"'")


def parse(template: str) -> tuple[Node, ...]:
    """The nodes of `template`. UsageError if it is malformed or has no expression at all."""
    if "{" not in template:
        raise UsageError(
            f"--output jsonpath: no expression in {template!r}; expressions stand in braces: {{.claimSets[*]}}"
        )
    return _TemplateParser(template).template()


class _TemplateParser:
    """A recursive descent over one template; `at` is the next character."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def fail(self, problem: str) -> UsageError:
        return UsageError(f"--output jsonpath: {problem} at character {self.at + 1} of {self.source!r}")

    def peek(self, text: str) -> bool:
        return self.source.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Go past `text` if it comes next."""
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
        """Nodes up to the end of the template, or to just before an `{end}`."""
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
        """`{...}`: quoted texts and one or more paths."""
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
        """A quoted text; backslash escapes n, t, r and any other character for itself."""
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
        """`$`, `@` or nothing, then steps; a name may come first without its dot."""
        start = self.at
        from_root = self.skip("$")
        if not from_root and not self.skip("@") and not self.peek(".") and not self.peek("["):
            return Query(False, (Field(self.name()), *self.steps()))
        steps = self.steps()
        # A lone dot is the current item, as in kubectl.
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
        r"""A field name; a backslash takes the next character literally (`kubernetes\.io/arch`)."""
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
        """One of `*`, a quoted name, an index, a slice."""
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
