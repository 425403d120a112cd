"""`Cordon`: a node takes no new pods."""

from __future__ import annotations

from dataclasses import dataclass, replace

from msgspec import structs

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.documents.base import AppliedEdit

from .edit import Edited, node_named, with_node


@dataclass(frozen=True)
class Cordon:
    """The node is unschedulable, as after `kubectl cordon`."""

    node: str

    def apply(self, inventory: Inventory) -> Edited:
        """The node as the node controller leaves it: marked and tainted. UsageError for an unknown node."""
        nodes = with_node(inventory, cordoned(node_named(inventory, self.node)))
        return Edited(replace(inventory, nodes=nodes), AppliedEdit(edit="Cordon", node=self.node))


def cordoned(node: Node) -> Node:
    """The node, unschedulable."""
    taints = [taint for taint in node.spec.taints if (taint.key, taint.effect) != (UNSCHEDULABLE.key, "NoSchedule")]
    return structs.replace(node, spec=structs.replace(node.spec, unschedulable=True, taints=[*taints, UNSCHEDULABLE]))
