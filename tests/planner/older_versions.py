"""Objects of resource.k8s.io/v1 written in older versions of the API, and objects written as KYAML."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

Plain = dict[str, Any]

KINDS = {"ResourceSlice", "ResourceClaim", "DeviceClass"}


def as_v1beta2(obj: Plain) -> Plain:
    """v1beta2 differs in name only."""
    return {**obj, "apiVersion": "resource.k8s.io/v1beta2"} if obj["kind"] in KINDS else obj


def as_v1beta1(obj: Plain) -> Plain:
    """v1beta1 keeps a device's content below `basic`, and the fields of `exactly` in the request itself."""
    if obj["kind"] not in KINDS:
        return obj
    made = copy.deepcopy(obj)
    made["apiVersion"] = "resource.k8s.io/v1beta1"
    if obj["kind"] == "ResourceSlice":
        made["spec"]["devices"] = [_below_basic(device) for device in made["spec"].get("devices") or []]
    if obj["kind"] == "ResourceClaim":
        devices = made["spec"].get("devices") or {}
        devices["requests"] = [_flat(request) for request in devices.get("requests") or []]
    return made


def _below_basic(device: Plain) -> Plain:
    rest = {key: value for key, value in device.items() if key != "name"}
    return {"name": device["name"], **({"basic": rest} if rest else {})}


def _flat(request: Plain) -> Plain:
    return {**{key: value for key, value in request.items() if key != "exactly"}, **(request.get("exactly") or {})}


_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z-]*\Z")
_AMBIGUOUS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def as_kyaml(objects: list[Plain]) -> str:
    """Documents in flow style: quoted strings, bare keys, trailing commas, comments."""
    return "".join(f"---\n# {obj['kind']}\n{_kyaml(obj, 0)}\n" for obj in objects)


def _kyaml(value: Any, depth: int) -> str:
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_key(key)}: {_kyaml(item, depth + 1)},\n" for key, item in value.items()]
        return "{\n" + "".join(lines) + outer + "}"
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"{inner}{_kyaml(item, depth + 1)},\n" for item in value) + outer + "]"
    return json.dumps(value)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.match(key) and key.lower() not in _AMBIGUOUS else json.dumps(key)
