"""Functions of text: the standard ones, the strings library (version 2, without format) and Kubernetes' regex library.

Positions count code points. `format` is in `text_format`.
"""

from __future__ import annotations

import re

from dra_plan.cel.library.base import overload
from dra_plan.cel.library.patterns import compile_regex
from dra_plan.cel.values import EvaluationError, Value, check_text

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


@overload("contains_string", "string", "string")
def contains(text: str, part: str) -> bool:
    """Whether the part occurs in the text."""
    return part in text


@overload("starts_with_string", "string", "string")
def starts_with(text: str, part: str) -> bool:
    """Whether the text begins so."""
    return text.startswith(part)


@overload("ends_with_string", "string", "string")
def ends_with(text: str, part: str) -> bool:
    """Whether the text ends so."""
    return text.endswith(part)


@overload("string_char_at_int", "string", "int")
def char_at(text: str, index: int) -> str:
    """The character there, empty at the end."""
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


@overload("string_index_of_string", "string", "string")
@overload("string_index_of_string_int", "string", "string", "int")
def index_of(text: str, part: str, start: int = 0) -> int:
    """Where the part occurs first from `start` on, or -1; `start` itself for an empty part."""
    if not part:
        return start
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


@overload("string_last_index_of_string", "string", "string")
def last_index_of(text: str, part: str) -> int:
    """Where the part occurs last, or -1; the length for an empty part."""
    return text.rfind(part)


@overload("string_last_index_of_string_int", "string", "string", "int")
def last_index_before(text: str, part: str, start: int) -> int:
    """Where the part begins last, at `start` at most, or -1; `start` itself for an empty part.

    A start behind the end finds nothing, as upstream.
    """
    if not part:
        return start
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


@overload("string_lower_ascii", "string")
def lower_ascii(text: str) -> str:
    """A to Z in lower case."""
    return text.translate(_LOWER)


@overload("string_upper_ascii", "string")
def upper_ascii(text: str) -> str:
    """Letters a to z in upper case."""
    return text.translate(_UPPER)


@overload("string_replace_string_string", "string", "string", "string")
@overload("string_replace_string_string_int", "string", "string", "string", "int")
def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    """The text with `old` replaced, at most `limit` times unless negative; an empty `old` is between all characters."""
    if len(new) > len(old):
        places = text.count(old) if limit < 0 else min(limit, text.count(old))
        check_text(len(text) + places * (len(new) - len(old)))
    return text.replace(old, new, max(limit, -1))


@overload("string_split_string", "string", "string")
@overload("string_split_string_int", "string", "string", "int")
def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts between separators, at most `limit` unless negative; single characters for an empty separator."""
    if limit == 0:
        return []
    if separator:
        return text.split(separator, -1 if limit < 0 else limit - 1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


@overload("string_substring_int", "string", "int")
def substring_from(text: str, start: int) -> str:
    """The text from a position on."""
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text[start:]


@overload("string_substring_int_int", "string", "int", "int")
def substring(text: str, start: int, end: int) -> str:
    """The text from one position up to another."""
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for position in (start, end):
        if not 0 <= position <= len(text):
            raise EvaluationError(f"index out of range: {position}")
    return text[start:end]


@overload("string_trim", "string")
def trim(text: str) -> str:
    """The text without white space around it, as Unicode defines that."""
    start, end = 0, len(text)
    while start < end and _SPACE.match(text[start]):
        start += 1
    while end > start and _SPACE.match(text[end - 1]):
        end -= 1
    return text[start:end]


@overload("strings_quote", "string")
def quote(text: str) -> str:
    """The text in double quotes with control characters, quotes and backslashes escaped."""
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return f'"{escaped}"'


@overload("list_join", "list(string)")
@overload("list_join_string", "list(string)", "string")
def join(parts: list[Value], separator: str = "") -> str:
    """The texts with the separator between them."""
    for part in parts:
        if type(part) is not str:
            raise EvaluationError("join: invalid input")
    check_text(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


@overload("matches", "string", "string")
@overload("matches_string", "string", "string")
def matches(text: str, pattern: str) -> bool:
    """Whether the pattern matches anywhere."""
    return compile_regex(pattern).search(text) is not None


@overload("string_find_string", "string", "string")
def find(text: str, pattern: str) -> str:
    """The first match, or empty text."""
    match = compile_regex(pattern).search(text)
    return "" if match is None else str(match[0])


@overload("string_find_all_string", "string", "string")
@overload("string_find_all_string_int", "string", "string", "int")
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
