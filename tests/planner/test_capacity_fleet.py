"""Figures of the fleet: idle devices as `pools` counts them, and those that are of no use to anybody asked about."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_plan import Cluster
from tests.build import GPU, allocation, claim, device, gpus, node, placed, pod, request, slice_, template

NIC = "nic.example.com"
ONE = pod("one", templates={"gpu": "one"})
TWO = pod("two", templates={"gpu": "two"})
TEMPLATES = [template("one"), template("two", request(count=2))]


def kinds(cluster: Cluster, *owners: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return cluster.capacity(*owners, **options).to_dict()["fleet"]["kinds"]


def held(where: str, device: str) -> dict[str, Any]:
    return claim(f"held-{where}-{device}", status={"allocation": allocation(where, device)})


def test_idle_devices_by_model_and_the_most_on_one_node() -> None:
    models = {"attributes": {"model": {"string": "A100"}}}
    objects = [
        *gpus("a", each=4),
        node("b"),
        slice_("b", *(device(name, **models) for name in "xyz")),
        held("a", "gpu-1"),
        *TEMPLATES,
    ]
    [plain, named] = kinds(Cluster.of(objects), ONE)
    assert plain == {
        "driver": GPU,
        "devices": 4,
        "idle": 3,
        "stranded": 0,
        "reasons": [],
        "mostOnOneNode": 3,
        "node": "a",
    }
    assert (named["model"], named["devices"], named["idle"], named["node"]) == ("A100", 3, 3, "b")


def test_each_owner_has_what_its_copies_use_and_what_it_strands() -> None:
    """Pairs leave one device of each three; nothing but a NIC is left for nobody, which is not named."""
    objects = [*gpus("a", "b", each=3), node("c"), slice_("c", "n", driver=NIC), held("a", "gpu-0"), *TEMPLATES]
    document = Cluster.of(objects).capacity(ONE, TWO).to_dict()
    one, two = (item["devices"] for item in document["items"])
    assert one == [{"driver": GPU, "used": 5, "stranded": 0}]
    assert two == [{"driver": GPU, "used": 4, "stranded": 1}]
    assert [kind["stranded"] for kind in document["fleet"]["kinds"]] == [0, 0]
    told = str(Cluster.of(objects).capacity(ONE, TWO))
    assert told.count("idle devices that no further copy can use") == 1
    assert f"  idle devices that no further copy can use: 1 {GPU}\n" in told.partition("\npod/default/two:")[2]
    together = Cluster.of(objects).capacity(ONE, TWO, mix=True).to_dict()
    assert [item.get("devices") for item in together["items"]] in ([None, None], [[], []])


def test_stranded_is_what_no_owner_can_use_with_the_reason_that_comes_nearest() -> None:
    """b is cordoned, c has one device left over for pairs, and nobody asks for d's."""
    objects = [
        *gpus("a", each=2),
        node("b", spec={"unschedulable": True}),
        slice_("b", "x"),
        node("c"),
        slice_("c", "x", "y", "z"),
        node("d"),
        slice_("d", "n", driver=NIC),
        *TEMPLATES,
    ]
    cluster = Cluster.of(objects)
    [gpu, nic] = kinds(cluster, TWO)
    assert (gpu["idle"], gpu["stranded"]) == (6, 2)
    assert gpu["reasons"] == [
        {"code": "node", "message": "node(s) were unschedulable", "devices": 1, "node": "b"},
        {"code": "not-enough", "devices": 1, "node": "c"},
    ]
    assert nic["reasons"] == [{"code": "not-wanted", "devices": 1}]
    [gpu, _] = kinds(cluster, TWO, ONE)
    assert (gpu["stranded"], [reason["code"] for reason in gpu["reasons"]]) == (1, ["node"])


def test_what_cpu_strands() -> None:
    objects = [*gpus(), node("a", cpu="4"), slice_("a", *"wxyz"), placed("hog", "a", cpu="2"), *TEMPLATES]
    short = {"node": "a", "resource": "cpu", "left": "0", "pod": "default/hog", "used": "2"}
    [kind] = kinds(Cluster.of(objects), ONE)
    assert kind["reasons"] == [{"code": "node", "message": "Insufficient cpu", "devices": 2, **short}]
    assert "2 on a: 0 cpu left, 2 in use by pod default/hog" in str(Cluster.of(objects).capacity(ONE))


def test_what_is_left_over_is_not_known_where_a_count_was_ended() -> None:
    cluster = Cluster.of([*gpus("a", each=4), *TEMPLATES])
    assert [kind["stranded"] for kind in kinds(cluster, ONE, limit=2)] == [None]
    assert [kind["stranded"] for kind in kinds(cluster, ONE, max_steps=1)] == [None]


def test_what_is_neither_idle_nor_used_up_is_told() -> None:
    """Of four devices one is idle, one in use, one tainted, and one shared with room left."""
    shared = slice_("a", "gpu-0", "gpu-1")
    shared["spec"]["devices"][0]["taints"] = [{"key": "xid", "value": "79", "effect": "NoSchedule"}]
    room = slice_(
        "b",
        *(device(name, allowMultipleAllocations=True, capacity={"memory": "8Gi"}) for name in "xy"),
    )
    taken = claim("share", status={"allocation": allocation("b", "x", consumedCapacity={"memory": "2Gi"}, shareID=ID)})
    objects = [*gpus(), node("a"), node("b"), shared, room, taken, held("a", "gpu-1"), *TEMPLATES]
    found = Cluster.of(objects).capacity(ONE)
    [kind] = found.to_dict()["fleet"]["kinds"]
    assert (kind["devices"], kind["idle"]) == (4, 1)
    assert kind["withheld"] == [
        {"code": "shared", "devices": 1},
        {"code": "withheld", "message": "taint xid=79:NoSchedule", "devices": 1},
    ]
    told = "neither idle nor used up:\n  gpu.example.com: 1 shared, with room left and 1 (taint xid=79:NoSchedule)\n"
    assert told in str(found)
    assert "neither idle" not in str(Cluster.of([*gpus("a"), held("a", "gpu-1"), *TEMPLATES]).capacity(ONE))


ID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"


@pytest.mark.parametrize(("fixture", "parts"), [("mig", True), ("gpu-fleet", False)])
def test_that_parts_exclude_each_other_is_said(fixture: str, *, parts: bool) -> None:
    assert (
        "Partitions of one device exclude each other" in str(Cluster.load([f"fixtures/{fixture}"]).capacity())
    ) is parts


def test_parts_count_as_often_as_they_fit_side_by_side() -> None:
    """Seven of the smallest parts fit; after three pairs of them one is left, which is too few for one more pair."""
    small = {"cel": {"expression": 'device.attributes["gpu.nvidia.com"].profile == "1g.5gb"'}}
    pair = template("pair", request(count=2, of="mig.nvidia.com", selectors=[small]))
    mig = [
        each for path in sorted(Path("fixtures/mig").glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())
    ]
    cluster = Cluster.of([*mig, pair])
    found = {kind["profile"]: kind for kind in kinds(cluster, pod("wants", templates={"mig": "pair"}))}
    assert {profile: kind["idle"] for profile, kind in found.items()} == {
        "1g.5gb": 7,
        "2g.10gb": 3,
        "3g.20gb": 2,
        "4g.20gb": 1,
        "7g.40gb": 1,
        "gpu": 1,
    }
    assert {profile: kind["stranded"] for profile, kind in found.items() if kind["stranded"]} == {"1g.5gb": 1}
    assert found["1g.5gb"]["reasons"] == [{"code": "not-enough", "devices": 1, "node": "a100-1"}]


@pytest.mark.parametrize("seed", range(6))
def test_as_many_are_idle_as_pools_are_available_and_more_owners_strand_less(seed: int) -> None:
    chance = random.Random(seed)
    objects: list[dict[str, Any]] = [*gpus(), *TEMPLATES]
    for name in "abc":
        devices = "wxyz"[: chance.randint(1, 4)]
        objects += [node(name, cpu=str(chance.randint(0, 4))), slice_(name, *devices)]
        objects += [held(name, device) for device in devices if chance.random() < 0.3]
    cluster = Cluster.of(objects)
    [both], [one], [two] = (kinds(cluster, *owners) for owners in ((ONE, TWO), (ONE,), (TWO,)))
    assert both["idle"] == sum(pool.available_devices for pool in cluster.pools())
    assert both["stranded"] <= min(one["stranded"], two["stranded"])
    [item] = cluster.capacity(ONE)
    assert one["stranded"] == one["idle"] - item.scheduled.copies
    assert both["stranded"] == sum(reason["devices"] for reason in both["reasons"])
