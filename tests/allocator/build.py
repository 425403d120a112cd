"""Short builders for hand-made cases: one driver, one node unless said otherwise."""

from __future__ import annotations

from typing import Any

DRIVER = "a.example.com"


def node(name: str = "n1", **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def device_class(name: str = "a", driver: str = DRIVER) -> dict[str, Any]:
    spec = {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]}
    return _object("DeviceClass", name, spec)


def pool(*devices: dict[str, Any], counters: dict[str, str] | None = None, **spec: Any) -> list[dict[str, Any]]:
    """The slices of one pool `p` on node n1: devices, and a counter set `s` where counters are given."""
    spec = {"driver": DRIVER, **({"nodeName": "n1"} if "nodeSelector" not in spec else {}), **spec}
    name = spec.pop("name", "p")
    spec["pool"] = {"name": name, "generation": 1, "resourceSliceCount": 2 if counters else 1}
    slices = [_object("ResourceSlice", f"{name}-0", {**spec, "devices": list(devices)})]
    if counters:
        sets = [{"name": "s", "counters": {key: {"value": value} for key, value in counters.items()}}]
        counter_spec = {key: value for key, value in spec.items() if key != "perDeviceNodeSelection"}
        slices.append(_object("ResourceSlice", f"{name}-1", {**counter_spec, "sharedCounters": sets}))
    return slices


def device(name: str, *, v: int | None = None, consumes: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    """A device with integer attribute `v`, consuming from counter set `s`."""
    made: dict[str, Any] = {"name": name, **fields}
    if v is not None:
        made["attributes"] = {"v": {"int": v}, **fields.get("attributes", {})}
    if consumes:
        amounts = {key: {"value": value} for key, value in consumes.items()}
        made["consumesCounters"] = [{"counterSet": "s", "counters": amounts}]
    return made


def exactly(name: str, count: int = 1, **fields: Any) -> dict[str, Any]:
    return {"name": name, "exactly": option(count=count, **fields)}


def every(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": "a", "allocationMode": "All", **fields}}


def option(**fields: Any) -> dict[str, Any]:
    made = {"deviceClassName": "a", **fields}
    if "where" in made:
        made["selectors"] = [{"cel": {"expression": made.pop("where")}}]
    return made


def claim(*requests: dict[str, Any], name: str = "c", **devices: Any) -> dict[str, Any]:
    made = _object("ResourceClaim", name, {"devices": {"requests": list(requests), **devices}})
    made["metadata"]["namespace"] = "default"
    return made


def is_v(value: int) -> str:
    return f'device.attributes["{DRIVER}"].v == {value}'


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
