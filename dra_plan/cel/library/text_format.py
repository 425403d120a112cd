"""`string.format`: clauses as of version 2 of the strings library, for the locale en-US."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from dra_plan.api.go_text import go_quote
from dra_plan.cel.values import (
    Duration,
    EvaluationError,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    check_text,
    entries_of,
    spend,
    type_name,
)

from .conversions import bytes_to_string, double_to_string, duration_to_string, timestamp_to_string

DECIMAL = "decimal clause can only be used on integers"
BINARY = "only integers and bools can be formatted as binary"
OCTAL = "octal clause can only be used on integers"
HEXADECIMAL = "only integers, byte buffers, and strings can be formatted as hex"
"""What clauses can format."""

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]*))?(.)|$)", re.DOTALL)
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_DEFAULT_PRECISION = 6


def format_text(text: str, arguments: list[Value]) -> str:
    """The text with each clause replaced by the next argument."""
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
    """What is wrong with a format that has such a clause."""
    return f'could not parse formatting clause: unrecognized formatting clause "{clause}"'


def refusal(rule: str, given: str) -> str:
    """What is wrong with a value of the type that was given."""
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
    """A value inside a list or map: as a literal of the language."""
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
    return f"[{_joined(map(_member, values))}]"


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
    return "{" + _joined(f"{key}:{value}" for key, value in entries) + "}"


def _joined(parts: Iterable[str]) -> str:
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
    """Six decimals whatever the clause asks for: upstream takes the number in `%.3e` for the width of the text."""
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
