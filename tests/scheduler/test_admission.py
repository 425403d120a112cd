"""Workloads with their replicas, daemons, generated claims, and the order in which pods are seen."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from dra_plan.errors import InputError
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.load import load
from dra_plan.scheduler.admission import MOST_PODS_MADE, Admission

from .build import claim, claim_of, devices, gpus, node, placed, plan, pod, template, where


def workload(kind: str, name: str = "w", *, api: str = "apps/v1", templated: dict | None = None, **spec) -> dict:
    shape = templated or pod("t")
    body = {"metadata": {"labels": shape["metadata"]["labels"]}, "spec": shape["spec"]}
    metadata = {"name": name, "namespace": "default", "uid": f"u-{name}"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"template": body, **spec}}


def owned(made: dict, kind: str, name: str) -> dict:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"u-{name}", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


@pytest.mark.parametrize(
    ("kind", "api", "spec", "count"),
    [
        ("Deployment", "apps/v1", {"replicas": 3}, 3),
        ("Deployment", "apps/v1", {}, 1),
        ("Deployment", "apps/v1", {"replicas": 0}, 0),
        ("StatefulSet", "apps/v1", {"replicas": 2}, 2),
        ("ReplicaSet", "apps/v1", {"replicas": 2}, 2),
        ("ReplicationController", "v1", {"replicas": 2}, 2),
        ("Job", "batch/v1", {"parallelism": 4, "completions": 2}, 2),
        ("Job", "batch/v1", {"parallelism": 4, "suspend": True}, 0),
        ("Job", "batch/v1", {}, 1),
    ],
)
def test_workloads_count_with_their_replicas(kind, api, spec, count):
    document = plan([node("a"), workload(kind, api=api, **spec)])
    assert list(where(document)) == [f"w-{index}" for index in range(count)]


def test_pods_that_exist_are_not_made_again():
    deployment = workload("Deployment", replicas=3)
    replica_set = owned(workload("ReplicaSet", "rs", replicas=3), "Deployment", "w")
    objects = [node("a"), deployment, replica_set, owned(placed("rs-1", "a"), "ReplicaSet", "rs")]
    assert list(where(plan(objects))) == ["rs-1", "w-1", "w-2"]
    done = owned(placed("rs-1", "a", phase="Succeeded"), "ReplicaSet", "rs")
    assert list(where(plan([*objects[:3], done]))) == ["rs-1", "w-0", "w-1", "w-2"]


def test_a_daemon_runs_on_every_node_that_takes_it():
    tainted = node("c", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})
    objects = [node("a"), node("b", spec={"unschedulable": True}), tainted, workload("DaemonSet")]
    assert where(plan(objects)) == {"w-a": "a", "w-b": "b"}
    there = owned(placed("w-x", "a"), "DaemonSet", "w")
    assert where(plan([*objects, there])) == {"w-x": "a", "w-b": "b"}


def test_replicas_compete_for_devices_with_claims_of_their_own():
    shape = pod("t", templates={"x": "t"})
    document = plan([*gpus("a", each=2), template("t"), workload("Deployment", templated=shape, replicas=3)])
    assert where(document) == {"w-0": "a", "w-1": "a", "w-2": None}
    assert devices(document, "w-0-x") == ["a/gpu-0"]
    assert devices(document, "w-1-x") == ["a/gpu-1"]
    assert devices(document, "w-2-x") == []


def test_pods_are_seen_by_namespace_and_name():
    objects = [node("a", cpu="2"), pod("z"), pod("b", namespace="other"), pod("y")]
    assert list(where(plan(objects))) == ["y", "z", "b"]
    assert where(plan(objects))["b"] is None


def test_a_generated_claim_in_the_input_is_used():
    made = claim("p-x-abcde")
    made["metadata"]["annotations"] = {"resource.kubernetes.io/pod-claim-name": "x"}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-p", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    document = plan([*gpus("a"), template("t"), made, pod("p", templates={"x": "t"})])
    assert [c["name"] for c in document["claims"]] == ["p-x-abcde"]
    assert devices(document, "p-x-abcde") == ["a/gpu-0"]


def test_a_generated_claim_that_lost_its_owners_is_used():
    """As `allocate` does: it is known by its annotation and its name."""
    made = claim("p-x-abcde")
    made["metadata"]["annotations"] = {"resource.kubernetes.io/pod-claim-name": "x"}
    document = plan([*gpus("a"), template("t"), made, pod("p", templates={"x": "t"})])
    assert [c["name"] for c in document["claims"]] == ["p-x-abcde"]
    assert devices(document, "p-x-abcde") == ["a/gpu-0"]


def test_a_name_that_is_taken_gets_a_number():
    document = plan([*gpus("a"), template("t"), claim("p-x"), pod("p", templates={"x": "t"})])
    assert devices(document, "p-x-2") == ["a/gpu-0"]
    assert claim_of(document, "p-x")["allocation"] is None


def test_manifests_without_uids():
    bare = [*gpus("a"), template("t"), claim("c"), pod("p", templates={"x": "t"}), pod("q", claims={"y": "c"})]
    for made in bare:
        made["metadata"].pop("uid", None)
    document = plan(bare)
    assert where(document) == {"p": "a", "q": "a"}


def test_pods_on_nodes_that_are_not_in_the_input():
    assert where(plan([node("a"), placed("old", "gone"), pod("p")])) == {"old": "gone", "p": "a"}


def test_work_grows_with_the_input_and_not_with_its_square():
    """Lines that run are counted: four times the pods, claims and workloads may cost little more than four times."""
    small, large = (_lines_of_admission(count) for count in (50, 200))
    assert large < 4.5 * small


def test_many_claims_of_one_name_are_numbered_without_trying_each():
    long = pod("p" * 58, templates={"x": "t"})
    one = workload("Deployment", "p" * 58, templated=long, replicas=50)
    many = workload("Deployment", "p" * 58, templated=long, replicas=200)
    small, large = (_lines_of([template("t"), deployment]) for deployment in (one, many))
    assert large < 4.5 * small


def _lines_of_admission(count: int) -> int:
    objects = [template("t")]
    for index in range(count):
        owner = f"w{index // 2}"
        objects.append(owned(pod(f"p{index}", templates={"x": "t"}), "Deployment", owner))
        objects.append(owned(claim(f"p{index}-x-abcde"), "Pod", f"p{index}"))
        if index % 2 == 0:
            objects.append(workload("Deployment", owner, templated=pod("t", templates={"x": "t"}), replicas=3))
    return _lines_of(objects)


def _lines_of(objects: list[dict]) -> int:
    """How many lines run while the objects are admitted."""
    inventory = from_dicts(objects)
    lines = 0

    def count(_frame: object, event: str, _argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        admission = Admission(inventory)
        admission.claims(admission.pods())
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("Deployment", {"replicas": 2147483647}, "spec.replicas"),
        ("Job", {"parallelism": 2147483647}, "spec.parallelism"),
    ],
)
def test_more_replicas_than_a_cluster_holds_are_an_input_error(kind, spec, field):
    with pytest.raises(InputError) as told:
        plan([node("n"), workload(kind, api="batch/v1" if kind == "Job" else "apps/v1", **spec)])
    assert f"{kind} default/w: {field}: 2147483647 is too many: at most {MOST_PODS_MADE} pods" in str(told.value)


def test_the_limit_counts_all_workloads_of_the_input(monkeypatch):
    monkeypatch.setattr("dra_plan.scheduler.admission.MOST_PODS_MADE", 5)
    objects = [workload("Deployment", "a", replicas=3), workload("Deployment", "b", replicas=2)]
    assert len(plan([node("n"), *objects])["pods"]) == 5
    with pytest.raises(InputError, match=r"Deployment default/c: spec\.replicas: 1 is too many"):
        plan([node("n"), *objects, workload("Deployment", "c", replicas=1)])


def test_too_many_replicas_are_told_with_their_place(tmp_path):
    path = tmp_path / "big.json"
    path.write_text(json.dumps(workload("Deployment", replicas=2147483647)))
    with pytest.raises(InputError) as told:
        Admission(load([str(path)])).pods()
    assert str(told.value).startswith(f"{path}:1: Deployment default/w: spec.replicas: ")
