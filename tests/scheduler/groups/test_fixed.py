"""What `--quirks fixed` repairs: each defect on a small cluster, and what holds of all of them together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.build import allocation, claim, device_class, member, node, placed, pod_group, request, slice_, template
from tests.scheduler.groups.planning import GANGS, PREEMPTION, by_chance, messages, plan, where


def both(objects: list[dict[str, Any]], gates: dict[str, bool] = GANGS) -> tuple[dict[str, Any], dict[str, Any]]:
    """As upstream does it, and repaired."""
    return plan(objects, gates), plan(objects, gates, quirks="fixed")


def test_g1_the_pod_that_came_first_goes_first() -> None:
    upstream, fixed = both([node("n", cpu="2"), pod_group(), member("a", cpu="2"), member("b", cpu="2")])
    waits = "waiting for minCount pods"
    assert [name for name, told in messages(upstream).items() if waits in (told or "")] == ["b"]
    assert [name for name, told in messages(fixed).items() if waits in (told or "")] == ["a"]


def test_g3_nobody_is_evicted_for_a_gang_that_does_not_fit() -> None:
    pods = [member(name, cpu="3", priority=100) for name in "ab"]
    upstream, fixed = both([node("n", cpu="4"), placed("victim", "n", cpu="4"), pod_group(), *pods])
    assert [each["pod"] for each in upstream["evictions"]] == ["default/victim"]
    assert (fixed["evictions"], where(fixed)) == ([], {"victim": "n", "a": None, "b": None})


def test_g3_what_a_gang_needs_is_evicted() -> None:
    pods = [member(name, cpu="3", priority=100) for name in "ab"]
    nodes = [node("n", cpu="4"), node("m", cpu="4"), placed("victim", "n", cpu="4")]
    for document in both([*nodes, pod_group(), *pods]):
        assert [each["pod"] for each in document["evictions"]] == ["default/victim"]
        assert sorted(filter(None, where(document).values())) == ["m", "n"]


def test_g4_a_pod_too_many_holds_nobody_back() -> None:
    pods = [member(name, cpu="3", priority=100) for name in "ab"]
    nodes = [node("n", cpu="4"), node("m", cpu="4"), placed("victim", "n", cpu="4")]
    upstream, fixed = both([*nodes, pod_group(least=1), *pods])
    assert where(upstream) == where(fixed) == {"a": "m", "b": "n"}
    attempts = [{entry["name"]: entry["attempts"] for entry in document["pods"]} for document in (upstream, fixed)]
    assert [each["a"] for each in attempts] == [2, 1]


def test_g5_a_shared_claim_is_in_reach() -> None:
    objects = [node("n", pods="1"), node("m"), slice_("n", "gpu-0"), device_class(), claim("s"), pod_group()]
    upstream, fixed = both([*objects, *(member(name, claims={"x": "s"}) for name in "ab")])
    assert sorted(filter(None, where(upstream).values())) == ["n"]
    assert where(fixed) == {"a": None, "b": None}


@pytest.mark.parametrize("order", [["x", "y"], ["y", "x"]])
def test_g6_and_g7_a_shared_claim_and_an_own_one(order: list[str]) -> None:
    objects = [node("n"), slice_("n", "gpu-0", "gpu-1", "gpu-2", "gpu-3"), device_class(), template("t"), pod_group()]
    pods = [member(name, claims={"x": "s"}, templates={"y": "t"}) for name in "ab"]
    for each in pods:
        each["spec"]["resourceClaims"].sort(key=lambda entry: order.index(entry["name"]))
    upstream, fixed = both([*objects, claim("s", request(count=2)), *pods])
    assert [sorted(filter(None, where(document).values())) for document in (upstream, fixed)] == [["n", "n"]] * 2
    assert [max(entry["attempts"] for entry in document["pods"]) for document in (upstream, fixed)] == [2, 1]
    devices = [result["device"] for entry in fixed["claims"] for result in entry["allocation"]["devices"]["results"]]
    assert sorted(devices) == ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]


def test_g6_more_devices_than_there_are() -> None:
    objects = [node("n"), slice_("n", "gpu-0", "gpu-1", "gpu-2", "gpu-3"), device_class(), template("t")]
    pods = [member(name, claims={"x": "s"}, templates={"y": "t"}) for name in "abcd"]
    upstream, fixed = both([*objects, claim("s"), pod_group(least=4), *pods])
    assert len([name for name in where(upstream).values() if name]) == 1
    assert set(where(fixed).values()) == {None}


def test_g14_a_group_spares_its_own_pods() -> None:
    objects = [node("n", cpu="2"), pod_group(least=1, priority=100), member("a", cpu="2", priority=9)]
    bound = placed("z", "n", cpu="2", priority=5, schedulingGroup={"podGroupName": "g"})
    upstream, fixed = both([*objects, bound], PREEMPTION)
    assert (where(upstream), where(fixed)) == ({"a": "n"}, {"a": None, "z": "n"})


def parts(document: dict[str, Any]) -> list[str]:
    """Gangs that have pods on nodes, but fewer than minCount."""
    groups = [entry for entry in document["podGroups"] if entry["policy"] == "gang"]
    return [entry["name"] for entry in groups if 0 < entry.get("bound", 0) < entry["minCount"]]


@pytest.mark.parametrize("gates", [GANGS, PREEMPTION], ids=["alone", "together"])
def test_a_gang_is_bound_with_at_least_min_count_pods_or_not_at_all(gates: dict[str, bool]) -> None:
    for seed in range(60):
        assert parts(plan(by_chance(seed), gates, quirks="fixed")) == [], seed


@pytest.mark.long
@pytest.mark.parametrize("gates", [GANGS, PREEMPTION], ids=["alone", "together"])
def test_a_gang_is_bound_with_at_least_min_count_pods_or_not_at_all_often(gates: dict[str, bool]) -> None:
    for seed in range(60, 1500):
        assert parts(plan(by_chance(seed), gates, quirks="fixed")) == [], seed


def test_without_gangs_min_count_has_no_meaning() -> None:
    """What binds a gang together must not wait for pods that nobody asks for."""
    objects = [node("n", cpu="2"), pod_group(least=3), *(member(name, cpu="1") for name in "abc")]
    for document in both(objects, {"GenericWorkload": True}):
        assert sorted(str(name) for name in where(document).values()) == ["None", "n", "n"]
        assert document["podGroups"][0]["policy"] == "basic"
        assert max(entry["attempts"] for entry in document["pods"]) < 5


def test_a_pod_that_always_fails_to_bind_does_not_keep_its_group_busy() -> None:
    users = [{"resource": "pods", "name": f"u{number}", "uid": f"u{number}"} for number in range(256)]
    full = claim("s", status={"allocation": allocation("n", "gpu-0"), "reservedFor": users})
    objects = [node("n", pods="2"), slice_("n", "gpu-0", "gpu-1"), device_class(), template("t"), full]
    failing = member("a", claims={"x": "s"}, templates={"y": "t"})
    failing["spec"]["resourceClaims"].reverse()
    document = plan([*objects, pod_group(least=1), failing, member("b"), member("c")])
    assert max(entry["attempts"] for entry in document["pods"]) < 60


def test_upstream_does_bind_gangs_in_part() -> None:
    """The clusters of the property have what it takes."""
    assert any(parts(plan(by_chance(seed))) for seed in range(60))
