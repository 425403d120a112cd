"""What the cluster's scheduler said last of a pod, beside what is found now: which reasons came, went, or changed."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import explain
from tests.build import device_class, mounts, node, on_csi, placed, pod, request, taint, template, volume_claim

Plain = dict[str, Any]
AWAY = {"taints": [taint("pool", "ml")]}


def waiting(said: str) -> Plain:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
    return pod("p", cpu="6", status={"phase": "Pending", "conditions": [condition]})


def last(said: str, *nodes: Plain) -> Plain:
    [verdict] = explain([*nodes, waiting(said)], "pod/p").to_dict()["verdicts"]
    return dict(verdict["lastMessage"])


SMALL = [node("a", cpu="4"), node("b", cpu="4")]
PREEMPTION = " preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."


@pytest.mark.parametrize("behind", ["", PREEMPTION, " no new claims to deallocate," + PREEMPTION])
def test_the_same_is_said_to_be_the_same(behind: str) -> None:
    told = last(f"0/2 nodes are available: 2 Insufficient cpu.{behind}", *SMALL)
    assert told["sameToday"]
    assert "changed" not in told


OLDER = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"


@pytest.mark.parametrize("behind", ["", PREEMPTION])
def test_older_wording_is_the_same_reason(behind: str) -> None:
    modes = {"accessModes": ["ReadWriteOncePod"]}
    claimed = [on_csi("v", **modes), volume_claim("v", bound="v", spec=modes), placed("r", "a", volumes=mounts("v"))]

    def told(said: str) -> Plain:
        asked = waiting(said)
        asked["spec"] |= {"volumes": mounts("v"), "nodeSelector": {"pool": "ml"}}
        nodes = [node("a", labels={"pool": "ml"}), node("b")]
        [verdict] = explain([*nodes, *claimed, asked], "pod/p").to_dict()["verdicts"]
        return dict(verdict["lastMessage"])

    assert told(f"0/2 nodes are available: 1 {OLDER}, 1 {AFFINITY}.{behind}")["sameToday"]
    changed = told(f"0/2 nodes are available: 2 {OLDER}.{behind}")
    assert not changed["sameToday"]
    assert {(each["before"], each["nodes"]) for each in changed["changed"]} == {(2, 1), (0, 1)}
    assert all(each["reason"] != OLDER for each in changed["changed"])


@pytest.mark.parametrize("behind", ["", PREEMPTION])
def test_reasons_that_came_went_and_changed(behind: str) -> None:
    said = f"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector.{behind}"
    told = last(said, *SMALL, node("c", spec=AWAY))
    changed = {(each["reason"], each["before"], each["nodes"]) for each in told["changed"]}
    assert changed == {
        ("Insufficient cpu", 1, 2),
        ("node(s) didn't match Pod's node affinity/selector", 2, 0),
        ("node(s) had untolerated taint(s)", 0, 1),
    }
    text = str(explain([*SMALL, node("c", spec=AWAY), waiting(said)], "pod/p"))
    now = text.partition(" Now: ")[2].partition("\n")[0]
    assert '"Insufficient cpu" on 2 nodes (was 1)' in now
    assert "\"node(s) didn't match Pod's node affinity/selector\" on no node (was 2)" in now
    assert '"node(s) had untolerated taint(s)" on 1 node (was 0)' in now


@pytest.mark.parametrize(
    "said",
    [
        "no nodes available to schedule pods",
        "0/2 nodes are available: ",
        "0/2 nodes are available: some, 2 others.",
        "0/2 nodes are available: 99999999999999999999 Insufficient cpu.",
        'running "Filter" plugin: 0/2 nodes are available: 2 x.',
    ],
)
def test_of_a_message_that_counts_nothing_no_change_is_told(said: str) -> None:
    told = last(said, *SMALL)
    assert not told["sameToday"]
    assert "changed" not in told
    assert f"The cluster last said: {said}" in str(explain([*SMALL, waiting(said)], "pod/p"))


@pytest.mark.parametrize(
    "said",
    [
        "0/2 nodes are available: 2 cannot allocate all claims.",
        "0/2 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims.",
    ],
)
def test_where_the_answer_is_unknown_the_message_is_whole_and_compared_with_nothing(said: str) -> None:
    asked = {**waiting(said), "spec": pod("p", templates={"gpu": "t"})["spec"]}
    objects = [node("a"), node("b"), device_class(), template("t", request("gpu")), asked]
    [verdict] = explain(objects, "pod/p").to_dict()["verdicts"]
    assert verdict["verdict"] == "Unknown"
    assert not verdict["lastMessage"]["sameToday"]
    assert "changed" not in verdict["lastMessage"]
    assert f"  The cluster last said: {said}\n" in str(explain(objects, "pod/p"))


def test_a_pod_that_would_be_bound_now() -> None:
    said = "0/1 nodes are available: 1 Insufficient cpu."
    told = str(explain([node("a"), waiting(said)], "pod/p"))
    assert f"The cluster last said: {said} It would fit now." in told
