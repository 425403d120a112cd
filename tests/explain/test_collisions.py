"""What collides is told plainly: the values on each side, what is needed beside what is left, places as a line."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster
from dra_plan.text import columns as slots
from tests.build import allocated, claim, counters, device, device_class, match, node, request, slice_

from .asking import explain, only_set, only_story
from .situations import cel, cluster

Object = dict[str, Any]


def blocking(objects: list[Object]) -> Object:
    stories = [story for story in only_set(objects)["stories"] if story["blockingSet"]]
    found: Object = stories[0]["blockingSet"]
    return found


def test_the_values_that_meet_at_a_constraint_are_told_for_each_request() -> None:
    gpus = [device(f"gpu-{n}", kind="gpu", attributes={"pci/root": f"pci{n % 2}"}) for n in range(3)]
    nics = [device("nic-0", kind="nic", attributes={"pci/root": "pci7"}), device("nic-1", kind="nic")]
    wanted = claim(
        "train",
        request("gpu", cel(' .kind == "gpu"')),
        request("nic", cel(' .kind == "nic"')),
        constraints=[match("pci/root", "gpu", "nic")],
    )
    objects = [*cluster(slice_("a", *gpus, *nics)), wanted]
    [constraint] = [e for e in blocking(objects)["elements"] if e["kind"] == "constraint"]
    assert constraint["values"] == [
        {
            "request": "gpu",
            "values": [
                {"type": "string", "value": "pci0", "count": 2},
                {"type": "string", "value": "pci1", "count": 1},
            ],
            "otherValues": 0,
            "missing": 0,
        },
        {
            "request": "nic",
            "values": [{"type": "string", "value": "pci7", "count": 1}],
            "otherValues": 0,
            "missing": 0,
        },
    ]
    lines = [line.strip() for line in str(explain(objects)).splitlines()]
    assert 'root for gpu: "pci0" on 2 devices, "pci1" on 1' in lines
    assert 'root for nic: "pci7" on 1 device' in lines


def test_what_is_needed_stands_beside_what_is_left_with_the_sum() -> None:
    shared = device("gpu-0", capacity={"memory": "40Gi"}, allowMultipleAllocations=True)
    used = allocated("old", "a/gpu-0", consumedCapacity={"memory": "10Gi"}, shareID="0")
    asked = [request(name, capacity={"requests": {"memory": size}}) for name, size in (("a", "12Gi"), ("b", "20Gi"))]
    found = blocking([*cluster(slice_("a", shared)), used, claim("train", *asked)])
    [short] = found["shortages"]
    assert (short["name"], short["sum"], short["left"]) == ("memory", "32Gi", "30Gi")
    assert [(need["request"], need["need"]) for need in short["needs"]] == [("a", "12Gi"), ("b", "20Gi")]


def test_what_nobody_needs_is_overdrawn_all_the_same() -> None:
    plain = [device(f"gpu-{n}") for n in range(3)]
    greedy = device("gpu-3", consumes={"card": {"memory": "50Gi"}})
    spare = device("gpu-4", consumes={"card": {"memory": "1Gi"}})
    slices = [slice_("a", *plain, greedy, spare, number=0, of=2), counters("a", {"card": {"memory": "40Gi"}})]
    wanted = claim("train", request("x", count=2), request("y", count=3))
    objects = [node("a"), device_class(), *slices, allocated("old", "a/gpu-3"), wanted]
    [short] = blocking(objects)["shortages"]
    assert (short["needs"], short["left"]) == ([], "-10Gi")
    assert "Counter card/memory is overdrawn: -10Gi left." in str(explain(objects))


def test_a_counter_that_would_do_is_no_shortage() -> None:
    gpus = [device(f"gpu-{n}", numa=n, consumes={"card": {"memory": "10Gi"}}) for n in range(2)]
    wanted = claim("train", request("gpu", count=2), constraints=[match("gpu.example.com/numa")])
    objects = [
        node("a"),
        device_class(),
        slice_("a", *gpus, number=0, of=2),
        counters("a", {"card": {"memory": "40Gi"}}),
        wanted,
    ]
    assert "shortages" not in blocking(objects)


def mig() -> list[Object]:
    """Eight places of memory on a card; a part of two places is used."""
    places = {"memory": "80Gi", **{f"memory-slice-{n}": "1" for n in range(8)}}
    parts = [
        device(f"part-{n}", consumes={"card": {**{f"memory-slice-{at}": "1" for at in (n, n + 1)}}})
        for n in range(0, 8, 2)
    ]
    whole = device("whole", consumes={"card": {**{f"memory-slice-{at}": "1" for at in range(8)}}})
    slices = [slice_("a", *parts, whole, number=0, of=2), counters("a", {"card": places})]
    return [node("a"), device_class(), *slices, allocated("old", "a/part-2")]


def test_places_are_a_line() -> None:
    line = "memory-slice 0-7: . . X X . . . ."
    wanted = claim("train", request("gpu", count=4))
    story = only_story([*mig(), wanted])
    [seen] = story["counterSets"]
    assert (seen["counterSet"], seen["left"]["memory-slice-2"], seen["left"]["memory-slice-0"]) == ("card", "0", "1")
    assert f"  Counter set card of pool gpu.example.com/a, {line}" in str(explain([*mig(), wanted])).splitlines()
    assert f"{line}, all else" in str(Cluster.of(mig()).pools())


def test_only_numbered_counters_of_one_each_are_places() -> None:
    assert slots.rows({"a-0": "1", "a-1": "1", "b-0": "1", "c-0": "2", "c-1": "2", "d-0": "1", "d-2": "1"}) == {
        "a": {0: "a-0", 1: "a-1"}
    }
    assert list(slots.lines({"slice10": "1", "slice9": "1"}, {"slice10": "0", "slice9": "1"})) == ["slice 9-10: . X"]
