"""Small random clusters with pods that run and one that waits, and brute force over who would have to leave.

As in `fleets`, what is judged shares no code with brute force. Which devices the running pods have is what the
scheduler gave them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import dra_plan
from tests.allocator.model import DRIVERS, Case, Claim, Device, Option, Pool, Request
from tests.allocator.oracle import Place, _amount, _is_allowed

from .fleets import Brute, Fleet, FleetPod, TooManyError, objects_of, random_fleet

GATES = {"DRAListTypeAttributes": True}
Results = list[dict[str, Any]]


@dataclass
class Scene:
    """`wanting` waits; `nodes` says where the others run, `devices` what their claims have.

    `fixed` pods can't be asked to leave, `priority` is that of each pod, `budget` the pods of which one may leave.
    """

    fleet: Fleet
    wanting: FleetPod
    nodes: dict[str, str]
    devices: dict[str, Results]
    fixed: set[str]
    priority: dict[str, int]
    budget: set[str]

    @property
    def gates(self) -> dict[str, bool] | None:
        return GATES if self.fleet.lists else None


def scene(seed: int, *, network: bool = False) -> Scene | None:
    """A cluster in which a pod waits and others run, some of those that came with them gone; None if the seed has none.

    So what is free is scattered.
    """
    r = random.Random(seed)
    if r.random() < 0.7:
        fleet = _plain_fleet(r, network=network)
        wanting = fleet.pods[-1]
    else:
        fleet = random_fleet(seed, network=network)
        wanting = r.choice(fleet.pods)
        _add_pods(r, fleet)
    fleet.pods = [pod for pod in fleet.pods if pod is not wanting]
    gates = GATES if fleet.lists else None
    plain = dra_plan.Cluster.of(objects_of(fleet), quirks="fixed", feature_gates=gates).schedule().to_dict()
    nodes = {entry["name"]: entry["nodeName"] for entry in plain["pods"] if entry["nodeName"] and r.random() < 0.7}
    pods = [*(pod for pod in fleet.pods if pod.name in nodes), wanting]
    running = {claim for pod in pods[:-1] for claim in pod.claims}
    devices = {entry["name"]: entry["allocation"] for entry in plain["claims"] if entry["name"] in running}
    claims = {name: claim for name, claim in fleet.claims.items() if name in running or name in wanting.claims}
    found = Scene(
        replace(fleet, pods=pods, claims=claims),
        wanting,
        nodes,
        {name: allocation["devices"]["results"] for name, allocation in devices.items()},
        {name for name in nodes if r.random() < 0.1},
        {pod.name: r.choice([0, 0, 0, -1, -1, 1]) if pod is not wanting else 0 for pod in pods},
        set(nodes) if r.random() < 0.15 else set(),
    )
    try:
        return found if nodes and not has_room(found, (), ()) and (r.random() < 0.1 or _is_promising(found)) else None
    except TooManyError:
        return None


def _is_promising(scene: Scene) -> bool:
    """Whether there is room for all of those that may leave, or for all of higher priority among them."""
    movable = [name for name in scene.nodes if name not in scene.fixed and scene.priority[name] <= 0]
    lower = [name for name in movable if scene.priority[name] < 0]
    return has_room(scene, tuple(movable), ()) or (bool(lower) and has_room(scene, tuple(movable), tuple(lower)))


def _plain_fleet(r: random.Random, *, network: bool) -> Fleet:
    """Nodes with a few devices each, pods of one device, and last one that asks for more: devices, cpu or memory."""
    counting, shared = r.random() < 0.3, r.random() < 0.3
    pools: dict[str, list[Pool]] = {}
    for node in range(r.randint(2, 3)):
        uses = {"x": 1} if counting else {}
        devices = [
            Device(f"d{index}", r.choice("AAB"), frozenset([r.choice([0, 1])]), 4, shared, None, uses)
            for index in range(r.randint(2, 4))
        ]
        counters = {"x": max(1, len(devices) - r.randint(0, 1))} if counting else {}
        pools[f"n{node}"] = [Pool(DRIVERS[0], f"n{node}-pool", devices, counters)]
    far = [Pool(DRIVERS[1], "net", [Device(f"d{i}", "A", frozenset([0]), 4) for i in range(2)], {})] if network else []
    pods, claims = [], {}
    for index in range(r.randint(3, 6)):
        name = f"c{index}"
        remote = network and r.random() < 0.3
        memory = r.choice([1, 2, 3]) if shared and not remote else None
        option = Option("o", DRIVERS[remote], 1, False, r.choice([None, None, "A"]), [], memory)
        claims[name] = Claim(name, [Request("r", [option], False)], None, None)
        names = [name] if not pods or r.random() < 0.9 else [r.choice(pods).claims[0]]
        pods.append(FleetPod(f"p{index}", names, r.choice([1, 1, 2, 3])))
    far_too = network and r.random() < 0.5
    every = r.random() < 0.1
    count = 0 if every else r.choice([1, 2, 2, 3])
    options = [Option("o0", DRIVERS[0], count, every, r.choice([None, "A"]), [], 3 if shared else None)]
    alternatives = r.random() < 0.2
    if alternatives:
        options.append(Option("o1", DRIVERS[0], 2, False, "B", [], 2 if shared else None))
    requests = [Request("r0", options, alternatives)]
    if far_too:
        requests.append(Request("r1", [Option("o", DRIVERS[1], r.choice([1, 2]), False, None, [], None)], False))
    claims["big"] = Claim("big", requests, *r.choice([(None, None), (["r0"], None), (None, ["r0"])]))
    pods.append(FleetPod("big", ["big"], r.choice([1, 2, 4])))
    cpu = {name: r.choice([4, 6, 8]) for name in pools}
    return Fleet(pools, cpu, far, claims, pods, {}, False)


def _add_pods(r: random.Random, fleet: Fleet) -> None:
    """More pods like those that are there."""
    for index in range(r.randint(1, 4)):
        like = r.choice(fleet.pods)
        names = []
        for name in like.claims:
            names.append(f"{name}-x{index}")
            fleet.claims[names[-1]] = replace(fleet.claims[name], name=names[-1])
        fleet.pods.append(FleetPod(f"x{index}", names, like.cpu))


def scene_objects(scene: Scene) -> list[dict[str, Any]]:
    """The scene as Kubernetes objects: running pods have controllers, unless they are fixed."""
    objects = objects_of(scene.fleet)
    users: dict[str, list[str]] = {}
    for pod in scene.fleet.pods:
        for claim in pod.claims:
            if pod.name in scene.nodes:
                users.setdefault(claim, []).append(pod.name)
    for made in objects:
        name = made["metadata"]["name"]
        if made["kind"] == "Pod":
            made["spec"]["priority"] = scene.priority[name]
            made["metadata"]["labels"] = {"budget": str(name in scene.budget)}
            if name in scene.nodes:
                made["spec"]["nodeName"] = scene.nodes[name]
                made["status"] = {"phase": "Running"}
                if name not in scene.fixed:
                    controller = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u-rs"}
                    made["metadata"]["ownerReferences"] = [{**controller, "controller": True}]
        elif made["kind"] == "ResourceClaim" and name in users:
            reserved = [{"resource": "pods", "name": user, "uid": ""} for user in users[name]]
            made["status"] = {"allocation": _allocation(scene, name), "reservedFor": reserved}
    if scene.budget:
        spec = {"selector": {"matchLabels": {"budget": "True"}}, "minAvailable": 1}
        metadata = {"name": "budget", "namespace": "ns"}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}
        objects.append({**budget, "status": {"disruptionsAllowed": 1}})
    return objects


def _allocation(scene: Scene, claim: str) -> dict[str, Any]:
    results = scene.devices[claim]
    node = _node_of(scene.fleet, results)
    if node is None:
        return {"devices": {"results": results}}
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    return {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": terms}}


def _node_of(fleet: Fleet, results: Results) -> str | None:
    """The node whose devices these are; None if all are reached from everywhere."""
    pools = {(pool.driver, pool.name): node for node, own in fleet.pools.items() for pool in own}
    nodes = {
        pools[result["driver"], result["pool"]] for result in results if (result["driver"], result["pool"]) in pools
    }
    return min(nodes, default=None)


# Brute force


def least(scene: Scene, limit: int) -> tuple[str, int, int]:
    """What is possible with so many pods: outcome, and how many move and are preempted at least."""
    movable = [name for name in scene.nodes if name not in scene.fixed and scene.priority[name] <= 0]
    preemption: tuple[int, int] | None = None
    for number in range(1, limit + 1):
        for gone in combinations(movable, number):
            if len(scene.budget.intersection(gone)) > 1:
                continue
            if has_room(scene, gone, ()):
                return "Moves", number, 0
            for lost in _losses(scene, gone) if preemption is None or preemption[0] + preemption[1] == number else ():
                if (preemption is None or len(lost) < preemption[1]) and has_room(scene, gone, lost):
                    preemption = number - len(lost), len(lost)
    return ("Preemption", *preemption) if preemption is not None else ("Impossible", 0, 0)


def _losses(scene: Scene, gone: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    lower = [name for name in gone if scene.priority[name] < 0]
    for number in range(1, len(lower) + 1):
        yield from combinations(lower, number)


def has_room(scene: Scene, gone: tuple[str, ...], lost: tuple[str, ...]) -> bool:
    """Whether all but the lost ones have a place when these have left."""
    staying = {name: node for name, node in scene.nodes.items() if name not in gone}
    kept = {claim for pod in scene.fleet.pods if pod.name in staying for claim in pod.claims}
    going = [pod for pod in scene.fleet.pods if pod.name not in staying and pod.name not in lost]
    cpu = dict(scene.fleet.cpu)
    for pod in scene.fleet.pods:
        if pod.name in staying:
            cpu[staying[pod.name]] -= pod.cpu
    busy = dict(scene.fleet.busy)
    places = {
        (pool.driver, pool.name, device.name): (pool, device)
        for pool in [*(p for own in scene.fleet.pools.values() for p in own), *scene.fleet.network]
        for device in pool.devices
    }
    for claim in kept:
        for key, memory in taken(scene.fleet.claims[claim], scene.devices[claim], places):
            busy[key] = None if memory is None else (busy.get(key) or 0) + memory
    pods = [FleetPod(pod.name, [c for c in pod.claims if c not in kept], pod.cpu) for pod in going]
    claims = {name: claim for name, claim in scene.fleet.claims.items() if any(name in pod.claims for pod in pods)}
    brute = Brute(replace(scene.fleet, cpu=cpu, busy=busy, pods=pods, claims=claims))
    for nodes in product(scene.fleet.pools, repeat=len(going)):
        where = dict(zip((pod.name for pod in going), nodes, strict=True))
        reached = all(
            _node_of(scene.fleet, scene.devices[claim]) in (None, where[pod.name])
            for pod in going
            for claim in pod.claims
            if claim in kept
        )
        if reached and brute.is_possible(where):
            return True
    return False


def taken(
    claim: Claim, results: Results, places: dict[tuple[str, str, str], Place]
) -> Iterator[tuple[tuple[str, str, str], int | None]]:
    """What a claim with these devices takes: whole devices, or memory of shared ones."""
    for option, place, key in _chosen(claim, results, places):
        if not option.admin:
            yield key, _amount(option, place[1]) if place[1].shared else None


def _chosen(claim: Claim, results: Results, places: dict[tuple[str, str, str], Place]) -> Iterator[Any]:
    for result in results:
        name, _, part = result["request"].partition("/")
        [request] = [each for each in claim.requests if each.name == name]
        [option] = [each for each in request.options if not part or each.name == part]
        key = (result["driver"], result["pool"], result["device"])
        yield option, places[key], key


def is_right(scene: Scene, nodes: dict[str, str], devices: dict[str, Results]) -> bool:
    """Whether pods can run on these nodes, with these devices of their claims, all at the same time."""
    fleet, used = scene.fleet, dict.fromkeys(scene.fleet.cpu, 0)
    pools = [*(pool for own in fleet.pools.values() for pool in own), *fleet.network]
    places = {(pool.driver, pool.name, device.name): (pool, device) for pool in pools for device in pool.devices}
    slots, choices = [], []
    for pod in fleet.pods:
        if pod.name in nodes:
            used[nodes[pod.name]] += pod.cpu
            if any(_node_of(fleet, devices[claim]) not in (None, nodes[pod.name]) for claim in pod.claims):
                return False
    for name, results in devices.items():
        claim = fleet.claims[name]
        found = list(_chosen(claim, results, places))
        for index, request in enumerate(claim.requests):
            mine = [(o, place) for (o, place, _), r in zip(found, results, strict=True) if _names(r, request.name)]
            if mine:
                slots.append((claim, index))
                choices.append((mine[0][0], tuple(place for _, place in mine)))
    case = Case(pools, list(fleet.claims.values()), fleet.busy, [], fleet.lists)
    return all(used[node] <= fleet.cpu[node] for node in used) and _is_allowed(case, slots, choices)


def _names(result: dict[str, Any], request: str) -> bool:
    return bool(result["request"].partition("/")[0] == request)
