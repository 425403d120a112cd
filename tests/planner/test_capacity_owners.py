"""What an owner that is copied has already: its pods keep their devices, and replicas without a node are told."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.capacity.answer import CapacityPlan
from dra_plan.questions.capacity.gate import of_owner
from dra_plan.text.gate import Gate
from tests.build import claim, gpus, pod, request, running, template, used, workload

Object = dict[str, Any]


def web(replicas: int, *, kind: str = "StatefulSet") -> Object:
    return workload(kind, "web", pod("x", templates={"gpu": "one"}), replicas=replicas)


def with_device(name: str, where: str, device: str, owner: Object | None = None) -> list[Object]:
    """A pod with a device."""
    made = running(name, where, f"{name}-gpu", templates={"gpu": "one"})
    if owner is not None:
        kept = {key: owner["metadata"][key] for key in ("name", "uid")}
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **kept, "controller": True}
        made["metadata"]["ownerReferences"] = [reference]
    return [made, claim(f"{name}-gpu", status=used(where, device, name))]


def item(objects: list[Object], *owners: str, **options: Any) -> dict[str, Any]:
    return Cluster.of(objects).capacity(*owners, **options).to_dict()["items"][0]


def released(found: dict[str, Any]) -> list[str]:
    suggestions = found["nextCopy"]["suggestions"]
    return [
        change["release"]["name"]
        for one in suggestions
        for change in one["changes"]
        if change["code"] == "release-claim"
    ]


OWNER = web(3)
CLUSTER = [*gpus("a", "b"), template("one"), OWNER]
WEB = [*with_device("web-0", "a", "gpu-0", OWNER), *with_device("web-1", "b", "gpu-0", OWNER)]


@pytest.mark.parametrize("owner", ["statefulset/web", "po/web-0"])
def test_no_suggestion_takes_devices_from_pods_of_the_same_owner(owner: str) -> None:
    """`bare` has its device on the other node than the copy: to release it is told, though that node comes later."""
    found = item([*CLUSTER, *WEB, *with_device("bare", "b", "gpu-1")], owner)
    assert found["scheduled"]["copies"] == 1
    assert released(found) == ["bare-gpu"]
    assert found["nextCopy"]["ownClaims"] == 2


@pytest.mark.parametrize("owner", ["ring/web", "po/web-0"])
def test_pods_of_kinds_that_planning_does_not_know_are_of_one_owner_too(owner: str) -> None:
    made = pod("x", templates={"gpu": "one"})["spec"]
    ring = {
        "apiVersion": "rings.example.com/v1",
        "kind": "Ring",
        "metadata": {"name": "web", "uid": "u-web"},
        "spec": {"replicas": 3, "worker": {"template": {"spec": made}}},
    }
    pods = [*with_device("web-0", "a", "gpu-0", ring), *with_device("web-1", "b", "gpu-0", ring)]
    found = item([*gpus("a", "b"), template("one"), ring, *pods, *with_device("bare", "b", "gpu-1")], owner)
    assert released(found) == ["bare-gpu"]
    assert found["nextCopy"]["ownClaims"] == 2


def test_for_another_owner_they_may_be_released() -> None:
    found = item([*CLUSTER, *WEB, pod("wants", templates={"gpu": "one"})], "po/wants")
    assert set(released(found)) <= {"web-0-gpu", "web-1-gpu"}
    assert released(found)


def test_together_none_of_the_owners_gives_up_what_it_has() -> None:
    objects = [*CLUSTER, *WEB, *with_device("bare", "b", "gpu-1"), pod("wants", templates={"gpu": "one"})]
    found = Cluster.of(objects).capacity("sts/web", "po/wants", mix=True).to_dict()["items"]
    [refused] = [each for each in found if each.get("nextCopy")]
    assert released(refused) == ["bare-gpu"]


def test_where_nothing_else_helps_that_is_said() -> None:
    told = Cluster.of([*CLUSTER, *WEB]).capacity("sts/web")
    assert told.to_dict()["items"][0]["nextCopy"]["suggestions"] == []
    assert "  No change was found that makes room for one more; its own pods keep their devices.\n" in str(told)


@pytest.mark.parametrize(
    ("replicas", "said"),
    [
        (2, "All 2 replicas are scheduled; all copies are additional pods."),
        (3, "2 copies fit: its pending replica and 1 more."),
        (4, "2 copies fit: its 2 pending replicas and 0 more."),
        (6, "2 of its 6 replicas are scheduled; 2 of the 4 pending ones would fit."),
    ],
)
def test_the_first_copies_take_the_place_of_replicas_without_a_node(replicas: int, said: str) -> None:
    told = Cluster.of([*gpus("a", "b"), template("one"), web(replicas), *WEB]).capacity("sts/web")
    assert told.to_dict()["items"][0]["replicas"] == {"wanted": replicas, "missing": replicas - 2}
    assert told.to_dict()["items"][0]["more"] == max(0, 4 - replicas)
    assert f"  {said}\n" in str(told)


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_what_a_drain_evicts_comes_before_more(number: int) -> None:
    """A drain costs as many more copies as the drained nodes could hold, whether these held replicas or not."""
    nodes = ("a", "b", "c", "d")
    cluster = Cluster.of([*gpus(*nodes), template("one"), web(2), *WEB]).drain(*nodes[:number])
    found = cluster.capacity("sts/web")
    devices = 2 * (4 - number)
    [counted] = found.to_dict()["items"]
    assert (counted["scheduled"]["copies"] - counted["replicas"]["missing"], counted["more"]) == (devices - 2,) * 2
    copies = counted["scheduled"]["copies"]
    [row] = [line.split() for line in str(found).splitlines() if line.startswith("statefulset/default/web ")]
    assert row[1:3] == [str(copies)] * 2
    gates = [_verdict(found, at_least) for at_least in (copies, copies + 1)]
    assert gates == ["passed", "failed"]


def _verdict(found: CapacityPlan, at_least: int) -> str:
    [verdict] = {of_owner(Gate(min_copies=at_least), each) for each in found.document.items}
    return verdict.name.lower()


def test_of_what_has_no_replicas_nothing_is_said() -> None:
    assert item([*CLUSTER, pod("wants", templates={"gpu": "one"})], "po/wants")["replicas"] is None
    assert item([*gpus("a"), template("one"), web(1, kind="DaemonSet")], "ds/web")["replicas"] is None
    assert "2 copies fit: its 2 pending replicas and 0 more." in str(
        Cluster.of([*gpus("a"), template("one"), web(2)]).capacity()
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": 1}, "at least 1 of the 4 pending ones would fit."),
        ({"max_steps": 1}, "whether the 4 pending ones would fit is unknown."),
        ({"max_steps": 1, "mix": True}, "whether the 4 pending ones would fit is unknown."),
    ],
)
def test_of_replicas_of_a_count_that_was_ended_it_is_not_said_that_they_get_no_node(
    options: dict[str, Any], said: str
) -> None:
    told = Cluster.of([*gpus("a"), template("one"), web(4)]).capacity("sts/web", **options)
    assert f"  None of its 4 replicas are scheduled; {said}\n" in str(told)
    assert "no copies fit" not in str(told)


def test_together_no_owner_is_at_its_end_where_the_copy_of_another_is_undecided() -> None:
    objects = [*gpus("a"), template("one"), web(2), pod("wants", templates={"gpu": "one"})]
    told = Cluster.of(objects).capacity("sts/web", "po/wants", mix=True, max_steps=1)
    assert [one["scheduled"]["ended"] for one in told.to_dict()["items"]] == ["Undecided", "Undecided"]
    assert "binds at least 0 whole sets" in str(told)
    decided = Cluster.of(objects).capacity("sts/web", "po/wants", mix=True)
    assert [one["scheduled"]["ended"] for one in decided.to_dict()["items"]].count("OtherRefused") == 1


def test_together_idle_devices_are_too_few_for_a_set() -> None:
    """One more copy of the one that wants one device would fit."""
    objects = [*gpus("a", each=4), template("one"), template("two", request(count=2)), web(1)]
    objects.append(pod("wants", templates={"gpu": "two"}))
    assert ": too few left for one more set\n" in str(Cluster.of(objects).capacity("sts/web", "po/wants", mix=True))
    assert "set\n" not in str(Cluster.of(objects).capacity("po/wants"))
