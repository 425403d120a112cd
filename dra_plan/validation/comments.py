"""`# dra-plan: ignore=DRA101` in YAML: behind a field for its line, above a field for it and everything in it.

Without codes it spares from every rule. Above the first field of a document it holds for the whole document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .finding import Finding
from .selection import unknown_code
from .words import nearest

_COMMENT = re.compile(r"(?:^|\s)#\s*dra-plan:\s*ignore(?:\s*=\s*(?P<codes>[A-Za-z0-9]+(?:\s*,\s*[A-Za-z0-9]+)*))?\s*$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*dra-plan:\s*(?P<word>[A-Za-z_-]+)(?P<rest>.*)$")
_WORD = "ignore"
_SEPARATOR = re.compile(r"(?:---|\.\.\.)(?:\s|$)")


class SparedLines(NamedTuple):
    """Lines, from 1 and both included, in which rules with these beginnings of codes do not count."""

    first: int
    last: int
    codes: tuple[str, ...]

    def spares(self, finding: Finding) -> bool:
        """Whether the finding is one of them."""
        held = any(self.first <= line <= self.last for line in (finding.line, finding.field_line))
        return held and finding.code.startswith(self.codes)


class CommentMistake(NamedTuple):
    """A comment that spares less than it seems to, and why; the line counts from 1."""

    file: str
    line: int
    message: str


class Comments:
    """The comments of all sources."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._spared = {name: spared_by(text) for name, text in texts.items()}
        self.mistakes = tuple(
            CommentMistake(name, line, message) for name, text in texts.items() for line, message in mistakes_in(text)
        )

    def spare(self, finding: Finding) -> bool:
        """Whether a comment says that the finding does not count."""
        return any(lines.spares(finding) for lines in self._spared.get(finding.file, ()))


def spared_by(text: str) -> list[SparedLines]:
    """What the comments of a text spare."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if match is None:
            continue
        alone = not line[: match.start()].strip()
        first = _next(lines, number) if alone else number
        found.append(SparedLines(first, _last(lines, first) if alone else number, _codes(match)))
    return found


def mistakes_in(text: str) -> Iterator[tuple[int, str]]:
    """The lines of comments that are meant to spare and don't, or name codes that no rule has, and what is wrong."""
    for number, line in enumerate(text.split("\n"), 1):
        match, meant = _COMMENT.search(line), _DIRECTIVE.search(line)
        if match is not None:
            for code in _codes(match):
                if code and (problem := unknown_code(code)):
                    yield number, f"a comment to spare a place: {problem}"
        elif meant is not None and nearest(meant["word"], [_WORD]):
            is_word = meant["word"] == _WORD
            how = "codes stand behind `=`, with commas between them" if is_word else "the word is `ignore`"
            yield number, f"a comment spares nothing: {how}, as in `# dra-plan: ignore=DRA101`"


def _codes(match: re.Match[str]) -> tuple[str, ...]:
    return tuple(code.strip() for code in match["codes"].split(",")) if match["codes"] else ("",)


def _next(lines: list[str], number: int) -> int:
    """The line of the next field after a comment, the comment's own if there is none."""
    for at in range(number, len(lines)):
        if not _is_empty(lines[at]):
            return at + 1
    return number


def _last(lines: list[str], first: int) -> int:
    """The last line of what begins in a line: all that is indented deeper, or the document at its beginning."""
    starts_document = not any(_is_field(line) for line in _before(lines, first))
    indent, is_item = _indent(lines[first - 1]), lines[first - 1].lstrip().startswith("- ")
    last = first
    for at in range(first, len(lines)):
        line = lines[at]
        if _SEPARATOR.match(line):
            break
        if _is_empty(line):
            continue
        # Items of a list may stand as deep as the key that holds them.
        inside = _indent(line) > indent or (_indent(line) == indent and not is_item and line.lstrip().startswith("- "))
        if not (inside or starts_document):
            break
        last = at + 1
    return last


def _before(lines: list[str], first: int) -> list[str]:
    """The lines of the document in front of a line."""
    start = max((at + 1 for at in range(first - 1) if _SEPARATOR.match(lines[at])), default=0)
    return lines[start : first - 1]


def _is_empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#") or _SEPARATOR.match(line) is not None


def _is_field(line: str) -> bool:
    return not _is_empty(line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
