"""The running pods that may leave for another one, and why the others must stay.

The pods that stay are those that nothing would recreate, that belong to their node, that a disruption budget protects,
and those of higher priority. This module does not compute the benefit of a move.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dra_plan.allocator import AllocatedState, AllocationError, Outcome
from dra_plan.api.core import Pod, PodDisruptionBudget
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import labels_match
from dra_plan.api.well_known import MIRROR_POD
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.documents.base import ObjectName
from dra_plan.placement.gangs import goals_of
from dra_plan.placement.node_kinds import PlacementCluster, PodToPlace, kinds_of
from dra_plan.placement.program import Need
from dra_plan.placement.search import BestPlacement, PlacementQuestion
from dra_plan.planner.question import Question
from dra_plan.questions.explain.document import PodsLeftAlone
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.whatif import Evict
from dra_plan.whatif.edits import belongs_to_node, generated_claims, pod_name

_EXAMPLES = 5


Reason = Literal["NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving"]


_ORDER: tuple[Reason, ...] = ("NoController", "DaemonSet", "Static", "DisruptionBudget", "HigherPriority", "Leaving")


class MovablePod(NamedTuple):
    """A running pod that may leave."""

    pod: Pod
    priority: int
    preemptable: bool
    """True if it may be evicted without another node, because its priority is lower."""

    @property
    def node(self) -> str:
        """The node of the pod."""
        return self.pod.spec.node_name


class Movables:
    """The running pods as seen by a pending one: those that may leave, by node, and those that must stay."""

    def __init__(self, ground: PlacementCluster, wanting: PodToPlace) -> None:
        self._budgets = ground.cluster.budgets
        self.pods: list[MovablePod] = []
        alone: dict[Reason, list[Pod]] = {}
        priority = wanting.info.priority
        preempts = wanting.pod.spec.preemption_policy != "Never"
        for node in ground.nodes:
            for info in node.pods.values():
                if ended(info.pod) or info is wanting.info:
                    continue
                reason = _reason(info.pod, info.priority, priority, self._budgets)
                if reason is not None:
                    alone.setdefault(reason, []).append(info.pod)
                else:
                    self.pods.append(MovablePod(info.pod, info.priority, preempts and info.priority < priority))
        self.left_alone = [_told(reason, alone[reason]) for reason in _ORDER if reason in alone]

    def may_leave(self, pods: Collection[MovablePod]) -> bool:
        """Return whether the disruption budgets allow evicting all of these; each counts, although it is recreated."""
        return all(
            sum(_protects(budget, each.pod) for each in pods) <= budget.status.disruptions_allowed
            for budget in self._budgets
        )


def _reason(pod: Pod, own: int, wanting: int, budgets: Sequence[PodDisruptionBudget]) -> Reason | None:
    if pod.metadata.deletion_timestamp is not None:
        return "Leaving"
    controller = pod.metadata.controller
    if MIRROR_POD in (pod.metadata.annotations or {}) or (controller is not None and controller.kind == "Node"):
        return "Static"
    if belongs_to_node(pod):
        return "DaemonSet"
    if controller is None:
        return "NoController"
    if own > wanting:
        return "HigherPriority"
    protecting = [budget for budget in budgets if _protects(budget, pod)]
    is_at_limit = any(budget.status.disruptions_allowed < 1 for budget in protecting)
    return "DisruptionBudget" if is_at_limit or len(protecting) > 1 else None


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Return whether the budget covers the pod, as in the eviction API: an empty selector covers the whole namespace.

    A missing selector covers no pod. Pods with several budgets cannot be evicted at all (policy/v1, pods/eviction).
    """
    selector = budget.spec.selector
    if selector is None or budget.metadata.namespace != pod.metadata.namespace:
        return False
    return labels_match(selector, pod.metadata.labels)


def _told(reason: Reason, pods: Sequence[Pod]) -> PodsLeftAlone:
    return PodsLeftAlone(reason=reason, pods=len(pods), examples=_names(pods[:_EXAMPLES]))


def _names(pods: Iterable[Pod]) -> list[ObjectName]:
    return [pod_name(pod) for pod in pods]


PodKey = tuple[str, str]


def key_of(movable: MovablePod) -> PodKey:
    """Return namespace and name of the pod."""
    return movable.pod.metadata.namespace, movable.pod.metadata.name


class Vacating:
    """A pending pod, the nodes, and the pods that may leave them. `asked` counts the checks."""

    def __init__(
        self, ground: PlacementCluster, index: Index, wanting: PodToPlace, movables: Sequence[MovablePod]
    ) -> None:
        self._ground, self._wanting = ground, wanting
        self._held: dict[PodKey, list[ResourceClaim]] = {}
        self._own: dict[PodKey, set[str]] = {}
        self._users: dict[str, set[PodKey | None]] = {}
        self._read_claims(index, movables)
        self._by_node: dict[str, list[MovablePod]] = {}
        for movable in movables:
            self._by_node.setdefault(movable.node, []).append(movable)
        self._afar = self._with_devices_afar(movables)
        self._known: dict[tuple[str, frozenset[PodKey]], bool] = {}
        self.asked = 0

    def _read_claims(self, index: Index, movables: Sequence[MovablePod]) -> None:
        keys = list(dict.fromkeys(key_of(movable) for movable in movables))
        by_name: dict[tuple[str, str], ResourceClaim] = {}
        for claim in index.inventory.claims:
            if claim.allocation is None:
                continue
            by_name[claim.metadata.namespace, claim.metadata.name] = claim
            users = claim.status.reserved_for if claim.status is not None else []
            for user in users:
                key = (claim.metadata.namespace, user.name) if user.resource == "pods" else None
                self._users.setdefault(claim.key, set()).add(key)
                if key is not None and key in keys:
                    self._held.setdefault(key, []).append(claim)
        given = {(pod.metadata.namespace, pod.metadata.name): pod for pod in index.inventory.pods}
        for key in keys:
            made = generated_claims(index, [given[key]]) if key in given else set()
            self._own[key] = {by_name[name].key for name in made if name in by_name}
            known = {claim.key for claim in self._held.get(key, ())}
            more = [by_name[name] for name in sorted(made) if name in by_name and by_name[name].key not in known]
            self._held.setdefault(key, []).extend(more)

    def _with_devices_afar(self, movables: Sequence[MovablePod]) -> list[MovablePod]:
        """Return pods that hold devices which more than one node can reach."""
        view = self._ground.view
        shared = {
            (slice_.object.spec.driver, slice_.object.spec.pool.name)
            for slices in view.gatherer.slices.values()
            for slice_ in slices
            if not slice_.object.spec.node_name
        }
        return [
            movable
            for movable in movables
            if any(
                (result.driver, result.pool) in shared
                for claim in self._held.get(key_of(movable), ())
                if claim.allocation is not None
                for result in claim.allocation.devices.results
            )
        ]

    def near(self, node: str) -> list[MovablePod]:
        """Return the pods that could free capacity on the node: its pods, and those with devices that others reach."""
        here = self._by_node.get(node, [])
        return [*here, *(movable for movable in self._afar if movable.node != node)]

    def nodes(self) -> list[str]:
        """Return the nodes on which the pod does not fit now, but could fit if all of these left."""
        return [node.name for node in self._ground.nodes if self.could_fit(node.name, self.near(node.name))]

    def could_fit(self, name: str, gone: Collection[MovablePod]) -> bool:
        """Return whether the pod could fit the node without these pods; true if this is undecided."""
        key = (name, frozenset(key_of(movable) for movable in gone))
        if key not in self._known:
            self.asked += 1
            self._known[key] = self._ask(self._ground.cluster.nodes[name], gone, key[1])
        return self._known[key]

    def _ask(self, node: NodeInfo, gone: Iterable[MovablePod], keys: Collection[PodKey]) -> bool:
        trial = node.clone()
        for movable in gone:
            if movable.node == node.name:
                trial.remove(pod_uid(movable.pod))
        freed = self._freed(keys)
        if any(claim.key in freed for claim in self._wanting.settled):
            return True
        if self._ground.refusal(self._wanting, trial) is not None:
            return False
        claims = self._ground.claims_on(self._wanting, trial)
        if not claims:
            return True
        try:
            held = [claim for claim in self._ground.holding(node.name) if claim.key not in freed]
        except AllocationError:
            return True
        features = self._ground.target.features
        state = AllocatedState.of(held, consumable_capacity=features.consumable_capacity)
        views = (self._ground.joint, self._ground.promised)
        answers = (self._ground.allocate(claims, trial, view.with_state(state)).outcome for view in views)
        return any(answer in (Outcome.FITS, Outcome.UNDECIDED) for answer in answers)

    def _freed(self, gone: Collection[PodKey]) -> set[str]:
        """Return the claims whose devices are free when these pods have left."""
        return {
            claim.key
            for pod in gone
            for claim in self._held.get(pod, ())
            if claim.key in self._own.get(pod, ()) or self._users.get(claim.key, {None}) <= set(gone)
        }


@dataclass(frozen=True)
class Given:
    """The cluster, the release and the limits that every trial starts from."""

    inventory: Inventory
    target: Target
    question: Question
    index: Index
    common: Common = field(default_factory=Common)

    def ground(self, inventory: Inventory) -> PlacementCluster:
        """Return the placement cluster for this input after some edits."""
        return PlacementCluster(inventory, self.target, self.question.max_steps, self.common)

    def evicted(self, inventory: Inventory, pods: Sequence[PodKey]) -> Inventory:
        """Return the cluster after the eviction of these pods."""
        for namespace, name in pods:
            index = self.index if inventory is self.inventory else None
            inventory = Evict(namespace, name, index).apply(inventory).inventory
        return inventory


class TrialEnd(enum.Enum):
    """The result for a set of pods."""

    ALL = "all have a place"
    SOME = "those that may not be preempted have a place"
    NONE = "not even those"


@dataclass(frozen=True)
class TriedSet:
    """The pods that left, and their new placement. With `is_open`, a better one was not excluded."""

    pods: tuple[MovablePod, ...]
    outcome: TrialEnd
    found: BestPlacement
    is_open: bool = False

    @property
    def preempted(self) -> list[MovablePod]:
        """Return the pods that left and get no other node."""
        left = {each.pod.key for each in self.found.left}
        return [movable for movable in self.pods if movable.pod.key in left]


def tried(given: Given, wanting: PodKey, pods: Sequence[MovablePod]) -> TriedSet:
    """Try to place all pods once these have left; if that fails, all pods that must not be preempted."""
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
    """A question about all of these pods; the spared ones get the remaining capacity."""

    def __init__(self, question: PlacementQuestion, spared: Set[str]) -> None:
        self._question, self._spared = question, spared

    def end(self) -> tuple[TrialEnd, BestPlacement, bool]:
        """Return the result, and whether better ones were not excluded."""
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
