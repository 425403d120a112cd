"""The order in which nodes are looked at: round robin over zones, by arrival inside a zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra_plan.api.core import Node
from dra_plan.api.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE


def _label(labels: Mapping[str, str], old: str, new: str) -> str:
    return labels.get(old) or labels.get(new, "")


def zone_of(node: Node) -> str:
    """The node's region and zone, or "" if it has neither."""
    labels = node.metadata.labels or {}
    region, zone = _label(labels, BETA_REGION, REGION), _label(labels, BETA_ZONE, ZONE)
    return f"{region}:\x00:{zone}" if region or zone else ""


def scheduling_order(nodes: Iterable[Node]) -> list[Node]:
    """The nodes, one of each zone in turn; zones and the nodes of a zone in the order given."""
    zones: dict[str, list[Node]] = {}
    for node in nodes:
        zones.setdefault(zone_of(node), []).append(node)
    ordered: list[Node] = []
    for turn in range(max(map(len, zones.values()), default=0)):
        ordered += [members[turn] for members in zones.values() if turn < len(members)]
    return ordered
