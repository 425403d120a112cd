"""Causes that the input names: what really is missing, who makes it again, and what is shared."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    claim,
    device_class,
    mounts,
    node,
    owned_by,
    pod,
    request,
    running,
    slice_,
    storage_class,
    volume,
    volume_claim,
    workload,
)


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
