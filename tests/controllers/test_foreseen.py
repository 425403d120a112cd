"""Evictions that are to come: of a pod, of a device, with when and because of what; as settling carries them out."""

from __future__ import annotations

from typing import Any

from dra_plan import Cluster
from dra_plan.controllers.foreseen import ForeseenEvictions, evictions_of
from tests.build import generated, gpus, node, owned, pod, running, taint, template

from .recorded import cases, settled
from .test_answers import GONE, serving, tainted

Plain = dict[str, Any]


def of(cluster: Cluster, name: str = "p") -> list[tuple[float, str, str, str, bool]]:
    [found] = [each for each in cluster.inventory.pods if each.metadata.name == name]
    told = evictions_of(cluster.inventory, cluster.target, found)
    return [(each.seconds, each.key, "/".join(each.device or (each.node,)), each.rule, each.tolerated) for each in told]


def tolerating(*tolerations: Plain) -> list[Plain]:
    made = generated("p", "gpu", "a", "gpu-0")
    made["status"]["allocation"]["devices"]["results"][0]["tolerations"] = list(tolerations)
    pod_ = running("p", "a", "p-gpu-x7k2p", templates={"gpu": "one"})
    return [*gpus("a", each=2), template("one"), pod_, made]


def test_a_taint_of_its_device() -> None:
    cluster = Cluster.of(tainted(tolerating(), "gpu-0", GONE))
    assert of(cluster) == [(0.0, "xid", "gpu.example.com/a/gpu-0", "", False)]
    assert of(Cluster.of(tainted(tolerating(), "gpu-1", GONE))) == []
    assert of(Cluster.of(tainted(tolerating(), "gpu-0", taint("xid")))) == []


def test_seconds_count_from_when_the_taint_was_added() -> None:
    toleration = {"key": "xid", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    times = [{**GONE, "timeAdded": f"2026-01-01T00:0{minute}:00Z"} for minute in (0, 2)]
    early, late = ({**each, "key": key} for each, key in zip(times, ("xid", "xid"), strict=True))
    rule = {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"pool": "a"}, "taint": late},
    }
    cluster = Cluster.of([*tainted(tolerating(toleration), "gpu-0", early), rule])
    assert of(cluster) == [(180.0, "xid", "gpu.example.com/a/gpu-0", "", True)]
    both = cluster.at(feature_gates={"DRADeviceTaintRules": True})
    assert [(each[0], each[3]) for each in of(both)] == [(180.0, ""), (300.0, "r")]


def test_the_gate_decides() -> None:
    cluster = Cluster.of(tainted(tolerating(), "gpu-0", GONE))
    assert of(cluster.at(feature_gates={"DRADeviceTaints": False})) == []


def test_a_taint_of_its_node() -> None:
    tainted_node = node("b", spec={"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]})
    objects = [tainted_node, pod("p", nodeName="b", status={"phase": "Running"})]
    assert of(Cluster.of(objects)) == [(300.0, "node.kubernetes.io/not-ready", "b", "", True)]


def test_pods_that_share_a_device_are_all_told() -> None:
    objects = [*tolerating(), running("q", "a", "p-gpu-x7k2p")]
    objects[-1]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "p-gpu-x7k2p"}]
    claim = next(each for each in objects if each["kind"] == "ResourceClaim")
    claim["status"]["reservedFor"].append({"resource": "pods", "name": "q", "uid": "u-q"})
    cluster = Cluster.of(tainted(objects, "gpu-0", GONE))
    found = ForeseenEvictions(cluster.inventory, cluster.target).of_device("gpu.example.com", "a", "gpu-0")
    assert [each.pod.metadata.name for each in found] == ["p", "q"]


def test_pools_say_who_is_affected() -> None:
    cluster = Cluster.of(tainted(tolerating(), "gpu-0", GONE))
    [pool] = cluster.pools()
    assert [[(pod.name, pod.second) for pod in device.evicts] for device in pool.devices] == [[("p", 0.0)], []]
    assert "gpu-0    xid=79:NoExecute   default/p at once" in str(cluster.pools())
    assert "EVICTS" not in str(Cluster.of(tolerating()).pools())


def test_settling_evicts_who_is_foreseen() -> None:
    """Of the recorded clusters with the rules that were made later."""
    compared = 0
    for case in cases("control"):
        rules = [step["create"] for step in case["action"] if step.get("create", {}).get("kind") == "DeviceTaintRule"]
        if not rules or case.get("loop"):
            continue
        objects = [*case["before"], *rules]
        cluster = Cluster.of(objects, feature_gates={"DRADeviceTaintRules": True})
        foreseen = ForeseenEvictions(cluster.inventory, cluster.target)
        told = {pod.key: found[0].seconds for pod in cluster.inventory.pods if (found := foreseen.of(pod))}
        document = settled({**case, "before": objects, "action": [], "quirk": ""})
        given = {pod.key for pod in cluster.inventory.pods}
        done = {f"{each['namespace']}/{each['name']}": each["second"] for each in reversed(document["evicted"])}
        later = {f"{each['namespace']}/{each['name']}": each["second"] for each in document["later"]}
        assert {**later, **{key: second for key, second in done.items() if key in given}} == told, case["id"]
        compared += bool(told)
    assert compared > 10


def test_an_eviction_that_is_foreseen_is_told_by_diff() -> None:
    before = [*gpus("a", each=1), template("one"), *serving("p", "a", **owned("ReplicaSet", "w"))]
    after = Cluster.of(tainted(before, "gpu-0", GONE))
    [one] = Cluster.of(before).diff(after).pods
    assert one.after is not None
    assert one.after.ended is not None
    assert [each[0] for each in of(after)] == [one.after.ended.second]
