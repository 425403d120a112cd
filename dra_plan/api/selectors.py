"""Matching of labels and taints: node selectors, label selectors and tolerations.

The rules are those of component-helpers and apimachinery.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from dra_plan.errors import UsageError

from .core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from .go_text import go_quote, label_key_problems, label_value_problems
from .meta import FieldPath, LabelSelector, LabelSelectorRequirement

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DIGITS = 19
_INT64 = range(-(2**63), 2**63)
_NO_LABELS: dict[str, str] = {}


def node_matches(selector: NodeSelector, name: str, labels: Mapping[str, str] | None) -> bool:
    """Return whether the node matches at least one term of the selector, as `nodeaffinity.NodeSelector.Match` does."""
    return any(term_matches(term, name, labels) for term in selector.node_selector_terms)


def term_matches(term: NodeSelectorTerm, name: str, labels: Mapping[str, str] | None) -> bool:
    """Return whether the node meets all requirements of the term. An empty term matches no node."""
    if not term.match_expressions and not term.match_fields:
        return False
    labels = labels or _NO_LABELS
    return all(requirement_holds(r.operator, r.values, labels.get(r.key)) for r in term.match_expressions) and all(
        _field_holds(r, name) for r in term.match_fields
    )


def requirement_holds(operator: str, values: list[str] | None, value: str | None) -> bool:
    """Return whether a label with this value meets a requirement; a missing label has the value None.

    An unknown operator is never met.
    """
    match operator:
        case "In":
            return value is not None and value in (values or ())
        case "NotIn":
            return value is None or value not in (values or ())
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(operator, values, value)
    return False


def _compares(operator: str, values: list[str] | None, value: str | None) -> bool:
    offered, wanted = _int64(value), _int64(values[0] if values else None)
    if offered is None or wanted is None:
        return False
    return offered > wanted if operator == "Gt" else offered < wanted


def _int64(text: str | None) -> int | None:
    digits = text.lstrip("+-0") if text is not None else ""
    if text is None or not _INTEGER.match(text) or len(digits) > _DIGITS:
        return None
    number = int(digits or 0) * (-1 if text.startswith("-") else 1)
    return number if number in _INT64 else None


def is_int64(text: str) -> bool:
    """Return whether Gt and Lt can compare the text: it must be an integer that fits in an int64."""
    return _int64(text) is not None


def _field_holds(requirement: NodeSelectorRequirement, name: str) -> bool:
    """Return whether a field requirement is met; only metadata.name exists, and any other field counts as empty."""
    value = name if requirement.key == "metadata.name" else ""
    return (value in requirement.values) == (requirement.operator == "In")


class FieldProblem(NamedTuple):
    """A problem with a field, with apimachinery's message.

    `str()` returns the path and the message, as upstream does.
    """

    path: FieldPath
    message: str
    key: str | None = None
    """The label whose value is wrong. Upstream writes it after the path."""

    def __str__(self) -> str:
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"{steps[1:]}{'' if self.key is None else f'[{self.key}]'}: {self.message}"


def selector_problem(selector: NodeSelector) -> str | None:
    """Return why upstream rejects a node selector, or None if it is valid.

    A slice with an invalid node selector ends the scheduling attempt of a pod.
    """
    problems = [
        problem
        for index, term in enumerate(selector.node_selector_terms)
        for problem in term_problems(term, ("nodeSelectorTerms", index))
    ]
    return as_one(problems) if problems else None


def as_one(problems: Iterable[FieldProblem]) -> str:
    """Return the problems as one text, without duplicates, as apimachinery's `errors.Aggregate` does.

    Several problems are enclosed in brackets.
    """
    texts = list(dict.fromkeys(map(str, problems)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def as_go(selector: NodeSelector) -> str:
    """Return the selector as the `String` method in Kubernetes writes it in error messages."""
    terms = "".join(
        f"NodeSelectorTerm{{MatchExpressions:{_requirements_as_go(term.match_expressions)},"
        f"MatchFields:{_requirements_as_go(term.match_fields)},}},"
        for term in selector.node_selector_terms
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}}},}}"


def _requirements_as_go(requirements: Sequence[NodeSelectorRequirement]) -> str:
    items = "".join(
        f"NodeSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values)}],}},"
        for each in requirements
    )
    return f"[]NodeSelectorRequirement{{{items}}}"


def term_problems(term: NodeSelectorTerm, path: FieldPath = ()) -> Iterator[FieldProblem]:
    """Yield the problems with a term, as the API server and the scheduler report them."""
    for index, requirement in enumerate(term.match_expressions):
        yield from _expression_problems(requirement, (*path, "matchExpressions", index))
    for index, requirement in enumerate(term.match_fields):
        yield from _field_problems(requirement, (*path, "matchFields", index))


def _expression_problems(requirement: NodeSelectorRequirement, path: FieldPath) -> Iterator[FieldProblem]:
    if requirement.operator in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"):
        yield from requirement_problems(requirement.key, requirement.operator, requirement.values, path)
    else:
        supported = 'supported values: "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"'
        yield FieldProblem((*path, "operator"), f'Unsupported value: "{requirement.operator}": {supported}')


def requirement_problems(
    key: str, operator: str, values: Sequence[str], path: FieldPath = ()
) -> Iterator[FieldProblem]:
    """Yield the reasons why `labels.NewRequirement` rejects a requirement."""
    if problem := _key_problem(key):
        yield FieldProblem((*path, "key"), problem)
    at = (*path, "values")
    if operator in ("In", "NotIn") and not values:
        yield FieldProblem(at, "Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist") and values:
        yield FieldProblem(at, f"Invalid value: {values}: values set must be empty for exists and does not exist")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield FieldProblem(at, f"Invalid value: {values}: for 'Gt', 'Lt' operators, exactly one value is required")
        for index, value in enumerate(values):
            if _int64(value) is None:
                told = _invalid(value, ["for 'Gt', 'Lt' operators, the value must be an integer"])
                yield FieldProblem((*at, index), told)
    for index, value in enumerate(values):
        if problem := _value_problem(value):
            yield FieldProblem((*at, index), problem, key)


@lru_cache(maxsize=1024)  # the same few labels are checked for every node
def _key_problem(key: str) -> str:
    problems = label_key_problems(key)
    return _invalid(key, problems) if problems else ""


@lru_cache(maxsize=1024)
def _value_problem(value: str) -> str:
    problems = label_value_problems(value)
    return _invalid(value, problems) if problems else ""


def _invalid(value: str, problems: Iterable[str]) -> str:
    return f"Invalid value: {go_quote(value)}: {'; '.join(problems)}"


def _field_problems(requirement: NodeSelectorRequirement, path: FieldPath) -> Iterator[FieldProblem]:
    if requirement.operator not in ("In", "NotIn"):
        supported = 'supported values: "In", "NotIn"'
        yield FieldProblem((*path, "operator"), f'Unsupported value: "{requirement.operator}": {supported}')
    elif len(requirement.values) != 1:
        yield FieldProblem((*path, "values"), f"Invalid value: {requirement.values}: must have one element")


def labels_match(selector: LabelSelector | None, labels: Mapping[str, str] | None) -> bool:
    """Return whether the selector selects an object with these labels.

    An empty selector selects everything; a missing selector selects nothing.
    """
    if selector is None:
        return False
    labels = labels or _NO_LABELS
    return all(labels.get(key) == value for key, value in (selector.match_labels or {}).items()) and all(
        requirement_holds(r.operator, r.values, labels.get(r.key)) for r in selector.match_expressions or ()
    )


# -- tolerations -------------------------------------------------------------------------------------------------------
# The taints of nodes and of devices follow the same rule, although their types differ.

BLOCKING = ("NoSchedule", "NoExecute")
"""The taint effects that reject everything that does not tolerate the taint."""


class _Taint(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


class _Toleration(_Taint, Protocol):
    @property
    def operator(self) -> str: ...


def near_toleration(tolerations: Iterable[_Toleration], key: str) -> str:
    """Return the first toleration with this key, written like a taint, or "" if there is none."""
    found = next((one for one in tolerations if one.key == key), None)
    if found is None:
        return ""
    value = f"={found.value}" if found.value else ""
    return f"{key}{value}{f':{found.effect}' if found.effect else ''}"


def tolerates(toleration: _Toleration, taint: _Taint) -> bool:
    """Return whether the toleration covers the taint.

    The toleration's key and effect must be empty or equal to those of the taint; `tolerationSeconds` is ignored. A
    toleration with the operator Gt or Lt, which needs an alpha feature gate, covers nothing.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


# -- label selectors as text -------------------------------------------------------------------------------------------
# The format of `-l`: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. The syntax, the rules and the error texts are those of
# apimachinery's `labels.Parse`, which kubectl and the API server use.

_SIGNS = "=!(),<>"
_TOKEN = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_END = ""

_FIRST_VALUE = "',', ')' or identifier"
_NEXT_VALUE = "',', or identifier"
_AFTER_VALUE = "',' or ')'"


_WRITTEN: dict[str, Callable[[str, list[str]], str]] = {
    "In": lambda key, values: f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})",
    "NotIn": lambda key, values: f"{key}!={values[0]}" if len(values) == 1 else f"{key} notin ({','.join(values)})",
    "Exists": lambda key, _values: key,
    "DoesNotExist": lambda key, _values: f"!{key}",
}


def selector_text(selector: LabelSelector | None) -> str:
    """Return the selector as text for `-l`, or "" if it is empty or missing."""
    if selector is None:
        return ""
    written = [f"{key}={value}" for key, value in (selector.match_labels or {}).items()]
    wanted = (one for one in selector.match_expressions or () if one.operator in _WRITTEN)
    written += (_WRITTEN[one.operator](one.key, one.values or [""]) for one in wanted)
    return ",".join(written)


def parse_selector(text: str | None) -> LabelSelector | None:
    """Return the selector that the text describes, or None, which selects everything, if the text is blank.

    Values are sorted. Raises `UsageError` with kubectl's message.
    """
    tokens = _Tokens(text or "")
    if tokens.next == _END:
        return None
    try:
        return LabelSelector(match_expressions=_requirements(tokens))
    except _SelectorTextError as refused:
        raise UsageError(f"couldn't parse the selector string {go_quote(text or '')}: {refused}") from None


class _SelectorTextError(Exception):
    """A parse error in the words of `labels.Parse`."""


class _Tokens:
    """The tokens in a string, one after another; after the last token, `_END` is repeated forever."""

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
    """Return the value after an operator; a missing value is read as an empty string."""
    if tokens.next in (",", _END):
        return ""
    token = tokens.take()
    if not _is_identifier(token):
        raise _SelectorTextError(f"found '{token}', expected: identifier")
    return token


def _set(tokens: _Tokens) -> list[str]:
    """Return the values in parentheses; a missing value between commas, or in `()`, is read as an empty string."""
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
