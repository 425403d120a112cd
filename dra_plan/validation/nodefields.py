"""DRA130: which nodes reach a slice or a device."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import Device, ResourceSliceSpec

from . import names, nodeselectors
from .rule import Problem, refused

NODE_FIELDS = refused(
    "DRA130",
    "not exactly one way to say which nodes reach the devices",
    "A slice has exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection; with the last, each "
    "device has exactly one of the first three. Empty and false values count as given and are refused.",
    "Keep the one that is meant.",
)
RULES = (NODE_FIELDS,)


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
    said = [name for name in given if fields[name] not in (False, "")]
    if len(said) > 1:
        yield NODE_FIELDS.at((*path, said[1]), f"{' and '.join(said)} are set; exactly one is allowed")
    if owner.node_name:
        yield from names.subdomain((*path, "nodeName"), owner.node_name, "node name")
    if owner.node_selector is not None:
        in_device = isinstance(owner, Device)
        yield from nodeselectors.check((*path, "nodeSelector"), owner.node_selector, in_device=in_device)
