"""Some running pods leave, and a placement is sought of them and of the pod that waits.

The pods leave by what-if edits, and what is asked then is what `place` asks.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.placement.node_kinds import Ground, kinds_of
from dra_plan.placement.search import BestPlacement, PlacementQuestion, levels_of
from dra_plan.placement.solver import Need
from dra_plan.planner.question import Question
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.whatif import Evict

from .movable import MovablePod
from .vacating import PodKey, key_of


@dataclass(frozen=True)
class Given:
    """The cluster, the release and the budgets that every trial starts from."""

    inventory: Inventory
    target: Target
    question: Question
    index: Index
    common: Common = field(default_factory=Common)

    def ground(self, inventory: Inventory) -> Ground:
        """The ground of this cluster after some edits."""
        return Ground(inventory, self.target, self.question.max_steps, self.common)

    def evicted(self, inventory: Inventory, pods: Sequence[PodKey]) -> Inventory:
        """The cluster after these pods had to leave."""
        for namespace, name in pods:
            index = self.index if inventory is self.inventory else None
            inventory = Evict(namespace, name, index).apply(inventory).inventory
        return inventory


class TrialEnd(enum.Enum):
    """What was found out about a set of pods."""

    ALL = "all have a place"
    SOME = "those that may not be preempted have a place"
    NONE = "not even those"


@dataclass(frozen=True)
class TriedSet:
    """The pods that left, and the placement of them that was found. `is_open`: a better one was not excluded."""

    pods: tuple[MovablePod, ...]
    outcome: TrialEnd
    found: BestPlacement
    is_open: bool = False

    @property
    def preempted(self) -> list[MovablePod]:
        """The pods that left and have no other place."""
        left = {each.pod.key for each in self.found.left}
        return [movable for movable in self.pods if movable.pod.key in left]


def tried(given: Given, wanting: PodKey, pods: Sequence[MovablePod]) -> TriedSet:
    """Whether all have a place once these pods have left; if not, whether all have that may not be preempted."""
    edited = given.evicted(given.inventory, [key_of(movable) for movable in pods])
    ground = given.ground(edited)
    keys = [wanting, *map(key_of, pods)]
    there = {(pod.metadata.namespace, pod.metadata.name): pod for pod in ground.cluster.pods.values()}
    question = PlacementQuestion(ground, kinds_of(ground.ready(there[key]) for key in keys))
    ends = [_Ask(question, set()).end()]
    spared = {movable.pod.key for movable in pods if movable.preemptable}
    if spared and ends[0][0] is TrialEnd.NONE:
        ends.append(_Ask(question, spared).end())
    outcome, found, _ = ends[-1]
    return TriedSet(tuple(pods), outcome, found, any(is_open for *_, is_open in ends))


class _Ask:
    """A question about all of these pods but the spared ones, which get what is left."""

    def __init__(self, question: PlacementQuestion, spared: Set[str]) -> None:
        self._question, self._spared = question, spared

    def end(self) -> tuple[TrialEnd, BestPlacement, bool]:
        """What was found, and whether more was not excluded."""
        question, spared = self._question, self._spared
        needs = [
            Need(frozenset({index}), kind.count)
            for index, kind in enumerate(question.kinds)
            if not all(member.pod.key in spared for member in kind.members)
        ]
        found = question.best(levels_of(question.kinds, by_priority=bool(spared)), needs)
        placed = {each.candidate.pod.key for each in found.placed}
        missing = {member.pod.key for kind in question.kinds for member in kind.members} - placed
        if not missing:
            return TrialEnd.ALL, found, False
        if missing <= spared:
            return TrialEnd.SOME, found, not found.is_best
        return TrialEnd.NONE, found, found.is_possible and not question.is_excluded(needs)
