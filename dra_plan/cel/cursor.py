"""The place in the tokens that parsing has reached, and the errors of syntax found there; knows no expressions."""

from collections.abc import Iterator
from contextlib import contextmanager

from .lexer import END, Token
from .source import Issue

MOST_DEPTH = 250

STARTS = (
    *("[", "{", "(", ".", "-", "!", "true", "false", "null"),
    *("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"),
)
_EXPECTED = "{" + ", ".join(word if word[0].isupper() else f"'{word}'" for word in STARTS) + "}"


class SyntaxIssueError(Exception):
    """Ends parsing at the first place that the grammar does not allow."""

    def __init__(self, offset: int | None, message: str) -> None:
        super().__init__(message)
        self.issue = Issue(offset, message)


class Depth:
    """How many of each of cel-go's recursive grammar rules are open."""

    def __init__(self) -> None:
        self._open = {"expr": 0, "relation": 0, "calc": 0}

    @contextmanager
    def within(self, rule: str) -> Iterator[None]:
        """Count one more open rule for the time of the block."""
        self._open[rule] += 1
        if self._open[rule] > MOST_DEPTH:
            raise SyntaxIssueError(None, f"expression recursion limit exceeded: {MOST_DEPTH}")
        yield
        self._open[rule] -= 1


class Cursor:
    """Goes through tokens; `issues` are those that did not end parsing."""

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
        """Take the next token if it is of the kind."""
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
        """Go past one token that can't begin an operand, if the next one can: cel-go recovers in this way."""
        if self._peek(1) not in STARTS or self._next.kind is END:
            raise self._unexpected("mismatched")
        self.issues.append(self._unexpected("extraneous").issue)
        self._take()

    def _unexpected(self, how: str) -> SyntaxIssueError:
        return self._syntax(f"{how} input '{self._next.text}' expecting {_EXPECTED}")

    def _syntax(self, message: str) -> SyntaxIssueError:
        return SyntaxIssueError(self._next.offset, f"Syntax error: {message}")
