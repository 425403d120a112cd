"""What an edit of a cluster is: a value that makes another inventory of one, and says what it did.

Each kind of edit has a file of its own; what happens to pods and claims when pods leave is in `departure`. What fits
afterwards is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.documents.base import AppliedEdit
from dra_plan.errors import UsageError
from dra_plan.near import nearest


@dataclass(frozen=True)
class Edited:
    """The cluster after an edit. Lists of the inventory that the edit leaves alone are the same objects as before."""

    inventory: Inventory
    entry: AppliedEdit
    notices: list[Notice] = field(default_factory=list)


class Edit(Protocol):
    """A change to a cluster."""

    def apply(self, inventory: Inventory) -> Edited:
        """The cluster after the change; the inventory stays as it is. UsageError for what the edit does not fit."""


def node_named(inventory: Inventory, name: str) -> Node:
    """The node of that name. Raises UsageError, with a near name, if there is none."""
    for node in inventory.nodes:
        if node.metadata.name == name:
            return node
    raise unknown("node", name, (node.metadata.name for node in inventory.nodes))


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that nothing has."""
    near = nearest(name, known)
    return UsageError(f"unknown {what} {name!r}" + (f" (did you mean {near!r}?)" if near else ""))


def with_node(inventory: Inventory, changed: Node) -> list[Node]:
    """The nodes, with one of them in the place of the one of its name."""
    name = changed.metadata.name
    return [changed if node.metadata.name == name else node for node in inventory.nodes]
