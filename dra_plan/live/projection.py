"""What is kept of an object that a server sends: the fields that planning reads, as they were sent.

The fields are those of the structs in `api`, so there is no second list of them. Of resource.k8s.io, where every field
may decide, everything is kept, but no managedFields, and no data that drivers report of allocated devices.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable
from typing import Any, Union

import msgspec
from msgspec.structs import fields

from dra_plan.api.core import Pod
from dra_plan.api.meta import Object, ObjectMeta, StrictObject

from .resources import Listed

Keep = Callable[[Any], Any]
"""Gives what is kept of a value."""

_OWN_DOMAINS = ("kubernetes.io", "k8s.io")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_DRIVER_DATA = ("data", "networkData")


def keeper(listed: Listed) -> Keep:
    """What is kept of objects of a kind in a version. What is no map is given back as it is, for reading to refuse."""
    if issubclass(listed.kind.type, StrictObject) or listed.kind.versions[listed.version] is not None:
        return _of_devices
    keep = _of_type(listed.kind.type) or _same
    return functools.partial(_of_pod, keep) if listed.kind.type is Pod else keep


def _of_pod(keep: Keep, value: Any) -> Any:
    """Pods that wait keep their resource version: it tells who was refused first."""
    kept = keep(value)
    metadata, spec = value.get("metadata"), value.get("spec")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if version is None or not isinstance(spec, dict) or spec.get("nodeName"):
        return kept
    return {**kept, "metadata": {**kept["metadata"], "resourceVersion": version}}


def _same(value: Any) -> Any:
    return value


def _of_devices(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {**value, "metadata": _metadata(value.get("metadata"))}
    status = kept.get("status")
    devices = status.get("devices") if isinstance(status, dict) else None
    if isinstance(status, dict) and isinstance(devices, list):
        kept["status"] = {**status, "devices": [_without_data(device) for device in devices]}
    return kept


def _without_data(device: Any) -> Any:
    if not isinstance(device, dict):
        return device
    return {key: value for key, value in device.items() if key not in _DRIVER_DATA}


@functools.cache
def _fields_of_metadata() -> dict[str, Keep | None]:
    # it changes with what nobody plans with
    known = {field.encode_name: _of_type(field.type) for field in fields(ObjectMeta)}
    return {name: keep for name, keep in known.items() if name != "resourceVersion"}


def _metadata(value: Any) -> Any:
    """Metadata without managedFields, and with the annotations of Kubernetes' own domains only."""
    kept = _of_map(value, _fields_of_metadata())
    annotations = kept.get("annotations") if isinstance(kept, dict) else None
    if isinstance(annotations, dict):
        own = {key: text for key, text in annotations.items() if _is_own(key)}
        kept = {key: item for key, item in kept.items() if key != "annotations"} | ({"annotations": own} if own else {})
    return kept


def _is_own(key: str) -> bool:
    domain = key.rpartition("/")[0]
    return key != _LAST_APPLIED and any(domain == own or domain.endswith(f".{own}") for own in _OWN_DOMAINS)


def _of_map(value: Any, known: dict[str, Keep | None]) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key in known:
            keep = known[key]
            kept[key] = item if keep is None else keep(item)
    return kept


@functools.cache
def _of_type(kind: Any) -> Keep | None:
    """What is kept of values of a type; None for all."""
    if kind is ObjectMeta:
        return _metadata
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return next((found for each in arguments if (found := _of_type(each)) is not None), None)
    if origin is list:
        inner = _of_type(arguments[0])
        return None if inner is None else functools.partial(_of_list, inner)
    if origin is dict:
        inner = _of_type(arguments[1])
        return None if inner is None else functools.partial(_of_values, inner)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and issubclass(kind, Object):
        known: dict[str, Keep | None] = {}
        keep: Keep = functools.partial(_of_map, known=known)
        known.update({field.encode_name: _of_type(field.type) for field in fields(kind)})
        return keep
    return None


def _of_list(keep: Keep, value: Any) -> Any:
    return [keep(item) for item in value] if isinstance(value, list) else value


def _of_values(keep: Keep, value: Any) -> Any:
    return {key: keep(item) for key, item in value.items()} if isinstance(value, dict) else value
