"""The facts behind plugins' rejections of nodes, as documents with similar names and ranges over the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

from dra_plan.api.core import Node
from dra_plan.api.well_known import HOSTNAME, NOW_CALLED
from dra_plan.documents.devices import TaintName
from dra_plan.documents.node_obstacles import FoundLabel, NodeObstacle
from dra_plan.near import nearest, the_nearest
from dra_plan.scheduler.cluster.pod_requests import amount_text
from dra_plan.scheduler.framework.status import (
    AffinityUnmet,
    LabelUnmet,
    NodeCordoned,
    NoDevices,
    Obstacle,
    OtherNodeNamed,
    PortTaken,
    ResourceShort,
    SpreadUneven,
    UntoleratedTaint,
    VolumeInUse,
    VolumesFull,
    VolumeUnfit,
)

STORAGE = "storage"
"""The resource that volume claims request."""

MOST_FOUND = 4
"""The maximum number of label values to list."""


def node_obstacle(same: Sequence[Obstacle], nodes: Mapping[str, Node]) -> NodeObstacle | None:
    """Return the obstacle that these nodes have in common, or None if it cannot be described.

    It includes the values that differ between the nodes.
    """
    match same[0]:
        case ResourceShort(resource, asked):
            return _resource(resource, asked, [one for one in same if isinstance(one, ResourceShort)], nodes)
        case LabelUnmet():
            return _label(same[0], [one for one in same if isinstance(one, LabelUnmet)], nodes)
        case UntoleratedTaint(key, value, effect):
            return NodeObstacle(kind="Taint", taint=TaintName(key=key, value=value, effect=effect))
        case NodeCordoned():
            return NodeObstacle(kind="Cordoned")
        case OtherNodeNamed(wanted):
            return NodeObstacle(kind="NodeName", values=[wanted])
        case PortTaken(protocol, port, pod):
            holders = [one.pod for one in same if isinstance(one, PortTaken)] if _varies(same) else []
            return NodeObstacle(
                kind="Port", protocol=protocol, port=port, pod=pod, holders=holders, varies=_varies(same)
            )
        case AffinityUnmet(kind, topology_key, domain, pod, selector, elsewhere):
            return NodeObstacle(
                kind="Affinity",
                term=kind,
                topology_key=topology_key,
                domain=domain or "",
                pod=pod,
                selector=selector,
                elsewhere=list(elsewhere),
                varies=_varies(same),
                **_of_key(topology_key, nodes),
            )
        case SpreadUneven(topology_key, domain, pods, least, max_skew, emptiest, domains, min_domains, selector):
            return NodeObstacle(
                kind="Spread",
                topology_key=topology_key,
                domain=domain or "",
                pods=pods,
                least=least,
                max_skew=max_skew,
                emptiest=emptiest,
                domains=domains,
                min_domains=min_domains,
                selector=selector,
                varies=_varies(same),
                **_of_key(topology_key, nodes),
            )
        case VolumeUnfit(claim, volume, asked):
            return _volume(claim, volume, asked, [one.left for one in same if isinstance(one, VolumeUnfit)])
        case VolumeInUse(claim, disk, pod):
            return NodeObstacle(kind="VolumeInUse", claim=claim, volume=disk, pod=pod, varies=_varies(same))
        case VolumesFull(driver, asked):
            return _volume_limit(driver, asked, [one for one in same if isinstance(one, VolumesFull)])
        case NoDevices():
            return None  # the plugin's result explains these nodes


def _varies(same: Sequence[Obstacle]) -> bool:
    """Return whether the obstacles name different pods or domains."""
    return len(set(same)) > 1


def _resource(resource: str, asked: int, same: Sequence[ResourceShort], nodes: Mapping[str, Node]) -> NodeObstacle:
    most, least = max(one.left for one in same), min(one.left for one in same)
    room = max(one.room for one in same)
    return NodeObstacle(
        kind="Resource",
        resource=resource,
        need=amount_text(resource, asked),
        left=amount_text(resource, most),
        left_from=amount_text(resource, least) if least != most else "",
        room=amount_text(resource, room) if room >= 0 else "",
        never=0 <= room < asked,
        near=_near_resource(resource, nodes) if room == 0 else "",
    )


def _volume(claim: str, volume: str, asked: int, left: Sequence[int]) -> NodeObstacle:
    if not asked:
        return NodeObstacle(kind="Volume", claim=claim, volume=volume)
    return NodeObstacle(
        kind="Volume",
        claim=claim,
        resource=STORAGE,
        need=amount_text(STORAGE, asked),
        left=amount_text(STORAGE, max(left)),
        left_from=amount_text(STORAGE, min(left)) if min(left) != max(left) else "",
    )


def _volume_limit(driver: str, asked: int, same: Sequence[VolumesFull]) -> NodeObstacle:
    most, least = max(one.left for one in same), min(one.left for one in same)
    limit = max(one.limit for one in same)
    return NodeObstacle(
        kind="VolumeLimit",
        resource=driver,
        need=str(asked),
        left=str(most),
        left_from=str(least) if least != most else "",
        room=str(limit),
        never=asked > limit,
    )


def _near_resource(resource: str, nodes: Mapping[str, Node]) -> str:
    """Return a name similar to that of a resource that no node has."""
    names = {name for node in nodes.values() for name in node.status.allocatable or node.status.capacity}
    return "" if resource in names else nearest(resource, names) or ""


def _label(first: LabelUnmet, same: Sequence[LabelUnmet], nodes: Mapping[str, Node]) -> NodeObstacle:
    there = Counter(one.found for one in same if one.found is not None)
    without = sum(one.found is None for one in same)
    return NodeObstacle(
        kind="Label",
        label=first.key,
        operator=first.operator,
        values=list(first.values),
        found=[FoundLabel(value=value, nodes=number) for value, number in there.most_common(MOST_FOUND)],
        values_found=len(there),
        without=without,
        near=_near(first, nodes),
    )


def _of_key(key: str, nodes: Mapping[str, Node]) -> dict[str, Any]:
    """Return whether no node has a topology key, and the present name of the label if nodes have that."""
    keys = {name for node in nodes.values() for name in node.metadata.labels or {}}
    return {} if key in keys else {"nowhere": True, "near": _now_called(key, keys)}


def _now_called(key: str, keys: Container[str]) -> str:
    name = NOW_CALLED.get(key, "")
    return name if name in keys else ""


def _near(wanted: LabelUnmet, nodes: Mapping[str, Node]) -> str:
    """Return a key similar to the wanted key, if no node has the wanted key; otherwise a value that nodes have."""
    if wanted.operator not in ("In", "Exists"):
        return ""
    labels = [node.metadata.labels or {} for node in nodes.values()]
    keys = {key for each in labels for key in each}
    if wanted.key not in keys:
        return _now_called(wanted.key, keys) or nearest(wanted.key, keys) or ""
    values = {each[wanted.key] for each in labels if wanted.key in each}
    if not wanted.values or values & set(wanted.values):
        return ""
    alike = [one for one in values if one.partition(".")[0] == wanted.values[0].partition(".")[0]]
    if wanted.key == HOSTNAME and len(alike) == 1:
        return alike[0]  # with or without the domain of the network
    return the_nearest(wanted.values[0], values) or ""
