"""`maintain`: every step replayed on plain objects, and where it finds no order, all of them tried so."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dra_plan import Cluster
from dra_plan.questions.maintain import answer
from tests.build import device_class, generated, manifest, node, owned, request, running, slice_, template
from tests.build import pod as plain_pod
from tests.cli.running import in_process

Plain = dict[str, Any]
RACKS = "tests/cli/inputs/racks.yaml"


def budget(name: str, least: int) -> Plain:
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": name}}}
    return manifest("PodDisruptionBudget", name, namespace="default", spec=spec)


def fleet(seed: int, most_nodes: int) -> list[Plain]:
    """A random cluster: nodes with some devices, pods of two workloads on some of them, perhaps budgets."""
    draw = random.Random(seed)
    names = [f"n{number}" for number in range(draw.randint(2, most_nodes))]
    made = [device_class(), template("one", request())]
    for name in names:
        devices = [f"gpu-{index}" for index in range(draw.randint(1, 2))]
        made += [node(name), slice_(name, *devices)]
        for device in devices:
            if draw.random() < 0.55:
                app = draw.choice(["serve", "train"])
                own = f"{app}-{name}-{device[-1]}"
                metadata = {"uid": f"u-{own}", "labels": {"app": app}, **owned("ReplicaSet", app)}
                made.append(running(own, name, f"{own}-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata))
                made.append(generated(own, "gpu", name, device))
    for app in ("serve", "train"):
        have = sum(obj["kind"] == "Pod" and obj["metadata"]["name"].startswith(app) for obj in made)
        if have and draw.random() < 0.6:
            made.append(budget(app, max(0, have - draw.randint(0, 2))))
    return made


def pods(objects: Sequence[Plain]) -> list[Plain]:
    return [obj for obj in objects if obj["kind"] == "Pod"]


def free_to_go(objects: Sequence[Plain], app: str) -> int:
    least = [
        obj["spec"]["minAvailable"]
        for obj in objects
        if obj["kind"].endswith("Budget") and obj["metadata"]["name"] == app
    ]
    have = sum(pod["metadata"]["labels"]["app"] == app for pod in pods(objects))
    return have - least[0] if least else have


def drained(objects: list[Plain], name: str) -> list[Plain] | None:
    """The cluster after the node was drained pod by pod and given back; None if that can't be done."""
    now = copy.deepcopy(objects)
    [itself] = [obj for obj in now if obj["kind"] == "Node" and obj["metadata"]["name"] == name]
    was = copy.deepcopy(itself["spec"]) if "spec" in itself else None
    itself["spec"] = {**(was or {}), "unschedulable": True}
    left = [pod["metadata"]["name"] for pod in pods(now) if pod["spec"].get("nodeName") == name]
    while left:
        allowed = {app: free_to_go(now, app) for app in ("serve", "train")}
        going = []
        for pod in left:
            app = pod.partition("-")[0]
            if allowed[app] > 0:
                allowed[app] -= 1
                going.append(pod)
        if not going:
            return None
        left = [pod for pod in left if pod not in going]
        now = evicted(now, going)
        plan = Cluster.of(now).schedule()
        if any(record.node_name is None for record in plan):
            return None
        now = bound(now, plan, going)
    if was is None:
        del next(obj for obj in now if obj["kind"] == "Node" and obj["metadata"]["name"] == name)["spec"]
    else:
        next(obj for obj in now if obj["kind"] == "Node" and obj["metadata"]["name"] == name)["spec"] = was
    return now


def evicted(objects: list[Plain], names: Sequence[str]) -> list[Plain]:
    kept = []
    for obj in objects:
        if obj["kind"] == "ResourceClaim" and obj["metadata"]["ownerReferences"][0]["name"] in names:
            continue
        kept.append(obj)
    waiting = []
    for name in names:
        [pod] = [obj for obj in kept if obj["kind"] == "Pod" and obj["metadata"]["name"] == name]
        kept.remove(pod)
        del pod["spec"]["nodeName"]
        pod["status"] = {"phase": "Pending"}
        waiting.append(pod)
    return kept + waiting


def bound(objects: list[Plain], plan: Any, names: Sequence[str]) -> list[Plain]:
    where = {record.name: record.node_name for record in plan}
    for pod in pods(objects):
        name = pod["metadata"]["name"]
        if name in names:
            pod["spec"]["nodeName"] = where[name]
            pod["status"] = {
                "phase": "Running",
                "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu-x7k2p"}],
            }
    for one in plan.document.claims:
        for user in one.reserved_for:
            if user.name in names:
                [result] = msgspec.to_builtins(one.allocation)["devices"]["results"]
                objects = [*objects, generated(user.name, "gpu", result["pool"], result["device"])]
    return objects


def check(seed: int, most_nodes: int) -> str:
    objects = fleet(seed, most_nodes)
    found = Cluster.of(objects).maintain()
    if found.outcome == "Possible":
        now: list[Plain] | None = objects
        for wave in found:
            [name] = wave.nodes
            assert now is not None
            now = drained(now, name)
            assert now is not None, (seed, wave)
            at = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods(now)}
            assert {pod.name: pod.to_node for pod in wave.moved} == {pod.name: at[pod.name] for pod in wave.moved}, seed
    else:
        assert found.outcome == "Impossible", seed
        assert not orders(objects), seed
    return found.outcome


def orders(objects: list[Plain]) -> bool:
    """Whether any order does, by trying each."""
    names = [obj["metadata"]["name"] for obj in objects if obj["kind"] == "Node"]
    for order in itertools.permutations(names):
        now: list[Plain] | None = objects
        for name in order:
            now = drained(now, name) if now is not None else None
        if now is not None:
            return True
    return False


def test_what_it_says_is_what_trying_all_orders_says() -> None:
    outcomes = [check(seed, 3) for seed in range(40)]
    assert {*outcomes} == {"Possible", "Impossible"}


@pytest.mark.long
def test_random_clusters() -> None:
    outcomes = [check(seed, 4) for seed in range(1000, 1150)]
    assert min(outcomes.count("Possible"), outcomes.count("Impossible")) > 10


# The command


@pytest.mark.parametrize("form", ["table", "wide", "markdown", "name", "json"])
def test_what_it_prints(form: str, golden: Any) -> None:
    ran = in_process("maintain", RACKS, "--nodes", "-l", "rack=r1", "-o", form)
    assert ran.status == 0
    golden(Path(__file__).parent / "golden" / f"maintain.{form}", ran.out)


def test_nodes_go_together_where_there_is_room() -> None:
    waves = [wave.nodes for wave in Cluster.load(RACKS).maintain(nodes=["b2", "spare", "c1"], at_once=2)]
    assert waves == [["b2", "spare"], ["c1"]]


def test_a_bare_pod_and_a_budget_stop_it() -> None:
    objects = [
        device_class(),
        node("a"),
        node("b"),
        slice_("a", "gpu-0"),
        slice_("b", "gpu-0"),
        template("one", request()),
    ]
    bare = [running("bare", "a", "bare-gpu-x7k2p", templates={"gpu": "one"}, metadata={"uid": "u-bare"})]
    found = Cluster.of([*objects, *bare, generated("bare", "gpu", "a", "gpu-0")]).maintain()
    assert (found.outcome, found.stop.node, found.stop.pod) == ("Impossible", "a", "default/bare")
    assert "no controller recreates it" in str(found)
    metadata = {"uid": "u-serve", "labels": {"app": "serve"}, **owned("ReplicaSet", "serve")}
    serves = running("serve", "a", "serve-gpu-x7k2p", templates={"gpu": "one"}, metadata=metadata)
    found = Cluster.of([*objects, serves, generated("serve", "gpu", "a", "gpu-0"), budget("serve", 1)]).maintain()
    assert (found.outcome, found.stop.budget, found.stop.done) == ("Impossible", "default/serve", ["b"])


def test_the_exit_status_says_whether_there_is_an_order() -> None:
    assert in_process("maintain", RACKS).status == 0
    assert in_process("maintain", RACKS, "--cordon", "b2").status == 1
    assert in_process("maintain", RACKS, "--nodes", "rack=r9").status == 2
    assert in_process("maintain", RACKS, "pod/serve-0").status == 2


def test_a_pod_that_another_scheduler_places_stops_its_own_node_only() -> None:
    nodes = [node("a"), node("b"), slice_("a", "gpu-0"), slice_("b", "gpu-0")]
    metadata = {"uid": "u-other", **owned("ReplicaSet", "other")}
    other = plain_pod("other", nodeName="a", schedulerName="volcano", metadata=metadata, status={"phase": "Running"})
    cluster = Cluster.of([device_class(), *nodes, other])
    assert cluster.maintain(nodes="b").outcome == "Possible"
    found = cluster.maintain()
    assert (found.outcome, found.stop.pod, found.stop.reason) == ("Impossible", "default/other", "NoPlace")


def test_pods_of_the_node_itself_stay() -> None:
    nodes = [node("a"), device_class(), slice_("a", "gpu-0")]
    metadata = {"uid": "u-daemon", **owned("DaemonSet", "daemon")}
    daemon = plain_pod("daemon", nodeName="a", metadata=metadata, status={"phase": "Running"})
    assert Cluster.of([*nodes, daemon]).maintain().outcome == "Possible"


def test_where_larger_waves_lead_nowhere_single_nodes_are_tried() -> None:
    for seed in range(40):
        cluster = Cluster.of(fleet(seed, 3))
        assert cluster.maintain(at_once=3).outcome == cluster.maintain().outcome, seed


def test_so_many_drains_are_tried_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MOST_DRAINS", 1)
    found = Cluster.load(RACKS).maintain()
    assert (found.outcome, found.tried) == ("Undecided", 1)
    assert str(found).startswith("Not known: no order was found in 1 drain")
