"""The pods that a workload's controller creates next, by the rules of its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec.structs import replace

from dra_plan.api.core import (
    Affinity,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    PodTemplateSpec,
)
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.workloads import AnyWorkload, Workload, pod_template
from dra_plan.claims.owners import counts_for, is_over, pod_name, pod_spec, wanted
from dra_plan.scheduler.plugins.node_affinity import matches, required_terms
from dra_plan.scheduler.plugins.node_checks import untolerated

_NODE_NAME_FIELD = "metadata.name"
PARALLEL = "Parallel"


def is_ordered(workload: AnyWorkload) -> bool:
    """Return whether the workload creates each pod only after all earlier pods are ready.

    This is the default for StatefulSets.
    """
    return (
        isinstance(workload, Workload)
        and workload.kind == "StatefulSet"
        and workload.spec.pod_management_policy != PARALLEL
    )


def new_pods(
    workload: AnyWorkload,
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    taken: Collection[str] = (),
    *,
    is_ready: Callable[[Pod], bool] | None = None,
) -> Iterator[Pod]:
    """Yield the pods that the workload still has to create. `pods` are its existing pods.

    Names in `taken` are not used again in the workload's namespace. If `is_ready` is given, a StatefulSet with the
    podManagementPolicy OrderedReady creates each pod only after all earlier pods are ready. Otherwise, it creates all
    pods at once.
    """
    if is_over(workload):
        return
    if workload.kind == "DaemonSet":
        yield from _daemons(workload, pods, nodes)
    elif workload.kind == "StatefulSet":
        yield from _ordinals(workload, pods, is_ready if is_ordered(workload) else None)
    else:
        living = sum(counts_for(pod, workload.kind) for pod in pods)
        yield from _numbered(workload, living, wanted(workload, pods).number, taken)


def _numbered(workload: AnyWorkload, living: int, count: int, taken: Collection[str]) -> Iterator[Pod]:
    template, prefix, index = pod_template(workload), pod_name(workload), living
    for _ in range(living, count):
        while f"{prefix}-{index}" in taken:
            index += 1
        yield pod_of(workload, template, f"{prefix}-{index}")
        index += 1


def _ordinals(workload: AnyWorkload, pods: Sequence[Pod], is_ready: Callable[[Pod], bool] | None) -> Iterator[Pod]:
    """Yield a StatefulSet's missing pods, by name; a terminating pod still occupies its name.

    A pod under another name also counts towards the replicas.
    """
    named = {pod.metadata.name: pod for pod in pods}
    count = wanted(workload, pods).number
    lacking = count - sum(counts_for(pod, workload.kind) for pod in pods)
    for ordinal in range(count):
        name = f"{workload.metadata.name}-{ordinal}"
        pod = named.get(name)
        if pod is None and lacking > 0:
            lacking -= 1
            yield pod_of(workload, pod_template(workload), name)
        if is_ready is not None and (pod is None or not is_ready(pod)):
            return


def _daemons(workload: AnyWorkload, pods: Sequence[Pod], nodes: Sequence[Node]) -> Iterator[Pod]:
    """Yield one pod for each node that may run it, bound to that node by name."""
    present = {daemon_node(pod) for pod in pods if counts_for(pod, workload.kind)}
    for node in sorted(nodes, key=lambda n: n.metadata.name):
        if node.metadata.name not in present and daemon_may_run(workload, node):
            spec = _on_node(pod_spec(workload), node.metadata.name)
            template = replace(pod_template(workload), spec=spec)
            yield pod_of(workload, template, f"{workload.metadata.name}-{node.metadata.name}")


def daemon_may_run(workload: AnyWorkload, node: Node) -> bool:
    """Return whether a pod of the DaemonSet may run on the node.

    The node must match the pod's node name and node affinity, and the pod must tolerate the node's taints.
    """
    spec = pod_spec(workload)
    if spec.node_name not in ("", node.metadata.name):
        return False
    pod = Pod(metadata=pod_template(workload).metadata, spec=spec)
    if not matches(pod, node.metadata.name, node.metadata.labels):
        return False
    return untolerated(node.spec.taints, spec.tolerations) is None


def pod_of(workload: AnyWorkload, template: PodTemplateSpec, name: str) -> Pod:
    """Return a pod of the workload.

    The pod of a Deployment has the Deployment itself as its controller, without a ReplicaSet.
    """
    owner = OwnerReference(
        api_version=workload.api_version,
        kind=workload.kind,
        name=workload.metadata.name,
        uid=workload.metadata.uid,
        controller=True,
    )
    metadata = ObjectMeta(
        name=name,
        namespace=workload.metadata.namespace,
        labels=template.metadata.labels,
        annotations=template.metadata.annotations,
        owner_references=[owner],
    )
    return Pod(metadata=metadata, spec=template.spec)


def daemon_node(pod: Pod) -> str:
    """Return the node of a DaemonSet's pod: its own node or, if it has none, the node in its node affinity."""
    required = required_terms(pod)
    for term in required.node_selector_terms if required is not None and not pod.spec.node_name else ():
        for field in term.match_fields:
            if field.key == _NODE_NAME_FIELD and field.operator == "In" and len(field.values) == 1:
                return field.values[0]
    return pod.spec.node_name


def _on_node(spec: PodSpec, node: str) -> PodSpec:
    """Return the spec with the node's name required in every term, in the form that the DaemonSet controller writes."""
    affinity = spec.affinity or Affinity()
    near = affinity.node_affinity or NodeAffinity()
    by_name = NodeSelectorRequirement(key=_NODE_NAME_FIELD, operator="In", values=[node])
    selector = NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[by_name])])
    near = replace(near, required_during_scheduling_ignored_during_execution=selector)
    return replace(spec, affinity=replace(affinity, node_affinity=near))
