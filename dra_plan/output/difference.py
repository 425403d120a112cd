"""`validate --diff`: what `--fix` would write, as a unified diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff

from dra_plan import shown

_NO_END = "\\ No newline at end of file"


def difference(name: str, before: str, after: str) -> str:
    """The diff of one file, which `patch -p0` applies; text that would act on a terminal is escaped."""
    lines = unified_diff(_lines(before), _lines(after), shown.line(name), shown.line(name))
    return "".join(_printed(lines))


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + [line for line in (last,) if line]


def _printed(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        body = line.removesuffix("\n")
        end = "\r" if body.endswith("\r") else ""
        yield "\t".join(map(shown.line, body.removesuffix("\r").split("\t"))) + f"{end}\n"
        if body == line:
            yield f"{_NO_END}\n"
