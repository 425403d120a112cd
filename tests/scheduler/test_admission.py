"""Workloads with their replicas, daemons, generated claims, and the order in which pods are seen."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from dra_plan import allocate
from dra_plan.errors import InputError, UsageError
from dra_plan.manifests.decode import from_dicts
from dra_plan.manifests.load import load
from dra_plan.scheduler.admission import MOST_PODS_MADE, Admission
from tests.build import claim, gpus, node, owned_by, placed, pod, template, workload
from tests.scheduler.reading import claim_of, devices, plan, where


@pytest.mark.parametrize(
    ("kind", "spec", "count"),
    [
        ("Deployment", {"replicas": 3}, 3),
        ("Deployment", {}, 1),
        ("Deployment", {"replicas": 0}, 0),
        ("StatefulSet", {"replicas": 2}, 2),
        ("ReplicaSet", {"replicas": 2}, 2),
        ("ReplicationController", {"replicas": 2}, 2),
        ("Job", {"parallelism": 4, "completions": 2}, 2),
        ("Job", {"parallelism": 4, "suspend": True}, 0),
        ("Job", {}, 1),
    ],
)
def test_workloads_count_with_their_replicas(kind, spec, count):
    document = plan([node("a"), workload(kind, **spec)])
    assert list(where(document)) == [f"w-{index}" for index in range(count)]


def test_pods_that_exist_are_not_made_again():
    deployment = workload("Deployment", replicas=3)
    replica_set = owned_by(workload("ReplicaSet", "rs", replicas=3), "Deployment", "w")
    objects = [node("a"), deployment, replica_set, owned_by(placed("rs-1", "a"), "ReplicaSet", "rs")]
    assert list(where(plan(objects))) == ["rs-1", "w-1", "w-2"]
    done = owned_by(placed("rs-1", "a", phase="Succeeded"), "ReplicaSet", "rs")
    assert list(where(plan([*objects[:3], done]))) == ["rs-1", "w-0", "w-1", "w-2"]


def test_a_daemon_runs_on_every_node_that_takes_it():
    tainted = node("c", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]})
    objects = [node("a"), node("b", spec={"unschedulable": True}), tainted, workload("DaemonSet")]
    assert where(plan(objects)) == {"w-a": "a", "w-b": "b"}
    there = owned_by(placed("w-x", "a"), "DaemonSet", "w")
    assert where(plan([*objects, there])) == {"w-x": "a", "w-b": "b"}
    done = owned_by(placed("w-x", "a", phase="Succeeded"), "DaemonSet", "w")
    assert where(plan([*objects, done])) == {"w-x": "a", "w-a": "a", "w-b": "b"}
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [named]}}}
    tolerant = [{"operator": "Exists"}]
    waiting = owned_by(pod("w-y", affinity=affinity, tolerations=tolerant), "DaemonSet", "w")
    assert where(plan([*objects, waiting])) == {"w-y": "b", "w-a": "a"}


def test_replicas_compete_for_devices_with_claims_of_their_own():
    shape = pod("t", templates={"x": "t"})
    document = plan([*gpus("a", each=2), template("t"), workload("Deployment", shape=shape, replicas=3)])
    assert where(document) == {"w-0": "a", "w-1": "a", "w-2": None}
    assert devices(document, "w-0-x") == ["a/gpu-0"]
    assert devices(document, "w-1-x") == ["a/gpu-1"]
    assert devices(document, "w-2-x") == []


def created(name: str, moment: str = "", **options: Any) -> dict:
    return pod(name, metadata={"creationTimestamp": f"2026-01-01T{moment}Z"} if moment else {}, **options)


def test_pods_come_in_the_order_of_their_creation_then_of_the_input():
    """What has no time yet comes last, as if it were created now."""
    objects = [
        node("a", cpu="2"),
        created("n"),
        created("z", "02:00:00"),
        created("y", "01:00:00"),
        created("b", "02:00:00"),
    ]
    assert list(where(plan(objects))) == ["y", "z", "b", "n"]
    assert {name for name, node_name in where(plan(objects)).items() if node_name} == {"y", "z"}


def test_a_restarted_scheduler_lists_pods_by_namespace_and_name():
    objects = [node("a", cpu="2"), created("z", "01:00:00"), created("b", namespace="other"), created("y", "02:00:00")]
    assert list(where(plan(objects, order="name"))) == ["y", "z", "b"]
    assert where(plan(objects, order="name"))["b"] is None


def test_there_is_no_other_order():
    with pytest.raises(UsageError, match="unknown order of pods 'size': use one of arrival, name"):
        plan([node("a")], order="size")


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


def test_a_pod_without_a_uid_has_the_claim_that_was_made_for_it():
    """As `allocate` does: a dumped pod that was edited, and its claim, which knows the uid that it had."""
    made = owned_by(claim("p-x-abcde"), "Pod", "p")
    made["metadata"]["annotations"] = {"resource.kubernetes.io/pod-claim-name": "x"}
    bare = pod("p", templates={"x": "t"})
    del bare["metadata"]["uid"]
    objects = [*gpus("a"), template("t"), made, bare]
    document = plan(objects)
    assert where(document) == {"p": "a"}
    assert [c["name"] for c in document["claims"]] == ["p-x-abcde"]
    assert [c["name"] for c in allocate(objects).to_dict()["claimSets"][0]["claims"]] == ["p-x-abcde"]


def test_jobs_want_no_more_pods_than_completions_are_missing():
    def made(job: dict, *pods: dict) -> list[str]:
        document = plan([node("a"), job, *(owned_by(each, "Job", "w") for each in pods)])
        return [name for name in where(document) if name.startswith("w-")]

    job = workload("Job", parallelism=2, completions=3)
    done = placed("d", "a", phase="Succeeded")
    assert made(job) == ["w-0", "w-1"]
    assert made(job, done) == ["w-0", "w-1"]
    assert made({**job, "status": {"succeeded": 2}}, done) == ["w-0"]
    assert made({**job, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}) == []
    assert made(workload("Job", parallelism=2), done) == []


def test_cron_jobs_make_no_pods_themselves():
    assert plan([node("a"), workload("CronJob", parallelism=2)])["pods"] == []


def test_pods_that_go_are_replaced_by_controllers_that_do_not_wait():
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}

    def made(kind: str) -> list[str]:
        leaving = placed("old", "a")
        leaving["metadata"].update(gone)
        return list(where(plan([node("a"), workload(kind), owned_by(leaving, kind, "w")])))

    assert made("ReplicaSet") == ["old", "w-0"]
    assert made("StatefulSet") == ["old"]


def test_a_deployments_pods_are_known_without_their_replica_set():
    def of(hashed: str, name: str) -> dict:
        return owned_by(placed(name, "a", labels={"pod-template-hash": hashed}), "ReplicaSet", f"w-{hashed}")

    objects = [node("a"), workload("Deployment", replicas=2), of("abc", "p"), of("def", "q")]
    assert list(where(plan(objects))) == ["p", "q"]
    other = owned_by(placed("r", "a", labels={"pod-template-hash": "abc"}), "ReplicaSet", "other")
    assert list(where(plan([node("a"), workload("Deployment"), other]))) == ["r", "w-0"]


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
    one = workload("Deployment", "p" * 58, shape=long, replicas=50)
    many = workload("Deployment", "p" * 58, shape=long, replicas=200)
    small, large = (_lines_of([template("t"), deployment]) for deployment in (one, many))
    assert large < 4.5 * small


def _lines_of_admission(count: int) -> int:
    objects = [template("t")]
    for index in range(count):
        owner = f"w{index // 2}"
        objects.append(owned_by(pod(f"p{index}", templates={"x": "t"}), "Deployment", owner))
        objects.append(owned_by(claim(f"p{index}-x-abcde"), "Pod", f"p{index}"))
        if index % 2 == 0:
            objects.append(workload("Deployment", owner, shape=pod("t", templates={"x": "t"}), replicas=3))
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
        plan([node("n"), workload(kind, **spec)])
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
