"""Pods and their controllers: a pod's state, the number of pods a workload wants, and controller references.

Pods are counted as the workload's own controller counts them. `claims/index.py` finds the pods of a workload;
`scheduler/new_pods.py` decides where DaemonSet pods run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from dra_plan.api.core import Container, ContainerStatus, ContainerTerminated, Pod, PodSpec, Toleration
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.well_known import TEMPLATE_HASH
from dra_plan.api.workloads import AnyWorkload, CronJob, CustomWorkload, Job, pod_template

# -- the state of a pod ------------------------------------------------------------------------------------------------
# The state matters for planning: the pod has finished, waits for a node, or counts as one of its workload's pods.

_ENDED = ("Succeeded", "Failed")
_REPLACED_AT_ONCE = ("Deployment", "ReplicaSet", "ReplicationController")
"""Controllers that create a new pod as soon as a pod is being deleted; other controllers wait until it is gone."""


def ended(pod: Pod) -> bool:
    """Return whether the pod has finished. The scheduler does not see finished pods."""
    return pod.status.phase in _ENDED


def is_waiting(pod: Pod) -> bool:
    """Return whether the pod still needs a node from the scheduler."""
    return not (pod.spec.node_name or pod.metadata.deletion_timestamp or ended(pod))


def is_new(inventory: Inventory, pod: Pod) -> bool:
    """Return whether the pod is not yet in a cluster, or was evicted and has not yet been created again."""
    if pod.spec.node_name:
        return False
    key = (pod.metadata.namespace, pod.metadata.name)
    return key in inventory.returning or not (pod.metadata.is_stored or pod.status.phase)


def counts_for(pod: Pod, kind: str) -> bool:
    """Return whether a controller of this kind counts the pod as one of its replicas."""
    return not ended(pod) and not (kind in _REPLACED_AT_ONCE and pod.metadata.deletion_timestamp)


def is_ready(pod: Pod) -> bool:
    """Return whether the pod is ready: it has a node, its containers run, and its Ready condition is not False."""
    if not pod.spec.node_name or pod.metadata.deletion_timestamp is not None or pod.status.phase not in ("Running", ""):
        return False
    return all(each.status != "False" for each in pod.status.conditions if each.type == "Ready")


STARTING = ("ContainerCreating", "PodInitializing")
"""The kubelet's default waiting reasons, which do not give a cause."""

RUNNING = "Running"
"""The state of an init container that has started but not finished."""

CRASHING = "CrashLoopBackOff"
"""The waiting reason of a container that has repeatedly exited."""


def why_waiting(status: ContainerStatus) -> str:
    """Return the kubelet's message about a waiting container or, if it is crashing, how its last run ended."""
    waiting, last = status.state.waiting, status.last_state.terminated
    if waiting is None:
        return ""
    return waiting.message if waiting.reason != CRASHING or last is None else f"its last run {how_ended(last)}"


def how_ended(run: ContainerTerminated) -> str:
    """Return how a container's run ended, as a phrase to follow the name of the container."""
    reason = f", {run.reason}" if run.reason not in ("", "Error") else ""
    message = f": {run.message.strip()}" if run.message.strip() else ""
    return f"ended with exit code {run.exit_code}{reason}{message}"


def unfinished_init(pod: Pod) -> tuple[Container, ContainerStatus] | None:
    """Return the first init container that has not finished, or None if the kubelet does not report on it.

    Init containers start one after another. A sidecar only has to start; the others must exit with code 0 (KEP-753).
    """
    statuses = {one.name: one for one in pod.status.init_container_statuses}
    for container in pod.spec.init_containers:
        status = statuses.get(container.name)
        if status is None:
            return None
        ended = status.state.terminated
        is_done = status.started if container.is_sidecar else ended is not None and not ended.exit_code
        if not is_done:
            return container, status
    return None


# -- the pods a workload wants -----------------------------------------------------------------------------------------

_DAEMON_TOLERATIONS = (
    *(
        Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoExecute")
        for key in ("not-ready", "unreachable")
    ),
    *(
        Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoSchedule")
        for key in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)


class Replicas(NamedTuple):
    """The number of pods that a workload should have, and the field that sets this number."""

    field: str
    number: int


def is_over(workload: AnyWorkload) -> bool:
    """Return whether the workload creates no more pods because it is being deleted or, for a job, has finished."""
    if workload.metadata.deletion_timestamp:
        return True
    return isinstance(workload, Job | CustomWorkload) and any(
        condition.type in ("Complete", "Failed") and condition.status == "True"
        for condition in workload.status.conditions
    )


def is_suspended(workload: AnyWorkload) -> bool:
    """Return whether the workload is suspended and creates no pods until Kueue or a user resumes it."""
    return isinstance(workload, Job | CustomWorkload) and workload.spec.suspend and not is_over(workload)


def wanted(workload: AnyWorkload, pods: Sequence[Pod]) -> Replicas:
    """Return the number of pods that the workload should have now. `pods` are its existing pods.

    A CronJob should have none: its Jobs are separate objects, which create the pods.
    """
    if isinstance(workload, CronJob):
        return Replicas("spec.jobTemplate.spec.parallelism", 0)
    if isinstance(workload, Job):
        return Replicas("spec.parallelism", _of_job(workload, pods))
    if isinstance(workload, CustomWorkload):
        is_idle = workload.spec.suspend or is_over(workload)
        return Replicas(workload.part or "spec", 0 if is_idle else workload.spec.replicas)
    return Replicas("spec.replicas", 1 if workload.spec.replicas is None else workload.spec.replicas)


def _of_job(job: Job, pods: Sequence[Pod]) -> int:
    """Return the number of pods a job wants.

    It is at most `parallelism`, and no more than the number of missing completions; without completions, one success
    ends the job.
    """
    if job.spec.suspend or is_over(job):
        return 0
    parallel = 1 if job.spec.parallelism is None else job.spec.parallelism
    done = max(job.status.succeeded, sum(pod.status.phase == "Succeeded" for pod in pods))
    if job.spec.completions is None:
        return 0 if done else parallel
    return max(0, min(parallel, job.spec.completions - done))


def pod_name(workload: AnyWorkload) -> str:
    """Return the prefix of the names of the workload's pods.

    The prefix is the workload's name, followed by the template's name if the workload has several templates.
    """
    part = re.sub("[^a-z0-9]+", "-", workload.part.lower()) if isinstance(workload, CustomWorkload) else ""
    return f"{workload.metadata.name}-{part.strip('-')}" if part else workload.metadata.name


def pod_spec(workload: AnyWorkload) -> PodSpec:
    """Return the pod spec for the workload's pods, including the tolerations that DaemonSet pods get."""
    spec = pod_template(workload).spec
    if workload.kind != "DaemonSet":
        return spec
    return replace(spec, tolerations=[*spec.tolerations, *_DAEMON_TOLERATIONS])


def missing(workload: AnyWorkload, pods: Sequence[Pod]) -> int:
    """Return how many of the workload's pods have no node. `pods` are its existing pods.

    Pods that do not exist yet are counted as well.
    """
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    return max(0, wanted(workload, pods).number - len(living)) + sum(map(is_waiting, living))


def is_served(workload: AnyWorkload, pods: Sequence[Pod]) -> bool:
    """Return whether the workload has all its pods and none of them is waiting for a node.

    `pods` are its existing pods. A DaemonSet must have at least one.
    """
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    if any(map(is_waiting, living)):
        return False
    return len(living) >= max(1, 1 if workload.kind == "DaemonSet" else wanted(workload, pods).number)


# -- controller references ---------------------------------------------------------------------------------------------
# This is the single rule for controller references, and the look-ups that use it. Owners other than the controller do
# not matter for planning.


class Kinded(Protocol):
    """An object that can control other objects or be controlled by one."""

    @property
    def kind(self) -> str:
        """The kind of the object, as in manifests."""

    @property
    def metadata(self) -> ObjectMeta:
        """The metadata of the object, with its name, namespace, UID and owners."""


T = TypeVar("T", bound=Kinded)

DEPLOYMENT = "Deployment"
MOST_OWNERS = 32
"""The maximum length of a chain of controllers. A pod of a Deployment has two; custom kinds add a few."""


def refers_to(reference: OwnerReference, controller: Kinded) -> bool:
    """Return whether the reference is to this object. Both must be in the same namespace.

    UIDs are compared if both are known. Otherwise, kind and name are compared, because handwritten manifests have no
    UIDs.
    """
    uid = controller.metadata.uid
    if reference.uid and uid:
        return reference.uid == uid
    return (reference.kind, reference.name) == (controller.kind, controller.metadata.name)


def controls(controller: Kinded, metadata: ObjectMeta) -> bool:
    """Return whether the controller controls the object with this metadata."""
    reference = metadata.controller
    return (
        reference is not None
        and metadata.namespace == controller.metadata.namespace
        and refers_to(reference, controller)
    )


def deployment_of(metadata: ObjectMeta) -> str:
    """Return the name of the Deployment that controls the pod through a ReplicaSet, or "" if there is none.

    A Deployment names its ReplicaSets DEPLOYMENT-HASH and labels their pods with the hash.
    """
    reference, hashed = metadata.controller, (metadata.labels or {}).get(TEMPLATE_HASH)
    if reference is None or reference.kind != "ReplicaSet" or not hashed:
        return ""
    end = f"-{hashed}"
    return reference.name.removesuffix(end) if reference.name.endswith(end) else ""


def controller_names(metadata: ObjectMeta) -> list[tuple[str, str]]:
    """Return the kind and name of the object's controller.

    For a ReplicaSet of a Deployment, the Deployment's kind and name are added.
    """
    reference, deployment = metadata.controller, deployment_of(metadata)
    named = [(reference.kind, reference.name)] if reference is not None else []
    return [*named, (DEPLOYMENT, deployment)] if deployment else named


class Controllers(Generic[T]):
    """A look-up of the controllers of objects."""

    def __init__(self, objects: Iterable[T]) -> None:
        self._by_uid: dict[tuple[str, str], T] = {}
        self._by_name: dict[tuple[str, str, str], T] = {}
        for obj in objects:
            metadata = obj.metadata
            self._by_name.setdefault((metadata.namespace, obj.kind, metadata.name), obj)
            if metadata.uid:
                self._by_uid.setdefault((metadata.namespace, metadata.uid), obj)

    def of(self, metadata: ObjectMeta) -> T | None:
        """Return the controller of the object with this metadata, or None.

        An object of another kind is not the controller, even if it has the controller's UID.
        """
        reference = metadata.controller
        if reference is None:
            return None
        found = self._by_uid.get((metadata.namespace, reference.uid)) if reference.uid else None
        if found is None or found.kind != reference.kind:
            found = self._by_name.get((metadata.namespace, reference.kind, reference.name))
        return found if found is not None and refers_to(reference, found) else None

    def above(self, metadata: ObjectMeta) -> Iterator[T]:
        """Yield the object's controller, then the controller of that controller, and so on, up to `MOST_OWNERS`."""
        found = self.of(metadata)
        for _ in range(MOST_OWNERS):
            if found is None:
                return
            yield found
            found = self.of(found.metadata)


class Dependents(Generic[T]):
    """A look-up of the objects that a controller controls."""

    def __init__(self, objects: Iterable[T]) -> None:
        self._by_uid: dict[tuple[str, str], list[T]] = defaultdict(list)
        self._by_name: dict[tuple[str, str, str], list[T]] = defaultdict(list)
        for obj in objects:
            reference, namespace = obj.metadata.controller, obj.metadata.namespace
            if reference is not None:
                self._by_name[namespace, reference.kind, reference.name].append(obj)
                if reference.uid:
                    self._by_uid[namespace, reference.uid].append(obj)

    def of(self, controller: Kinded) -> Iterator[T]:
        """Yield the objects that the controller controls. Objects found by UID come before those found by name."""
        metadata = controller.metadata
        for obj in self._by_uid.get((metadata.namespace, metadata.uid), ()) if metadata.uid else ():
            reference = obj.metadata.controller
            if reference is not None and reference.kind == controller.kind:
                yield obj
        for obj in self._by_name.get((metadata.namespace, controller.kind, metadata.name), ()):
            reference = obj.metadata.controller
            if reference is not None and not (reference.uid and metadata.uid):
                yield obj
