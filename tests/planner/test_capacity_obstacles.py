"""What is in the way of one more copy: every filter is heard, and what was tried does help."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    allocation,
    claim,
    device,
    device_class,
    gpus,
    node,
    owned,
    placed,
    pod,
    request,
    slice_,
    template,
)

WANTS = pod("wants", templates={"gpu": "one"})


def next_copy(objects: list[dict[str, Any]], wants: dict[str, Any], **options: Any) -> dict[str, Any]:
    [item] = Cluster.of(objects).capacity(wants, **options).to_dict()["items"]
    return item["nextCopy"]


def obstacles(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(one["message"], one["nodesWithCopies"], one["otherNodes"], one["alone"]) for one in found["obstacles"]]


def test_what_runs_out_first_stands_first() -> None:
    """Devices on both nodes that hold copies; a node without cpu and devices has two reasons."""
    objects = [*gpus("a", "b"), template("one"), node("c", cpu="500m")]
    found = next_copy(objects, WANTS)
    assert obstacles(found) == [("cannot allocate all claims", 2, 1, 2), ("Insufficient cpu", 0, 1, 0)]


def test_of_a_resource_it_is_told_what_is_left() -> None:
    objects = [*gpus("a", each=8), node("b", cpu="3500m"), template("one")]
    found = next_copy(objects, pod("wants", cpu="3", memory="2Gi", templates={"gpu": "one"}))
    [cpu, devices] = found["obstacles"]
    assert (cpu["message"], cpu["need"], cpu["left"], cpu["alone"]) == ("Insufficient cpu", "3", "2", 1)
    assert (devices["nodesWithCopies"], devices["otherNodes"]) == (0, 1)
    assert [(one["kind"], one.get("resource")) for one in (cpu, devices)] == [("Resource", "cpu"), ("Devices", None)]
    full = [placed(f"p{number}", "a", cpu="0", memory="0") for number in range(3)]
    found = next_copy([node("a", pods="3"), *full], pod("one-more", memory="1Mi"))
    assert [(one["message"], one["need"], one["left"]) for one in found["obstacles"]] == [("Too many pods", "1", "0")]
    assert [one["resource"] for one in found["obstacles"]] == ["pods"]


def test_what_is_neither_a_resource_nor_devices_is_told_in_the_schedulers_words() -> None:
    """A driver may call its resource as it likes: nothing is taken from the text."""
    cordoned = node("a") | {"spec": {"unschedulable": True}}
    found = next_copy([cordoned], pod("wants"))
    assert [(one["kind"], one["message"]) for one in found["obstacles"]] == [("Other", "node(s) were unschedulable")]
    assert "need" not in found["obstacles"][0]


def test_of_devices_it_is_told_which_are_in_use() -> None:
    models = {"attributes": {"model": {"string": "A100"}}}
    objects = [
        *gpus("a"),
        node("b"),
        slice_("b", *(device(each, **models) for each in "xyz")),
        template("two", request(count=2)),
    ]
    found = next_copy(objects, pod("wants", templates={"gpu": "two"}))
    assert found["inUse"] == [
        {"driver": "gpu.example.com", "devices": 2, "onNodesWithCopies": 2, "byCopies": 2},
        {"driver": "gpu.example.com", "model": "A100", "devices": 2, "onNodesWithCopies": 2, "byCopies": 2},
    ]
    assert [(one["code"], one["need"], one["nodes"]) for one in found["leading"]] == [("in-use", 2, 2)]
    assert found["lookedAt"] == 2


def test_devices_in_use_count_on_nodes_without_copies_too() -> None:
    """Eight devices are in use in the end: four on each node, only one of which has room for a copy."""
    held = [claim("-".join(("held", *at)), status={"allocation": allocation(*at)}) for at in (*BUSY, ("b", "gpu-0"))]
    objects = [*gpus("a", "b", each=4), template("three", request(count=3)), *held]
    found = next_copy(objects, pod("wants", templates={"gpu": "three"}))
    assert obstacles(found) == [("cannot allocate all claims", 1, 1, 2)]
    assert found["inUse"] == [{"driver": "gpu.example.com", "devices": 8, "onNodesWithCopies": 4, "byCopies": 3}]


BUSY = [("a", f"gpu-{number}") for number in range(4)]


def test_each_node_says_what_it_lacks() -> None:
    """A node without devices comes last, and one that lacks cpu as well says both; the numbers are those of the end."""
    held = claim("held", status={"allocation": allocation("b", "gpu-0")})
    objects = [*gpus("a", "b", each=3), node("bare"), template("two", request(count=2)), held]
    objects += [node("c", cpu="500m"), slice_("c", "w"), placed("hog", "c", cpu="400m")]
    cluster = Cluster.of(objects)
    told = str(cluster.capacity(pod("wants", cpu="1", templates={"gpu": "two"})))
    assert (
        "  What prevents one more copy:\n"
        "    a (1 copy): too few free devices (1 of 2 for r)\n"
        "    b (1 copy): too few free devices (0 of 2 for r)\n"
        "    c: cpu: needs 1, 0.1 free; cannot allocate all claims\n"
        "    bare: no devices\n"
    ) in told


def test_many_nodes_that_lack_the_same_share_a_line() -> None:
    """The nodes differ in the free devices or in cpu; a line has the most that is left on one of them."""
    objects = [device_class(), template("four", request(count=4))]
    for at, name in enumerate("abcdefgh"):
        objects += [node(name, cpu="4" if at < 4 else f"{at}00m"), slice_(name, *"stuv"[: at if at < 4 else 4])]
    told = str(Cluster.of(objects).capacity(pod("wants", cpu="1", templates={"gpu": "four"})))
    assert (
        "  What prevents one more copy:\n"
        "    b, c and d: too few devices (at most 3 of 4 for r)\n"
        "    e, f, g and h: cpu: needs 1, at most 0.7 free\n"
        "    a: no devices\n"
    ) in told


def test_what_fits_although_the_scheduler_stops_with_an_error_is_no_contradiction() -> None:
    selector = {"cel": {"expression": 'device.attributes["gpu.example.com"].model == "A100"'}}
    objects = [*gpus(), template("one", request(selectors=[selector]))]
    for name, attributes in {"a": {}, "b": {"model": {"string": "A100"}}}.items():
        objects += [node(name), slice_(name, device("x", attributes=attributes))]
    told = str(Cluster.of(objects).capacity(WANTS))
    assert "pod/default/wants: kube-scheduler binds no copies.\n  without the error, 1 would fit: 1 on b\n" in told


def test_what_ran_out_is_about_the_nodes_with_copies() -> None:
    """One node holds a copy, three have devices of another model: there it is the selector."""
    selector = {"cel": {"expression": 'device.attributes["gpu.example.com"].model == "H100"'}}
    objects = [*gpus(), template("one", request(selectors=[selector]))]
    for name in "abcd":
        model = {"attributes": {"model": {"string": "H100" if name == "c" else "L40S"}}}
        objects += [node(name), slice_(name, device("x", **model))]
    found = next_copy(objects, WANTS)
    assert [(one["code"], one["nodes"]) for one in found["ranOut"]] == [("in-use", 1)]
    assert [(one["code"], one["nodes"]) for one in found["leading"]] == [("selector-false", 3), ("in-use", 1)]
    assert [one["model"] for one in found["inUse"]] == ["H100"]


def test_what_would_let_one_more_fit_does() -> None:
    """One device of three is left: asking for one instead of two is told, and with it one more copy is bound."""
    objects = [*gpus("a", each=3), template("two", request(count=2))]
    found = next_copy(objects, pod("wants", templates={"gpu": "two"}))
    [first, *_] = found["suggestions"]
    assert [change["code"] for change in first["changes"]] == ["lower-count"]
    assert not any(change["code"] == "release-claim" for one in found["suggestions"] for change in one["changes"])
    [item] = Cluster.of([*gpus("a", each=3), template("two", request(count=1))]).capacity(
        pod("wants", templates={"gpu": "two"})
    )
    assert item.scheduled.copies == 3


def test_each_change_says_how_many_copies_it_brings() -> None:
    """The hog's cpu strands the devices of b; agent belongs to a DaemonSet, which would start it again."""
    nodes = [node(name, cpu="9") for name in "abc"]
    objects = [
        *gpus(),
        *nodes,
        *(slice_(name, *"wxyz") for name in "abc"),
        template("one"),
        claim("held", status={"allocation": allocation("a", "w")}),
        placed("user", "a", cpu="0", claims={"gpu": "held"}),
        placed("hog", "b", cpu="8"),
        placed("agent", "c", cpu="8", metadata=owned("DaemonSet", "agent")),
    ]
    cluster, wants = Cluster.of(objects), pod("wants", cpu="2", templates={"gpu": "one"})
    [item] = cluster.capacity(wants).to_dict()["items"]
    found = {one["changes"][0]["code"]: one["more"] for one in item["nextCopy"]["suggestions"]}
    assert found == {"remove-pods": 4, "release-claim": 1}
    for code, without in {"remove-pods": "pod/default/hog", "release-claim": "resourceclaim/default/held"}.items():
        [then] = cluster.without(without).capacity(wants).to_dict()["items"]
        assert then["scheduled"]["copies"] == item["scheduled"]["copies"] + found[code]
    told = str(cluster.capacity(wants))
    assert "  To fit 4 more: remove pod default/hog from b.\n" in told
    assert "  To fit one more: release claim default/held, which no pod uses (the new copy then fits on a).\n" in told


def test_nothing_is_in_the_way_where_the_count_was_ended() -> None:
    assert next_copy([*gpus("a", each=8), template("one")], WANTS, limit=3) is None
    assert next_copy([*gpus("a"), template("one")], WANTS, max_steps=1) is None


def test_a_pod_that_can_run_nowhere_has_one_reason_for_all_nodes() -> None:
    found = next_copy(gpus("a", "b"), pod("lost", nodeName="", nodeSelector={"zone": "x"}))
    assert obstacles(found) == [("node(s) didn't match Pod's node affinity/selector", 0, 2, 2)]


@pytest.mark.parametrize("seed", range(8))
def test_every_node_has_a_reason_and_the_numbers_add_up(seed: int) -> None:
    chance = random.Random(seed)
    names = "abcd"[: chance.randint(1, 4)]
    objects = [*gpus(), template("some", request(count=chance.randint(1, 2)))]
    for name in names:
        spec = {"unschedulable": True} if chance.random() < 0.3 else None
        objects += [node(name, cpu=str(chance.randint(0, 5)), spec=spec), slice_(name, *"wxyz"[: chance.randint(1, 4)])]
    [item] = Cluster.of(objects).capacity(pod("p", templates={"gpu": "some"})).to_dict()["items"]
    told, holding = item["nextCopy"]["obstacles"], len(item["scheduled"]["nodes"])
    assert (
        sum(one["alone"] for one in told)
        <= len(names)
        <= sum(one["nodesWithCopies"] + one["otherNodes"] for one in told)
    )
    assert all(one["nodesWithCopies"] <= holding and one["otherNodes"] <= len(names) - holding for one in told)
    assert sum(one["nodesWithCopies"] for one in told) >= holding
