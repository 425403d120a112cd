"""How many pods a workload wants at a time, as its controller counts them.

Which pods it has is looked up in `index`; where daemons run is the scheduler's business (`scheduler.admission`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodSpec, Toleration
from dra_plan.api.workloads import AnyWorkload, CronJob, CustomWorkload, Job, pod_template

from .podstate import counts_for, is_waiting

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
    """How many pods there are to be, and the field that says it."""

    field: str
    number: int


def is_over(workload: AnyWorkload) -> bool:
    """Whether the workload makes no more pods: it is being deleted, or a job that has ended."""
    if workload.metadata.deletion_timestamp:
        return True
    return isinstance(workload, Job | CustomWorkload) and any(
        condition.type in ("Complete", "Failed") and condition.status == "True"
        for condition in workload.status.conditions
    )


def wanted(workload: AnyWorkload, pods: Sequence[Pod]) -> Replicas:
    """How many pods the workload, whose `pods` these are, wants now.

    A CronJob makes none itself: the Jobs that it has made are objects of their own.
    """
    if isinstance(workload, CronJob):
        return Replicas("spec.jobTemplate.spec.parallelism", 0)
    if isinstance(workload, Job):
        return Replicas("spec.parallelism", _of_job(workload, pods))
    if isinstance(workload, CustomWorkload):
        return Replicas(workload.part or "spec", 0 if is_over(workload) else workload.spec.replicas)
    return Replicas("spec.replicas", 1 if workload.spec.replicas is None else workload.spec.replicas)


def _of_job(job: Job, pods: Sequence[Pod]) -> int:
    """At most `parallelism` pods, and no more than completions are missing; without completions one success ends it."""
    if job.spec.suspend or is_over(job):
        return 0
    parallel = 1 if job.spec.parallelism is None else job.spec.parallelism
    done = max(job.status.succeeded, sum(pod.status.phase == "Succeeded" for pod in pods))
    if job.spec.completions is None:
        return 0 if done else parallel
    return max(0, min(parallel, job.spec.completions - done))


def pod_name(workload: AnyWorkload) -> str:
    """What the names of the workload's pods begin with: its own name and, if it has several templates, which it is."""
    part = re.sub("[^a-z0-9]+", "-", workload.part.lower()) if isinstance(workload, CustomWorkload) else ""
    return f"{workload.metadata.name}-{part.strip('-')}" if part else workload.metadata.name


def pod_spec(workload: AnyWorkload) -> PodSpec:
    """The spec of the workload's pods; a DaemonSet's tolerate what comes and goes on nodes."""
    spec = pod_template(workload).spec
    if workload.kind != "DaemonSet":
        return spec
    return replace(spec, tolerations=[*spec.tolerations, *_DAEMON_TOLERATIONS])


def missing(workload: AnyWorkload, pods: Sequence[Pod]) -> int:
    """How many pods of the workload, whose `pods` these are, have no node yet, those to be made included."""
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    return max(0, wanted(workload, pods).number - len(living)) + sum(map(is_waiting, living))


def is_served(workload: AnyWorkload, pods: Sequence[Pod]) -> bool:
    """Whether the workload, whose `pods` these are, has all that it wants, and none of them waits for a node."""
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    if any(map(is_waiting, living)):
        return False
    return len(living) >= max(1, 1 if workload.kind == "DaemonSet" else wanted(workload, pods).number)
