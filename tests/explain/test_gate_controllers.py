"""The controller that should remove a scheduling gate: its pods are named if none of them is ready."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import Object, node, owned_by, placed, pod, workload

KUEUE = "kueue-controller-manager-0"
NOT_RUNNING = "Kueue's controller is not running."


def held(gate: str = "kueue.x-k8s.io/admission", **of: Any) -> Object:
    return pod("p", schedulingGates=[{"name": gate}], **of)


def controller(name: str = KUEUE, *, ready: bool = False, kind: str = "ReplicaSet", **of: Any) -> Object:
    made = owned_by(placed(name, "a", **{"namespace": "system", **of}), kind, "w")
    waiting = {"name": "manager", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    waiting["lastState"] = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    unready = {"containerStatuses": [waiting], "conditions": [{"type": "Ready", "status": "False"}]}
    return made if ready else {**made, "status": {**made["status"], **unready}}


def pending(message: str) -> Object:
    made = owned_by(pod(KUEUE, namespace="system"), "ReplicaSet", "w")
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {**made, "status": {"phase": "Pending", "conditions": [condition]}}


def explained(*objects: Object, owner: str = "pod/p") -> str:
    found = Cluster.of([node("a"), *objects])
    assert str(found.explain(owner)) == str(Cluster.of([*reversed(objects), node("a")]).explain(owner))
    return " ".join(str(found.explain(owner)).split())


def test_the_controller_that_crashes_comes_before_the_other_hints() -> None:
    text = explained(held(labels={"kueue.x-k8s.io/queue-name": "users"}), controller())
    crashes = f"Container manager of pod system/{KUEUE} crashes (its last run ended with exit code 137, OOMKilled): "
    assert f"{NOT_RUNNING} Until it runs, Kueue admits nothing. {crashes}kubectl logs -n system" in text
    assert text.index(crashes) < text.index("If there is no such LocalQueue")
    full = explained(held(), pending("0/1 nodes are available:\n1 Insufficient cpu."))
    assert f"Pod system/{KUEUE} is Pending (0/1 nodes are available: 1 Insufficient cpu)." in full


def test_a_suspended_job_waits_for_the_same_controller() -> None:
    job = workload("Job", "j", suspend=True)
    queued = {**job, "metadata": {**job["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "users"}}}
    assert NOT_RUNNING in explained(queued, controller(), owner="job/j")
    assert NOT_RUNNING not in explained(job, controller(), owner="job/j")


@pytest.mark.parametrize(
    "others",
    [
        [controller(ready=True)],
        [controller(), controller("kueue-controller-manager-1", ready=True)],
        [controller("kueueviz-backend")],
        [controller("kueue-frontend"), controller(ready=True)],
        [controller(kind="Job")],
        [controller(labels={"kueue.x-k8s.io/managed": "true"})],
        [controller("my-controller")],
        [],
    ],
)
def test_no_other_pod_is_taken_for_the_controller(others: list[Object]) -> None:
    assert NOT_RUNNING not in explained(held(), *others)


def test_the_controller_of_any_domain_may_be_found() -> None:
    text = explained(held("quota.acme.io/later"), controller("acme-controller"), controller("sched-quotas"))
    assert (
        "The controller that should remove the gate does not seem to run. Container manager of pod system/acme" in text
    )
    assert "sched-quotas" not in text
    assert "seem to run" not in explained(held("later"), controller("later-controller"))
    assert "seem to run" not in explained(held("example.com/later"), controller("example-controller"))
