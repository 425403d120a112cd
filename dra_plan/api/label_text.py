"""Label selectors as text, as `-l` takes them: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`.

The syntax, the rules and the error texts are those of apimachinery's `labels.Parse`, which kubectl and the API server
use. Whether labels match a selector is decided in `selectors`.
"""

from __future__ import annotations

import re

from dra_plan.errors import UsageError

from .go_text import go_quote
from .meta import LabelSelector, LabelSelectorRequirement
from .names import label_key_problems
from .selectors import as_one, requirement_problems

_SIGNS = "=!(),<>"
_TOKEN = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_END = ""

_FIRST_VALUE = "',', ')' or identifier"
_NEXT_VALUE = "',', or identifier"
_AFTER_VALUE = "',' or ')'"


def parse_selector(text: str | None) -> LabelSelector | None:
    """The selector that a text describes, its values sorted; None for None or blank text, which selects everything.

    Raises `UsageError` in kubectl's words for what kubectl refuses.
    """
    tokens = _Tokens(text or "")
    if tokens.next == _END:
        return None
    try:
        return LabelSelector(match_expressions=_requirements(tokens))
    except _SelectorTextError as refused:
        raise UsageError(f"couldn't parse the selector string {go_quote(text or '')}: {refused}") from None


class _SelectorTextError(Exception):
    """What is wrong, as `labels.Parse` says it."""


class _Tokens:
    """The tokens of a text, one after another; behind the last comes `_END` for ever."""

    def __init__(self, text: str) -> None:
        self._left = _TOKEN.findall(text)[::-1]

    @property
    def next(self) -> str:
        return self._left[-1] if self._left else _END

    def take(self) -> str:
        return self._left.pop() if self._left else _END


def _is_identifier(token: str) -> bool:
    return token != _END and token[0] not in _SIGNS


def _requirements(tokens: _Tokens) -> list[LabelSelectorRequirement]:
    if tokens.next != "!" and not _is_identifier(tokens.next):
        raise _SelectorTextError(f"found '{tokens.next}', expected: !, identifier, or 'end of string'")
    found = []
    while True:
        try:
            found.append(_requirement(tokens))
        except _SelectorTextError as refused:
            raise _SelectorTextError(f"unable to parse requirement: {refused}") from None
        token = tokens.take()
        if token == _END:
            return found
        if token != ",":
            raise _SelectorTextError(f"found '{token}', expected: ',' or 'end of string'")
        if tokens.next != "!" and not _is_identifier(tokens.next):
            raise _SelectorTextError(f"found '{tokens.next}', expected: identifier after ','")


def _requirement(tokens: _Tokens) -> LabelSelectorRequirement:
    negated = tokens.next == "!"
    if negated:
        tokens.take()
    key = tokens.take()
    if not _is_identifier(key):
        raise _SelectorTextError(f"found '{key}', expected: identifier")
    if problems := label_key_problems(key):
        raise _SelectorTextError(f"<nil>: Invalid value: {go_quote(key)}: {'; '.join(problems)}")
    if negated:
        return LabelSelectorRequirement(key=key, operator="DoesNotExist")
    if tokens.next in (",", _END):
        return LabelSelectorRequirement(key=key, operator="Exists")
    sign = tokens.take()
    if sign not in _OPERATORS:
        raise _SelectorTextError(f"found '{sign}', expected: in, notin, =, ==, !=, gt, lt")
    values = _set(tokens) if sign in ("in", "notin") else [_value(tokens)]
    if found := list(requirement_problems(key, _OPERATORS[sign], values)):
        raise _SelectorTextError(as_one(found))
    return LabelSelectorRequirement(key=key, operator=_OPERATORS[sign], values=values)


def _value(tokens: _Tokens) -> str:
    """The value after an operator; where it is missing, the empty one is meant."""
    if tokens.next in (",", _END):
        return ""
    token = tokens.take()
    if not _is_identifier(token):
        raise _SelectorTextError(f"found '{token}', expected: identifier")
    return token


def _set(tokens: _Tokens) -> list[str]:
    """The values in parentheses; between commas, and in `()`, the empty one is meant."""
    if (token := tokens.take()) != "(":
        raise _SelectorTextError(f"found '{token}' expected: '('")
    values = set()
    expected = _FIRST_VALUE
    while True:
        token = tokens.take()
        if token in (")", ",") and expected != _AFTER_VALUE:
            values.add("")
        if token == ")":
            return sorted(values)
        if token == ",":
            expected = _NEXT_VALUE
        elif _is_identifier(token) and expected != _AFTER_VALUE:
            values.add(token)
            expected = _AFTER_VALUE
        else:
            raise _SelectorTextError(f"found '{token}', expected: {expected}")
