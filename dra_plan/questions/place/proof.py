"""Why the pods cannot all be placed: a set of pods that cannot run together, and why one of them is rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dra_plan.documents.base import ObjectName
from dra_plan.documents.obstacles import NextCopy
from dra_plan.placement.gangs import GroupToPlace, goals_of
from dra_plan.placement.node_kinds import PlacementCluster, PodToPlace, kinds_of
from dra_plan.placement.program import Need
from dra_plan.placement.search import BestPlacement, PlacementQuestion, smallest
from dra_plan.planner.obstacles import next_copy
from dra_plan.questions.place.document import ImpossibilityProof
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cycle import fit_error
from dra_plan.scheduler.plugins.gang_scheduling import NOT_THERE
from dra_plan.scheduler.refusals import Refusals, refusals

MOST_TRIALS = 20
"""The maximum number of pod kinds in a set that is tested for minimality. Each kind costs one search for a
placement."""


@dataclass(frozen=True)
class ProvedImpossible:
    """A proof that some pods cannot be placed together.

    `document` is the proof as it appears in documents. `found` is a placement of all these pods except `left`, and
    `refused` contains the reasons why `left` is rejected.
    """

    document: ImpossibilityProof
    found: BestPlacement
    left: PodToPlace
    refused: Refusals | None
    """None if a gang has too few pods, in which case nothing was checked."""


def pod_name(candidate: PodToPlace) -> ObjectName:
    """Return the pod's name."""
    metadata = candidate.pod.metadata
    return ObjectName(kind="Pod", namespace=metadata.namespace, name=metadata.name)


def prove(question: PlacementQuestion, needs: Sequence[Need]) -> ProvedImpossible | None:
    """Return a set of pods that cannot be placed, and why one of them does not fit once the others are placed.

    Returns None if the search time ends before such a set is found.
    """
    short = next((group for group in question.groups.values() if group.is_short), None)
    if short is not None:
        return _proved_short(question, short)
    least = [(_members(question, need), need.number) for need in smallest(question, needs)]
    pods = [pod for members, number in least for pod in members[:number]]
    alike = [pod for members, number in least for pod in members[number:]] if len(least) == 1 else []
    if not pods:
        return None
    domains = {key: replace(group, least=0) for key, group in question.groups.items() if group.domains is not None}
    others = PlacementQuestion(question.ground, kinds_of(pods, domains), groups=domains)
    found = others.best(goals_of(others.kinds))
    if question.ground.time.is_over:
        return None
    left = found.left[0] if found.left else pods[-1]
    minimal = _is_minimal(others, left, found)
    message, obstacles, refused = _in_the_way(question.ground, found, left)
    told = ImpossibilityProof(
        pods=[pod_name(pod) for pod in pods],
        alike=[pod_name(pod) for pod in alike],
        minimal=minimal,
        together=len(found.placed),
        left=pod_name(left),
        message=message,
        in_the_way=obstacles,
    )
    return ProvedImpossible(told, found, left, refused)


def _members(question: PlacementQuestion, need: Need) -> list[PodToPlace]:
    return [member for kind in sorted(need.kinds) for member in question.kinds[kind].members]


def _is_minimal(question: PlacementQuestion, left: PodToPlace, found: BestPlacement) -> bool:
    """Return whether all others fit without any one of the pods; `found` shows this for the one that is `left`."""
    pods = [member for kind in question.kinds for member in kind.members]
    if len(found.placed) < len(pods) - 1 or len(question.kinds) > MOST_TRIALS:
        return False
    for kind in question.kinds:
        if left in kind.members:
            continue
        if question.ground.time.is_over:
            return False
        rest = [pod for pod in pods if pod is not kind.first]
        asked = PlacementQuestion(question.ground, kinds_of(rest, question.groups), groups=question.groups)
        if len(asked.best(goals_of(asked.kinds)).placed) < len(rest):
            return False
    return True


def _proved_short(question: PlacementQuestion, group: GroupToPlace) -> ProvedImpossible:
    """Return the proof for a gang with too few existing or selected pods, which never starts even if they would fit."""
    ground = question.ground
    started = group.least + len(ground.cluster.groups.on_nodes(group.key))
    own = [member for kind in question.kinds for member in kind.members if member.info.group == group.key]
    told = ImpossibilityProof(
        pods=[pod_name(pod) for pod in own],
        group=ObjectName(kind="PodGroup", namespace=group.key[0], name=group.key[1]),
        minimal=False,
        together=0,
        left=pod_name(own[0]),
        message=NOT_THERE if ground.cluster.groups.count(group.key) < started else "",
        in_the_way=None,
    )
    return ProvedImpossible(told, BestPlacement((), tuple(own), (0,), (0,)), own[0], None)


def _in_the_way(
    ground: PlacementCluster, found: BestPlacement, left: PodToPlace
) -> tuple[str, NextCopy | None, Refusals]:
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
