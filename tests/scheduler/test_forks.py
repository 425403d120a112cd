"""What happens after a fork is taken back by a revert, and kept by a commit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.api.inventory import Inventory
from dra_plan.controllers.events import EventStep, read_steps
from dra_plan.controllers.repeats import ENDLESS
from dra_plan.controllers.settle import Settling
from dra_plan.planner.question import Question
from dra_plan.planner.settling import settle_chosen
from dra_plan.planner.waves import come_to_rest
from dra_plan.releases import target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.forks import Forks, _fields, _parts_of  # pyright: ignore[reportPrivateUsage]
from dra_plan.scheduler.simulate import simulate
from dra_plan.scheduler.simulation import Simulation
from dra_plan.whatif.edits import Cordon, Drain, Evict
from tests.build import owned
from tests.questions.replay.test_steps import Plain, events, start, state

from .random_clusters import cluster

_PLAIN = (str, int, float, bool, type(None), tuple, frozenset)


def everything(settling: Settling) -> dict[str, Any]:
    """Every field of every part and of every node; objects that never change by what they are equal to."""
    state = settling._simulation.cluster.claims.state  # pyright: ignore[reportPrivateUsage]
    parts, found = _parts_of(settling), dict[str, Any]()
    number = {id(part): index for index, part in enumerate(parts)}
    for index, part in enumerate(parts):
        for name, value in _fields(part):
            if name not in getattr(part, "counters", ()):
                found[f"{index} {type(part).__name__}.{name}"] = plain(value, number)
    [cluster] = [part for part in parts if isinstance(part, SimulatedCluster)]
    for name in ("dedicated", "shared", "aggregate", "_by_pool", "_sharing", "_given_twice"):
        found[f"devices {name}"] = in_any_order(getattr(state, name))
    for node in cluster.in_order:
        found[f"node {node.name}"] = {
            name: plain(getattr(node, name), number)
            for name in NodeInfo.__slots__
            if name not in ("journal", "_labelled", "_is_shared")
        }
    return found


def in_any_order(table: Any) -> Any:
    """The table without the entries that say nothing, sorted."""
    return (
        sorted(map(str, table))
        if isinstance(table, set)
        else sorted(
            (str(key), str(sorted(value)) if isinstance(value, set) else str(value))
            for key, value in table.items()
            if value
        )
    )


def plain(value: Any, number: dict[int, int]) -> Any:
    """The value with objects that change replaced by what tells them apart."""
    if isinstance(value, PodRecord):
        return plain(vars(value), number)
    if isinstance(value, dict):
        return [(plain(key, number), plain(each, number)) for key, each in value.items()]
    if isinstance(value, list):
        return [plain(each, number) for each in value]
    if isinstance(value, set):
        return sorted(map(str, value))
    if isinstance(value, _PLAIN):
        return value
    return number.get(id(value), id(value))


def replayed(seed: int, number: int, *, forks: bool) -> tuple[Any, int]:
    """The states after each event of a random list, and how often something was taken back or kept."""
    draw = random.Random(seed)
    lines = events(draw, number)
    others = events(draw, 60)
    cluster = Cluster.of(start())
    simulation = Simulation(cluster.inventory, target=cluster.target, ordered=True)
    settling = Settling(simulation)
    states, count = [], 0

    def watched() -> Iterator[EventStep]:
        nonlocal count
        for index, step in enumerate(steps(lines)):
            if forks and draw.random() < 0.5:
                aside(settling, draw, others, index)
                count += 1
            if forks and draw.random() < 0.3:
                settling.forks.fork()
                yield step
                settling.forks.commit()
            else:
                yield step
            yield EventStep("wait", 0.0, "", (step.time or 0.0) + 0.5)
            states.append(state(simulation, settling))

    settled = settling.follow(watched())
    return (states, settled.state.now, [each.pod.key for each in settled.server.ended]), count


def aside(settling: Settling, draw: random.Random, others: list[Plain], index: int, depth: int = 0) -> None:
    """Carry out other events, with forks inside of them, and take all of it back."""
    before = everything(settling)
    with settling.forks.trial():
        now = settling.server.now
        for line in draw.sample(others, draw.randint(1, 6)):
            if "delete" not in line:
                line = {**line, "time": 0.0}
                if "create" in line:
                    made = line["create"]
                    name = f"{made['metadata']['name']}-{index}-{depth}-{draw.random()}".replace(".", "-")
                    line["create"] = {**made, "metadata": {**made["metadata"], "name": name}}
                [step] = steps([line])
                settling._events.carry_out(step)  # pyright: ignore[reportPrivateUsage]
            if draw.random() < 0.3 and depth < 2:
                aside(settling, draw, others, index, depth + 1)
            if draw.random() < 0.7:
                now += draw.choice((0.0, 1.0, 40.0))
                settling._until(now)  # pyright: ignore[reportPrivateUsage]
    after = everything(settling)
    different = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    assert not different, (different, before.get(different[0]), after.get(different[0]))


def steps(lines: list[Plain]) -> list[EventStep]:
    return list(read_steps((f"line {index}", line) for index, line in enumerate(lines)))


def check(seed: int, number: int) -> int:
    """How many forks were taken back without a trace."""
    expected, _ = replayed(seed, number, forks=False)
    found, count = replayed(seed, number, forks=True)
    assert found == expected, seed
    return count


@pytest.mark.parametrize("seed", range(12))
def test_what_is_taken_back_leaves_no_trace(seed: int) -> None:
    assert check(seed, 10) > 0


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 1500, 100))
def test_many_lists_with_forks(first: int) -> None:
    assert sum(check(seed, 8) for seed in range(first, first + 100)) >= 300


def test_containers_stay_the_same_objects_with_the_contents_of_before() -> None:
    class Part:
        counters = ("revision",)
        not_kept = ("cache",)

        def __init__(self) -> None:
            self.table = {"a": [1], "b": [2]}
            self.names = {"x"}
            self.revision = self.cache = 1

        def parts(self) -> tuple[object, ...]:
            return ()

    part = Part()
    table, forks = part.table, Forks(part)
    forks.fork()
    part.table["a"].append(3)
    part.table = {}
    forks.fork()
    part.names.add("y")
    forks.commit()
    part.revision = part.cache = 5
    part.later = 1  # type: ignore[attr-defined]
    forks.revert()
    assert part.table is table
    assert table == {"a": [1], "b": [2]}
    assert part.names == {"x"}
    assert (part.revision, part.cache, hasattr(part, "later")) == (6, 5, False)


# -- other states of the input -----------------------------------------------------------------------------------------


def owned_pods(seed: int) -> Cluster:
    """A random cluster whose pods belong to a workload."""
    objects = cluster(seed)
    for each in objects:
        if each["kind"] == "Pod":
            each["metadata"].update(owned("ReplicaSet", "rs"))
            if seed % 2:
                del each["metadata"]["uid"]
    return Cluster.of(objects)


def later(seed: int) -> set[str]:
    """The names of a few pods that are not scheduled at first."""
    draw = random.Random(seed)
    late = {draw.randrange(26) for _ in range(4)}
    return {each.metadata.name for index, each in enumerate(owned_pods(seed).inventory.pods) if index in late}


def fleet(seed: int) -> Inventory:
    """A random cluster in which most pods have found a node, and belong to a workload."""
    loaded, waits = owned_pods(seed), later(seed)
    rest = come_to_rest(loaded.inventory, loaded.target, Question(), lambda one: one.metadata.name not in waits)
    return rest.inventory


def edited(inventory: Inventory, draw: random.Random) -> Inventory:
    """The cluster after a few random edits."""
    for _ in range(draw.randint(1, 3)):
        kind = draw.choice(("drain", "drain", "evict", "cordon", "without"))
        node = draw.choice(inventory.nodes).metadata.name
        gone = draw.choice(inventory.pods)
        if kind == "drain":
            inventory = Drain(node).apply(inventory).inventory
        elif kind == "cordon":
            inventory = Cordon(node).apply(inventory).inventory
        elif kind == "evict" and gone.spec.node_name:
            inventory = Evict(gone.metadata.namespace, gone.metadata.name).apply(inventory).inventory
        elif kind == "without":
            inventory = replace(inventory, pods=[each for each in inventory.pods if each is not gone])
    return inventory


def begun(simulation: Simulation) -> dict[str, Any]:
    """What a simulation starts with, but for the place of waiting pods among the others."""
    cluster = simulation.cluster
    nodes = {
        node.name: (
            [(info.uid, info.pod) for info in node.pods.values()],
            {name: amount for name, amount in node.requested.items() if amount},
            [node.node, node.scored_cpu, node.scored_memory, node.ports, list(node.affinity_pods)],
        )
        for node in cluster.in_order
    }
    state = cluster.claims.state
    return {
        "nodes": nodes,
        "claims": list(cluster.claims),
        "devices": [in_any_order(table) for table in (state.dedicated, state.shared, state.aggregate)],
        "uses": in_any_order(cluster.claims._uses),  # pyright: ignore[reportPrivateUsage]
        "waiting": [each for each in simulation.pods if not each.spec.node_name],
        "running": sorted(uid for uid, each in cluster.pods.items() if each.spec.node_name),
        "now": simulation.clock.now,
        "least": (cluster.least_priority(), cluster.affinity_pods),
    }


def ended(simulation: Simulation) -> dict[str, Any]:
    """What becomes of it."""
    result = simulate(simulation)
    return {
        "pods": {
            each.pod.key: (each.pod, each.node, each.message, each.attempts, list(each.best)) for each in result.pods
        },
        "claims": {each.key: each for each in result.claims},
        "evictions": result.evictions,
        "notices": sorted(map(str, result.notices)),
    }


def check_states(seed: int, number: int) -> int:
    """How many pods had to be scheduled in the states that one simulation has become."""
    inventory, draw = fleet(seed), random.Random(seed)
    options: dict[str, Any] = {"target": target("1.36"), "ordered": True}
    first = Simulation(inventory, **options)
    first.stand_by()
    waiting = 0
    for index in range(number):
        state = edited(inventory, draw) if index else inventory
        assert first.can_become(state)
        with first.forks.trial():
            first.become(state, lambda _pod: True)
            alone = Simulation(state, **options)
            waiting += len(first.pods)
            assert begun(first) == begun(alone), (seed, index)
            assert ended(first) == ended(alone), (seed, index)
    return waiting


@pytest.mark.parametrize("seed", range(6))
def test_a_simulation_becomes_what_another_state_would_have_begun_with(seed: int) -> None:
    assert check_states(seed, 8) > 8


def test_preemption_without_an_end_is_noticed() -> None:
    """The successor of each preempted pod is placed, and is then preempted as well."""
    loaded, waits = owned_pods(1072), later(1072)
    outcome = settle_chosen(
        loaded.inventory, loaded.target, Question(), lambda one: one.metadata.name not in waits, ordered=True
    )
    assert outcome.settled is not None
    assert outcome.settled.unsettled == ENDLESS


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 1150, 30))
def test_many_simulations_become_other_states(first: int) -> None:
    assert sum(check_states(seed, 10) for seed in range(first, first + 30)) > 600
