"""The proof that pods can't be placed: a smallest set of them, and what is in the way when all but one have a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_plan.documents.base import ObjectName
from dra_plan.documents.capacity import NextCopy
from dra_plan.documents.placement import ImpossibilityProof
from dra_plan.placement.node_kinds import Ground, PodToPlace, kinds_of
from dra_plan.placement.search import BestPlacement, PlacementQuestion, levels_of, smallest
from dra_plan.placement.solver import Need
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cycle import fit_error
from dra_plan.scheduler.refusals import Refusals, refusals

from .capacity_obstacles import next_copy


@dataclass(frozen=True)
class ProvedImpossible:
    """The proof as it is told, and what it was seen with: the others placed, and the one that is left refused."""

    document: ImpossibilityProof
    found: BestPlacement
    left: PodToPlace
    refused: Refusals


def pod_name(candidate: PodToPlace) -> ObjectName:
    """The pod's name."""
    metadata = candidate.pod.metadata
    return ObjectName(kind="Pod", namespace=metadata.namespace, name=metadata.name)


def prove(question: PlacementQuestion, needs: Sequence[Need]) -> ProvedImpossible | None:
    """A smallest set that can't be placed, and what is in the way of one of them when the others are placed."""
    pods = [
        member
        for need in smallest(question, needs)
        for member in [m for kind in sorted(need.kinds) for m in question.kinds[kind].members][: need.number]
    ]
    if not pods:
        return None
    others = PlacementQuestion(question.ground, kinds_of(pods))
    found = others.best(levels_of(others.kinds, by_priority=False))
    left = found.left[0] if found.left else pods[-1]
    message, obstacles, refused = _in_the_way(question.ground, found, left)
    told = ImpossibilityProof(
        pods=[pod_name(pod) for pod in pods],
        together=len(found.placed),
        left=pod_name(left),
        message=message,
        in_the_way=obstacles,
    )
    return ProvedImpossible(told, found, left, refused)


def _in_the_way(ground: Ground, found: BestPlacement, left: PodToPlace) -> tuple[str, NextCopy | None, Refusals]:
    placed = [(each.candidate, each.node, each.claims) for each in found.placed]
    with ground.holding_pods(placed) as simulation:
        refused = refusals(simulation, left.pod)
        total = len(simulation.cluster.nodes)
        if left.refusal is not None:
            return fit_error(total, {}, pre_filter=left.refusal.message, post_filter=""), None, refused
        first = {name: statuses[0] for name, statuses in refused.of_nodes.items() if statuses}
        copies = {name: sum(each.node == name for each in found.placed) for _, name, _ in placed}
        told = next_copy(simulation, PodRecord(left.pod), refused, copies, ground.max_steps) if first else None
        return fit_error(total, first, pre_filter="", post_filter=""), told, refused
