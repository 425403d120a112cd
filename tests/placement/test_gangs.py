"""Placements with gangs against brute force: no part of one, and by priority most gangs that start, then most pods."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from dra_plan import Cluster, PlacementPlan
from tests.build import pod_group

from .fleets import Brute, Fleet, FleetPod, TooManyError, objects_of, random_fleet

GATES = {"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True}


@dataclass
class Gangs:
    """The groups of a fleet's pods: `least` and whether it stays in a zone for each, a priority for each pod."""

    least: dict[str, int]
    zoned: set[str]
    group: dict[str, str]
    priority: dict[str, int]
    zones: dict[str, str]

    @property
    def levels(self) -> list[int]:
        return sorted(set(self.priority.values()), reverse=True)

    def members(self, group: str) -> list[str]:
        return [pod for pod, own in self.group.items() if own == group]

    def starts(self, nodes: dict[str, str | None], group: str) -> bool:
        return sum(nodes.get(pod) is not None for pod in self.members(group)) >= self.least[group]

    def is_whole(self, nodes: dict[str, str | None]) -> bool:
        """Whether no gang is there in part, and none with a zone is in two."""
        for group in self.least:
            there = [node for pod in self.members(group) if (node := nodes.get(pod)) is not None]
            if there and len(there) < self.least[group]:
                return False
            if group in self.zoned and len({self.zones[node] for node in there}) > 1:
                return False
        return True

    def worth(self, nodes: dict[str, str | None]) -> tuple[int, ...]:
        """By priority the gangs that start, then the pods; a gang has the highest priority of its pods."""
        found = []
        for level in self.levels:
            own = [g for g in self.least if max(self.priority[pod] for pod in self.members(g)) == level]
            found.append(sum(self.starts(nodes, group) for group in own))
            found.append(sum(nodes.get(pod) is not None for pod, value in self.priority.items() if value == level))
        return tuple(found)


def some_fleet(seed: int) -> Fleet:
    """Pods with claims, or, for odd seeds, more of them that compete for cpu alone."""
    if seed % 2 == 0:
        return random_fleet(seed)
    r = random.Random(seed)
    cpu = {f"n{index}": r.choice([2, 3, 4]) for index in range(r.randint(1, 3))}
    pods = [FleetPod(f"p{index}", [], r.choice([1, 1, 2, 3])) for index in range(r.randint(3, 6))]
    return Fleet({node: [] for node in cpu}, cpu, [], {}, pods, {}, lists=False)


def random_gangs(fleet: Fleet, r: random.Random) -> Gangs:
    """One or two groups, or none, that most of the pods are of; some have more to start than there are pods."""
    names = ["red", "blue"][: r.choice([0, 1, 1, 2, 2])]
    group = {pod.name: r.choice(names) for pod in fleet.pods if names and r.random() < 0.85}
    used = sorted(set(group.values()))
    least = {name: r.choice([1, 2, 2, 2, 3]) for name in used}
    zoned = {name for name in used if r.random() < 0.3}
    zones = {node: r.choice(["east", "west"]) for node in fleet.pools}
    return Gangs(least, zoned, group, {pod.name: r.choice([0, 0, 10]) for pod in fleet.pods}, zones)


def placed_with(fleet: Fleet, gangs: Gangs) -> PlacementPlan:
    objects: list[dict[str, Any]] = objects_of(fleet)
    for made in objects:
        name = made["metadata"]["name"]
        if made["kind"] == "Node":
            made["metadata"]["labels"]["zone"] = gangs.zones[name]
        elif made["kind"] == "Pod":
            made["spec"]["priority"] = gangs.priority[name]
            if name in gangs.group:
                made["spec"]["schedulingGroup"] = {"podGroupName": gangs.group[name]}
    for name, least in gangs.least.items():
        made = pod_group(name, least)
        made["metadata"]["namespace"] = "ns"
        if name in gangs.zoned:
            made["spec"]["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
        objects.append(made)
    gates = GATES | ({"DRAListTypeAttributes": True} if fleet.lists else {})
    return Cluster.of(objects, quirks="fixed", feature_gates=gates).place(most=True)


def check(seeds: Iterable[int]) -> Counter[str]:
    """Compares, and counts what the cases had in them."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        fleet = some_fleet(seed)
        gangs = random_gangs(fleet, random.Random(seed))
        brute = Brute(fleet)
        names = [pod.name for pod in fleet.pods]
        best, most = tuple([0] * (2 * len(gangs.levels))), 0
        try:
            for chosen in product([None, *fleet.pools], repeat=len(names)):
                nodes = dict(zip(names, chosen, strict=True))
                worth, number = gangs.worth(nodes), len(names) - chosen.count(None)
                if (worth > best or number > most) and gangs.is_whole(nodes) and brute.is_possible(nodes):
                    best, most = max(best, worth), max(most, number)
        except TooManyError:
            seen["too many"] += 1
            continue
        document = placed_with(fleet, gangs).document
        found: dict[str, str | None] = {each.name: each.node for each in document.placed}
        assert gangs.is_whole(found), f"seed {seed}: parts of gangs"
        assert brute.is_possible(found), f"seed {seed}"
        assert gangs.worth(found) == best, f"seed {seed}: {best} is possible"
        bounds = [number for level in document.priorities for number in (level.at_most_started, level.at_most)]
        assert tuple(bounds) == best, f"seed {seed}: no more than {best} is possible"
        assert document.at_most == most, f"seed {seed}: {most} pods are possible"
        assert document.outcome == ("Placed" if most == len(names) else "Impossible"), f"seed {seed}"
        started = sum(best[::2])
        seen[document.outcome] += 1
        seen["all start" if started == len(gangs.least) else "some start" if started else "none starts"] += 1
        seen["in a zone"] += bool(gangs.zoned)
        seen["left for a gang"] += len(found) < most
        assert document.scheduler is not None
        seen[f"the scheduler is best: {document.scheduler.is_best}"] += 1
    return seen


def test_gangs_are_whole_and_as_many_as_brute_force_finds() -> None:
    seen = check(range(60))
    assert min(seen[name] for name in ("Placed", "Impossible", "all start", "none starts", "in a zone")) >= 3, seen


@pytest.mark.long
def test_gangs_are_whole_in_many_cases() -> None:
    seen = check(range(20_000, 20_550))
    kinds = ("Placed", "Impossible", "all start", "some start", "none starts", "in a zone", "left for a gang")
    assert min(seen[name] for name in kinds) >= 5, seen
    assert seen["Placed"] + seen["Impossible"] >= 500, seen
