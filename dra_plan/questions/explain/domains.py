"""`explain`: topology domains in which no node can ever run the pod, although a topology spread constraint counts them.

Such a domain stays empty, so that the others may have no more than maxSkew pods. What a node lacks for ever is a label
that the pod requires, devices, or an amount that it would not have without pods either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from dra_plan.api.core import Node
from dra_plan.documents.node_obstacles import NodeObstacle, NodeRefusalReason, RefusingNodes

MOST_LACKED = 3
"""The number of resources and labels that are named."""


def with_useless_domains(groups: list[RefusingNodes], nodes: Mapping[str, Node]) -> list[RefusingNodes]:
    """Return the groups; the obstacles of spread constraints say what all nodes of their emptiest domain lack."""
    wanted = {(one.topology_key, one.emptiest) for group in groups for one in group.about if _is_of_domain(one)}
    if not wanted:
        return groups
    lacked = {name: [_name(one) for one in group.about if one.is_lasting] for group in groups for name in group.nodes}
    found = {key: _lacked(key, nodes, lacked) for key in wanted}
    return [structs.replace(group, reasons=[_told(one, found) for one in group.reasons]) for group in groups]


def _is_of_domain(one: NodeObstacle) -> bool:
    return one.kind == "Spread" and bool(one.emptiest) and not one.tainted


def _lacked(key: tuple[str, str], nodes: Mapping[str, Node], lacked: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what the nodes of a domain lack, or nothing if one of them lacks nothing."""
    label, domain = key
    inside = [name for name, node in nodes.items() if (node.metadata.labels or {}).get(label) == domain]
    each = [lacked.get(name, ()) for name in inside]
    if not all(each):
        return []
    common = [name for name in each[0] if all(name in other for other in each)] if each else []
    return list(dict.fromkeys(common or _all(each)))[:MOST_LACKED]


def _all(each: Iterable[Sequence[str]]) -> list[str]:
    return sorted({name for names in each for name in names})


def _name(of: NodeObstacle) -> str:
    if of.kind == "Label":
        return f"label {of.label}"
    return of.resource or "devices"


def _told(reason: NodeRefusalReason, found: Mapping[tuple[str, str], list[str]]) -> NodeRefusalReason:
    about = [
        structs.replace(one, useless=found[one.topology_key, one.emptiest]) if _is_of_domain(one) else one
        for one in reason.about
    ]
    return structs.replace(reason, about=about)
