"""The scheduler that a pod's schedulerName means: what the input has of it.

Nothing in a cluster says which pods run a scheduler. A workload or pod is assumed to run it if its name resembles the
schedulerName, and also says that it is a scheduler or is equal to the schedulerName. Other parts of the same product,
such as its admission controller, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import TEMPLATE_HASH
from dra_plan.api.workloads import pod_template
from dra_plan.claims.owners import ended, is_ready, wanted
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.documents.volume_needs import PodlessWorkload
from dra_plan.explanation.unready_pods import CONTROLLERS, MOST_FOUND, unready_among

_RUNNING_ON = ("Deployment", "StatefulSet")
"""The kinds of workloads that run schedulers."""

_RUN_BY = ("ReplicaSet", *_RUNNING_ON, "DaemonSet", "Node")
"""The kinds of the controllers of a scheduler's pods; a static pod is controlled by its node."""

_COMMON = frozenset(("scheduler", "kube", "kubernetes", "k8s", "default", "gpu"))
"""The words in names that do not tell one scheduler from another."""

_OTHER_PARTS = CONTROLLERS | {"admission", "descheduler", "exporter", "webhook"}
"""The words in the names of other parts of a product."""


class _MayRun(Struct, frozen=True):
    """A workload or pod that may run the scheduler. `likeness` is greater for a name that resembles it more."""

    likeness: tuple[int, int]
    namespace: str
    name: str
    run_by: Pod | PodlessWorkload


def with_scheduler(inventory: Inventory, made: OwnerVerdict) -> OwnerVerdict:
    """Return the verdict with what the input has of the scheduler in `held`.

    These are its ready pods or, if there are none, its other pods or, if it has no pods, its workload.
    """
    found = [one for name in made.held for one in (*_pods(inventory, name), *_workloads(inventory, name))]
    most = max((one.likeness for one in found), default=None)
    alike = [one for one in found if one.likeness == most]
    pods = [one.run_by for one in alike if isinstance(one.run_by, Pod)]
    ready = sorted(pod.key for pod in pods if is_ready(pod))
    if pods:
        unready = [] if ready else unready_among(pods)
        return structs.replace(made, running_schedulers=ready[:MOST_FOUND], scheduler_pods=unready)
    podless = [one.run_by for one in alike if isinstance(one.run_by, PodlessWorkload)]
    return structs.replace(
        made, scheduler_workload=min(podless, key=lambda one: (one.namespace, one.name, one.kind), default=None)
    )


def _pods(inventory: Inventory, scheduler: str) -> Iterator[_MayRun]:
    for pod in inventory.pods:
        by = pod.metadata.controller
        is_left_out = ended(pod) or pod.metadata.deletion_timestamp is not None or pod.spec.scheduler_name == scheduler
        if is_left_out or (by is not None and by.kind not in _RUN_BY):
            continue
        name = _workload_of(pod)
        likeness = _likeness(scheduler, pod.metadata.namespace, name)
        if likeness is not None:
            yield _MayRun(likeness, pod.metadata.namespace, name, pod)


def _workloads(inventory: Inventory, scheduler: str) -> Iterator[_MayRun]:
    """Yield workloads. One that should have pods is left out if the input has no pods of its namespace at all."""
    listed = {pod.metadata.namespace for pod in inventory.pods}
    for one in inventory.workloads:
        namespace, name = one.metadata.namespace, one.metadata.name
        if one.kind not in _RUNNING_ON or pod_template(one).spec.scheduler_name == scheduler:
            continue
        likeness, replicas = _likeness(scheduler, namespace, name), wanted(one, []).number
        if likeness is not None and (not replicas or namespace in listed):
            made = PodlessWorkload(kind=one.kind, namespace=namespace, name=name, replicas=replicas)
            yield _MayRun(likeness, namespace, name, made)


def _workload_of(pod: Pod) -> str:
    """Return the name of the Deployment or other workload that has the pod, or the name of a pod without one."""
    by = pod.metadata.controller
    if by is None or by.kind == "Node":
        return pod.metadata.name.removesuffix(f"-{pod.spec.node_name}")
    drawn = (pod.metadata.labels or {}).get(TEMPLATE_HASH, "") if by.kind == "ReplicaSet" else ""
    return by.name.removesuffix(f"-{drawn}")


def _likeness(scheduler: str, namespace: str, name: str) -> tuple[int, int] | None:
    """Return how much a workload's name resembles the schedulerName, or None if it does not mean this scheduler.

    A name with more words that are neither in the schedulerName nor common resembles it less.
    """
    own, asked = _words(name), _words(scheduler)
    telling = asked - _COMMON
    says_so = "scheduler" in own
    more = -len(own - asked - _COMMON)
    if name == scheduler:
        return (3 if says_so else 1, more)
    if says_so and telling and telling <= own | _words(namespace) and own.isdisjoint(_OTHER_PARTS - asked):
        return (2, more)
    return None


def _words(name: str) -> frozenset[str]:
    return frozenset(re.split(r"[^a-z0-9]+", name.lower())) - {""}
