"""What an edit makes of a cluster, and the laws that edits keep."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import (
    CSI,
    GPU,
    csi_node,
    generated,
    gpus,
    mounts,
    node,
    owned,
    pod,
    running,
    slice_,
    storage_class,
    template,
    volume_claim,
)
from tests.scheduler.reading import where
from tests.whatif.clusters import mid_life


def names(objects: Any) -> list[str]:
    return [obj.metadata.name for obj in objects]


def pending(cluster: Cluster) -> list[str]:
    return [p.metadata.name for p in cluster.inventory.pods if not p.spec.node_name]


def allocated(cluster: Cluster) -> list[str]:
    return [c.metadata.name for c in cluster.inventory.claims if c.allocation is not None]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.of(mid_life())


# Cordon


def test_a_cordoned_node_takes_no_pods_and_keeps_those_it_has(cluster: Cluster) -> None:
    wants = Cluster.of([*mid_life(), pod("new", templates={"gpu": "one"})])
    assert where(wants.schedule().to_dict())["new"] == "c"
    cordoned = wants.cordon("c", "b")
    assert where(cordoned.schedule().to_dict())["new"] is None
    assert where(cordoned.schedule().to_dict())["served"] == "a"
    assert "3 node(s) were unschedulable" in str(wants.cordon("a", "b", "c").schedule().to_dict())


def test_a_cordoned_node_has_the_taint_that_the_node_controller_keeps(cluster: Cluster) -> None:
    twice = cluster.cordon("a").cordon("a")
    [found] = [n for n in twice.inventory.nodes if n.metadata.name == "a"]
    assert found.spec.unschedulable
    assert [(t.key, t.effect) for t in found.spec.taints] == [("node.kubernetes.io/unschedulable", "NoSchedule")]


# Drain


def test_pods_with_a_controller_come_back_pending_with_new_claims(cluster: Cluster) -> None:
    drained = cluster.drain("a")
    assert pending(drained) == ["served"]
    assert "served-gpu-x7k2p" not in names(drained.inventory.claims)
    plan = drained.schedule().to_dict()
    assert where(plan)["served"] in ("b", "c")
    assert [c["name"] for c in plan["claims"] if c["allocation"]] == ["both", "served-gpu"]


def test_bare_pods_are_gone_with_a_warning_and_their_own_claim_is_free(cluster: Cluster) -> None:
    drained = cluster.drain("a")
    assert "notebook" not in names(drained.inventory.pods)
    assert allocated(drained) == ["both"]
    [notice] = [n for n in drained.schedule().to_dict()["warnings"] if n["code"] == "bare-pod-gone"]
    assert notice["object"] == "Pod default/notebook"


def test_daemons_and_static_pods_stay(cluster: Cluster) -> None:
    assert "agent" in names(cluster.drain("a").inventory.pods)
    static = running("static-a", "a", metadata=owned("Node", "a"))
    assert "static-a" in names(Cluster.of([*mid_life(), static]).drain("a").inventory.pods)


def test_a_claim_that_another_pod_uses_keeps_its_devices(cluster: Cluster) -> None:
    moved = mid_life()
    [writer] = [obj for obj in moved if obj["metadata"]["name"] == "writer"]
    writer["spec"]["nodeName"] = "c"
    drained = Cluster.of(moved).drain("b")
    [both] = [c for c in drained.inventory.claims if c.metadata.name == "both"]
    assert both.allocation is not None
    assert [user.name for user in both.status.reserved_for] == ["writer"]
    assert allocated(cluster.drain("b")) == ["served-gpu-x7k2p", "own"]


def test_finished_and_leaving_pods_do_not_come_back() -> None:
    done = running("done", "a", metadata=owned("Job", "j"), phase="Succeeded")
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    replaced = running("replaced", "a", metadata=owned("ReplicaSet", "r") | going)
    bare = running("bare", "a", metadata=going)
    awaited = running("awaited", "a", metadata=owned("StatefulSet", "s") | going)
    drained = Cluster.of([*gpus("a", "b"), done, replaced, bare, awaited]).drain("a")
    assert names(drained.inventory.pods) == ["awaited"]
    assert not drained.inventory.notices


def test_without_its_template_a_pod_comes_back_with_what_its_claim_asked_for() -> None:
    objects = [obj for obj in mid_life() if obj["kind"] != "ResourceClaimTemplate"]
    plan = Cluster.of(objects).drain("a").schedule().to_dict()
    assert where(plan)["served"] in ("b", "c")


def test_replicas_that_a_workload_of_the_input_would_make_are_not_made_twice() -> None:
    serve = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "serve", "namespace": "default", "uid": "u-serve"},
        "spec": {"replicas": 1, "template": {"spec": pod("x", templates={"gpu": "one"})["spec"]}},
    }
    plan = Cluster.of([*mid_life(), serve]).drain("a").schedule().to_dict()
    assert [p["name"] for p in plan["pods"] if p["name"].startswith("serve")] == ["served"]


# Without


def test_with_a_pod_go_its_claims(cluster: Cluster) -> None:
    without = cluster.without("pod/served", "po/default/notebook")
    assert "served" not in names(without.inventory.pods)
    assert names(without.inventory.claims) == ["own", "both"]
    assert allocated(without) == ["both"]


def test_with_a_node_go_its_slices_and_controllers_recreate_its_pods(cluster: Cluster) -> None:
    without = cluster.without("no/a")
    assert names(without.inventory.nodes) == ["b", "c"]
    assert names(without.inventory.slices) == [f"b-{GPU}", f"c-{GPU}"]
    assert {each.metadata.name: each.spec.node_name for each in without.inventory.pods} == {
        **{each.metadata.name: each.spec.node_name for each in cluster.inventory.pods if each.spec.node_name != "a"},
        "served": "",
    }


def test_a_node_that_dies_and_one_that_is_drained_lose_the_same_pods() -> None:
    """Daemon pods aside: a drain leaves them, and with the node they are gone."""
    serve = owned("ReplicaSet", "serve")
    pods = [
        running("bare", "a"),
        running("web", "a", metadata={"uid": "u-web", **serve}),
        running("agent", "a", metadata={"uid": "u-agent", **owned("DaemonSet", "agents")}),
    ]
    cluster = Cluster.of([node("a"), node("b"), *pods])
    dead, drained = (each.diff for each in (cluster, cluster))
    lost = {pod.name: pod.change for pod in dead(cluster.without("node/a"))}
    assert lost == {"bare": "Gone", "web": "OtherNode", "agent": "Gone"}
    assert {pod.name: pod.change for pod in drained(cluster.drain("a"))} == {"bare": "Gone", "web": "OtherNode"}
    [edit] = cluster.without("node/a").schedule().document.what_if
    assert [each.name for each in edit.pending] == ["web"]
    assert [(each.kind, each.name) for each in edit.gone] == [("Pod", "bare"), ("Pod", "agent")]
    warned = [each for each in cluster.without("node/a").schedule().document.warnings if each.code == "bare-pod-gone"]
    assert [each.object for each in warned] == ["Pod default/bare"]


def test_with_a_workload_goes_what_it_controls() -> None:
    owner = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"}}
    spec = {"replicas": 1, "template": {"spec": pod("x")["spec"]}}
    middle = {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "serve", "namespace": "default", "uid": "u-serve", **owned("Deployment", "web")},
        "spec": spec,
    }
    without = Cluster.of([*mid_life(), {**owner, "spec": spec}, middle]).without("deploy/web")
    assert not without.inventory.workloads
    assert "served" not in names(without.inventory.pods)
    assert [item.name for item in without.what_if[0].gone] == ["serve", "served", "served-gpu-x7k2p"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("pod", "'pod' is not KIND/NAME or KIND/NAMESPACE/NAME"),
        ("pod/", "'pod/' is not KIND/NAME or KIND/NAMESPACE/NAME"),
        ("podz/x", "unknown kind 'podz' (did you mean 'Pod'?)"),
        ("pod/serve", "unknown Pod 'serve' (did you mean 'served'?)"),
        ("pod/kube-system/served", "unknown Pod 'served' (did you mean 'served'?): it is in namespace default"),
    ],
)
def test_what_is_not_there_is_said(cluster: Cluster, edit: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        cluster.without(edit)
    assert str(caught.value) == said


def test_a_name_in_several_namespaces_has_to_be_told_apart() -> None:
    both = Cluster.of([pod("x"), pod("x", namespace="team")])
    with pytest.raises(UsageError, match="is in several namespaces: po/default/x, po/team/x"):
        both.without("po/x")
    assert names(both.without("po/team/x").inventory.pods) == ["x"]


# Added nodes


def test_added_nodes_are_as_if_they_had_been_in_the_dump() -> None:
    waiting = [template("one"), *(pod(f"p{n}", templates={"gpu": "one"}) for n in range(6))]
    grown = Cluster.of([*waiting, *gpus("a")]).add_nodes(2, like="a")
    as_loaded = Cluster.of([*waiting, *gpus("a", "a-new-1", "a-new-2")])
    for ask in ("schedule", "allocate"):
        ours, theirs = getattr(grown, ask)().to_dict(), getattr(as_loaded, ask)().to_dict()
        assert ours.pop("whatIf") == [{"edit": "AddNodes", "count": 2, "like": "a", "added": ["a-new-1", "a-new-2"]}]
        assert json.dumps(ours) == json.dumps(theirs)


def test_a_new_node_is_free_clean_and_has_names_of_its_own() -> None:
    spec = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}
    tainted = node("a", spec=spec, labels={"zone": "x"})
    taken = node("a-new-1")
    inventory = Cluster.of([tainted, taken, slice_("a", "g0", "g1")]).add_nodes(1, like="a").inventory
    [new] = inventory.nodes[2:]
    assert new.metadata.name == "a-new-2"
    assert new.metadata.labels == {"kubernetes.io/hostname": "a-new-2", "zone": "x"}
    assert not new.spec.unschedulable
    assert not new.spec.taints
    [copied] = inventory.slices[1:]
    assert (copied.spec.node_name, copied.spec.pool.name) == ("a-new-2", "a-new-2")
    assert [device.name for device in copied.spec.devices] == ["g0", "g1"]


def test_a_new_node_takes_as_many_volumes_as_its_model() -> None:
    pods = [pod(f"p{index}", volumes=mounts(f"c{index}")) for index in range(5)]
    claims = [volume_claim(f"c{index}") for index in range(5)]
    cluster = Cluster.of([node("a"), csi_node("a", {CSI: 2}), storage_class(), *claims, *pods])
    assert cluster.schedule().to_dict()["volumes"][1] == {"pvc": "default/c1", "provision": "a"}
    placed = [entry["nodeName"] for entry in cluster.add_nodes(1, like="a").schedule().to_dict()["pods"]]
    assert sorted(filter(None, placed)) == ["a", "a", "a-new-1", "a-new-1"]


def test_daemons_come_with_the_node_and_hold_what_they_hold() -> None:
    agent = running("agent", "a", "agent-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("DaemonSet", "agents"))
    held = generated("agent", "gpu", "a", "gpu-0")
    wants = [pod(f"p{n}", templates={"gpu": "one"}) for n in range(4)]
    grown = Cluster.of([*gpus("a"), template("one"), agent, held, *wants]).add_nodes(1, like="a")
    plan = grown.schedule().to_dict()
    assert sorted(node or "" for name, node in where(plan).items() if name.startswith("p")) == ["", "", "a", "a-new-1"]
    [copied] = [c for c in grown.inventory.claims if c.metadata.name == "a-new-1-agent-gpu-x7k2p"]
    assert [r.pool for r in copied.allocation.devices.results] == ["a-new-1"]
    assert [user.name for user in copied.status.reserved_for] == ["a-new-1-agent"]


def test_a_model_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "big.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": gpus("big", each=4)}))
    grown = Cluster.of([*gpus("a"), template("four")]).add_nodes(1, like=file)
    assert names(grown.inventory.nodes) == ["a", "big-new-1"]
    assert len(grown.inventory.slices[-1].spec.devices) == 4
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": gpus("big", "huge")}))
    with pytest.raises(UsageError, match="expected one Node as a model, found 2"):
        grown.add_nodes(1, like=str(file))


def test_pools_stay_in_their_order() -> None:
    pieces = [slice_("a", "d0") for _ in range(3)]
    for piece, pool in zip(pieces, ("z", "a-nic", "a"), strict=True):
        piece["metadata"]["name"], piece["spec"]["pool"]["name"] = f"s-{pool}", pool
    inventory = Cluster.of([node("a"), *pieces]).add_nodes(1, like="a").inventory
    renamed = {old.spec.pool.name: new.spec.pool.name for old, new in zip_sorted(inventory.slices)}
    assert [new for _, new in sorted(renamed.items())] == sorted(renamed.values())


def zip_sorted(found: Any) -> Any:
    old = sorted(found[:3], key=lambda s: s.spec.pool.name)
    new = sorted(found[3:], key=lambda s: s.spec.pool.name)
    return zip(old, new, strict=True)


def _network(**fields: Any) -> dict[str, Any]:
    shared = slice_("x", "d0", driver="net.example.com")
    del shared["spec"]["nodeName"]
    shared["spec"] |= fields
    return shared


ZONE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}]}
BY_NAME = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}


@pytest.mark.parametrize("shared", [_network(allNodes=True), _network(nodeSelector=ZONE)])
def test_what_a_new_node_sees_of_shared_pools_is_no_obstacle(shared: dict[str, Any]) -> None:
    objects = [node("a", labels={"zone": "z"}), slice_("a", "d0"), shared]
    assert len(Cluster.of(objects).add_nodes(1, like="a").inventory.slices) == 3


def test_slices_that_reach_the_model_by_its_name_are_an_obstacle(tmp_path: Path) -> None:
    objects = [node("a"), _network(nodeSelector=BY_NAME)]
    with pytest.raises(UsageError) as caught:
        Cluster.of(objects).add_nodes(1, like="a")
    assert str(caught.value) == (
        "no node can be added like 'a': ResourceSlice 'x-net.example.com' selects the node by its name, or by a label "
        "that no other node has (spec.nodeSelector), so its devices on the new node are not known"
    )
    file = tmp_path / "model.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node("a"), _network(allNodes=True)]}))
    with pytest.raises(UsageError, match=r"is not node-local \(spec.allNodes\)"):
        Cluster.of([]).add_nodes(1, like=file)


def test_pools_that_would_stay_incomplete_are_an_obstacle() -> None:
    half = slice_("a", "d0")
    half["spec"]["pool"]["resourceSliceCount"] = 2
    with pytest.raises(UsageError, match=r"would stay incomplete.*resourceSliceCount 2, and the input has 1"):
        Cluster.of([node("a"), half]).add_nodes(1, like="a")


@pytest.mark.parametrize("count", [0, -1, 10_001])
def test_numbers_of_nodes_have_bounds(cluster: Cluster, count: int) -> None:
    with pytest.raises(UsageError, match=r"cannot add .* nodes: expected 1 to 10,000"):
        cluster.add_nodes(count, like="a")


# Laws


def test_edits_leave_what_they_are_made_from_as_it_was(cluster: Cluster) -> None:
    before = copy.deepcopy(cluster.inventory)
    first = cluster.schedule().to_dict()
    cluster.drain("a").without("node/b").add_nodes(2, like="c").cordon("c").schedule()
    assert cluster.inventory == before
    assert cluster.schedule().to_dict() == first
    assert "whatIf" not in first


def test_edits_share_what_they_do_not_change(cluster: Cluster) -> None:
    drained = cluster.drain("a")
    assert drained.inventory.slices is cluster.inventory.slices
    assert drained.view.gatherer is cluster.view.gatherer
    assert cluster.cordon("a").inventory.claims is cluster.inventory.claims


def test_edits_of_different_things_commute(cluster: Cluster) -> None:
    edits = [lambda c: c.cordon("c"), lambda c: c.drain("a"), lambda c: c.without("pod/writer")]
    documents = []
    for order in itertools.permutations(edits):
        changed = cluster
        for edit in order:
            changed = edit(changed)
        document = changed.schedule().to_dict()
        document.pop("whatIf")
        documents.append(document)
    assert all(document == documents[0] for document in documents)


def test_documents_say_what_was_changed(cluster: Cluster) -> None:
    changed = cluster.drain("a").at("1.35")
    for answer in (changed.schedule(), changed.allocate(), changed.explain(), changed.pools()):
        assert answer.to_dict()["whatIf"] == [
            {
                "edit": "Drain",
                "node": "a",
                "pending": [{"kind": "Pod", "namespace": "default", "name": "served"}],
                "gone": [
                    {"kind": "Pod", "namespace": "default", "name": "notebook"},
                    {"kind": "ResourceClaim", "namespace": "default", "name": "served-gpu-x7k2p"},
                ],
                "deallocated": [{"namespace": "default", "name": "own"}],
            }
        ]


@pytest.mark.parametrize("edit", ["cordon", "drain"])
def test_unknown_nodes_are_said_with_a_near_name(edit: str) -> None:
    cluster = Cluster.of(gpus("node-1", "node-2"))
    with pytest.raises(UsageError, match=r"unknown node 'nod-1' \(did you mean 'node-1'\?\)"):
        getattr(cluster, edit)("nod-1")
