"""Objects of kinds that planning does not know, with pod templates in them: found by shape, planned and counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dra_plan import Cluster, validate
from dra_plan.claims.owners import wanted as wanted_now
from dra_plan.manifests import collect
from dra_plan.manifests.decode import from_dicts
from tests.build import gpus, placed, template

WITH_CLAIM = {
    "spec": {
        "containers": [{"name": "c", "image": "x"}],
        "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}],
    }
}
WITHOUT = {"spec": {"containers": [{"name": "c", "image": "x"}]}}


def custom(kind: str, spec: dict[str, Any], api: str = "example.com/v1", **other: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "w", "uid": "u-w"}, "spec": spec, **other}


def jobset(**job: Any) -> dict[str, Any]:
    return custom(
        "JobSet",
        {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"template": WITH_CLAIM, **job}}}]},
        "jobset.x-k8s.io/v1alpha2",
    )


MPI = custom(
    "MPIJob",
    {
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": WITHOUT},
            "Worker": {"replicas": 3, "template": WITH_CLAIM},
        }
    },
    "kubeflow.org/v2beta1",
)
RAY = custom(
    "RayCluster",
    {
        "headGroupSpec": {"template": WITH_CLAIM},
        "workerGroupSpecs": [
            {"groupName": "a", "replicas": 2, "numOfHosts": 2, "template": WITH_CLAIM},
            {"groupName": "b", "replicas": 0, "template": WITH_CLAIM},
        ],
    },
    "ray.io/v1",
)
LEADER = {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "leaderTemplate": WITHOUT, "workerTemplate": WITH_CLAIM}}
NO_LEADER = {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": WITH_CLAIM}}


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (jobset(parallelism=3), {"": 6}),
        (jobset(parallelism=3, completions=2), {"": 4}),
        (jobset(), {"": 2}),
        (jobset(suspend=True), {"": 0}),
        (custom("PyTorchJob", {"runPolicy": {"suspend": True}, "replicas": 2, "template": WITH_CLAIM}), {"": 0}),
        (MPI, {"mpiReplicaSpecs.Launcher": 1, "mpiReplicaSpecs.Worker": 3}),
        (RAY, {"headGroupSpec": 1, "workerGroupSpecs[0]": 4, "workerGroupSpecs[1]": 0}),
        (
            custom("LeaderWorkerSet", LEADER),
            {f"leaderWorkerTemplate.{x}Template": n for x, n in (("leader", 2), ("worker", 6))},
        ),
        (custom("LeaderWorkerSet", NO_LEADER), {"": 8}),
        (custom("Anything", {"deep": [{"er": {"template": WITH_CLAIM}}]}), {"": 1}),
        (custom("Anything", {"replicas": True, "template": WITH_CLAIM}), {"": 1}),
        (custom("Workload", {"podSets": [{"count": 2, "template": WITH_CLAIM}]}, "kueue.x-k8s.io/v1beta1"), {}),
        (custom("Anything", {"spec": {"containers": []}}), {}),
        (custom("Anything", {"spec": {"containers": {"type": "array"}}}), {}),
    ],
)
def test_pod_templates_are_found_with_their_number(obj, wanted):
    found = from_dicts([obj])
    assert {workload.part: wanted_now(workload, ()).number for workload in found.workloads} == wanted
    assert bool(found.skipped) is (not wanted)


OWNER = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "w", "uid": "u-w", "controller": True}


def test_they_are_planned_and_scheduled():
    cluster = Cluster.of([*gpus("a", each=6), template("t"), RAY])
    plan = cluster.allocate()
    assert [each.name for each in plan] == [
        f"RayCluster default/w ({part})" for part in ("headGroupSpec", "workerGroupSpecs[0]", "workerGroupSpecs[1]")
    ]
    assert [each["part"] for each in plan.to_dict()["claimSets"]] == [
        "headGroupSpec",
        "workerGroupSpecs[0]",
        "workerGroupSpecs[1]",
    ]
    assert "raycluster/default/w (workerGroupSpecs[0])" in str(plan)
    pods = cluster.schedule().to_dict()["pods"]
    assert [pod["name"] for pod in pods] == [
        "w-headgroupspec-0",
        *(f"w-workergroupspecs-0-{index}" for index in range(4)),
    ]
    assert {pod["nodeName"] for pod in pods} == {"a"}


def test_copies_of_each_template_are_counted_under_its_field():
    cluster = Cluster.of([*gpus("a", each=6), template("t"), RAY])
    plan = cluster.capacity(limit=5)
    found = [(item.owner.part, item.replicas.wanted, item.replicas.missing) for item in plan]
    assert found == [("headGroupSpec", 1, 1), ("workerGroupSpecs[0]", 4, 4), ("workerGroupSpecs[1]", 0, 0)]
    assert "raycluster/default/w (workerGroupSpecs[0])" in str(plan)
    mixed = cluster.capacity(limit=9, mix=True).to_dict()
    assert [(share["owner"]["part"], share["copies"]) for share in mixed["mix"]["shares"]] == [
        ("headGroupSpec", 1),
        ("workerGroupSpecs[0]", 4),
        ("workerGroupSpecs[1]", 1),
    ]
    one = placed("w-0", "a")
    one["metadata"]["ownerReferences"] = [OWNER]
    with_one = Cluster.of([*gpus("a", each=6), template("t"), RAY, one])
    assert [item.replicas for item in with_one.capacity("w", limit=1)] == [None, None, None]


def test_what_has_made_its_pods_is_not_planned_again():
    pod = placed("w-0", "a")
    pod["metadata"]["ownerReferences"] = [OWNER]
    cluster = Cluster.of([*gpus("a"), template("t"), RAY, pod])
    assert len(cluster.allocate()) == 0
    assert [each["name"] for each in cluster.schedule().to_dict()["pods"]] == ["w-0"]


def unnamed(name: str) -> dict[str, Any]:
    """An object with one pod without claims, which nobody asks about."""
    made = custom("Anything", {"template": WITHOUT})
    made["metadata"] = {"name": name}
    return made


def names(pods: Iterable[Any]) -> list[str]:
    return [pod.name for pod in pods]


@pytest.mark.parametrize("name", ["raycluster/w", "w", "rayclusters.ray.io/w", "raycluster w", "default/w"])
def test_they_are_chosen_by_name_for_every_answer(name):
    cluster = Cluster.of([*gpus("a", each=5), *gpus("b", each=1), template("t"), RAY, unnamed("other")])
    of_w = ["w-headgroupspec-0", *(f"w-workergroupspecs-0-{index}" for index in range(4))]
    assert names(cluster.schedule(name)) == of_w
    assert len(names(cluster.schedule())) == 6
    assert cluster.place(name).to_dict()["pods"] == 5
    assert {each.owner.name for each in cluster.capacity(name)} == {"w"}
    assert len(cluster.allocate(name)) == 3
    fewer = cluster.without("Node/a")
    assert fewer.grow(name, like="b").to_dict()["pods"] == 5
    lost = cluster.diff(fewer, name).to_dict()["pods"]
    assert sorted(pod["name"] for pod in lost if pod["change"] == "Lost") == of_w[1:]


def test_a_job_between_them_and_their_pods_changes_nothing():
    """A JobSet makes Jobs, and these make pods; the name of the JobSet stands for all of them."""
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "w", "uid": "u-w", "controller": True}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "w-0", "uid": "u-j", "ownerReferences": [owner]},
    }
    job["spec"] = {"parallelism": 2, "template": WITH_CLAIM}
    made = placed("w-0-x", "a")
    made["metadata"]["ownerReferences"] = [
        {**owner, "apiVersion": "batch/v1", "kind": "Job", "name": "w-0", "uid": "u-j"}
    ]
    cluster = Cluster.of([*gpus("a"), template("t"), jobset(), job, made, unnamed("other")])
    assert names(cluster.schedule("jobset/w")) == ["w-0-x", "w-0-1"]


@pytest.mark.parametrize("word", ["Completed", "Succeeded", "Failed"])
def test_what_is_over_makes_no_pods(word):
    over = {**jobset(), "status": {"conditions": [{"type": word, "status": "True"}]}}
    cluster = Cluster.of([*gpus("a"), template("t"), over])
    assert len(cluster.allocate()) == 0
    assert cluster.schedule().to_dict()["pods"] == []


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"containers": [{"name": 5}]}, "Expected `str`, got `int`"),
        ({"containers": [{"name": "c", "resources": {"requests": {"cpu": "much"}}}]}, "a quantity cannot be read"),
    ],
)
def test_what_can_not_be_planned_is_said(spec, why):
    objects = [*gpus("a"), template("t"), custom("Anything", {"template": {"spec": spec}})]
    [warning] = Cluster.of(objects).schedule().to_dict()["warnings"]
    assert warning["code"] == "workload-not-planned"
    assert warning["object"] == "Anything w"
    assert warning["message"].startswith("spec.template looks like a pod template, but cannot be planned: ")
    assert why in warning["message"]


def clique(name: str, replicas: int) -> dict:
    containers = [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}]
    spec = {"containers": containers, "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "podSpec": spec}}


def clique_set(**template) -> dict:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"replicas": 2, "template": {"cliques": [clique("lead", 1), clique("work", 3)], **template}},
    }


def test_the_cliques_of_a_pod_clique_set():
    found = collect.workloads(clique_set())
    assert [(each.part, each.spec.replicas) for each in found] == [
        ("template.cliques[0]", 2),
        ("template.cliques[1]", 6),
    ]
    assert found[0].spec.template.spec.resource_claims[0].resource_claim_template_name == "one"


def test_cliques_in_scaling_groups_are_multiplied():
    found = collect.workloads(
        clique_set(podCliqueScalingGroups=[{"name": "g", "replicas": 4, "cliqueNames": ["work"]}])
    )
    assert [each.spec.replicas for each in found] == [2, 24]


@pytest.mark.parametrize("groups", [None, 3, [3], [{}], [{"cliqueNames": [[], {}, None]}], [{"cliqueNames": "work"}]])
def test_scaling_groups_of_the_wrong_form_change_nothing(groups):
    found = collect.workloads(clique_set(podCliqueScalingGroups=groups))
    assert [each.spec.replicas for each in found] == [2, 6]


def test_a_compute_domain_makes_the_template_that_its_pods_name():
    domain = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "imex", "namespace": "default"},
        "spec": {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": "one"}}},
    }
    objects = [domain, *gpus("a"), clique_set()]
    told = [one.message for one in Cluster.of(objects).allocate().document.warnings if one.code == "missing-template"]
    assert told
    assert all("the controller of ComputeDomain default/imex creates it in the cluster" in message for message in told)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}}
    pod["spec"] = clique("p", 1)["spec"]["podSpec"]
    found = validate([domain, template("other"), pod]).findings
    assert [(one.code, str(one.severity)) for one in found if "ResourceClaimTemplate" in one.message] == [
        ("DRA203", "info")
    ]
