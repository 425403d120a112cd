"""`explain`: changes to nodes, and new nodes, that would help a pod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import INSTANCE_TYPE, UNSCHEDULABLE, ZONE
from dra_plan.claims.owners import ended
from dra_plan.documents.cluster_changes import DevicesRepaired, NodeAdded, NodeAwaited, NodeLabelled, NodeTaintMet
from dra_plan.documents.devices import TaintName
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.suggestions import PatchOperation
from dra_plan.errors import UsageError
from dra_plan.explanation.suggest import patches
from dra_plan.explanation.suggest.admissions import may_recover, uncordoning
from dra_plan.questions.explain.editing import Remedy, departed


def uncordoned(node: Node) -> Remedy:
    """Return a change that uncordons a node."""

    def edited(of: Node) -> Node:
        taints = [taint for taint in of.spec.taints if taint.key != UNSCHEDULABLE.key]
        return structs.replace(of, spec=structs.replace(of.spec, unschedulable=False, taints=taints))

    return Remedy((uncordoning(node),), _on_node(node.metadata.name, edited))


def without_taint(name: str, taint: TaintName) -> Remedy:
    """Return a change that removes a taint from a node."""

    def edited(node: Node) -> Node:
        kept = [each for each in node.spec.taints if (each.key, each.effect) != (taint.key, taint.effect)]
        return structs.replace(node, spec=structs.replace(node.spec, taints=kept))

    return Remedy((NodeTaintMet(code="remove-node-taint", tainted=name, taint=taint),), _on_node(name, edited))


def labelled(name: str, label: str, value: str, runtime_class: str = "") -> Remedy:
    """Return a change that sets a label of a node. If a RuntimeClass is given, it is what requires the label."""

    def edited(node: Node) -> Node:
        labels = {**(node.metadata.labels or {}), label: value}
        return structs.replace(node, metadata=structs.replace(node.metadata, labels=labels))

    told = NodeLabelled(code="label-node", labels={label: value}, runtime_class=runtime_class)
    return Remedy((told,), _on_node(name, edited))


def added(like: str) -> Remedy:
    """Return a change that adds a copy of a node."""
    return Remedy((NodeAdded(code="add-node", like=like),), lambda of: _with_copy(of, like))


def _with_copy(of: Inventory, like: str) -> Inventory | None:
    """Return the input with one more node like this; None if it cannot be copied."""
    from dra_plan.whatif import AddNodes  # only taken host ports need it, and start-up time matters

    try:
        return AddNodes(1, like).apply(of).inventory
    except UsageError:
        return None


def recovered(inventory: Inventory, node: Node) -> Remedy:
    """Return a change that waits for a node to recover.

    Afterwards, the node has no taints about problems, and no pods that are being deleted.
    """
    gone = [taint for taint in node.spec.taints if may_recover(taint.key)]
    name = node.metadata.name
    kept = [each for each in node.spec.taints if each not in gone]
    after = structs.replace(node, spec=structs.replace(node.spec, taints=kept))
    leaving = [
        pod.key
        for pod in inventory.pods
        if pod.spec.node_name == name and pod.metadata.deletion_timestamp and not ended(pod)
    ]
    told = NodeAwaited(
        code="await-node",
        awaited=name,
        taints=[TaintName(key=each.key, value=each.value, effect=each.effect) for each in gone],
        since=min((each.time_added for each in gone if each.time_added), default=""),
        ends=leaving,
    )

    def apply(of: Inventory) -> Inventory:
        without = departed(of, leaving)
        return replace(without, nodes=[after if each is node else each for each in without.nodes])

    return Remedy((told,), apply, patches=(patches.of_node_spec(node, after), *patches.deletions(leaving)))


def repaired(one: NodeObstacle, node: Node) -> Remedy | None:
    """Return a change after which a device plugin offers all devices of a node, or None if it already does."""
    has = (node.status.capacity or {}).get(one.resource, "")
    if not one.unhealthy or not has:
        return None
    name, offered = node.metadata.name, (node.status.allocatable or {}).get(one.resource, "0")
    told = DevicesRepaired(code="repair-devices", resource=one.resource, on=name, from_=str(offered), to=str(has))

    def edited(of: Node) -> Node:
        allocatable = {**(of.status.allocatable or {}), one.resource: has}
        return structs.replace(of, status=structs.replace(of.status, allocatable=allocatable))

    path = patches.pointer("status", "allocatable", one.resource)
    made = patches.of_object(("Node", "", name), "v1", [PatchOperation(op="add", path=path, value=str(has))])
    return Remedy((told,), _on_node(name, edited), patches=(made,))


def working(inventory: Inventory, node: Node) -> Node:
    """Return `node` if it works. Otherwise, return another node of the same shape that works, if there is one."""
    if not any(may_recover(taint.key) for taint in node.spec.taints):
        return node
    shape = _shape(node)
    alike = (each for each in inventory.nodes if _shape(each) == shape)
    return next((each for each in alike if not (each.spec.unschedulable or each.spec.taints)), node)


def _shape(node: Node) -> object:
    """Return the properties in which nodes of one kind agree."""
    labels = node.metadata.labels or {}
    return node.status.allocatable, labels.get(INSTANCE_TYPE), labels.get(ZONE)


def _on_node(name: str, edit: Callable[[Node], Node]) -> Callable[[Inventory], Inventory]:
    return lambda of: replace(of, nodes=[edit(each) if each.metadata.name == name else each for each in of.nodes])
