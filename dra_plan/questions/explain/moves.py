"""The running pods that may leave for another one, and why the others must stay; then sets of pods that are tried.

The pods that stay are those that nothing would recreate, that belong to their node, that a disruption budget protects,
and those of higher priority. This module does not choose the pods that leave.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Literal, NamedTuple

from msgspec import Struct, field

from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.budgets import covers
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.documents.base import ObjectName
from dra_plan.placement.gangs import goals_of
from dra_plan.placement.leaving import LeavingPod
from dra_plan.placement.limits import SearchTime
from dra_plan.placement.node_kinds import PlacementCluster, PodToPlace, kinds_of
from dra_plan.placement.program import Need
from dra_plan.placement.search import BestPlacement, PlacementQuestion
from dra_plan.planner.question import Question
from dra_plan.planner.waves import PodKey, pod_key
from dra_plan.questions.explain.document import AllowedReason, PodsLeftAlone
from dra_plan.questions.explain.staying import StayingReason, why_it_stays
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.whatif.edits import generated_claims, pod_name, pod_of, replaced

MOST_RANK = 9
"""The number of different priorities that are told apart among preempted pods."""
_EXAMPLES = 5


Reason = StayingReason | Literal["DisruptionBudget", "HigherPriority"]


_ORDER: tuple[Reason, ...] = ("NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving")


class MovablePod(NamedTuple):
    """A running pod that may leave its node."""

    pod: Pod
    priority: int
    preemptable: bool
    """True if it may be evicted without another node, because its priority is lower."""

    @property
    def node(self) -> str:
        """The name of the pod's node."""
        return self.pod.spec.node_name


class Movables:
    """The running pods that may leave their nodes to make room for a pending pod.

    The running pods that must stay are listed as well.
    """

    def __init__(
        self, ground: PlacementCluster, index: Index, wanting: PodToPlace, allowed: Set[AllowedReason] = frozenset()
    ) -> None:
        self._budgets = ground.cluster.budgets
        self.allowed = tuple(budget.status.disruptions_allowed for budget in self._budgets)
        """The number of pods that each disruption budget allows to evict; each counts, although it is recreated."""
        self.pods: list[MovablePod] = []
        alone: dict[Reason, list[Pod]] = {}
        priority = wanting.info.priority
        preempts = wanting.pod.spec.preemption_policy != "Never"
        for node in ground.nodes:
            for info in node.pods.values():
                if ended(info.pod) or info is wanting.info:
                    continue
                reason = _reason(info.pod, info.priority, priority, self._budgets)
                if reason is not None and reason not in allowed:
                    alone.setdefault(reason, []).append(info.pod)
                else:
                    self.pods.append(MovablePod(info.pod, info.priority, preempts and info.priority < priority))
        self.left_alone = [_told(reason, alone[reason]) for reason in _ORDER if reason in alone]
        self.claims = _freed_claims(index, [each.pod for each in self.pods])
        """The claims that are free once some of the pods have left, by the pods that use them."""

    def may_leave(self, pods: Iterable[MovablePod]) -> bool:
        """Return whether the disruption budgets allow all of these pods to be evicted."""
        counts = Counter(budget for each in pods for budget in self._over(each))
        return all(number <= self.allowed[budget] for budget, number in counts.items())

    def _over(self, movable: MovablePod) -> tuple[int, ...]:
        return tuple(i for i, budget in enumerate(self._budgets) if covers(budget, movable.pod))

    def leaving(self, limit: int, *, preempting: bool) -> tuple[list[LeavingPod], int]:
        """Return the pods that may leave, in a form for the solver, and the price of each pod that leaves.

        At most `limit` pods leave. If `preempting` is set, pods with a lower priority do not need another node. A pod
        that leaves and gets no node costs more than any node, but less than the leaving of one more pod. Less important
        pods cost less.
        """
        priorities = sorted({each.priority for each in self.pods})
        ranks = {priority: min(rank, MOST_RANK) for rank, priority in enumerate(priorities)}
        loss = limit * MOST_RANK + 1
        price = limit * (loss + MOST_RANK) + 1 if preempting else 1
        return [
            LeavingPod(
                each.pod,
                price,
                self.claims[key_of(each)],
                loss + ranks[each.priority] if preempting and each.preemptable else None,
                self._over(each),
            )
            for each in self.pods
        ], price

    def far_reaching(self, inventory: Inventory) -> list[MovablePod]:
        """Return the pods that hold devices that more than one node can reach."""
        pools = {(each.spec.driver, each.spec.pool.name) for each in inventory.slices if not each.spec.node_name}
        return [each for each in self.pods if any(_holds_of(claim, pools) for claim in self.claims[key_of(each)])]


def _holds_of(claim: ResourceClaim, pools: Set[tuple[str, str]]) -> bool:
    return claim.allocation is not None and any(
        (result.driver, result.pool) in pools for result in claim.allocation.devices.results
    )


def _freed_claims(index: Index, pods: Sequence[Pod]) -> dict[PodKey, tuple[ResourceClaim, ...]]:
    """Return the allocated claims of each of these pods that nobody else keeps."""
    keys = set(map(pod_key, pods))
    allocated = [claim for claim in index.inventory.claims if claim.allocation is not None]
    by_name = {(claim.metadata.namespace, claim.metadata.name): claim for claim in allocated}
    found: dict[PodKey, dict[str, ResourceClaim]] = {key: {} for key in keys}
    for claim in allocated:
        namespace = claim.metadata.namespace
        reserved = claim.reserved_for
        users = {(namespace, user.name) if user.resource == "pods" else None for user in reserved}
        if users <= keys:
            for user in users:
                if user is not None:
                    found[user][claim.key] = claim
    for pod in pods:
        own = found[pod_key(pod)]
        for name in sorted(generated_claims(index, [pod])):
            if name in by_name:
                own[by_name[name].key] = by_name[name]
    return {key: tuple(own.values()) for key, own in found.items()}


def _reason(pod: Pod, own: int, wanting: int, budgets: Sequence[PodDisruptionBudget]) -> Reason | None:
    if (reason := why_it_stays(pod)) is not None:
        return reason
    if own > wanting:
        return "HigherPriority"
    protecting = [budget for budget in budgets if covers(budget, pod)]
    is_at_limit = any(budget.status.disruptions_allowed < 1 for budget in protecting)
    return "DisruptionBudget" if is_at_limit or len(protecting) > 1 else None


def _told(reason: Reason, pods: Sequence[Pod]) -> PodsLeftAlone:
    return PodsLeftAlone(reason=reason, pods=len(pods), examples=_names(pods[:_EXAMPLES]))


def _names(pods: Iterable[Pod]) -> list[ObjectName]:
    return [pod_name(pod) for pod in pods]


def key_of(movable: MovablePod) -> PodKey:
    """Return the namespace and name of the pod."""
    return pod_key(movable.pod)


class Given(Struct, frozen=True):
    """The cluster, the release and the limits that all trials have in common."""

    inventory: Inventory
    target: Target
    question: Question
    index: Index
    common: Common = field(default_factory=Common)
    time: SearchTime = field(default_factory=SearchTime)

    def ground(self, inventory: Inventory) -> PlacementCluster:
        """Return the cluster in which pods are placed, for the input after some edits."""
        return PlacementCluster(inventory, self.target, self.question.max_steps, self.common, time=self.time)

    def evicted(self, inventory: Inventory, pods: Sequence[PodKey]) -> Inventory:
        """Return the cluster after these pods have been evicted.

        A user recreates the evicted pods that have no controller.
        """
        for namespace, name in pods:
            index = self.index if inventory is self.inventory else Index(inventory)
            inventory = replaced(inventory, [pod_of(inventory, namespace, name)], index, recreates=True).inventory
        return inventory


class TrialEnd(enum.Enum):
    """The result of a trial for a set of pods."""

    ALL = "all have a place"
    SOME = "those that may not be preempted have a place"
    NONE = "not even those"


class TriedSet(Struct, frozen=True):
    """The pods that left, and their new placement. If `is_open` is set, there may be a better placement."""

    pods: tuple[MovablePod, ...]
    outcome: TrialEnd
    found: BestPlacement
    is_open: bool = False

    @property
    def preempted(self) -> list[MovablePod]:
        """Return the pods that left and that do not get another node."""
        left = {each.pod.key for each in self.found.left}
        return [movable for movable in self.pods if movable.pod.key in left]


def tried(given: Given, wanting: PodKey, pods: Sequence[MovablePod]) -> TriedSet:
    """Try to place the pending pod and all these pods after these pods have left.

    If this fails, only the pods that must not be preempted have to be placed.
    """
    edited = given.evicted(given.inventory, [key_of(movable) for movable in pods])
    ground = given.ground(edited)
    keys = [wanting, *map(key_of, pods)]
    there = {pod_key(pod): pod for pod in ground.cluster.pods.values()}
    question = PlacementQuestion(ground, kinds_of(ground.ready(there[key]) for key in keys))
    ends = [_Ask(question, set()).end()]
    spared = {movable.pod.key for movable in pods if movable.preemptable}
    if spared and ends[0][0] is TrialEnd.NONE:
        ends.append(_Ask(question, spared).end())
    outcome, found, _ = ends[-1]
    return TriedSet(tuple(pods), outcome, found, any(is_open for *_, is_open in ends))


class _Ask:
    """A question about all of these pods; the spared ones get the remaining capacity."""

    def __init__(self, question: PlacementQuestion, spared: Set[str]) -> None:
        self._question, self._spared = question, spared

    def end(self) -> tuple[TrialEnd, BestPlacement, bool]:
        """Return the result, the best placement, and whether better results are still possible."""
        question, spared = self._question, self._spared
        needs = [
            Need(frozenset({index}), kind.count)
            for index, kind in enumerate(question.kinds)
            if not all(member.pod.key in spared for member in kind.members)
        ]
        found = question.best(goals_of(question.kinds, by_priority=bool(spared)), needs)
        placed = {each.candidate.pod.key for each in found.placed}
        missing = {member.pod.key for kind in question.kinds for member in kind.members} - placed
        if not missing:
            return TrialEnd.ALL, found, False
        if missing <= spared:
            return TrialEnd.SOME, found, not found.is_best
        return TrialEnd.NONE, found, found.is_possible and not question.is_excluded(needs)
