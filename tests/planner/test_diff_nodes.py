"""`diff` and nodes: those that came, went or changed, taints that evict, and pods that nothing recreates."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.diff.gate import JUDGE
from dra_plan.questions.drain_each.gate import JUDGE as EACH
from dra_plan.text.gate import Gate, Verdict
from tests.build import device, generated, gpus, node, owned, request, running, slice_, taint, taint_rule, template

Plain = dict[str, Any]
FLEET = [*gpus("a", "b"), template("one", request())]
HELD = [
    running("web", "a", "web-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "web")),
    generated("web", "gpu", "a", "gpu-0"),
]


def changes(found: Any) -> dict[str, tuple[str, list[tuple[str, str | None, str | None]]]]:
    return {each.name: (each.change, [(f.field, f.before, f.after) for f in each.fields]) for each in found.nodes}


def fails(found: Any) -> bool:
    return Verdict.FAILED in JUDGE.all_verdicts(Gate(), found.document)


def test_a_taint_a_label_and_less_memory_are_differences_of_the_node() -> None:
    was = node("a", labels={"rack": "r1", "old": "x"}, cpu="8", memory="32Gi")
    now = node(
        "a",
        labels={"rack": "r2"},
        spec={"taints": [taint("dedicated", "research")]},
        cpu="8",
        memory="16Gi",
    )
    found = Cluster.of([was, node("gone")]).diff(Cluster.of([now, node("new")]))
    a = ("Changed", changes(found)["a"][1])
    assert [each for each in a[1] if each[0] != "labels.kubernetes.io/hostname"] == [
        ("taints", None, "dedicated=research:NoSchedule"),
        ("labels.rack", "r1", "r2"),
        ("labels.old", "x", None),
        ("allocatable.memory", "32Gi", "16Gi"),
    ]
    assert {name: each[0] for name, each in changes(found).items()} == {"a": "Changed", "gone": "Gone", "new": "New"}
    told = str(found)
    assert "taint dedicated=research:NoSchedule added; label rack: r1 -> r2; label old: x -> none; memory: 32Gi" in told
    assert not fails(found)


def test_a_cordon_is_said_once_and_without_its_taint() -> None:
    cordoned = {"unschedulable": True, "taints": [taint("node.kubernetes.io/unschedulable")]}
    found = Cluster.of([node("a")]).diff(Cluster.of([node("a", spec=cordoned)]))
    assert changes(found) == {"a": ("Changed", [("unschedulable", "false", "true")])}
    assert "a      Changed   cordoned\n" in str(found)


def test_the_same_nodes_are_no_difference_and_edits_are_not_repeated() -> None:
    cluster = Cluster.of(FLEET)
    assert changes(cluster.diff(Cluster.of(FLEET))) == {}
    for edited in (cluster.drain("a"), cluster.cordon("a"), cluster.without("node/a"), cluster.add_nodes(2, like="a")):
        assert changes(cluster.diff(edited)) == {}


def test_a_device_taint_is_the_reason_with_the_device_and_the_gate() -> None:
    bad = device("gpu-0", taints=[taint("xid", "79", effect="NoExecute")])
    objects = [*(each for each in FLEET if each.get("spec", {}).get("nodeName") != "a"), slice_("a", bad), *HELD]
    old = Cluster.of(objects, feature_gates={"DRADeviceTaints": False, "DRADeviceTaintRules": False})
    told = str(old.diff(Cluster.of(objects)))
    said = "default/web: device gpu.example.com/a/gpu-0 has taint xid=79:NoExecute"
    assert f"{said}; feature gate DRADeviceTaints is on, and was off before." in told
    [pod] = [each for each in old.diff(Cluster.of(objects)).document.pods if each.name == "web"]
    assert pod.after.ended.device.device == "gpu.example.com/a/gpu-0"
    assert "feature gate" not in str(Cluster.of([*FLEET, *HELD]).diff(Cluster.of(objects)))


def test_the_rule_that_sets_the_taint_is_named() -> None:
    rule = taint_rule("recall", taint("bad", effect="NoExecute"), pool="a")
    found = Cluster.of([*FLEET, *HELD]).diff(Cluster.of([*FLEET, *HELD, rule]))
    assert "default/web: device gpu.example.com/a/gpu-0 has taint bad:NoExecute, which rule recall sets" in str(found)


@pytest.mark.parametrize("edit", ["drain", "without"])
def test_a_bare_pod_of_a_node_that_goes_is_a_loss(edit: str) -> None:
    """Nothing recreates it, so `diff` agrees with `impact`, `maintain` and `kubectl drain`."""
    web = running("web", "a", metadata={"uid": "u-web", **owned("ReplicaSet", "web")})
    agent = running("agent", "a", metadata={"uid": "u-agent", **owned("DaemonSet", "agents")})

    def after(*pods: Plain) -> Any:
        cluster = Cluster.of([node("a"), node("b"), *pods])
        return cluster.diff(cluster.drain("a") if edit == "drain" else cluster.without("node/a"))

    assert not fails(after(web, agent))
    assert fails(after(web, agent, running("bare", "a")))
    assert not fails(after(web, running("bare", "b")))


def test_a_pod_that_you_remove_yourself_is_no_loss() -> None:
    cluster = Cluster.of([node("a"), running("bare", "a")])
    assert not fails(cluster.diff(cluster.without("pod/bare")))


def test_each_drain_counts_pods_that_nothing_recreates() -> None:
    def verdicts(*pods: Plain) -> list[Verdict]:
        return list(EACH.all_verdicts(Gate(), Cluster.of([node("a"), node("b"), *pods]).drain_each().document))

    assert Verdict.FAILED in verdicts(running("bare", "a"))
    assert Verdict.FAILED not in verdicts(running("web", "a", metadata={"uid": "u", **owned("ReplicaSet", "web")}))
