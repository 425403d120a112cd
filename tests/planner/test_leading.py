"""The reason that leads: in the first table of `allocate`, and as a summary before many stories."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import allocate
from dra_plan.planner import claim_sets as leading
from dra_plan.text.words import UNKNOWN
from tests.build import allocated, claim, counters, device, device_class, match, node, request, slice_, taint
from tests.explain.asking import explain
from tests.explain.situations import cel, gpus

Object = dict[str, Any]

TAINTED = slice_("a", device("gpu-0", taints=[taint("hot")]))
SHARED = slice_("a", device("gpu-0", capacity={"memory": "10Gi"}, allowMultipleAllocations=True))
PARTS = [device("gpu-0", consumes={"card": {"memory": "2Gi"}})]
NUMAS = slice_("a", device("gpu-0", numa=0), device("gpu-1", numa=1))

CASES: dict[str, tuple[list[Object], Object, str]] = {
    "in-use": (
        [gpus("a", "A100"), allocated("old", "a/gpu-0")],
        request("gpu"),
        "too few free devices (0 of 1 for gpu)",
    ),
    "selector-false": (
        [gpus("a", "A100")],
        request("gpu", cel(' .model == "B200"')),
        "selector on model (0 of 1 for gpu)",
    ),
    "too-few-devices": (
        [gpus("a", "A100"), slice_("a-nics", device("n"), driver="nic.example.com", nodeName="a")],
        request("gpu", count=3),
        "too few devices (1 of 3 for gpu)",
    ),
    "not-tolerated": ([TAINTED], request("gpu"), "taint hot (0 of 1 for gpu)"),
    "capacity-short": (
        [SHARED],
        request("gpu", capacity={"requests": {"memory": "20Gi"}}),
        "capacity memory (0 of 1 for gpu)",
    ),
    "counter-short": (
        [slice_("a", *PARTS, number=0, of=2), counters("a", {"card": {"memory": "1Gi"}})],
        request("gpu"),
        "counter memory (0 of 1 for gpu)",
    ),
    "no-devices": ([], request("gpu"), "no devices"),
}


@pytest.mark.parametrize("code", CASES)
def test_the_first_table_says_what_is_in_the_way(code: str) -> None:
    slices, wanted, said = CASES[code]
    plan = allocate([node("a"), node("b"), device_class(), *slices, claim("train", wanted)])
    [claim_set] = plan.to_dict()["claimSets"]
    assert claim_set["leading"][0]["code"] == code
    said = UNKNOWN if claim_set["outcome"] == "Unknown" else said
    assert claim_set["leading"][0]["nodes"] == (2 if code == "no-devices" else 1)
    lines = str(plan).splitlines()
    assert lines[0].split() == ["WORKLOAD", "OUTCOME", "NODES", "FITS", "ON", "REASON"]
    assert lines[1].endswith(said)
    assert lines[3] == f"1 {claim_set['outcome']}."
    assert "cannot allocate all claims" not in str(plan)


def test_a_class_that_no_device_is_of_is_named() -> None:
    nics = slice_("a", device("nic-0"), driver="nic.example.com")
    plan = allocate([node("a"), device_class(), nics, claim("train", request("gpu"))])
    assert "not of class gpu.example.com (0 of 1 for gpu)" in str(plan)


def test_the_constraint_that_collides_is_named() -> None:
    wanted = claim("train", request("gpu", count=2), constraints=[match("gpu.example.com/numa")])
    assert "constraint on numa" in str(allocate([node("a"), device_class(), NUMAS, wanted]))


def test_a_set_that_fits_has_no_leading_reason() -> None:
    plan = allocate([node("a"), node("b"), device_class(), gpus("a", "A100"), claim("train", request("gpu"))])
    assert "leading" not in plan.to_dict()["claimSets"][0]
    assert "REASON" not in str(plan)


def test_the_work_is_bounded_and_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node(f"n{number}") for number in range(20)]
    slices = [gpus(f"n{number}", "A100") for number in range(20)]
    claims = [claim(f"c{number}", request("gpu", count=2 + number % 2)) for number in range(6)]
    monkeypatch.setattr(leading, "MOST_NODES", 5)
    monkeypatch.setattr(leading, "MOST_LOOKS", 5)
    told = allocate([*nodes, device_class(), *slices, *claims]).to_dict()["claimSets"]
    assert [bool(each.get("leading")) for each in told] == [True, False] * 3
    assert told[0]["leading"][0]["nodes"] == 5


def test_many_nodes_are_summed_up_first() -> None:
    slices = []
    for number in range(15):
        name, kind = f"n{number:02}", number % 3
        taints = {"taints": [taint("hot")]} if kind == 1 else {}
        slices.append(slice_(name, device("gpu-0", model="A100" if kind else "L4", **taints)))
    objects = [*(node(f"n{number:02}") for number in range(16)), device_class(), *slices]
    objects += [allocated(f"old-{number}", f"n{number:02}/gpu-0") for number in range(15) if number % 3 == 2]
    told = explain([*objects, claim("train", request("gpu", cel(' .model == "A100"')))])
    assert (
        "  16 nodes: too few free devices (5), taint hot (5), selector on model (5), no devices (1)."
        in str(told).splitlines()
    )


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_the_most_that_is_left_is_that_of_all_alike_nodes(order: tuple[str, str]) -> None:
    """Nodes of which the same is told may have different numbers of devices left."""
    numbers = dict(zip(order, (2, 3), strict=True))
    slices = [slice_(name, *(device(f"gpu-{at}") for at in range(number))) for name, number in numbers.items()]
    held = [allocated(f"old-{name}", f"{name}/gpu-0") for name in numbers]
    told = explain([node("a"), node("b"), device_class(), *slices, *held, claim("train", request("gpu", count=4))])
    [leading] = told.to_dict()["claimSets"][0]["leading"]
    assert (leading["need"], leading["left"], leading["nodes"]) == (4, 2, 2)
    assert (leading["leftFrom"], leading.get("needFrom")) == (1, None)


def test_what_is_not_the_same_on_all_nodes_is_told_as_a_bound() -> None:
    """Three of four are left on a, none of two on b: `3 of 4` would be true of a only."""
    held = [allocated("old-a", "a/gpu-0"), *(allocated(f"old-b{at}", f"b/gpu-{at}") for at in range(2))]
    slices = [slice_(name, *(device(f"gpu-{at}") for at in range(number))) for name, number in (("a", 4), ("b", 2))]
    objects = [node("a"), node("b"), device_class(), *slices, *held]
    assert "too few free devices (at most 3 of 4 for all)" in str(
        allocate([*objects, claim("train", request("all", allocationMode="All"))])
    )
    assert "too few free devices (at most 3 of 4 for gpu)" in str(
        allocate([*objects, claim("train", request("gpu", count=4))])
    )
    [leading] = allocate([*objects, claim("train", request("all", allocationMode="All"))]).to_dict()["claimSets"][0][
        "leading"
    ]
    assert {key: leading[key] for key in ("leftFrom", "left", "needFrom", "need", "needTo")} == {
        "leftFrom": 0,
        "left": 3,
        "needFrom": 2,
        "need": 4,
        "needTo": 4,
    }
    held = [
        allocated(f"old-{name}{at}", f"{name}/gpu-{at}")
        for name, number in (("a", 4), ("b", 2))
        for at in range(number)
    ]
    objects = [node("a"), node("b"), device_class(), *slices, *held]
    told = str(allocate([*objects, claim("train", request("all", allocationMode="All"))]))
    assert "too few free devices (0 of 2 to 4 for all)" in told
