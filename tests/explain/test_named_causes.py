"""Causes that the input names: what really is missing, who makes it again, and what is shared."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    GPU,
    Object,
    allocated,
    claim,
    device,
    device_class,
    mounts,
    node,
    owned_by,
    pod,
    request,
    running,
    slice_,
    storage_class,
    taint,
    template,
    volume,
    volume_claim,
    workload,
)
from tests.explain.apply import applied


def text(objects: list[Object], owner: str = "pod/p", **options: Any) -> str:
    return " ".join(str(Cluster.of(objects, **options).explain(owner)).split())


# -- classes of devices ------------------------------------------------------------------------------------------------


def test_a_missing_device_class_is_no_error_of_the_scheduler() -> None:
    cluster = [node("a"), slice_("a", "gpu-0"), device_class(), claim("c", request(of="nobody.example.com"))]
    held = [*cluster, pod("p", claims={"g": "c"})]
    assert [each["outcome"] for each in Cluster.of(held).schedule().to_dict()["pods"]] == ["Unschedulable"]
    assert "a: the pod does not fit. ResourceClaim default/c" in text(held)
    lone = text(cluster, "resourceclaim/c")
    assert lone.startswith(
        "resourceclaim/default/c: unschedulable until its device class exists. a: the claim does not"
    )
    assert "error" not in text(held) + lone


def test_a_selector_that_fails_is_one() -> None:
    wrong = claim("c", request("r", 'device.attributes["x"].y == 1'))
    objects = [node("a"), slice_("a", "gpu-0"), device_class(), wrong, pod("p", claims={"g": "c"})]
    assert "the scheduler stops with an error" in text(objects)


# -- volumes -----------------------------------------------------------------------------------------------------------

CLASSES = [storage_class("fast"), storage_class("slow")]
MOUNTING = [node("a"), pod("p", volumes=mounts("data"))]


def test_a_missing_claim_is_known_to_be_missing_if_other_storage_objects_are_there() -> None:
    told = Cluster.of([*MOUNTING, *CLASSES]).explain("pod/p")
    assert told.verdict == "Unschedulable"
    assert "PersistentVolumeClaim data does not exist." in str(told)
    assert Cluster.of([*MOUNTING, volume("v")]).explain("pod/p").verdict == "Unschedulable"


@pytest.mark.parametrize(
    ("there", "absent"),
    [
        ([], "no PersistentVolumeClaims, PersistentVolumes or StorageClasses."),
        ([volume("v", phase="Bound")], "no PersistentVolumeClaims or StorageClasses."),
        ([*CLASSES, running("w", "a", volumes=mounts("x"))], "no PersistentVolumeClaims or PersistentVolumes."),
        ([*CLASSES, volume("v", phase="Bound")], "no PersistentVolumeClaims."),
    ],
)
def test_only_kinds_that_are_missing_are_said_to_be(there: list[Object], absent: str) -> None:
    told = Cluster.of([*MOUNTING, *there]).explain("pod/p")
    assert told.verdict == "Unknown"
    assert absent in " ".join(str(told).split())


def of_stateful_set(storage: str, *objects: Object) -> str:
    made = workload("StatefulSet", "db", pod("-"), volumeClaimTemplates=[volume_claim("data", of=storage)])
    member = owned_by(pod("db-0", volumes=mounts("data-db-0")), "StatefulSet", "db")
    return text([node("a"), *CLASSES, made, member, *objects], "pod/db-0")


def test_a_stateful_set_creates_the_claim_with_the_class_of_its_template() -> None:
    gone = of_stateful_set("fat")
    assert (
        "data-db-0 does not exist. StatefulSet db creates it from its volumeClaimTemplates, with StorageClass" in gone
    )
    assert "fat, which is missing. Create this class. To use another one, delete the StatefulSet (with" in gone
    stays = of_stateful_set("fat", volume_claim("data-db-0", of="fat"))
    assert "StorageClass fat does not exist. Did you mean fast?" in stays
    assert "delete the claim and the StatefulSet (with --cascade=orphan, which keeps the pods)" in stays


def test_a_stateful_set_with_a_good_class_only_creates_the_claim() -> None:
    sibling = volume_claim("data-db-1", of="fast")
    gone = of_stateful_set("fast", sibling)
    assert "data-db-0 does not exist. StatefulSet db creates it from its volumeClaimTemplates. " in gone
    assert "cascade" not in gone
    changed = of_stateful_set("fast", volume_claim("data-db-0", of="fat"))
    assert "create this class, or create the claim again with another." in changed
    assert "cascade" not in changed


# -- one claim for all replicas ----------------------------------------------------------------------------------------


def sharing(*more: Object, kind: str = "Deployment", replicas: int = 2, **options: Any) -> list[Object]:
    """The claim of all replicas is on node a, whose cpu is in use; node b has free devices."""
    shape = pod("-", claims={"g": "c"}, cpu="3")
    pending = owned_by(pod("p", claims={"g": "c"}, cpu="3"), kind, "w")
    first = owned_by(running("first", "a", claims={"g": "c"}, cpu="3"), kind, "w")
    held = allocated("c", "a/gpu-0", pod="first", on="a")
    held["spec"] = claim("c", request(), **options)["spec"]
    controller = workload(kind, "w", shape, replicas=replicas)
    nodes = [node("a", cpu="4"), node("b", cpu="4")]
    slices = [slice_("a", "gpu-0", "gpu-1"), slice_("b", "gpu-0", "gpu-1")]
    return [*nodes, *slices, device_class(), controller, first, pending, held, *more]


def suggested(objects: list[Object]) -> list[dict[str, Any]]:
    [found] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    changes = [change for each in found.get("suggestions", []) for change in each["changes"]]
    return [change for change in changes if change["code"] == "use-claim-template"]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_replicas_that_share_one_claim_are_told_so_and_of_a_template(kind: str) -> None:
    said = text(sharing(kind=kind))
    shared = f"The 2 pods of {kind.lower()} w all name claim c, so they share its devices, and can run only on a."
    assert shared in said
    assert "1. give each pod its own claim: create ResourceClaimTemplate c with the spec of claim default/c" in said
    assert "(resourceClaimTemplateName) (the pod then fits on b)" in said


def test_the_template_is_tried_and_its_patches_can_be_applied() -> None:
    objects = sharing()
    [change] = suggested(objects)
    changed = applied(objects, [change])
    assert Cluster.of(changed).explain("pod/p").verdict == "WouldBind"
    [tried] = [
        one
        for one in Cluster.of(objects).explain("pod/p").to_dict()["verdicts"][0]["suggestions"]
        if one["changes"] == [change]
    ]
    made, edited = tried["patches"]
    [creation] = made["patch"]
    assert (creation["op"], creation["path"], creation["value"]["kind"]) == ("add", "", "ResourceClaimTemplate")
    entry = {"name": "g", "resourceClaimTemplateName": "c"}
    assert edited["patch"] == [{"op": "replace", "path": "/spec/resourceClaims/0", "value": entry}]
    assert edited["recreate"]


def test_a_template_that_would_not_help_is_not_suggested() -> None:
    taken = [allocated(f"o{at}", f"b/gpu-{at}", pod="other") for at in range(2)]
    objects = sharing(*taken, running("other", "b", cpu="1", claims={"x": "o0", "y": "o1"}))
    assert suggested(objects) == []
    assert "all name claim c" in text(objects)


def test_a_name_that_is_taken_is_not_used_for_the_template() -> None:
    objects = sharing(template("c", request(count=2)))
    assert [change["template"] for change in suggested(objects)] == ["c-of-each-pod"]


def test_a_template_with_the_same_spec_is_used() -> None:
    others = [template("a", request(), namespace="other"), template("b", request("x"))]
    objects = sharing(template("t", request()), template("u", request()), *others)
    [change] = suggested(objects)
    assert (change["template"], change["exists"]) == ("t", True)
    assert "use ResourceClaimTemplate t, which has the spec of claim default/c, and name it in the pods" in text(
        objects
    )
    assert Cluster.of(applied(objects, [change])).explain("pod/p").verdict == "WouldBind"


def test_one_replica_shares_nothing() -> None:
    objects = [one for one in sharing(replicas=1) if one["metadata"]["name"] != "first"]
    assert "all name claim" not in text(objects)
    assert suggested(objects) == []


def test_pods_of_a_controller_that_is_not_in_the_input() -> None:
    objects = [one for one in sharing() if one["kind"] != "Deployment"]
    assert "The 2 pods of deployment w all name claim c" in text(objects)


def test_pods_of_different_controllers_may_share_a_claim_on_purpose() -> None:
    objects = [one for one in sharing(replicas=1) if one["metadata"]["name"] != "first"]
    other = owned_by(running("first", "a", claims={"g": "c"}, cpu="3"), "Deployment", "another")
    assert "all name claim" not in text([*objects, other])


# -- extended resources ------------------------------------------------------------------------------------------------


def extended(*, of: str = "x.io/gpu", **amounts: str) -> list[Object]:
    nodes = [node("a"), node("b")]
    nodes[0]["status"]["allocatable"] |= amounts
    served = device_class(extendedResourceName=of)
    return [*nodes, slice_("a", "gpu-0"), served, pod("p", requests={"x.io/gpu": "1"})]


def test_the_gate_is_named_that_keeps_a_class_from_serving_a_resource() -> None:
    off = text(extended(), kubernetes_version="1.35")
    assert f"Class {GPU} would serve x.io/gpu, but feature gate DRAExtendedResource is off." in off
    assert "If this gate is on in the cluster, add --feature-gates DRAExtendedResource=true." in off
    on = Cluster.of(extended(), kubernetes_version="1.35", feature_gates={"DRAExtendedResource": True})
    assert on.explain("pod/p").verdict == "WouldBind"
    other = text(extended(of="x.io/other"), kubernetes_version="1.35")
    assert "x.io/gpu: needs 1, the node has none" in other
    assert "No device class serves x.io/gpu." in other  # that no node has it is said once
    assert "DRAExtendedResource" not in other


def test_a_node_that_advertises_zero_is_named() -> None:
    said = text(extended(of="x.io/other", **{"x.io/gpu": "0"}))
    assert "No device class serves x.io/gpu, and a advertises 0 of it." in said
    assert "1 node advertises it" in text(extended(of="x.io/other", **{"x.io/gpu": "1"}))


# -- namespaces --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["default", "other"])
def test_an_object_of_another_namespace_refutes_a_listing_of_one(there: str) -> None:
    """The verdict stays partial: the pods of other namespaces may be missing all the same."""
    listed = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    objects = [node("a", metadata=listed), pod("p", metadata=listed), template("t", request(), namespace=there)]
    answer = Cluster.of(objects).explain("pod/p").to_dict()
    [told] = [one["message"] for one in answer["warnings"] if one["code"] == "one-namespace"]
    assert ("as after `kubectl get` without -A" in told) == (there == "default")
    assert ("of pods in other namespaces, if there are any, count as free" in told) == (there == "other")
    assert answer["verdicts"][0]["partial"] == ["pods", "resourceclaims"]


# -- nodes that are not ready, and queues ------------------------------------------------------------------------------

NETWORK = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin "


def unready(name: str, message: str, status: str = "False") -> Object:
    made = node(name, spec={"taints": [taint("node.kubernetes.io/not-ready")]})
    made["status"]["conditions"] = [{"type": "Ready", "status": status, "message": message}]
    return made


def test_a_node_that_is_not_ready_comes_with_its_kubelets_reason() -> None:
    one = text([unready("a", NETWORK + "returns error: cni plugin not initialized"), pod("p")])
    assert "(the node is not ready: Network plugin returns error: cni plugin not initialized)" in one
    assert "(the node is not ready: PLEG is not healthy)" in text([unready("a", "PLEG is not healthy"), pod("p")])
    assert "(the node is not ready)" in text([unready("a", "x"), unready("b", "y"), pod("p")])
    assert "(the node is not ready)" in text([unready("a", "kubelet is posting ready status", "True"), pod("p")])
    assert "(the node is not ready)" in text([unready("a", ""), pod("p")])


def test_a_pod_that_kueue_holds_names_its_queue() -> None:
    gates = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    label = {"kueue.x-k8s.io/queue-name": "users"}
    said = text([node("a"), pod("p", labels=label, **gates)])
    assert "gate kueue.x-k8s.io/admission, until Kueue admits it from local queue users." in said
    assert "If there is no such LocalQueue in namespace default, it is never admitted" in said
    assert "LocalQueue" not in text([node("a"), pod("p", **gates)])
    other = {"schedulingGates": [{"name": "example.com/later"}]}
    assert "queue" not in text([node("a"), pod("p", labels=label, **other)])


# -- several capacities of a device that is requested as a whole -------------------------------------------------------


def shared_device(amounts: dict[str, str] | None = None, *, memory: str = "6Gi") -> list[Object]:
    """A device of 100 cores and 48Gi, of which another pod has a part."""
    whole = device("gpu-0", capacity={"cores": "100", "memory": "48Gi"}, allowMultipleAllocations=True)
    consumed = {"cores": "10", "memory": memory}
    held = allocated("old", "a/gpu-0", pod="w", consumedCapacity=consumed, shareID="0000")
    asked = request("r", **({"capacity": {"requests": amounts}} if amounts else {}))
    users = [running("w", "a", claims={"g": "old"}), pod("p", claims={"g": "c"})]
    return [node("a"), device_class(), slice_("a", whole), held, claim("c", asked), *users]


def requested(objects: list[Object]) -> list[Object]:
    [verdict] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    changes = [change for one in verdict["suggestions"] for change in one["changes"]]
    return [change for change in changes if change["code"] in ("request-capacity", "lower-capacity")]


def test_every_capacity_that_is_short_is_requested() -> None:
    objects = shared_device()
    [change] = requested(objects)
    assert (change["capacity"], change["to"], change["also"]) == ("cores", "90", {"memory": "42Gi"})
    assert Cluster.of(applied(objects, [change])).explain("pod/p").verdict == "WouldBind"
    more = {**change, "also": {"memory": "43Gi"}}
    assert Cluster.of(applied(objects, [more])).explain("pod/p").verdict == "Unschedulable"
    told = "ask for 90 of cores and 42Gi of memory, not for all that a device has, in request r of claim c"
    assert told in " ".join(str(Cluster.of(objects).explain("pod/p")).split())


def test_capacities_that_are_not_short_or_used_up() -> None:
    [change] = requested(shared_device(memory="0"))
    assert "also" not in change
    assert requested(shared_device(memory="48Gi")) == []  # no memory is left
    assert [each.get("also") for each in requested(shared_device({"memory": "20Gi"}))] == [None]
