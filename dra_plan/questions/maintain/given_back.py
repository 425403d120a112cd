"""How nodes change during a maintenance: new objects for returning nodes, and temporary surge nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.meta import Object
from dra_plan.api.resource import ResourceSlice
from dra_plan.errors import UsageError
from dra_plan.manifests import kinds
from dra_plan.questions.maintain.document import GivenBackNode
from dra_plan.whatif import AddNodes, Apply, Without

_OF_NODES = (ResourceSlice, Node)


@dataclass(frozen=True)
class GivenBack:
    """What drained nodes return with: ResourceSlices, Node objects and a kubelet version. Surge nodes do not return."""

    slices: Mapping[str, Sequence[ResourceSlice]] = field(default_factory=dict)
    """The new slices of each node. They replace all other slices of the same drivers on the node."""
    nodes: Mapping[str, Node] = field(default_factory=dict)
    kubelet_version: str = ""
    surge: frozenset[str] = frozenset()

    @classmethod
    def of(cls, objects: Inventory | None, kubelet_version: str, surge: Sequence[str]) -> GivenBack:
        """Return what nodes return with: the slices and nodes in `objects`, and this kubelet version.

        Raises UsageError for objects that do not belong to a node.
        """
        slices: dict[str, list[ResourceSlice]] = {}
        nodes: dict[str, Node] = {}
        if objects is not None:
            refused = [f"to: {_place(objects, each)}{said}" for each, said in _foreign(objects)]
            if refused:
                raise UsageError.of_lines(refused)
            for each in objects.slices:
                slices.setdefault(each.spec.node_name or "", []).append(each)
            nodes = {node.metadata.name: node for node in objects.nodes}
        return cls(slices, nodes, kubelet_version, frozenset(surge))

    def after(self, inventory: Inventory, names: Sequence[str]) -> Inventory:
        """Return the cluster after these drained nodes have returned to service. Surge nodes are removed instead."""
        for name in names:
            if name in self.surge:
                inventory = Without("node", name).apply(inventory).inventory
        back = [name for name in names if name not in self.surge]
        new = [each for name in back for each in self.slices.get(name, ())]
        if new:
            inventory = replace(inventory, slices=[*_staying(inventory.slices, new), *new])
        nodes = [self.nodes[name] for name in back if name in self.nodes]
        if nodes:
            inventory = Apply(Inventory(nodes=nodes)).apply(inventory).inventory
        if self.kubelet_version:
            wanted = set(back)
            with_kubelet = [self._upgraded(node) if node.metadata.name in wanted else node for node in inventory.nodes]
            inventory = replace(inventory, nodes=with_kubelet)
        return inventory

    def _upgraded(self, node: Node) -> Node:
        info = structs.replace(node.status.node_info, kubelet_version=f"v{self.kubelet_version}")
        return structs.replace(node, status=structs.replace(node.status, node_info=info))

    def told(self, names: Sequence[str]) -> Iterator[GivenBackNode]:
        """Yield the changes to these nodes when they return. Unchanged nodes are omitted."""
        for name in names:
            slices = self.slices.get(name, ())
            changed = bool(slices) or name in self.nodes or bool(self.kubelet_version)
            if changed and name not in self.surge:
                devices = [
                    f"{each.spec.driver}/{each.spec.pool.name}/{device.name}"
                    for each in slices
                    for device in each.spec.devices
                ]
                yield GivenBackNode(
                    name=name,
                    slices=[each.metadata.name for each in slices],
                    devices=devices,
                    kubelet_version=self.kubelet_version,
                )

    def notices(self, names: Sequence[str]) -> Iterator[Notice]:
        """Yield notices about nodes that return unchanged although others change, and about unused parts of the file.

        Raises UsageError if nothing in the file belongs to a drained node.
        """
        given = self.slices.keys() | self.nodes.keys()
        if not given:
            return
        if given.isdisjoint(names):
            raise UsageError(f"to: there is no ResourceSlice or Node of a drained node ({_few(sorted(names))})")
        for name in names:
            if name not in given:
                said = "--to has no ResourceSlice or Node of this node, so it returns unchanged"
                yield Notice("given-back-unchanged", said, f"Node {name}")
        unused = sorted(given.difference(names))
        if unused:
            said = f"not drained, so their objects in --to are ignored: {_few(unused)}"
            yield Notice("not-drained", said)


def _staying(slices: Sequence[ResourceSlice], new: Sequence[ResourceSlice]) -> Iterator[ResourceSlice]:
    """Yield the slices that are not replaced: those of other drivers or nodes, and with other names."""
    drivers = {(each.spec.node_name, each.spec.driver) for each in new}
    names = {each.metadata.name for each in new}
    for each in slices:
        if (each.spec.node_name, each.spec.driver) not in drivers and each.metadata.name not in names:
            yield each


def _foreign(objects: Inventory) -> Iterator[tuple[Object, str]]:
    """Yield the objects of the file that cannot belong to one node, with the reason."""
    for holder in dict.fromkeys(kind.holder for kind in kinds.every()):
        for each in getattr(objects, holder):
            if not isinstance(each, _OF_NODES):
                yield each, (" is not a ResourceSlice or Node: add it to the cluster (PATH), or use impact -f")
            elif isinstance(each, ResourceSlice) and not each.spec.node_name:
                yield each, " is not node-local (spec.nodeName), so it does not come with one node"


def _place(objects: Inventory, each: Object) -> str:
    kind, metadata = each.kind, each.metadata  # type: ignore[attr-defined]
    origin = objects.origins.get((kind, metadata.namespace, metadata.name))
    return f"{f'{origin.source}:{origin.line}: ' if origin is not None else ''}{kind} {metadata.name}"


MOST_NAMED = 3
"""The number of nodes that a sentence names before it counts the others."""


def _few(names: Sequence[str]) -> str:
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def with_surge(inventory: Inventory, wanted: Sequence[tuple[int, str]]) -> tuple[Inventory, list[str]]:
    """Return the cluster with surge nodes, and the names of the surge nodes.

    Each pair in `wanted` consists of the number of nodes and the node to copy. Raises UsageError in the same cases as
    `add_nodes`.
    """
    names: list[str] = []
    for count, like in wanted:
        edited = AddNodes.of(inventory, count, like).apply(inventory)
        inventory = edited.inventory
        names += edited.entry.added
    return inventory, names
