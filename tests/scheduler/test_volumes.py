"""VolumeBinding and VolumeZone, rule by rule, as upstream's sources and recorded outcomes have them."""

from __future__ import annotations

import pytest

from tests.build import (
    CSI,
    HOST,
    ZONE,
    csi_driver,
    csi_node,
    mounts,
    node,
    on_csi,
    owned_by,
    pod,
    storage_capacity,
    storage_class,
    volume,
    volume_claim,
)
from tests.scheduler.reading import message, outcome, volumes, where
from tests.scheduler.reading import plan as planned

CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NOTHING = "node(s) didn't find available persistent volumes to bind"
FULL = "node(s) did not have enough free storage"
ZONES = "node(s) had no available volume zone"
ANY_ZONE = {"matchExpressions": [{"key": ZONE, "operator": "Exists"}]}
IN_X = {"matchLabels": {ZONE: "x"}}
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
NODES = [node("a", labels={ZONE: "x"}), node("b", labels={ZONE: "y"})]


def plan(*objects: dict | list[dict], **options):
    flat = [one for entry in objects for one in (entry if isinstance(entry, list) else [entry])]
    return planned(flat, **options)


def refusal(*objects: dict | list[dict]) -> str:
    """What is said of the pod p beyond the number of nodes and preemption."""
    told = message(plan(*objects), "p")
    return told.split("nodes are available: ", 1)[1].removesuffix(". not found").split(". no new claims", 1)[0]


def using(*claims: str, name: str = "p", **options) -> dict:
    return pod(name, volumes=mounts(*claims), **options)


# What PreFilter rejects


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (volume_claim("other"), 'persistentvolumeclaim "c" not found'),
        (volume_claim("c", phase="Lost", spec={"volumeName": "v"}),
         'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
        (volume_claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
         'persistentvolumeclaim "c" is being deleted'),
        (volume_claim("c", of="now"), "pod has unbound immediate PersistentVolumeClaims"),
        (volume_claim("c", of=None), "pod has unbound immediate PersistentVolumeClaims"),
        (volume_claim("c", of="absent"), "pod has unbound immediate PersistentVolumeClaims"),
        (volume_claim("c", spec={"volumeName": "v"}), "pod has unbound immediate PersistentVolumeClaims"),
        (volume_claim("c", bound="gone"), 'persistentvolume "gone" not found'),
    ],
)  # fmt: skip
def test_claims_that_refuse_the_pod(claim: dict, told: str) -> None:
    classes = [storage_class(), storage_class("now", mode="Immediate")]
    document = plan(NODES, classes, claim, using("c"))
    assert message(document, "p") == f"0/2 nodes are available: {told}. not found"
    assert outcome(document, "p")["reason"] == "Unschedulable"


def test_a_missing_claim_speaks_before_what_is_wrong_with_an_earlier_one() -> None:
    deleted = volume_claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert refusal(NODES, storage_class(), deleted, using("c", "gone")) == 'persistentvolumeclaim "gone" not found'


def test_the_class_is_the_annotation_if_there_is_one() -> None:
    annotated = {"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}}
    claim = volume_claim("c", of=None, metadata=annotated)
    assert volumes(plan(NODES, storage_class(), claim, using("c")))["c"].startswith("@")
    pv = volume("v", of="other", metadata=annotated)
    assert volumes(plan(NODES, storage_class(), pv, claim, using("c"))) == {"c": "v"}


# Ephemeral volumes


def test_ephemeral_claims_are_waited_for_and_have_to_be_the_pods_own() -> None:
    subject = pod("p", volumes=mounts(ephemeral=("e",)))
    told = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-e"'
    assert refusal(NODES, storage_class(), subject) == told
    told = "PVC default/p-e was not created for pod default/p (pod is not owner)"
    assert refusal(NODES, storage_class(), volume_claim("p-e"), subject) == told
    assert refusal(NODES, storage_class(), owned_by(volume_claim("p-e"), "Pod", "q"), subject) == told
    found = plan(NODES, storage_class(), owned_by(volume_claim("p-e"), "Pod", "p"), subject)
    assert volumes(found)["p-e"].startswith("@")


def test_a_missing_volume_of_an_ephemeral_claim_is_told_node_by_node() -> None:
    subject = pod("p", volumes=mounts(ephemeral=("e",)))
    told = refusal(NODES, storage_class(), owned_by(volume_claim("p-e", bound="gone"), "Pod", "p"), subject)
    assert told == "2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


# Bound claims


def test_bound_claims_go_where_their_volume_is() -> None:
    pvs = [volume("v", on="b", phase="Bound")]
    assert where(plan(NODES, pvs, volume_claim("c", bound="v"), using("c"))) == {"p": "b"}
    told = refusal(NODES, volume("v", on="z"), volume_claim("c", bound="v"), using("c"))
    assert told == f"2 {CONFLICT}"


@pytest.mark.parametrize(
    ("terms", "fits"),
    [
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}], True),
        ([{}], False),
        ([{"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["x", "y"]}]}], False),
        ([{"matchExpressions": [{"key": ZONE, "operator": "Like", "values": ["x"]}]}], False),
        ([{}, {"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}], True),
    ],
)
def test_the_node_is_compared_by_its_labels_alone(terms: list[dict], fits: bool) -> None:
    found = plan(NODES, volume("v", terms=terms), volume_claim("c", bound="v"), using("c"))
    assert (where(found)["p"] is not None) is fits


def test_both_reasons_of_a_node_are_told() -> None:
    claims = [volume_claim("c", bound="v"), volume_claim("w", of="local")]
    told = refusal([node("a")], LOCAL, volume("v", on="z"), claims, using("c", "w"))
    assert told == f"1 {NOTHING}, 1 {CONFLICT}"


# Volumes that are there


def test_the_smallest_volume_that_suits_is_taken() -> None:
    pvs = [volume("v1", "20Gi"), volume("v2", "8Gi"), volume("v3", "4Gi"), volume("v4", "8Gi")]
    assert volumes(plan(NODES[:1], storage_class(), pvs, volume_claim("c", "5Gi"), using("c"))) == {"c": "v2"}


@pytest.mark.parametrize(
    "unfit",
    [
        volume("v", "4Gi", of="local"),
        volume("v", phase="Released", of="local"),
        volume("v", of="other"),
        volume("v", of="local", volumeMode="Block"),
        volume("v", of="local", volumeAttributesClassName="fast"),
        volume("v", of="local", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        volume("v", of="local", claimRef={"namespace": "default", "name": "d"}),
        volume("v", of="local", claimRef={"namespace": "other", "name": "c"}),
        volume("v", of="local", claimRef={"namespace": "default", "name": "c", "uid": "u-of-another"}),
        volume("v", of="local", on="z"),
        volume("v", of="local", accessModes=["ReadWriteMany"]),
    ],
)
def test_volumes_that_do_not_suit(unfit: dict) -> None:
    told = refusal(NODES, LOCAL, unfit, volume_claim("c", of="local"), using("c"))
    assert told == f"2 {NOTHING}"


def test_access_modes_are_compared_as_sets() -> None:
    pv = volume("v", of="local", accessModes=["ReadOnlyMany", "ReadWriteOnce"])
    claim = volume_claim("c", of="local", spec={"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]})
    assert volumes(plan(NODES, LOCAL, pv, claim, using("c"))) == {"c": "v"}


def test_selectors_choose_volumes_by_label() -> None:
    claim = volume_claim("c", of="local", spec={"selector": {"matchLabels": {"tier": "gold"}}})
    pvs = [volume("v1", of="local", labels={"tier": "tin"}), volume("v2", "20Gi", of="local", labels={"tier": "gold"})]
    assert volumes(plan(NODES, LOCAL, pvs, claim, using("c"))) == {"c": "v2"}
    assert refusal(NODES, LOCAL, pvs[0], claim, using("c")) == f"2 {NOTHING}"


def test_a_volume_that_is_set_aside_is_the_only_one() -> None:
    mine = {"namespace": "default", "name": "c"}
    pvs = [
        volume("v1", "6Gi"),
        volume("v2", "50Gi", on="b", claimRef=mine, phase="Pending", accessModes=["ReadOnlyMany"]),
    ]
    claim = volume_claim("c", spec={"selector": {"matchLabels": {"none": "such"}}})
    found = plan([node("b")], storage_class(), pvs, claim, using("c"))
    assert volumes(found) == {"c": "v2"}, "phase, modes and selector are not asked"
    found = plan([node("a")], storage_class(), pvs, volume_claim("c"), using("c"))
    assert volumes(found) == {"c": "@a"}, "another one that fits is not taken"
    elsewhere = volume("v2", "50Gi", of="other", claimRef=mine)
    assert volumes(plan([node("a")], storage_class(), elsewhere, volume_claim("c"), using("c"))) == {"c": "@a"}


def test_claims_take_volumes_by_size_and_have_no_second_thoughts() -> None:
    pvs = [volume("v1", "10Gi", of="local"), volume("v2", "20Gi", of="local")]
    claims = [volume_claim("large", "9Gi", of="local"), volume_claim("small", "1Gi", of="local")]
    found = plan(NODES[:1], LOCAL, pvs, claims, using("large", "small"))
    assert volumes(found) == {"small": "v1", "large": "v2"}
    picky = volume_claim("large", "9Gi", of="local", spec={"selector": {"matchLabels": {"only": "this"}}})
    pvs[0]["metadata"]["labels"] = {"only": "this"}
    assert refusal(NODES[:1], LOCAL, pvs, picky, claims[1], using("large", "small")) == f"1 {NOTHING}"


def test_volumes_on_hosts_are_found_on_many_nodes() -> None:
    nodes = [node(f"n{index}") for index in range(6)]
    pvs = [volume(f"v{index}", f"{20 - index}Gi", of="local", on=f"n{index} x{index}") for index in range(6)]
    found = plan(nodes, LOCAL, pvs, volume_claim("c", of="local"), using("c", nodeSelector={HOST: "n4"}))
    assert (where(found)["p"], volumes(found)) == ("n4", {"c": "v4"})


# New volumes


def test_a_volume_is_made_where_class_and_topology_allow() -> None:
    allowed = storage_class("wait", CSI, "WaitForFirstConsumer", {"no": ["such"]}, {ZONE: ["y", "z"], HOST: ["b"]})
    assert volumes(plan(NODES, allowed, volume_claim("c"), using("c"))) == {"c": "@b"}
    nowhere = storage_class("wait", CSI, "WaitForFirstConsumer", {})
    assert refusal(NODES, nowhere, volume_claim("c"), using("c")) == f"2 {NOTHING}"
    assert refusal(NODES, storage_class("wait", ""), volume_claim("c"), using("c")) == f"2 {NOTHING}"


def test_the_first_claim_that_fails_gives_the_reason() -> None:
    claims = [volume_claim("big", "50Gi"), volume_claim("none", "60Gi", of="local")]
    objects = [NODES, storage_class(), LOCAL, csi_driver(), storage_capacity("k", "10Gi", topology={}), claims]
    assert refusal(*objects, using("none", "big")) == f"2 {FULL}", "the smaller one comes first"


@pytest.mark.parametrize(
    ("objects", "fits"),
    [
        ([csi_driver(), storage_capacity("k", "5Gi", topology={})], True),
        ([csi_driver(), storage_capacity("k", "4Gi", topology={})], False),
        ([csi_driver()], False),
        ([csi_driver(capacity=False)], True),
        ([storage_capacity("k", "4Gi", topology={})], True),
        ([csi_driver(), storage_capacity("k", "50Gi")], False),
        ([csi_driver(), storage_capacity("k", "50Gi", topology={}, most="4Gi")], False),
        ([csi_driver(), storage_capacity("k", "1Gi", topology={}, most="6Gi")], True),
        ([csi_driver(), storage_capacity("k", None, topology={})], False),
        ([csi_driver(), storage_capacity("k", "9Gi", topology={"matchLabels": {ZONE: "x", HOST: "a"}})], True),
        ([csi_driver(), storage_capacity("k", "9Gi", topology={"matchLabels": {ZONE: "x", HOST: "b"}})], False),
        ([csi_driver(), storage_capacity("k", "9Gi", topology=ANY_ZONE)], True),
        ([csi_driver(), storage_capacity("k", "50Gi", of="other", topology={})], False),
        ([csi_driver(), storage_capacity("k", "50Gi", topology={"matchLabels": {ZONE: "y"}})], False),
        ([csi_driver(), storage_capacity("k", "1Gi", topology={}), storage_capacity("l", "9Gi", topology=IN_X)], True),
    ],
)  # fmt: skip
def test_capacity_is_looked_at_where_the_driver_publishes_it(objects: list[dict], fits: bool) -> None:
    document = plan(NODES[:1], storage_class(), objects, volume_claim("c", "5Gi"), using("c"))
    assert (where(document)["p"] is not None) is fits
    if not fits:
        assert FULL in message(document, "p")


def test_a_claim_without_request_needs_no_capacity() -> None:
    claim = volume_claim("c", None)
    assert where(plan(NODES[:1], storage_class(), csi_driver(), claim, using("c"))) == {"p": "a"}


def test_neither_a_pods_claims_nor_those_of_earlier_pods_are_summed() -> None:
    claims = [volume_claim(name, "6Gi") for name in "cde"]
    objects = [NODES[:1], storage_class(), csi_driver(), storage_capacity("k", "10Gi", topology={}), claims]
    found = plan(*objects, using("c", "d"), using("e", name="q"))
    assert where(found) == {"p": "a", "q": "a"}


def selected(name: str, where: str) -> dict:
    return volume_claim(name, metadata={"annotations": {"volume.kubernetes.io/selected-node": where}})


def test_a_claim_whose_node_is_selected_gets_a_new_volume_there() -> None:
    found = plan(NODES, storage_class(), volume("v"), selected("c", "b"), using("c"))
    assert (where(found)["p"], volumes(found)) == ("b", {"c": "@b"})
    assert refusal(NODES, storage_class(), selected("c", "gone"), using("c")) == f"2 {NOTHING}"
    unused = plan(NODES, storage_class(), selected("c", "b"), pod("p"))
    assert volumes(unused) == {"c": ""}, "nobody asked for it"


# Nodes of other kinds


def test_a_static_volume_is_not_preferred() -> None:
    """Nothing scores volumes: the node decides, and there the claim gets what it can."""
    objects = [node("a", cpu="64"), node("b"), storage_class(), volume("v", on="b"), volume_claim("c")]
    found = plan(objects, using("c"))
    assert (where(found)["p"], volumes(found)) == ("a", {"c": "@a"})


# What is assumed, and what happens afterwards


def test_a_volume_is_given_to_one_claim_only() -> None:
    claims = [volume_claim(f"c{index}", of="local") for index in range(3)]
    pvs = [volume(f"v{index}", of="local") for index in range(2)]
    found = plan(NODES, LOCAL, pvs, claims, [using(f"c{index}", name=f"p{index}") for index in range(3)])
    assert volumes(found) == {"c0": "v0", "c1": "v1", "c2": ""}
    assert NOTHING in message(found, "p2")


def test_pods_share_what_a_claim_gets() -> None:
    roomy = [node("a", cpu="4"), node("b", cpu="4")]
    pods = [using("c", name=f"p{index}", cpu="2") for index in range(3)]
    static = plan(roomy, LOCAL, volume("v", of="local", on="b"), volume_claim("c", of="local"), pods)
    assert where(static) == {"p0": "b", "p1": "b", "p2": None}
    bound_to_zone = [csi_node("a", None, ZONE), csi_node("b", None, ZONE)]
    labelled = [node("a", cpu="4", labels={ZONE: "x"}), node("b", cpu="4", labels={ZONE: "x"})]
    made = plan(labelled, bound_to_zone, storage_class(), volume_claim("c"), pods)
    assert volumes(made) == {"c": "@a"}
    assert where(made) == {"p0": "a", "p1": "a", "p2": "b"}, (
        "b has the same zone, so it can use the volume once it is made"
    )
    labelled[1]["metadata"]["labels"][ZONE] = "y"
    apart = plan(labelled, bound_to_zone, storage_class(), volume_claim("c"), pods)
    assert where(apart) == {"p0": "a", "p1": "a", "p2": None}
    assert "1 Insufficient cpu" in message(apart, "p2")
    assert f"1 {CONFLICT}" in message(apart, "p2")


# Zones


@pytest.mark.parametrize(
    ("labels", "node_labels", "fits"),
    [
        ({ZONE: "x"}, {ZONE: "x"}, True),
        ({ZONE: "x"}, {ZONE: "y"}, False),
        ({ZONE: "x"}, {}, True),
        ({ZONE: "y__x"}, {ZONE: "x"}, True),
        ({ZONE: "y__"}, {ZONE: "x"}, True),
        ({ZONE: ""}, {ZONE: "x"}, True),
        ({ZONE: "x"}, {"topology.kubernetes.io/region": "r"}, False),
        ({"failure-domain.beta.kubernetes.io/zone": "x"}, {ZONE: "x"}, True),
        ({"failure-domain.beta.kubernetes.io/zone": "y"}, {ZONE: "x"}, False),
        ({ZONE: "x"}, {"failure-domain.beta.kubernetes.io/zone": "x"}, False),
        ({ZONE: "x", "topology.kubernetes.io/region": "r"}, {ZONE: "x", "topology.kubernetes.io/region": "q"}, False),
    ],
)
def test_zone_labels_of_bound_volumes(labels: dict, node_labels: dict, fits: bool) -> None:
    found = plan(node("a", labels=node_labels), volume("v", labels=labels), volume_claim("c", bound="v"), using("c"))
    assert (where(found)["p"] is not None) is fits
    if not fits:
        assert ZONES in message(found, "p")
        assert "Preemption is not helpful" in message(found, "p")


def test_zones_are_not_looked_at_before_a_volume_is_bound_nor_for_ephemeral_claims() -> None:
    elsewhere = volume("v", of="local", labels={ZONE: "far"})
    assert volumes(plan(NODES, LOCAL, elsewhere, volume_claim("c", of="local"), using("c"))) == {"c": "v"}
    own = owned_by(volume_claim("p-e", of="local", bound="v"), "Pod", "p")
    assert where(plan(NODES, elsewhere, own, pod("p", volumes=mounts(ephemeral=("e",)))))["p"]


def test_affinity_speaks_before_zones() -> None:
    pv = volume("v", labels={ZONE: "far"}, on="z")
    assert refusal(NODES, pv, volume_claim("c", bound="v"), using("c")) == f"2 {CONFLICT}"


# Disks of the tree


GCE = "topology.gke.io/zone"
MIGRATED = {
    "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}
}


@pytest.mark.parametrize(
    ("spec", "node_labels", "migrated", "fits"),
    [
        ({"zone": "x"}, {ZONE: "x"}, False, True),
        ({"zone": "x"}, {ZONE: "x"}, True, False),
        ({"zone": "x"}, {ZONE: "x", GCE: "x"}, True, True),
        ({"labels": {ZONE: "x"}}, {ZONE: "x"}, True, False),
        ({"labels": {ZONE: "w__x"}}, {ZONE: "x", GCE: "x"}, True, True),
        ({}, {ZONE: "x"}, True, True),
    ],
)
def test_a_migrated_disk_is_where_its_driver_says(spec: dict, node_labels: dict, migrated: bool, fits: bool) -> None:
    pv = volume("v", gcePersistentDisk={"pdName": "d"}, **spec)
    plugins = csi_node("a", {}, **(MIGRATED if migrated else {}))
    found = plan(node("a", labels=node_labels), plugins, pv, volume_claim("c", bound="v"), using("c"))
    assert (where(found)["p"] is not None) is fits


def test_a_new_volume_has_a_handle_of_its_own() -> None:
    """Two claims that are made on one node count as two once they are there."""
    limited = csi_node("a", {CSI: 2})
    claims = [volume_claim(name) for name in "cde"]
    pods = [using(name, name=f"p-{name}") for name in "cde"]
    found = plan(node("a"), limited, storage_class(), claims, on_csi("v", of="other"), pods)
    assert volumes(found) == {"c": "@a", "d": "@a", "e": ""}
