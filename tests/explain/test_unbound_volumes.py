"""Claims that no volume is bound to, at once or at all: why, and which volume comes closest."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.explain.owners import NOT_OF_NODES
from tests.build import (
    HOST,
    WAIT,
    Object,
    csi_driver,
    mounts,
    node,
    on_csi,
    owned_by,
    placed,
    pod,
    storage_capacity,
    storage_class,
    taint,
    volume,
    volume_claim,
    workload,
)

from .apply import applied
from .json_patch import patched

STATIC = storage_class("nfs", "kubernetes.io/no-provisioner", "Immediate")
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


def said(*objects: Object, claim: Object | None = None) -> str:
    claims = [claim if claim is not None else volume_claim("data", "500Gi", of="nfs")]
    told = Cluster.of([node("a"), pod("p", volumes=mounts("data")), *claims, *objects]).explain("pod/p")
    assert told.verdict == "Unschedulable"
    return " ".join(str(told).split())


def static(size: str = "500Gi", **options: Any) -> Object:
    return volume("share", size, of="nfs", **options)


def test_a_volume_that_matches_is_bound_by_the_volume_controller() -> None:
    assert "but volume share matches: the volume controller binds it." in said(STATIC, static())
    assert "but volume share matches" in said(STATIC, static(), static("1Ti", metadata={"name": "larger"}))


def test_a_volume_reserved_for_this_very_claim_matches_in_any_phase() -> None:
    own = {"claimRef": {"namespace": "default", "name": "data", "uid": "u-data"}}
    assert "but volume share matches" in said(STATIC, static(phase="Pending", **own))


@pytest.mark.parametrize(
    ("offered", "why"),
    [
        (static("100Gi"), "it has 100Gi, and the claim requests 500Gi."),
        (static(accessModes=["ReadOnlyMany"]), "it lacks an access mode of the claim."),
        (static(volumeMode="Block"), "its volumeMode or volumeAttributesClassName differs."),
        (static(phase="Failed"), "its phase is Failed, not Available."),
        (static(claimRef={"namespace": "b", "name": "c", "uid": "x"}, phase="Bound"), "it is reserved for claim b/c."),
        (
            static("100Gi", accessModes=["ReadOnlyMany"]),
            "it has 100Gi, and the claim requests 500Gi; it lacks an access mode of the claim.",
        ),
    ],
)
def test_each_fault_of_a_volume_is_named(offered: Object, why: str) -> None:
    told = said(STATIC, offered)
    assert "has no volume, and StorageClass nfs creates none." in told
    assert f"Volume share does not match: {why}" in told
    assert NOT_OF_NODES in told


def test_a_released_volume_of_a_deleted_claim_of_the_same_name() -> None:
    old = {"namespace": "default", "name": "data", "uid": "older"}
    told = said(STATIC, static(claimRef=old, phase="Released"))
    assert "it is Released, and still reserved for a deleted claim with the same name (uid older)." in told
    assert "remove spec.claimRef: kubectl patch pv share --type json -p" in told
    for other in ({"name": "other"}, {"namespace": "other"}):
        assert "remove spec.claimRef" not in said(STATIC, static(claimRef={**old, **other}, phase="Released"))


OLD = {"namespace": "default", "name": "data", "uid": "older"}
OWN = "which matches: the volume controller binds it."
FREED = "remove spec.claimRef: kubectl patch pv share --type json -p '[{"


@pytest.mark.parametrize(
    ("offered", "why"),
    [
        (static(), OWN),
        (static(claimRef={**OLD, "uid": "u-data"}), OWN),
        (static(claimRef={**OLD, "uid": ""}, phase="Failed", accessModes=["ReadOnlyMany"]), OWN),
        (static(labels={"a": "b"}, phase="Pending"), OWN),
        (static(claimRef=OLD, phase="Released"), FREED),
        (static(claimRef=OLD, phase="Bound"), "reserved for an earlier claim with the same name (uid older)."),
        (static(claimRef={**OLD, "name": "b"}, phase="Released"), "still reserved for deleted claim default/b."),
        (static("1Gi"), "and is not bound to it: it has 1Gi, and the claim requests 500Gi."),
        (static(accessModes=["ReadOnlyMany"]), "and is not bound to it: it lacks an access mode of the claim."),
        (volume("share", "500Gi", of="x"), "its class is StorageClass x, and that of the claim StorageClass nfs."),
        (volume("share", "500Gi", of=""), "its class is none, and that of the claim StorageClass nfs."),
        (volume("other", of="nfs"), "its volume share does not exist."),
        (static("1Gi", zone="z"), "Volume share can only be used on nodes with topology.kubernetes.io/zone=z, and"),
    ],
)
def test_a_claim_that_names_its_volume_and_is_not_bound_to_it(offered: Object, why: str) -> None:
    """Of the volume that a claim names, neither the labels nor the phase count."""
    named = volume_claim(
        "data", "500Gi", of="nfs", spec={"volumeName": "share", "selector": {"matchLabels": {"c": "d"}}}
    )
    told = said(STATIC, offered, claim=named)
    assert why in told
    assert (FREED in told) == (offered["spec"].get("claimRef") == OLD)


@pytest.mark.parametrize("way", ["named", "matching", "waiting", "on the full node", "two"])
def test_a_volume_of_a_deleted_claim_is_freed_for_the_new_one(way: str) -> None:
    """Tried as the volume controller does it; the patches and the change itself lead to the same node."""
    on = "full" if way == "on the full node" else "a"
    offered = static(claimRef=OLD, phase="Released", on=on)
    named = {} if way in ("matching", "waiting") else {"volumeName": "share"}
    by = storage_class("nfs", "kubernetes.io/no-provisioner", WAIT if way == "waiting" else "Immediate")
    claims = [volume_claim("data", "500Gi", of="nfs", spec=named)]
    claims += [volume_claim("second", of="nfs")] if way == "two" else []
    waiting = pod("p", volumes=mounts(*(one["metadata"]["name"] for one in claims)))
    objects = [node("0"), node("a"), node("full", cpu="0"), by, offered, *claims, waiting]
    told = Cluster.of(objects).explain("pod/p")
    suggestions = told.to_dict()["verdicts"][0].get("suggestions", [])
    if way in ("on the full node", "two"):
        assert not suggestions
        return
    [one] = suggestions
    assert one["changes"] == [{"code": "free-volume", "volume": "share", "namespace": "default", "for": "data"}]
    assert one["node"] == "a"
    assert "1. remove spec.claimRef from PersistentVolume share, if claim default/data may use its data" in str(told)
    for after in (patched(objects, one["patches"]), applied(objects, one["changes"])):
        then = Cluster.of(after).explain("pod/p")
        assert str(then).startswith("pod/default/p would be bound to a now.")


GONE = volume("gone", "200Gi", of="local", on="old", phase="Bound", claimRef={**OLD, "uid": "u-data"})
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
ANEW = "delete claim and pod and create them again"


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ([storage_class("local")], f"If it is gone for good, {ANEW} (a StatefulSet does): the new claim gets an empty"),
        (
            [LOCAL],
            "no volumes (kubernetes.io/no-provisioner), and no free PersistentVolume matches the claim: if it is ",
        ),
        ([LOCAL, volume("free", "200Gi", of="local", on="b")], "create one of at least 200Gi first; then delete"),
        ([LOCAL, volume("free", "100Gi", of="local", on="a")], "create one of at least 200Gi first; then delete"),
        ([LOCAL, volume("free", "200Gi", of="x", on="a")], "create one of at least 200Gi first; then delete"),
        ([LOCAL, volume("free", "200Gi", of="local", on="a", phase="Released")], "create one of at least 200Gi first"),
        ([LOCAL, volume("free", "200Gi", of="local", on="a")], f"{ANEW} (a StatefulSet does): the new claim gets vol"),
        ([storage_class("local", "d.example", "Immediate", {"zone": ["z"]})], "no node is in the allowedTopologies of"),
        ([storage_class("other")], f"create StorageClass local first, which does not exist; then {ANEW}"),
        ([], f"{ANEW} (a StatefulSet does), if StorageClass local creates volumes."),
    ],
)
def test_a_claim_is_created_again_only_if_it_then_gets_a_volume(objects: list[Object], why: str) -> None:
    claim = volume_claim("data", "200Gi", of="local", bound="gone")
    told = said(GONE, *objects, claim=claim)
    assert "and there is no such node. Bring it back, or add one." in told
    assert why in told
    assert f"{ANEW} (a StatefulSet does): the new claim gets" not in told or why.startswith(("If it is", ANEW))


def test_the_closest_volumes_come_first_and_the_others_are_left_out() -> None:
    offered = [volume(f"v{size}", f"{size}Gi", of="nfs", phase="Bound") for size in (7, 500, 6, 600)]
    told = said(STATIC, *offered)
    assert [name for name in ("v500", "v600", "v6", "v7") if f"Volume {name} does" in told] == ["v500", "v600"]


def test_a_claim_without_a_class() -> None:
    claim = volume_claim("data", of=None)
    ceph = storage_class("ceph", mode="Immediate")
    none = said(ceph, claim=claim)
    assert "names no StorageClass, and none is the default (the input has ceph)." in none
    assert "Make one the default, or create claim data again with storageClassName ceph." in none
    assert "until the problem above is fixed" in none
    others = [storage_class(f"c{at}") for at in range(3)]
    assert "again with one of them as storageClassName." in said(ceph, *others, claim=claim)
    ceph["metadata"]["annotations"] = DEFAULT
    assert "the volume controller gives it the default, ceph." in said(ceph, claim=claim)
    assert "the default" not in said(ceph, claim=volume_claim("data", of=""))


def test_after_a_class_is_made_the_default_the_result_with_it_is_known() -> None:
    claim = volume_claim("data", of=None)
    waits = storage_class("ceph")
    waits["metadata"]["annotations"] = DEFAULT
    told = said(waits, claim=claim)
    assert (
        "gives it the default, ceph. This takes up to a minute. With StorageClass ceph, it would be bound to a" in told
    )
    assert "the problem above" not in told
    waits["volumeBindingMode"] = "Immediate"
    assert "With StorageClass ceph, no node could take it (0 of 1)" in said(waits, claim=claim)
    waits |= {
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [ELSEWHERE]}],
    }
    assert "With StorageClass ceph, no node could take it (0 of 1)" in said(waits, claim=claim)


ELSEWHERE = {"key": HOST, "values": ["b"]}


def test_of_several_default_classes_the_newest_counts() -> None:
    made = [storage_class(name, mode="Immediate") for name in ("one", "two")]
    for each, year in zip(made, ("2025", "2026"), strict=True):
        each["metadata"] |= {"annotations": DEFAULT, "creationTimestamp": f"{year}-01-01T00:00:00Z"}
    claim = volume_claim("data", of=None)
    assert "gives it the default, two." in said(*made, claim=claim)
    assert "gives it the default, two." in said(*reversed(made), claim=claim)


def test_a_class_that_creates_volumes_is_left_to_its_provisioner() -> None:
    told = said(storage_class("nfs", mode="Immediate"), static("100Gi"))
    assert (
        "has to create it (StorageClass nfs). Volume share does not match: it has 100Gi, and the claim requests" in told
    )
    assert "Its messages: kubectl describe pvc data -n default" in told
    of_other = static(claimRef={"namespace": "b", "name": "c", "uid": "x"}, phase="Bound")
    assert "Volume share" not in said(storage_class("nfs", mode="Immediate"), of_other)


def test_free_space_is_told_beside_what_the_claim_needs() -> None:
    def there(name: str, size: str, **rest: Any) -> Object:
        return storage_capacity(f"c-{name}-{size.lower()}", size, topology={"matchLabels": {HOST: name}}, **rest)

    published = [there("a", "290Gi"), there("b", "900Gi", most="5Gi"), there("a", "300Gi", of="other")]
    objects = [node("a"), node("b"), node("c", spec={"taints": [taint("t")]}), storage_class(), csi_driver()]
    claims = [volume_claim("data", "700Gi"), volume_claim("small", "1Gi")]
    told = Cluster.of([*objects, *claims, *published, pod("p", volumes=mounts("data", "small"))]).explain("pod/p")
    assert "2 nodes (a, b): claim data: needs 700Gi of storage, at most 290Gi free\n" in str(told)
    assert "PersistentVolumeClaim" not in str(told)
    [reason] = told.to_dict()["verdicts"][0]["nodes"][0]["reasons"]
    [about] = reason["about"]
    assert [about[key] for key in ("resource", "need", "left", "leftFrom")] == ["storage", "700Gi", "290Gi", "5Gi"]


def provisioner(name: str, state: str = "", *, of: str = "rbd", sidecar: str = "csi-provisioner") -> Object:
    """A pod of a driver's controller; `state` is why its provisioner waits."""
    own = {"name": of, "image": f"quay.io/csi/{of}:v1"}
    made = placed(name, "a", namespace=f"{of}-ceph", containers=[own, {"name": sidecar, "image": "registry/x:v1"}])
    waiting = {"name": sidecar, "state": {"waiting": {"reason": state}}}
    waiting["lastState"] = {"terminated": {"exitCode": 7}}
    made["status"] |= {"containerStatuses": [waiting], "conditions": [{"type": "Ready", "status": "False"}]}
    return made if state else placed(name, "a", namespace=f"{of}-ceph", containers=made["spec"]["containers"])


UNREADY = provisioner("p-1", "CrashLoopBackOff")
CRASHES = (
    "Container csi-provisioner of its pod rbd-ceph/p-1 crashes (its last run ended with exit code 7): "
    "kubectl logs -n rbd-ceph p-1 -c csi-provisioner --previous"
)
MESSAGES = "Its messages: kubectl describe pvc data -n default"


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        ([UNREADY], CRASHES),
        (
            [UNREADY, provisioner("p-0", "CrashLoopBackOff")],
            "None of its pods is ready. Container csi-provisioner of its pod rbd-ceph/p-0",
        ),
        ([UNREADY, provisioner("p-2")], MESSAGES),  # one is enough
        ([UNREADY, provisioner("p-2", of="cephfs")], CRASHES),
        ([provisioner("p-1", "CrashLoopBackOff", of="cephfs")], MESSAGES),
        ([provisioner("p-1", "CrashLoopBackOff", sidecar="csi-attacher")], MESSAGES),
        ([provisioner("p-1", "ErrImagePull")], "of its pod rbd-ceph/p-1 does not start (ErrImagePull)."),
        ([{**UNREADY, "status": {"phase": "Failed"}}], MESSAGES),
        ([{**UNREADY, "status": {"phase": "Pending"}}], "Its pod rbd-ceph/p-1 on a is not ready."),
        ([pod("p-1", namespace="rbd-ceph", containers=UNREADY["spec"]["containers"])], "Its pod rbd-ceph/p-1 is Pend"),
    ],
)
@pytest.mark.parametrize("is_chosen", [False, True])
def test_a_claim_that_waits_for_its_provisioner_names_its_pods(pods: list[Object], why: str, is_chosen: bool) -> None:
    """A pod is the provisioner's if all telling parts of the provisioner's name are in its names or images."""
    by = storage_class("nfs", "rbd.csi.ceph.com", WAIT if is_chosen else "Immediate")
    chosen = {"annotations": {"volume.kubernetes.io/selected-node": "a"}} if is_chosen else {}
    claim = volume_claim("data", of="nfs", metadata=chosen)
    waiting = pod("p", volumes=mounts("data"))
    told = " ".join(str(Cluster.of([node("a"), by, claim, waiting, *pods]).explain("pod/p")).split())
    assert (
        f"provisioner rbd.csi.ceph.com has to create {'its volume for a' if is_chosen else 'it (StorageClass'}" in told
    )
    assert why in told


PREBIND = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'


@pytest.mark.parametrize("of", ["pod/p", "statefulset/db"])
@pytest.mark.parametrize(
    ("replicas", "others", "chosen", "why"),
    [
        (0, [], "a", "Deployment rbd-ceph/rbd has 0 replicas: kubectl scale deployment rbd -n rbd-ceph --replicas=1"),
        (2, [placed("x", "a", namespace="rbd-ceph")], "", "Deployment rbd-ceph/rbd should have 2 pods, and has none."),
        (2, [], "a", MESSAGES),  # its pods may not have been listed
        (0, [provisioner("p-1")], "a", MESSAGES),
        (0, [UNREADY], "a", CRASHES),
        (None, [], "", MESSAGES),
    ],
)
def test_a_pod_that_was_not_bound_in_time_waits_for_its_volume(
    of: str, replicas: int | None, others: list[Object], chosen: str, why: str
) -> None:
    """The scheduler's PreBind gave up: the pod fits, and would not have run. A bound claim is not waited for."""
    by = storage_class("nfs", "rbd.csi.ceph.com", WAIT)
    node_chosen = {"annotations": {"volume.kubernetes.io/selected-node": chosen}} if chosen else {}
    claim = volume_claim("data", of="nfs", metadata=node_chosen)
    last = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": PREBIND}
    waiting = owned_by(
        pod("p", volumes=mounts("data"), status={"phase": "Pending", "conditions": [last]}), "StatefulSet", "db"
    )
    objects = [node("a"), by, waiting, workload("StatefulSet", "db", waiting, replicas=1), *others]
    if replicas is not None:
        shape = pod("x", containers=UNREADY["spec"]["containers"])
        objects.append(workload("Deployment", "rbd", shape, replicas=replicas) | {"metadata": RBD})
    told = " ".join(str(Cluster.of([*objects, claim]).explain(of)).split())
    assert "would be bound" in told.partition("once its volumes exist")[0]
    assert why in told
    assert "now" not in told
    bound = [volume("v", of="nfs"), volume_claim("data", of="nfs", bound="v")]
    told = " ".join(str(Cluster.of([*objects, *bound]).explain(of)).split())
    assert "volumes exist" not in told
    assert f"{PREBIND}. It would fit now." in told or of != "pod/p"


RBD = {"name": "rbd", "namespace": "rbd-ceph"}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("file.csi.azure.com", "csi-azurefile-controller"),
        ("disk.csi.azure.com", "csi-azuredisk-controller"),
        ("ebs.csi.aws.com", "aws-ebs-csi"),
        ("kubernetes.io/aws-ebs", "aws-ebs-csi"),
        ("driver.longhorn.io", "longhorn-system"),
        ("rancher.io/local-path", "rancher-local-path"),
        ("cluster.local/nfs-subdir-external-provisioner", "nfs-subdir-external-provisioner"),
        ("pd.csi.storage.gke.io", ""),
        ("csi.example.com", ""),
    ],
)
def test_the_pods_of_well_known_provisioners(name: str, own: str) -> None:
    every = ["csi-azurefile-controller", "csi-azuredisk-controller", "aws-ebs-csi", "longhorn-system", "gke-pd-csi"]
    every += ["rancher-local-path", "nfs-subdir-external-provisioner"]
    pods = [provisioner(f"p-{one}", "CrashLoopBackOff", of=one) for one in every]
    told = said(storage_class("nfs", name, "Immediate"), *pods)
    assert re.findall(r"Container csi-provisioner of its pod (\S+?)-ceph/", told) == ([own] if own else [])


@pytest.mark.parametrize("fits", [True, False])
def test_limits_of_volumes_that_are_not_known_are_told_where_a_pod_may_fit(fits: bool) -> None:
    """Where no node can take the pod, they do not decide, but a change may depend on them."""
    bound = [storage_class(), on_csi("v"), volume_claim("data", bound="v")]
    objects = [node("a"), *bound, pod("p", cpu="1" if fits else "9", volumes=mounts("data"))]
    told = Cluster.of(objects).explain("pod/p")
    assert told.verdict == ("WouldBind" if fits else "Unschedulable")
    assert ("volumes-missing" in {one.code for one in told.document.warnings}) == fits
    assert ("How many volumes a node can attach is not known" in str(told)) != fits


def test_a_claim_whose_selected_node_is_gone() -> None:
    selected = {"annotations": {"volume.kubernetes.io/selected-node": "gone"}}
    objects = [node("a"), storage_class(), volume_claim("c", metadata=selected), pod("p", volumes=mounts("c"))]
    said = " ".join(str(Cluster.of(objects).explain("pod/p")).split())
    assert "c waits for a volume for node gone, and there is no such node." in said
    assert "kubectl annotate pvc c -n default volume.kubernetes.io/selected-node-" in said
    assert "no such node" not in str(Cluster.of([*objects, node("gone")]).explain("pod/p"))


def on(name: str, size: str, **options: Any) -> Object:
    """A local volume that only the node of this name can use."""
    term = {"matchExpressions": [{"key": HOST, "operator": "In", "values": [name]}]}
    return volume(f"pv-{name}", size, nodeAffinity={"required": {"nodeSelectorTerms": [term]}}, **options)


def test_free_volumes_that_are_too_small_are_named_and_a_smaller_claim_is_tried() -> None:
    shape = volume_claim("data", "900Gi", of="wait")
    made = workload("StatefulSet", "db", pod(), replicas=1, volumeClaimTemplates=[shape])
    own = volume_claim("data-db-0", "900Gi", of="wait")
    pending = owned_by(pod("db-0", volumes=mounts("data-db-0")), "StatefulSet", "db")
    local = storage_class("wait", "kubernetes.io/no-provisioner")
    cluster = [node("a"), node("b"), node("c", spec={"unschedulable": True}), node("d"), local, made, own, pending]
    wrong = on("d", "900Gi", accessModes=["ReadOnlyMany"])
    larger = [on("a", "800Gi"), on("b", "850Gi"), on("c", "900Gi"), wrong]
    for volumes in (larger, larger[::-1]):
        told = Cluster.of([*cluster, *volumes]).explain("pod/db-0")
        text = " ".join(str(told).split())
        assert "volume pv-c matches on nodes with kubernetes.io/hostname=c. Volumes pv-b (850Gi, " in text
        assert ") and pv-a (800Gi, kubernetes.io/hostname=a) are free, but too small: the claim requests 900Gi." in text
        assert "Volume pv-d" not in text  # no more are named
        codes = [
            [change["code"] for change in each["changes"]] for each in told.to_dict()["verdicts"][0]["suggestions"]
        ]
        assert codes == [["uncordon-node"], ["lower-claim-size"]]
        smaller = told.to_dict()["verdicts"][0]["suggestions"][1]
        assert [one["recreate"] for one in smaller["patches"]] == [True, True]
        for changed in (
            patched([*cluster, *volumes], smaller["patches"]),
            applied([*cluster, *volumes], smaller["changes"]),
        ):
            after = Cluster.of(changed).explain("pod/db-0")
            assert (after.verdict, after.to_dict()["verdicts"][0]["nodeName"]) == ("WouldBind", "b")
    text = " ".join(str(Cluster.of([*cluster, wrong, larger[2]]).explain("pod/db-0")).split())
    assert "Volume pv-d is free, but does not match: it lacks an access mode of the claim." in text
    none = " ".join(str(Cluster.of([*cluster, on("a", "200Gi"), larger[2]]).explain("pod/db-0")).split())
    assert "Volume pv-a (200Gi, kubernetes.io/hostname=a) is free, but too small" in none
    assert "create claim" not in none
