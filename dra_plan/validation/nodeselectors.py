"""DRA131, DRA154: node selectors of slices, devices and allocations, as the API server and the scheduler read them.

The API server (`ValidateNodeSelector`) looks at each field of a requirement by itself and names all that is wrong; the
scheduler's parser, which stops at what the API server lets pass, is in `api/selectors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.go_text import label_key_problems, label_value_problems
from dra_plan.api.meta import FieldPath
from dra_plan.api.selectors import is_int64

from . import names
from .rule import Problem, refused, warning
from .words import count, nearest, shown

NODE_SELECTOR = refused(
    "DRA131",
    "node selector that the API server refuses",
    "A slice's selector must have exactly one term, and keys, operators and values must have their formats. Gt and Lt "
    "take one value; In and NotIn at least one, and for the field metadata.name exactly one.",
    "Write one term; use more devices or slices for more.",
)
UNREADABLE_SELECTOR = warning(
    "DRA154",
    "node selector that only the scheduler stumbles over",
    "The API server takes several terms in a device's selector, and any label value for Gt and Lt. With several terms "
    "the allocation of the device is an error, and with a value that is no integer the selector can't be read: either "
    "stops the pod on all nodes.",
    "Write one term, and integers for Gt and Lt.",
    refused_by="Scheduler",
)
RULES = (NODE_SELECTOR, UNREADABLE_SELECTOR)

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = _OPERATORS[:2]


def check(path: FieldPath, selector: NodeSelector, *, in_device: bool) -> Iterator[Problem]:
    """The selector of a slice, or of one of its devices."""
    terms, path = selector.node_selector_terms, (*path, "nodeSelectorTerms")
    if len(terms) != 1:
        rule = UNREADABLE_SELECTOR if terms and in_device else NODE_SELECTOR
        yield rule.at(path, f"{count(len(terms), 'term')}; exactly one is allowed")
    yield from check_terms(path, terms)


def check_terms(path: FieldPath, terms: Sequence[NodeSelectorTerm]) -> Iterator[Problem]:
    """The terms of a node selector."""
    for index, term in enumerate(terms):
        yield from check_term((*path, index), term)


def check_term(path: FieldPath, term: NodeSelectorTerm) -> Iterator[Problem]:
    """One term of a node selector."""
    for number, requirement in enumerate(term.match_expressions):
        yield from _expression((*path, "matchExpressions", number), requirement)
    for number, requirement in enumerate(term.match_fields):
        yield from _field((*path, "matchFields", number), requirement)


def _expression(path: FieldPath, requirement: NodeSelectorRequirement) -> Iterator[Problem]:
    operator, values = requirement.operator, requirement.values
    at = (*path, "values")
    if operator not in _OPERATORS:
        yield _no_operator(path, operator, _OPERATORS)
    elif operator in ("In", "NotIn") and not values:
        yield NODE_SELECTOR.at(at, f"none; {operator} needs at least one")
    elif operator in ("Exists", "DoesNotExist") and values:
        yield NODE_SELECTOR.at(at, f"{count(len(values), 'value')}; {operator} takes none")
    elif operator in ("Gt", "Lt") and len(values) != 1:
        yield NODE_SELECTOR.at(at, f"{count(len(values), 'value')}; {operator} takes exactly one")
    if label_key_problems(requirement.key):
        yield NODE_SELECTOR.at((*path, "key"), names.no_label_name(requirement.key))
    for index, value in enumerate(values):
        if label_value_problems(value):
            yield NODE_SELECTOR.at((*at, index), names.no_label_value(value))
        elif operator in ("Gt", "Lt") and not is_int64(value):
            yield UNREADABLE_SELECTOR.at((*at, index), f"{shown(value)} is no integer, as {operator} compares")


def _field(path: FieldPath, requirement: NodeSelectorRequirement) -> Iterator[Problem]:
    """Nodes have one field that can be selected by."""
    operator, values = requirement.operator, requirement.values
    if operator not in _FIELD_OPERATORS:
        yield _no_operator(path, operator, _FIELD_OPERATORS)
    elif len(values) != 1:
        yield NODE_SELECTOR.at((*path, "values"), f"{count(len(values), 'value')}; a field takes exactly one")
    if requirement.key != "metadata.name":
        yield NODE_SELECTOR.at((*path, "key"), f"{shown(requirement.key)} is not metadata.name, the only field")
        return
    for index, value in enumerate(values):
        yield from names.subdomain((*path, "values", index), value, "node name")


def _no_operator(path: FieldPath, operator: str, known: Sequence[str]) -> Problem:
    message = f"{shown(operator)} is none of {', '.join(known)}"
    return NODE_SELECTOR.at((*path, "operator"), message, nearest(operator, known) or "")
