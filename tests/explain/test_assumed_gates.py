"""Gates that are off here and seem to be on in the cluster: the verdict holds only without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    device_class,
    node,
    pod,
    pod_group,
    request,
    running,
    slice_,
    taint,
    taint_rule,
    template,
)
from tests.cli.running import in_process

from .test_remedies import changes

GATES = {"GenericWorkload": True, "GangScheduling": True}
WANTS: Any = {"templates": {"gpu": "one"}, "schedulingGroup": {"podGroupName": "g"}}


def world(least: int = 3, pods: int = 3) -> list[Object]:
    """Nodes a and b have a free GPU each; a third one is on the cordoned node c."""
    nodes = [node("a"), node("b"), node("c", spec={"unschedulable": True})]
    slices = [slice_(name, "gpu-0") for name in "abc"]
    made = [pod(f"p-{at}", **WANTS) for at in range(pods)]
    return [*nodes, *slices, device_class(), template("one", request()), pod_group("g", least), *made]


def told(objects: list[Object], owner: str, **options: Any) -> Object:
    [found] = Cluster.of(objects, **options).explain(owner).to_dict()["verdicts"]
    return dict(found)


def text(objects: list[Object], owner: str, **options: Any) -> str:
    return " ".join(str(Cluster.of(objects, **options).explain(owner)).split())


def test_a_gang_that_lacks_a_node() -> None:
    said = text(world(), "pod/p-0", feature_gates=GATES)
    assert "its pod group g needs 3 pods at the same time, and 2 find a node" in said
    assert "c: devices fit; cordoned" in said
    assert "0 of 3" not in said
    verdict = told(world(), "pod/p-0", feature_gates=GATES)
    assert verdict["gang"].pop("pod") in ("default/p-0", "default/p-1", "default/p-2")
    assert verdict["gang"] == {"name": "g", "least": 3, "found": 2}
    assert changes(verdict) == [["uncordon-node"], ["add-node"]]
    open_ = [
        each | {"spec": {}} if each["metadata"]["name"] == "c" and each["kind"] == "Node" else each for each in world()
    ]
    assert told(open_, "pod/p-0", feature_gates=GATES)["verdict"] == "WouldBind"


def test_without_the_gates_the_headline_says_what_it_holds_for() -> None:
    said = text(world(), "pod/p-0")
    assert said.startswith(
        "pod/default/p-0 would probably stay Pending: its pod group g needs 3 pods at the same time, and 2 find a node"
    )
    assert "This is so if gates GenericWorkload and GangScheduling are on, as the input suggests (pods that" in said
    assert "If they are off, as by default, it would be bound to a now." in said
    verdict = told(world(), "pod/p-0")
    assert (verdict["verdict"], verdict["withGates"]["verdict"]) == ("WouldBind", "Unschedulable")
    codes = [one.code for one in Cluster.of(world()).explain("pod/p-0").document.warnings]
    assert codes.count("gate-seems-on") == 1


def test_a_gang_that_has_its_nodes_needs_no_such_words() -> None:
    assert not told(world(2, 2), "pod/p-0").get("withGates")
    assert "probably" not in text(world(2, 2), "pod/p-0")


def test_gates_that_were_switched_off_are_off() -> None:
    said = text(world(), "pod/p-0", feature_gates=dict.fromkeys(GATES, False))
    assert said.startswith("pod/default/p-0 would be bound to a now.")
    assert "probably" not in said


def test_a_gate_for_ci_is_undecided_where_feature_gates_decide(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": world()}))
    asked = ("explain", str(file), "pod/p-0", "--require-fit")
    undecided = in_process(*asked)
    assert undecided.status == 1
    assert "gate failed: 1 workload is undecided (--require-fit): pod/default/p-0" in undecided.err
    gates = ",".join(GATES)
    assert in_process(*asked, "--feature-gates", gates.replace(",", "=true,") + "=true").status == 1
    assert in_process(*asked, "--feature-gates", gates.replace(",", "=false,") + "=false").status == 0


def test_an_ignored_taint_rule() -> None:
    objects = [
        node("a"),
        device_class(),
        slice_("a", "gpu-0"),
        template("one", request()),
        taint_rule("look", taint("check", "1")),
    ]
    objects.append(pod("p", templates={"gpu": "one"}))
    said = text(objects, "pod/p")
    assert said.startswith("pod/default/p would probably stay Pending: no node can take it (0 of 1).")
    assert "This is so if gate DRADeviceTaintRules is on, as the input suggests (DeviceTaintRule look)." in said
    assert "With the gate on: a: devices: r needs 1" in said
    assert "taint check=1:NoSchedule" in said
    assert "probably" not in text(objects, "pod/p", feature_gates={"DRADeviceTaintRules": True})
    held = [allocated("old", "a/gpu-0", pod="w"), running("w", "a", claims={"g": "old"})]
    assert "probably on" not in text([*objects, *held], "pod/p")  # pending with and without it
