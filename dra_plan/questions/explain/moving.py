"""`explain`: whether running pods could move from one node to others, so that a pending pod fits there.

All the pods with devices that may leave a node are tried at once, with one run of the scheduler; `rooms` finds the
fewest.
"""

from __future__ import annotations

from collections.abc import Collection

from dra_plan.api.core import Pod
from dra_plan.claims.budgets import holds
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.documents.verdicts import DEVICES, OwnerVerdict
from dra_plan.questions.explain.removals import priority_of
from dra_plan.questions.explain.staying import why_it_stays
from dra_plan.questions.explain.trial import Tries

MOST_MOVED = 4
"""The number of pods that are moved from one node."""

MOST_TRIED = 3
"""The number of nodes whose pods are tried to be moved."""


def movable(
    index: Index,
    verdict: OwnerVerdict,
    tries: Tries,
    priority: int,
    siblings: Collection[str],
    kept: list[TriedChanges],
) -> int:
    """Return the number of pods on one node which, if all of them move to others, make room for the owner's pods.

    Return 0 if there is no such node, or if one of the suggestions (`kept`) already restarts a pod. Only nodes are
    tried on which the devices are in use and nothing else is in the way.
    """
    if any(change.code == "restart-pods" for one in kept for change in one.changes):
        return 0
    from dra_plan.whatif.edits import replaced  # most inputs have no such pods, and start-up time matters

    for node in _nodes(verdict)[:MOST_TRIED]:
        pods = _leaving(index, node, priority, siblings)
        if not 0 < len(pods) <= MOST_MOVED or any(holds(index, pods)):
            continue
        trial = tries(replaced(index.inventory, pods, index, recreates=True).inventory)
        if trial is not None and trial.is_whole and all(trial.places.get(pod.key) for pod in pods):
            return len(pods)
    return 0


def _nodes(verdict: OwnerVerdict) -> list[str]:
    """Return the nodes on which devices in use are the only obstacle."""
    return [
        node
        for group in verdict.nodes
        if group.reasons and all(reason.plugin == DEVICES for reason in group.reasons)
        if any(removed.code == "in-use" for one in group.about for removed in one.removed)
        for node in group.nodes
    ]


def _leaving(index: Index, node: str, priority: int, siblings: Collection[str]) -> list[Pod]:
    """Return the pods with claims that may leave the node, as `--moves` may move them."""
    classes = {one.metadata.name: one.value for one in index.inventory.priority_classes}
    return [
        pod
        for pod in index.inventory.pods
        if pod.spec.node_name == node
        and pod.spec.resource_claims
        and not ended(pod)
        and pod.key not in siblings
        and why_it_stays(pod) in (None, "NoController")
        and priority_of(pod, classes) <= priority
    ]
