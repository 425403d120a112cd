"""Files of events: what they may hold, and what is said of those that hold something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import InputError, UsageError
from tests.build import gpus, node, placed, pod
from tests.cli.running import in_process

CLUSTER = [node("a"), pod("p")]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ([], r"expected an object such as \{\"create\": \.\.\.\}, got a list"),
        ({}, "expected one of create, patch, status, delete, drain, wait, settle, got none"),
        ({"create": {}, "wait": 1}, "got 'create', 'wait'"),
        ({"creat": {}}, "unknown step 'creat' .did you mean 'create'"),
        ({"create": []}, "create: expected an object"),
        ({"create": {"kind": "Pod", "apiVersion": "v1", "spec": []}}, "Pod: spec: expected an object, got a list"),
        ({"create": {"kind": "Widget", "apiVersion": "x.io/v1"}}, "events cannot make objects of kind 'Widget'"),
        (
            {
                "create": {
                    "kind": "ReplicaSet",
                    "apiVersion": "apps/v1",
                    "metadata": {"name": "w"},
                    "spec": {"replicas": 10**9},
                }
            },
            "",
        ),
        ({"patch": ["Pod", "p"]}, r"patch: expected \[KIND, NAME, PATCH\]"),
        ({"patch": ["Pod", "q", {}]}, "patch: no Pod 'q'"),
        ({"delete": ["Pood", "q"]}, "unknown kind 'Pood' .did you mean 'Pod'"),
        ({"drain": "b"}, "drain: no node 'b'"),
        ({"wait": -1}, "wait: expected seconds"),
        ({"wait": 1, "time": "x"}, "time: expected seconds, got the string .x"),
    ],
)
def test_what_is_no_step(step: Any, message: str) -> None:
    expected = rf"events\[0\]: .*{message}" if message else "ReplicaSet default/w: spec.replicas: .* is too many"
    with pytest.raises(InputError, match=expected):
        Cluster.of(CLUSTER).schedule(settle=True, events=[step])


def test_events_need_settling() -> None:
    with pytest.raises(UsageError, match="events need settle"):
        Cluster.of(CLUSTER).schedule(events=[{"wait": 1}])


def test_a_line_that_holds_no_object_is_named(tmp_path: Path) -> None:
    cluster, events = tmp_path / "c.json", tmp_path / "e.jsonl"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}))
    events.write_text('{"wait": 1}\n\n7\n')
    ran = in_process("schedule", str(cluster), "--settle", "--events", str(events))
    assert ran.status == 2
    assert f"{events}:3: expected an object, got the number 7" in ran.err


def test_a_line_of_a_file_is_named(tmp_path: Path) -> None:
    cluster, events = tmp_path / "c.json", tmp_path / "e.jsonl"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}))
    events.write_text('{"wait": 1}\n\n{"delete": ["Pod", "q"]}\n')
    ran = in_process("schedule", str(cluster), "--settle", "--events", str(events))
    assert (ran.status, ran.err) == (2, f"error: {events}:3: delete: no Pod 'q'\n")
    events.write_text("{\n")
    ran = in_process("schedule", str(cluster), "--settle", "--events", str(events))
    assert ran.status == 2
    assert ran.err.startswith(f"error: {events}:1: ")
    ran = in_process("schedule", str(cluster), "--settle", "--events", str(tmp_path / "none"))
    assert (ran.status, ran.err) == (2, f"error: {tmp_path / 'none'}: No such file or directory\n")


def test_what_exists_is_not_created_again() -> None:
    document = Cluster.of(CLUSTER).schedule(settle=True, events=[{"create": pod("p")}]).to_dict()["settled"]
    assert document["refused"] == [
        {"object": "Pod/p", "namespace": "default", "message": 'pods "p" already exists'},
    ]


def test_a_pod_that_is_deleted_makes_room() -> None:
    small = node("a", pods="1")
    steps = [{"create": pod("q")}, {"settle": 1}, {"delete": ["Pod", "default/p"]}]
    document = Cluster.of([small, pod("p")]).schedule(settle=True, events=steps).to_dict()["settled"]
    assert [(entry["name"], entry["nodeName"]) for entry in document["pods"]] == [("q", "a")]
    assert document["evicted"] == []


def _workload(kind: str, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "w"}}, "spec": pod("x")["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "w", "namespace": "default", "uid": f"{kind}-w"},
        "spec": {"selector": {"matchLabels": {"app": "w"}}, "template": template, **spec},
    }


def _after(objects: list[dict[str, Any]], *steps: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = Cluster.of(objects).schedule(settle=True, events=steps).to_dict()["settled"]
    return document


NEW_IMAGE = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}


def test_recreate_ends_all_before_the_first_is_new() -> None:
    deployment = _workload("Deployment", replicas=2, strategy={"type": "Recreate"})
    document = _after([node("a", pods="2"), deployment], {"patch": ["Deployment", "w", NEW_IMAGE]})
    assert [entry["by"] for entry in document["evicted"]] == ["rolling update"] * 2
    assert [entry["nodeName"] for entry in document["pods"]] == ["a", "a"]


def test_daemons_are_updated_one_node_at_a_time() -> None:
    nodes = [node(name) for name in "abc"]
    document = _after([*nodes, _workload("DaemonSet")], {"patch": ["DaemonSet", "w", NEW_IMAGE]})
    assert len(document["evicted"]) == 3
    assert sorted(entry["nodeName"] for entry in document["pods"]) == ["a", "b", "c"]
    assert document["rounds"] >= 3


def test_a_deleted_deployment_takes_its_pods_along() -> None:
    document = _after([node("a"), _workload("Deployment", replicas=3)], {"delete": ["Deployment", "w"]})
    assert document["pods"] == []
    assert document["evicted"] == []


def test_a_node_that_is_gone_loses_its_pods_to_garbage_collection() -> None:
    document = _after([node("a"), _workload("Deployment", replicas=1)], {"delete": ["Node", "a"]})
    [gone] = document["evicted"]
    assert (gone["reason"], gone["second"]) == ("DeletionByPodGC", 50.0)
    assert [entry["nodeName"] for entry in document["pods"]] == [None]


def test_scaling_down_deletes_waiting_pods_first() -> None:
    deployment = _workload("Deployment", replicas=3)
    document = _after([node("a", pods="2"), deployment], {"patch": ["Deployment", "w", {"spec": {"replicas": 2}}]})
    assert [entry["nodeName"] for entry in document["pods"]] == ["a", "a"]
    assert [entry["by"] for entry in document["evicted"]] == ["scale down"]


def test_pods_that_are_never_ready_hold_an_ordered_set_back() -> None:
    objects = [node("a"), _workload("StatefulSet", replicas=3)]
    plan = Cluster.of(objects).schedule(settle=True, never_ready="w-1")
    assert [pod.name for pod in plan.document.settled.pods] == ["w-0", "w-1"]


def test_a_finished_pod_gives_its_claim_back_once() -> None:
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}}},
    }
    objects = [*gpus("a"), template, pod("p", templates={"x": "t"})]
    document = _after(objects, {"status": ["Pod", "p", {"status": {"phase": "Failed"}}]})
    assert (document["claims"], document["unsettled"], document["rounds"]) == ([], None, 1)


# -- taints of nodes that come and go ----------------------------------------------------------------------------------


def evicted_after(steps: list[Any], seconds: dict[str, int | None]) -> float | None:
    """When a pod that runs on node a, and tolerates these taints for so long, is evicted; None if it stays."""
    tolerations = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", **({"tolerationSeconds": n} if n is not None else {})}
        for key, n in seconds.items()
    ]
    plan = Cluster.of([node("a"), placed("p", "a", tolerations=tolerations)]).schedule(settle=True, events=steps)
    evicted = plan.to_dict()["settled"]["evicted"]
    return evicted[0]["second"] if evicted else None


def tainted(*keys: str) -> dict[str, Any]:
    return {"patch": ["Node", "a", {"spec": {"taints": [{"key": key, "effect": "NoExecute"} for key in keys]}}]}


@pytest.mark.parametrize(
    ("steps", "seconds", "second"),
    [
        ([tainted("x", "y")], {"x": 20, "y": 5}, 5),
        ([tainted("x"), {"wait": 4}, tainted("x", "y")], {"x": 20, "y": 5}, 20),
        ([tainted("x"), {"wait": 4}, tainted("x", "y"), {"wait": 2}, tainted("y")], {"x": 20, "y": 30}, 20),
        ([tainted("x"), {"wait": 4}, tainted("y")], {"x": 20, "y": None}, None),
        ([tainted("x"), {"wait": 4}, tainted(), {"wait": 4}, tainted("x")], {"x": 20}, 28),
        ([tainted("x"), {"wait": 4}, tainted("x", "z")], {"x": 20}, 4),
    ],
    ids=["together", "later-and-shorter", "first-one-goes", "tolerated-for-ever", "gone-and-back", "not-tolerated"],
)
def test_the_moment_of_an_eviction_is_decided_once(
    steps: list[Any], seconds: dict[str, int | None], second: float | None
) -> None:
    """As processPodOnNode of tainteviction; the recordings have no such case."""
    found = evicted_after(steps, seconds)
    assert found == second if second is None else found == pytest.approx(second, abs=1)


def test_a_pod_that_comes_to_a_tainted_node_has_its_seconds_from_then_on() -> None:
    toleration = {"key": "x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    old, late = {"key": "x", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}, "2026-02-01T00:00:00Z"
    waiting = pod("p", tolerations=[toleration])
    cluster = Cluster.of([node("a", spec={"taints": [old]}, metadata={"creationTimestamp": late}), waiting])
    [ended] = cluster.schedule(settle=True).to_dict()["settled"]["evicted"]
    assert ended["second"] == pytest.approx(30, abs=1)
