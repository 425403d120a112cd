"""NodeVolumeLimits and VolumeRestrictions: what nodes and claims take, and what preemption can do about it."""

from __future__ import annotations

import pytest

from tests.build import (
    CSI,
    attachment,
    csi_node,
    mounts,
    node,
    on_csi,
    placed,
    pod,
    storage_class,
    volume,
    volume_claim,
)
from tests.scheduler.reading import message, outcome, volumes, where
from tests.scheduler.reading import plan as planned

TOO_MANY = "node(s) exceed max volume count"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
NO_DISK = "node(s) had no available disk"


def plan(*objects: dict | list[dict], **options):
    flat = [one for entry in objects for one in (entry if isinstance(entry, list) else [entry])]
    return planned(flat, **options)


def held(*names: str, of: str = "wait", driver: str = CSI) -> list[dict]:
    """Claims with CSI volumes of the same names."""
    return [
        one for name in names for one in (on_csi(name, driver=driver, of=of), volume_claim(name, bound=name, of=of))
    ]


def using(*claims: str, name: str = "p", **options) -> dict:
    return pod(name, volumes=mounts(*claims), **options)


def running(*claims: str, name: str = "r", on: str = "a", **options) -> dict:
    return placed(name, on, volumes=mounts(*claims), **options)


# Limits


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({CSI: 2}, True),
        ({CSI: 1}, False),
        ({CSI: 0}, False),
        ({CSI: None}, True),
        ({"other": 0}, True),
        ({}, True),
    ],
)
def test_a_node_takes_so_many_volumes_of_a_driver(limits: dict[str, int | None], fits: bool) -> None:
    found = plan(node("a"), csi_node("a", limits), held("v", "w"), running("v"), using("w"))
    assert (where(found)["p"] is not None) is fits
    if not fits:
        assert message(found, "p") == (
            f"0/1 nodes are available: 1 {TOO_MANY}. no new claims to deallocate, "
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
        )


def test_nodes_without_csi_node_have_no_limits() -> None:
    assert where(plan(node("a"), held("v", "w"), running("v"), using("w")))["p"] == "a"


def test_a_volume_that_two_pods_have_counts_once() -> None:
    found = plan(node("a"), csi_node("a", {CSI: 1}), held("v"), running("v"), using("v", "v"))
    assert where(found)["p"] == "a"


def test_a_claim_that_waits_counts_under_its_class() -> None:
    objects = [node("a"), csi_node("a", {CSI: 1}), storage_class(), volume_claim("c"), held("v")]
    assert TOO_MANY in message(plan(*objects, running("v"), using("c")), "p")
    claim = volume_claim("d", of="absent")
    running_with_it = running("d")
    assert where(plan(*objects, claim, running_with_it, using("c")))["p"] == "a", "without class it counts nothing"


def test_a_claim_whose_volume_is_not_there_counts_under_its_class() -> None:
    objects = [node("a"), csi_node("a", {CSI: 1}), storage_class(), volume_claim("lost", bound="gone"), held("v")]
    assert TOO_MANY in message(plan(*objects, running("lost"), using("v")), "p")
    assert where(plan(*objects, running("nowhere"), using("v")))["p"] == "a", "a claim that is not there counts nothing"


@pytest.mark.parametrize(
    ("source", "driver"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, "pd.csi.storage.gke.io"),
        ({"awsElasticBlockStore": {"volumeID": "aws://x/d"}}, "ebs.csi.aws.com"),
        ({"azureDisk": {"diskURI": "d"}}, "disk.csi.azure.com"),
        ({"cinder": {"volumeID": "d"}}, "cinder.csi.openstack.org"),
        ({"portworxVolume": {"volumeID": "d"}}, "pxd.portworx.com"),
    ],
)
def test_disks_of_the_tree_count_under_their_driver(source: dict, driver: str) -> None:
    claim = [volume("v", **source), volume_claim("v", bound="v"), held("w", driver=driver)]
    objects = [node("a"), csi_node("a", {driver: 1}), *claim[:2], *claim[2]]
    assert TOO_MANY in message(plan(*objects, running("v"), using("w")), "p")
    [kind] = source
    inline = pod("p", volumes=[{"name": "i", kind: source[kind]}])
    assert TOO_MANY in message(plan(*objects, running("w"), inline), "p")


def test_what_is_only_attached_counts_beside_the_pods_own() -> None:
    def fits(limit: int, *attached: dict) -> bool:
        found = plan(node("a"), csi_node("a", {CSI: limit}), held("v", "w"), list(attached), using("v"))
        return where(found)["p"] is not None

    assert fits(1, attachment("x", "b", "w"))
    assert not fits(1, attachment("x", "a", "w"))
    assert not fits(1, attachment("x", "a", "v")), "the same volume counts twice"
    assert fits(2, attachment("x", "a", "v"))
    assert fits(1, attachment("x", "a", "gone"))
    assert fits(1, attachment("x", "a", "w", attacher=""))


def test_an_attached_volume_that_a_pod_of_the_node_has_counts_once() -> None:
    objects = [node("a"), csi_node("a", {CSI: 2}), held("v", "w"), attachment("x", "a", "v")]
    assert where(plan(*objects, running("v"), using("w")))["p"] == "a"


def test_an_ephemeral_claim_of_somebody_else_on_the_node_is_an_error() -> None:
    stolen = placed("r", "a", volumes=mounts(ephemeral=("e",)))
    found = plan(node("a"), csi_node("a", {CSI: 9}), held("v"), volume_claim("r-e"), stolen, using("v"))
    assert outcome(found, "p")["outcome"] == "Error"
    assert message(found, "p") == (
        'running "NodeVolumeLimits" filter plugin: PVC default/r-e was not created for pod default/r (pod is not owner)'
    )


def test_a_pod_with_volumes_is_evicted_for_a_limit() -> None:
    found = plan(node("a"), csi_node("a", {CSI: 1}), held("v", "w"), running("v"), using("w", priority=10))
    assert where(found) == {"p": "a"}
    assert [entry["pod"] for entry in found["evictions"]] == ["default/r"]


# ReadWriteOncePod


def exclusive(name: str, **options) -> list[dict]:
    claim = volume_claim(name, bound=name, spec={"accessModes": ["ReadWriteOncePod"]}, **options)
    return [volume(name, accessModes=["ReadWriteOncePod"]), claim]


NODES = [node("a"), node("b")]


def test_a_claim_for_one_pod_is_used_by_one() -> None:
    found = plan(NODES, exclusive("c"), using("c"), using("c", name="q"))
    assert where(found) == {"p": "a", "q": None} or where(found) == {"p": "b", "q": None}
    assert f"2 {IN_USE}" in message(found, "q")
    assert "2 No preemption victims found for incoming pod" in message(found, "q")


def test_who_counts_as_a_user() -> None:
    assert where(plan(NODES, exclusive("c"), running("c"), using("c")))["p"] is None
    assert where(plan(NODES, exclusive("c"), running("c", on="unknown"), using("c")))["p"]
    assert where(plan(NODES, exclusive("c"), running("c", namespace="other"), using("c")))["p"]
    assert where(plan(NODES, exclusive("c"), using("c", "c")))["p"], "its own two volumes are one user"


def test_a_user_of_lower_priority_is_evicted() -> None:
    found = plan(NODES, exclusive("c"), running("c"), using("c", priority=10))
    assert set(where(found)) == {"p"}
    assert where(found)["p"] is not None
    objects = [NODES, exclusive("c"), exclusive("d"), running("c"), using("c", "d", priority=10)]
    assert where(plan(*objects, running("d", name="s"))) == {"p": "a"}, "both users go"
    assert where(plan(*objects, running("d", name="s", on="b")))["p"] is None, "one of two users is left"


# Disks


@pytest.mark.parametrize(
    ("kind", "ours", "theirs", "conflict"),
    [
        ("gcePersistentDisk", {"pdName": "d"}, {"pdName": "d"}, True),
        ("gcePersistentDisk", {"pdName": "d", "readOnly": True}, {"pdName": "d"}, True),
        ("gcePersistentDisk", {"pdName": "d", "readOnly": True}, {"pdName": "d", "readOnly": True}, False),
        ("gcePersistentDisk", {"pdName": "d"}, {"pdName": "e"}, False),
        ("awsElasticBlockStore", {"volumeID": "d", "readOnly": True}, {"volumeID": "d", "readOnly": True}, True),
        ("iscsi", {"iqn": "d", "lun": 1}, {"iqn": "d", "lun": 2}, True),
        ("iscsi", {"iqn": "d", "readOnly": True}, {"iqn": "d", "readOnly": True}, False),
        ("rbd", {"monitors": ["1", "2"], "image": "i"}, {"monitors": ["2"], "image": "i", "pool": "rbd"}, True),
        ("rbd", {"monitors": ["1"], "image": "i"}, {"monitors": ["2"], "image": "i"}, False),
        ("rbd", {"monitors": ["1"], "image": "i"}, {"monitors": ["1"], "image": "i", "pool": "p"}, False),
        ("rbd", {"monitors": [], "image": "i"}, {"monitors": [], "image": "i"}, False),
    ],
)  # fmt: skip
def test_in_line_disks(kind: str, ours: dict, theirs: dict, conflict: bool) -> None:
    there = placed("r", "a", volumes=[{"name": "d", kind: theirs}])
    found = plan(node("a"), there, pod("p", volumes=[{"name": "d", kind: ours}]))
    assert (where(found)["p"] is None) is conflict
    if conflict:
        assert f"1 {NO_DISK}" in message(found, "p")


def test_disks_are_in_use_on_their_node_only() -> None:
    there = placed("r", "a", volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "d"}}])
    subject = pod("p", volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "d"}}])
    assert where(plan(NODES, there, subject))["p"] == "b"
    more = plan(NODES[:1], there, {**subject, "spec": {**subject["spec"], "priority": 10}})
    assert where(more) == {"p": "a"}


# Laws


def test_a_node_never_has_more_volumes_than_it_takes() -> None:
    claims = [volume_claim(f"c{index}") for index in range(12)]
    pods = [using(f"c{index}", name=f"p{index:02}") for index in range(12)]
    limits = [csi_node("a", {CSI: 3}), csi_node("b", {CSI: 4})]
    found = plan(NODES, limits, storage_class(), claims, pods)
    nodes = [name for name in where(found).values() if name]
    assert (nodes.count("a"), nodes.count("b")) == (3, 4)
    assert sorted(made for made in volumes(found).values() if made) == ["@a"] * 3 + ["@b"] * 4
