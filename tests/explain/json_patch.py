"""Applies suggested patches to plain Kubernetes objects as RFC 6902 says; shares no code with what makes them."""

from __future__ import annotations

import copy
from typing import Any

Objects = list[dict[str, Any]]


def patched(objects: Objects, patches: list[dict[str, Any]]) -> Objects:
    """The objects with all patches applied, each to the one object that it names, or that it creates."""
    changed = copy.deepcopy(objects)
    for told in patches:
        made = [
            operation["value"] for operation in told["patch"] if (operation["op"], operation["path"]) == ("add", "")
        ]
        if made:
            assert not [item for item in changed if named(item) == key_of(told["object"])]
            changed += made
            continue
        at = place(changed, told["object"])
        for operation in told["patch"]:
            if operation["op"] == "remove" and operation["path"] == "":
                del changed[at]
            else:
                apply(changed[at], operation)
    return changed


def place(objects: Objects, name: dict[str, str]) -> int:
    """The position of the one object of this name."""
    found = [at for at, item in enumerate(objects) if named(item) == key_of(name)]
    assert len(found) == 1, f"{name}: {len(found)} objects"
    assert objects[found[0]]["apiVersion"] == name["apiVersion"]
    return found[0]


def key_of(name: dict[str, str]) -> tuple[str, str, str]:
    return name["kind"], name["namespace"], name["name"]


def named(item: dict[str, Any]) -> tuple[str, str, str]:
    cluster_wide = ("Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule", "Namespace", "PersistentVolume")
    namespaced = item["kind"] not in cluster_wide
    return item["kind"], item["metadata"].get("namespace", "default") if namespaced else "", item["metadata"]["name"]


def apply(target: Any, operation: dict[str, Any]) -> None:
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    for part in way:
        target = target[int(part)] if isinstance(target, list) else target[part]
    op = operation["op"]
    if isinstance(target, list):
        if op == "add" and last == "-":
            target.append(operation["value"])
            return
        at = int(last)
        assert 0 <= at < len(target) + (op == "add")
        if op == "add":
            target.insert(at, operation["value"])
        elif op == "remove":
            del target[at]
        else:
            target[at] = operation["value"]
        return
    assert op == "add" or last in target, f"{operation}: there is no such member"
    if op == "remove":
        del target[last]
    else:
        target[last] = operation["value"]
