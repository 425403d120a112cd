"""The validator of constant format strings: do the arguments fit the clauses? Formatting itself is in the library."""

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from dra_plan.cel.library.text_format import BINARY, DECIMAL, HEXADECIMAL, OCTAL, refusal, unrecognized

from .ast import Call, Const, Expr, List, Map
from .checked import Checked
from .source import Issue
from .walk import nodes

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
    """Ends the check of one format string; `at` is the argument to blame, None for the call as a whole."""

    def __init__(self, message: str, at: Expr | None = None) -> None:
        super().__init__(message)
        self.at = at


def format_issues(checked: Checked) -> Iterator[Issue]:
    """Yield what is wrong with calls of `format` on a literal text with a literal list."""
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
    """Return how many arguments the text formats."""
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
    """Return the letter of a clause that can be read."""
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
    """Check what %s formats; literal lists and maps are looked into."""
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
