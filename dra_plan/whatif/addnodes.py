"""`AddNodes`: more nodes like one that is known, as the cluster autoscaler builds nodes from a template.

What they bring is in `nodecopy`: slices, and the pods that belong to every node.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dra_plan.allocator.pools import PoolDevice, PoolSlice, device_is_on, targets
from dra_plan.allocator.reasons import AllocationError
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceSlice
from dra_plan.documents.base import AppliedEdit
from dra_plan.errors import UsageError

from .edit import Edited, node_named
from .nodecopy import NodeModel, not_like

T = TypeVar("T")

MOST_ADDED = 10_000
"""So many nodes are added in one edit at most."""


@dataclass(frozen=True)
class AddNodes:
    """`count` nodes like the one named `like`, with node-local slices of their own.

    The model is a node of the cluster, or of `template`, the objects of a file that holds it with its slices.
    """

    count: int
    like: str
    template: Inventory | None = None

    @classmethod
    def of(cls, inventory: Inventory, count: int, like: str | os.PathLike[str]) -> AddNodes:
        """`like` is a node of the inventory or, if none has that name, a file with one node and its slices.

        Raises UsageError for neither, or a file without exactly one node; InputError for a file that can't be read.
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
        from dra_plan.manifests.load import load

        template = load([like])
        if len(template.nodes) != 1:
            raise UsageError(f"{os.fspath(like)}: wanted one Node as a model, found {len(template.nodes)}")
        return cls(count, template.nodes[0].metadata.name, template)

    def apply(self, inventory: Inventory) -> Edited:
        """The cluster with the nodes at its end: LIKE-new-1 and so on, in names that are free.

        Raises UsageError for an unknown node, a number out of bounds, and a model that can't be copied: because a slice
        through which it sees devices is not its own, and would not be seen by a copy, or because a pool of its own
        lacks slices, so that the copy's pool would stay incomplete.
        """
        if not 1 <= self.count <= MOST_ADDED:
            raise UsageError(f"{self.count} nodes can't be added: from 1 to {MOST_ADDED:,} at a time")
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


def _joined(before: list[T], new: list[T]) -> list[T]:
    """The lists as one; the same object as before if nothing is new."""
    return [*before, *new] if new else before


def _free_names(like: str, count: int, taken: set[str]) -> list[str]:
    numbers = (f"{like}-new-{number}" for number in range(1, count + len(taken) + 1))
    free = (name for name in numbers if name not in taken)
    return [next(free) for _ in range(count)]


def _check_reach(model: Node, copy: Node, slices: Sequence[ResourceSlice], *, foreign: bool) -> None:
    """Raises UsageError if the model sees devices in slices that are not its own, and its copy would not see them."""
    for slice_ in slices:
        if slice_.spec.node_name:
            continue
        prepared = PoolSlice(slice_)
        seen = list(_reached(prepared, model))
        if not seen or (not foreign and seen == list(_reached(prepared, copy))):
            continue
        reason = "is not node-local" if foreign else "reaches the node by its name, or by a label that is its own"
        raise UsageError(
            f"{not_like(model.metadata.name)}: ResourceSlice {slice_.metadata.name!r} {reason} "
            f"({_node_field(slice_)}), so that nobody knows what the new node would see of it"
        )


def _reached(slice_: PoolSlice, node: Node) -> Iterator[PoolDevice]:
    try:
        if targets(slice_, node):
            yield from (device for device in slice_.devices if device_is_on(device, node))
    except AllocationError:
        return  # a selector that can't be read: scheduling ends with that error, with new nodes or without


def _node_field(slice_: ResourceSlice) -> str:
    spec = slice_.spec
    if spec.per_device_node_selection:
        return "spec.perDeviceNodeSelection"
    return "spec.allNodes" if spec.all_nodes else "spec.nodeSelector"
