"""Small random clusters as plain Python values, and the same as Kubernetes objects.

The oracle reads the values and never the objects, so that it shares no code with what it judges.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

DRIVERS = ("a.example.com", "b.example.com")


@dataclass
class Device:
    name: str
    model: str
    numa: int | None
    memory: int
    shared: bool = False
    default: int | None = None
    consumes: dict[str, int] = field(default_factory=dict)
    taint: str | None = None


@dataclass
class Pool:
    driver: str
    name: str
    devices: list[Device]
    counters: dict[str, int]

    @property
    def key(self) -> tuple[str, str]:
        return self.driver, self.name


@dataclass
class Option:
    name: str
    driver: str
    count: int
    every: bool
    model: str | None
    tolerates: bool
    memory: int | None


@dataclass
class Request:
    name: str
    options: list[Option]
    alternatives: bool


@dataclass
class Claim:
    name: str
    requests: list[Request]
    match: list[str]
    distinct: list[str]
    has_match: bool
    has_distinct: bool


@dataclass
class Case:
    pools: list[Pool]
    claims: list[Claim]
    busy: dict[tuple[str, str, str], int | None]
    """Devices allocated already: None for a whole device, else the memory that shares consume."""


def random_case(seed: int) -> Case:
    """A cluster of one node that a brute-force search can exhaust."""
    r = random.Random(seed)
    pools = [_pool(r, driver, f"pool-{index}") for index, driver in enumerate(r.choices(DRIVERS, k=r.randint(1, 2)))]
    drivers = [pool.driver for pool in pools] if r.random() < 0.9 else list(DRIVERS)
    claims = [_claim(r, index, drivers) for index in range(r.choice([1, 1, 2]))]
    busy: dict[tuple[str, str, str], int | None] = {}
    for pool in pools:
        for device in pool.devices:
            if r.random() < 0.1:
                busy[pool.driver, pool.name, device.name] = r.randint(1, device.memory) if device.shared else None
    return Case(pools, claims, busy)


def _pool(r: random.Random, driver: str, name: str) -> Pool:
    counters = {c: r.randint(1, 5) for c in ("x", "y")[: r.randint(1, 2)]} if r.random() < 0.5 else {}
    devices = []
    for index in range(r.randint(2, 5)):
        shared = r.random() < 0.3
        memory = r.randint(1, 6)
        devices.append(
            Device(
                f"d{index}",
                r.choice("AB"),
                r.choice([0, 1, 1, None]),
                memory,
                shared,
                r.randint(1, memory) if shared and r.random() < 0.6 else None,
                {c: r.randint(0, 3) for c in counters if r.random() < 0.8},
                "bad" if r.random() < 0.2 else None,
            )
        )
    return Pool(driver, name, devices, counters)


def _option(r: random.Random, name: str, drivers: list[str]) -> Option:
    every = r.random() < 0.15
    return Option(
        name,
        r.choice(drivers),
        0 if every else r.choice([1, 1, 1, 2]),
        every,
        r.choice([None, None, None, "A"]),
        r.random() < 0.4,
        r.randint(1, 3) if r.random() < 0.3 else None,
    )


def _claim(r: random.Random, index: int, drivers: list[str]) -> Claim:
    requests = []
    for position in range(r.choice([1, 2, 2])):
        alternatives = r.random() < 0.25
        options = [_option(r, f"o{k}", drivers) for k in range(r.randint(1, 2) if alternatives else 1)]
        requests.append(Request(f"r{position}", options, alternatives))
    names = [request.name for request in requests]
    has_match, has_distinct = r.random() < 0.3, r.random() < 0.3
    return Claim(
        f"c{index}", requests, r.choice([[], names, names[:1]]), r.choice([[], names]), has_match, has_distinct
    )


def to_objects(case: Case) -> list[dict[str, Any]]:
    """The case as resource.k8s.io/v1 objects, one node with everything local to it."""
    objects: list[dict[str, Any]] = [_object("v1", "Node", "n0", {}, labels={"kubernetes.io/hostname": "n0"})]
    for driver in DRIVERS:
        selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
        objects.append(_object("resource.k8s.io/v1", "DeviceClass", driver, {"selectors": [selector]}))
    for pool in case.pools:
        objects += _slices(pool)
    objects += [
        _object("resource.k8s.io/v1", "ResourceClaim", c.name, _claim_spec(c), namespace="ns") for c in case.claims
    ]
    objects += [_busy(index, *entry) for index, entry in enumerate(case.busy.items())]
    return objects


def _object(api: str, kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def _slices(pool: Pool) -> list[dict[str, Any]]:
    base = {"driver": pool.driver, "nodeName": "n0"}
    identity = {"name": pool.name, "generation": 1, "resourceSliceCount": 2 if pool.counters else 1}
    spec = {**base, "pool": identity, "devices": [_device(device) for device in pool.devices]}
    slices = [_object("resource.k8s.io/v1", "ResourceSlice", f"{pool.driver}-{pool.name}-0", spec)]
    if pool.counters:
        counters = {name: {"value": str(value)} for name, value in pool.counters.items()}
        shared = {**base, "pool": identity, "sharedCounters": [{"name": "s", "counters": counters}]}
        slices.append(_object("resource.k8s.io/v1", "ResourceSlice", f"{pool.driver}-{pool.name}-1", shared))
    return slices


def _device(device: Device) -> dict[str, Any]:
    attributes: dict[str, Any] = {"model": {"string": device.model}}
    if device.numa is not None:
        attributes["example.org/numa"] = {"int": device.numa}
    capacity: dict[str, Any] = {"value": str(device.memory)}
    if device.default is not None:
        capacity["requestPolicy"] = {"default": str(device.default)}
    out: dict[str, Any] = {"name": device.name, "attributes": attributes, "capacity": {"memory": capacity}}
    if device.shared:
        out["allowMultipleAllocations"] = True
    if device.consumes:
        amounts = {name: {"value": str(value)} for name, value in device.consumes.items()}
        out["consumesCounters"] = [{"counterSet": "s", "counters": amounts}]
    if device.taint:
        out["taints"] = [{"key": device.taint, "effect": "NoSchedule"}]
    return out


def _option_spec(option: Option) -> dict[str, Any]:
    spec: dict[str, Any] = {"deviceClassName": option.driver}
    spec["allocationMode"] = "All" if option.every else "ExactCount"
    if not option.every:
        spec["count"] = option.count
    if option.model is not None:
        expression = f'device.attributes["{option.driver}"].model == "{option.model}"'
        spec["selectors"] = [{"cel": {"expression": expression}}]
    if option.tolerates:
        spec["tolerations"] = [{"operator": "Exists"}]
    if option.memory is not None:
        spec["capacity"] = {"requests": {"memory": str(option.memory)}}
    return spec


def _claim_spec(claim: Claim) -> dict[str, Any]:
    requests = []
    for request in claim.requests:
        if request.alternatives:
            options = [{"name": option.name, **_option_spec(option)} for option in request.options]
            requests.append({"name": request.name, "firstAvailable": options})
        else:
            requests.append({"name": request.name, "exactly": _option_spec(request.options[0])})
    constraints = []
    if claim.has_match:
        constraints.append({"matchAttribute": "example.org/numa", "requests": claim.match})
    if claim.has_distinct:
        constraints.append({"distinctAttribute": "example.org/numa", "requests": claim.distinct})
    return {"devices": {"requests": requests, "constraints": constraints}}


def _busy(index: int, device: tuple[str, str, str], memory: int | None) -> dict[str, Any]:
    driver, pool, name = device
    result: dict[str, Any] = {"request": "x", "driver": driver, "pool": pool, "device": name}
    if memory is not None:
        result["shareID"] = f"00000000-0000-4000-9000-{index:012d}"
        result["consumedCapacity"] = {"memory": str(memory)}
    request = {"name": "x", "exactly": {"deviceClassName": driver}}
    claim = _object(
        "resource.k8s.io/v1", "ResourceClaim", f"busy-{index}", {"devices": {"requests": [request]}}, namespace="ns"
    )
    return {**claim, "status": {"allocation": {"devices": {"results": [result]}}}}
