"""Nodes whose own devices are in the same state share answers, and every pod gets the same devices as without that."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.allocator import Allocator
from dra_plan.allocator.kinds import NodeStates
from tests.build import device, device_class, node, pod, request, slice_, template

Plain = dict[str, Any]
MILLI = {"milli": {"value": "1000", "requestPolicy": {"default": "1000", "validRange": {"min": "1", "step": "1"}}}}


def fleet(draw: random.Random) -> list[Plain]:
    """Nodes with whole and shared devices of two models; some devices are tainted."""
    objects: list[Plain] = [device_class()]
    for number in range(14):
        name = f"n{number:02}"
        devices = []
        for at in range(draw.choice((1, 2, 4))):
            more: Plain = {}
            model = draw.choice("ab")
            if draw.random() < 0.5:
                more = {"capacity": MILLI, "allowMultipleAllocations": True}
            elif draw.random() < 0.2:
                more = {"taints": [{"key": "broken", "effect": "NoSchedule"}]}
            devices.append(device(f"d{at}", model=model, root=f"r{at % 2}", **more))
        objects += [node(name, cpu=draw.choice(("4", "8")), pods="20"), slice_(name, *devices)]
    return objects


def claims() -> list[Plain]:
    model = [{"cel": {"expression": 'device.attributes["gpu.example.com"].model == "a"'}}]
    half = {"requests": {"milli": "500"}}
    same = [{"requests": [], "matchAttribute": "gpu.example.com/root"}]
    return [
        template("one"),
        template("half", request(capacity=half)),
        template("two", request(count=2)),
        template("model", request(selectors=model)),
        template("all", request(allocationMode="All")),
        template("root", request(count=2), constraints=same),
        template("mixed", request("x", capacity=half), request("y", selectors=model)),
    ]


def answer(objects: list[Plain]) -> Plain:
    made = Cluster.of(objects).schedule().to_dict()
    return {"pods": made["pods"], "claims": made["claims"]}


@pytest.mark.parametrize("seed", range(6))
def test_states_change_no_answer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    kinds = [each["metadata"]["name"] for each in claims()]
    pods = [
        pod(f"p{number:02}", templates={"gpu": draw.choice(kinds)}, cpu=draw.choice(("100m", "1")))
        for number in range(60)
    ]
    objects = [*fleet(draw), *claims(), *pods]
    searched: list[str] = []
    allocate = Allocator.allocate

    def counted(self: Allocator, node: Any, *rest: Any) -> Any:
        searched.append(node.metadata.name)
        return allocate(self, node, *rest)

    monkeypatch.setattr(Allocator, "allocate", counted)
    found, few = answer(objects), len(searched)
    monkeypatch.setattr(NodeStates, "get", lambda *_: None)
    searched.clear()
    assert found == answer(objects)
    assert few < len(searched)
    outcomes = {each["outcome"] for each in found["pods"]}
    assert outcomes == {"Bound", "Unschedulable"}
