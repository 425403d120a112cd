"""DRA130, DRA131: which nodes reach a slice or a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.resource import Device, ResourceSliceSpec
from dra_plan.api.selectors import term_problems
from dra_plan.manifests.paths import FieldPath

from . import names
from .rule import Problem, refused, warning
from .words import count, shown

NODE_FIELDS = refused(
    "DRA130",
    "not exactly one way to say which nodes reach the devices",
    "A slice has exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection; with the last, each "
    "device has exactly one of the first three. Empty and false values count as given and are refused.",
    "Keep the one that is meant.",
)
NODE_SELECTOR = refused(
    "DRA131",
    "node selector that the API server refuses",
    "A slice's selector must have exactly one term, and keys, operators and values must have their formats.",
    "Write one term; use more devices or slices for more.",
)
UNREADABLE_SELECTOR = warning(
    "DRA154",
    "node selector that only the scheduler stumbles over",
    "The API server takes several terms in a device's selector, and any text for Gt and Lt. With several terms the "
    "allocation of the device is an error, and with a text that is no integer the selector can't be read: either stops "
    "the pod on all nodes.",
    "Write one term, and integers for Gt and Lt.",
    refused_by="Scheduler",
)
RULES = (NODE_FIELDS, NODE_SELECTOR, UNREADABLE_SELECTOR)


def of_slice(spec: ResourceSliceSpec) -> Iterator[Problem]:
    """The node fields of a slice."""
    path: FieldPath = ("spec",)
    yield from _one_of(path, spec, {"perDeviceNodeSelection": spec.per_device_node_selection})


def of_device(path: FieldPath, device: Device, *, wanted: bool) -> Iterator[Problem]:
    """The node fields of a device; `wanted` if the slice leaves the choice to its devices."""
    if wanted:
        yield from _one_of(path, device, {})
        return
    given = [name for name, value in _fields(device).items() if value is not None]
    if given:
        yield NODE_FIELDS.at((*path, given[0]), "only with perDeviceNodeSelection: true in the slice")


def _fields(owner: ResourceSliceSpec | Device) -> dict[str, object]:
    return {"nodeName": owner.node_name, "nodeSelector": owner.node_selector, "allNodes": owner.all_nodes}


def _one_of(path: FieldPath, owner: ResourceSliceSpec | Device, more: dict[str, bool | None]) -> Iterator[Problem]:
    fields = {**_fields(owner), **more}
    given = [name for name, value in fields.items() if value is not None]
    for name in given:
        if fields[name] is False:
            yield NODE_FIELDS.at((*path, name), "false; leave it out instead")
        elif fields[name] == "":
            yield NODE_FIELDS.at((*path, name), "empty; leave it out instead")
    if not given:
        yield NODE_FIELDS.at(path, f"none of {', '.join(fields)} is set")
    elif len(given) > 1:
        yield NODE_FIELDS.at((*path, given[1]), f"{' and '.join(given)} are set; exactly one is allowed")
    if owner.node_name:
        yield from names.subdomain((*path, "nodeName"), owner.node_name, "node name")
    if owner.node_selector is not None:
        yield from _selector((*path, "nodeSelector"), owner.node_selector, in_device=isinstance(owner, Device))


def _selector(path: FieldPath, selector: NodeSelector, *, in_device: bool) -> Iterator[Problem]:
    terms = selector.node_selector_terms
    path = (*path, "nodeSelectorTerms")
    if len(terms) != 1:
        rule = UNREADABLE_SELECTOR if terms and in_device else NODE_SELECTOR
        yield rule.at(path, f"{count(len(terms), 'term')}; exactly one is allowed")
    yield from check_terms(path, terms)


def check_terms(path: FieldPath, terms: Sequence[NodeSelectorTerm]) -> Iterator[Problem]:
    """The terms of a node selector."""
    for index, term in enumerate(terms):
        for problem in term_problems(term):
            rule = UNREADABLE_SELECTOR if _is_amount(term, problem.path) else NODE_SELECTOR
            yield rule.at((*path, index, *problem.path), problem.message)
        for number, requirement in enumerate(term.match_fields):
            yield from _field((*path, index, "matchFields", number), requirement)


def _field(path: FieldPath, requirement: NodeSelectorRequirement) -> Iterator[Problem]:
    """Nodes have one field that can be selected by."""
    if requirement.key != "metadata.name":
        yield NODE_SELECTOR.at((*path, "key"), f"{shown(requirement.key)} is not metadata.name, the only field")
        return
    for index, value in enumerate(requirement.values):
        yield from names.subdomain((*path, "values", index), value, "node name")


def _is_amount(term: NodeSelectorTerm, path: FieldPath) -> bool:
    """Whether the path is of a value that Gt or Lt compares with."""
    match path:
        case ("matchExpressions", int(index), "values", int()):
            return term.match_expressions[index].operator in ("Gt", "Lt")
    return False
