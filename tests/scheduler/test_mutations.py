"""Recorded cases with something changed: nobody recorded the answers, but some things hold for every answer."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

from dra_plan import schedule

from .test_recorded import CASES

Objects = list[dict[str, Any]]
KEYS = ("zone", "kubernetes.io/hostname")


def _priority(pick: random.Random, _node: dict, pod: dict) -> None:
    pod["spec"]["priority"] = pick.choice([-5, 0, 5, 1000])


def _taint(pick: random.Random, node: dict, _pod: dict) -> None:
    effect = pick.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])
    node.setdefault("spec", {})["taints"] = [{"key": "k", "value": "v", "effect": effect}]


def _request(pick: random.Random, _node: dict, pod: dict) -> None:
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    resources.setdefault("requests", {})["cpu"] = pick.choice(["0", "1", "3", "7900m", "100"])


def _port(pick: random.Random, _node: dict, pod: dict) -> None:
    address = pick.choice(["", "0.0.0.0", "10.0.0.1"])
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80, "hostIP": address}]


def _affinity(pick: random.Random, _node: dict, pod: dict) -> None:
    term = {"labelSelector": {"matchLabels": {"app": pick.choice("xy")}}, "topologyKey": pick.choice(KEYS)}
    kind = pick.choice(["podAffinity", "podAntiAffinity"])
    pod["spec"]["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pod["metadata"].setdefault("labels", {})["app"] = pick.choice("xy")


def _spread(pick: random.Random, _node: dict, pod: dict) -> None:
    pod["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": pick.choice(KEYS),
            "whenUnsatisfiable": pick.choice(["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": pick.choice([None, {}, {"matchLabels": {"app": "x"}}]),
        }
    ]


def _shrink(pick: random.Random, node: dict, _pod: dict) -> None:
    node["status"].setdefault("allocatable", {})[pick.choice(["cpu", "memory", "pods"])] = "0"


def _nominate(_pick: random.Random, node: dict, pod: dict) -> None:
    pod.setdefault("status", {})["nominatedNodeName"] = node["metadata"]["name"]


def _end(_pick: random.Random, _node: dict, pod: dict) -> None:
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


CHANGES: list[Callable[[random.Random, dict, dict], None]] = [
    _priority, _taint, _request, _port, _affinity, _spread, _shrink, _nominate, _end
]  # fmt: skip


def changed(objects: Objects, pick: random.Random) -> Objects:
    """The objects with up to five changes; sometimes a node is gone."""
    made = copy.deepcopy(objects)
    nodes, pods = ([o for o in made if o["kind"] == kind] for kind in ("Node", "Pod"))
    for _ in range(pick.randint(1, 5)):
        pick.choice(CHANGES)(pick, pick.choice(nodes), pick.choice(pods))
    if len(nodes) > 1 and pick.random() < 0.2:
        made.remove(pick.choice(nodes))
    return made


def devices_are_given_once(document: dict[str, Any]) -> bool:
    given = [
        (result["driver"], result["pool"], result["device"])
        for claim in document["claims"]
        if claim["allocation"]
        for result in claim["allocation"]["devices"].get("results", ())
        if not result.get("adminAccess") and not result.get("shareID")
    ]
    return len(given) == len(set(given))


def holds(before: Objects, *after: Objects) -> None:
    plain = schedule(before, then=after).to_dict()
    traced = schedule(before, then=after, trace=True).to_dict()
    del traced["trace"]
    assert plain == traced, "remembered answers are those that plugins would give"
    assert devices_are_given_once(plain)
    assert devices_are_given_once(schedule(before, then=after, quirks="fixed").to_dict())
    for pod in plain["pods"]:
        assert pod["nodeName"] or pod["message"] or pod.get("waiting"), "every pod that stays is told why"


@pytest.mark.parametrize("seed", range(12))
def test_a_few(seed: int) -> None:
    pick = random.Random(seed)
    holds(changed(pick.choice(CASES)["objects"], pick))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 300))
def test_many(seed: int) -> None:
    pick = random.Random(seed)
    holds(changed(pick.choice(CASES)["objects"], pick))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300, 400))
def test_later_states(seed: int) -> None:
    pick = random.Random(seed)
    states = [changed(pick.choice(CASES)["objects"], pick)]
    for _ in range(2):
        states.append(changed(states[-1], pick))
    holds(*states)
