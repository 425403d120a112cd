"""Planning of pod groups, what it says of them, and clusters with groups as chance will have it."""

from __future__ import annotations

import random
from typing import Any

from dra_plan import schedule
from tests.build import claim, device_class, member, node, placed, pod_group, request, slice_, template

GANGS = {"GenericWorkload": True, "GangScheduling": True}
TOPOLOGY = {**GANGS, "TopologyAwareWorkloadScheduling": True}
PREEMPTION = {**GANGS, "WorkloadAwarePreemption": True}
CLAIMS = {**GANGS, "DRAWorkloadResourceClaims": True}


def plan(objects: list[dict[str, Any]], gates: dict[str, bool] = GANGS, **asked: Any) -> dict[str, Any]:
    asked = {"kubernetes_version": "1.36", "api_server": "real", **asked}
    return schedule(objects, feature_gates=gates, **asked).to_dict()


def where(document: dict[str, Any]) -> dict[str, str | None]:
    return {entry["name"]: entry["nodeName"] for entry in document["pods"]}


def messages(document: dict[str, Any]) -> dict[str, str | None]:
    return {entry["name"]: entry["message"] for entry in document["pods"]}


def conditions(document: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {
        entry["name"]: (each["status"], each["reason"], each.get("message", ""))
        for entry in document["podGroups"]
        for each in entry.get("conditions", [])
    }


def by_chance(seed: int) -> list[dict[str, Any]]:
    """Gangs of one priority with claims of their own and shared ones, and less important pods in their way."""
    chance = random.Random(seed)
    objects: list[dict[str, Any]] = [device_class()]
    names = [f"n{number}" for number in range(chance.randint(1, 4))]
    for name in names:
        objects.append(node(name, cpu=str(chance.randint(2, 6)), pods=str(chance.randint(1, 5))))
        objects.append(slice_(name, *(f"gpu-{number}" for number in range(chance.randint(0, 3)))))
    objects += [template("t1"), template("t2", request(count=2)), claim("shared"), claim("shared-2", request(count=2))]
    objects += [placed(f"lone-{name}", name, cpu="2", priority=0) for name in names if chance.random() < 0.4]
    for number in range(chance.randint(1, 3)):
        count = chance.randint(1, 5)
        objects.append(pod_group(f"g{number}", chance.randint(1, count), priority=chance.choice((0, 50))))
        for each in range(count):
            options: dict[str, Any] = {"cpu": str(chance.randint(1, 3)), "priority": 50}
            if chance.random() < 0.5:
                options["templates"] = {"own": chance.choice(("t1", "t2"))}
            if chance.random() < 0.5:
                options["claims"] = {"with": chance.choice(("shared", "shared-2"))}
            made = member(f"p{number}-{each}", f"g{number}", **options)
            if chance.random() < 0.5:
                made["spec"].get("resourceClaims", []).reverse()
            objects.append(made)
    return objects
