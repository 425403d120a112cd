"""Which nodes are looked at: those of the input, or made from its slices; all of them, or those that were named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.errors import InputError, UsageError
from dra_plan.near import nearest

NO_NODES = (
    "the input has no Node objects, and without them nobody knows where devices are: add the output of"
    " `kubectl get nodes -o yaml`, or use --infer-nodes to take the node names from the slices"
)


def with_nodes(inventory: Inventory, *, infer: bool) -> tuple[Inventory, list[Notice]]:
    """The inventory, with nodes made from the slices' node names if it has none and `infer` is set.

    Raises InputError when it has none otherwise.
    """
    if inventory.nodes:
        return inventory, []
    if not infer:
        raise InputError(NO_NODES)
    from dra_plan.manifests.infer import infer_nodes

    nodes, notices = infer_nodes(inventory)
    if not nodes:
        raise InputError("the input has no Node objects, and its slices name no node")
    return replace(inventory, nodes=nodes), notices


def choose_nodes(nodes: Sequence[Node], names: Sequence[str] | None) -> list[Node]:
    """The named nodes, in input order; all of them without names. Raises UsageError for an unknown name."""
    if not names:
        return list(nodes)
    known = {node.metadata.name for node in nodes}
    unknown = [name for name in names if name not in known]
    if unknown:
        found = f"the input has {len(known)} nodes"
        raise UsageError.of_lines(f"unknown node {name!r}{_meant(name, known)}: {found}" for name in unknown)
    wanted = set(names)
    return [node for node in nodes if node.metadata.name in wanted]


def _meant(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    return f" (did you mean {near!r}?)" if near else ""
