"""What holds of every settled cluster, shown on random ones: workloads of all kinds, taints, quotas and priorities."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, structs, to_builtins

from dra_plan import Cluster
from dra_plan.controllers.settle import Settling
from dra_plan.manifests import kinds
from dra_plan.text.structured import json
from tests.build import generated, gpus, manifest, owned, pod, priority_class, running, taint, template, workload

Plain = dict[str, Any]
KINDS = ("Deployment", "StatefulSet", "Parallel", "Job", "ReplicaSet")
EXAMPLES = 20


@st.composite
def clusters(draw: st.DrawFn) -> list[Plain]:
    """Up to three nodes with devices, pods on some of them, and pods and workloads that want more."""
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    each = draw(st.integers(1, 2))
    objects = [*gpus(*names, each=each), template("one"), priority_class("high", 100)]
    for name in names:
        if draw(st.booleans()):
            objects += _holding(f"run-{name}", name, draw(st.sampled_from([{}, owned("ReplicaSet", "absent")])))
    for number in range(draw(st.integers(0, 3))):
        objects.append(_workload(f"w{number}", draw(st.sampled_from(KINDS)), draw(st.integers(1, 3)), draw(_shapes())))
    for number in range(draw(st.integers(0, 2))):
        objects.append({**draw(_shapes()), "metadata": {"name": f"p{number}", "namespace": "default"}})
    if draw(st.booleans()):
        objects = _tainted(objects, draw(st.sampled_from(names)), draw(st.sampled_from(["NoExecute", "NoSchedule"])))
    if draw(st.booleans()):
        hard = {draw(st.sampled_from(["pods", "requests.cpu"])): str(draw(st.integers(1, 6)))}
        objects.append(manifest("ResourceQuota", "q", namespace="default", spec={"hard": hard}))
    return objects


@st.composite
def _shapes(draw: st.DrawFn) -> Plain:
    entry = {"templates": {"gpu": "one"}} if draw(st.booleans()) else {}
    return pod("x", cpu=draw(st.sampled_from(["1", "5"])), priority=draw(st.sampled_from([0, 100])), uid=None, **entry)


def _workload(name: str, kind: str, replicas: int, shape: Plain) -> Plain:
    if kind == "Job":
        spec = {"parallelism": replicas, "completions": replicas, "template": {"spec": shape["spec"]}}
        return manifest("Job", name, namespace="default", metadata={"uid": f"u-{name}"}, spec=spec)
    policy = {"podManagementPolicy": "Parallel"} if kind == "Parallel" else {}
    return workload("StatefulSet" if kind == "Parallel" else kind, name, shape, replicas=replicas, **policy)


def _holding(name: str, where: str, metadata: Plain) -> list[Plain]:
    made = running(name, where, f"{name}-gpu-x7k2p", templates={"gpu": "one"}, cpu="2", metadata=metadata)
    return [made, generated(name, "gpu", where, "gpu-0")]


def _tainted(objects: list[Plain], pool: str, effect: str) -> list[Plain]:
    """The first device of the pool has a taint of that effect."""

    def changed(one: Plain) -> Plain:
        if one["kind"] != "ResourceSlice" or one["spec"]["pool"]["name"] != pool:
            return one
        first, *others = one["spec"]["devices"]
        return {**one, "spec": {**one["spec"], "devices": [{**first, "taints": [taint("xid", "79", effect)]}, *others]}}

    return [changed(one) for one in objects]


def _settled(objects: list[Plain], **options: Any) -> Plain:
    plan = Cluster.of(objects).schedule(settle=True, order="name", **options)
    document: Plain = plan.to_dict()["settled"]
    return document


def _told(document: Plain) -> Any:
    """Where everything is in the end, and what ended; pods of one workload are alike."""
    pods = Counter(
        (str(each["owner"] or each["name"]), each["nodeName"], tuple(each["devices"])) for each in document["pods"]
    )
    return pods, Counter(each["name"] for each in document["evicted"] if each["name"].startswith("run-"))


@given(clusters())
@settings(max_examples=EXAMPLES, deadline=None)
def test_settling_twice_is_settling_once(objects: list[Plain]) -> None:
    once, twice = (_settled(objects, events=[{"settle": 1}] * times) for times in (1, 3))
    assert _told(once) == _told(twice)
    assert once["unsettled"] == twice["unsettled"]


@given(clusters())
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_has_settled_stays_as_it_is(objects: list[Plain]) -> None:
    """The cluster at the end, read as an input: nobody is bound or ends in it."""
    plan = Cluster.of(objects).schedule(settle=True, order="name")
    assert plan.settled is not None
    if plan.settled.unsettled or plan.to_dict()["settled"]["later"]:
        return
    inventory = plan.settled.state.inventory
    holders = dict.fromkeys(kind.holder for kind in kinds.every())
    found = (each for holder in holders for each in getattr(inventory, holder))
    again = _settled([{"apiVersion": each.api_version, "kind": each.kind, **to_builtins(each)} for each in found])
    assert again["evicted"] == []
    assert _told(again)[0] == _told(plan.to_dict()["settled"])[0]


@given(clusters(), st.randoms(use_true_random=False))
@settings(max_examples=EXAMPLES, deadline=None)
def test_the_order_of_objects_changes_nothing(objects: list[Plain], random: Any) -> None:
    shuffled = list(objects)
    random.shuffle(shuffled)
    assert _told(_settled(shuffled)) == _told(_settled(objects))


@given(clusters())
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_device_is_held_twice_at_any_step(objects: list[Plain]) -> None:
    before, looked = Settling._run_scheduler, 0

    def looking(self: Settling) -> None:
        nonlocal looked
        before(self)
        looked += 1
        held = Counter(
            (result.driver, result.pool, result.device)
            for claim in self._simulation.cluster.claims
            if claim.allocation is not None
            for result in claim.allocation.devices.results
        )
        assert max(held.values(), default=0) <= 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settling, "_run_scheduler", looking)
        _settled(objects)
    assert looked


@given(clusters())
@settings(max_examples=EXAMPLES, deadline=None)
def test_where_controllers_have_nothing_to_do_it_is_schedule_to_the_byte(objects: list[Plain]) -> None:
    quiet = [each for each in objects if each["kind"] != "ResourceQuota"]
    alone, both = (Cluster.of(quiet).schedule(settle=settle, order="name").document for settle in (False, True))
    assert both.settled
    if not both.settled.evicted:
        left = (
            structs.replace(document, settled=UNSET, outlook=UNSET, taint_evictions=UNSET) for document in (both, alone)
        )
        assert len({json(document) for document in left}) == 1
