"""Split the text of an expression into tokens, as cel-go does.

In order: the text, with the display of issues; tokens; a cursor over tokens for the parser; and the errors of
selectors.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from dra_plan import shown
from dra_plan.errors import DraPlanError

# -- text and positions in it ------------------------------------------------------------------------------------------

_LINE, _CARET, _WIDE_LINE, _WIDE_CARET = (
    ".",
    "^",
    "\uff0e",
    "\uff3e",
)  # cel-go uses full-width markers below non-ASCII characters
_MOST_SHOWN = 100


class Issue(Struct, frozen=True):
    """An error in an expression.

    The offset counts code points. It is None if the issue is about the whole expression.
    """

    offset: int | None
    message: str


class ExpressionText:
    """The text of an expression, with the line and column of each offset."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line (starting at 1) and the column (starting at 0) of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line(self, number: int) -> str:
        """Return the line with this number, without its line ending."""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def display(self, issues: Sequence[Issue]) -> str:
        """Return the issues as cel-go prints them, in text order, each with its line and a caret.

        After 100 issues, only the number of remaining issues is shown.
        """
        return "\n".join(self._lines(issues, list))

    def display_lines(self, issues: Sequence[Issue]) -> list[str]:
        """Return the lines of `display` for a terminal, with unprintable characters escaped."""
        return self._lines(issues, shown.characters)

    def _lines(self, issues: Sequence[Issue], characters: Callable[[str], list[str]]) -> list[str]:
        """Return the lines, with `characters` in place of the expression's characters."""
        first = sorted(
            issues[:_MOST_SHOWN], key=lambda issue: (-1, -1) if issue.offset is None else self.place(issue.offset)
        )
        lines = [line for issue in first for line in self._display(issue, characters)]
        if len(issues) > _MOST_SHOWN:
            lines.append(f"{len(issues) - _MOST_SHOWN} more errors were truncated")
        return lines

    def _display(self, issue: Issue, characters: Callable[[str], list[str]]) -> list[str]:
        if issue.offset is None:
            return [f"ERROR: <input>:-1:0: {issue.message}"]
        number, column = self.place(issue.offset)
        text = self.line(number).replace("\t", " ")
        parts = characters(text)
        leader = "".join((_LINE if part.isascii() else _WIDE_LINE) * len(part) for part in parts[:column])
        caret = _CARET if text[column : column + 1].isascii() else _WIDE_CARET
        message = f"ERROR: <input>:{number}:{column + 1}: {issue.message}"
        return [message, f" | {''.join(parts)}", f" | {leader}{caret}"]


# -- tokens ------------------------------------------------------------------------------------------------------------

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_STRING = (
    rf'[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"""(?:{_ESCAPE}|[^\\])*?"""|\'\'\'(?:{_ESCAPE}|[^\\])*?\'\'\''
    rf'|"(?:{_ESCAPE}|[^\\"\n\r])*"|\'(?:{_ESCAPE}|[^\\\'\n\r])*\''
)
_PATTERN = rf"""
    (?P<SPACE>[\t \r\n\f]+|//[^\n]*)
  | (?P<BYTES>[bB](?:{_STRING}))
  | (?P<STRING>{_STRING})
  | (?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<NUM_UINT>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])
  | (?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/ ]+`)
  | (?P<SIGN>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
"""
_KEYWORDS = frozenset({"true", "false", "null", "in"})
END = "<EOF>"


class Token(NamedTuple):
    """A token. `kind` is an operator or keyword, or a class of tokens such as IDENTIFIER.

    The offset counts code points.
    """

    kind: str
    text: str
    offset: int


def tokenize(text: str) -> tuple[list[Token], list[Issue]]:
    """Return the tokens of an expression, followed by END, and an issue for everything that is not a token."""
    tokens, issues, position = [], [], 0
    match = _pattern().match
    while position < len(text):
        found = match(text, position)
        if found is None:
            issues.append(Issue(position, f"Syntax error: token recognition error at: '{text[position]}'"))
            position += 1
            continue
        kind, word = found.lastgroup, found.group()
        assert kind is not None
        if kind == "SIGN" or word in _KEYWORDS:
            kind = word
        if kind != "SPACE":
            tokens.append(Token(kind, word, position))
        position = found.end()
    tokens.append(Token(END, END, len(text)))
    return tokens, issues


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_PATTERN, re.VERBOSE)


# -- the cursor --------------------------------------------------------------------------------------------------------
# The cursor holds the syntax errors found so far, and knows nothing about expressions.

MOST_DEPTH = 250

STARTS = (
    *("[", "{", "(", ".", "-", "!", "true", "false", "null"),
    *("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"),
)
_EXPECTED = "{" + ", ".join(word if word[0].isupper() else f"'{word}'" for word in STARTS) + "}"


class SyntaxIssueError(Exception):
    """Raised at the first token that the grammar does not allow."""

    def __init__(self, offset: int | None, message: str) -> None:
        super().__init__(message)
        self.issue = Issue(offset, message)


class Depth:
    """Counts the nesting of the recursive rules in cel-go's grammar."""

    def __init__(self) -> None:
        self._open = {"expr": 0, "relation": 0, "calc": 0}

    @contextmanager
    def within(self, rule: str) -> Iterator[None]:
        """Count a rule as open inside the context. Raises SyntaxIssueError if rules are nested too deeply."""
        self._open[rule] += 1
        if self._open[rule] > MOST_DEPTH:
            raise SyntaxIssueError(None, f"expression recursion limit exceeded: {MOST_DEPTH}")
        yield
        self._open[rule] -= 1


class Cursor:
    """A position in a list of tokens. `issues` are the syntax errors that did not stop the parser."""

    def __init__(self, tokens: list[Token]) -> None:
        self.issues: list[Issue] = []
        self._tokens = tokens
        self._at = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _peek(self, ahead: int) -> str:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)].kind

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += token.kind is not END
        return token

    def _taken(self, kind: str) -> bool:
        """Take the next token if it is of this kind, and return whether it is."""
        if self._next.kind != kind:
            return False
        self._take()
        return True

    def _expect(self, kind: str) -> Token:
        if self._next.kind != kind:
            named = kind if kind[0].isupper() or kind is END else f"'{kind}'"
            how = "extraneous" if kind is END else "mismatched"
            raise self._syntax(f"{how} input '{self._next.text}' expecting {named}")
        return self._take()

    def _skip(self) -> None:
        """Skip one token that cannot begin an operand, if the next one can; this is how cel-go recovers."""
        if self._peek(1) not in STARTS or self._next.kind is END:
            raise self._unexpected("mismatched")
        self.issues.append(self._unexpected("extraneous").issue)
        self._take()

    def _unexpected(self, how: str) -> SyntaxIssueError:
        return self._syntax(f"{how} input '{self._next.text}' expecting {_EXPECTED}")

    def _syntax(self, message: str) -> SyntaxIssueError:
        return SyntaxIssueError(self._next.offset, f"Syntax error: {message}")


# -- errors of the selector language -----------------------------------------------------------------------------------


class CelError(DraPlanError, ValueError):
    """The base class of the errors in compiling and evaluating selectors."""


class CelCompileError(CelError):
    """Raised if an expression does not parse, fails the type check, or violates the rules for selectors.

    The message is cel-go's, with a caret. `offset` is the position of the first error in characters, or None if the
    error is about the whole expression.
    """

    offset: int | None = None


class CelRuntimeError(CelError):
    """Raised if an evaluation fails, for example because of an overflow or a result that is not a bool.

    `cost` is the cost up to the error, as upstream counts it, or 0 if nothing was evaluated. `missing_key` is true if
    the expression reads an attribute or capacity that the device does not have, or any other key that a map does not
    have.
    """

    cost: int = 0
    missing_key: bool = False


class CelDeviceError(CelRuntimeError):
    """Raised for a device on which every selector fails, because an attribute or capacity cannot be converted."""
