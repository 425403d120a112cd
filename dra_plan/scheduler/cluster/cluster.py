"""The simulated cluster: the objects in the API server, and the scheduler's view of nodes and pods.

The first part holds pod groups; the second is the cluster. Every change goes through a method of the cluster, which
updates the totals of nodes and notifies the listener. Claims, volumes and nodes have their own modules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from dra_plan.allocator import View
from dra_plan.api.core import Namespace, Node, NodeAllocatableResourceClaimStatus, Pod, PodDisruptionBudget, Service
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim, ResourceSlice
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.owners import ended
from dra_plan.releases import Target
from dra_plan.scheduler.events import Action, Event, Resource

from .claims import ClaimStore
from .keys import GroupKey, class_names, group_key, pod_uid, pool_reach
from .known_objects import KnownObjects
from .nodes import Journal, NodeInfo, PodInfo, scheduling_order
from .volumes import VolumeStore

# -- pod groups --------------------------------------------------------------------------------------------------------
# These are the groups in a cluster, each group's pods that the scheduler has seen, and the pods' nodes.


class PodGroups:
    """PodGroups by namespace and name, and their pods by UID. A pod may be known before its group."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, PodGroup] = {}
        self._waiting: dict[GroupKey, dict[str, None]] = {}
        self._placed: dict[GroupKey, dict[str, PodInfo]] = {}
        self._nodes: dict[str, str] = {}
        self.preempting: set[GroupKey] = set()
        """The groups for which other pods are being evicted."""

    def put(self, group: PodGroup) -> None:
        """Add a group, or replace its earlier version."""
        self._groups[group.metadata.namespace, group.metadata.name] = group

    def remove(self, key: GroupKey) -> None:
        """Remove the group. Its pods stay."""
        self._groups.pop(key, None)

    def get(self, key: GroupKey | None) -> PodGroup | None:
        """Return the group with this key, or None if it does not exist."""
        return self._groups.get(key) if key is not None else None

    def of(self, pod: Pod) -> PodGroup | None:
        """Return the group that the pod is scheduled with, or None if it has no group or the group does not exist."""
        return self.get(group_key(pod))

    def all(self) -> Collection[PodGroup]:
        """Return all groups in order of arrival."""
        return self._groups.values()

    # Pods

    def saw(self, info: PodInfo) -> None:
        """Record that the pod is waiting for a node and belongs to a profile of the scheduler."""
        if info.group is not None:
            self._waiting.setdefault(info.group, {})[info.uid] = None

    def placed(self, info: PodInfo, node: str) -> None:
        """Record that a pod of a group was bound to a node or assumed on it."""
        if info.group is not None:
            self._placed.setdefault(info.group, {})[info.uid] = info
            self._nodes[info.uid] = node

    def displaced(self, info: PodInfo) -> None:
        """Record that a pod of a group is no longer on its node."""
        if info.group is not None:
            self._placed.get(info.group, {}).pop(info.uid, None)
            self._nodes.pop(info.uid, None)

    def gone(self, info: PodInfo) -> None:
        """Record that the pod has been deleted."""
        if info.group is not None:
            self._waiting.get(info.group, {}).pop(info.uid, None)

    def seen(self, key: GroupKey) -> Collection[str]:
        """Return the UIDs of all pods of the group that have waited for a node, in order of arrival.

        Some of them may have been bound since.
        """
        return self._waiting.get(key, {})

    def on_nodes(self, key: GroupKey) -> Collection[PodInfo]:
        """Return the pods of the group that are bound to a node or assumed on one."""
        return self._placed.get(key, {}).values()

    def bound(self, key: GroupKey) -> int:
        """Return the number of bound pods of the group. Pods that are only assumed on a node do not count."""
        return sum(bool(info.pod.spec.node_name) for info in self.on_nodes(key))

    def node_of(self, uid: str) -> str:
        """Return the node of a pod of a group, or "" if it has none."""
        return self._nodes.get(uid, "")

    def count(self, key: GroupKey) -> int:
        """Return how many pods of the group the scheduler knows, in any state."""
        return len(self._waiting.get(key, {}).keys() | self._placed.get(key, {}).keys())


# -- the cluster -------------------------------------------------------------------------------------------------------

_NO_LABELS: Mapping[str, str] = {}


def _differ_in_taints(old: Node, new: Node) -> bool:
    """Return whether one is the other, cordoned or with other taints."""
    spec = replace(new.spec, unschedulable=old.spec.unschedulable, taints=old.spec.taints)
    same_labels = old.metadata.name == new.metadata.name and old.metadata.labels == new.metadata.labels
    return same_labels and spec == old.spec and new.status == old.status


def by_name(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes sorted by name."""
    return sorted(nodes, key=lambda node: node.metadata.name)


class SimulatedCluster:
    """The state of the simulated cluster.

    `nodes` is in scheduling order. `pods` has every pod that has not been deleted. `affinity_pods` is the number of
    pods on nodes that have affinity rules. `services` are stored by namespace, `workloads` by kind, namespace and name.
    """

    def __init__(
        self,
        inventory: Inventory,
        pods: Iterable[Pod],
        claims: ClaimStore,
        target: Target,
        *,
        shows_finished: bool = True,
        known: KnownObjects | None = None,
        view: View | None = None,
        arranged: Callable[[Iterable[Node]], Sequence[Node]] = by_name,
    ) -> None:
        """Set up the cluster. `known` is shared with simulations of related clusters.

        `view` is the view of the inventory, if it exists. `arranged` sorts nodes by their arrival.
        """
        self._arranged = arranged
        self.view = View.of(inventory, target) if view is None else view
        """Slices, classes and taint rules as the target sees them. Allocations are in `claims`."""
        self.shows_finished = shows_finished
        self.listener: Callable[[Event], None] = lambda _event: None
        self.revision = 0
        self.node_revision = 0
        self.journal = Journal(Journal())
        self.positions: dict[str, int] = {}
        """The position of each node in scheduling order."""
        self.changed_pods: dict[str, None] = {}
        """The UIDs of the pods added, changed or removed since this was last emptied. Binding does not count."""
        self.moved_pods: dict[str, None] = {}
        """The UIDs of the pods added, changed, removed or bound since this was last emptied."""
        self._priorities: Counter[int] = Counter()
        """The number of pods on nodes, by priority."""
        self.in_order: Sequence[NodeInfo] = ()
        """The nodes in scheduling order."""
        self._given_nodes: Sequence[Node] = ()
        """The node objects in the order in which they were last set; none if nodes came and went otherwise."""
        self.affinity_pods = 0
        self.claims = claims
        self.groups = PodGroups()
        self.nodes: dict[str, NodeInfo] = {}
        self.pods: dict[str, Pod] = {}
        self.infos: dict[str, PodInfo] = {}
        self._extended: dict[str, str] | None = None
        self._pool_nodes: dict[str, dict[str, None] | None] | None = None
        self._on_unknown_nodes: dict[str, dict[str, PodInfo]] = {}
        self.volumes = VolumeStore(inventory, self.emit)
        """Volumes, the claims on them, and their storage classes and drivers."""
        self.set_lookups(inventory)
        self._known = KnownObjects() if known is None else known
        self._known.begin(self.view, claims)
        for pod in pods:
            self.infos[pod_uid(pod)] = self._known.pod(pod, devices_count=self.view.target.features.node_allocatable)
            self._store(pod)
        self.set_nodes(inventory.nodes)

    # What can be taken back

    counters = ("node_revision",)

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return self.journal, self.claims, self.groups, self.volumes

    def reverted(self) -> None:
        """Number the nodes again after a fork has been reverted."""
        self._number()

    def emit(self, resource: Resource, action: Action, old: object, new: object) -> None:
        """Notify the listener that an object has changed."""
        self.revision += 1
        self.listener(Event(resource, action, old, new))

    def set_lookups(self, inventory: Inventory) -> None:
        """Replace the namespaces, disruption budgets, services and workloads, which plugins look up."""
        self.namespaces: dict[str, Namespace] = {n.metadata.name: n for n in inventory.namespaces}
        self.budgets: list[PodDisruptionBudget] = list(inventory.disruption_budgets)
        self.services: dict[str, list[Service]] = {}
        for service in inventory.services:
            self.services.setdefault(service.metadata.namespace, []).append(service)
        self.workloads: dict[tuple[str, str, str], AnyWorkload] = {
            (workload.kind, workload.metadata.namespace, workload.metadata.name): workload
            for workload in inventory.workloads
        }

    # Nodes

    def set_nodes(self, nodes: Iterable[Node]) -> None:
        """Replace the nodes. Pods stay on their nodes."""
        nodes = list(nodes)
        if self._taint(nodes):
            return
        old, self.nodes = self.nodes, {}
        for node in scheduling_order(self._arranged(nodes)):
            name = node.metadata.name
            info = old.pop(name, None)
            if info is None:
                info = self._known.node(node, self._on_unknown_nodes.pop(name, {}), self.journal)
            elif info.node is not node:
                info.set_node(node)
            self.nodes[name] = info
        for name, gone in old.items():
            if gone.pods:
                self._on_unknown_nodes[name] = dict(gone.pods)
        self.see(self.nodes)
        self._given_nodes = nodes
        self._pool_nodes = None

    def _taint(self, nodes: Sequence[Node]) -> bool:
        """Replace nodes that are only cordoned, or have other taints; return whether the others are the same."""
        given = self._given_nodes
        changed = [(old, new) for old, new in zip(given, nodes, strict=False) if old is not new]
        if len(given) != len(nodes) or not all(_differ_in_taints(*pair) for pair in changed):
            return False
        for _, node in changed:
            self.nodes[node.metadata.name].set_node(node)
        self._given_nodes = nodes
        return True

    def append_node(self, node: Node) -> None:
        """Add a node at the end of the scheduling order. This is only for finding out which pods fit on it."""
        name = node.metadata.name
        info = self._known.node(node, self._on_unknown_nodes.pop(name, {}), self.journal)
        info.position = self.positions[name] = len(self.in_order)
        self.nodes[name] = info
        self.in_order = (*self.in_order, info)
        self._given_nodes = ()
        self.node_revision += 1

    def see(self, nodes: dict[str, NodeInfo]) -> None:
        """Replace the nodes with `nodes`, which are in scheduling order. Cached results become invalid."""
        self._given_nodes = ()
        self.nodes = nodes
        self.node_revision += 1
        self.in_order = tuple(nodes.values())
        self._number()
        self.positions = {name: info.position for name, info in nodes.items()}

    def _number(self) -> None:
        for position, info in enumerate(self.in_order):
            info.position = position

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace. An unknown namespace has only the label `kubernetes.io/metadata.name`."""
        known = self.namespaces.get(name)
        if known is None:
            return {"kubernetes.io/metadata.name": name}
        return known.metadata.labels or _NO_LABELS

    # Pods

    def info(self, pod: Pod) -> PodInfo:
        """Return the pod with everything derived from it. The result is cached."""
        uid = pod_uid(pod)
        found = self.infos.get(uid)
        if found is not None and found.pod is not pod:
            found = found.restated(pod)
            if found is not None:
                self.infos[uid] = found
        if found is None:
            found = self.infos[uid] = PodInfo(pod, devices_count=self.view.target.features.node_allocatable)
        return found

    def _note_change(self, uid: str) -> None:
        self.changed_pods[uid] = self.moved_pods[uid] = None

    def _store(self, pod: Pod) -> None:
        self.pods[pod_uid(pod)] = pod
        self._note_change(pod_uid(pod))
        if pod.spec.node_name and self._holds(pod):
            self._place(self.info(pod), pod.spec.node_name)

    def least_priority(self) -> float:
        """Return the lowest priority of the pods on nodes, or infinity if there are none."""
        return min(self._priorities, default=math.inf)

    def _place(self, info: PodInfo, node: str) -> None:
        self.affinity_pods += info.terms.any
        self._priorities[info.priority] += 1
        if info.group is not None and not ended(info.pod):
            self.groups.placed(info, node)
        if node in self.nodes:
            self.nodes[node].add(info)
        else:
            self._on_unknown_nodes.setdefault(node, {})[info.uid] = info

    def _displace(self, uid: str, node: str) -> None:
        info = (
            self.nodes[node].remove(uid) if node in self.nodes else self._on_unknown_nodes.get(node, {}).pop(uid, None)
        )
        if info is not None:
            self.affinity_pods -= info.terms.any
            self._priorities[info.priority] -= 1
            if not self._priorities[info.priority]:
                del self._priorities[info.priority]
            if info.group is not None:
                self.groups.displaced(info)

    def assume(self, info: PodInfo, node: str) -> None:
        """Count the pod on the node before it is bound."""
        self._place(info, node)

    def forget(self, info: PodInfo, node: str) -> None:
        """Stop counting the pod on the node where it was assumed.

        As in upstream, the queue sees this as the deletion of an assigned pod.
        """
        self._displace(info.uid, node)

    def bind(self, pod: Pod, node: str) -> Pod:
        """Bind the pod to the node on which it is assumed."""
        uid = pod_uid(pod)
        old = self.pods.get(uid, pod)
        bound = replace(old, spec=replace(old.spec, node_name=node))
        info = self.infos[uid] = self.info(old).bound(bound)
        self.pods[uid] = bound
        self.moved_pods[uid] = None
        if info.group is None and node in self.nodes and uid in self.nodes[node].pods:
            self.nodes[node].renew(info)
        else:
            self._displace(uid, node)
            self._place(info, node)
        self.emit(Resource.ASSIGNED_POD, Action.ADD, None, bound)
        return bound

    def exchange(self, gone: Iterable[str], new: Iterable[Pod], claims: Iterable[ResourceClaim]) -> None:
        """Replace some pods and all claims without events, as if the new objects had been in the input."""
        for uid in gone:
            old = self.pods.pop(uid)
            if old.spec.node_name:
                self._displace(uid, old.spec.node_name)
            for table in (self.infos, self.changed_pods, self.moved_pods):
                table.pop(uid, None)
        for claim in self.claims.become(claims):
            self._touch(claim)
        for pod in new:
            self._store(pod)

    def arrange(self, node: str, uids: Sequence[str]) -> None:
        """Put the pods on the node into the order of `uids`."""
        info = self.nodes.get(node)
        if info is not None and list(info.pods) != uids:
            pods = [info.pods[uid] for uid in uids if uid in info.pods]
            for pod in pods:
                info.remove(pod.uid)
            for pod in pods:
                info.add(pod)

    def update_pod(self, pod: Pod) -> None:
        """Store a new version of a pod that is not on a node."""
        self._note_change(pod_uid(pod))
        self.pods[pod_uid(pod)] = pod

    def set_claimed(self, pod: Pod, node: str, claimed: list[NodeAllocatableResourceClaimStatus]) -> None:
        """Count the node resources that the pod's devices use, and list them in its status.

        The pod is assumed on this node.
        """
        uid = pod_uid(pod)
        current = self.pods.get(uid, pod)
        status = replace(current.status, node_allocatable_resource_claim_statuses=claimed)
        self.pods[uid] = replace(current, status=status)
        self._displace(uid, node)
        self._place(self.info(self.pods[uid]), node)

    def add_pod(self, pod: Pod) -> None:
        """Add a new pod."""
        self._store(pod)
        placed = bool(pod.spec.node_name)
        self.emit(Resource.ASSIGNED_POD if placed else Resource.UNSCHEDULED_POD, Action.ADD, None, pod)

    def replace_pod(self, old: Pod, new: Pod, action: Action) -> None:
        """Replace a pod on a node. A finished pod leaves the node, unless the API server still shows it."""
        node = old.spec.node_name
        self._displace(pod_uid(old), node)
        self._note_change(pod_uid(new))
        self.pods[pod_uid(new)] = new
        if self._holds(new):
            self._place(self.info(new), node)
            if action:
                self.emit(Resource.ASSIGNED_POD, action, old, new)
        else:
            self.emit(Resource.ASSIGNED_POD, Action.DELETE, old, None)

    def restate_pod(self, pod: Pod) -> None:
        """Update the status of a running pod on a node. Such a change never helps a waiting pod."""
        uid = pod_uid(pod)
        node = self.nodes.get(pod.spec.node_name)
        known = node.pods.get(uid) if node is not None else None
        info = known.restated(pod) if known is not None and known.group is None else None
        if node is None or info is None:
            self.replace_pod(self.pods[uid], pod, Action(0))
            return
        self.pods[uid], self.infos[uid] = pod, info
        node.restate(info)

    def _holds(self, pod: Pod) -> bool:
        """Return whether the pod counts on its node.

        Finished pods count only if the API server does not filter them.
        """
        return self.shows_finished or not ended(pod)

    def delete_pod(self, pod: Pod) -> None:
        """Delete a pod, if it exists."""
        old = self.pods.pop(pod_uid(pod), None)
        if old is None:
            return
        self._note_change(pod_uid(old))
        self.groups.gone(self.info(old))
        self.infos.pop(pod_uid(old), None)
        node = old.spec.node_name
        if node:
            self._displace(pod_uid(old), node)
            self.emit(Resource.ASSIGNED_POD, Action.DELETE, old, None)
        else:
            self.emit(Resource.UNSCHEDULED_POD, Action.DELETE, old, None)

    def add_group(self, group: PodGroup) -> None:
        """Add a pod group, or replace its earlier version."""
        known = self.groups.get((group.metadata.namespace, group.metadata.name))
        self.groups.put(group)
        self.emit(Resource.POD_GROUP, Action.ADD if known is None else Action.UPDATE_OTHER, known, group)

    # Claims and devices

    def extended_names(self) -> Mapping[str, str]:
        """Return the class that provides each extended resource, by resource name.

        The result is empty if the feature gate is off.
        """
        if self._extended is None:
            target = self.view.target
            lost = target.quirks.losing_class_loses_implicit_name
            classes = self.view.classes.values() if target.features.extended_resources else ()
            self._extended = class_names(classes, loser_loses_implicit=lost)
        return self._extended

    def put_claim(self, claim: ResourceClaim) -> None:
        """Add a claim, or replace its earlier version."""
        old = self.claims.put(claim)
        if old is None:
            self._touch(claim)
            self.emit(Resource.CLAIM, Action.ADD, None, claim)
        else:
            # a claim in flight was counted when it was signalled
            if self.claims.pending_allocation(claim.metadata.uid) is None and old.allocation != claim.allocation:
                self._touch(old)
                self._touch(claim)
            self.emit(Resource.CLAIM, Action.UPDATE_OTHER, old, claim)

    def delete_claim(self, claim: ResourceClaim) -> None:
        """Delete a claim."""
        old = self.claims.remove(claim)
        if old is not None:
            self._touch(old)
            self.emit(Resource.CLAIM, Action.DELETE, old, None)

    def signal_pending_allocation(self, claim: ResourceClaim) -> None:
        """Record that a claim is being allocated."""
        self.claims.signal_pending_allocation(claim)
        self._touch(claim)

    def remove_pending_allocation(self, uid: str) -> None:
        """Record that a claim is no longer being allocated."""
        freed = self.claims.remove_pending_allocation(uid)
        if freed is not None:
            self._touch(freed)

    def _touch(self, claim: ResourceClaim) -> None:
        """Invalidate the results for nodes that can reach the claim's devices."""
        if claim.allocation is None:
            return
        for pool in dict.fromkeys(result.pool for result in claim.allocation.devices.results):
            self.touch_pool(pool)

    def has_lost_pods(self) -> bool:
        """Return whether any pods are on nodes that do not exist."""
        return any(self._on_unknown_nodes.values())

    def touch_pool(self, pool: str) -> None:
        """Invalidate the cached results for the nodes that reach a pool with this name.

        The driver does not matter, because upstream keeps counters by pool name.
        """
        if self._pool_nodes is None:
            self._pool_nodes = pool_reach(self.view.slices)
        names = self._pool_nodes.get(pool, ())
        for name in self.nodes if names is None else names:
            info = self.nodes.get(name)
            if info is not None:
                info.touch()

    def set_slices(self, slices: Sequence[ResourceSlice]) -> None:
        """Replace the slices. Cached results become invalid."""
        self._see_devices(self.view.with_slices(slices))

    def set_devices(self, inventory: Inventory) -> None:
        """Replace the slices, classes and taint rules with those of the inventory. Cached results become invalid."""
        self._see_devices(View.of(inventory, self.view.target).ordered(self.view.device_order))

    def _see_devices(self, view: View) -> None:
        self.view = view
        self._pool_nodes = None
        self._extended = None
        for info in self.nodes.values():
            info.touch()
