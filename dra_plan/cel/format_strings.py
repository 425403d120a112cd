"""Checked expressions, format strings and literals.

In order: a checked expression, with the results of the type check; the validator for format strings, which checks that
the arguments fit the clauses (`library.strings` does the formatting); and the values of literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct

from dra_plan.cel.library.strings import BINARY, DECIMAL, HEXADECIMAL, OCTAL, refusal, unrecognized

from .ast import Call, Const, Expr, List, Map, nodes
from .lexer import Issue
from .library import Overload
from .types import Type

# -- checked expressions -----------------------------------------------------------------------------------------------


class Checked(Struct, frozen=True, eq=False):
    """An expression that passed the check.

    `root` has resolved names (see Call and Ident). `types` are the types of all nodes, with dyn for free type
    parameters. `overloads` are the overloads that each Call may use, in the order of declaration; there are several if
    the type of an operand is dyn. `idents` are the variables or types that each Ident names; a type name has the type
    type(...).

    Constant folding (`selector`) sets the last two fields: `constants` are the values that cel-go treats as constants,
    and `results` are the results of calls that are made once but charged each time. All keys are node IDs.
    """

    source: str
    root: Expr
    types: Mapping[int, Type]
    overloads: Mapping[int, tuple[Overload, ...]]
    idents: Mapping[int, str]
    constants: Mapping[int, Any] = {}
    results: Mapping[int, Any] = {}

    @property
    def result_type(self) -> Type:
        """The type of the whole expression."""
        return self.types[self.root.id]


# -- constant format strings -------------------------------------------------------------------------------------------

_CLAUSE = re.compile(r"%(?:(%)|(?:\.([0-9]*))?(.)?)", re.DOTALL | re.ASCII)
_FORMATTED = (
    "list",
    "map",
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "timestamp",
    "bytes",
    "duration",
    "type",
    "null",
)
_TEXT = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
_CLAUSES: dict[str, tuple[Sequence[str], str]] = {
    "s": (_FORMATTED, f"string clause can only be used on {_TEXT}"),
    "d": (("int", "uint"), DECIMAL),
    "f": (("double", "string"), "fixed-point clause can only be used on doubles"),
    "e": (("double", "string"), "scientific clause can only be used on doubles"),
    "b": (("int", "uint", "bool"), BINARY),
    "x": (("int", "uint", "string", "bytes"), HEXADECIMAL),
    "X": (("int", "uint", "string", "bytes"), HEXADECIMAL),
    "o": (("int", "uint"), OCTAL),
}


class _FormatError(Exception):
    """An error that ends the check of one format string; `at` is the wrong argument, or None for the whole call."""

    def __init__(self, message: str, at: Expr | None = None) -> None:
        super().__init__(message)
        self.at = at


def format_issues(checked: Checked) -> Iterator[Issue]:
    """Yield the errors in calls of `format` on a literal string with a literal list."""
    for node in nodes(checked.root):
        if not (isinstance(node, Call) and node.function == "format" and isinstance(node.target, Const)):
            continue
        (arguments,) = node.args
        if not isinstance(arguments, List):
            continue
        assert isinstance(node.target.value, str)
        try:
            used = _check(node.target.value, arguments.elements, checked)
        except _FormatError as error:
            yield Issue(node.offset if error.at is None else error.at.offset, str(error))
            continue
        given = len(arguments.elements)
        if given > used:
            counts = f"(expected {used}, got {given})"
            yield Issue(node.offset, f"too many arguments supplied to string.format {counts}")


def _check(text: str, arguments: Sequence[Expr], checked: Checked) -> int:
    """Return the number of arguments that the text formats."""
    used = 0
    for found in _CLAUSE.finditer(text):
        if found[1]:
            continue
        if found.end() == found.start() + 1:
            raise _FormatError("unexpected end of string")
        if used >= len(arguments):
            raise _FormatError(f"index {used} out of range")
        clause = _clause(found)
        if clause == "s":
            _check_text(arguments[used], checked)
        else:
            _check_kind(clause, arguments[used], checked)
        used += 1
    return used


def _clause(found: re.Match[str]) -> str:
    """Return the letter of a valid clause."""
    precision, clause = found[2], found[3]
    if precision is not None:
        _check_precision(precision, ended=clause is None)
    if clause not in _CLAUSES:
        raise _FormatError(unrecognized(clause))
    return clause


def _check_precision(digits: str, *, ended: bool) -> None:
    problem = "could not parse formatting clause: error while parsing precision:"
    if ended:
        raise _FormatError(f"{problem} could not find end of precision specifier")
    if not digits or len(digits.lstrip("0")) > 18:
        reason = "value out of range" if digits else "invalid syntax"
        converting = f'error while converting precision to integer: strconv.Atoi: parsing "{digits}"'
        raise _FormatError(f"{problem} {converting}: {reason}")


def _check_text(argument: Expr, checked: Checked) -> None:
    """Check the argument for %s, including the elements of literal lists and maps."""
    _check_kind("s", argument, checked)
    match argument:
        case List():
            for element in argument.elements:
                _check_text(element, checked)
        case Map():
            for entry in argument.entries:
                _check_text(entry.key, checked)
                _check_text(entry.value, checked)


def _check_kind(clause: str, argument: Expr, checked: Checked) -> None:
    kinds, rule = _CLAUSES[clause]
    of = checked.types[argument.id]
    basic = of.params[0] if of.kind == "wrapper" else of
    if basic.kind != "dyn" and basic.kind not in kinds:
        _refuse(rule, basic.name, argument)


def _refuse(rule: str, given: str, argument: Expr) -> NoReturn:
    raise _FormatError(refusal(rule, given), argument)


# -- values of literals ------------------------------------------------------------------------------------------------
# The lexer and the parser decide which tokens are literals and where they may occur.

INT64_MIN, INT64_MAX, UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1

_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34, "`": 96, "?": 63}
_ESCAPE = re.compile(r"\\(?:([xX])(..)|u(....)|U(.{8})|([0-7]{3})|(.))", re.DOTALL)


def integer(text: str, *, negative: bool = False) -> int | None:
    """Return the value of an int literal, or None if it does not fit in an int64."""
    value = _magnitude(text)
    value = -value if negative else value
    return value if INT64_MIN <= value <= INT64_MAX else None


def unsigned(text: str) -> int | None:
    """Return the value of a uint literal such as `1u`, or None if it does not fit in a uint64."""
    value = _magnitude(text[:-1])
    return value if value <= UINT64_MAX else None


def floating(text: str, *, negative: bool = False) -> float | None:
    """Return the value of a double literal, or None if it is out of range."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        return None
    return -value if negative else value


def string(token: str) -> str | None:
    """Return the value of a string literal, or None if an escape in it is not a valid character."""
    body, raw = _body(token)
    if raw or "\\" not in body:
        return body
    parts, position = [], 0
    for found in _ESCAPE.finditer(body):
        code = _code(found)
        if code is None or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            return None
        parts += [body[position : found.start()], chr(code)]
        position = found.end()
    return "".join(parts) + body[position:]


def octets(token: str) -> bytes | None:
    """Return the value of a bytes literal, or None if it has an escape that only strings may have (u, U)."""
    body, raw = _body(token[1:])
    if raw or "\\" not in body:
        return body.encode()
    parts, position = b"", 0
    for found in _ESCAPE.finditer(body):
        if found[3] or found[4]:
            return None
        code = _code(found)
        assert code is not None  # the lexer accepts only complete escapes
        parts += body[position : found.start()].encode() + bytes([code])
        position = found.end()
    return parts + body[position:].encode()


def _magnitude(digits: str) -> int:
    """Return the number.

    A number that is certainly out of range is not converted (Python limits the digits it converts).
    """
    if digits.startswith("0x"):
        return int(digits, 16)
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= 20 else UINT64_MAX + 1


def _body(token: str) -> tuple[str, bool]:
    """Return the text between the quotes, with line endings normalized as in cel-go, and whether it is raw."""
    text = token.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    width = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[width:-width], raw


def _code(escape: re.Match[str]) -> int | None:
    if escape[5]:
        return int(escape[5], 8)
    digits = escape[2] or escape[3] or escape[4]
    if digits:
        return int(digits, 16)
    return _SIMPLE.get(escape[6])
