"""The states that `diff` compares: changes over a cluster, two whole states, and all pods scheduled again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    device_class,
    generated,
    gpus,
    node,
    owned,
    pod,
    request,
    running,
    slice_,
    taint,
    taint_rule,
    template,
)
from tests.cli.running import in_process

Plain = dict[str, Any]
FLEET = [*gpus("a", "b"), template("one", request())]
SERVE = owned("ReplicaSet", "serve")


def runs(name: str, where: str, device: str, **metadata: Any) -> list[Plain]:
    made = running(name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, metadata={**SERVE, **metadata})
    return [made, generated(name, "gpu", where, device)]


CLUSTER = [*FLEET, *runs("s1", "a", "gpu-0"), *runs("s2", "a", "gpu-1")]
FILES = {
    "fleet": CLUSTER,
    "change": [slice_("a", "gpu-0")],
    "other": [*gpus("a"), *CLUSTER[-4:]],
    "nothing": [slice_("a"), slice_("b")],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, objects in FILES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return tmp_path


def told(*arguments: str) -> Plain:
    ran = in_process("diff", *arguments, "-o", "json")
    assert ran.status in (0, 1), ran.err
    found: Plain = json.loads(ran.out)
    return found


def test_a_file_without_nodes_is_applied_over_the_cluster(files: Path) -> None:
    found = told(str(files / "fleet.json"), str(files / "change.json"))
    assert [(pool["pool"], pool["change"]) for pool in found["pools"]] == [("a", "Changed")]
    assert [held["device"] for held in found["heldDevices"]] == ["gpu-1"]
    [edit] = found["after"]["whatIf"]
    assert [(one["kind"], one["change"]) for one in edit["applied"]] == [("ResourceSlice", "Changed")]
    assert "applied to" in in_process("diff", str(files / "fleet.json"), str(files / "change.json")).err


def test_a_file_with_nodes_is_a_state(files: Path) -> None:
    found = told(str(files / "fleet.json"), str(files / "other.json"))
    assert [(pool["pool"], pool["change"]) for pool in found["pools"]] == [("b", "Gone")]
    assert "whatIf" not in found["after"]


def test_a_rule_that_is_applied_is_served(files: Path) -> None:
    """As `impact -f` says it."""
    rule = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [taint_rule("recall", taint("bad", effect="NoExecute"), pool="a")],
    }
    (files / "rule.json").write_text(json.dumps(rule))
    found = told(str(files / "fleet.json"), str(files / "rule.json"), "--kubernetes-version", "1.36")
    assert {pod["name"]: pod["after"]["ended"]["by"] for pod in found["pods"]} == {
        "s1": "device taint",
        "s2": "device taint",
    }
    off = ("--kubernetes-version", "1.36", "--feature-gates", "DRADeviceTaintRules=false")
    assert told(str(files / "fleet.json"), str(files / "rule.json"), *off)["pods"] == []


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_a_rule_that_only_one_of_two_states_has_is_served(version: str) -> None:
    """1.34 has no gate of its own for rules: DRADeviceTaints is enough there."""
    objects = [*gpus("a"), template("one", request()), *runs("s1", "a", "gpu-0")]
    rule = taint_rule("recall", taint("bad", effect="NoExecute"), pool="a")
    plain, ruled = (Cluster.of(each, kubernetes_version=version) for each in (objects, [*objects, rule]))
    for one, other in ((plain, ruled), (ruled, plain)):
        found = one.diff(other).document
        assert [pod.change for pod in found.pods] == (["Lost"] if other is ruled else ["Gained"])
        assert "taint-rules-taken-as-on" in {each.code for each in found.warnings}
    assert not plain.diff(ruled.at(feature_gates={"DRADeviceTaints": False})).document.pods


def test_an_old_rule_keeps_the_gates_of_its_release() -> None:
    rule = taint_rule("recall", taint("bad", effect="NoExecute"), pool="a")
    cluster = Cluster.of([*gpus("a"), template("one", request()), *runs("s1", "a", "gpu-0"), rule])
    found = cluster.diff(cluster.cordon("a")).document
    assert "taint-rules-ignored" in {each.code for each in found.warnings}
    assert not found.pods


def test_states_are_said(files: Path) -> None:
    found = told("--before", str(files / "fleet.json"), "--after", str(files / "change.json"), "--infer-nodes")
    assert ("b", "Gone") in [(pool["pool"], pool["change"]) for pool in found["pools"]]
    assert {pod["change"] for pod in found["pods"]} == {"Gone"}


HALVES = [("--before", "fleet.json"), ("--after", "fleet.json"), ("fleet.json", "--after", "fleet.json")]


@pytest.mark.parametrize("given", HALVES)
def test_half_a_pair_of_states_is_refused(files: Path, given: tuple[str, ...]) -> None:
    ran = in_process("diff", *(str(files / each) if each.endswith("json") else each for each in given))
    assert ran.status == 2
    assert ran.err.startswith("error: ")


def test_each_drain_is_about_one_state(files: Path) -> None:
    fleet = str(files / "fleet.json")
    assert in_process("diff", fleet, "--drain", "each", "--restarted").status == 2


def test_what_the_api_server_keeps_stays_when_an_object_is_applied() -> None:
    cluster = Cluster.of(CLUSTER)
    bare = [{key: value for key, value in obj.items() if key != "status"} for obj in CLUSTER]
    after = cluster.applied(Cluster.of(bare))
    assert after.inventory.claims == cluster.inventory.claims
    assert [pod.spec.node_name for pod in after.inventory.pods] == ["a", "a"]
    assert {one.change for one in after.what_if[0].applied} == {"Unchanged"}


def test_an_object_that_is_new_is_created() -> None:
    after = Cluster.of(CLUSTER).applied(Cluster.of([device_class("mig", "false")]))
    assert [one.change for one in after.what_if[0].applied] == ["Created"]
    assert str(Cluster.of(CLUSTER).diff(after)).endswith("What if: deviceclass/mig created.")


# Every pod placed anew


def test_pods_are_placed_anew() -> None:
    cluster = Cluster.of(CLUSTER).cordon("a")
    found = cluster.diff(cluster.restarted())
    assert [(one.before.node_name, one.after.node_name) for one in found.pods if one.before and one.after] == [
        ("a", "b"),
        ("a", "b"),
    ]
    assert "all pods scheduled again (2 pods pending again" in str(found)


def test_without_devices_pods_that_run_lose_their_place_only_when_they_are_placed_anew(files: Path) -> None:
    change = [str(files / "fleet.json"), str(files / "nothing.json")]
    assert told(*change)["pods"] == []
    assert [pod["change"] for pod in told(*change, "--restarted")["pods"]] == ["Lost", "Lost"]


def test_bare_pods_are_placed_anew_too_and_those_of_nodes_stay() -> None:
    daemon = pod("daemon", nodeName="b", metadata=owned("DaemonSet", "d"))
    edit = Cluster.of([*gpus("a"), node("b"), pod("bare", nodeName="b"), daemon]).restarted().what_if[0]
    assert [each.name for each in edit.pending] == ["bare"]
