"""The kinds of nodes that may be added: what they are called, how they are made, and what one costs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from dra_plan.api.inventory import Inventory
from dra_plan.errors import UsageError
from dra_plan.near import nearest
from dra_plan.whatif import AddNodes


@dataclass(frozen=True)
class NodeKind:
    """A kind of node that may be added."""

    like: str
    edit: AddNodes
    cost: Decimal = Decimal(1)


def kinds_of(
    inventory: Inventory, likes: Sequence[str | os.PathLike[str]], costs: Mapping[str, Decimal]
) -> list[NodeKind]:
    """A kind for each node of the inventory, or file with one, that is named; each once.

    Raises UsageError without any, for a name that neither is, a file without exactly one node, a node of which no
    other can be made, and a cost of something else or of 0 and less; InputError for a file that can't be read.
    """
    names = list(dict.fromkeys(os.fspath(like) for like in likes))
    if not names:
        raise UsageError("no kind of node to add: name a node of the input, or a file with a node and its slices")
    for name, cost in costs.items():
        if name not in names:
            near = nearest(name, names)
            raise UsageError(f"a cost of {name!r}, which is not to be added" + (f": {near!r} is" if near else ""))
        if not cost.is_finite() or cost <= 0:
            raise UsageError(f"a cost of {cost} for {name!r}: a number above 0 is wanted")
    made = [NodeKind(name, AddNodes.of(inventory, 1, name), costs.get(name, Decimal(1))) for name in names]
    for kind in made:
        kind.edit.apply(inventory)
    return made
