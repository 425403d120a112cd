"""Apply the patches of a suggested change to the objects in an input."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from dra_plan.api.inventory import Inventory
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation

_HOLDERS = {
    "DeviceClass": "classes",
    "DeviceTaintRule": "taint_rules",
    "Node": "nodes",
    "ResourceClaim": "claims",
    "ResourceClaimTemplate": "templates",
    "ResourceSlice": "slices",
}
"""The attribute of the inventory for each kind."""


def carried_out(inventory: Inventory, patches: Sequence[ObjectPatch]) -> Inventory | None:
    """Return the inventory with the patches applied, or None if one of the objects cannot be patched.

    An object cannot be patched if it does not exist, or if its kind is not supported. The paths in a patch refer to the
    object as the inventory stores it.
    """
    for patch in patches:
        about = patch.object
        holder = _HOLDERS.get(about.kind, "")
        known = list(getattr(inventory, holder, ()))
        alike = (at for at, each in enumerate(known) if each.metadata.name == about.name)
        at = next((at for at in alike if known[at].metadata.namespace == about.namespace), None)
        if at is None:
            return None
        if any(operation.op == "remove" and not operation.path for operation in patch.patch):
            del known[at]
        else:
            document = msgspec.to_builtins(known[at])
            for operation in patch.patch:
                _apply(document, operation)
            known[at] = msgspec.convert(document, type(known[at]))
        changed: dict[str, Any] = {holder: known}
        inventory = replace(inventory, **changed)
    return inventory if patches else None


def _apply(document: Any, operation: PatchOperation) -> None:
    """Apply an RFC 6902 operation on a path below the document's root.

    Objects on the path of an `add` are created.
    """
    *above, last = [part.replace("~1", "/").replace("~0", "~") for part in operation.path.split("/")[1:]]
    inside = document
    for part in above:
        inside = inside[int(part)] if isinstance(inside, list) else inside.setdefault(part, {})
    value = copy.deepcopy(operation.value)
    if isinstance(inside, list):
        at = len(inside) if last == "-" else int(last)
        if operation.op == "add":
            inside.insert(at, value)
        elif operation.op == "remove":
            del inside[at]
        else:
            inside[at] = value
    elif operation.op == "remove":
        inside.pop(last, None)
    else:
        inside[last] = value
