"""`allocate` does not plan what runs already: workloads that have their pods, all of them placed."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.live import clusters


def owners(objects: list[dict]) -> list[str]:
    plan = Cluster.of(objects).allocate()
    return [each.name for each in plan]


def test_a_full_but_healthy_cluster_has_nothing_to_plan_but_the_claim_that_nobody_uses():
    assert owners(clusters.objects("3-running")) == ["ResourceClaim team-a/lonely"]


def test_of_workloads_only_those_are_planned_that_want_pods():
    """The ReplicaSet's pod is being deleted, and its successor waits; the StatefulSet and the Job have theirs."""
    assert owners(clusters.objects("5-mid-after")) == [
        "Pod team-a/gated",
        "Pod team-a/no-template",
        "Pod team-a/too-big",
        "Deployment team-a/infer",
        "ResourceClaim team-a/lonely",
    ]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
def test_the_pending_pod_of_a_workload_is_planned_with_it(kind):
    """Of a Deployment, whose ReplicaSet is not in the dump, as of a ReplicaSet."""
    always = ("Node", "Pod", "ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
    found = owners(clusters.objects("5-mid-after", only=(*always, kind)))
    assert [name for name in found if "infer" in name] == [
        "Deployment team-a/infer" if kind == "Deployment" else "ReplicaSet team-a/infer-7c9df9cf86"
    ]


def test_a_workload_that_lacks_a_pod_is_planned():
    objects = clusters.objects("3-running")
    [gone] = [o for o in objects if o["kind"] == "Pod" and o["metadata"]["name"] == "db-1"]
    objects.remove(gone)
    assert owners(objects) == ["StatefulSet team-a/db", "ResourceClaim team-a/lonely"]


def test_finished_jobs_are_not_planned():
    assert not any("Job x/once" in name for name in owners(clusters.objects("finished-job")))
