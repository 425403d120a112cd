"""Later states of a cluster that settles: what differs is written, what scheduler and controllers did stays."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from tests.build import gpus, node, owned, placed, pod, taint_rule, template, workload
from tests.conformance.recorded import cases as read

from .test_answers import GONE, quota, serving, tainted

Plain = dict[str, Any]
BASE = [*gpus("a", "b", each=1), template("one")]
SHAPE = pod(templates={"gpu": "one"})


def settled(cluster: Cluster, *then: Any, **options: Any) -> Any:
    return cluster.schedule(settle=True, then=then, **options).document.settled


def places(document: Any) -> dict[str, str | None]:
    return {each.name: each.node_name for each in document.pods}


def test_a_taint_that_comes_evicts() -> None:
    before = [*BASE, workload("Deployment", "w", SHAPE, replicas=1)]
    first = settled(Cluster.of(before))
    [(name, where)] = places(first).items()
    after = [
        *tainted([each for each in before if each["metadata"]["name"] != f"{where}-gpu.example.com"], "none"),
        *tainted([each for each in before if each["metadata"]["name"] == f"{where}-gpu.example.com"], "gpu-0", GONE),
    ]
    document = settled(Cluster.of(before), after)
    assert [(each.name, each.by) for each in document.evicted] == [(name, "device taint")]
    assert set(places(document).values()) == {"a", "b"} - {where}


def test_a_what_if_may_be_a_later_state() -> None:
    cluster = Cluster.of([*BASE, *serving("w-x", "a", **owned("ReplicaSet", "w"))])
    document = settled(cluster, cluster.drain("a"), cluster.drain("a").cordon("b"))
    assert places(document) == {"w-x": "b"}
    assert document.evicted == []
    assert places(settled(cluster, cluster.cordon("b").drain("a"))) == {"w-x": None}


def test_a_pod_that_the_cluster_has_made_takes_the_place_of_the_foreseen_one() -> None:
    before = [*BASE, workload("Deployment", "w", SHAPE, replicas=1)]
    made = placed("w-5d4f-xyz12", "a", metadata=owned("Deployment", "w"))
    document = settled(Cluster.of(before), [*before, made])
    assert places(document) == {"w-5d4f-xyz12": "a"}


def test_a_quota_that_comes_refuses() -> None:
    before = [*BASE, workload("Deployment", "w", SHAPE, replicas=1)]
    after = [*BASE, workload("Deployment", "w", SHAPE, replicas=2), quota(pods="1")]
    document = settled(Cluster.of(before), after)
    assert len(document.pods) == 1
    assert any("exceeded quota: q" in each.message for each in document.events)


def test_a_rule_of_a_later_state_is_served() -> None:
    rule = taint_rule("r", pool="a")
    rule["spec"]["taint"] = {"key": "k", "effect": "NoExecute"}
    before = [*BASE, *serving("p", "a")]
    assert [each.name for each in settled(Cluster.of(before), [*before, rule]).evicted] == ["p"]


def test_pods_that_come_change_and_go() -> None:
    small = node("a", cpu="1")
    wide = node("a", cpu="2")
    waits = pod("q", cpu="2")
    first = Cluster.of([small, pod("p", cpu="1"), waits])
    assert places(settled(first)) == {"p": "a", "q": None}
    assert places(settled(first, [small, waits], [wide, waits])) == {"q": "a"}


def test_events_and_later_states_exclude_each_other() -> None:
    cluster = Cluster.of([node("a")])
    with pytest.raises(UsageError, match="events and then cannot be combined"):
        cluster.schedule(settle=True, then=[cluster], events=[{"wait": 1}])


def test_states_that_are_the_same_change_nothing() -> None:
    for case in read("schedule", every=23):
        cluster = Cluster.of(case["objects"], feature_gates=case.get("featureGates"))
        once, again = settled(cluster), settled(cluster, cluster, case["objects"])
        assert (once.pods, once.claims) == (again.pods, again.claims)
