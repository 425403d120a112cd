"""One loop of the Cluster Autoscaler: readiness, snapshot, templates, scale-up and scale-down, in that order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceSlice
from dra_plan.questions.autoscale.groups import GroupsFile, ScalingGroup
from dra_plan.questions.autoscale.scale_down import ScaleDown, scale_down
from dra_plan.questions.autoscale.scale_up import ScaleUp, ScaleUpLoop
from dra_plan.questions.autoscale.snapshot import Added, ClusterSnapshot, missing_claims
from dra_plan.questions.autoscale.templates import LoopAbortedError, NotCopiedError, templates
from dra_plan.releases import AutoscalerQuirks, Target
from dra_plan.scheduler.cluster.common import Common

NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The result of a loop: of scaling up, and of scaling down."""

    up: ScaleUp
    down: ScaleDown


def run_loop(inventory: Inventory, target: Target, file: GroupsFile, quirks: AutoscalerQuirks) -> LoopResult:
    """Return the result of one loop of the Cluster Autoscaler for the cluster."""
    unready = unready_nodes(inventory, file.groups)
    if quirks.missing_claim_ends_loop and (said := missing_claims(inventory)):
        return LoopResult(ScaleUp(error=said), ScaleDown(error=NOT_REACHED))
    try:
        found = templates(inventory, file.groups, frozenset(unready), quirks)
    except LoopAbortedError as error:
        return LoopResult(ScaleUp(error=str(error)), ScaleDown(error=NOT_REACHED))
    snapshot = ClusterSnapshot(inventory, target, Common(), quirks)
    upcoming: list[Added] = []
    for group in file.groups:
        for number in range(_upcoming(group, inventory)):
            try:
                added = found.of(group, number + 1_000_000)
            except NotCopiedError:
                added = None
            if added is not None:
                upcoming.append(added)
    snapshot.announce(upcoming)
    for added in upcoming:
        snapshot.add(added)
    names = [added.node.metadata.name for added in upcoming]
    loop = ScaleUpLoop(snapshot, file.groups, file.options, found)
    loop.found.unready = unready
    up = loop.run(names)
    return LoopResult(up, scale_down(snapshot, file.groups, file.options, names))


def _upcoming(group: ScalingGroup, inventory: Inventory) -> int:
    """Return the number of nodes of the group's target size that do not exist yet."""
    there = {node.metadata.name for node in inventory.nodes}
    return max(0, group.current - sum(name in there for name in group.nodes))


def unready_nodes(inventory: Inventory, groups: Iterable[ScalingGroup]) -> list[str]:
    """Return the nodes that are not ready, or that have fewer complete pools than their group's template.

    Pools are counted separately for each driver.
    """
    nodes = {node.metadata.name: node for node in inventory.nodes}
    found = []
    for group in groups:
        wanted = _complete(group.template.slices, group.template.node.metadata.name) if group.template else Counter()
        for name in group.nodes:
            node = nodes.get(name)
            if node is None:
                continue
            own = _complete(inventory.slices, name)
            if not _is_ready(node) or any(own[driver] < number for driver, number in wanted.items()):
                found.append(name)
    return found


def _is_ready(node: Node) -> bool:
    return all(each.status == "True" for each in node.status.conditions if each.type == "Ready")


def _complete(slices: Iterable[ResourceSlice], node: str) -> Counter[str]:
    """Return the number of complete pools in the slices of the node, by driver."""
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for piece in slices:
        if piece.spec.node_name == node:
            pools.setdefault((piece.spec.driver, piece.spec.pool.name), []).append(piece)
    found: Counter[str] = Counter()
    for (driver, _), pieces in pools.items():
        newest = max(piece.spec.pool.generation for piece in pieces)
        own = [piece for piece in pieces if piece.spec.pool.generation == newest]
        found[driver] += all(piece.spec.pool.resource_slice_count == len(own) for piece in own)
    return found


def new_nodes(inventory: Inventory, file: GroupsFile, up: ScaleUp, quirks: AutoscalerQuirks) -> list[Added]:
    """Return the nodes that the plan adds, with their slices, pods and claims."""
    found = templates(inventory, file.groups, frozenset(up.unready), quirks)
    groups = {group.name: group for group in file.groups}
    made = []
    for one in up.plan:
        copies = (found.of(groups[one.group], 2_000_000 + number) for number in range(one.after - one.before))
        made += [added for added in copies if added is not None]
    return made
