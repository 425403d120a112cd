"""A pod of another scheduler: what the input has of that scheduler is said, and other parts of its product are not."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, node, owned_by, placed, pod, workload

UNKNOWN = "; if no such scheduler is running, the pod stays Pending. To look for its pods: kubectl get pods -A | grep"
CRASHING = {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}


def in_system(made: Object) -> Object:
    return {**made, "metadata": {**made["metadata"], "namespace": "system"}}


def scaled(name: str, replicas: int, kind: str = "Deployment") -> Object:
    return in_system(workload(kind, name, replicas=replicas))


def of_deployment(name: str, *, ready: bool = True, **of: Any) -> Object:
    """A pod of a Deployment of this name."""
    labels = {"pod-template-hash": "5c8f7"}
    made = owned_by(placed(f"{name}-5c8f7-x2x4z", "a", namespace="system", labels=labels, **of), "ReplicaSet", "r")
    made["metadata"]["ownerReferences"][0]["name"] = f"{name}-5c8f7"
    unready = {"containerStatuses": [CRASHING], "conditions": [{"type": "Ready", "status": "False"}]}
    return made if ready else {**made, "status": {**made["status"], **unready}}


def explained(scheduler: str, *objects: Object) -> str:
    """The answer up to what kube-scheduler would do, which is the same in every order of the objects."""
    inputs = [node("a"), pod("p", schedulerName=scheduler), *objects]
    text = str(Cluster.of(inputs).explain("pod/p"))
    assert text == str(Cluster.of(inputs[::-1]).explain("pod/p"))
    return " ".join(text.partition("If kube-scheduler")[0].split()).partition("schedulerName is ")[2]


ADMISSION = of_deployment("yunikorn-admission-controller")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_scheduler_with_0_replicas_is_scaled_up(kind: str) -> None:
    said = explained("yunikorn", scaled("yunikorn-scheduler", 0, kind), scaled("yunikorn-web", 0), ADMISSION)
    assert said == (
        f"yunikorn, and {kind} system/yunikorn-scheduler, which probably runs it, has 0 replicas. "
        "To start it (not tried: dra-plan does not simulate other schedulers): "
        f"kubectl scale {kind.lower()} yunikorn-scheduler -n system --replicas=1"
    )


def test_a_scheduler_without_pods_is_described() -> None:
    said = explained("yunikorn", scaled("yunikorn-scheduler", 2), ADMISSION)
    assert "yunikorn, and Deployment system/yunikorn-scheduler, which probably runs it, has no pods. It should" in said
    assert said.endswith("To see why it has none: kubectl describe deployment yunikorn-scheduler -n system")
    assert UNKNOWN in explained("yunikorn", scaled("yunikorn-scheduler", 2))


def test_pods_that_are_not_ready_are_named_with_the_reason() -> None:
    crashing = of_deployment("yunikorn-scheduler", ready=False)
    said = explained("yunikorn", scaled("yunikorn-scheduler", 1), crashing, ADMISSION)
    name = "system/yunikorn-scheduler-5c8f7-x2x4z"
    assert f"yunikorn, and pod {name}, which probably runs it, is not ready. Container c of pod {name} crashes" in said


def test_the_log_of_a_running_scheduler_says_more() -> None:
    running = of_deployment("yunikorn-scheduler")
    said = explained("yunikorn", scaled("yunikorn-scheduler", 1), running, ADMISSION)
    assert said == (
        "yunikorn, and pod system/yunikorn-scheduler-5c8f7-x2x4z, which probably runs it, is running. The scheduler's "
        "log should say why the pod is Pending: kubectl logs -n system yunikorn-scheduler-5c8f7-x2x4z"
    )


@pytest.mark.parametrize(
    ("scheduler", "nearer", "other"),
    [
        ("stork", "stork-scheduler", "stork"),
        ("volcano", "volcano-scheduler", "volcano-agent-scheduler"),
        ("scheduler-plugins-scheduler", "scheduler-plugins-scheduler", "scheduler-plugins-queues"),
        ("my-scheduler", "my-scheduler", "your-scheduler"),
        ("Koord", "koord-scheduler", "koord-descheduler"),
    ],
)
def test_the_nearest_name_decides(scheduler: str, nearer: str, other: str) -> None:
    assert f"Deployment system/{nearer}, which" in explained(scheduler, scaled(nearer, 0), of_deployment(other))
    assert f"pod system/{nearer}-" in explained(scheduler, scaled(other, 0), of_deployment(nearer))


@pytest.mark.parametrize(
    "others",
    [
        [],
        [ADMISSION, scaled("yunikorn-admission-controller", 0), scaled("yunikorn-scheduler-webhook", 0)],
        [scaled("kube-scheduler", 0), of_deployment("default-scheduler"), of_deployment("volcano-scheduler")],
        [of_deployment("yunikorn-scheduler", schedulerName="yunikorn")],
        [of_deployment("yunikorn-scheduler", phase="Succeeded")],
        [owned_by(placed("yunikorn-scheduler-test", "a"), "Job", "yunikorn-scheduler")],
        [workload("Job", "yunikorn-scheduler", suspend=True), of_deployment("yunikorn-unscheduler")],
    ],
)
def test_nothing_else_is_taken_for_the_scheduler(others: list[Object]) -> None:
    assert explained("yunikorn", *others) == f"yunikorn{UNKNOWN} -e yunikorn"
    assert UNKNOWN in explained("gpu-scheduler", *others)
