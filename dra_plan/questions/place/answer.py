"""`place`: a placement of the pods, or a proof that none exists. The scheduler might choose a different placement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index
from dra_plan.claims.owners import DEPLOYMENT, deployment_of, is_waiting
from dra_plan.documents.base import answer_target, claim_allocation, warnings
from dra_plan.documents.claim_sets import PlacedPodClaim
from dra_plan.placement.gangs import goals_of, groups_of
from dra_plan.placement.limits import SearchTime
from dra_plan.placement.node_kinds import PlacementCluster, kinds_of
from dra_plan.placement.program import Goal, Need
from dra_plan.placement.search import BestPlacement, PlacementQuestion
from dra_plan.placement.verify import PlacedPod
from dra_plan.planner import notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.bystanders import of_bystanders
from dra_plan.planner.creation import not_created
from dra_plan.planner.nodes import of_devices, of_templates, with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.owners import tell_groups_apart
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.refused import RefusedOwner, accepted, entries
from dra_plan.planner.suspended import resumed
from dra_plan.planner.twice import of_devices_twice
from dra_plan.questions.place.document import (
    PlacedPodEntry,
    PlacementDocument,
    PlacementOutcome,
    PodMaker,
    PriorityLevel,
    RefusedAfterwards,
    SchedulerResult,
    WantedGroup,
)
from dra_plan.questions.place.proof import ProvedImpossible, pod_name, prove
from dra_plan.questions.place.scheduled import ScheduledPods, scheduled
from dra_plan.questions.schedule.answer import choice
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import GroupKey, group_key


@dataclass(frozen=True, repr=False)
class PlacementPlan(PrintedAnswer[PlacementDocument]):
    """The result of `place`. Iterating over the result yields the placed pods."""

    target: Target
    question: PlacementQuestion
    goals: tuple[Goal, ...]
    found: BestPlacement
    at_most: int
    """A proved upper bound on the number of pods in a placement."""
    needs: tuple[Need, ...]
    groups: tuple[tuple[PodGroup, Need], ...]
    """The pod groups named in the question, with the number of pods that each group needs."""
    outcome: PlacementOutcome
    proof: ProvedImpossible | None
    scheduler: SchedulerResult | None
    most: bool
    cut_short: bool = False
    """Whether the time limit or `stopped` ended the search early."""
    notices: tuple[Notice, ...] = ()
    refused: tuple[RefusedOwner, ...] = ()
    """The selected pods and workloads that the API server rejects."""

    def __iter__(self) -> Iterator[PlacedPodEntry]:
        return iter(self.document.placed)

    def __len__(self) -> int:
        return len(self.document.placed)

    def __repr__(self) -> str:
        return f"<PlacementPlan for {self.target.version}: {self.outcome}, {counted(self.wanted, 'pod')}>"

    @property
    def wanted(self) -> int:
        """Return the number of pods that were selected."""
        return sum(kind.count for kind in self.question.kinds)

    @property
    def _is_told(self) -> bool:
        return self.outcome == "Placed" or self.most

    def _document(self) -> PlacementDocument:
        found, told = self.found, self._is_told
        index = Index(self.question.ground.simulation.inventory)
        return PlacementDocument(
            target=answer_target(self.target),
            outcome=self.outcome,
            pods=self.wanted,
            at_least=len(found.placed),
            at_most=self.at_most,
            placed=[entry(each, index) for each in found.placed] if told else [],
            left=[pod_name(each) for each in found.left] if told else [],
            groups=[*self._named_groups(), *self._gangs()],
            proof=self.proof.document if self.proof is not None else None,
            refused_afterwards=[
                RefusedAfterwards(
                    namespace=late.candidate.pod.metadata.namespace,
                    name=late.candidate.pod.metadata.name,
                    node=late.node,
                    plugin=late.status.plugin,
                    message=late.status.message,
                )
                for late in found.late
            ],
            priorities=self._levels() if self.most else [],
            scheduler=self.scheduler,
            cut_short=self.cut_short,
            refusals=entries(self.refused),
            warnings=warnings(self.notices),
        )

    def _levels(self) -> list[PriorityLevel]:
        """Return each priority; that of a gang is the highest of its pods."""
        kinds, found = self.question.kinds, self.found
        levels: list[PriorityLevel] = []
        groups = started = most_started = 0
        for goal, reached, bound in zip(self.goals, found.reached, found.bounds, strict=True):
            if goal.gangs:
                groups, started, most_started = len(goal.gangs), reached, bound
                continue
            levels.append(
                PriorityLevel(
                    priority=kinds[goal.kinds[0]].priority,
                    groups=groups,
                    started=started,
                    at_most_started=most_started,
                    pods=sum(kinds[kind].count for kind in goal.kinds),
                    placed=reached,
                    at_most=bound,
                )
            )
            groups = started = most_started = 0
        return levels

    def _named_groups(self) -> Iterator[WantedGroup]:
        for group, need in self.groups:
            members = {id(member) for kind in need.kinds for member in self.question.kinds[kind].members}
            yield WantedGroup(
                namespace=group.metadata.namespace,
                name=group.metadata.name,
                pods=len(members),
                needed=need.number,
                placed=sum(id(each.candidate) in members for each in self.found.placed) if self._is_told else 0,
            )

    def _gangs(self) -> Iterator[WantedGroup]:
        """Yield the gangs that were not named and have not started."""
        named = {(group.metadata.namespace, group.metadata.name) for group, _ in self.groups}
        placed = self.found.placed if self._is_told else ()
        for key, group in self.question.groups.items():
            if group.is_gang and key not in named:
                yield WantedGroup(
                    namespace=key[0],
                    name=key[1],
                    pods=group.pods,
                    needed=group.least,
                    placed=sum(each.candidate.info.group == key for each in placed),
                )


def place_pods(
    inventory: Inventory,
    target: Target,
    question: Question,
    *,
    most: bool = False,
    stopped: Callable[[], bool] | None = None,
) -> PlacementPlan:
    """Return a placement of the pending pods, or of the selected ones.

    The scheduler's own placement is used if it binds all of these pods. A named pod group needs `minCount` of its pods.
    Any other gang is placed with that many pods or not at all. Raises InputError for input without nodes, UsageError
    for unknown owners, and SolverMissingError if the solver is needed but cannot be loaded.
    """
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    inventory = resumed(inventory, question.owners, question.namespace)
    groups, owners = tell_groups_apart(inventory, question.owners, question.namespace)
    chosen = _Chosen(groups, choice(inventory, target, structs.replace(question, owners=owners)), bool(owners))
    taken = accepted(inventory, target, chosen, question.runtime_config)
    inventory = taken.inventory
    limit = SearchTime(question.deadline(), stopped or (lambda: False), question.progress)
    ground = PlacementCluster(inventory, target, question.max_steps, time=limit)
    refused = (*taken.refused, *chosen.refuse(inventory, ground))
    candidates = [ground.ready(pod) for pod in chosen.pods(ground)]
    whole = groups_of(ground, candidates)
    asked = PlacementQuestion(ground, kinds_of(candidates, {*whole, *_keys(groups)}), groups=whole)
    goals = goals_of(asked.kinds, list(whole.values()), by_priority=most)
    needs = _needs(ground, asked, groups)
    bound = cache(lambda: scheduled(question, chosen, asked))
    found = _best(asked, goals, needs, bound, scheduler_first=most or not asked.has_one_shape)
    outcome = _outcome(asked, found, needs)
    pods = [each.info.pod for kind in asked.kinds for each in kind.members]
    there = {pod.key for pod in inventory.pods if pod.metadata.is_stored}
    if refused and outcome == "Placed":
        outcome = "Refused"
    return PlacementPlan(
        target=target,
        question=asked,
        goals=goals,
        found=found,
        at_most=max(len(found.placed), found.bounds[0] if len(goals) == 1 else asked.most_pods()),
        needs=tuple(needs),
        groups=tuple(zip(groups, _group_needs(ground, asked, groups), strict=True)),
        outcome=outcome,
        proof=prove(asked, needs) if outcome == "Impossible" and asked.kinds else None,
        scheduler=bound().told(asked, goals, found) if most else None,
        most=most,
        cut_short=limit.is_over,
        refused=refused,
        notices=(
            *notices.of_target(target, inventory),
            *inventory.notices,
            *inferred,
            *of_new_fields(inventory, target),
            *of_devices(inventory),
            *of_devices_twice(inventory),
            *of_templates(inventory, pods),
            *of_bystanders(inventory, pods, creates=any(pod.key not in there for pod in pods), settles=False),
        ),
    )


class _Chosen:
    """The pods to place: pending pods that are named or selected."""

    def __init__(self, groups: Sequence[PodGroup], others: Chosen, names_others: bool) -> None:
        self._groups = {(group.metadata.namespace, group.metadata.name) for group in groups}
        self._others, self._ask_others = others, names_others or not groups
        self._refused: set[str] = set()

    def refuse(self, inventory: Inventory, ground: PlacementCluster) -> list[RefusedOwner]:
        """Exclude the pods that quotas and limits reject, and return them."""
        found = not_created(inventory, self.pods(ground))
        self._refused.update(each.pod.key for each in found)
        return [each.as_refused() for each in found]

    def __call__(self, pod: Pod) -> bool:
        if pod.key in self._refused:
            return False
        if group_key(pod) in self._groups:
            return True
        return self._ask_others and self._others(pod)

    def pods(self, ground: PlacementCluster) -> list[Pod]:
        """Return the pods, in the order in which the scheduler saw them."""
        return [pod for pod in ground.cluster.pods.values() if is_waiting(pod) and self(pod)]


def _keys(groups: Sequence[PodGroup]) -> list[GroupKey]:
    return [(group.metadata.namespace, group.metadata.name) for group in groups]


def _best(
    asked: PlacementQuestion,
    goals: Sequence[Goal],
    needs: Sequence[Need],
    bound: Callable[[], ScheduledPods],
    *,
    scheduler_first: bool,
) -> BestPlacement:
    """Return the scheduler's placement if it is complete or nothing better is found; else the best placement.

    Pods of one shape are placed faster than the scheduler works: it runs only if some of them are left.
    """
    found = None if scheduler_first else asked.best(goals, needs)
    if found is not None and not found.left:
        return found
    scheduler = bound()
    if not scheduler.evicts:
        totals = [sum(asked.kinds[kind].count for kind in goal.kinds) + len(goal.gangs) for goal in goals]
        everything = scheduler.as_best(asked, goals, totals)
        if not everything.left:
            return everything
    found = found or asked.best(goals, needs)
    if not found.is_possible or not found.placed:
        found = replace(asked.best(goals), is_possible=found.is_possible)
    if scheduler.evicts:
        return found
    known = replace(scheduler.as_best(asked, goals, found.bounds), is_possible=found.is_possible)
    return max((found, known), key=lambda one: (_meets(asked, one.placed, needs), one.reached))


def _needs(ground: PlacementCluster, question: PlacementQuestion, groups: Sequence[PodGroup]) -> list[Need]:
    """Return all pods outside named groups, and the required number of pods of each named group."""
    of_groups = _group_needs(ground, question, groups)
    grouped = {kind for need in of_groups for kind in need.kinds}
    single = [Need(frozenset({i}), kind.count) for i, kind in enumerate(question.kinds) if i not in grouped]
    return [*single, *(need for need in of_groups if need.number)]


def _group_needs(ground: PlacementCluster, question: PlacementQuestion, groups: Sequence[PodGroup]) -> list[Need]:
    found = []
    for group, key in zip(groups, _keys(groups), strict=True):
        kinds = frozenset(i for i, kind in enumerate(question.kinds) if kind.first.info.group == key)
        waiting = sum(question.kinds[kind].count for kind in kinds)
        there = len(ground.cluster.groups.on_nodes(key))
        found.append(Need(kinds, max(0, group.min_count - there) if group.min_count else waiting))
    return found


def _meets(question: PlacementQuestion, placed: Sequence[PlacedPod], needs: Sequence[Need]) -> bool:
    there = {id(each.candidate) for each in placed}
    numbers = [sum(id(member) in there for member in kind.members) for kind in question.kinds]
    return all(sum(numbers[kind] for kind in need.kinds) >= need.number for need in needs)


def _outcome(question: PlacementQuestion, found: BestPlacement, needs: Sequence[Need]) -> PlacementOutcome:
    if _meets(question, found.placed, needs):
        return "Placed"
    if not question.kinds or any(group.is_short for group in question.groups.values()):
        return "Impossible"
    return "Impossible" if question.is_excluded(needs) else "Undecided"


def entry(placed: PlacedPod, index: Index) -> PlacedPodEntry:
    """Return the document's entry for the pod. `index` must be the index of the input."""
    pod = placed.candidate.pod
    return PlacedPodEntry(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        node=placed.node,
        claims=[
            PlacedPodClaim(
                namespace=claim.metadata.namespace,
                name=claim.metadata.name,
                allocation=claim_allocation(claim.allocation),
            )
            for claim in placed.claims
            if claim.allocation is not None
        ],
        made_by=maker(pod, index),
    )


def maker(pod: Pod, index: Index) -> PodMaker | None:
    """Return the workload from whose pod template the pod was created, directly or through other controllers.

    Returns None for a bare pod.
    """
    top: Pod | AnyWorkload = pod
    for controller in index.owners.above(pod.metadata):
        top = controller
    reference = top.metadata.controller
    if reference is not None and index.owners.of(top.metadata) is None:
        deployment = deployment_of(top.metadata)
        kind, name = (DEPLOYMENT, deployment) if deployment else (reference.kind, reference.name)
        return PodMaker(api_version=reference.api_version, kind=kind, name=name)
    if top is pod:
        return None
    return PodMaker(api_version=top.api_version, kind=top.kind, name=top.metadata.name)
