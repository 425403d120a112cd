"""A node as a model for others: the node without what is its own, its slices, and the pods that every node has.

Names are new and unique; devices, attributes and capacities are the same. Pools keep the order in which they are
searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import structs

from dra_plan.allocator.identity import PoolID
from dra_plan.api.core import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimStatus, ResourceSlice
from dra_plan.api.storage import CSINode
from dra_plan.api.well_known import HOSTNAME
from dra_plan.claims.owners import Dependents, ended
from dra_plan.errors import UsageError

from .departure import belongs_to_node

_PASSING_TAINTS = "node.kubernetes.io/"
"""Taints of this prefix tell the state of one node, not what all of its kind are like."""


@dataclass(frozen=True)
class NodeCopy:
    """A new node with everything that comes with it."""

    node: Node
    slices: list[ResourceSlice]
    pods: list[Pod]
    claims: list[ResourceClaim]
    csi_nodes: list[CSINode]


@dataclass(frozen=True)
class NodeModel:
    """A node with its own slices, its storage drivers, and its own pods with their claims."""

    node: Node
    slices: list[ResourceSlice]
    pods: list[Pod]
    claims: Mapping[tuple[str, str], list[ResourceClaim]]
    """What each of the pods controls."""
    prefixed: frozenset[str]
    """The drivers that have a pool of another name than the node's or one that begins with it."""
    csi_nodes: list[CSINode]

    @classmethod
    def of(cls, inventory: Inventory, node: Node) -> NodeModel:
        """Raises UsageError for a pool that lacks slices, or has some that are not the node's own."""
        name = node.metadata.name
        own = [slice_ for slice_ in inventory.slices if slice_.spec.node_name == name]
        pools = {_pool_id(slice_) for slice_ in own}
        slices = []
        for pool in sorted(pools):
            slices += _newest(pool, [s for s in inventory.slices if _pool_id(s) == pool], name)
        controlled = Dependents(inventory.claims)
        pods = [p for p in inventory.pods if p.spec.node_name == name and belongs_to_node(p) and _runs(p)]
        claims = {(p.metadata.namespace, p.metadata.name): list(controlled.of(p)) for p in pods}
        prefixed = frozenset(pool.driver for pool in pools if not pool.pool.startswith(name))
        csi_nodes = [each for each in inventory.csi_nodes if each.metadata.name == name]
        return cls(node, slices, pods, claims, prefixed, csi_nodes)

    def copy(self, name: str) -> NodeCopy:
        """A node of that name."""
        pods = [self._pod(pod, name) for pod in self.pods]
        claims = [self._claim(claim, pod, name) for pod in self.pods for claim in self._claims_of(pod)]
        slices = [self._slice(slice_, name) for slice_ in self.slices]
        csi_nodes = [structs.replace(each, metadata=_new(each.metadata, name)) for each in self.csi_nodes]
        return NodeCopy(self._node(name), slices, pods, claims, csi_nodes)

    def _claims_of(self, pod: Pod) -> list[ResourceClaim]:
        return self.claims[pod.metadata.namespace, pod.metadata.name]

    def _node(self, name: str) -> Node:
        metadata = self.node.metadata
        labels = {**(metadata.labels or {})}
        if HOSTNAME in labels:
            labels[HOSTNAME] = name
        taints = [taint for taint in self.node.spec.taints if not taint.key.startswith(_PASSING_TAINTS)]
        return structs.replace(
            self.node,
            metadata=structs.replace(_new(metadata, name), labels=labels),
            spec=structs.replace(self.node.spec, unschedulable=False, taints=taints),
        )

    def _pool(self, pool: PoolID, name: str) -> str:
        """The pool's name on the new node: pools of one driver stay in the order that their names have."""
        if pool.driver in self.prefixed:
            return f"{name}-{pool.pool}"
        return name + pool.pool.removeprefix(self.node.metadata.name)

    def _slice(self, slice_: ResourceSlice, name: str) -> ResourceSlice:
        spec = slice_.spec
        pool = structs.replace(spec.pool, name=self._pool(_pool_id(slice_), name))
        return structs.replace(
            slice_,
            metadata=_new(slice_.metadata, f"{name}-{slice_.metadata.name}"),
            spec=structs.replace(spec, node_name=name, pool=pool),
        )

    # The pods that every node has

    def _pod(self, pod: Pod, name: str) -> Pod:
        """The node's own pod on the new node, with its claims under their new names."""
        metadata = _new(pod.metadata, f"{name}-{pod.metadata.name}")
        metadata = structs.replace(metadata, uid=_uid(pod.metadata, name))
        statuses = [
            PodResourceClaimStatus(
                name=s.name, resource_claim_name=s.resource_claim_name and f"{name}-{s.resource_claim_name}"
            )
            for s in pod.status.resource_claim_statuses
        ]
        return structs.replace(
            pod,
            metadata=metadata,
            spec=structs.replace(pod.spec, node_name=name),
            status=structs.replace(pod.status, resource_claim_statuses=statuses),
        )

    def _claim(self, claim: ResourceClaim, pod: Pod, name: str) -> ResourceClaim:
        owners = [
            structs.replace(owner, name=f"{name}-{owner.name}", uid=owner.uid and _uid(pod.metadata, name))
            for owner in claim.metadata.owner_references or ()
        ]
        metadata = structs.replace(_new(claim.metadata, f"{name}-{claim.metadata.name}"), owner_references=owners)
        status = claim.status
        if status is not None:
            users = [
                structs.replace(user, name=f"{name}-{user.name}", uid=user.uid and _uid(pod.metadata, name))
                for user in status.reserved_for
            ]
            allocation = status.allocation and self._allocation(status.allocation, claim, name)
            status = ResourceClaimStatus(allocation=allocation, reserved_for=users)
        return structs.replace(claim, metadata=metadata, status=status)

    def _allocation(self, allocation: AllocationResult, claim: ResourceClaim, name: str) -> AllocationResult:
        own = {_pool_id(slice_) for slice_ in self.slices}
        results = []
        for result in allocation.devices.results:
            pool = PoolID(result.driver, result.pool)
            if pool not in own:
                raise UsageError(
                    f"{not_like(self.node.metadata.name)}: its pod's ResourceClaim {claim.key} has a "
                    f"device of pool {pool}, which is not the node's own"
                )
            results.append(structs.replace(result, pool=self._pool(pool, name)))
        devices = structs.replace(allocation.devices, results=results)
        selector = allocation.node_selector and _renamed(allocation.node_selector, self.node.metadata.name, name)
        return structs.replace(allocation, devices=devices, node_selector=selector)


def _pool_id(slice_: ResourceSlice) -> PoolID:
    return PoolID(slice_.spec.driver, slice_.spec.pool.name)


def not_like(node: str) -> str:
    """How errors begin that tell why a node is no model for new ones."""
    return f"no node can be added like {node!r}"


def _newest(pool: PoolID, slices: list[ResourceSlice], node: str) -> list[ResourceSlice]:
    """The slices of the pool's newest generation, all of which have to be the node's own, and all there."""
    generation = max(slice_.spec.pool.generation for slice_ in slices)
    newest = [slice_ for slice_ in slices if slice_.spec.pool.generation == generation]
    refusal = f"{not_like(node)}: pool {pool}"
    for slice_ in newest:
        if slice_.spec.node_name != node:
            raise UsageError(
                f"{refusal} has ResourceSlice {slice_.metadata.name!r}, which is not node-local (spec.nodeName)"
            )
        expected = slice_.spec.pool.resource_slice_count
        if expected != len(newest):
            raise UsageError(
                f"{refusal} would stay incomplete: ResourceSlice {slice_.metadata.name!r} has "
                f"spec.pool.resourceSliceCount {expected}, and the input has {len(newest)} of generation {generation}"
            )
    return newest


def _runs(pod: Pod) -> bool:
    return not ended(pod) and pod.metadata.deletion_timestamp is None


def _new(metadata: ObjectMeta, name: str) -> ObjectMeta:
    return structs.replace(metadata, name=name, generate_name="", uid="", creation_timestamp=None, finalizers=None)


def _uid(metadata: ObjectMeta, node: str) -> str:
    return f"{metadata.uid}-{node}" if metadata.uid else ""


def _renamed(selector: NodeSelector, before: str, after: str) -> NodeSelector:
    """The selector with the new node where it names the old one."""

    def requirement(old: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return structs.replace(old, values=[after if value == before else value for value in old.values])

    return NodeSelector(
        node_selector_terms=[
            NodeSelectorTerm(
                match_expressions=[requirement(old) for old in term.match_expressions],
                match_fields=[requirement(old) for old in term.match_fields],
            )
            for term in selector.node_selector_terms
        ]
    )
