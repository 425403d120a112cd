"""`gather_pools` against a count by hand, and against what the real allocator said of pools."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dra_plan import Cluster, gather_pools
from dra_plan.errors import DraPlanError
from tests.build import claim, generated, gpus, slice_, used
from tests.cli.running import in_process
from tests.conformance.recorded import cases, gates, version

from . import pool_truth
from .pool_clusters import random_world
from .pool_truth import Plain, Truth, World

CORPORA = ["cases", "quirks", "hard", "cases-1.35", "cases-1.34"]
PARTS = [
    pytest.param(corpus, {"quirks": 1, "hard": 1, "cases-1.35": 3}.get(corpus, 4), id=corpus) for corpus in CORPORA
]
WHOLE = [
    pytest.param(part.values[0], 1, id=f"all {part.id}", marks=pytest.mark.long)
    for part in PARTS
    if part.values[1] != 1
]
"""Some cases of a large corpus, or all of them."""


REPORTED = {"cases": ["Incomplete", "Invalid"], "quirks": ["Incomplete"], "cases-1.35": ["Incomplete", "Invalid"]}


def world_of(case: Plain) -> World:
    on = gates(case)
    return World(
        case["objects"],
        version(case),
        partitionable=on["DRAPartitionableDevices"],
        consumable=on["DRAConsumableCapacity"],
        taints=on["DRADeviceTaints"],
        binding=on["DRADeviceBindingConditions"],
    )


def listed(case: Plain, node: str | None = None, **options: Any) -> list[Plain]:
    options = {"kubernetes_version": version(case), "feature_gates": gates(case), **options}
    document = gather_pools(case["objects"], node, **options).to_dict()
    return list(document["pools"])


def readable(case: Plain, node: str) -> bool:
    """Not the nodes on which the pools can't be gathered at all."""
    errors = {wanted["node"]: wanted.get("error", "") for wanted in case["expected"]["nodes"]}
    return not errors.get(node, "").startswith("gather pool information")


def views(case: Plain) -> Iterator[tuple[Plain, tuple[str, str], Plain, Truth]]:
    """Every pool of every node: the node, the pool's name, what is listed, and the truth."""
    world = world_of(case)
    for node in world.all("Node"):
        name = node["metadata"]["name"]
        if not readable(case, name):
            continue
        seen = pool_truth.pools(node, world)
        expected = {key: of for key, of in seen.items() if pool_truth.reaches(node, key, of.generation, world)}
        every = [((pool["driver"], pool["poolName"]), pool) for pool in listed(case, name)]
        found = {key: pool for key, pool in every if key in seen and pool["generation"] == seen[key].generation}
        assert sorted(found) == sorted(expected), f"{case['id']} {name}"
        older = [(key, pool) for key, pool in every if found.get(key) is not pool]
        assert all(pool["state"] == "Obsolete" for _, pool in older), f"{case['id']} {name}"
        assert all(pool_truth.reaches(node, key, pool["generation"], world) for key, pool in older), case["id"]
        for key, pool in found.items():
            yield node, key, pool, expected[key]


@pytest.mark.parametrize(("corpus", "every"), [*PARTS, *WHOLE])
def test_states_of_recorded_cases(corpus: str, every: int) -> None:
    states: Counter[str] = Counter()
    for case in cases(corpus, every):
        for node, key, pool, truth in views(case):
            where = f"{case['id']} {node['metadata']['name']} {key}"
            assert (pool["state"], pool.get("validationError", "")) == (truth.state, truth.reason), where
            assert pool["generation"] == truth.generation, where
            assert pool["resourceSliceCount"] == truth.expected, where
            assert pool["observedResourceSliceCount"] == len(truth.slices), where
            states[truth.state] += 1
    assert {"Complete", *REPORTED.get(corpus, ())} <= set(states), states


@pytest.mark.parametrize(("corpus", "every"), [*PARTS, *WHOLE])
def test_what_is_left_in_recorded_cases(corpus: str, every: int) -> None:
    seen: Counter[str] = Counter()
    for case in cases(corpus, every):
        check_what_is_left(case, world_of(case), seen)
    assert {"Available", "Unavailable"} <= set(seen)
    if corpus in ("cases", "cases-1.35"):
        assert {"Allocated", "Shared", "counters taken", "capacity taken"} <= set(seen), seen


def check_what_is_left(case: Plain, world: World, seen: Counter[str]) -> None:
    for node, key, pool, truth in views(case):
        where = f"{case['id']} {node['metadata']['name']} {key}"
        pairs = [(d, slice_) for slice_ in in_order(truth.slices, world) for d in pool_truth.devices(slice_)]
        pairs = [pair for pair in pairs if not pool_truth.is_counters(pair[1], world)]
        once: dict[str, tuple[Plain, str]] = {}
        for d, of in pairs:
            state = pool_truth.device_state(key, truth, d, of, world)
            if once.setdefault(d["name"], (d, state))[1] == "Unavailable" != state:
                once[d["name"]] = d, state
        expected = sorted((name, state) for name, (_, state) in once.items())
        assert sorted((d["name"], d["state"]) for d in pool["devices"]) == expected, where
        states = Counter(state for _, state in expected)
        seen.update(states)
        assert pool["totalDevices"] == len(expected), where
        assert pool["allocatedDevices"] == states["Allocated"] + states["Shared"], where
        assert pool["availableDevices"] == states["Available"], where
        assert pool["unavailableDevices"] == states["Unavailable"], where
        assert pool["taintedDevices"] == sum(pool_truth.is_tainted(d, world) for d, _ in once.values()), where
        check_counters(key, pool, truth, world, seen, where)
        check_capacity(key, pool, [d for d, _ in pairs], world, seen, where)


def in_order(slices: list[Plain], world: World) -> list[Plain]:
    """The order of the list: by name since 1.36, before as in the input."""
    if world.version >= "1.36":
        return sorted(slices, key=lambda slice_: str(slice_["metadata"]["name"]))
    return [slice_ for slice_ in world.all("ResourceSlice") if slice_ in slices]


def test_a_device_that_two_slices_publish_counts_once() -> None:
    """The driver renamed its slice, and the old one is still there."""
    objects = [*gpus("a", each=3), slice_("a", "gpu-0", "gpu-1", name="again"), generated("p", "gpu", "a", "gpu-0")]
    [pool] = gather_pools(objects).to_dict()["pools"]
    assert [device["name"] for device in pool["devices"]] == ["gpu-0", "gpu-1", "gpu-2"]
    assert (pool["totalDevices"], pool["allocatedDevices"], pool["state"]) == (3, 1, "Incomplete")


def check_counters(
    key: tuple[str, str], pool: Plain, truth: Truth, world: World, seen: Counter[str], where: str
) -> None:
    if truth.state in ("Incomplete", "Obsolete") and world.pooled_counters:
        assert pool["counterSets"] == [], where  # the sets that are known may not be all
        return
    if not world.partitionable or truth.state == "Invalid":
        return
    sources = [truth.slices] if world.pooled_counters else [[slice_] for slice_ in truth.slices]
    expected = [
        (*place, value) for source in sources for place, value in pool_truth.counters_left(key, source, world).items()
    ]
    found = [
        (counter_set["name"], name, pool_truth.amount(value))
        for counter_set in pool["counterSets"]
        for name, value in counter_set["left"].items()
    ]
    assert sorted(found) == sorted(expected), where
    for counter_set in pool["counterSets"]:
        if counter_set["left"] != counter_set["total"]:
            seen["counters taken"] += 1


def check_capacity(
    key: tuple[str, str], pool: Plain, devices: list[Plain], world: World, seen: Counter[str], where: str
) -> None:
    by_name = {device["name"]: device for device in devices}
    if len(by_name) < len(devices):
        return  # devices of one name can't be told apart
    for shown in pool["devices"]:
        device = by_name[shown["name"]]
        if not device.get("allowMultipleAllocations") or not device.get("capacity"):
            assert "capacity" not in shown, where
            continue
        left = pool_truth.capacity_left((*key, device["name"]), device, world)
        assert {name: pool_truth.amount(value) for name, value in shown["capacity"].items()} == left, where
        if any(pool_truth.amount(device["capacity"][name]["value"]) != value for name, value in left.items()):
            seen["capacity taken"] += 1


# -- random clusters -------------------------------------------------------------------------------------------------


def check_random(seeds: range) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        world, features = random_world(seed)
        case = {
            "id": f"seed {seed}",
            "objects": world.objects,
            "features": features,
            "kubernetesVersion": world.version,
            "expected": {"nodes": []},
        }
        check_what_is_left(case, world, seen)
        for _, key, pool, truth in views(case):
            assert (pool["state"], pool.get("validationError", "")) == (truth.state, truth.reason), (seed, key)
            seen[truth.state] += 1
    return seen


ALL_SEEN = {"Complete", "Incomplete", "Invalid", "Obsolete", "Available", "Allocated", "Shared", "Unavailable"}


def test_random_clusters() -> None:
    seen = check_random(range(170))
    for what in (*ALL_SEEN, "counters taken", "capacity taken"):
        assert seen[what] > 10, seen


@pytest.mark.long
def test_many_random_clusters() -> None:
    check_random(range(170, 5000))


# -- what the real allocator said ------------------------------------------------------------------------------------

ALL_REFUSED = re.compile(r"asks for all devices, but resource pool (\S+?)/(\S+) is currently (being updated|invalid)")
REACHED = re.compile(r"^pool (\S+) is invalid: (.+)$")


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_pool_that_the_allocator_spoke_of(corpus: str) -> None:
    spoken: Counter[str] = Counter()
    for case in cases(corpus):
        for wanted in case["expected"]["nodes"]:
            error = wanted.get("error", "")
            if "pool" not in error or error.startswith("gather pool information"):
                continue
            found = listed(case)  # an unusable pool with counters also concerns nodes that it is not for (Q15)
            states = {(pool["driver"], pool["poolName"], pool["state"]) for pool in found}
            if match := ALL_REFUSED.search(error):
                state = "Incomplete" if match[3] == "being updated" else "Invalid"
                assert (match[1], match[2], state) in states, case["id"]
                spoken[state] += 1
            elif match := REACHED.match(error):
                reasons = {(pool["poolName"], pool.get("validationError")) for pool in found}
                assert (match[1], match[2]) in reasons, case["id"]
                spoken["reached"] += 1
            elif error == "invalid resource pools were encountered":
                assert "Invalid" in {pool["state"] for pool in found}, case["id"]
                spoken["encountered"] += 1
    least = {
        "cases": {"Incomplete", "Invalid", "encountered"},
        "quirks": {"Incomplete", "encountered"},
        "cases-1.35": {"Incomplete", "Invalid", "encountered"},
        "cases-1.34": {"reached"},
    }
    assert least.get(corpus, set()) <= set(spoken), spoken


@pytest.mark.parametrize(("corpus", "every"), [*PARTS, *WHOLE])
def test_the_whole_list_is_what_the_nodes_see(corpus: str, every: int) -> None:
    """Each row says which nodes reach it; and every generation of every pool has a row."""
    for case in cases(corpus, every):
        world = world_of(case)
        names = [node["metadata"]["name"] for node in world.all("Node")]
        if not all(readable(case, name) for name in names):
            continue
        whole = listed(case)
        for name in names:
            mine = [essence(pool) for pool in whole if name in pool["nodes"]]
            assert mine == [essence(pool) for pool in listed(case, name)], f"{case['id']} {name}"
        published = {(*pool_truth.pool_of(s), pool_truth.generation(s)) for s in world.all("ResourceSlice")}
        known = published if world.partitionable else published & {key_of(pool) for pool in whole}
        assert {key_of(pool) for pool in whole} == known, case["id"]
        assert [key_of(pool) for pool in whole] == sorted(key_of(pool) for pool in whole), case["id"]


def key_of(pool: Plain) -> tuple[str, str, int]:
    return pool["driver"], pool["poolName"], pool["generation"]


def essence(pool: Plain) -> Plain:
    """A row without the nodes, which differ between the list of one node and that of all."""
    kept = {key: value for key, value in pool.items() if key != "nodes"}
    return {**kept, "devices": [{k: v for k, v in d.items() if k != "nodes"} for d in pool["devices"]]}


def test_an_unreadable_node_selector_ends_gathering() -> None:
    """In the words of the real allocator, which gives up on the whole pod."""
    term = {"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a", "b"]}]}
    spec = {
        "driver": "d.example.com",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "nodeSelector": {"nodeSelectorTerms": [term]},
    }
    objects = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec},
    ]
    with pytest.raises(DraPlanError) as caught:
        gather_pools(objects)
    assert str(caught.value) == (
        "gather pool information: failed to perform node selection for slice s: failed to parse node selector"
        " &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{MatchExpressions:[]"
        "NodeSelectorRequirement{NodeSelectorRequirement{Key:zone,Operator:Near,Values:[a b],},},MatchFields:[]"
        "NodeSelectorRequirement{},},},}: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value:"
        ' "Near": supported values: "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"'
    )


def wide_of(objects: list[Plain]) -> str:
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return in_process("pools", "-", "-o", "wide", stdin=listed).out


def test_devices_name_the_claims_and_pods_that_have_them() -> None:
    objects = [
        *gpus("a", each=4),
        claim("one", status=used("a", "gpu-0", "p")),
        claim("two", status=used("a", "gpu-2", "q", "r")),
        claim("free"),
        claim("idle", status={"allocation": used("a", "gpu-3")["allocation"]}),
    ]
    found = gather_pools(objects)
    [pool] = found.to_dict()["pools"]
    held = {
        device["name"]: [(one["name"], one["pods"]) for one in device.get("holders", [])] for device in pool["devices"]
    }
    assert held == {"gpu-0": [("one", ["p"])], "gpu-1": [], "gpu-2": [("two", ["q", "r"])], "gpu-3": [("idle", [])]}
    wide = wide_of(objects)
    [row] = [line for line in wide.splitlines() if " gpu-2 " in line]
    assert row.endswith("default/two (pods q and r)")
    assert "HELD BY" in wide
    assert "TAINTS" not in wide, "no column without a value"
    assert "HELD BY" not in wide_of(gpus("a"))


@pytest.mark.parametrize(("cordoned", "devices"), [((), 0), (("a",), 1), (("b",), 2), (("a", "b"), 3)])
def test_devices_of_cordoned_nodes_are_told_apart(cordoned: tuple[str, ...], devices: int) -> None:
    objects = [*gpus("a", "b"), claim("one", status=used("a", "gpu-0", "p"))]
    found = Cluster.of(objects).cordon(*cordoned).pools()
    pools = {pool["poolName"]: pool for pool in found.to_dict()["pools"]}
    assert sum(pool["availableDevices"] for pool in pools.values()) == 3, "as in ResourcePoolStatus"
    assert {name for name, pool in pools.items() if pool.get("cordoned")} == set(cordoned)
    told = re.findall(r"(\d) available devices? (?:is|are) on cordoned nodes? ([^:]*):", str(found))
    assert told == ([(str(devices), " and ".join(cordoned))] if devices else [])


def test_a_device_that_another_node_reaches_as_well_is_no_device_of_a_cordoned_node() -> None:
    objects = gpus("a", "b")
    for each in objects:
        if each["kind"] == "ResourceSlice":
            each["spec"] = {name: value for name, value in each["spec"].items() if name != "nodeName"}
            each["spec"]["allNodes"] = True
    assert "on cordoned" not in str(Cluster.of(objects).cordon("a").pools())
    assert "4 available devices are on cordoned nodes a and b:" in str(Cluster.of(objects).cordon("a", "b").pools())
