"""Small random clusters as plain Python values, and the same as Kubernetes objects.

The oracle reads the values and never the objects, so that it shares no code with what it judges.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

DRIVERS = ("a.example.com", "b.example.com")


@dataclass
class Policy:
    """What may be taken of a device's memory: `default` without a request; a range with steps, or listed values."""

    default: int
    least: int | None = None
    most: int | None = None
    step: int | None = None
    values: list[int] | None = None


@dataclass
class Taint:
    key: str
    value: str
    effect: str


@dataclass
class Toleration:
    """None: not said, which is any key, or any effect. `exists`: any value."""

    key: str | None
    exists: bool
    value: str
    effect: str | None


@dataclass
class Device:
    name: str
    model: str
    numa: frozenset[int | str] | None
    """The attribute of the constraints: its values, of one type; absent, one, or a list of several."""
    memory: int
    shared: bool = False
    policy: Policy | None = None
    consumes: dict[str, int] = field(default_factory=dict)
    taint: Taint | None = None


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
    tolerates: list[Toleration]
    memory: int | None
    admin: bool = False


@dataclass
class Request:
    name: str
    options: list[Option]
    alternatives: bool


@dataclass
class Claim:
    name: str
    requests: list[Request]
    match: list[str] | None
    distinct: list[str] | None
    """The requests (or `request/alternative`) that a constraint is for, empty for all; None without the constraint."""


@dataclass
class Case:
    pools: list[Pool]
    claims: list[Claim]
    busy: dict[tuple[str, str, str], int | None]
    """Devices allocated already: None for a whole device, else the memory that shares consume."""
    watched: list[tuple[str, str, str]]
    """Devices allocated with admin access, which takes nothing away."""
    lists: bool
    """Whether attributes may have several values (gate DRAListTypeAttributes)."""


def random_case(seed: int) -> Case:
    """A cluster of one node that a brute-force search can exhaust."""
    r = random.Random(seed)
    lists = r.random() < 0.3
    pools = [
        _pool(r, driver, f"pool-{index}", lists) for index, driver in enumerate(r.choices(DRIVERS, k=r.randint(1, 2)))
    ]
    drivers = [pool.driver for pool in pools] if r.random() < 0.9 else list(DRIVERS)
    claims = [_claim(r, index, drivers) for index in range(r.choice([1, 1, 2]))]
    busy: dict[tuple[str, str, str], int | None] = {}
    watched = []
    for pool in pools:
        for device in pool.devices:
            key = pool.driver, pool.name, device.name
            if r.random() < 0.1:
                whole = not device.shared or r.random() < 0.1
                busy[key] = None if whole else r.randint(1, device.memory)
            elif r.random() < 0.05:
                watched.append(key)
    return Case(pools, claims, busy, watched, lists)


def _pool(r: random.Random, driver: str, name: str, lists: bool) -> Pool:
    counters = {c: r.randint(1, 5) for c in ("x", "y")[: r.randint(1, 2)]} if r.random() < 0.5 else {}
    devices = []
    for index in range(r.randint(2, 5)):
        shared = r.random() < 0.3
        memory = r.randint(1, 6)
        devices.append(
            Device(
                f"d{index}",
                r.choice("AB"),
                _numa(r, lists),
                memory,
                shared,
                _policy(r, memory) if shared and r.random() < 0.7 else None,
                {c: r.randint(0, 3) for c in counters if r.random() < 0.8},
                _taint(r) if r.random() < 0.3 else None,
            )
        )
    return Pool(driver, name, devices, counters)


def _numa(r: random.Random, lists: bool) -> frozenset[int | str] | None:
    if r.random() < 0.15:
        return None
    if lists and r.random() < 0.6:
        return frozenset(r.sample([0, 1, 2, 3], k=r.randint(1, 3)))
    return frozenset([r.choice([0, 1, 1, 2])]) if r.random() < 0.9 else frozenset(["1"])


def _policy(r: random.Random, memory: int) -> Policy:
    """A policy as the API server lets it pass."""
    kind = r.random()
    if kind < 0.3:
        return Policy(r.randint(1, memory))
    if kind < 0.65:
        values = sorted(r.sample(range(1, memory + 1), k=r.randint(1, min(3, memory))))
        return Policy(r.choice(values), values=values)
    least = r.randint(1, memory)
    step = r.choice([None, 1, 2]) if least + 2 <= memory else None
    most = r.choice([None, least, *([least + step] if step else [])])
    return Policy(least, least, most, step)


def _taint(r: random.Random) -> Taint:
    return Taint(r.choice(["bad", "hot"]), r.choice(["", "1", "2"]), r.choice(["NoSchedule", "NoExecute", "None"]))


def _toleration(r: random.Random) -> Toleration:
    exists = r.random() < 0.5
    return Toleration(
        r.choice(["bad", "hot"]) if not exists or r.random() < 0.5 else None,
        exists,
        "" if exists else r.choice(["", "1", "2"]),
        r.choice([None, "NoSchedule", "NoExecute"]),
    )


def _option(r: random.Random, name: str, drivers: list[str]) -> Option:
    every = r.random() < 0.15
    return Option(
        name,
        r.choice(drivers),
        0 if every else r.choice([1, 1, 1, 2]),
        every,
        r.choice([None, None, None, "A"]),
        [_toleration(r) for _ in range(r.randint(1, 2))] if r.random() < 0.5 else [],
        r.randint(1, 4) if r.random() < 0.4 else None,
    )


def _claim(r: random.Random, index: int, drivers: list[str]) -> Claim:
    requests = []
    for position in range(r.choice([1, 2, 2])):
        alternatives = r.random() < 0.25
        options = [_option(r, f"o{k}", drivers) for k in range(r.randint(1, 2) if alternatives else 1)]
        options[0].admin = not alternatives and r.random() < 0.15
        requests.append(Request(f"r{position}", options, alternatives))
    match, distinct = (_affected(r, requests) if r.random() < 0.3 else None for _ in range(2))
    return Claim(f"c{index}", requests, match, distinct)


def _affected(r: random.Random, requests: list[Request]) -> list[str]:
    """All requests (said or not), one of them, or one alternative."""
    names = [request.name for request in requests]
    [*parts] = [f"{request.name}/{option.name}" for request in requests for option in request.options]
    alternatives = [
        part for request in requests if request.alternatives for part in parts if part.startswith(request.name)
    ]
    return r.choice([[], names, names[:1], alternatives[:1]])


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
    held = [(device, memory, False) for device, memory in case.busy.items()]
    held += [(device, None, True) for device in case.watched]
    objects += [_busy(index, *entry) for index, entry in enumerate(held)]
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
        attributes["example.org/numa"] = _attribute(device.numa)
    out: dict[str, Any] = {"name": device.name, "attributes": attributes, "capacity": {"memory": _capacity(device)}}
    if device.shared:
        out["allowMultipleAllocations"] = True
    if device.consumes:
        amounts = {name: {"value": str(value)} for name, value in device.consumes.items()}
        out["consumesCounters"] = [{"counterSet": "s", "counters": amounts}]
    if device.taint:
        out["taints"] = [{"key": device.taint.key, "value": device.taint.value, "effect": device.taint.effect}]
    return out


def _attribute(values: frozenset[int | str]) -> dict[str, Any]:
    kind = "string" if any(isinstance(value, str) for value in values) else "int"
    ordered = sorted(values, key=str)
    return {kind: ordered[0]} if len(ordered) == 1 else {f"{kind}s": ordered}


def _capacity(device: Device) -> dict[str, Any]:
    capacity: dict[str, Any] = {"value": str(device.memory)}
    policy = device.policy
    if policy is not None:
        capacity["requestPolicy"] = written = {"default": str(policy.default)}
        if policy.values is not None:
            written["validValues"] = [str(value) for value in policy.values]
        if policy.least is not None:
            bounds = {"min": policy.least, "max": policy.most, "step": policy.step}
            written["validRange"] = {name: str(value) for name, value in bounds.items() if value is not None}
    return capacity


def _option_spec(option: Option) -> dict[str, Any]:
    spec: dict[str, Any] = {"deviceClassName": option.driver}
    spec["allocationMode"] = "All" if option.every else "ExactCount"
    if not option.every:
        spec["count"] = option.count
    if option.model is not None:
        expression = f'device.attributes["{option.driver}"].model == "{option.model}"'
        spec["selectors"] = [{"cel": {"expression": expression}}]
    if option.tolerates:
        spec["tolerations"] = [_toleration_spec(toleration) for toleration in option.tolerates]
    if option.admin:
        spec["adminAccess"] = True
    if option.memory is not None:
        spec["capacity"] = {"requests": {"memory": str(option.memory)}}
    return spec


def _toleration_spec(toleration: Toleration) -> dict[str, Any]:
    spec = {"operator": "Exists" if toleration.exists else "Equal"}
    fields = {"key": toleration.key, "value": toleration.value, "effect": toleration.effect}
    return {**spec, **{name: value for name, value in fields.items() if value}}


def _claim_spec(claim: Claim) -> dict[str, Any]:
    requests = []
    for request in claim.requests:
        if request.alternatives:
            options = [{"name": option.name, **_option_spec(option)} for option in request.options]
            requests.append({"name": request.name, "firstAvailable": options})
        else:
            requests.append({"name": request.name, "exactly": _option_spec(request.options[0])})
    constraints: list[dict[str, Any]] = []
    for kind, affected in (("matchAttribute", claim.match), ("distinctAttribute", claim.distinct)):
        if affected is not None:
            constraints.append({kind: "example.org/numa", "requests": affected})
    return {"devices": {"requests": requests, "constraints": constraints}}


def _busy(index: int, device: tuple[str, str, str], memory: int | None, admin: bool) -> dict[str, Any]:
    driver, pool, name = device
    result: dict[str, Any] = {"request": "x", "driver": driver, "pool": pool, "device": name}
    if admin:
        result["adminAccess"] = True
    elif memory is not None:
        result["shareID"] = f"00000000-0000-4000-9000-{index:012d}"
        result["consumedCapacity"] = {"memory": str(memory)}
    request = {"name": "x", "exactly": {"deviceClassName": driver}}
    claim = _object(
        "resource.k8s.io/v1", "ResourceClaim", f"busy-{index}", {"devices": {"requests": [request]}}, namespace="ns"
    )
    return {**claim, "status": {"allocation": {"devices": {"results": [result]}}}}
