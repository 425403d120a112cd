"""Where another release's rules decide, the parts that came to matter are named."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster, allocate, schedule


def node(name: str) -> dict[str, Any]:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def told(objects: list[dict[str, Any]], version: str) -> list[str]:
    warnings = schedule(objects, kubernetes_version=version).to_dict()["warnings"]
    return [w["message"] for w in warnings if w["code"] == "rules-of-another-release"]


@pytest.mark.parametrize(("version", "release"), [("1.34", "1.34.9"), ("1.35", "1.35.6"), ("1.37", "1.37.0")])
def test_parts_are_named_as_far_as_the_input_touches_them(version: str, release: str) -> None:
    said = f"dra-plan has recorded kube-scheduler 1.36, not {release}, and uses its rules for "
    assert told([node("a"), node("b"), pod("p")], version) == [said + "the choice between nodes (docs/releases.md)"]
    assert told([node("a"), pod("p"), pod("q", "9")], version) == [
        said + "the order of pods and the messages of FailedScheduling (docs/releases.md)"
    ]
    assert told([node("a"), pod("p")], version) == []


def test_parts_that_are_known_to_be_different_are_said() -> None:
    [message] = told([node("a"), pod("p", priority=5), pod("q")], "1.37")
    assert "preemption" in message
    assert "; 1.37 changes preemption" in message
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    [message] = told([node("a"), pod("p", volumes=[claim], topologySpreadConstraints=[spread])], "1.37")
    assert "topology spread and pod affinity" in message


@pytest.mark.parametrize("version", ["1.36", "1.36.2"])
def test_nothing_is_said_of_what_was_recorded(version: str) -> None:
    assert told([node("a"), node("b"), pod("p"), pod("q", "9")], version) == []


def test_the_document_and_the_last_line_say_what_1_37_rests_on() -> None:
    new = allocate([node("a")], kubernetes_version="1.37")
    assert new.to_dict()["target"]["basis"] == "pre-release code"
    assert str(new).splitlines()[-1] == "Kubernetes 1.37.0 (pre-release code)."
    old = allocate([node("a")], kubernetes_version="1.36")
    assert "basis" not in old.to_dict()["target"]
    assert str(old).splitlines()[-1] == "Kubernetes 1.36.3."


def test_capacity_says_it_too() -> None:
    cluster = Cluster.of([node("a"), node("b")], kubernetes_version="1.37")
    warnings = cluster.capacity(pod("p"), limit=2).to_dict()["warnings"]
    assert [w["code"] for w in warnings if w["code"] == "rules-of-another-release"] == ["rules-of-another-release"]
    assert "the choice between nodes" in warnings[0]["message"]
