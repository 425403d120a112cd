"""Suspended workloads, and pods that Kueue holds back, as what they will be; what is not simulated is named."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import gpus, manifest, node, pod, taint, template, workload

Plain = dict[str, Any]
QUEUE = {"kueue.x-k8s.io/queue-name": "lq"}
GATE = [{"name": "kueue.x-k8s.io/admission"}]
BASE = [*gpus("a", each=4), template()]
SHAPE = pod(templates={"gpu": "t"})


RUNS_ONCE = {**SHAPE, "spec": {**SHAPE["spec"], "restartPolicy": "Never"}}


def job(name: str = "j", *, stored: bool = True, labels: dict[str, str] | None = None, **spec: Any) -> Plain:
    made = workload("Job", name, RUNS_ONCE, uid="" if stored else None, **{"suspend": True, "parallelism": 2, **spec})
    return {**made, "metadata": {**made["metadata"], **({"labels": labels} if labels else {})}}


def said(answer: Any, *codes: str) -> list[tuple[str, str]]:
    warnings = answer.document.warnings
    return [(each.object, each.message) for each in warnings if each.code in codes]


RESUMED = "is suspended: planned as if resumed"


@pytest.mark.parametrize("question", ["schedule", "place"])
def test_a_named_job_is_planned(question: str) -> None:
    answer = getattr(Cluster.of([*BASE, job()]), question)("job/j")
    assert said(answer, "suspended") == [("Job default/j", RESUMED)]
    document = answer.document
    assert len(document.pods if question == "schedule" else document.placed) == 2


def test_a_new_job_is_planned_without_its_name() -> None:
    cluster = Cluster.of([*BASE, job(stored=False, labels=QUEUE)])
    plan = cluster.schedule()
    assert [pod.node_name for pod in plan] == ["a", "a"]
    queued = "waits until Kueue admits it from queue lq: planned as if admitted, without Kueue's own quotas"
    assert said(plan, "suspended") == [("Job default/j", queued)]
    assert said(cluster.allocate(), "suspended") == said(cluster.explain(), "suspended") == said(plan, "suspended")


def test_others_of_a_cluster_are_left_out_which_is_said() -> None:
    plan = Cluster.of([*BASE, job("one"), job("two")]).schedule()
    assert not len(plan)
    [(_, message)] = said(plan, "suspended-left-out")
    assert message.startswith("2 workloads are suspended and create no pods now (Job default/one, Job default/two): ")
    assert message.endswith("name them to plan them as if they were resumed")
    assert not said(Cluster.of([*BASE, job("one"), workload("Job", "two")]).schedule("job/two"), "suspended-left-out")


def test_kinds_that_are_unknown() -> None:
    custom = manifest(
        "TrainJob", "t", version="example.com/v1", spec={"suspend": True, "parts": [{"replicas": 3, "template": SHAPE}]}
    )
    plan = Cluster.of([*BASE, custom]).schedule()
    assert len(plan) == 3
    assert said(plan, "suspended") == [("TrainJob default/t", RESUMED)]


def test_pods_behind_kueues_gate() -> None:
    held = pod("p", labels=QUEUE, schedulingGates=GATE)
    cluster = Cluster.of([node("a"), held])
    [here] = cluster.schedule()
    assert here.outcome == "Gated"
    [later] = cluster.schedule("pod/p")
    assert later.outcome == "Bound"
    both = pod("p", schedulingGates=[*GATE, {"name": "example.com/other"}])
    [still] = Cluster.of([node("a"), both]).schedule("pod/p")
    assert still.outcome == "Gated"


def test_room_drains_growth_and_differences_count_them() -> None:
    cluster = Cluster.of([*BASE, job(stored=False)])
    [item] = cluster.capacity()
    assert (item.scheduled.copies, item.replicas.wanted, item.replicas.missing) == (4, 2, 2)
    assert cluster.grow(like="a").document.pods == 2
    assert [one.change for one in cluster.diff(cluster.cordon("a")).pods] == ["Lost", "Lost"]
    assert [len(row.lost) for row in cluster.drain_each()] == [2]


# -- what is not simulated ---------------------------------------------------------------------------------------------

POLICY = manifest("ValidatingAdmissionPolicy", "p", version="admissionregistration.k8s.io/v1", spec={})
QUEUES = [
    manifest(kind, "q", version="kueue.x-k8s.io/v1beta2", namespace="default", spec={})
    for kind in ("LocalQueue", "ClusterQueue")
]
DESCHEDULER = manifest("DeschedulerPolicy", "d", version="descheduler/v1alpha2")
REFUSES = "not simulated, and may reject or change objects: 1 ValidatingAdmissionPolicy"
HOLDS = "not simulated, and may hold back pods, or terminate them in favour of others: 1 ClusterQueue, 1 LocalQueue"
ENDS = "not simulated, and may terminate pods, or change their number: 1 DeschedulerPolicy"


def named(answer: Any) -> list[str]:
    return [message for _, message in said(answer, "not-simulated")]


def test_what_may_refuse_is_named_where_something_is_created() -> None:
    there = Cluster.of([*BASE, pod("p"), POLICY, *QUEUES, DESCHEDULER])
    assert named(there.schedule()) == []
    assert named(there.capacity("pod/p")) == [REFUSES]
    new = Cluster.of([*BASE, pod("p", uid=None), POLICY, *QUEUES, DESCHEDULER])
    assert named(new.schedule()) == named(new.place()) == [REFUSES]
    assert named(there.explain()) == named(there.allocate()) == []
    claims = Cluster.of([*BASE, template(), pod("p", templates={"r": "t"}, uid=None), POLICY, *QUEUES, DESCHEDULER])
    assert named(claims.explain()) == named(claims.allocate()) == [REFUSES]


def test_what_may_hold_back_is_named_where_somebody_is_queued() -> None:
    queued = Cluster.of([*BASE, pod("p", labels=QUEUE), *QUEUES])
    assert named(queued.schedule()) == [HOLDS]
    made = Cluster.of([*BASE, job(labels=QUEUE, suspend=False), *QUEUES])
    assert named(made.schedule()) == [HOLDS]


def test_what_may_end_pods_is_named_where_the_answer_goes_on() -> None:
    cluster = Cluster.of([*BASE, pod("p"), DESCHEDULER, *QUEUES])
    assert named(cluster.schedule(settle=True)) == [HOLDS, ENDS]
    assert named(cluster.drain_each()) == [HOLDS, ENDS]
    assert named(cluster.diff(cluster.cordon("a"))) == []
    tainted = node("b", spec={"taints": [taint("k", effect="NoExecute")]})
    evicting = Cluster.of([*BASE, tainted, pod("p", nodeName="b", status={"phase": "Running"}), DESCHEDULER])
    assert named(evicting.diff(evicting.cordon("a"))) == [ENDS]
