"""The text of an expression, places in it, and the display of what is wrong there; knows no grammar."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

from msgspec import Struct

from dra_plan import shown

_LINE, _CARET, _WIDE_LINE, _WIDE_CARET = (
    ".",
    "^",
    "\uff0e",
    "\uff3e",
)  # cel-go points with full-width signs at non-ASCII
_MOST_SHOWN = 100


class Issue(Struct, frozen=True):
    """One thing wrong with an expression. The offset counts code points; None means the expression as a whole."""

    offset: int | None
    message: str


class ExpressionText:
    """An expression's text, with line and column for every offset."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line (from 1) and column (from 0) of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line(self, number: int) -> str:
        """Return the text of a line, without its end."""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def display(self, issues: Sequence[Issue]) -> str:
        """Return the issues as cel-go prints them: in text order, each with its line and a caret below; 100 at most."""
        return "\n".join(self._lines(issues, list))

    def display_lines(self, issues: Sequence[Issue]) -> list[str]:
        """Return the lines of `display` as they are shown, with each caret where its place then is."""
        return self._lines(issues, shown.characters)

    def _lines(self, issues: Sequence[Issue], characters: Callable[[str], list[str]]) -> list[str]:
        """The lines, with `characters` in the place of those of the expression."""
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
