"""Regular expressions: RE2 as Go has it, with Go's error texts; `matches` and Kubernetes' regex library.

Go and the C++ library share syntax and semantics but for a few corners, which are refused here as Go refuses them.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from dra_plan.cel.types import BOOL, INT, STRING, list_of
from dra_plan.cel.values import EvaluationError

from .overload import Library, member, plain
from .prices import FOUND, MATCHED

_MEMORY = 64 << 20
"""Bytes that one pattern may take: enough for nearly everything that Go compiles, which allows more (128 MiB)."""
_MOST_DEPTH = 999
"""Capturing groups within each other; Go counts its tree's height, 1,000 with the leaf."""

_PARTS = re.compile(
    r"\\Q.*?(?:\\E|\Z)"  # quoted text
    r"|\\(?P<escape>.)"
    r"|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]"  # a character class
    r"|(?P<open>\()(?:\?P?<(?P<name>[^>]*)>|(?P<plain>\?))?"
    r"|(?P<close>\))",
    re.DOTALL,
)
_NAME = re.compile(r"[0-9A-Za-z_]+", re.ASCII)

_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_ABOUT_ALL = frozenset(("missing )", "unexpected )"))
"""Errors for which Go shows the whole pattern."""


@functools.lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Any:
    """The compiled RE2 pattern; raises EvaluationError with Go's text for what is none. re2 is loaded on first use."""
    # Takes long to load, and most selectors have no pattern.
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise EvaluationError(f"error parsing regexp: {_in_go_words(error.args[0], pattern)}") from None
    problem = _refused_by_go(pattern)
    if problem is not None:
        raise EvaluationError(f"error parsing regexp: {problem}")
    return compiled


def _in_go_words(raw: bytes | str, pattern: str) -> str:
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    problem, _, about = text.partition(": ")
    about = pattern if problem in _ABOUT_ALL else about
    return f"{_GO_WORDS.get(problem, problem)}: `{about}`"


def _refused_by_go(pattern: str) -> str | None:
    r"""What Go has against a pattern that the C++ library compiles: `\C`, names beyond ASCII, very deep groups."""
    captures: list[bool] = []
    depth = 0
    for part in _PARTS.finditer(pattern):
        if part["escape"] == "C":
            return r"invalid escape sequence: `\C`"
        if part["name"] is not None and not _NAME.fullmatch(part["name"]):
            return f"invalid named capture: `{part[0]}`"
        if part["open"]:
            captures.append(part["plain"] is None)
            depth += captures[-1]
            if depth > _MOST_DEPTH:
                return f"expression nests too deeply: `{pattern}`"
        elif part["close"] and captures:
            depth -= captures.pop()
    return None


def matches(text: str, pattern: str) -> bool:
    """Whether the pattern matches anywhere."""
    return compile_regex(pattern).search(text) is not None


def find(text: str, pattern: str) -> str:
    """The first match, or empty text."""
    match = compile_regex(pattern).search(text)
    return "" if match is None else str(match[0])


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    """All matches, at most `limit` unless negative."""
    found: list[str] = []
    last_end = -1
    for match in compile_regex(pattern).finditer(text):
        start, end = match.span()
        # As in Go, no match is empty at the very end of the one before.
        if start == end == last_end:
            continue
        if 0 <= limit <= len(found):
            break
        last_end = end
        found.append(text[start:end])
    return found


MATCHES = (
    plain("matches", (STRING, STRING), BOOL, matches, pattern=True),
    member("matches_string", (STRING, STRING), BOOL, matches, MATCHED, pattern=True),
)
"""The standard library's function."""

REGEX = Library(
    name="kubernetes regex",
    since=(1, 0),
    functions={
        "find": (member("string_find_string", (STRING, STRING), STRING, find, FOUND, pattern=True),),
        "findAll": (
            member("string_find_all_string", (STRING, STRING), list_of(STRING), find_all, FOUND, pattern=True),
            member("string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), find_all, FOUND, pattern=True),
        ),
    },
)
