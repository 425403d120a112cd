"""Policies and the measure of fragmentation, against a measure that is written down another way."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dra_plan import Cluster, UsageError
from dra_plan.allocator.ledger import AllocatedState
from dra_plan.scheduler import policies
from dra_plan.scheduler.chance import Chance
from dra_plan.scheduler.fragmentation.measure import Measure
from dra_plan.scheduler.simulation import Simulation
from tests.build import claim, counters, device, device_class, node, pod, request, slice_, template

from .test_equal_to_schedule import SHAPES, fleet

Plain = dict[str, Any]


def naive(nodes: dict[str, tuple[int, list[int]]], pods: list[tuple[int, int, int]]) -> float:
    """The measure by its definition: nodes as cpu and thousandths that are left, pods as cpu, devices, thousandths."""
    total = 0.0
    for cpu, left in nodes.values():
        for wanted, count, milli in pods:
            fitting = [some for some in left if some >= milli]
            unfit = not count or wanted > cpu or len(fitting) < count
            total += sum(left) if unfit else sum(some for some in left if some < milli)
    return total / len(pods) / 1000


@pytest.mark.parametrize("seed", range(6))
def test_fragmentation_is_that_of_its_definition(seed: int) -> None:
    objects, coming = fleet(seed, 6, 40)
    answer = Cluster.of([*objects, *coming]).replay()
    document = answer.document.runs[0]
    left: dict[str, tuple[int, list[int]]] = {}
    for obj in objects:
        if obj["kind"] == "Node":
            left[obj["metadata"]["name"]] = (int(obj["status"]["allocatable"]["cpu"]) * 1000, [])
        elif obj["kind"] == "ResourceSlice":
            left[obj["spec"]["nodeName"]][1].extend([1000] * len(obj["spec"]["devices"]))
    mix, asked = [], {}
    for obj in coming:
        cpu = obj["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        milli = int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
        count, share = map(int, obj["spec"]["resourceClaims"][0]["resourceClaimTemplateName"].split("x"))
        asked[obj["metadata"]["name"]] = milli
        mix.append((milli, count, share))
    for record in answer.outcome.pods:
        if record.node:
            cpu, some = left[record.node]
            left[record.node] = (cpu - asked[record.pod.metadata.name], some)
    for made in answer.outcome.claims:
        for result in made.allocation.devices.results if made.allocation else ():
            taken = result.consumed_capacity or {}
            left[result.pool][1][int(result.device[4:])] -= _thousandths(taken["milli"])
    # memory is never short here: each pod asks for 1Gi of 256Gi
    assert document.samples[-1].fragmented == pytest.approx(naive(left, mix), abs=1e-5)
    idle = sum(sum(some) for _, some in left.values()) / 1000
    assert document.samples[-1].devices - document.samples[-1].allocated == pytest.approx(idle)


def _thousandths(text: object) -> int:
    written = str(text)
    return int(written[:-1]) * 1000 if written.endswith("k") else int(written)


@pytest.mark.parametrize("policy", policies.POLICIES)
def test_every_policy_keeps_the_filters(policy: str) -> None:
    objects, coming = fleet(3, 10, 60)
    answer = Cluster.of([*objects, *coming]).replay(policy=policy)
    used: dict[tuple[str, str], int] = {}
    for made in answer.outcome.claims:
        for result in made.allocation.devices.results if made.allocation else ():
            key = (result.pool, result.device)
            used[key] = used.get(key, 0) + _thousandths((result.consumed_capacity or {})["milli"])
    assert used
    assert max(used.values()) <= 1000
    assert answer.document.runs[0].policy == policy


def test_whole_nodes_keeps_a_node_for_a_pod_that_needs_all_of_it() -> None:
    objects = [device_class(), template("one", request()), template("all", request(count=4))]
    for name in ("a", "b"):
        objects += [node(name), slice_(name, *(f"gpu-{number}" for number in range(4)))]
    coming = [pod(f"small-{number}", templates={"gpu": "one"}) for number in range(4)]
    coming.append(pod("large", templates={"gpu": "all"}))
    events = [{"create": each, "time": number} for number, each in enumerate(coming)]
    cluster = Cluster.of(objects)
    waiting = {name: cluster.replay(events, policy=name).document.runs[0].samples[-1].waiting for name in FITS}
    assert waiting == FITS


FITS = {"default": 1, "whole-nodes": 0, "fgd": 0, "best-fit": 0}


def test_parts_of_a_device_are_one_unit() -> None:
    """Of a GPU with two halves and a whole, which draw on one counter set, a half is left when one half is taken."""
    parts = [
        device("whole", consumes={"gpu": {"slots": "2"}}, profile="whole"),
        *(device(f"half-{number}", consumes={"gpu": {"slots": "1"}}, profile="half") for number in range(2)),
    ]
    objects = [node("n1"), device_class(), slice_("n1", *parts, number=0, of=2)]
    objects += [counters("n1", {"gpu": {"slots": "2"}}, number=1)]
    half = request("r", 'device.attributes["gpu.example.com"].profile == "half"')
    objects += [claim("c", half), pod("p", claims={"gpu": "c"})]
    [run] = Cluster.of(objects).replay().document.runs
    sample = run.samples[-1]
    assert run.pods[0].message == ""
    assert (sample.devices, sample.allocated, sample.whole_idle_nodes) == (1, 0.5, 0)


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'best-fit'"):
        Cluster.of([node("n1")]).replay(policy="bestfit")
    with pytest.raises(UsageError, match="unknown ties 'any'"):
        Chance(ties="any")


@pytest.mark.parametrize("seed", range(30))
def test_claims_that_go_leave_the_state_of_those_that_stay(seed: int) -> None:
    """Shares and whole devices, some given twice: where the state says that it knows, it knows."""
    draw = random.Random(seed)
    made = []
    for number in range(12):
        results = []
        for _ in range(draw.randint(1, 3)):
            result: Plain = {"request": "r", "driver": "d", "pool": draw.choice("ab"), "device": draw.choice("xyz")}
            if draw.random() < 0.6:
                result |= {"shareID": f"s{number}"}
                if draw.random() < 0.8:
                    result["consumedCapacity"] = {"milli": str(draw.randint(0, 3))}
            results.append(result)
        made.append(claim(f"c{number}", status={"allocation": {"devices": {"results": results}}}))
    claims = list(Cluster.of(made).inventory.claims)
    state = AllocatedState.of(claims, consumable_capacity=True)
    for gone in draw.sample(claims, len(claims)):
        claims.remove(gone)
        expected = AllocatedState.of(claims, consumable_capacity=True)
        if not state.remove(gone, consumable_capacity=True):
            state = expected
            continue
        assert (state.dedicated, state.aggregate) == (expected.dedicated, expected.aggregate)
        assert _sorted(state.shared) == _sorted(expected.shared)
        for pool in "ab":
            assert state.dedicated_in(("d", pool)) == expected.dedicated_in(("d", pool))
            assert state.shares_in(("d", pool)) == expected.shares_in(("d", pool))


def _sorted(holders: dict[Any, list[str]]) -> dict[Any, list[str]]:
    return {device: sorted(claims) for device, claims in holders.items()}


def test_ties_are_drawn_by_the_seed() -> None:
    objects = [*(node(f"n{number}") for number in range(8)), pod("p")]
    cluster = Cluster.of(objects)
    first = cluster.schedule().document.pods[0]
    drawn = [cluster.schedule(ties="random", seed=seed).document.pods[0].node_name for seed in range(30)]
    assert first.node_name == cluster.schedule(ties="first").document.pods[0].node_name
    assert set(drawn) <= set(first.best_nodes)
    assert len(set(drawn)) > 3
    assert drawn == [cluster.schedule(ties="random", seed=seed).document.pods[0].node_name for seed in range(30)]
    with pytest.raises(UsageError, match="--seed needs --ties random"):
        cluster.schedule(seed=3)


def test_the_measure_of_an_empty_mix_is_nothing() -> None:
    objects, _ = fleet(1, 2, 1)
    cluster = Cluster.of(objects)
    simulation = Simulation(cluster.inventory, target=cluster.target)
    measure = Measure(simulation.cluster)
    measure.mix([])
    assert [measure.node(each) for each in simulation.cluster.in_order] == [0.0, 0.0]
    assert SHAPES
