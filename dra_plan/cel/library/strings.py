"""Version 2 of the strings library. Positions count code points.

In order: `string.format`, as for the locale en-US; the other functions; and prices.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from dra_plan.api.go_text import go_quote
from dra_plan.cel.ast import Const
from dra_plan.cel.cost import FREE, MOST, STRING_FACTOR, UNKNOWN, Interval, traversal
from dra_plan.cel.types import DYN, INT, STRING, list_of
from dra_plan.cel.values import (
    Duration,
    EvaluationError,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    check_text,
    entries_of,
    size_of,
    spend,
    type_name,
)

from .conversions import bytes_to_string, double_to_string, duration_to_string, timestamp_to_string
from .overload import CallEstimate, Library, Price, member, plain
from .prices import SAME_SIZE, SEARCHED, Operands, by_name, first, first_twice, size, through_first

# -- string.format -----------------------------------------------------------------------------------------------------

DECIMAL = "decimal clause can only be used on integers"
BINARY = "only integers and bools can be formatted as binary"
OCTAL = "octal clause can only be used on integers"
HEXADECIMAL = "only integers, byte buffers, and strings can be formatted as hex"
"""The error messages for values that a formatting clause does not accept."""

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]*))?(.)|$)", re.DOTALL)
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_DEFAULT_PRECISION = 6


def format_text(text: str, arguments: list[Value]) -> str:
    """Return the text with each formatting clause replaced by an argument."""
    parts: list[str] = []
    position, used, length = 0, 0, 0
    for clause in _CLAUSE.finditer(text):
        parts.append(text[position : clause.start()])
        position = clause.end()
        if clause[0] == "%%":
            parts.append("%")
        else:
            parts.append(_clause(clause, arguments, used))
            used += 1
        length += len(parts[-1]) + len(parts[-2])
        check_text(length)
    return "".join(parts) + text[position:]


def _clause(clause: re.Match[str], arguments: list[Value], used: int) -> str:
    verb, precision = clause[2], clause[1]
    if verb is None:
        raise EvaluationError("could not parse formatting clause: unexpected end of string")
    if verb not in _VERBS:
        raise EvaluationError(unrecognized(verb))
    if precision == "":
        raise EvaluationError("error while parsing precision: could not find end of precision specifier")
    places = _DEFAULT_PRECISION if precision is None else int(precision[:10])
    check_text(places)
    if used >= len(arguments):
        raise EvaluationError(f"index {used} out of range")
    return _VERBS[verb](arguments[used], places)


def unrecognized(clause: str) -> str:
    """Return the error message for an unknown formatting clause."""
    return f'could not parse formatting clause: unrecognized formatting clause "{clause}"'


def refusal(rule: str, given: str) -> str:
    """Return the error message for an argument of type `given`, which violates the rule of its clause."""
    return f"error during formatting: {rule}, was given {given}"


def _refused(clause: str, value: Value) -> EvaluationError:
    return EvaluationError(refusal(clause, type_name(value)))


def _string(value: Value, _places: int = 0) -> str:
    kind = type(value)
    if kind is str:
        return str(value)
    if value is None:
        return "null"
    converter = _STRINGS.get(kind)
    if converter is not None:
        return converter(value)
    if kind is list:
        return _list(value)
    if isinstance(value, dict):
        return _map(value)
    raise _refused(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps",
        value,
    )


_STRINGS: dict[type, Callable[[Value], str]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    Uint: lambda value: str(int(value)),
    float: double_to_string,
    bytes: bytes_to_string,
    TypeValue: lambda value: str(value.name),
    Duration: duration_to_string,
    Timestamp: timestamp_to_string,
}


def _member(value: Value) -> str:
    """Return a value inside a list or map as a literal of the language."""
    kind = type(value)
    if kind is str:
        return go_quote(value)
    if kind is bytes:
        return "b" + go_quote(bytes_to_string(value))
    if kind is float:
        return _double_member(value)
    if kind is Duration or kind is Timestamp:
        return f'{"duration" if kind is Duration else "timestamp"}("{_STRINGS[kind](value)}")'
    if kind is list or isinstance(value, dict) or value is None or kind in _STRINGS:
        return _string(value)
    raise EvaluationError(f"error during formatting: no formatting function for {type_name(value)}")


def _double_member(value: float) -> str:
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"+Inf"' if value > 0 else '"-Inf"'
    return f"{value:.6f}"


def _list(values: list[Value]) -> str:
    spend(len(values) + 1)
    return f"[{_joined_clauses(map(_member, values))}]"


def _map(mapping: dict[Value, Value]) -> str:
    spend(len(mapping) + 1)
    entries: list[tuple[str, str]] = []
    for key, value in entries_of(mapping):
        if type(key) not in (str, bool, int, Uint):
            raise EvaluationError(
                f"error during formatting: no formatting function for map key of type {type_name(key)}"
            )
        entries.append((_member(key), _member(value)))
    entries.sort(key=lambda entry: entry[0])
    return "{" + _joined_clauses(f"{key}:{value}" for key, value in entries) + "}"


def _joined_clauses(parts: Iterable[str]) -> str:
    collected, length = [], 0
    for part in parts:
        length += len(part) + 2
        check_text(length)
        collected.append(part)
    return ", ".join(collected)


def _decimal(value: Value, _places: int) -> str:
    if type(value) is int or type(value) is Uint:
        return str(int(value))
    raise _refused(DECIMAL, value)


def _number(value: Value, clause: str) -> float:
    if type(value) is float:
        return value
    if type(value) is str and value in _SPECIAL:
        return _SPECIAL[value]
    raise _refused(f"{clause} clause can only be used on doubles", value)


def _not_finite(number: float) -> str:
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _fixed(value: Value, places: int) -> str:
    number = _number(value, "fixed-point")
    return f"{number:,.{places}f}" if math.isfinite(number) else _not_finite(number)


def _scientific(value: Value, places: int) -> str:
    """Return the number with six decimals, whatever the clause requests.

    Upstream takes the number in `%.3e` as the text's width.
    """
    number = _number(value, "scientific")
    if not math.isfinite(number):
        return _not_finite(number).rjust(places)
    mantissa, _, exponent = f"{number:.{_DEFAULT_PRECISION}e}".partition("e")
    power = exponent.lstrip("+").translate(_SUPERSCRIPT)
    return f"{mantissa}\u202f\u00d7\u202f10{power}".rjust(places)


def _binary(value: Value, _places: int) -> str:
    if type(value) in (int, Uint, bool):
        return format(int(value), "b")
    raise _refused(BINARY, value)


def _octal(value: Value, _places: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "o")
    raise _refused(OCTAL, value)


def _hexadecimal(value: Value, _places: int) -> str:
    kind = type(value)
    if kind is str:
        return str(value.encode().hex())
    if kind is bytes:
        return str(value.hex())
    if kind is int or kind is Uint:
        return format(int(value), "x")
    raise _refused(HEXADECIMAL, value)


_VERBS: dict[str, Callable[[Value, int], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal,
    "X": lambda value, places: _hexadecimal(value, places).upper(),
}


# -- other text functions ----------------------------------------------------------------------------------------------

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def char_at(text: str, index: int) -> str:
    """Return the character at the index, or an empty string at the end of the text."""
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    """Return the first position of the part from `start` on, or -1. An empty part is found at `start`."""
    if not part:
        return start
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


def last_index_of(text: str, part: str) -> int:
    """Return the last position of the part, or -1. An empty part is found at the end."""
    return text.rfind(part)


def last_index_before(text: str, part: str, start: int) -> int:
    """Return the last position of the part up to `start`, or -1. An empty part is found at `start`.

    As in upstream, the result is -1 if `start` is beyond the end of the text.
    """
    if not part:
        return start
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def lower_ascii(text: str) -> str:
    """Return the text with the letters A to Z in lower case."""
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    """Return the text with the letters a to z in upper case."""
    return text.translate(_UPPER)


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    """Return the text with `old` replaced by `new`, at most `limit` times if it is not negative.

    An empty `old` is found between all characters.
    """
    if len(new) > len(old):
        places = text.count(old) if limit < 0 else min(limit, text.count(old))
        check_text(len(text) + places * (len(new) - len(old)))
    return text.replace(old, new, max(limit, -1))


def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """Return the parts between separators, but at most `limit` if it is not negative.

    An empty separator splits the text into characters.
    """
    if limit == 0:
        return []
    if separator:
        return text.split(separator, -1 if limit < 0 else limit - 1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def substring_from(text: str, start: int) -> str:
    """Return the text from position `start` on."""
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text[start:]


def substring(text: str, start: int, end: int) -> str:
    """Return the text from position `start` up to but not including `end`."""
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for position in (start, end):
        if not 0 <= position <= len(text):
            raise EvaluationError(f"index out of range: {position}")
    return text[start:end]


def trim(text: str) -> str:
    """Return the text without leading and trailing Unicode white space."""
    start, end = 0, len(text)
    while start < end and _SPACE.match(text[start]):
        start += 1
    while end > start and _SPACE.match(text[end - 1]):
        end -= 1
    return text[start:end]


def quote(text: str) -> str:
    """Return the text in double quotes, with control characters, quotes and backslashes escaped."""
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return f'"{escaped}"'


def join(parts: list[Value], separator: str = "") -> str:
    """Return the texts joined by the separator."""
    for part in parts:
        if type(part) is not str:
            raise EvaluationError("join: invalid input")
    check_text(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


# -- prices and the table ----------------------------------------------------------------------------------------------


def _replaced(operands: Operands) -> CallEstimate:
    text, old, new = map(size, operands[:3])
    count_most, kept_most = _replacements(text.most, old.least, grows=new.most > old.least)
    count_least, kept_least = _replacements(text.least, old.most, grows=old.most > new.least)
    result = Interval(count_least, count_most).times(new).plus(Interval(kept_least, kept_most))
    return CallEstimate(text.scaled(2 * STRING_FACTOR), result)


def _replacements(length: int, old: int, *, grows: bool) -> tuple[int, int]:
    """Return how often a string of length `old` is replaced, and the length of the remaining original."""
    if old == 0:  # an empty text is found around every character
        return (length + 1 if length < MOST else length), length
    if not grows:
        return 0, length
    return min(math.ceil(float(length) / float(old)), MOST), 0


def _parts(operands: Operands) -> CallEstimate:
    text = size(operands[0])
    most = text.most
    if len(operands) > 2 and isinstance(limit := operands[2].expr, Const) and limit.kind == "int":
        most = int(limit.value or 0) % (MOST + 1)  # a negative limit becomes a huge one, as in upstream
    return CallEstimate(text.scaled(2 * STRING_FACTOR), Interval(0, most))


def _joined(operands: Operands) -> CallEstimate:
    count, length = size(operands[0]), FREE
    if operands[0].type.params:
        length = count.times(operands[0].items or UNKNOWN)
    if len(operands) > 1:
        separators = Interval(max(count.least - 1, 0), max(count.most - 1, 0))
        length = length.plus(size(operands[1]).times(separators))
    return CallEstimate(length.scaled(STRING_FACTOR), length)


def _quoted(operands: Operands) -> CallEstimate:
    text = size(operands[0])
    most = (text.most * 2 + 2) % (MOST + 1)
    return CallEstimate(text.scaled(STRING_FACTOR), Interval((text.least + 2) % (MOST + 1), most))


_REPLACE = by_name(first_twice, _replaced)
_SPLIT = by_name(first_twice, _parts)
_JOIN = by_name(lambda _arguments, result: traversal(2 * size_of(result)), _joined)

STRINGS = Library(
    name="strings version 2",
    since=(1, 29),
    functions={
        "charAt": (member("string_char_at_int", (STRING, INT), STRING, char_at),),
        "indexOf": (
            member("string_index_of_string", (STRING, STRING), INT, index_of, SEARCHED),
            member("string_index_of_string_int", (STRING, STRING, INT), INT, index_of, SEARCHED),
        ),
        "lastIndexOf": (
            member("string_last_index_of_string", (STRING, STRING), INT, last_index_of, SEARCHED),
            member("string_last_index_of_string_int", (STRING, STRING, INT), INT, last_index_before, SEARCHED),
        ),
        "lowerAscii": (member("string_lower_ascii", (STRING,), STRING, lower_ascii, SAME_SIZE),),
        "upperAscii": (member("string_upper_ascii", (STRING,), STRING, upper_ascii, SAME_SIZE),),
        "replace": (
            member("string_replace_string_string", (STRING, STRING, STRING), STRING, replace, _REPLACE),
            member("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING, replace, _REPLACE),
        ),
        "split": (
            member("string_split_string", (STRING, STRING), list_of(STRING), split, _SPLIT),
            member("string_split_string_int", (STRING, STRING, INT), list_of(STRING), split, _SPLIT),
        ),
        "substring": (
            member("string_substring_int", (STRING, INT), STRING, substring_from, SAME_SIZE),
            member("string_substring_int_int", (STRING, INT, INT), STRING, substring, SAME_SIZE),
        ),
        "trim": (member("string_trim", (STRING,), STRING, trim, SAME_SIZE),),
        "format": (
            member(
                "string_format", (STRING, list_of(DYN)), STRING, format_text, Price(first, through_first),
                any_number=True,
            ),
        ),
        "strings.quote": (plain("strings_quote", (STRING,), STRING, quote, Price(first, _quoted)),),
        "join": (
            member("list_join", (list_of(STRING),), STRING, join, _JOIN),
            member("list_join_string", (list_of(STRING), STRING), STRING, join, _JOIN),
        ),
    },
)  # fmt: skip
