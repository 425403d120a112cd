"""YAML text cut into documents. Each document is its own attempt: a fault in one does not hide the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from .yaml_builder import Builder
from .yaml_layouts import Layouts
from .yaml_merge import YamlError

MAX_LINE = 16 * 1024 * 1024
"""Characters in one line."""

_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!---(?:\s|\Z))[ \t]*[^\s#%]|^[ \t]+%|^---[ \t]+[^#\s]", re.MULTILINE)
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)


class YamlDocument(Struct, frozen=True):
    """One document: its value or its fault, and the text around it.

    `starts` has the lines of the outer maps, by `id`.
    """

    number: int
    line: int
    text: str
    first_line: int
    value: Any
    fault: YamlError | None
    starts: dict[int, int]


def read_documents(text: str) -> Iterator[YamlDocument]:
    """All documents of a text that hold something, faulty ones included, in order."""
    number = 0
    layouts = Layouts()
    for line, chunk in split(text):
        known = layouts.read(chunk, line)
        if known is not None:
            number += 1
            yield YamlDocument(number, known.line, chunk, line, known.value, None, known.starts)
            continue
        try:
            _check_lines(chunk, line)
            builder = Builder(chunk, line)
            while builder.next_document():
                number += 1
                if builder.value is not None:
                    yield YamlDocument(number, builder.start, chunk, line, builder.value, None, builder.starts)
        except YamlError as fault:
            number += 1
            yield YamlDocument(number, line, chunk, line, None, fault, {})


def split(text: str) -> Iterator[tuple[int, str]]:
    """The text cut at lines that start with `---`, as kubectl cuts it, with line numbers from 1.

    Parts without content are left out; directives stay with the document that they precede.
    """
    begin, line = 0, 1
    cuts = [match.start() for match in _SEPARATOR.finditer(text)] + [len(text)]
    for cut in cuts:
        part = text[begin:cut]
        has_content = _CONTENT.search(part) is not None
        if not has_content and "%" in part and _DIRECTIVE.search(part) and cut != len(text):
            continue
        if has_content:
            yield line, part
        line += part.count("\n")
        begin = cut


def _check_lines(text: str, first: int) -> None:
    if len(text) <= MAX_LINE:
        return
    begin, line = 0, first
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if end - begin > MAX_LINE:
            message = f"a line of {end - begin} characters; YAML lines are read up to {MAX_LINE}"
            raise YamlError(message, line, "write it as JSON")
        begin, line = end + 1, line + 1
