"""Pods that have their nodes and do not start: what the kubelet, other components and the drivers' pods say."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import (
    Object,
    allocated,
    claim,
    device_class,
    manifest,
    node,
    owned,
    owned_by,
    placed,
    pod,
    priority_class,
    request,
    running,
    slice_,
    workload,
)

CREATING = {"containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}]}


def text(objects: list[Object], owner: str = "pod/p", namespace: str | None = None) -> str:
    return " ".join(str(Cluster.of(objects).explain(owner, namespace=namespace)).split())


def starting(**options: Any) -> Object:
    made = placed("p", "a", phase="Pending", **options)
    return {**made, "status": {**made["status"], **CREATING}}


def event(reason: str, message: str, about: str = "p", **fields: Any) -> Object:
    who = {"kind": "Pod", "namespace": "default", "name": about, **fields.pop("about_fields", {})}
    source = {"component": fields.pop("component", "kubelet")}
    made = manifest("Event", f"e-{reason}", namespace="default")
    said = {"reason": reason, "message": message, "source": source, "type": "Warning"}
    return {**made, "involvedObject": who, **said, "lastTimestamp": "2026-11-25T09:40:00Z", **fields}


def test_what_the_kubelet_says() -> None:
    said = text([node("a"), starting(), event("FailedMount", 'secret "tls" not found.', count=20)])
    assert (
        "has not started container c: ContainerCreating. The kubelet says: FailedMount: secret "
        '"tls" not found (20 times, last at 2026-11-25T09:40:00Z).'
    ) in said


INITIALIZING = {"name": "c", "state": {"waiting": {"reason": "PodInitializing"}}}
LOGS = "kubectl logs -n default p -c"
RUNS = {"running": {"startedAt": "2026-11-25T09:40:00Z"}}
DONE = {"terminated": {"exitCode": 0}}
CRASH = {"waiting": {"reason": "CrashLoopBackOff"}}


@pytest.mark.parametrize(
    ("states", "head", "why"),
    [
        (
            [RUNS],
            "init container i0 has not finished.",
            f"Init container i0 has been running since 2026-11-25T09:40:00Z, and has not finished: {LOGS} i0",
        ),
        ([{"running": {}}], "init container i0 has not finished.", "Init container i0 has been running, and has not"),
        ([DONE, RUNS], "init container i1 has not finished.", f"and has not finished: {LOGS} i1"),
        (
            [{"terminated": {"exitCode": 3}}],
            "init container i0 failed (Error).",
            f"i0 failed (ended with exit code 3): {LOGS} i0",
        ),
        ([CRASH], "init container i0 crashes (CrashLoopBackOff).", f"Its output: {LOGS} i0 --previous"),
        (
            [{"waiting": {"reason": "ErrImagePull"}}],
            "init container i0 does not start (ErrImagePull).",
            "Its kubelet has not started init container i0: ErrImagePull.",
        ),
        (
            [(RUNS, False)],
            "sidecar i0 is not started.",
            f"since 2026-11-25T09:40:00Z, and its startup probe has not succeeded: {LOGS} i0",
        ),
        ([(RUNS, True), RUNS], "init container i1 has not finished.", f"and has not finished: {LOGS} i1"),
        ([(CRASH, False)], "sidecar i0 crashes (CrashLoopBackOff).", "Sidecar i0 crashes: CrashLoopBackOff."),
        ([DONE, (RUNS, True)], "", "Its kubelet has not started container c: PodInitializing."),
        ([{"waiting": {"reason": "PodInitializing"}}], "", "The input has no events that say why"),
    ],
)
def test_the_init_container_that_the_others_wait_for(states: list[Any], head: str, why: str) -> None:
    """The first in order that has not ended well or, if it is a sidecar, has not been started."""
    told = [each if isinstance(each, tuple) else (each, None) for each in states]
    inits = [
        {"name": f"i{n}", "image": "x", **({"restartPolicy": "Always"} if started is not None else {})}
        for n, (_, started) in enumerate(told)
    ]
    statuses = [{"name": f"i{n}", "state": state, "started": started} for n, (state, started) in enumerate(told)]
    made = placed("p", "a", phase="Pending", initContainers=inits)
    made["status"] |= {"initContainerStatuses": statuses, "containerStatuses": [INITIALIZING]}
    said = text([node("a"), made])
    assert said.startswith(f"pod/default/p: already bound to a{f', but its {head}' if head else '.'}")
    assert why in said
    assert ("container c: PodInitializing" in said) == (not head)


def test_the_pods_of_a_workload_that_are_not_ready() -> None:
    def replica(name: str, *statuses: Object, ready: str = "False") -> Object:
        made = owned_by(placed(name, "a"), "ReplicaSet", "w")
        return {
            **made,
            "status": {
                **made["status"],
                "conditions": [{"type": "Ready", "status": ready}],
                "containerStatuses": [*statuses],
            },
        }

    pods = [replica("w-1", ready="True"), replica("w-2", {"name": "c", "state": CRASH}), replica("w-3")]
    said = text([node("a"), workload("ReplicaSet", "w", uid="u-w", replicas=3), *pods], "rs/w")
    assert "Pods default/w-2 (CrashLoopBackOff) and default/w-3 are not ready." in said
    assert "`explain pod/w-2` says more." in said
    assert "not ready" not in text([node("a"), workload("ReplicaSet", "w", uid="u-w", replicas=1), pods[0]], "rs/w")


def test_what_other_components_say() -> None:
    said = text(
        [node("a"), starting(), event("FailedAttachVolume", "Multi-Attach", component="attachdetach-controller")]
    )
    assert "The attachdetach-controller says: FailedAttachVolume: Multi-Attach (last at" in said


def test_only_the_last_event_of_each_reason() -> None:
    old = event("FailedMount", "the old one", lastTimestamp="2026-11-25T08:00:00Z")
    new = {**event("FailedMount", "the new one"), "metadata": {"name": "e2", "namespace": "default"}}
    said = text([node("a"), starting(), old, new])
    assert "the new one" in said
    assert "the old one" not in said


def test_events_of_the_other_api_group() -> None:
    made = manifest("Event", "e", namespace="default")
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    other = {**made, "apiVersion": "events.k8s.io/v1", "regarding": about, "reason": "FailedCreatePodSandBox"}
    other |= {"note": "no ip", "type": "Warning", "reportingController": "kubelet", "eventTime": "2026-11-25T09:40:00Z"}
    said = text([node("a"), starting(), other])
    assert "The kubelet says: FailedCreatePodSandBox: no ip (last at 2026-11-25T09:40:00Z)." in said


@pytest.mark.parametrize(
    "other",
    [
        event("FailedMount", "something", about="q"),
        event("FailedMount", "something", about_fields={"uid": "of an earlier pod"}),
        event("FailedMount", "something", about_fields={"namespace": "other"}),
        event("FailedMount", "something", type="Normal"),
        event("FailedScheduling", "something"),
        {**event("FailedMount", "something"), "involvedObject": None},
        {**event("FailedMount", "something"), "message": 3},
    ],
)
def test_events_that_say_nothing_of_it(other: Object) -> None:
    said = text([node("a"), starting(), other])
    assert "something" not in said
    assert "The input has no events that say why: kubectl events --for pod/p -n default shows" in said


def test_a_running_pod_has_no_events() -> None:
    assert "FailedMount" not in text([node("a"), placed("p", "a"), event("FailedMount", "once")])


def test_what_a_container_says_itself_is_not_repeated() -> None:
    waiting = {"reason": "ImagePullBackOff", "message": "not found"}
    made = placed("p", "a", phase="Pending")
    made["status"]["containerStatuses"] = [{"name": "c", "state": {"waiting": waiting}}]
    said = text([node("a"), made, event("Failed", "Error: ErrImagePull")])
    assert "ImagePullBackOff (not found)." in said
    assert "ErrImagePull" not in said
    assert "has no events" not in said


def test_the_pod_of_the_driver_is_not_ready() -> None:
    driver = owned_by(running("driver-a", "a"), "DaemonSet", "driver")
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off"}
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    containers = [{"name": "d", "state": {"waiting": waiting}, "lastState": last}]
    crashing = {**driver, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}}
    crashing["status"]["containerStatuses"] = containers
    held = [device_class(), slice_("a", "gpu-0"), allocated("c", "a/gpu-0", pod="p"), starting(claims={"g": "c"})]
    said = text([node("a"), *held, crashing])
    assert (
        "Driver gpu.example.com prepares its devices, and the driver's pod default/driver-a there is not ready: "
        "CrashLoopBackOff (its last run ended with exit code 137, OOMKilled)."
    ) in said
    assert "prepares its devices" not in text([node("a"), *held, driver])


# -- queues of Kueue ---------------------------------------------------------------------------------------------------


def gated(queue: str) -> Object:
    gates = [{"name": "kueue.x-k8s.io/admission"}]
    return pod("p", labels={"kueue.x-k8s.io/queue-name": queue}, schedulingGates=gates)


def local_queue(name: str, namespace: str = "default") -> Object:
    made = manifest("Event", name, namespace=namespace)
    return {**made, "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "spec": {"clusterQueue": "all"}}


def test_a_queue_that_does_not_exist() -> None:
    said = text([node("a"), gated("user-queu"), local_queue("user-queue")])
    assert "Namespace default has no LocalQueue user-queu, so Kueue never admits it. Did you mean user-queue?" in said
    said = text([node("a"), gated("team"), local_queue("first"), local_queue("second"), local_queue("other", "ns")])
    assert "so Kueue never admits it. There are: first and second." in said
    assert "There are: ns/team." in text([node("a"), gated("team"), local_queue("team", "ns")])


def test_a_queue_that_exists_or_may_exist() -> None:
    there = text([node("a"), gated("team"), local_queue("team")])
    assert "kubectl describe workloads.kueue.x-k8s.io -n default shows what each workload is waiting for." in there
    assert "no such LocalQueue" not in there
    assert "If there is no such LocalQueue in namespace default" in text([node("a"), gated("team")])


def kueue_workload(kind: str, name: str, status: str = "False") -> Object:
    made = manifest("Event", f"w-{name}", namespace="default", metadata=owned(kind, name))
    condition = {"type": "QuotaReserved", "status": status, "message": "insufficient unused quota for cpu"}
    return {**made, "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "status": {"conditions": [condition]}}


def test_what_kueue_says() -> None:
    told = "Kueue says: insufficient unused quota for cpu"
    objects = [node("a"), gated("team"), local_queue("team")]
    assert told in text([*objects, kueue_workload("Pod", "p")])
    assert told not in text([*objects, kueue_workload("Pod", "p", "True")])
    assert told not in text([*objects, kueue_workload("Pod", "q")])
    job = workload("Job", "p", pod(), suspend=True)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    assert told in text([node("a"), job, kueue_workload("Job", "p")], "job/p")


def test_a_suspended_job_and_its_queue() -> None:
    job = workload("Job", "p", pod(), suspend=True)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "user-queu"}
    said = text([node("a"), job, local_queue("user-queue")], "job/p")
    assert "because it is waiting in Kueue's queue user-queu." in said
    assert "Did you mean user-queue?" in said


# -- pods that run, or should ------------------------------------------------------------------------------------------


def test_a_container_that_crashes() -> None:
    made = placed("p", "a")
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}
    made["status"]["containerStatuses"] = [{"name": "c", "state": {"waiting": waiting}, "lastState": last}]
    said = text([node("a"), made])
    assert "Container c crashes: CrashLoopBackOff (its last run ended with exit code 137, OOMKilled)." in said


def test_a_workload_without_replicas() -> None:
    said = text([node("a"), workload("Deployment", "w", pod(), replicas=0)], "deployment/w")
    assert "deployment/default/w has no pods now: its replicas are 0." in said


# -- claims that are being deleted, or shared --------------------------------------------------------------------------


def leaving(*pods: str) -> Object:
    made = allocated("c", "a/gpu-0", pod=pods[0]) if pods else claim("c", request())
    made["metadata"] |= {"deletionTimestamp": "2026-11-26T00:00:00Z", "finalizers": ["example.com/x"]}
    return made


def test_a_claim_that_is_being_deleted() -> None:
    objects = [node("a"), device_class(), slice_("a", "gpu-0"), pod("p", claims={"g": "c"})]
    said = text([*objects, leaving()])
    assert "p is Pending: it is waiting for claim c, which is being deleted." in said
    assert "No pod can begin to use it. When it is gone, create it again, or have the pod name another claim." in said
    assert "do not exist" not in said
    assert "Claim c exists until pod w ends. No pod can begin" in text([*objects, leaving("w"), running("w", "a")])


def test_a_claim_that_the_pods_of_a_workload_will_share() -> None:
    sharing = workload("Deployment", "w", pod(claims={"g": "c"}, cpu="6"), replicas=3)
    objects = [node("a"), node("b"), device_class(), slice_("a", "gpu-0"), claim("c", request()), sharing]
    told = "The 3 pods of deployment w all name claim c, so they share its devices."
    assert told in text(objects, "deployment/w")
    without = [one for one in objects if one["kind"] != "ResourceSlice"]
    assert told not in text(without, "deployment/w")  # none would be bound, and sharing is not why


def test_pods_that_leave_do_not_share() -> None:
    held = allocated("c", "b/gpu-0", pod="w-1", on="b")
    leaves = owned_by(running("w-1", "b", claims={"g": "c"}), "ReplicaSet", "w")
    leaves["metadata"]["deletionTimestamp"] = "2026-11-26T00:00:00Z"
    waits = owned_by(pod("p", claims={"g": "c"}, cpu="6"), "ReplicaSet", "w")
    sharing = workload("ReplicaSet", "w", pod(claims={"g": "c"}, cpu="6"), replicas=1)
    objects = [node("a"), node("b", cpu="4"), device_class(), slice_("b", "gpu-0"), held, sharing, waits]
    assert "share" not in text([*objects, leaves])
    stays = {**leaves, "metadata": {**leaves["metadata"], "deletionTimestamp": None}}
    assert "The 2 pods of replicaset w all name claim c" in text([*objects, stays])


# -- what the cluster said of pods that do not exist -------------------------------------------------------------------


def refused_by(quota: str, limits: bool) -> list[Object]:
    shape = pod()
    shape["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1"} if limits else {}
    made = workload("ReplicaSet", "w", shape, replicas=1)
    message = f'pods "w-x" is forbidden: failed quota: {quota}: must specify limits.cpu for: c'
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    made["status"] = {"conditions": [failure]}
    there = manifest("ResourceQuota", "team", namespace="default", spec={"hard": {"limits.cpu": "4"}})
    return [node("a"), made, {**there, "status": {"hard": {"limits.cpu": "4"}, "used": {"limits.cpu": "0"}}}]


def test_pods_that_a_quota_no_longer_rejects() -> None:
    said = text(refused_by("team", limits=True), "replicaset/w")
    assert "its pod would be bound now" in said
    assert "must specify limits.cpu for: c. Now they would be created." in said
    assert "the API server rejects its pod" in text(refused_by("team", limits=False), "replicaset/w")
    assert "the API server rejects its pod" in text(refused_by("other", limits=True), "replicaset/w")  # not known


@pytest.mark.parametrize("known", [True, False])
def test_pods_that_named_a_priority_class_which_exists_now(known: bool) -> None:
    """Without any PriorityClass, the input says nothing about them."""
    made = workload("ReplicaSet", "w", pod(priorityClassName="urgent"), replicas=1)
    message = 'pods "w-x" is forbidden: no PriorityClass with name urgent was found'
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    made["status"] = {"conditions": [failure]}
    said = text([node("a"), made, *([priority_class("urgent", 5)] if known else [])], "replicaset/w")
    assert (f"{message}. Now they would be created." in said) == known
    assert ("the API server rejects its pod" in said) != known


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("ImagePullBackOff", "already bound to a, but its container c does not start (ImagePullBackOff)."),
        ("CrashLoopBackOff", "already bound to a, but its container c crashes (CrashLoopBackOff)."),
        ("ContainerCreating", "already bound to a."),
    ],
)
def test_a_container_that_does_not_start_is_in_the_first_line(reason: str, said: str) -> None:
    made = placed("p", "a", phase="Pending")
    waiting = {"containerStatuses": [{"name": "c", "state": {"waiting": {"reason": reason}}}]}
    told = text([node("a"), {**made, "status": {**made["status"], **waiting}}])
    assert told.startswith(f"pod/default/p: {said}")
