"""Each known defect of the Cluster Autoscaler, in the smallest cluster that shows it: with it, without it, in words."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from dra_plan import Cluster
from dra_plan.questions.autoscale import defects
from dra_plan.releases import AUTOSCALER, AUTOSCALER_DEFECTS, FIXED_AUTOSCALER
from tests.build import (
    Object,
    allocated,
    device_class,
    owned,
    placed,
    pod,
    reserved,
    slice_,
    taint,
    taint_rule,
    template,
    workload,
)
from tests.questions.autoscale.clusters import REFUSED, group, grouped, ready_node, waiting, waiting_pod

GROWTH = ("scaleUp", "plan")


class Case(NamedTuple):
    """A cluster, its groups, and what is found with the defect and without it."""

    objects: list[Object]
    groups: Object
    upstream: Any
    fixed: Any
    said: str
    gates: dict[str, bool] | None = None


def grown(up: Object) -> list[tuple[str, int, int]]:
    return [(one["group"], one["from"], one["to"]) for one in up["scaleUp"].get("plan", [])]


def removable(found: Object) -> list[str]:
    return list(found["scaleDown"].get("removable", []))


def extended() -> Case:
    """Four pods that each want the only device of a node, as an extended resource."""
    pods = [pod(f"p{i}", requests={"example.com/gpu": "1"}, status=REFUSED) for i in range(4)]
    served = device_class(extendedResourceName="example.com/gpu")
    gates = {"DRAExtendedResource": True}
    return Case([served, *pods], grouped(9), [("pool", 0, 1)], [("pool", 0, 4)], "group pool grows from 0 to 4", gates)


def idle() -> Case:
    """A claim that has the device of a full node, and nobody uses it."""
    full = [ready_node("full"), slice_("full", "gpu-0"), placed("eater", "full", cpu="8")]
    own = allocated("c", "full/gpu-0", on="full")
    objects = [device_class(), *full, own, pod("p", claims={"gpu": "c"}, status=REFUSED)]
    return Case(objects, grouped(9), [], [("pool", 0, 1)], "group pool grows from 0 to 1")


def full_claim() -> Case:
    """A claim with 255 users that two pods want, and a third pod that has nothing to do with it."""
    own = allocated("c", "net/gpu-0")
    own["status"]["reservedFor"] = reserved(*(f"u{i}" for i in range(255)))
    wide = slice_("net", "gpu-0", allNodes=True)
    pods = [pod(name, claims={"gpu": "c"}, status=REFUSED) for name in ("p", "q")]
    objects = [device_class(), wide, own, *pods, pod("other", status=REFUSED)]
    return Case(objects, grouped(9), [], [("pool", 0, 1)], "group pool grows from 0 to 1")


def daemon_pods() -> Case:
    """Two devices a node, one of them for a DaemonSet that has no pod on the template; pods with one device each."""
    daemon = workload("DaemonSet", "d", pod("x", templates={"gpu": "t"}, cpu=None, memory=None))
    groups = {"nodeGroups": [group("pool", 9, each=2)]}
    return Case([*waiting(4), daemon], groups, [("pool", 0, 2)], [("pool", 0, 4)], "group pool grows from 0 to 4")


def daemon_elsewhere() -> Case:
    """A DaemonSet's pod with a device that every node reaches."""
    made = placed("d-1", "n1", templates={"net": "t"}, cpu=None, metadata=owned("DaemonSet", "d"))
    made["status"]["resourceClaimStatuses"] = [{"name": "net", "resourceClaimName": "c"}]
    own = allocated("c", "net/gpu-0", pod="d-1")
    own["metadata"] |= owned("Pod", "d-1")
    wide = slice_("net", "gpu-0", allNodes=True)
    nodes = [ready_node("n1"), slice_("n1", "gpu-0"), wide, own, made]
    groups = {"nodeGroups": [group("pool", 9, "n1")]}
    return Case([*waiting(2), *nodes], groups, [], [("pool", 1, 2)], "group pool grows from 1 to 2")


def missing_claim() -> Case:
    """A running pod whose claim is not in the cluster."""
    running = placed("r", "n1", claims={"gpu": "gone"})
    objects = [*waiting(1), ready_node("n1"), running]
    return Case(objects, grouped(9), [], [("pool", 0, 1)], "group pool grows from 0 to 1")


def tainted() -> Case:
    """A rule that taints every device: no new node helps."""
    rule = taint_rule("broken", taint("broken"), driver="gpu.example.com")
    gates = {"DRADeviceTaints": True, "DRADeviceTaintRules": True}
    return Case([*waiting(1), rule], grouped(9), [("pool", 0, 1)], [], "no group grows", gates)


def one_nic() -> Case:
    """A node whose only network card is in use, and whose seven GPUs are not."""
    user = placed("r", "n1", claims={"nic": "c"}, metadata=owned("ReplicaSet", "w"))
    own = allocated("c", "nics/nic-0", pod="r", on="n1")
    pools = [slice_("n1", *(f"gpu-{i}" for i in range(7))), slice_("nics", "nic-0", nodeName="n1")]
    there = [slice_("n2s", "nic-0", nodeName="n2"), ready_node("n2")]
    objects = [device_class(), ready_node("n1"), *pools, *there, user, own, workload("ReplicaSet")]
    groups = {"nodeGroups": [group("pool", 9, "n1")]}
    return Case(objects, groups, [], ["n1"], "n1 could go")


def busy() -> Case:
    """A node whose cpu is in use, and whose device is not."""
    user = placed("r", "n1", cpu="7", metadata=owned("ReplicaSet", "w"))
    nodes = [ready_node("n1"), ready_node("n2"), slice_("n1", "gpu-0")]
    groups = {"nodeGroups": [group("pool", 9, "n1")]}
    return Case([device_class(), *nodes, user, workload("ReplicaSet")], groups, ["n1"], [], "n1 would be kept")


def packed() -> Case:
    """Pods with one and with three devices, on nodes with four: those with three have to come first."""
    pods = [each for name in ("a", "b") for each in waiting_pod(name)]
    pods += [each for name in ("x", "y") for each in waiting_pod(name, each=3)]
    groups = {"nodeGroups": [group("pool", 9, each=4)]}
    objects = [device_class(), template("t"), *pods]
    return Case(objects, groups, [("pool", 0, 3)], [("pool", 0, 2)], "group pool grows from 0 to 2")


def unlike() -> Case:
    """Two groups that differ in nothing but devices: eight a node, and one."""
    one, other = group("eight", 9, each=8), group("one", 9, each=1)
    for each in (one, other):
        each["template"]["node"]["metadata"]["labels"] = {}
    groups = {"nodeGroups": [one, other], "options": {"balanceSimilar": True}}
    return Case(
        waiting(16), groups, [("eight", 0, 1), ("one", 0, 1)], [("eight", 0, 2)], "group eight grows from 0 to 2"
    )


CASES = {
    "extended_devices_free": extended,
    "idle_claims_stay": idle,
    "full_claim_ends_loop": full_claim,
    "daemon_devices_free": daemon_pods,
    "daemon_claim_ends_loop": daemon_elsewhere,
    "missing_claim_ends_loop": missing_claim,
    "taint_rules_unread": tainted,
    "any_full_pool_is_full_node": one_nic,
    "devices_hide_requests": busy,
    "packs_without_devices": packed,
    "similar_without_devices": unlike,
}


def test_every_defect_has_a_case_and_a_switch() -> None:
    assert [defect.quirk for defect in AUTOSCALER_DEFECTS] == list(CASES) == list(AUTOSCALER.__struct_fields__)
    assert not any(getattr(FIXED_AUTOSCALER, name) for name in CASES)
    assert len({defect.id for defect in AUTOSCALER_DEFECTS}) == len(AUTOSCALER_DEFECTS)


@pytest.mark.parametrize("quirk", CASES)
def test_the_defect_decides_is_named_and_can_be_switched_off(quirk: str) -> None:
    case = CASES[quirk]()
    read = removable if quirk in ("any_full_pool_is_full_node", "devices_hide_requests") else grown
    cluster = Cluster.of(case.objects, kubernetes_version="1.36.2", feature_gates=case.gates)
    found = cluster.autoscale(case.groups).to_dict()
    assert read(found) == case.upstream
    fixed = cluster.at(quirks="fixed").autoscale(case.groups).to_dict()
    assert read(fixed) == case.fixed
    defect = next(each for each in AUTOSCALER_DEFECTS if each.quirk == quirk)
    told = [each["message"] for each in found["warnings"] if each["code"] == "autoscaler-defect"]
    (own,) = [each for each in told if each.startswith(f"{defect.id}: ")]
    assert own.endswith(f"; without this defect {case.said}")
    assert defect.issue in own
    assert not [each for each in fixed["warnings"] if each["code"] == "autoscaler-defect"]


def test_a_cluster_without_defects_names_none() -> None:
    found = Cluster.of(waiting(3)).autoscale(grouped(9)).to_dict()
    assert found["warnings"] == []


def test_a_large_cluster_says_that_defects_were_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defects, "MOST_COMPARED", 0)
    case = busy()
    objects = [*case.objects, *waiting(1)[1:]]
    codes = [each["code"] for each in Cluster.of(objects).autoscale(case.groups).to_dict()["warnings"]]
    assert "defects-not-compared" in codes
    assert "autoscaler-defect" not in codes
