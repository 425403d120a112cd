"""Answers that were true of the scheduler and misled a person: the next step they showed, and what they left out."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    HOST,
    ZONE,
    Object,
    allocated,
    claim,
    device,
    device_class,
    gpus,
    manifest,
    node,
    placed,
    pod,
    request,
    running,
    slice_,
    taint,
    template,
)


def text(objects: list[Object], owner: str = "pod/p", **options: Any) -> str:
    return str(Cluster.of(objects).explain(owner, **options))


def verdict(objects: list[Object], owner: str = "pod/p") -> Object:
    [found] = Cluster.of(objects).explain(owner).to_dict()["verdicts"]
    return found


def container(name: str = "c", **requests: str) -> Object:
    return {"name": name, "image": "x", "resources": {"requests": requests}}


# -- changes that cannot work in a real cluster ------------------------------------------------------------------------


def suggestions(objects: list[Object], owner: str = "pod/p") -> list[str]:
    return [change["code"] for one in verdict(objects, owner).get("suggestions", []) for change in one["changes"]]


def test_no_node_gets_the_label_of_a_runtime_that_it_does_not_have() -> None:
    own = {"nodeSelector": {"runtime": "kata"}}
    assert "label-node" in suggestions([node("n"), pod("p", **own)])
    assert "label-node" not in suggestions([node("n"), pod("p", runtimeClassName="kata", **own)])


def test_the_overhead_of_a_runtime_is_part_of_the_request_and_the_rest_can_be_lowered() -> None:
    own = {"containers": [container(cpu="4")], "overhead": {"cpu": "250m"}, "runtimeClassName": "kata"}
    objects = [node("n", cpu="4"), pod("p", **own)]
    assert "cpu: needs 4250m (container c 4, overhead of its RuntimeClass 250m), 4 of 4 free" in text(objects)
    assert "ask for 3750m instead of 4 cpu in container c" in text(objects)


def test_a_pod_in_the_network_of_the_host_cannot_do_without_a_host_port() -> None:
    ports = [{"containerPort": 9100, "hostPort": 9100}]
    objects = [node("n"), running("other", "n", containers=[{**container(), "ports": ports}])]
    assert "drop-host-port" in suggestions([*objects, pod("p", containers=[{**container(), "ports": ports}])])
    own = pod("p", hostNetwork=True, containers=[{**container(), "ports": ports}])
    assert suggestions([*objects, own]) == ["change-host-port", "add-node", "remove-pods"]
    assert "host port 9100/TCP is taken by pod default/other" in text([*objects, own])


def test_a_request_that_a_limit_range_added_says_so() -> None:
    said = "LimitRanger plugin set: cpu, memory request for container c; memory limit for container c"
    own = pod("p", containers=[container(memory="32Gi")])
    own["metadata"]["annotations"] = {"kubernetes.io/limit-ranger": said}
    limits = manifest("LimitRange", "defaults", spec={"limits": []}, namespace="default")
    assert "needs 32Gi (container c 32Gi, set by LimitRange defaults)" in text([node("n", memory="28Gi"), own, limits])
    own["metadata"]["annotations"] = {"kubernetes.io/limit-ranger": said.replace("memory request", "x request")}
    assert "LimitRange" not in text([node("n", memory="28Gi"), own, limits])


# -- facts that kubectl shows and the answer would contradict ----------------------------------------------------------


def test_a_finished_pod_that_an_affinity_would_select_is_named() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": HOST}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    other = running("cache", "n", phase="Failed", labels={"app": "cache"})
    asked = pod("p", affinity=affinity)
    assert "(default/cache has finished, so it does not count)" in text([node("n"), other, asked])
    assert "finished" not in text([node("n"), running("cache", "n", phase="Failed", labels={"app": "x"}), asked])


def test_another_zone_is_tried_and_a_cordon_counts_as_one_reason() -> None:
    spec = {"unschedulable": True, "taints": [taint("node.kubernetes.io/unschedulable")]}
    cordoned = node("b", labels={ZONE: "z1"}, spec=spec)
    objects = [node("a", labels={ZONE: "z2"}), cordoned, pod("p", nodeSelector={ZONE: "z1"})]
    found = text(objects)
    assert "ask for a node with topology.kubernetes.io/zone=z2 instead of z1 (the pod then fits on a)" in found
    assert "uncordon b (the pod then fits on b)" in found


# -- a second cause ----------------------------------------------------------------------------------------------------


def test_requests_that_conflict_are_told_beside_another_reason() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    requests = [request("gpu", of="gpu"), request("nic", of="nic")]
    objects = [
        device_class("gpu"),
        device_class("nic"),
        node("n"),
        slice_("n", device("d0", **{root: "r1"}), device("d1", **{root: "r2"}), driver="gpu"),
        slice_("n", device("n0", **{root: "r1"}), driver="nic"),
        allocated("held", "n/d0", driver="gpu"),
        claim("c", *requests, constraints=[{"matchAttribute": root}]),
        pod("p", claims={"x": "c"}, containers=[container(**{"hugepages-2Mi": "4Gi"})]),
    ]
    found = text(objects)
    assert 'devices: gpu and nic need the same pcieRoot; gpu can have "r2", nic can have "r1"' in found
    assert "others are in use by default/held" in found


def test_claims_that_want_the_same_device_are_told_beside_another_reason() -> None:
    objects = [device_class(), node("n"), slice_("n", "gpu-0", "gpu-1"), allocated("held", "n/gpu-0")]
    objects += [claim("one", request("gpu")), claim("two", request("gpu"))]
    objects.append(pod("p", claims={"x": "one", "y": "two"}, containers=[container(cpu="64")]))
    assert "one/gpu and two/gpu need 2 devices together, 1 is available" in text(objects)


def test_a_change_is_listed_once_for_nodes_of_several_kinds() -> None:
    tainted = {"taints": [taint("dedicated", "ml")]}
    objects = [node("a", spec=tainted, cpu="9"), node("b", spec=tainted, cpu="7"), pod("p", cpu="8")]
    changes = [str(one["changes"]) for one in verdict(objects)["suggestions"]]
    patches = [str(one["patches"]) for one in verdict(objects)["suggestions"]]
    assert changes
    assert len(set(patches)) == len(patches)


# -- what the input lacks ----------------------------------------------------------------------------------------------


def of_cluster(made: Object, namespace: str | None = None) -> Object:
    stored = {"uid": f"u-{made['metadata']['name']}", "creationTimestamp": "2026-11-01T08:00:00Z"}
    made["metadata"] |= stored | ({"namespace": namespace} if namespace else {})
    return made


@pytest.mark.parametrize(
    ("pods", "claims", "told"),
    [
        (["ml", "ml"], ["ml"], "all pods and claims of the input are in namespace ml"),
        (["ml", "ml"], ["ml", "other"], "all pods of the input are in namespace ml"),
        (["ml", "kube-system"], ["ml"], ""),
    ],
)
def test_a_dump_of_one_namespace_is_a_warning(pods: list[str], claims: list[str], told: str) -> None:
    objects = [of_cluster(node("n")), device_class(), slice_("n", "gpu-0")]
    objects += [of_cluster(placed(f"p{at}", "n"), namespace) for at, namespace in enumerate(pods)]
    objects += [of_cluster(claim(f"c{at}"), namespace) for at, namespace in enumerate(claims)]
    for answer in (Cluster.of(objects).explain(), Cluster.of(objects).schedule()):
        warnings = {one["code"]: one["message"] for one in answer.to_dict()["warnings"]}
        assert warnings.get("one-namespace", "").startswith(told)
        assert bool(told) == ("one-namespace" in warnings)
    by_hand = [node("n"), device_class(), slice_("n", "gpu-0"), placed("p0", "n"), pod("p1")]
    assert "one-namespace" not in str(Cluster.of(by_hand).explain().to_dict()["warnings"])


def test_nobody_waits_for_slices_whose_counts_contradict_each_other() -> None:
    def waits(*counts: int) -> bool:
        parts = [slice_("n", f"gpu-{at}", number=at, of=of) for at, of in enumerate(counts)]
        return "wait until" in text([device_class(), node("n"), *parts, claim("c"), pod("p", claims={"x": "c"})])

    assert waits(3, 3)
    assert not waits(2, 3)
    assert not waits(3, 2)


DEDICATED = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}


def test_nodes_that_are_not_examined_are_said_to_be_and_can_be_chosen() -> None:
    """Of 60 tainted nodes every second is examined; the others have one device less."""
    names = [f"n{number:02}" for number in range(60)]
    objects = [*gpus(), template("four", request(count=4)), pod("p", templates={"gpu": "four"})]
    for at, name in enumerate(names):
        objects += [node(name, spec={"taints": [DEDICATED]}), slice_(name, *"xyz"[: 3 - at % 2])]
    tainted = "taint dedicated=ml:NoSchedule"
    found = text(objects)
    assert f"  30 nodes (n00, n02, ...): {tainted}; devices: r needs 4, at most 3 on it match\n" in found
    assert f"  30 nodes (n01, n03, ...): {tainted}; devices do not fit (--node NODE says why on one of" in found
    assert "cannot allocate all claims" not in found
    for chosen, of_node in (["n01"], "  n01"), (["n0[13]"], "  2 nodes (n01, n03)"):
        found = text(objects, nodes=chosen)
        assert f"{of_node}: {tainted}; devices: r needs 4, at most 2 on it match\n" in found
        assert "Waiting will not help" not in found


def test_that_nothing_runs_is_said_if_the_nodes_and_slices_come_from_a_cluster() -> None:
    """By all three questions with a gate; it is a note, which fails none of them."""
    recorded = [of_cluster(one) for one in gpus("a")]
    new = [template("t", request()), pod("p", templates={"g": "t"})]

    def notes(*objects: Object) -> list[list[str]]:
        cluster = Cluster.of([*objects, *new])
        answers = (cluster.explain(), cluster.schedule(), cluster.allocate())
        return [[one["code"] for one in answer.to_dict()["warnings"]] for answer in answers]

    assert notes(*recorded) == [["nothing-running"]] * 3
    assert not any("nothing-running" in each for each in notes(*recorded, of_cluster(running("agent", "a"))))
    assert not any("nothing-running" in each for each in notes(*gpus("a")))
