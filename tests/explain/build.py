"""Kubernetes objects in few words, for situations that an explanation is read in."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
FIELDS = ("taints", "consumesCounters", "allowMultipleAllocations")


def node(name: str, **labels: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
    }


def a_class(name: str = DRIVER, *expressions: str) -> Object:
    selectors = [{"cel": {"expression": text}} for text in expressions or (f'device.driver == "{name}"',)]
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": selectors}}


def device(name: str, *, capacity: dict[str, Any] | None = None, **rest: Any) -> Object:
    """`rest` may hold fields of a device; whatever else it has are attributes."""
    fields = {key: rest.pop(key) for key in FIELDS if key in rest}
    made: Object = {"name": name, **fields}
    attributes = {**rest.pop("attributes", {}), **rest}
    if attributes:
        made["attributes"] = {
            key: value if isinstance(value, dict) else typed(value) for key, value in attributes.items()
        }
    if capacity:
        made["capacity"] = {
            key: value if isinstance(value, dict) else {"value": value} for key, value in capacity.items()
        }
    return made


def typed(value: Any) -> Object:
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"
    return {kind: value}


def a_slice(
    pool: str,
    devices: list[Object],
    *,
    driver: str = DRIVER,
    number: int = 0,
    of: int = 1,
    generation: int = 1,
    **spec: Any,
) -> Object:
    """A slice of the pool for the node of the same name, unless `spec` says where it is."""
    where = {} if {"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"} & set(spec) else {"nodeName": pool}
    identity = {"name": pool, "generation": generation, "resourceSliceCount": of}
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{pool}-{driver}-{number}"},
        "spec": {"driver": driver, "pool": identity, **where, "devices": devices, **spec},
    }


def counters(
    pool: str, sets: dict[str, dict[str, str]], *, driver: str = DRIVER, number: int = 1, of: int = 2
) -> Object:
    written = [
        {"name": name, "counters": {key: {"value": value} for key, value in values.items()}}
        for name, values in sets.items()
    ]
    made = a_slice(pool, [], driver=driver, number=number, of=of, sharedCounters=written)
    del made["spec"]["devices"]
    return made


def consumes(counter_set: str, **amounts: str) -> list[Object]:
    return [{"counterSet": counter_set, "counters": {key: {"value": value} for key, value in amounts.items()}}]


def request(name: str = "gpu", *selectors: str, device_class: str = DRIVER, **fields: Any) -> Object:
    exactly: Object = {"deviceClassName": device_class, **fields}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    if "allocationMode" not in fields:
        exactly = {"allocationMode": "ExactCount", "count": 1, **exactly}
    return {"name": name, "exactly": exactly}


def first_of(name: str, *options: Object) -> Object:
    """`options` as `request` makes them."""
    return {"name": name, "firstAvailable": [{"name": option["name"], **option["exactly"]} for option in options]}


def claim(name: str = "train", *requests: Object, constraints: list[Object] | None = None) -> Object:
    devices: Object = {"requests": list(requests or (request(),))}
    if constraints:
        devices["constraints"] = constraints
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}


def allocated(
    name: str, *devices: str, pod: str = "", node_name: str = "", driver: str = DRIVER, **result: Any
) -> Object:
    """A claim that has the devices POOL/DEVICE, for the pod."""
    made = claim(name)
    results = [
        {"request": "gpu", "driver": driver, "pool": pool, "device": plain, **result}
        for pool, _, plain in (text.rpartition("/") for text in devices)
    ]
    allocation: Object = {"devices": {"results": results}}
    if node_name:
        field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
        allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    made["status"] = {"allocation": allocation}
    if pod:
        made["status"]["reservedFor"] = [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"}]
    return made


def pod(name: str, **claims: str) -> Object:
    """A pod with claims by name, or from templates (`template:NAME`)."""
    entries = []
    for local, source in claims.items():
        kind, _, plain = source.rpartition(":")
        field = "resourceClaimTemplateName" if kind == "template" else "resourceClaimName"
        entries.append({"name": local, field: plain})
    spec = {"containers": [{"name": "main", "image": "app:1"}], "resourceClaims": entries}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def match(attribute: str, *requests: str) -> Object:
    return {"matchAttribute": attribute, "requests": list(requests)}


def distinct(attribute: str, *requests: str) -> Object:
    return {"distinctAttribute": attribute, "requests": list(requests)}


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Object:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}
