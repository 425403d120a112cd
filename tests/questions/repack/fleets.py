"""Small random clusters for `repack`, the fewest moves by trying every assignment, and waves carried out by hand.

What is judged shares no code with brute force: it knows of devices that are alike on a node, cpu, and models.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dra_plan import Cluster
from tests.build import (
    GPU,
    claim,
    device,
    device_class,
    manifest,
    node,
    on_node,
    owned,
    pod,
    request,
    reserved,
    slice_,
)

Plain = dict[str, Any]


@dataclass(frozen=True)
class Asks:
    """What a pod takes: so many devices, of a model or any, and cpu."""

    devices: int
    cpu: int
    model: str = ""


@dataclass
class Scattered:
    """A cluster with running pods; `room` is what is wanted, so often."""

    nodes: dict[str, tuple[int, int, str]]
    """Devices, cpu and model of each node."""
    pods: dict[str, tuple[str, Asks]]
    room: Asks
    often: int
    bare: set[str] = field(default_factory=set)
    stuck: set[str] = field(default_factory=set)
    """Pods that have to stay."""

    @property
    def kept(self) -> set[str]:
        """Those that a budget keeps."""
        return self.stuck

    def fits(self, places: Sequence[tuple[str, Asks]]) -> bool:
        """Whether all can be where they are at the same time."""
        devices: Counter[str] = Counter()
        cpu: Counter[str] = Counter()
        for where, asks in places:
            devices[where] += asks.devices
            cpu[where] += asks.cpu
            if asks.devices and asks.model not in ("", self.nodes[where][2]):
                return False
        return all(devices[name] <= has and cpu[name] <= of for name, (has, of, _) in self.nodes.items())

    def fewest(self, often: int, *, bare: bool = False) -> int | None:
        """The fewest pods that have to be elsewhere so that there is room so often; None if no assignment has it."""
        movable = [name for name in self.pods if name not in self.stuck and (bare or name not in self.bare)]
        fixed = [self.pods[name] for name in self.pods if name not in movable]
        rooms = list(itertools.combinations_with_replacement(self.nodes, often))
        best: int | None = None
        for where in itertools.product(self.nodes, repeat=len(movable)):
            number = sum(self.pods[name][0] != to for name, to in zip(movable, where, strict=True))
            if best is not None and number >= best:
                continue
            places = [*fixed, *((to, self.pods[name][1]) for name, to in zip(movable, where, strict=True))]
            if self.fits(places) and any(self.fits([*places, *((to, self.room) for to in one)]) for one in rooms):
                best = number
        return best

    def objects(self) -> list[Plain]:
        """The cluster as manifests."""
        made = [device_class()]
        for name, (devices, cpu, model) in self.nodes.items():
            listed = (device(f"gpu-{index}", model=model) for index in range(devices))
            made += [node(name, cpu=str(cpu)), slice_(name, *listed)]
        used: Counter[str] = Counter()
        for name, (where, asks) in self.pods.items():
            held = [f"gpu-{used[where] + index}" for index in range(asks.devices)]
            used[where] += asks.devices
            labels = {"app": "kept"} if name in self.kept else {"app": "free"}
            metadata = {} if name in self.bare else owned("ReplicaSet", f"rs-{name}")
            made += running(name, where, asks, held, labels=labels, metadata=metadata)
        if self.kept:
            spec = {"minAvailable": len(self.kept), "selector": {"matchLabels": {"app": "kept"}}}
            made.append(manifest("PodDisruptionBudget", "kept", namespace="default", spec=spec))
        for number in range(self.often):
            made += waiting(f"room-{number}", self.room)
        return made


@dataclass
class Tied(Scattered):
    """A cluster in which pods use the claim of another pod, or devices that every node reaches. All of these stay."""

    sharers: dict[str, str] = field(default_factory=dict)
    """Pods without devices of their own, each with the pod on its node whose claim it uses."""
    afar: set[str] = field(default_factory=set)
    """Pods with a device of a pool for all nodes, some of them in addition to devices of their node."""

    @property
    def sharing(self) -> set[str]:
        """The pods of claims that several use."""
        return {*self.sharers, *self.sharers.values()}

    @property
    def kept(self) -> set[str]:
        """Those that a budget keeps."""
        return self.stuck - self.sharing - self.afar

    def objects(self) -> list[Plain]:
        """The cluster as manifests."""
        made = super().objects()
        pods = {each["metadata"]["name"]: each for each in made if each["kind"] == "Pod"}
        claims = {each["metadata"]["name"]: each for each in made if each["kind"] == "ResourceClaim"}
        for name, leader in self.sharers.items():
            pods[name]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": f"{leader}-claim"}]
            claims[f"{leader}-claim"]["status"]["reservedFor"] += reserved(name)
        for index, name in enumerate(sorted(self.afar)):
            far = claim(f"{name}-far", asked(Asks(1, 0, "N")))
            far["status"] = {
                "allocation": {
                    "devices": {"results": [{"request": "r", "driver": GPU, "pool": "net", "device": f"net-{index}"}]}
                },
                "reservedFor": reserved(name),
            }
            entries = pods[name]["spec"].setdefault("resourceClaims", [])
            entries.append({"name": "far", "resourceClaimName": f"{name}-far"})
            made.append(far)
        if self.afar:
            listed = (device(f"net-{index}", model="N") for index in range(len(self.afar)))
            made.append(slice_("net", *listed, allNodes=True))
        return made


def asked(asks: Asks) -> Plain:
    """The request of a claim."""
    chosen = [f'device.attributes["{GPU}"].model == "{asks.model}"'] if asks.model else []
    return request("r", *chosen, count=asks.devices)


def waiting(name: str, asks: Asks, **options: Any) -> list[Plain]:
    """A pod that waits, with its claim."""
    if not asks.devices:
        return [pod(name, cpu=str(asks.cpu), **options)]
    made = pod(name, cpu=str(asks.cpu), claims={"gpu": f"{name}-claim"}, **options)
    return [claim(f"{name}-claim", asked(asks)), made]


def running(name: str, where: str, asks: Asks, devices: Sequence[str], **options: Any) -> list[Plain]:
    """A pod on a node, with its devices."""
    *claims, made = waiting(name, asks, nodeName=where, status={"phase": "Running"}, **options)
    results = [{"request": "r", "driver": GPU, "pool": where, "device": each} for each in devices]
    allocation = {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [on_node(where)]}}
    for each in claims:
        each["status"] = {"allocation": allocation, "reservedFor": reserved(name)}
    return [*claims, made]


def scattered(seed: int) -> Scattered:
    """A random cluster whose pods are where they could have been put."""
    draw = random.Random(seed)
    models = draw.choice([["A"], ["A", "B"]])
    names = [f"n{number}" for number in range(draw.randint(2, 3))]
    nodes = {name: (draw.randint(2, 4), draw.choice([4, 6, 8]), draw.choice(models)) for name in names}
    made = Scattered(nodes, {}, Asks(0, 1), 1 if draw.random() < 0.75 else 2)
    shapes = [Asks(draw.choice([0, 1, 1, 2]), draw.randint(1, 2), draw.choice(["", *models])) for _ in range(3)]
    for number in range(draw.randint(3, 7)):
        asks, where = draw.choice(shapes), draw.choice(names)
        if made.fits([*made.pods.values(), (where, asks)]):
            made.pods[f"p{number}"] = (where, asks)
    used = Counter(dict.fromkeys(names, 0))
    for where, asks in made.pods.values():
        used[where] += asks.devices
    free = max(nodes[name][0] - used[name] for name in names)
    made.room = Asks(min(4, free + draw.choice([0, 1, 1, 1, 2])), draw.choice([1, 2]), draw.choice(["", *models]))
    for name in made.pods:
        if draw.random() < 0.1:
            made.stuck.add(name)
        elif draw.random() < 0.15:
            made.bare.add(name)
    return made


def tied(seed: int) -> Tied:
    """A random cluster with pods that share a claim, and pods with devices that every node reaches."""
    draw = random.Random(seed)
    base = scattered(seed)
    made = Tied(base.nodes, dict(base.pods), base.room, base.often, base.bare, base.stuck)
    for name, (where, asks) in base.pods.items():
        beside = [one for one, (at, _) in base.pods.items() if at == where and one != name and one not in made.sharing]
        if asks.devices and beside and name not in made.sharing and draw.random() < 0.4:
            for follower in beside[: draw.randint(1, 2)]:
                made.sharers[follower] = name
                made.pods[follower] = (where, Asks(0, base.pods[follower][1].cpu))
    made.afar = {name for name in made.pods if name not in made.sharing and draw.random() < 0.2}
    made.stuck = base.stuck | made.sharing | made.afar
    return made


def crossed(seed: int) -> Scattered:
    """A random cluster with one large pod on most nodes: a node takes another one only once its own has left."""
    draw = random.Random(seed)
    names = [f"n{number}" for number in range(draw.randint(2, 4))]
    nodes = {name: (draw.randint(1, 4), 4, "A") for name in names}
    made = Scattered(nodes, {}, Asks(1, 1), 1)
    for number, where in enumerate(draw.sample(names, draw.randint(max(2, len(names) - 1), len(names)))):
        made.pods[f"p{number}"] = (where, Asks(draw.randint(0, nodes[where][0]), 3))
    free = max(has - sum(asks.devices for at, asks in made.pods.values() if at == n) for n, (has, *_) in nodes.items())
    made.room = Asks(max(1, min(4, free + draw.choice([1, 1, 2]))), 1)
    if draw.random() < 0.2:
        made.bare.add(draw.choice(list(made.pods)))
    return made


# -- by hand -----------------------------------------------------------------------------------------------------------


def carried_out(objects: Sequence[Plain], waves: Sequence[Any], room: Sequence[str]) -> dict[str, str]:
    """Where every pod is once the waves have been carried out by editing manifests, and the room is taken."""
    now = [each for each in copy.deepcopy(list(objects)) if _name(each) not in room]
    last = [each for each in copy.deepcopy(list(objects)) if _name(each) in room]
    waiting: set[str] = set()
    for wave in waves:
        cordoned = [_cordoned(each) if _name(each) in wave.cordoned else each for each in now]
        then = [one.name for one in wave.waiting]
        for names in ([one.name for one in wave.moved if one.name not in waiting], then):
            cordoned = list(_vacated(cordoned, names))
        after = _scheduled(cordoned)
        for one in wave.moved:
            assert _place(now, one.name) == ("" if one.name in waiting else one.from_node), one
            assert _place(after, one.name) == one.to_node, one
        waiting = {name for name in (*waiting, *then) if not _place(after, name)}
        specs = {_name(each): each.get("spec") for each in now if each["kind"] == "Node"}
        now = [{**each, "spec": specs[_name(each)]} if each["kind"] == "Node" else each for each in after]
    assert not waiting
    done = _scheduled([*now, *last])
    return {_name(each): each["spec"].get("nodeName", "") for each in done if each["kind"] == "Pod"}


def _name(obj: Plain) -> str:
    name: str = obj["metadata"]["name"]
    return name.removesuffix("-claim")


def _place(objects: Sequence[Plain], name: str) -> str:
    [found] = [each for each in objects if each["kind"] == "Pod" and _name(each) == name]
    where: str = found["spec"].get("nodeName", "")
    return where


def _cordoned(obj: Plain) -> Plain:
    return {**obj, "spec": {**(obj.get("spec") or {}), "unschedulable": True}} if obj["kind"] == "Node" else obj


def _vacated(objects: Sequence[Plain], names: Sequence[str]) -> Iterator[Plain]:
    """Those pods wait, last of all, and their claims are free."""
    late = []
    for each in copy.deepcopy(list(objects)):
        if _name(each) in names and each["kind"] == "ResourceClaim":
            each["status"] = {}
        if _name(each) in names and each["kind"] == "Pod":
            del each["spec"]["nodeName"]
            each["status"] = {"phase": "Pending"}
            late.append(each)
        else:
            yield each
    yield from late


def _scheduled(objects: Sequence[Plain]) -> list[Plain]:
    plan = Cluster.of(list(objects)).schedule()
    where = {record.name: record.node_name for record in plan}
    held = {each["name"]: each for each in plan.to_dict()["claims"]}
    found = copy.deepcopy(list(objects))
    for each in found:
        if each["kind"] == "Pod" and where.get(_name(each)):
            each["spec"]["nodeName"] = where[_name(each)]
            each["status"] = {"phase": "Running"}
        if each["kind"] == "ResourceClaim" and each["metadata"]["name"] in held:
            one = held[each["metadata"]["name"]]
            if one.get("allocation"):
                each["status"] = {"allocation": one["allocation"], "reservedFor": one["reservedFor"]}
    return found


# -- shares of devices -------------------------------------------------------------------------------------------------

WHOLE = 4
"""The parts of a device, of which a pod takes some."""


@dataclass
class Shares:
    """Nodes with devices that pods share; `pods` has node, device and parts of each. A pod for `room` devices waits."""

    nodes: dict[str, int]
    pods: dict[str, tuple[str, int, int]]
    room: int

    def fewest(self) -> int | None:
        """The fewest pods that have to have another device so that a node has so many free; None if none has."""
        devices = [(name, index) for name, number in self.nodes.items() for index in range(number)]
        best: int | None = None
        for where in itertools.product(devices, repeat=len(self.pods)):
            moved = sum(to != one[:2] for to, one in zip(where, self.pods.values(), strict=True))
            taken: Counter[tuple[str, int]] = Counter()
            for to, one in zip(where, self.pods.values(), strict=True):
                taken[to] += one[2]
            free = Counter(name for name, index in devices if not taken[name, index])
            is_fine = all(parts <= WHOLE for parts in taken.values()) and max(free.values(), default=0) >= self.room
            if is_fine and (best is None or moved < best):
                best = moved
        return best

    def objects(self) -> list[Plain]:
        """The cluster as manifests."""
        policy = {"default": str(WHOLE), "validRange": {"min": "1", "max": str(WHOLE), "step": "1"}}
        parts = {"parts": {"value": str(WHOLE), "requestPolicy": policy}}
        made = [device_class()]
        for name, number in self.nodes.items():
            listed = (
                device(f"gpu-{index}", model="A", capacity=parts, allowMultipleAllocations=True)
                for index in range(number)
            )
            made += [node(name), slice_(name, *listed)]
        for number, (name, (where, index, share)) in enumerate(self.pods.items()):
            owner = owned("ReplicaSet", f"rs-{name}")
            *claims, made_pod = running(name, where, Asks(1, 1), [f"gpu-{index}"], metadata=owner)
            [only] = claims
            [result] = only["status"]["allocation"]["devices"]["results"]
            result["shareID"] = f"00000000-0000-4000-8000-{number:012}"
            result["consumedCapacity"] = {"parts": str(share)}
            only["spec"]["devices"]["requests"][0]["exactly"]["capacity"] = {"requests": {"parts": str(share)}}
            made += [only, made_pod]
        return made


def shares(seed: int) -> Shares:
    """A random cluster of pods that share devices."""
    draw = random.Random(seed)
    nodes = {f"n{number}": draw.randint(1, 3) for number in range(2)}
    taken: Counter[tuple[str, int]] = Counter()
    made = Shares(nodes, {}, 0)
    for number in range(draw.randint(2, 5)):
        where = draw.choice(list(nodes))
        index, share = draw.randrange(nodes[where]), draw.randint(1, WHOLE)
        if taken[where, index] + share <= WHOLE:
            taken[where, index] += share
            made.pods[f"p{number}"] = (where, index, share)
    free = max(sum(not taken[name, index] for index in range(number)) for name, number in nodes.items())
    made.room = min(max(nodes.values()), free + draw.choice([0, 1, 1]))
    made.room = max(1, made.room)
    return made
