"""The Cluster Autoscaler's node groups, read from the file given with `--groups`.

The file is a YAML or JSON map with `nodeGroups` and `options`. A group has a name, min, max, current, the names of its
nodes, and a template for new nodes: a Node with its ResourceSlices, DaemonSet pods and their claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_plan import shown
from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim, ResourceSlice
from dra_plan.arguments import yaml_of
from dra_plan.errors import InputError

MOST_NODES = 1_000
"""The maximum number of nodes added by one scale-up (--max-nodes-per-scaleup)."""
MOST_BYTES = 64 << 20
"""The maximum size of a group file, in bytes."""
MOST_SIZE = 1_000_000
"""The largest accepted size of a group."""
THRESHOLD = 0.5
"""The highest utilization at which a node may be removed (--scale-down-utilization-threshold)."""


@dataclass(frozen=True, slots=True)
class NodeTemplate:
    """A new node of a group, with the objects that every new node starts with."""

    node: Node
    slices: tuple[ResourceSlice, ...] = ()
    pods: tuple[Pod, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class ScalingGroup:
    """A node group. Sizes are numbers of nodes, and `current` is the target size.

    `told_by` is the node label or annotation that names the group. `unknown` lists the limits (min, max) that are not
    known; 0 and `MOST_SIZE` are used for them. With Karpenter, a group is an instance type of the NodePool `node_pool`,
    or a NodePool of its own. Groups with higher weights come first.
    """

    name: str
    least: int
    most: int
    current: int
    nodes: tuple[str, ...] = ()
    template: NodeTemplate | None = None
    node_pool: str = ""
    weight: int = 0
    told_by: str = ""
    unknown: tuple[str, ...] = ()


EXPANDERS = ("least-waste", "most-pods", "least-nodes", "random", "price", "priority")
"""The strategies for choosing among groups that could grow (--expander). With the last three, the choice is unknown."""


@dataclass(frozen=True, slots=True)
class AutoscalerOptions:
    """The flags of the Cluster Autoscaler that affect the result. A total of 0 nodes means no limit.

    Without an expander, the first group that could grow is chosen.
    """

    most_nodes: int = 0
    most_per_scale_up: int = MOST_NODES
    balance: bool = False
    threshold: float = THRESHOLD
    expander: str = ""


@dataclass(frozen=True, slots=True)
class GroupsFile:
    """The node groups and the autoscaler's options in a file. Groups are in file order."""

    groups: tuple[ScalingGroup, ...]
    options: AutoscalerOptions = field(default_factory=AutoscalerOptions)


def read_groups(path: str) -> GroupsFile:
    """Return the groups of a file. Raises InputError for a file that cannot be read or is invalid."""
    value = yaml_of(path, "--groups", MOST_BYTES)
    return groups_of(value, f"--groups {path}")


def groups_of(value: Any, where: str = "groups") -> GroupsFile:
    """Return the groups in the content of a file. Raises InputError, with a message that starts with `where`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("nodeGroups"), list):
        raise InputError(f"{where}: expected a map with a list of nodeGroups")
    groups = tuple(_group(each, f"{where}: nodeGroups[{at}]") for at, each in enumerate(value["nodeGroups"]))
    names = [group.name for group in groups]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{where}: group {shown.value(twice)} is listed twice")
    return GroupsFile(groups, _options(value.get("options") or {}, f"{where}: options"))


def _options(value: Any, where: str) -> AutoscalerOptions:
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: expected a map")
    usual = AutoscalerOptions()
    threshold = value.get("utilizationThreshold", usual.threshold)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise InputError(f"{where}: utilizationThreshold: expected a number from 0 to 1, got {shown.value(threshold)}")
    balance = value.get("balanceSimilar", usual.balance)
    if not isinstance(balance, bool):
        raise InputError(f"{where}: balanceSimilar: expected true or false, got {shown.value(balance)}")
    return AutoscalerOptions(
        most_nodes=_number(value, "maxNodesTotal", usual.most_nodes, where),
        most_per_scale_up=_number(value, "maxNodesPerScaleUp", usual.most_per_scale_up, where),
        balance=balance,
        threshold=float(threshold),
        expander=_expander(value.get("expander", ""), where),
    )


def _expander(name: Any, where: str) -> str:
    if name not in ("", *EXPANDERS):
        raise InputError(f"{where}: expander: {shown.value(name)} is not one of {', '.join(EXPANDERS)}")
    return str(name)


def _number(value: Mapping[str, Any], key: str, usual: int, where: str) -> int:
    found = value.get(key, usual)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= MOST_SIZE:
        raise InputError(f"{where}: {key}: expected a whole number from 0 to {MOST_SIZE:,}, got {shown.value(found)}")
    return found


def _group(value: Any, where: str) -> ScalingGroup:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"]:
        raise InputError(f"{where}: expected a map with a name")
    nodes = value.get("nodes") or []
    if not isinstance(nodes, list) or not all(isinstance(name, str) for name in nodes):
        raise InputError(f"{where}: nodes: expected a list of names")
    return ScalingGroup(
        name=value["name"],
        least=_number(value, "min", 0, where),
        most=_number(value, "max", MOST_SIZE, where),
        current=_number(value, "current", len(nodes), where),
        nodes=tuple(nodes),
        template=_template(value.get("template"), f"{where}: template"),
        node_pool=_name(value.get("nodePool", ""), f"{where}: nodePool"),
        weight=_number(value, "weight", 0, where),
        unknown=tuple(key for key in ("min", "max") if key not in value),
    )


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}: expected a name, got {shown.value(value)}")
    return value


def _template(value: Any, where: str) -> NodeTemplate | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not isinstance(value.get("node"), Mapping):
        raise InputError(f"{where}: expected a map with a node")
    found = _decoded(list(_objects(value, where)), where)
    if len(found.nodes) != 1:
        raise InputError(f"{where}: node: expected one Node")
    return NodeTemplate(found.nodes[0], tuple(found.slices), tuple(found.pods), tuple(found.claims))


def _objects(value: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    yield dict(value["node"])
    for part in ("slices", "pods", "claims"):
        objects = value.get(part) or []
        if not isinstance(objects, list) or not all(isinstance(one, Mapping) for one in objects):
            raise InputError(f"{where}: {part}: expected a list of objects")
        yield from map(dict, objects)


def _decoded(objects: list[dict[str, Any]], where: str) -> Inventory:
    from dra_plan.manifests.load import inventory_of

    try:
        return inventory_of(objects)
    except InputError as error:
        raise InputError.of_lines(f"{where}: {line}" for line in error.lines) from error
