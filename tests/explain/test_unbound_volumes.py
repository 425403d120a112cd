"""Claims that no volume is bound to, at once or at all: why, and which volume comes closest."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.explain.owners import NOT_OF_NODES
from tests.build import Object, mounts, node, on_csi, pod, storage_class, volume, volume_claim

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
    assert "it is Released, and still reserved for a deleted claim (default/data)." in told
    assert "remove spec.claimRef from share" in told
    assert "remove spec.claimRef" not in said(STATIC, static(claimRef={**old, "name": "other"}, phase="Released"))


def test_the_closest_volumes_come_first_and_the_others_are_left_out() -> None:
    offered = [volume(f"v{size}", f"{size}Gi", of="nfs", phase="Bound") for size in (7, 500, 6, 600)]
    told = said(STATIC, *offered)
    assert [name for name in ("v500", "v600", "v6", "v7") if f"Volume {name} does" in told] == ["v500", "v600"]


def test_a_claim_without_a_class() -> None:
    claim = volume_claim("data", of=None)
    ceph = storage_class("ceph", mode="Immediate")
    assert "names no StorageClass, and none is the default (the input has ceph)." in said(ceph, claim=claim)
    ceph["metadata"]["annotations"] = DEFAULT
    assert "the volume controller gives it the default, ceph." in said(ceph, claim=claim)
    assert "default" not in said(ceph, claim=volume_claim("data", of="")).split("Without")[0].split("data", 1)[1]


def test_of_several_default_classes_the_newest_counts() -> None:
    made = [storage_class(name, mode="Immediate") for name in ("one", "two")]
    for each, year in zip(made, ("2025", "2026"), strict=True):
        each["metadata"] |= {"annotations": DEFAULT, "creationTimestamp": f"{year}-01-01T00:00:00Z"}
    claim = volume_claim("data", of=None)
    assert "gives it the default, two." in said(*made, claim=claim)
    assert "gives it the default, two." in said(*reversed(made), claim=claim)


def test_a_class_that_creates_volumes_is_left_to_its_provisioner() -> None:
    told = said(storage_class("nfs", mode="Immediate"), static("100Gi"))
    assert "has no volume yet (StorageClass nfs): kubectl describe pvc data says why. Volume share does not" in told


@pytest.mark.parametrize("fits", [True, False])
def test_limits_of_volumes_that_are_not_known_are_told_where_a_pod_may_fit(fits: bool) -> None:
    """Where no node can take the pod, they do not decide, but a change may depend on them."""
    bound = [storage_class(), on_csi("v"), volume_claim("data", bound="v")]
    objects = [node("a"), *bound, pod("p", cpu="1" if fits else "9", volumes=mounts("data"))]
    told = Cluster.of(objects).explain("pod/p")
    assert told.verdict == ("WouldBind" if fits else "Unschedulable")
    assert ("volumes-missing" in {one.code for one in told.document.warnings}) == fits
    assert ("How many volumes a node can attach is not known" in str(told)) != fits
