"""New nodes that are copies of an existing one, as the cluster autoscaler builds nodes from a template.

Copies have unique names. Their devices, attributes and capacities are those of the original, and pools are searched in
the same order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from msgspec import structs

from dra_plan.allocator.identity import PoolID
from dra_plan.allocator.pools import PoolDevice, PoolSlice, device_is_on, targets
from dra_plan.allocator.reasons import AllocationError
from dra_plan.api.core import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimStatus, ResourceSlice
from dra_plan.api.storage import CSINode
from dra_plan.api.well_known import HOSTNAME
from dra_plan.claims.owners import Dependents, ended
from dra_plan.documents.base import AppliedEdit
from dra_plan.errors import UsageError

from .edits import Edited, belongs_to_node, node_named

_PASSING_TAINTS = "node.kubernetes.io/"
"""The prefix of taints that describe the state of one node, and not its kind."""


@dataclass(frozen=True)
class NodeCopy:
    """A new node, and its slices, pods and claims."""

    node: Node
    slices: list[ResourceSlice]
    pods: list[Pod]
    claims: list[ResourceClaim]
    csi_nodes: list[CSINode]


@dataclass(frozen=True)
class NodeModel:
    """A node that can be copied, with the slices, storage drivers, pods and claims to create for each copy."""

    node: Node
    slices: list[ResourceSlice]
    pods: list[Pod]
    claims: Mapping[tuple[str, str], list[ResourceClaim]]
    """The claims that each pod controls."""
    prefixed: frozenset[str]
    """The drivers that have a pool whose name does not start with the node's name."""
    csi_nodes: list[CSINode]

    @classmethod
    def of(cls, inventory: Inventory, node: Node) -> NodeModel:
        """Return the node as a model for copies.

        Raises UsageError if one of the node's pools is incomplete or has slices of other nodes.
        """
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
        """Return a new node with this name, and with copies of the model's slices, pods and claims."""
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
        """Return the pool's name on the new node; a driver's pools keep the order of their names."""
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
        """Return the node's own pod on the new node, with its claims under their new names."""
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
                    f"{not_like(self.node.metadata.name)}: ResourceClaim {claim.key} of its pod "
                    f"has a device of pool {pool}, which belongs to another node"
                )
            results.append(structs.replace(result, pool=self._pool(pool, name)))
        devices = structs.replace(allocation.devices, results=results)
        selector = allocation.node_selector and _renamed(allocation.node_selector, self.node.metadata.name, name)
        return structs.replace(allocation, devices=devices, node_selector=selector)


def _pool_id(slice_: ResourceSlice) -> PoolID:
    return PoolID(slice_.spec.driver, slice_.spec.pool.name)


def not_like(node: str) -> str:
    """Return the beginning of the error message for a node that can't be copied."""
    return f"no node can be added like {node!r}"


def _newest(pool: PoolID, slices: list[ResourceSlice], node: str) -> list[ResourceSlice]:
    """Return the slices in the pool's newest generation, all of which must exist and belong to the node."""
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
    """Return the selector with the new node in place of the old one."""

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


# -- AddNodes ----------------------------------------------------------------------------------------------------------

T = TypeVar("T")

MOST_ADDED = 10_000
"""The maximum number of nodes that one edit adds."""


@dataclass(frozen=True)
class AddNodes:
    """An edit that adds `count` copies of the node `like`. Each copy has its own node-local slices.

    `template` contains the objects of a file with the node. Without a template, the node is in the cluster.
    """

    count: int
    like: str
    template: Inventory | None = None

    @classmethod
    def of(cls, inventory: Inventory, count: int, like: str | os.PathLike[str]) -> AddNodes:
        """Return the edit for a node in the inventory, or for a file with one node and its slices.

        A node takes precedence over a file of the same name. Raises UsageError if there is no such file, or if it does
        not have exactly one node. Raises InputError if the file can't be read.
        """
        from dra_plan.manifests.faults import NO_SUCH_PATH
        from dra_plan.manifests.sources import is_meant_as_path, is_there

        name = os.fspath(like)
        if any(node.metadata.name == name for node in inventory.nodes):
            return cls(count, name)
        if not is_there(like):
            if "/" in name or is_meant_as_path(name):
                raise UsageError(f"{name}: {NO_SUCH_PATH}")
            return cls(count, name)
        template = model_file(like)
        return cls(count, template.nodes[0].metadata.name, template)

    def apply(self, inventory: Inventory) -> Edited:
        """Return the cluster with the new nodes at the end of the list.

        They are named LIKE-new-1, LIKE-new-2 and so on, skipping names that are in use. Raises UsageError for an
        unknown node, a number out of range, or a node that can't be copied. A node can't be copied if it uses devices
        from slices that are not its own and that a copy would not see, or if one of its pools is incomplete.
        """
        if not 1 <= self.count <= MOST_ADDED:
            raise UsageError(f"cannot add {self.count} nodes: expected 1 to {MOST_ADDED:,}")
        source = inventory if self.template is None else self.template
        model = NodeModel.of(source, node_named(source, self.like))
        names = _free_names(self.like, self.count, {node.metadata.name for node in inventory.nodes})
        copies = [model.copy(name) for name in names]
        _check_reach(model.node, copies[0].node, source.slices, foreign=self.template is not None)
        after = replace(
            inventory,
            nodes=[*inventory.nodes, *(copy.node for copy in copies)],
            slices=_joined(inventory.slices, [slice_ for copy in copies for slice_ in copy.slices]),
            pods=_joined(inventory.pods, [pod for copy in copies for pod in copy.pods]),
            claims=_joined(inventory.claims, [claim for copy in copies for claim in copy.claims]),
            csi_nodes=_joined(inventory.csi_nodes, [each for copy in copies for each in copy.csi_nodes]),
        )
        return Edited(after, AppliedEdit(edit="AddNodes", count=self.count, like=self.like, added=names))


def model_file(path: str | os.PathLike[str]) -> Inventory:
    """Return the objects in a file with one node and its slices.

    Raises UsageError if the file does not have exactly one node.
    """
    from dra_plan.manifests.load import load

    found = load([path])
    if len(found.nodes) != 1:
        raise UsageError(f"{os.fspath(path)}: expected one Node as a model, found {len(found.nodes)}")
    return found


def number_and_model(option: str, text: str) -> tuple[int, str]:
    """Parse the value of `option`, which has the form N=NODE or N=FILE. Raises UsageError for other forms."""
    count, equals, like = text.partition("=")
    if not equals or not like or not count.isascii() or not count.isdecimal():
        raise UsageError(f"{option}: {text!r} is not N=NODE or N=FILE")
    return int(count[:10]), like


def _joined(before: list[T], new: list[T]) -> list[T]:
    """Return the lists as one, or the same object as before if nothing is new."""
    return [*before, *new] if new else before


def _free_names(like: str, count: int, taken: set[str]) -> list[str]:
    numbers = (f"{like}-new-{number}" for number in range(1, count + len(taken) + 1))
    free = (name for name in numbers if name not in taken)
    return [next(free) for _ in range(count)]


def _check_reach(model: Node, copy: Node, slices: Sequence[ResourceSlice], *, foreign: bool) -> None:
    """Raise UsageError if the model sees devices in slices that are not its own, and its copy would not see them."""
    for slice_ in slices:
        if slice_.spec.node_name:
            continue
        prepared = PoolSlice(slice_)
        seen = list(_reached(prepared, model))
        if not seen or (not foreign and seen == list(_reached(prepared, copy))):
            continue
        reason = (
            "is not node-local" if foreign else "selects the node by its name, or by a label that no other node has"
        )
        raise UsageError(
            f"{not_like(model.metadata.name)}: ResourceSlice {slice_.metadata.name!r} {reason} "
            f"({_node_field(slice_)}), so its devices on the new node are not known"
        )


def _reached(slice_: PoolSlice, node: Node) -> Iterator[PoolDevice]:
    try:
        if targets(slice_, node):
            yield from (device for device in slice_.devices if device_is_on(device, node))
    except AllocationError:
        return  # if a selector can't be read, scheduling ends with that error, with or without new nodes


def _node_field(slice_: ResourceSlice) -> str:
    spec = slice_.spec
    if spec.per_device_node_selection:
        return "spec.perDeviceNodeSelection"
    return "spec.allNodes" if spec.all_nodes else "spec.nodeSelector"
