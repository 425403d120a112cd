"""Situations that readers typed who had not seen the tool: causes, and next steps that nobody should regret."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    node,
    pod,
    priority_class,
    running,
    taint,
)


def text(objects: list[Object], owner: str = "pod/p", **options: Any) -> str:
    return str(Cluster.of(objects).explain(owner, **options))


def suggested(objects: list[Object]) -> list[list[str]]:
    [found] = Cluster.of(objects).explain("pod/p").to_dict()["verdicts"]
    return [[change["code"] for change in each["changes"]] for each in found.get("suggestions", [])]


LEAVING = {
    "ToBeDeletedByClusterAutoscaler": "the Cluster Autoscaler is deleting this node",
    "karpenter.sh/disrupted": "Karpenter is removing this node",
    "node.kubernetes.io/unreachable": "its kubelet no longer reports to the API server",
    "node.kubernetes.io/disk-pressure": "its disk is nearly full",
    "node.cloudprovider.kubernetes.io/shutdown": "the machine is shut down",
}


@pytest.mark.parametrize("key", LEAVING)
def test_nobody_is_told_to_tolerate_a_node_that_leaves(key: str) -> None:
    default = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    objects = [node("a", spec={"taints": [taint(key, "1795600000")]}), pod("p", tolerations=[default])]
    assert suggested(objects) == []
    assert f"a: taint {key}=1795600000:NoSchedule ({LEAVING[key]})\n" in text(objects)


def test_a_priority_below_all_others_is_named() -> None:
    full = [node("a", cpu="4"), running("w", "a", cpu="3"), priority_class("low", -10)]
    assert "Its priority is -10" in text([*full, pod("p", cpu="2", priorityClassName="low")])
    assert "priority" not in text([*full, pod("p", cpu="2")])


@pytest.mark.parametrize(("left", "helps"), [("820m", True), ("600m", False)])
def test_a_request_is_lowered_to_a_third_at_most(left: str, helps: bool) -> None:
    assert suggested([node("a", cpu=left), pod("p", cpu="2")]) == ([["lower-request"]] if helps else [])
