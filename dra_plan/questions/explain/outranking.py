"""`explain`: a higher priority for a pod, which then preempts pods on a node where others leave it no room.

The classes are those of the input that the namespace may use: by default, only kube-system may use the system classes;
elsewhere, a ResourceQuota with the scope PriorityClass has to allow them. A pod of a DaemonSet, which can go nowhere
else, may also get a new class. The scheduler preempts as few pods, and as low priorities, as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from msgspec import structs

from dra_plan.api.core import Pod, PodSpec, PriorityClass
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.well_known import SYSTEM_NAMESPACE
from dra_plan.claims.index import Index
from dra_plan.claims.owners import controller_names, ended
from dra_plan.controllers.quota import in_scope, scopes_of
from dra_plan.documents.cluster_changes import PriorityRaised
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.suggestions import PatchOperation, TriedChanges
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.claim_templates import free_name
from dra_plan.questions.explain.editing import OwnedPods, Remedy
from dra_plan.questions.explain.removals import priority_of
from dra_plan.questions.explain.staying import why_it_stays
from dra_plan.questions.explain.trial import Trial

MOST_CLASSES = 2
"""The number of classes that are tried, those with the lowest values first."""

_SYSTEM, _NEVER, _SCOPE = "system-", "Never", "PriorityClass"


def outranking(
    inventory: Inventory, pods: OwnedPods, priority: int, groups: Sequence[tuple[RefusingNodes, list[NodeObstacle]]]
) -> Iterator[Remedy]:
    """Yield higher priorities with which the pods may preempt others on nodes that only lack room."""
    nodes = {name for group, told in groups if told and all(one.is_of_room for one in told) for name in group.nodes}
    spec = pods.spec
    if spec is None or pods.object is None or not nodes or _policy(inventory, spec) == _NEVER:
        return
    values = {one.metadata.name: one.value for one in inventory.priority_classes}
    there = [priority_of(pod, values) for pod in inventory.pods if pod.spec.node_name in nodes and not ended(pod)]
    lowest = min(there, default=priority)
    namespace = pods.object.metadata.namespace
    usable = [
        one
        for one in inventory.priority_classes
        if one.value > max(priority, lowest) and one.preemption_policy != _NEVER and _may_use(inventory, namespace, one)
    ]
    for one in sorted(usable, key=lambda each: (each.value, each.metadata.name))[:MOST_CLASSES]:
        yield _with_class(pods, one, is_new=False)
    if not usable and lowest >= priority and _is_of_daemon_set(pods):
        name = free_name(pods.workload.metadata.name if pods.workload is not None else "priority", values)
        yield _with_class(pods, PriorityClass(metadata=ObjectMeta(name=name), value=lowest + 1), is_new=True)


def _is_of_daemon_set(pods: OwnedPods) -> bool:
    return pods.workload is not None and pods.workload.kind == "DaemonSet"


def _policy(inventory: Inventory, spec: PodSpec) -> str | None:
    """Return the preemption policy of the pods, which a class may set."""
    named = (one for one in inventory.priority_classes if one.metadata.name == spec.priority_class_name)
    default = (one for one in inventory.priority_classes if one.global_default and not spec.priority_class_name)
    return spec.preemption_policy or next((one.preemption_policy for one in (*named, *default)), None)


def _may_use(inventory: Inventory, namespace: str, of: PriorityClass) -> bool:
    """Return whether pods of the namespace may have the class (admission of ResourceQuota: limitedResources)."""
    name = of.metadata.name
    if not name.startswith(_SYSTEM) or namespace == SYSTEM_NAMESPACE:
        return True
    pod = Pod(spec=PodSpec(priority_class_name=name))
    own = (one for one in inventory.quotas if one.metadata.namespace == namespace)
    return any(in_scope(one, pod) and any(scope.startswith(_SCOPE) for scope in scopes_of(one)) for one in own)


def _with_class(pods: OwnedPods, of: PriorityClass, *, is_new: bool) -> Remedy:
    name = of.metadata.name
    told = PriorityRaised(code="raise-priority", priority_class=name, value=of.value, is_new=is_new)

    def edited(spec: PodSpec) -> PodSpec:
        return structs.replace(spec, priority_class_name=name, priority=None, preemption_policy=None)

    edit = pods.editing(edited)
    if not is_new:
        return Remedy((told,), edit, fixed=True)
    manifest = {"apiVersion": of.api_version, "kind": of.kind, "metadata": {"name": name}, "value": of.value}
    made = PatchOperation(op="add", path="", value=manifest)
    created = patches.of_object((of.kind, "", name), of.api_version, [made])
    return Remedy(
        (told,),
        lambda input_: edit(replace(input_, priority_classes=[*input_.priority_classes, of])),
        fixed=True,
        patches=(created,),
    )


def evicted(pods: OwnedPods, tried: TriedChanges, siblings: AbstractSet[str]) -> list[Pod]:
    """Return the pods that are preempted; none if one would be created again on its node, or is the workload's own."""
    found = [pod for pod in pods.inventory.pods if pod.key in tried.evicts]
    own = _controller(pods.object) if isinstance(pods.object, Pod) else []
    are_others = siblings.isdisjoint(tried.evicts) and not any(own and _controller(one) == own for one in found)
    return found if are_others and all(why_it_stays(one) in (None, "NoController") for one in found) else []


def _controller(pod: Pod) -> list[tuple[str, ...]]:
    """Return the namespace, kind and name of the pod's controller, which may not be in the input."""
    return [(pod.metadata.namespace, *name) for name in controller_names(pod.metadata)[:1]]


def with_replacements(tried: TriedChanges, gone: Sequence[Pod], then: Trial | None) -> TriedChanges:
    """Return the changes with what becomes of the preempted pods (`gone`) in the trial in which they are replaced."""
    places = then.places if then is not None else {}
    fields = {
        "placed": sorted(pod.key for pod in gone if places.get(pod.key)),
        "without_place": sorted(pod.key for pod in gone if places.get(pod.key) == ""),
        "not_recreated": sorted(pod.key for pod in gone if pod.metadata.controller is None),
    }
    changes = [structs.replace(one, **fields) if isinstance(one, PriorityRaised) else one for one in tried.changes]
    return structs.replace(tried, changes=changes)


def after_eviction(changed: Inventory, gone: Sequence[Pod]) -> Inventory:
    """Return the changed input in which these pods have left, and their controllers have replaced them."""
    from dra_plan.whatif.edits import replaced  # few pods preempt others, and start-up time matters

    return replaced(changed, gone, Index(changed)).inventory
