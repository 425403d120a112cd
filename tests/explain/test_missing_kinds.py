"""What is known of nodes although the input lacks slices or claims, and what the cluster's own message adds."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    attachment,
    claim,
    csi_driver,
    csi_node,
    device,
    device_class,
    manifest,
    mounts,
    node,
    owned,
    owned_by,
    placed,
    pod,
    request,
    slice_,
    storage_capacity,
    storage_class,
    taint,
    template,
    volume_claim,
    workload,
)


def told(objects: list[Object], *without: str) -> tuple[dict[str, Any], str]:
    answer = Cluster.of([one for one in objects if one["kind"] not in without]).explain("pod/p")
    [verdict] = answer.to_dict()["verdicts"]
    return verdict, str(answer)


def world(*nodes: Object, **of_pod: Any) -> list[Object]:
    names = [one["metadata"]["name"] for one in nodes]
    wants = pod("p", templates={"gpu": "t"}, **of_pod)
    return [*nodes, device_class(), *(slice_(name, device()) for name in names), template("t", request("gpu")), wants]


NODES = {
    "free": node("free"),
    "cordoned": node("cordoned", spec={"unschedulable": True}),
    "small": node("small", cpu="1"),
    "tainted": node("tainted", spec={"taints": [taint("team", "search")]}),
}
SAID = {"cordoned": "cordoned", "small": "cpu: needs 2, 1 of 1 free", "tainted": "taint team=search:NoSchedule"}


@pytest.mark.parametrize("names", [each for n in (1, 2, 3) for each in itertools.combinations(NODES, n)])
def test_without_slices_the_other_obstacles_are_said_and_decide_if_every_node_has_one(names: tuple[str, ...]) -> None:
    objects = world(*(NODES[name] for name in names), cpu="2")
    whole, _ = told(objects)
    verdict, text = told(objects, "ResourceSlice")
    assert verdict["verdict"] == ("Unknown" if "free" in names else "Unschedulable")
    assert "free" not in names or whole["verdict"] == "WouldBind"  # never a no where the whole input has a yes
    for name in names:
        if name in SAID:
            assert f"  {name}: {SAID[name]}\n" in text
    assert ("Only the devices are unknown on free." in text) == ("free" in names and len(names) > 1)


@pytest.mark.parametrize("is_full", [False, True])
def test_claims_that_are_missing_do_not_hide_that_no_node_can_take_the_pod(is_full: bool) -> None:
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]}
    wants = pod("p", templates={"gpu": "t"}, cpu="99" if is_full else "1", status=status)
    objects = [node("a"), device_class(), slice_("a", device()), wants]
    verdict, text = told(objects)
    assert verdict["missing"] == ["resourceclaims", "resourceclaimtemplates"]
    assert told([*objects, template("t", request("gpu"))])[0]["missing"] == ["resourceclaims"]
    assert "If the cluster has" not in text
    bare = [one for one in objects if one["kind"] in ("Node", "Pod")]
    assert told(bare)[0]["missing"] == [
        *("resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices")
    ], "all at once"
    if is_full:
        assert verdict["verdict"] == "Unschedulable"
        assert "  Its claims are not known: the input has no ResourceClaims or ResourceClaimTemplates.\n" in text
        assert "cpu: needs 99, 8 of 8 free" in text
    else:
        assert verdict["verdict"] == "Unknown"


@pytest.mark.parametrize("is_partial", [False, True])
def test_what_the_cluster_said_is_held_against_a_yes_of_a_part_of_it(is_partial: bool) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    listed = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"} if is_partial else {}
    message = "0/1 nodes are available: 1 cannot allocate all claims."
    status = {"conditions": [{**condition, "message": message}]}
    objects = [node("a", metadata=listed), device_class(), slice_("a", device()), template("t", request("gpu"))]
    verdict, text = told([*objects, pod("p", templates={"gpu": "t"}, metadata=listed, status=status)])
    assert (verdict["verdict"], verdict.get("doubted", False)) == ("WouldBind", is_partial)
    assert ("unknown whether a node can take it. In this input, it would be bound to a, but pods" in text) == is_partial
    doubt = "So the missing pods and resourceclaims probably hold what it needs: the warning says how to add them."
    assert (doubt in text) == is_partial
    assert ("It would fit now." in text) != is_partial


SAID_BY = {
    "did not have enough free storage": "csidrivers and csistoragecapacities",
    "exceed max volume count": "csinodes and volumeattachments",
    "didn't satisfy existing pods anti-affinity rules": "namespaces",
}


@pytest.mark.parametrize("reason", SAID_BY)
@pytest.mark.parametrize(("owner", "yes"), [("pod/w-0", "it would be bound to"), ("sts/w", "its pod would be bound")])
def test_a_yes_is_doubted_if_the_cluster_names_a_reason_of_kinds_that_are_missing(
    reason: str, owner: str, yes: str
) -> None:
    """The kinds are those without which the plugin gives no such reason; that of taints needs none."""

    def asked(reason: str, *more: Object, cpu: str = "8") -> tuple[Object, str]:
        said = f"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) {reason}. preemption: 0/2 nodes are available."
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
        waiting = pod("w-0", volumes=mounts("data"), status={"conditions": [condition]})
        objects = [node("a", cpu=cpu), storage_class(), volume_claim("data"), away("q", "b")]
        of = workload("StatefulSet", "w", waiting, replicas=1)
        found = Cluster.of([*objects, of, owned_by(waiting, "StatefulSet", "w"), *more]).explain(owner)
        return found.to_dict()["verdicts"][0], " ".join(str(found).split())

    verdict, text = asked(reason)
    assert (verdict["verdict"], verdict["doubted"]) == ("WouldBind", True)
    assert f"unknown whether a node can take it. In this input, {yes}" in text
    assert f"So the missing {SAID_BY[reason]} probably say why: add the output of kubectl get" in text
    assert "It would fit now." not in text
    assert not asked("had untolerated taint(s)")[0].get("doubted")
    verdict, text = asked(reason, cpu="0")
    assert verdict["verdict"] == "Unschedulable"
    missing = f"The input has no {SAID_BY[reason]}: add the output of kubectl get"
    assert (missing in text) == (owner == "pod/w-0"), "the message is shown for pods"
    there = [csi_driver(capacity=False), storage_capacity("s", "1Gi"), csi_node("a"), attachment("t", "b", "v")]
    assert not asked(reason, *there, manifest("Namespace", "default"))[0].get("doubted")


def away(name: str, where: str) -> Object:
    """A running pod that keeps pods of labelled namespaces from its node."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {},
        "namespaceSelector": {"matchLabels": {"team": "ml"}},
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return placed(name, where, affinity=affinity)


def test_classes_that_only_the_input_lacks_do_not_hide_the_other_obstacles() -> None:
    """The scheduler stops at a class that does not exist, but where the input has no class at all, it has one."""
    objects = world(NODES["cordoned"], NODES["small"], cpu="2")
    verdict, text = told(objects, "DeviceClass", "ResourceSlice")
    assert verdict["verdict"] == "Unschedulable"
    assert "does not exist" not in text
    assert "Its devices are not known: the input has no DeviceClasses or ResourceSlices." in text
    for name in ("cordoned", "small"):
        assert f"  {name}: {SAID[name]}\n" in text


@pytest.mark.parametrize("is_known", [False, True])
def test_a_change_of_a_generated_claim_names_the_template_even_if_it_is_not_in_the_input(is_known: bool) -> None:
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]}
    made = claim("p-gpu-x", request("gpu", count=2))
    made["metadata"]["annotations"] = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    made["metadata"] |= owned("Pod", "p", uid="u")
    wants = pod("p", templates={"gpu": "t"}, status=status)
    wants["metadata"]["uid"] = "u"
    objects = [node("a"), device_class(), slice_("a", device()), wants, made]
    objects += [template("t", request("gpu", count=2))] if is_known else []
    _, text = told(objects)
    assert f"in request gpu of template {'t' if is_known else 'default/t (not in the input)'} (the pod then" in text
    assert "Templates and claims cannot be edited. Delete and recreate the template" in text


def test_the_command_for_missing_claims_brings_templates_that_pods_without_a_node_name() -> None:
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "r-gpu-x"}]}
    other = pod("r", templates={"gpu": "t"}, status=status)
    other["spec"]["nodeName"] = "a"
    objects = [node("a"), device_class(), slice_("a", device()), pod("p", templates={"gpu": "t"}), other]
    for extra, resources in ([], "resourceclaims,resourceclaimtemplates"), ([template("t")], "resourceclaims"):
        warnings = Cluster.of([*objects, *extra]).explain("pod/p").to_dict()["warnings"]
        [said] = [one["message"] for one in warnings if one["code"] == "claims-missing"]
        assert f"`kubectl get {resources} -A -o yaml`" in said
