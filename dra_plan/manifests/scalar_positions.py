"""Where each character of a scalar stands in the text, so that a place inside an expression can be shown and edited."""

from __future__ import annotations

import re

from .extents import Extent, Form

_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_LINE_ENDS = "\r\n"
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]*(?![ \t\r\n])")
"""One line end; an empty line means something else."""


def positions(text: str, extent: Extent, value: str) -> list[int] | None:
    """The position of each character of the value of the scalar, and last of its end.

    None where the text is written in a way that is not followed here: with folded lines beyond the simple ones.
    """
    begin, end = extent.begin, extent.end
    if extent.form in (Form.SINGLE, Form.DOUBLE):
        begin, end = begin + 1, end - 1
    if extent.form is Form.DOUBLE:
        return _double(text, begin, end, value)
    if extent.form is Form.BLOCK:
        begin = _after_line(text, begin)
        return _block(text, begin, end, value) if begin < end else None
    if extent.form not in (Form.PLAIN, Form.SINGLE):
        return None
    return _folded(text, begin, end, value, doubled="'" if extent.form is Form.SINGLE else "")


def _folded(text: str, begin: int, end: int, value: str, *, doubled: str) -> list[int] | None:
    """A scalar without escapes but the doubled quote, of which a line end with its indentation is a space."""
    found, at = [], begin
    for char in value:
        fold = _FOLD.match(text, at, end) if char == " " else None
        if at >= end or (fold is None and text[at] != char):
            return None
        found.append(at)
        at = fold.end() if fold else at + (2 if char == doubled else 1)
    return [*found, end] if at == end else None


def _double(text: str, begin: int, end: int, value: str) -> list[int] | None:
    found, at = [], begin
    for char in value:
        if at >= end:
            return None
        found.append(at)
        if text[at] != "\\":
            if text[at] != char:
                return None
            at += 1
            continue
        step = 2 + _HEX_ESCAPES.get(text[at + 1], 0)
        if text[at + 1] == "u" and ord(char) > 0xFFFF:
            step *= 2  # JSON writes what is beyond 16 bits as two halves
        at += step
    return [*found, end] if at == end else None


def _block(text: str, begin: int, end: int, value: str) -> list[int] | None:
    """Lines after `|`, and after `>` where single line ends became spaces."""
    first = begin
    while first < end and text[first] in " \r\n":
        first += 1
    indent = first - max(text.rfind("\n", 0, first), text.rfind("\r", 0, first)) - 1
    found, at = [], begin
    starts = True
    for char in value:
        if starts:
            at += min(indent, _spaces(text, at, end))
            starts = False
        if at >= end:
            return None
        found.append(at)
        if text[at] in _LINE_ENDS:
            if char not in "\n ":
                return None
            at, starts = _after_line(text, at), True
        elif text[at] == char:
            at += 1
        else:
            return None
    return [*found, at]


def _spaces(text: str, at: int, end: int) -> int:
    count = 0
    while at + count < end and text[at + count] == " ":
        count += 1
    return count


def _after_line(text: str, at: int) -> int:
    """Where the next line begins."""
    while at < len(text) and text[at] not in _LINE_ENDS:
        at += 1
    return at + (2 if text[at : at + 2] == "\r\n" else 1)
