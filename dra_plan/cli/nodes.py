"""What the command line does when the input has no Node objects."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.notice import Notice
from dra_plan.errors import InputError


def with_nodes(inventory: Inventory, *, infer: bool) -> Inventory:
    """The inventory, if it has nodes; else one with the nodes that its slices name, if asked for, else InputError."""
    if inventory.nodes:
        return inventory
    if not infer:
        raise InputError(
            "the input has no Node objects, so there is nothing to plan on. Add them:\n"
            "    kubectl get nodes -o yaml > nodes.yaml\n"
            "or let --infer-nodes make them from the resource slices (their labels stay unknown)"
        )
    names = list(dict.fromkeys(_named_nodes(inventory)))
    if not names:
        raise InputError("--infer-nodes: no resource slice of the input names a node; add the Node objects")
    notice = Notice(
        "nodes-inferred",
        f"{len(names)} {'node is' if len(names) == 1 else 'nodes are'} known from the resource slices only:"
        " other nodes may exist, and node selectors see no labels",
    )
    nodes = [Node(metadata=ObjectMeta(name=name, labels={"kubernetes.io/hostname": name})) for name in names]
    return dataclasses.replace(inventory, nodes=nodes, notices=[*inventory.notices, notice])


def _named_nodes(inventory: Inventory) -> Iterator[str]:
    for resource_slice in inventory.slices:
        if resource_slice.spec.node_name:
            yield resource_slice.spec.node_name
        yield from (device.node_name for device in resource_slice.spec.devices if device.node_name)
