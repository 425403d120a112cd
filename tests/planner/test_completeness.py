"""What a dump lacks is said, with the command that brings it."""

from __future__ import annotations

import pytest

from dra_plan import Cluster
from tests.build import (
    allocation,
    claim,
    csi_node,
    gpus,
    mounts,
    node,
    on_csi,
    placed,
    pod,
    storage_class,
    template,
    used,
    volume_claim,
)
from tests.live import clusters

CODES = {
    "claims-missing",
    "slices-missing",
    "classes-missing",
    "priority-classes-missing",
    "disruption-budgets-missing",
    "volumes-missing",
    "pods-missing",
    "workload-not-planned",
}


def lacks(document: dict) -> dict[str, str]:
    """Code to message of the warnings about what is missing."""
    return {each["code"]: each["message"] for each in document["warnings"] if each["code"] in CODES}


def answers(objects: list[dict]) -> list[dict]:
    cluster = Cluster.of(objects)
    asked = [cluster.allocate(), cluster.explain(), cluster.schedule(), cluster.pools(), cluster.capacity(limit=1)]
    return [plan.to_dict() for plan in asked]


def test_nothing_is_said_of_a_whole_dump():
    for name in ("1-before", "3-running", "4-mid-pending", "5-mid-after"):
        for document in answers(clusters.objects(name)):
            assert lacks(document) == {}


@pytest.mark.parametrize(
    ("kind", "code", "command", "told"),
    [
        (
            "ResourceClaim",
            "claims-missing",
            "kubectl get resourceclaims -A -o yaml",
            "8 running pods use claims that are not in the input (team-a/db-0, team-a/db-1, ",
        ),
        ("ResourceSlice", "slices-missing", "kubectl get resourceslices -o yaml", "the input has no ResourceSlice"),
        (
            "DeviceClass",
            "classes-missing",
            "kubectl get deviceclasses -o yaml",
            "the input has no DeviceClass, and claims ask for gpu.example.com",
        ),
    ],
)
def test_a_kind_that_is_missing_is_said_with_its_command(kind, code, command, told):
    for document in answers(clusters.objects("4-mid-pending", without=(kind,))):
        assert list(lacks(document)) == [code]
        assert lacks(document)[code].startswith(told)
        assert lacks(document)[code].endswith(f": add the output of `{command}`")


def test_a_pool_that_claims_have_devices_of_is_missed():
    used_there = claim("c", status={"allocation": allocation("b", "gpu-0")})
    objects = [*gpus("a", "b"), used_there, template("t"), pod("q", templates={"x": "t"})]
    for document in answers(objects):
        assert lacks(document) == {}
    lacking = [each for each in objects if not (each["kind"] == "ResourceSlice" and each["spec"]["nodeName"] == "b")]
    for document in answers(lacking):
        assert lacks(document) == {
            "slices-missing": "claims have devices of pools without a ResourceSlice in the input (gpu.example.com/b),"
            " so the other devices of these pools are not known: add the output of `kubectl get resourceslices -o yaml`"
        }


def test_claims_of_finished_and_of_waiting_pods_are_not_missed():
    objects = [
        *gpus("a"),
        template("t"),
        placed("p", "a", claims={"x": "c"}, phase="Succeeded"),
        pod("q", templates={"x": "t"}),
    ]
    assert lacks(answers(objects)[2]) == {}
    running = [*gpus("a"), template("t"), placed("p", "a", templates={"x": "t"})]
    assert list(lacks(answers(running)[2])) == ["claims-missing"]
    made = claim("p-x-abcde")
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-p", "controller": True}
    ]
    assert lacks(answers([*running, made])[2]) == {}


def test_where_nothing_wants_devices_none_are_missed():
    assert lacks(Cluster.of([node("a"), pod("p")]).schedule().to_dict()) == {}


def test_evictions_without_disruption_budgets():
    """Other pods are evicted than in the cluster, which had a budget."""
    whole, lacking = (
        clusters.objects("4-mid-pending"),
        clusters.objects("4-mid-pending", without=("PodDisruptionBudget",)),
    )
    assert len({tuple(e["pod"] for e in clusters.schedule(each)["evictions"]) for each in (whole, lacking)}) == 2
    assert (
        "kubectl get poddisruptionbudgets -A -o yaml" in lacks(clusters.schedule(lacking))["disruption-budgets-missing"]
    )


def test_priorities_that_only_their_classes_know():
    """A pod of a cluster knows its priority; one of a manifest only names it."""
    objects = [node("a"), pod("p", priorityClassName="high"), pod("q", priorityClassName="system-node-critical")]
    assert lacks(answers(objects)[2])["priority-classes-missing"].startswith("PriorityClass high is not in the input")
    known = [node("a"), pod("p", priorityClassName="high", priority=7)]
    assert lacks(answers(known)[2]) == {}


def test_priorities_where_pods_are_evicted():
    """As with a dump of pods alone: whoever comes for those that go is made by its workload, and names the class."""
    lacking = clusters.schedule(clusters.objects("4-mid-pending", without=("PriorityClass", "PodDisruptionBudget")))
    assert list(lacks(lacking)) == ["priority-classes-missing", "disruption-budgets-missing"]
    assert "kubectl get priorityclasses -o yaml" in lacks(lacking)["priority-classes-missing"]


def test_warnings_about_others_do_not_stand_in_the_explanation_of_one():
    cluster = Cluster.of(clusters.objects("4-mid-pending", without=("ResourceSlice",)))
    assert any(each["object"] == "Pod team-a/no-template" for each in cluster.explain().to_dict()["warnings"])
    for plan in (cluster.explain("urgent-1"), cluster.allocate("urgent-1")):
        found = {each["code"]: each["object"] for each in plan.to_dict()["warnings"]}
        assert "Pod team-a/no-template" not in found.values()
        assert "slices-missing" in found
    own = cluster.explain("no-template").to_dict()["warnings"]
    assert "missing-template" in {each["code"] for each in own}


def test_volumes_of_pods_that_are_to_be_scheduled():
    """What claims on volumes need is missed where not one object of its kind is there."""
    running = [node("a"), placed("r", "a", volumes=mounts("other")), pod("q")]
    assert lacks(answers(running)[2]) == {}, "nobody asks"
    objects = [*running, pod("p", volumes=mounts("c", "d"))]
    assert lacks(answers(objects)[2]) == {
        "volumes-missing": "2 claims on volumes are used by pending pods (default/c, default/d), and "
        "the input has no PersistentVolumeClaim: add the output of `kubectl get persistentvolumeclaims -A -o yaml`"
    }
    objects += [volume_claim("c", bound="v"), volume_claim("d")]
    assert lacks(answers(objects)[2])["volumes-missing"].endswith(
        "and the input has no PersistentVolume and no StorageClass: add the output of "
        "`kubectl get persistentvolumes,storageclasses -o yaml`"
    )
    objects += [on_csi("v"), storage_class()]
    assert "`kubectl get csinodes -o yaml`" in lacks(answers(objects)[2])["volumes-missing"]
    assert lacks(answers([*objects, csi_node("a")])[2]) == {}


def reserved(name, where, device, user="away"):
    """A claim that is allocated for a pod which is not in the input."""
    return claim(name, status=used(where, device, user))


def moved(cluster):
    return {each["code"]: each["message"] for each in cluster.explain("wants", moves=1).to_dict()["warnings"]}


def test_pods_that_the_input_lacks_are_said_where_pods_leave():
    wants = pod("wants", claims={"gpu": "own"})
    objects = [*gpus("a", "b", each=1), claim("own"), reserved("held", "a", "gpu-0"), wants]
    cluster = Cluster.of(objects)
    for document in answers(objects):
        assert "pods-missing" not in lacks(document), "nobody has to leave"
    drained = lacks(cluster.drain("a").schedule().to_dict())["pods-missing"]
    assert drained.startswith(
        "claims are reserved for a pod not in the input (default/away): the effect of the drain on it"
    )
    assert "kubectl get pods -A -o yaml" in drained
    assert "pods-missing" not in lacks(cluster.drain("b").schedule().to_dict()), "the pod is on another node"
    assert "pods-missing" in lacks(cluster.diff(cluster.drain("a")).to_dict())
    assert "pods-missing" in lacks(cluster.drain_each().to_dict())
    assert "pods-missing" not in lacks(cluster.drain_each(nodes="b").to_dict())
    assert "pods-missing" not in moved(cluster), "it fits without a move"
    assert "pods-missing" in moved(cluster.cordon("b"))
    assert "pods-missing" not in lacks(Cluster.of([*objects, placed("away", "a")]).drain("a").schedule().to_dict())


def test_devices_of_pods_that_the_input_lacks_stay_in_use():
    cluster = Cluster.of([*gpus("a", each=1), reserved("held", "a", "gpu-0")]).drain("a")
    assert [claim.allocation is not None for claim in cluster.inventory.claims] == [True]


def test_a_pod_whose_devices_several_nodes_reach_may_be_on_any_of_them():
    shared = reserved("held", "a", "gpu-0")
    del shared["status"]["allocation"]["nodeSelector"]
    objects = [*gpus("a", "b", each=1), shared]
    assert "pods-missing" in lacks(Cluster.of(objects).drain("b").schedule().to_dict())
    zone = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}
    shared["status"]["allocation"]["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
    assert "pods-missing" in lacks(Cluster.of(objects).drain("b").schedule().to_dict())
    assert "pods-missing" not in lacks(Cluster.of(objects).drain("a").schedule().to_dict())
