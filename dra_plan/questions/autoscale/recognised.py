"""Node groups that are not in a file: those found from node labels, and those given with `--group`.

GKE labels its nodes with cloud.google.com/gke-nodepool, EKS with eks.amazonaws.com/nodegroup (eksctl with
alpha.eksctl.io/nodegroup-name) and AKS with kubernetes.azure.com/agentpool. Cluster API annotates nodes with
cluster.x-k8s.io/owner-name. Labels contain no sizes, so limits are unknown unless they are given.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dra_plan import shown
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import ZONE
from dra_plan.errors import InputError, UsageError
from dra_plan.questions.autoscale.groups import (
    EXPANDERS,
    MOST_SIZE,
    GroupsFile,
    NodeTemplate,
    ScalingGroup,
    groups_of,
    read_groups,
)

GKE, KARPENTER = "cloud.google.com/gke-nodepool", "karpenter.sh/nodepool"
LABELS = (
    GKE,
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
)
"""The labels whose value names a node's group. If a node has several, the first in this list counts."""
OWNER = "cluster.x-k8s.io/owner-name"
"""The annotation with the name of the MachineSet or MachinePool that a Cluster API node belongs to."""
MOST_GROUPS = 1_000
"""The maximum number of groups found from labels."""
_SIZES = re.compile(r",(min|max|current)=([^,]*)$")


class Membership(NamedTuple):
    """A node's group, the label or annotation that names it, and the zone if it matters."""

    group: str
    by: str
    zone: str = ""


def membership(node: Node) -> Membership | None:
    """Return the group that the node's labels or annotations name, or None.

    Nodes that Karpenter has created have no group.
    """
    labels = node.metadata.labels or {}
    if KARPENTER in labels:
        return None
    label = next((each for each in LABELS if labels.get(each)), "")
    if label == GKE and labels.get(ZONE):
        return Membership(labels[label], label, labels[ZONE])  # each zone has its own instance group with its own size
    if label:
        return Membership(labels[label], label)
    owner = (node.metadata.annotations or {}).get(OWNER)
    return Membership(owner, OWNER) if owner else None


def recognised(inventory: Inventory) -> list[ScalingGroup]:
    """Return the groups that nodes name, in node order. Raises InputError for more than `MOST_GROUPS` groups."""
    found: dict[Membership, list[str]] = {}
    for node in inventory.nodes:
        member = membership(node)
        if member is not None:
            found.setdefault(member, []).append(node.metadata.name)
    if len(found) > MOST_GROUPS:
        raise InputError(f"nodes name {len(found):,} groups; the maximum is {MOST_GROUPS:,}")
    alone = Counter(member.group for member in found)
    return [
        ScalingGroup(
            name=member.group if alone[member.group] == 1 else f"{member.group}/{member.zone or member.by}",
            least=0,
            most=MOST_SIZE,
            current=len(nodes),
            nodes=tuple(nodes),
            told_by=member.by,
            unknown=("min", "max"),
        )
        for member, nodes in found.items()
    ]


def groups_for(inventory: Inventory, file: Any, options: Sequence[str], expander: str | None = None) -> GroupsFile:
    """Return the groups in a file (given as a path or as content) and in `--group` options.

    If neither is given, returns the groups that the nodes name. `expander` overrides the one in the file. Raises
    InputError for invalid groups, and UsageError if there are no groups.
    """
    found = GroupsFile(())
    if file is not None:
        found = groups_of(file) if isinstance(file, Mapping) else read_groups(os.fspath(file))
    more = given_groups(options, inventory)
    twice = {group.name for group in found.groups} & {group.name for group in more}
    if twice:
        raise UsageError(f"--group {shown.line(min(twice))}: the groups file also contains this group")
    if file is None and not more:
        more = recognised(inventory)
        if not more:
            raise UsageError(
                "no node has a label that names its group; give the node groups with --groups FILE "
                "or --group NAME=NODE (docs/autoscale.md)"
            )
    flags = found.options if expander is None else replace(found.options, expander=_expander(expander))
    return GroupsFile((*found.groups, *more), flags)


def _expander(name: str) -> str:
    if name not in EXPANDERS:
        raise UsageError(f"--expander: {shown.value(name)} is not one of {', '.join(EXPANDERS)}")
    return name


def given_groups(options: Iterable[str], inventory: Inventory) -> list[ScalingGroup]:
    """Return the groups given as `--group NAME[=NODE|FILE][,min=N][,max=N][,current=N]`.

    Raises UsageError for any other form and for unknown or duplicate names, and InputError for files that cannot be
    read.
    """
    known = {group.name: group for group in recognised(inventory)}
    found: dict[str, ScalingGroup] = {}
    for option in options:
        group = _given(option, inventory, known)
        if group.name in found:
            raise UsageError(f"--group {shown.line(group.name)}: set twice")
        found[group.name] = group
    return list(found.values())


def _given(option: str, inventory: Inventory, known: Mapping[str, ScalingGroup]) -> ScalingGroup:
    rest, sizes = _sizes(option)
    name, equals, model = rest.partition("=")
    if not name or (equals and not model):
        raise UsageError(f"--group {shown.value(option)}: expected NAME=NODE or NAME=FILE, with ,min= ,max= ,current=")
    if not equals:
        group = known.get(name)
        if group is None:
            raise UsageError(
                f"--group {shown.line(name)}: no node label names such a group; give a node or "
                "file: NAME=NODE or NAME=FILE"
            )
    else:
        group = _like(name, model, inventory, known)
    return replace(
        group,
        least=sizes.get("min", group.least),
        most=sizes.get("max", group.most),
        current=sizes.get("current", group.current),
        unknown=tuple(each for each in ("min", "max") if each not in sizes),
    )


def _sizes(option: str) -> tuple[str, dict[str, int]]:
    """Split an option into the part before the numbers, and the numbers."""
    found: dict[str, int] = {}
    while match := _SIZES.search(option):
        key, text = match.groups()
        if key in found or not text.isascii() or not text.isdigit() or len(text) > 7 or int(text) > MOST_SIZE:
            raise UsageError(f"--group: {key}={shown.line(text)}: expected one whole number from 0 to {MOST_SIZE:,}")
        found[key] = int(text)
        option = option[: match.start()]
    return option, found


def _like(name: str, model: str, inventory: Inventory, known: Mapping[str, ScalingGroup]) -> ScalingGroup:
    """Return the group whose nodes are like a node of the input, or like that of a file."""
    node = next((each for each in inventory.nodes if each.metadata.name == model), None)
    if node is None:
        own = known[name].nodes if name in known else ()
        return ScalingGroup(name, 0, MOST_SIZE, len(own), own, _template(model))
    member = membership(node)
    same = [each.metadata.name for each in inventory.nodes if member is not None and membership(each) == member]
    nodes = (model, *(each for each in same if each != model))
    return ScalingGroup(name, 0, MOST_SIZE, len(nodes), nodes, told_by=member.by if member is not None else "")


def _template(path: str) -> NodeTemplate:
    from dra_plan.manifests.faults import NO_SUCH_PATH
    from dra_plan.manifests.sources import is_there
    from dra_plan.whatif.node_copy import model_file

    if not is_there(path):
        raise UsageError(f"--group: {shown.line(path)}: no node of the input has this name, and {NO_SUCH_PATH}")
    found = model_file(path)
    return NodeTemplate(found.nodes[0], tuple(found.slices), tuple(found.pods), tuple(found.claims))


def of_karpenter(inventory: Inventory) -> Sequence[str]:
    """Return the nodes that Karpenter has created, which belong to no group."""
    return [node.metadata.name for node in inventory.nodes if KARPENTER in (node.metadata.labels or {})]
