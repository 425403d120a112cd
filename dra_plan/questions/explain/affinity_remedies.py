"""`explain`: changes for a pod affinity term that is not met: the pods that it selects are started, or it is changed.

A workload without pods gets one, a misspelt label is corrected, or the term becomes a preference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import AnyWorkload, Job
from dra_plan.claims.index import owner_of
from dra_plan.claims.sets import Owner
from dra_plan.documents.node_obstacles import NodeObstacle, PodSource
from dra_plan.documents.suggestions import PatchOperation, PodRuleRelaxed, PodSelectorChanged, WorkloadStarted
from dra_plan.explanation.suggest import patches
from dra_plan.planner.suspended import QUEUE_LABEL
from dra_plan.questions.explain.editing import OwnedPods, found
from dra_plan.questions.explain.obstacle_remedies import Remedy
from dra_plan.questions.explain.spec_edits import near_pods_with, preferring_pods

_SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


def affinity_met(inventory: Inventory, pods: OwnedPods, one: NodeObstacle) -> Iterator[Remedy]:
    """Yield the changes that meet a required pod affinity term, or no longer require it."""
    if one.kind != "Affinity" or one.term != "affinity":
        return
    for source in one.sources:
        yield from _started(inventory, source)
    if pods.spec is None:
        return
    key, selector = one.topology_key, one.selector
    if one.absent and one.near:
        told = PodSelectorChanged(
            code="correct-pod-selector", rule="affinity", topology_key=key, from_=selector, to=one.near
        )
        labels = dict([one.near.split("=", 1)])
        yield Remedy((told,), pods.editing(lambda spec: near_pods_with(spec, key, selector, labels)), fixed=True)
    if one.elsewhere or (one.nowhere and one.near):
        return  # other changes correct the namespaces, or the topology key
    relaxed = PodRuleRelaxed(code="relax-affinity", topology_key=key)
    yield Remedy((relaxed,), pods.editing(lambda spec: preferring_pods(spec, key)), fixed=True)


def _started(inventory: Inventory, source: PodSource) -> Iterator[Remedy]:
    """Yield one replica of a workload that has none, or a suspended Job that goes on.

    Something else may decide on the replicas of a workload that has a controller, and on Jobs in a queue.
    """
    workload: Any = found(inventory, Owner(source.kind, source.namespace, source.name))
    if workload is None or workload.metadata.controller is not None:
        return
    if source.state == "NoReplicas" and workload.kind in _SCALED:
        told = WorkloadStarted(
            code="raise-replicas", kind=source.kind, namespace=source.namespace, name=source.name, to=1
        )
        yield _edited(workload, told, replicas=1)
    elif isinstance(workload, Job) and source.state == "Suspended" and not _is_queued(workload):
        told = WorkloadStarted(code="resume-job", kind=source.kind, namespace=source.namespace, name=source.name)
        yield _edited(workload, told, suspend=False)


def _is_queued(job: Job) -> bool:
    return QUEUE_LABEL in (job.metadata.labels or {})


def _edited(workload: AnyWorkload, told: WorkloadStarted, **field: object) -> Remedy:
    after = structs.replace(workload, spec=structs.replace(workload.spec, **field))
    operations = [PatchOperation(op="add", path=f"/spec/{name}", value=value) for name, value in field.items()]
    made = patches.of_object(owner_of(workload), workload.api_version, operations)

    def apply(of: Inventory) -> Inventory:
        return replace(of, workloads=[after if each is workload else each for each in of.workloads])

    return Remedy((told,), apply, patches=(made,))
