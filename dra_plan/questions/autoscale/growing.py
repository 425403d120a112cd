"""The number of new nodes of the chosen group that kube-scheduler needs, computed as in `grow`."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from dra_plan.api.inventory import Inventory
from dra_plan.errors import UsageError
from dra_plan.planner.question import Question
from dra_plan.questions.autoscale.groups import ScalingGroup
from dra_plan.questions.autoscale.loop import LoopResult
from dra_plan.questions.grow.answer import NodeKind, grow
from dra_plan.releases import Target
from dra_plan.whatif import AddNodes

MOST_GROWN = 20_000
"""The number of nodes is computed only if the product of the plan's pods and the nodes is at most this limit."""


def nodes_needed(inventory: Inventory, target: Target, loop: LoopResult, question: Question) -> int | None:
    """Return the smallest number of new nodes in the chosen group with which all pods of the plan are bound.

    Returns None if the cluster is too large, or if no node of the group can be copied.
    """
    chosen = loop.up.chosen
    if chosen is None or len(chosen.pods) * (len(inventory.nodes) + chosen.nodes) > MOST_GROWN:
        return None
    edit = _edit(inventory, chosen.group)
    if edit is None:
        return None
    kept = {pod.key for pod in chosen.pods} | set(loop.up.fit_existing)
    waiting = set(loop.up.fits) - kept
    asked = replace(inventory, pods=[pod for pod in inventory.pods if pod.key not in waiting])
    try:
        found = grow(asked, target, question, [NodeKind(edit.like, edit, Decimal(1))], limit=max(1, len(chosen.pods)))
    except UsageError:
        return None
    return None if found.cheapest is None else sum(found.final.counts)


def _edit(inventory: Inventory, group: ScalingGroup) -> AddNodes | None:
    """Return the edit that adds a node to the group: a copy of an existing one, or else of its template."""
    there = {node.metadata.name for node in inventory.nodes}
    like = next((name for name in group.nodes if name in there), "")
    if like:
        return AddNodes(1, like)
    if group.template is None:
        return None
    made = group.template
    objects = Inventory(nodes=[made.node], slices=list(made.slices), pods=list(made.pods), claims=list(made.claims))
    return AddNodes(1, made.node.metadata.name, objects)
