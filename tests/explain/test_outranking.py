"""A higher priority, with which a pod preempts others on a node that has no room for it."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, node, owned_by, pod, priority_class, running, workload

from .test_remedies import changes, helps, told

FULL = running("w", "a", cpu="3", priority=10)
WANTS = pod("p", cpu="3")
CLASSES = [priority_class("low", 5), priority_class("mid", 50), priority_class("top", 500)]
CODE = ["raise-priority"]


def quota(name: str, scope: str = "PriorityClass", **of: Any) -> Object:
    wanted = {"scopeName": scope, "operator": "In", "values": [name], **of}
    spec = {"hard": {"pods": "9"}, "scopeSelector": {"matchExpressions": [wanted]}}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": spec,
    }


def text(objects: list[Object]) -> str:
    return " ".join(str(Cluster.of(objects).explain("pod/p")).split())


def test_the_lowest_class_that_helps_is_the_last_suggestion() -> None:
    objects = [node("a", cpu="4"), FULL, *CLASSES, WANTS]
    verdict = told(objects, "pod/p")
    assert changes(verdict) == [["lower-request"], ["add-node"], CODE] == changes(told([*reversed(objects)], "pod/p"))
    assert verdict["suggestions"][-1]["evicts"] == ["default/w"]
    helps(objects, "pod/p", verdict["suggestions"][-1])
    said = "use PriorityClass mid with value 50 (the pod then fits on a after evicting default/w; nothing recreates "
    assert f"{said}default/w)" in text(objects)


def test_the_preempted_pods_are_created_again() -> None:
    of = workload("ReplicaSet", "w", pod("-", cpu="3"), replicas=1)
    objects = [node("a", cpu="4"), owned_by(FULL, "ReplicaSet", "w"), of, *CLASSES, WANTS]
    assert "no node would take the replacement of default/w)" in text(objects)
    small = node("b", cpu="3500m", labels={"pool": "b"})
    chosen = pod("p", cpu="3", nodeSelector={"kubernetes.io/hostname": "a"})
    assert "the evicted pod's replacement fits on another node)" in text([*objects[:-1], small, chosen])


def test_the_pods_of_a_daemon_set_may_get_a_new_class() -> None:
    daemon_set = workload("DaemonSet", "log", pod("-", cpu="3"))
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    waits = owned_by(pod("p", cpu="3", priority=0, affinity={"nodeAffinity": required}), "DaemonSet", "log")
    objects = [node("a", cpu="4"), running("w", "a", cpu="3"), daemon_set, waits]
    one = told(objects, "pod/p")["suggestions"][-1]
    assert one["changes"][0] == {"code": "raise-priority", "isNew": True, "value": 1, "priorityClass": "log"} | {
        "notRecreated": ["default/w"]
    }
    helps(objects, "pod/p", one)
    assert "create a PriorityClass with a value above 0, and name it in the pods (priorityClassName)" in text(objects)
    assert CODE not in changes(told([*objects[:2], WANTS], "pod/p"))


@pytest.mark.parametrize(
    ("objects", "helps_"),
    [
        ([FULL, CLASSES[0], WANTS], False),  # not above the other pod
        ([FULL, priority_class("mid", 50, preemptionPolicy="Never"), WANTS], False),
        ([FULL, CLASSES[1], pod("p", cpu="3", preemptionPolicy="Never")], False),
        ([owned_by(FULL, "DaemonSet", "d"), CLASSES[1], WANTS], False),  # it is created again on its node
        ([owned_by(FULL, "ReplicaSet", "r"), CLASSES[1], owned_by(WANTS, "ReplicaSet", "r")], False),
        ([running("w", "a", cpu="500m"), CLASSES[1], pod("p", cpu="9")], False),  # never enough room
        ([FULL, priority_class("system-cluster-critical", 2_000_000_000), WANTS], False),
        ([FULL, priority_class("system-cluster-critical", 2_000_000_000), quota("system-node-critical"), WANTS], False),
        (
            [FULL, priority_class("system-cluster-critical", 2_000_000_000), quota("system-cluster-critical"), WANTS],
            True,
        ),
        ([FULL, CLASSES[1], WANTS], True),
    ],
)
def test_only_classes_that_the_pod_may_use_and_that_help(objects: list[Object], helps_: bool) -> None:
    assert (CODE in changes(told([node("a", cpu="4"), *objects], "pod/p"))) is helps_
