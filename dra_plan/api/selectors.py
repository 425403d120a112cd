"""Matching of node selectors and label selectors, as component-helpers and apimachinery do it.

Pure functions over names and label maps. Which selector applies to what is decided by the callers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from .meta import LabelSelector, LabelSelectorRequirement

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_INT64 = range(-(2**63), 2**63)
_NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_NO_LABELS: dict[str, str] = {}


def node_matches(selector: NodeSelector, name: str, labels: Mapping[str, str] | None) -> bool:
    """Whether any term of the selector matches the node (`nodeaffinity.NodeSelector.Match`)."""
    return any(term_matches(term, name, labels) for term in selector.node_selector_terms)


def term_matches(term: NodeSelectorTerm, name: str, labels: Mapping[str, str] | None) -> bool:
    """Whether all requirements of a term hold; an empty term matches nothing."""
    if not term.match_expressions and not term.match_fields:
        return False
    labels = labels or _NO_LABELS
    return all(requirement_holds(r.operator, r.values, labels.get(r.key)) for r in term.match_expressions) and all(
        _field_holds(r, name) for r in term.match_fields
    )


def requirement_holds(operator: str, values: list[str] | None, value: str | None) -> bool:
    """Whether a label's value (None: the label is missing) meets a requirement; unknown operators never hold."""
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
    if text is None or not _INTEGER.match(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


def _field_holds(requirement: NodeSelectorRequirement, name: str) -> bool:
    """Only metadata.name exists as a field; another one is as if it were empty."""
    value = name if requirement.key == "metadata.name" else ""
    return (value in requirement.values) == (requirement.operator == "In")


def selector_problem(selector: NodeSelector) -> str | None:
    """What upstream's parser refuses in a node selector, or None; the refusal is fatal for DRA slices."""
    problems = [
        problem
        for index, term in enumerate(selector.node_selector_terms)
        for problem in term_problems(term, f"nodeSelectorTerms[{index}]")
    ]
    if len(problems) > 1:
        return f"[{', '.join(problems)}]"
    return problems[0] if problems else None


def as_go(selector: NodeSelector) -> str:
    """The selector as Kubernetes' generated `String` method writes it into error texts."""
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


def term_problems(term: NodeSelectorTerm, path: str) -> list[str]:
    """The problems of one term, worded as the API server words them."""
    found = []
    for index, requirement in enumerate(term.match_expressions):
        found += _expression_problems(requirement, f"{path}.matchExpressions[{index}]")
    for index, requirement in enumerate(term.match_fields):
        found += _field_problems(requirement, f"{path}.matchFields[{index}]")
    return found


def _expression_problems(requirement: NodeSelectorRequirement, path: str) -> list[str]:
    if requirement.operator not in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"):
        supported = 'supported values: "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"'
        return [f'{path}.operator: Unsupported value: "{requirement.operator}": {supported}']
    return requirement_problems(requirement.key, requirement.operator, requirement.values, path)


def requirement_problems(key: str, operator: str, values: list[str] | None, path: str) -> list[str]:
    """What `labels.NewRequirement` refuses."""
    found = []
    if not _is_qualified_name(key):
        found.append(f'{path}.key: Invalid value: "{key}": must be a qualified name')
    count = len(values or ())
    if operator in ("In", "NotIn") and not count:
        found.append(f"{path}.values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist") and count:
        found.append(f"{path}.values: Invalid value: {values}: values set must be empty for exists and does not exist")
    elif operator in ("Gt", "Lt"):
        if count != 1:
            found.append(
                f"{path}.values: Invalid value: {values}: for 'Gt', 'Lt' operators, exactly one value is required"
            )
        elif _int64((values or [""])[0]) is None:
            value = (values or [""])[0]
            found.append(
                f"{path}.values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer"
            )
    found += [
        f'{path}.values[{index}]: Invalid value: "{value}": a valid label must be at most 63 characters of '
        "alphanumerics, '-', '_' or '.', and start and end with an alphanumeric"
        for index, value in enumerate(values or ())
        if not _is_label_value(value)
    ]
    return found


def _field_problems(requirement: NodeSelectorRequirement, path: str) -> list[str]:
    if requirement.operator not in ("In", "NotIn"):
        return [f'{path}.operator: Unsupported value: "{requirement.operator}": supported values: "In", "NotIn"']
    if len(requirement.values) != 1:
        return [f"{path}.values: Invalid value: {requirement.values}: must have one element"]
    return []


def _is_qualified_name(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= 253 and _SUBDOMAIN.match(prefix)):
        return False
    return 0 < len(name) <= 63 and _NAME_PART.match(name) is not None


def _is_label_value(value: str) -> bool:
    return value == "" or (len(value) <= 63 and _NAME_PART.match(value) is not None)


def labels_match(selector: LabelSelector | None, labels: Mapping[str, str] | None) -> bool:
    """Whether a label selector selects a label map: absent selects nothing, empty selects everything."""
    if selector is None:
        return False
    labels = labels or _NO_LABELS
    return all(labels.get(key) == value for key, value in (selector.match_labels or {}).items()) and all(
        _label_requirement_holds(r, labels) for r in selector.match_expressions or ()
    )


def _label_requirement_holds(requirement: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    return requirement.operator not in ("Gt", "Lt") and requirement_holds(
        requirement.operator, requirement.values, labels.get(requirement.key)
    )
