"""After each event a replay stands where the cluster stands when it is asked anew with what is there by then."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from dra_plan import Cluster
from dra_plan.controllers.events import EventStep, read_steps
from dra_plan.controllers.settle import Settling
from dra_plan.scheduler.simulation import Simulation
from tests.build import device_class, node, pod, request, slice_, template

Plain = dict[str, Any]
NODES = ("n1", "n2", "n3")


def start() -> list[Plain]:
    """Three nodes, of which each pod names one, so that no tie and no choice is left to chance."""
    made = [device_class(), template("one", request()), template("two", request(count=2))]
    for name in NODES:
        made += [node(name, cpu="6"), slice_(name, "gpu-0", "gpu-1", "gpu-2")]
    return made


def events(draw: random.Random, number: int) -> list[Plain]:
    """Pods that come and go, run for some time, nodes that are cordoned and tainted, and go and come back."""
    found: list[Plain] = []
    there: list[str] = []
    for index in range(number):
        name, where = f"p{index}", draw.choice(NODES)
        kind = draw.random()
        if kind < 0.55 or not there:
            made = pod(
                name,
                templates={"gpu": draw.choice(("one", "two"))} if draw.random() < 0.85 else {},
                cpu=draw.choice(("1", "2", "3")),
                uid=None,
                nodeSelector={"kubernetes.io/hostname": where},
                priority=draw.choice((0, 0, 0, 10)),
                preemptionPolicy="Never",
            )
            found.append({"create": made})
            if draw.random() < 0.25:
                found[-1]["runs"] = draw.choice((2.0, 5.0, 23.0))
            else:
                there.append(name)
        elif kind < 0.85:
            gone = there.pop(draw.randrange(len(there)))
            found.append({"delete": ["Pod", f"default/{gone}"]})
        else:
            cordoned = draw.random() < 0.5
            found.append({"patch": ["Node", where, {"spec": {"unschedulable": cordoned}}]})
    for index, each in enumerate(found):
        each["time"] = 20.0 * (index + 1)
    return found


def state(simulation: Simulation, settling: Settling) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where pods are, and who has which devices."""
    pods = {each.metadata.name: each.spec.node_name for each in simulation.cluster.pods.values()}
    claims = {
        each.metadata.name: sorted(
            (result.pool, result.device) for result in (each.allocation.devices.results if each.allocation else ())
        )
        for each in simulation.cluster.claims
    }
    return pods, claims


def as_objects(simulation: Simulation, settling: Settling) -> list[Plain]:
    """The cluster as its objects: pods that wait in the order in which the queue would try them."""
    queue, server = simulation.scheduler.queue, settling.server

    def turn(uid: str) -> tuple[float, float]:
        item = queue.find(uid)
        return (item.timestamp, item.order) if item is not None else (0.0, 0.0)

    pods = sorted(simulation.cluster.pods.items(), key=lambda entry: turn(entry[0]))
    held = [each for _, each in pods]
    inventory = server.inventory
    other = [*inventory.nodes, *inventory.slices, *inventory.classes, *inventory.templates]
    found = []
    for each in [*other, *simulation.cluster.claims, *held]:
        plain: Plain = {**msgspec.to_builtins(each), "apiVersion": each.api_version, "kind": each.kind}
        plain["metadata"].pop("creationTimestamp", None)
        found.append(plain)
    return found


def check(seed: int, number: int) -> int:
    """How many events were compared."""
    lines = events(random.Random(seed), number)
    steps = read_steps((f"line {index}", line) for index, line in enumerate(lines))
    cluster = Cluster.of(start())
    simulation = Simulation(cluster.inventory, target=cluster.target, ordered=True)
    settling = Settling(simulation)
    compared = 0

    def watched() -> Iterator[EventStep]:
        nonlocal compared
        for step in steps:
            before = as_objects(simulation, settling)
            assert step.time is not None
            yield EventStep("wait", 0.0, "", step.time - 1)  # what ends by itself until then has ended
            before = as_objects(simulation, settling)
            yield step
            yield EventStep("wait", 0.0, "", step.time + 0.5)
            expected = asked_anew(before, step)
            assert state(simulation, settling) == expected, (seed, compared, step.value)
            compared += 1

    settling.follow(watched())
    return compared


def asked_anew(before: list[Plain], step: EventStep) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same event in a cluster that begins with these objects."""
    cluster = Cluster.of(before)
    simulation = Simulation(cluster.inventory, target=cluster.target, ordered=True, makes=False)
    settling = Settling(simulation)
    settling.follow([EventStep(step.verb, step.value, "")])
    return state(simulation, settling)


@pytest.mark.parametrize("seed", range(25))
def test_after_each_event_the_state_is_that_of_a_new_question(seed: int) -> None:
    assert check(seed, 14) >= 14


@pytest.mark.long
def test_thousand_lists_of_events() -> None:
    assert sum(check(seed, 8) for seed in range(1000, 2000)) >= 8000
