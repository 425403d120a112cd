"""Small random clusters in which pools go wrong in every way they can, with devices, shares and counters in use."""

from __future__ import annotations

import random
from typing import Any

from .pool_truth import Plain, World

FEATURES = {
    "PartitionableDevices": "partitionable",
    "ConsumableCapacity": "consumable",
    "DeviceTaints": "taints",
    "DeviceBindingAndStatus": "binding",
}


def random_world(seed: int) -> tuple[World, list[str]]:
    """A cluster, and the features of the allocator that are on."""
    r = random.Random(seed)
    version = r.choice(["1.36", "1.36", "1.35", "1.34"])
    features = ["AdminAccess", "PrioritizedList", *(feature for feature in FEATURES if r.random() < 0.9)]
    nodes = [f"n{index}" for index in range(r.randint(1, 3))]
    objects: list[Plain] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": r.choice("ab")}}}
        for name in nodes
    ]
    for number in range(r.randint(1, 3)):
        objects += _pool(r, f"p{number % 2}", r.choice(["a.example.com", "b.example.com"]), nodes, number, version)
    objects += _claims(r, objects)
    r.shuffle(objects)
    on = {name: feature in features for feature, name in FEATURES.items()}
    return World(objects, version, **on), features


def _pool(r: random.Random, name: str, driver: str, nodes: list[str], number: int, version: str) -> list[Plain]:
    """Slices of one or two generations; now and then one is missing, or a name or counter is wrong."""
    slices = []
    for generation in range(1, r.choice([2, 2, 3])):
        total = r.randint(1, 3)
        counters = r.random() < 0.5
        published = total - (r.random() < 0.25)
        for index in range(published):
            holds = counters and (version == "1.34" or (index == 0 and total > 1))
            spec: Plain = {
                "driver": driver,
                "pool": {"name": name, "generation": generation, "resourceSliceCount": total},
                **_place(r, nodes),
            }
            if holds:
                spec["sharedCounters"] = _sets(r, version)
            if not holds or version == "1.34":
                spec["devices"] = [_device(r, k, index, counters) for k in range(r.randint(0, 3))]
                if "nodeName" not in spec and not holds and r.random() < 0.3:
                    _place_each(r, spec, nodes)
            slices.append(_object("ResourceSlice", f"{number}-{generation}-{index}-{r.randint(0, 9)}", spec))
    return slices


def _place(r: random.Random, nodes: list[str]) -> Plain:
    kind = r.random()
    if kind < 0.6:
        return {"nodeName": r.choice([*nodes, "elsewhere"])}
    if kind < 0.8:
        return {"allNodes": True}
    rule = {"key": "zone", "operator": r.choice(["In", "NotIn"]), "values": ["a"]}
    return {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}


def _place_each(r: random.Random, spec: Plain, nodes: list[str]) -> None:
    for field in ("allNodes", "nodeSelector"):
        spec.pop(field, None)
    spec["perDeviceNodeSelection"] = True
    for device in spec["devices"]:
        device.update(_place(r, nodes))


def _sets(r: random.Random, version: str) -> list[Plain]:
    """Counter sets; 1.34 does not look for two of one name."""
    names = (
        r.choices(["s", "t"], k=r.randint(1, 2))
        if r.random() < 0.1 and version != "1.34"
        else ["s", "t"][: r.randint(1, 2)]
    )
    return [{"name": name, "counters": {"x": {"value": f"{r.randint(1, 6)}"}, "y": {"value": "2Gi"}}} for name in names]


def _device(r: random.Random, position: int, index: int, counters: bool) -> Plain:
    made: Plain = {"name": f"d{position}" if r.random() < 0.1 else f"d{index}-{position}"}
    if r.random() < 0.5:
        made["capacity"] = {"memory": {"value": r.choice(["4Gi", "10", "2500m"])}}
    if r.random() < 0.4:
        made["allowMultipleAllocations"] = True
    if counters and r.random() < 0.8:
        amounts: dict[str, Any] = {"x": {"value": str(r.randint(0, 4))}}
        if r.random() < 0.4:
            amounts["y" if r.random() < 0.9 else "z"] = {"value": r.choice(["1Gi", "1536Mi"])}
        made["consumesCounters"] = [{"counterSet": r.choice("ssst"), "counters": amounts}]
    if r.random() < 0.2:
        made["taints"] = [{"key": "k", "effect": r.choice(["None", "NoSchedule", "NoExecute"])}]
    if r.random() < 0.1:
        made["bindingConditions"] = ["ready"]
        made["bindingFailureConditions"] = ["failed"]
    return made


def _claims(r: random.Random, objects: list[Plain]) -> list[Plain]:
    """Claims that hold devices: whole, in shares, or with admin access."""
    claims = []
    for slice_ in (obj for obj in objects if obj["kind"] == "ResourceSlice"):
        spec = slice_["spec"]
        for device in spec.get("devices", ()):
            if r.random() >= 0.35:
                continue
            result: Plain = {
                "request": "r",
                "driver": spec["driver"],
                "pool": spec["pool"]["name"],
                "device": device["name"],
            }
            if device.get("allowMultipleAllocations") and r.random() < 0.9:
                result["shareID"] = f"00000000-0000-4000-9000-{len(claims):012d}"
                if "capacity" in device and r.random() < 0.9:
                    whole = device["capacity"]["memory"]["value"]
                    result["consumedCapacity"] = {"memory": r.choice(["1", "500m", "1Gi", whole])}
            elif r.random() < 0.1:
                result["adminAccess"] = True
            claims.append(_claim(f"c{slice_['metadata']['name']}-{device['name']}-{len(claims)}", result))
    return claims


def _claim(name: str, result: Plain) -> Plain:
    request = {"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}
    made = _object("ResourceClaim", name, {"devices": {"requests": [request]}})
    made["metadata"]["namespace"] = "default"
    made["status"] = {"allocation": {"devices": {"results": [result]}}}
    return made


def _object(kind: str, name: str, spec: Plain) -> Plain:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
