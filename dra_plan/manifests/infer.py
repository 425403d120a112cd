"""Nodes created from the node names in slices, for inputs without Node objects."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.core import Node, NodeSelector
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceSlice


def infer_nodes(inventory: Inventory) -> tuple[list[Node], list[Notice]]:
    """Return a node for each node name in the slices, in input order, and a notice about these nodes.

    Such a node has only a name, so label selectors do not match it.
    """
    names = dict.fromkeys(name for piece in inventory.slices for name in _names(piece))
    nodes = [Node(metadata=ObjectMeta(name=name)) for name in names]
    message = (
        f"{len(nodes)} node{'s' if len(nodes) != 1 else ''} made from node names in slices; "
        "their labels are unknown, so nothing that selects by label matches them"
    )
    return nodes, [Notice("inferred-nodes", message)] if nodes else []


def _names(piece: ResourceSlice) -> Iterator[str]:
    yield from _named(piece.spec.node_name, piece.spec.node_selector)
    for device in piece.spec.devices:
        yield from _named(device.node_name, device.node_selector)


def _named(node_name: str | None, selector: NodeSelector | None) -> Iterator[str]:
    if node_name:
        yield node_name
    for term in selector.node_selector_terms if selector else ():
        for requirement in term.match_fields:
            if requirement.key == "metadata.name" and requirement.operator == "In":
                yield from requirement.values
