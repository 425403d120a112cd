"""What is told of pod groups: table, document, trace and warnings."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import schedule
from tests.build import member, node, placed, pod_group
from tests.scheduler.groups.planning import GANGS, TOPOLOGY, plan
from tests.scheduler.reading import codes


def group_of(document: dict[str, Any]) -> dict[str, Any]:
    [found] = document["podGroups"]
    return found


def warning(document: dict[str, Any], code: str) -> str:
    [found] = [each["message"] for each in document["warnings"] if each["code"] == code]
    return found


def test_a_group_is_shown_as_a_group() -> None:
    objects = [node("n", cpu="5"), pod_group(), *(member(name, cpu="2") for name in "ab")]
    found = group_of(plan(objects))
    assert (found["outcome"], found["policy"], found["minCount"]) == ("Scheduled", "gang", 2)
    assert (found["pods"], found["bound"], found["attempts"]) == (2, 2, 1)
    lines = [line.split() for line in str(schedule(objects, feature_gates=GANGS)).splitlines()]
    assert ["POD", "GROUP", "OUTCOME", "BOUND", "NEEDS", "MESSAGE"] in lines
    assert ["default/g", "Scheduled", "2", "of", "2", "2", "-"] in lines


@pytest.mark.parametrize(
    ("objects", "outcome", "message"),
    [
        ([pod_group(), member("a")], "Gated", "waiting for minCount pods from a gang to appear in scheduling queue"),
        ([pod_group(least=1), member("a", cpu="99")], "Unschedulable", "pod group is unschedulable"),
        ([pod_group()], "Empty", "-"),
        ([pod_group(least=0), member("a")], "Scheduled", "-"),
    ],
    ids=["gated", "unschedulable", "empty", "basic"],
)
def test_outcomes(objects: list[dict[str, Any]], outcome: str, message: str) -> None:
    objects = [node("n"), *objects]
    assert group_of(plan(objects))["outcome"] == outcome
    [row] = [line for line in str(schedule(objects, feature_gates=GANGS)).splitlines() if "default/g" in line]
    assert row.split("  ")[-1].strip() == message


def test_a_pod_without_its_group_says_so() -> None:
    document = plan([node("n"), member("a")])
    assert document["pods"][0]["waiting"] == 'waiting for pods\'s pod group "g" to appear in scheduling queue'
    assert document["podGroups"] == []


def test_the_trace_names_group_and_domain() -> None:
    labelled = [node(name, cpu="5", labels={"zone": zone}) for name, zone in (("n", "a"), ("m", "b"))]
    spec = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    objects = [*labelled, pod_group(**spec), *(member(name, cpu="2") for name in "ab")]
    attempts = plan(objects, TOPOLOGY, trace=True)["trace"]["attempts"]
    assert {each["podGroup"] for each in attempts} == {"default/g"}
    assert [(each["pod"], each["domain"]) for each in attempts] == [
        ("default/b", "b"),
        ("default/a", "b"),
        ("default/b", "a"),
        ("default/a", "a"),
    ]


def test_gates_that_the_input_shows_to_be_on() -> None:
    objects = [node("n"), pod_group(priority=7, schedulingConstraints={"topology": [{"key": "zone"}]}), member("a")]
    told = warning(plan(objects, {}), "gate-seems-on")
    assert "pods that name a PodGroup: 1, PodGroups: 1" in told
    assert told.endswith(
        "--feature-gates GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true,"
        "WorkloadAwarePreemption=true"
    )
    assert "gate-seems-on" not in codes(plan([node("n"), pod_group(), member("a")]))
    assert "gate-seems-on" not in codes(plan([node("n"), placed("a", "n")], {}))


def test_claims_of_a_group_show_their_gate() -> None:
    users = [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "u-g"}]
    results = [{"request": "r", "driver": "d.example", "pool": "n", "device": "x"}]
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d.example"}}]}},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": users},
    }
    told = warning(plan([node("n"), claim], {}), "gate-seems-on")
    assert told.endswith("--feature-gates DRAWorkloadResourceClaims=true")


@pytest.mark.parametrize("version", ["1.35", "1.37"])
def test_other_releases_schedule_pods_alone(version: str) -> None:
    objects = [node("n", cpu="2"), pod_group(), *(member(name, cpu="2") for name in "ab")]
    document = plan(objects, {"GenericWorkload": True}, kubernetes_version=version)
    assert sorted(str(entry["nodeName"]) for entry in document["pods"]) == ["None", "n"]
    assert {"gate-not-simulated", "gate-seems-on"} <= codes(document)


def test_a_gang_in_part_is_told() -> None:
    document = plan([node("n"), pod_group(least=3), placed("a", "n", schedulingGroup={"podGroupName": "g"})])
    assert warning(document, "gang-in-part").startswith("1 pods in the gang have a node, fewer than its minCount 3")
