"""`schedule` on dumps of a real cluster says what the cluster then did."""

from __future__ import annotations

import pytest

from dra_plan import Cluster

from . import clusters

MOST_TIES = 10

ORDERS = {"order_by_name_or_time": "name"}
"""There the scheduler was started when all pods were there already."""


@pytest.mark.parametrize("name", clusters.names())
def test_the_cluster_did_what_is_said(name):
    """Where several nodes score highest, chance decides: the first pod that went elsewhere went to one of these.

    Then it is taken as it went, and the rest has to agree.
    """
    case = clusters.case(name)
    objects, expected = case["objects"], case["expected"]
    for _ in range(MOST_TIES):
        document = clusters.schedule(objects, order=ORDERS.get(name))
        other = clusters.difference(expected, document)
        if other is None:
            break
        [pod] = [pod for pod in document["pods"] if clusters.name_of_entry(pod) == other]
        [entry] = [entry for entry in expected["pods"] if entry["pod"] == other]
        assert entry["node"] in pod["bestNodes"], (pod, entry)
        said = [warning["object"] for warning in document["warnings"] if warning["code"] == "several-best-nodes"]
        assert f"Pod {other}" in said
        objects = clusters.placed(objects, expected, other)
    clusters.check(expected, document)


def test_pods_are_tried_as_they_came():
    """As the scheduler sees them that is there all the time: z came first, x last, and there is room for two."""
    document = clusters.schedule(clusters.objects("order_by_name_or_time"))
    assert {pod["name"]: pod["nodeName"] for pod in document["pods"]} == {"z": "n1", "y": "n1", "x": None}


@pytest.mark.parametrize("name", [name for name in clusters.names() if "then" in clusters.case(name)])
def test_a_pod_that_goes_makes_room(name):
    """Without room made by itself, the pod is bound as soon as somebody deletes the other one."""
    case = clusters.case(name)
    document = clusters.schedule(case["objects"], then=[case["then"]])
    clusters.check(case["later"], document)


def test_nothing_moves_in_a_cluster_at_rest():
    document = clusters.schedule(clusters.objects("3-running"))
    assert [pod for pod in document["pods"] if pod.get("attempts")] == []
    assert document["evictions"] == []


def test_finished_pods_hold_nothing():
    """With the API of the recordings, on request, they do."""
    objects = clusters.objects("finished_counts")
    assert Cluster.of(objects).schedule().outcome.unbound == []
    recorded = Cluster.of(objects).schedule(api_server="recorded")
    assert [record.pod.metadata.name for record in recorded.outcome.unbound] == ["next"]


def test_daemons_that_wait_are_known_by_the_node_that_their_affinity_names():
    document = clusters.schedule(clusters.objects("1-before", only=("Node", "Pod", "DaemonSet")))
    assert sorted(pod["name"] for pod in document["pods"] if pod["name"].startswith("agent-")) == [
        "agent-cdgrq",
        "agent-twbx5",
    ]


@pytest.mark.parametrize("kinds", [("Deployment",), ("ReplicaSet",), ("StatefulSet",), ("Job",), ("DaemonSet",)])
def test_workloads_get_no_second_pods(kinds):
    """Whichever of the controllers are in the dump: a Deployment's pods are known without their ReplicaSets."""
    always = ("Node", "Pod", "ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
    objects = clusters.objects("5-mid-after", only=(*always, *kinds))
    given = {clusters.name_of(obj) for obj in objects if obj["kind"] == "Pod"}
    document = clusters.schedule(objects)
    assert {clusters.name_of_entry(pod) for pod in document["pods"]} <= given


def test_finished_jobs_and_idle_cron_jobs_get_no_pods():
    objects = clusters.objects("finished-job")
    document = clusters.schedule(objects)
    assert {pod["name"] for pod in document["pods"]} == {o["metadata"]["name"] for o in objects if o["kind"] == "Pod"}


def test_without_the_pods_of_a_finished_job_none_are_made():
    document = clusters.schedule(clusters.objects("finished-job", without=("Pod", "Deployment", "ReplicaSet")))
    assert document["pods"] == []
