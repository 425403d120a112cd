"""Who has the room of a node: the largest pods, pods that are nominated to it, and pods that are being deleted."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.text import words
from tests.build import Object, node, owned_by, placed, pod, running
from tests.explain.test_leaving import leaving, silent

NAMED = {"labels": {"app": "w"}}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": NAMED["labels"]}}
        ]
    }
}


def text(*objects: Object) -> str:
    return " ".join(str(Cluster.of(list(objects)).explain("pod/p")).split())


def both_orders(*objects: Object) -> str:
    """The text, which is the same for every order of the objects."""
    said = text(*objects)
    nodes = [each for each in objects if each["kind"] == "Node"]  # whose order is that of the lines
    assert said == text(*nodes, *(each for each in objects[::-1] if each not in nodes))
    return said


# -- users -------------------------------------------------------------------------------------------------------------


def test_the_largest_pods_without_which_it_fits_are_named() -> None:
    there = [running(f"w{at}", "a", cpu=cpu) for at, cpu in enumerate(["1", "3", "2"])]
    one = both_orders(node("a", cpu="8"), *there, pod("p", cpu="4"))
    assert "a: cpu: needs 4, 2 of 8 free (default/w1 requests 3) It requests" in one
    two = both_orders(node("a", cpu="8"), *there, pod("p", cpu="7"))
    assert "2 of 8 free (default/w1 requests 3 and default/w2 requests 2)" in two
    assert "2 of 8 free It requests" in text(node("a", cpu="8"), *there, pod("p", cpu="8"))  # all would have to go


def test_pods_of_the_node_are_not_named() -> None:
    there = [owned_by(running("agent", "a", cpu="4"), "DaemonSet", "agent"), running("w", "a", cpu="1")]
    assert "3 of 8 free (default/w requests 1)" in text(node("a", cpu="8"), *there, pod("p", cpu="4"))


def test_of_many_nodes_the_one_with_the_most_left_is_named() -> None:
    """If there are only a few, each of them is."""
    objects = [running("w", "a", cpu="7"), running("x", "b", cpu="6"), pod("p", cpu="3")]
    said = both_orders(node("a", cpu="8"), node("b", cpu="8"), *objects)
    each = "b: 2 free (default/x requests 6) a: 1 free (default/w requests 7)"
    assert f"2 nodes: cpu: needs 3, 1 to 2 of 8 free {each} It requests" in said
    others = [each for name in "cde" for each in (node(name, cpu="8"), running(f"w{name}", name, cpu="7"))]
    said = both_orders(node("a", cpu="8"), node("b", cpu="8"), *others, *objects)
    assert "5 nodes (a, b, ...): cpu: needs 3, 1 to 2 of 8 free (on b: default/x requests 6) It requests" in said


# -- nominated pods ----------------------------------------------------------------------------------------------------


def nominated(priority: int) -> Object:
    made = pod("first", cpu="6", priority=priority)
    return {**made, "status": {"phase": "Pending", "nominatedNodeName": "a"}}


def test_room_that_is_promised_to_a_pod_that_comes_first() -> None:
    there = [leaving("old", "a", cpu="4"), node("a", cpu="8"), node("b", cpu="8"), running("w", "b", cpu="7")]
    said = both_orders(*there, nominated(5), pod("p", cpu="2"))
    promise = "but default/first (priority 5) is nominated to it and takes 6"
    assert f"a: cpu: needs 2, 4 of 8 free, {promise} b: cpu: needs 2, 1 of 8 free (default/w requests 7)" in said
    lower = both_orders(*there, nominated(-1), pod("p", cpu="2"))
    assert "nominated" not in lower
    assert "would be bound to a now" in lower
    few = both_orders(*there[:2], nominated(5), pod("p", cpu="5"))  # too little without that pod, too
    assert f"4 of 8 free, {promise}" in few
    alike = [node("b", cpu="8"), *there[:2], nominated(5), {**nominated(5), "metadata": {"name": "2nd"}}]
    alike[-1] = {**alike[-1], "status": {"phase": "Pending", "nominatedNodeName": "b"}}
    both = text(*alike, leaving("w", "b", cpu="5"), pod("p", cpu="2"))
    assert "2 nodes (b, a): cpu: needs 2, 0 of 8 free (on b: 3 are free, but default/2nd is nominated to it and" in both


# -- pods that are being deleted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["a", "b"])
def test_a_pod_in_the_way_that_is_being_deleted(where: str) -> None:
    """On node a it ends by itself; node b does not report."""
    nodes = [node("a", labels={"kubernetes.io/hostname": "a"}), silent("b")]
    nodes[1]["metadata"]["labels"] = {"kubernetes.io/hostname": "b"}
    there = [leaving("w", where, **NAMED), running("x", "ab".replace(where, ""), **NAMED)]
    said = both_orders(*nodes, *there, pod("p", affinity=APART, **NAMED))
    state = "; that pod is being deleted" + (", but its node does not report" if where == "b" else "")
    assert f"pod anti-affinity: pod default/w (app=w) is in kubernetes.io/hostname={where}{state} " in said
    assert said.count("that pod is being deleted") == 1


def port(name: str, made: Object) -> Object:
    held = {"name": "c", "image": "i", "ports": [{"containerPort": at, "hostPort": at} for at in (80, 443)]}
    return {**made, "spec": {**made["spec"], "containers": [held]}}


def test_host_ports_of_a_pod_that_is_being_deleted_are_told_once() -> None:
    said = text(node("a"), port("w", leaving("w", "a")), port("p", pod("p")))
    assert "a: host ports 80/TCP and 443/TCP are taken by pod default/w; that pod is being deleted Changes" in said


def test_a_large_pod_that_is_being_deleted() -> None:
    said = text(node("a", cpu="8"), leaving("w", "a", cpu="6"), pod("p", cpu="4"))
    assert "2 of 8 free (default/w requests 6 and is being deleted)" in said


# -- kinds of nodes and amounts ----------------------------------------------------------------------------------------


def test_nodes_that_the_pod_is_not_for_come_last() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["z"]}]}
    only = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    agent = owned_by(pod("p", cpu="2", affinity=only), "DaemonSet", "agent")
    lines = str(Cluster.of([*map(node, "abc"), node("z", cpu="1"), agent]).explain("pod/p")).splitlines()
    assert [line.split(":")[0].strip() for line in lines[1:3]] == ["z", "3 nodes (a, b, c)"]


@pytest.mark.parametrize(
    ("resource", "needed", "left", "said"),
    [
        ("ephemeral-storage", "200Gi", "95551679124", ("200Gi", "88.9Gi")),
        ("memory", "95551679125", "95551679124", ("89Gi", "88.9Gi")),
        ("memory", "30000000Ki", "29074448Ki", ("28.7Gi", "27.7Gi")),
        ("memory", "3500M", "3Gi", ("3500M", "3221.2M")),
        ("memory", "12Gi", "340Ki", ("12Gi", "340Ki")),
        ("cpu", "4", "3640m", ("4", "3.64")),
        ("example.com/x", "9000000", "8000000", ("9000000", "8000000")),
    ],
)
def test_needs_and_free_amounts_have_the_same_unit(resource: str, needed: str, left: str, said: Any) -> None:
    assert (words.need(resource, needed), words.amount(resource, needed, left)) == said


def test_finished_pods_have_no_room() -> None:
    said = text(node("a", cpu="8"), placed("old", "a", phase="Succeeded", cpu="8"), pod("p", cpu="9"))
    assert "default/old" not in said
