"""Small random clusters of several nodes with pods to place, and brute force over all ways to place them.

Brute force shares no code with what it judges: devices are those of `tests/allocator/oracle.py`, cpu is counted here.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.allocator.model import Case, Claim, Pool, random_case, to_objects
from tests.allocator.oracle import Choice, Place, _assignments, _is_allowed

MOST_TRIALS = 300_000
"""Brute force gives up beyond so many combinations of devices."""


class TooManyError(Exception):
    """Brute force would take too long."""


@dataclass
class FleetPod:
    name: str
    claims: list[str]
    cpu: int


@dataclass
class Fleet:
    """`pools` of each node, `network` pools of all nodes, the shapes of the claims, and the pods."""

    pools: dict[str, list[Pool]]
    cpu: dict[str, int]
    network: list[Pool]
    claims: dict[str, Claim]
    pods: list[FleetPod]
    busy: dict[tuple[str, str, str], int | None]
    lists: bool


def random_fleet(seed: int, *, network: bool = False) -> Fleet:
    """One to three nodes, some of them alike, and one to four pods, most of them alike; some share a claim."""
    r = random.Random(seed)
    lists = r.random() < 0.1
    models = [_case(r, lists) for _ in range(2)]
    pools: dict[str, list[Pool]] = {}
    busy: dict[tuple[str, str, str], int | None] = {}
    for index in range(r.randint(1, 2 if network else 3)):
        model = r.choice(models)
        made = _renamed(model, f"n{index}", busy)
        pools[f"n{index}"] = made[:1] if network else made
    shared = _renamed(_case(r, lists), "net", busy)[:1] if network else []
    shapes = [_case(r, lists).claims[0] for _ in range(r.choice([1, 1, 2]))]
    pods, claims = [], {}
    for index in range(r.randint(1, 3 if network else 4)):
        earlier = [name for pod in pods for name in pod.claims]
        if earlier and r.random() < 0.2:
            names = [r.choice(earlier)]
            if r.random() < 0.3:
                names.append(f"c{index}")
        else:
            names = [f"c{index}"]
        for name in names:
            if name not in claims:
                claims[name] = copy.copy(r.choice(shapes))
                claims[name].name = name
        pods.append(FleetPod(f"p{index}", names, r.choice([1, 1, 2])))
    cpu = {name: r.choice([2, 4, 8]) for name in pools}
    return Fleet(pools, cpu, shared, claims, pods, busy, lists)


def _case(r: random.Random, lists: bool) -> Case:
    while True:
        case = random_case(r.randrange(10**9))
        if case.lists == lists:
            return case


def _renamed(case: Case, prefix: str, busy: dict[tuple[str, str, str], int | None]) -> list[Pool]:
    made = []
    for pool in case.pools:
        other = copy.copy(pool)
        other.name = f"{prefix}-{pool.name}"
        made.append(other)
        for (driver, name, device), memory in case.busy.items():
            if (driver, name) == pool.key:
                busy[driver, other.name, device] = memory
    return made


# As objects


def objects_of(fleet: Fleet) -> list[dict[str, Any]]:
    """The fleet as Kubernetes objects: nodes, classes, slices, claims and pods."""
    objects: list[dict[str, Any]] = []
    parts = [*fleet.pools.items(), *([("", fleet.network)] if fleet.network else [])]
    for node, pools in parts:
        for made in to_objects(Case(pools, [], {}, [], fleet.lists)):
            if made["kind"] == "ResourceSlice":
                made["metadata"]["name"] = f"{made['metadata']['name']}-{node or 'net'}"
                del made["spec"]["nodeName"]
                made["spec"].update({"nodeName": node} if node else {"allNodes": True})
                objects.append(made)
    shared = to_objects(Case([], list(fleet.claims.values()), fleet.busy, [], fleet.lists))
    objects += [made for made in shared if made["kind"] != "Node"]
    for node, cpu in fleet.cpu.items():
        labels = {"kubernetes.io/hostname": node}
        allocatable = {"cpu": str(cpu), "memory": "8Gi", "pods": "10"}
        metadata = {"name": node, "labels": labels}
        objects.append(
            {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}}
        )
    for pod in fleet.pods:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(pod.cpu)}}}
        entries = [{"name": name, "resourceClaimName": name} for name in pod.claims]
        spec = {"containers": [container], "resourceClaims": entries}
        objects.append(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod.name, "namespace": "ns"}, "spec": spec}
        )
    return objects


# Brute force


class Brute:
    """All ways to place the pods of a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._every = Case(
            [*(pool for pools in fleet.pools.values() for pool in pools), *fleet.network],
            list(fleet.claims.values()),
            fleet.busy,
            [],
            fleet.lists,
        )
        self._trials = 0
        self._known: dict[tuple[tuple[str, frozenset[str]], ...], bool] = {}

    def most(self, pods: list[FleetPod] | None = None) -> int:
        """The largest number of these pods that can run at the same time."""
        pods = self._fleet.pods if pods is None else pods
        best = 0
        for nodes in product([None, *self._fleet.pools], repeat=len(pods)):
            number = sum(node is not None for node in nodes)
            if number > best and self.is_possible(dict(zip((pod.name for pod in pods), nodes, strict=True))):
                best = number
        return best

    def is_possible(self, nodes: dict[str, str | None]) -> bool:
        """Whether the pods can run where this says."""
        used: dict[str, int] = {}
        where: dict[str, set[str]] = {}
        for pod in self._fleet.pods:
            node = nodes.get(pod.name)
            if node is not None:
                used[node] = used.get(node, 0) + pod.cpu
                for claim in pod.claims:
                    where.setdefault(claim, set()).add(node)
        if any(used[node] > self._fleet.cpu[node] for node in used):
            return False
        if self._fleet.network:
            return self._have_devices(where)
        if any(len(there) > 1 for there in where.values()):
            return False
        return all(
            self._have_devices({claim: there for claim, there in where.items() if node in there}) for node in used
        )

    def _have_devices(self, where: dict[str, set[str]]) -> bool:
        key = tuple(sorted((claim, frozenset(nodes)) for claim, nodes in where.items()))
        if key not in self._known:
            self._known[key] = any(True for _ in self._solutions(where))
        return self._known[key]

    def _solutions(self, where: dict[str, set[str]]) -> Iterator[list[Choice]]:
        claims = [claim for claim in self._fleet.claims.values() if claim.name in where]
        slots = [(claim, index) for claim in claims for index in range(len(claim.requests))]
        for bases in product(*(sorted(where[claim.name]) for claim in claims)):
            per_claim = [list(self._choices(claim, node)) for claim, node in zip(claims, bases, strict=True)]
            for picked in product(*per_claim):
                self._try()
                choices = [choice for chosen in picked for choice in chosen]
                reached = all(
                    len(where[claim.name]) == 1
                    or all(self._is_network(place) for _, places in chosen for place in places)
                    for claim, chosen in zip(claims, picked, strict=True)
                )
                if reached and _is_allowed(self._every, slots, choices):
                    yield choices

    def _choices(self, claim: Claim, node: str) -> Iterator[list[Choice]]:
        pools = sorted([*self._fleet.pools[node], *self._fleet.network], key=lambda pool: pool.key)
        places = [(pool, device) for pool in pools for device in pool.devices]
        slots = [(claim, index) for index in range(len(claim.requests))]
        for choices in _assignments(self._every, places, slots, []):
            self._try()
            if _is_allowed(self._every, slots, choices):
                yield list(choices)

    def _try(self) -> None:
        self._trials += 1
        if self._trials > MOST_TRIALS:
            raise TooManyError

    def _is_network(self, place: Place) -> bool:
        return any(place[0] is pool for pool in self._fleet.network)
