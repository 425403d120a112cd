"""`place`: the placement of pods that exists, or the proof that none does, whatever the scheduler would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.scheduling import PodGroup
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_waiting
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.placement import (
    PlacedPodEntry,
    PlacementDocument,
    PlacementOutcome,
    PriorityLevel,
    RefusedAfterwards,
    SchedulerResult,
    WantedGroup,
)
from dra_plan.placement.node_kinds import Ground, kinds_of
from dra_plan.placement.search import BestPlacement, PlacementQuestion, levels_of
from dra_plan.placement.solver import Need
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import GroupKey, group_key
from dra_plan.scheduler.groups.cycle import PlacementError, placements

from . import completeness, notices
from .answer import PrintedAnswer, counted
from .newfields import of_new_fields
from .nodes import with_nodes
from .placed_entries import entry
from .placing_proof import ProvedImpossible, pod_name, prove
from .podgroups import tell_groups_apart
from .question import Question
from .scheduling import Chosen, choice, schedule_chosen


@dataclass(frozen=True, repr=False)
class PlacementPlan(PrintedAnswer[PlacementDocument]):
    """The answer of `place`: the pods with their nodes, which `for` goes through."""

    target: Target
    question: PlacementQuestion
    found: BestPlacement
    needs: tuple[Need, ...]
    groups: tuple[tuple[PodGroup, Need], ...]
    outcome: PlacementOutcome
    proof: ProvedImpossible | None
    scheduler: SchedulerResult | None
    most: bool
    notices: tuple[Notice, ...] = ()

    def __iter__(self) -> Iterator[PlacedPodEntry]:
        return iter(self.document.placed)

    def __len__(self) -> int:
        return len(self.document.placed)

    def __repr__(self) -> str:
        return f"<PlacementPlan for {self.target.version}: {self.outcome}, {counted(self.wanted, 'pod')}>"

    @property
    def wanted(self) -> int:
        """How many pods were asked about."""
        return sum(kind.count for kind in self.question.kinds)

    def to_place(self) -> list[tuple[Pod, str]]:
        """The pods with their nodes, as the placement has them."""
        return [(each.candidate.pod, each.node) for each in self.found.placed] if self._is_told else []

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
            at_most=sum(found.bounds),
            placed=[entry(each, index) for each in found.placed] if told else [],
            left=[pod_name(each) for each in found.left] if told else [],
            groups=[self._group(*each) for each in self.groups],
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
            warnings=warnings(self.notices),
        )

    def _levels(self) -> list[PriorityLevel]:
        kinds = self.question.kinds
        levels = levels_of(kinds, by_priority=True)
        return [
            PriorityLevel(
                priority=kinds[level[0]].priority,
                pods=sum(kinds[kind].count for kind in level),
                placed=placed,
                at_most=most,
            )
            for level, placed, most in zip(levels, self.found.reached, self.found.bounds, strict=True)
        ]

    def _group(self, group: PodGroup, need: Need) -> WantedGroup:
        members = {id(member) for kind in need.kinds for member in self.question.kinds[kind].members}
        return WantedGroup(
            namespace=group.metadata.namespace,
            name=group.metadata.name,
            needed=need.number,
            placed=sum(id(each.candidate) in members for each in self.found.placed) if self._is_told else 0,
        )


def place_pods(inventory: Inventory, target: Target, question: Question, *, most: bool = False) -> PlacementPlan:
    """Seeks a placement of the pods that wait, or of those that are chosen.

    A pod group that is named needs as many of its pods as its minCount says. Raises InputError for an input without
    nodes, UsageError for owners that nothing has, SolverMissingError where the solver is needed and not there.
    """
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    groups, owners = tell_groups_apart(inventory, question.owners, question.namespace)
    ground = Ground(inventory, target, question.max_steps)
    chosen = _Chosen(ground, groups, choice(inventory, target, replace(question, owners=owners)), bool(owners))
    found, asked, needs = _best(ground, chosen, groups, most=most)
    outcome = _outcome(asked, found, needs)
    return PlacementPlan(
        target=target,
        question=asked,
        found=found,
        needs=tuple(needs),
        groups=tuple(zip(groups, _group_needs(ground, asked, groups), strict=True)),
        outcome=outcome,
        proof=prove(asked, needs) if outcome == "Impossible" and asked.kinds else None,
        scheduler=_scheduler(inventory, target, question, chosen, found) if most else None,
        most=most,
        notices=(
            *notices.of_target(target, inventory.nodes),
            *inventory.notices,
            *inferred,
            *of_new_fields(inventory, target),
            *completeness.of_devices(inventory),
            *completeness.of_templates(inventory, (each.info.pod for kind in asked.kinds for each in kind.members)),
        ),
    )


class _Chosen:
    """Which pods are to be placed: those that wait, and are named or chosen."""

    def __init__(self, ground: Ground, groups: Sequence[PodGroup], others: Chosen, names_others: bool) -> None:
        self._groups = {(group.metadata.namespace, group.metadata.name) for group in groups}
        self._others, self._ask_others = others, names_others or not groups
        self._ground = ground

    def __call__(self, pod: Pod) -> bool:
        if group_key(pod) in self._groups:
            return True
        return self._ask_others and self._others(pod)

    @property
    def pods(self) -> list[Pod]:
        """The pods, in the order in which the scheduler got to see them."""
        return [pod for pod in self._ground.cluster.pods.values() if is_waiting(pod) and self(pod)]


def _keys(groups: Sequence[PodGroup]) -> list[GroupKey]:
    return [(group.metadata.namespace, group.metadata.name) for group in groups]


def _best(
    ground: Ground, chosen: _Chosen, groups: Sequence[PodGroup], *, most: bool
) -> tuple[BestPlacement, PlacementQuestion, list[Need]]:
    """The best placement, in the best of the domains where a group has to stay in one."""
    tried = []
    for domains in _domains(ground, groups):
        candidates = [ground.ready(pod) for pod in chosen.pods]
        for candidate in candidates:
            nodes = domains.get(candidate.info.group) if candidate.info.group is not None else None
            if nodes is not None:
                candidate.only = nodes if candidate.only is None else candidate.only & nodes
        question = PlacementQuestion(ground, kinds_of(candidates, _keys(groups)))
        needs = _needs(ground, question, groups)
        levels = levels_of(question.kinds, by_priority=most)
        found = question.best(levels, needs)
        if not found.is_possible or not found.placed:
            found = replace(question.best(levels), is_possible=found.is_possible)
        tried.append((found, question, needs))
        if _outcome(question, found, needs) == "Placed" and not most:
            break
    order = {"Placed": 0, "Undecided": 1, "Impossible": 2}
    return min(tried, key=lambda one: (order[_outcome(one[1], one[0], one[2])], [-n for n in one[0].reached]))


def _domains(ground: Ground, groups: Sequence[PodGroup]) -> list[dict[GroupKey, frozenset[str]]]:
    """The nodes that each group with a topology key may use: one choice for each domain, all combined."""
    choices: list[dict[GroupKey, frozenset[str]]] = [{}]
    if not ground.target.features.topology_placement:
        return choices
    for group, key in zip(groups, _keys(groups), strict=True):
        if not group.topology_key:
            continue
        try:
            found = [each.nodes or frozenset() for each in placements(ground.cluster, key, group)]
        except PlacementError:
            found = []
        choices = [{**one, key: nodes} for one in choices for nodes in (found or [frozenset()])]
    return choices


def _needs(ground: Ground, question: PlacementQuestion, groups: Sequence[PodGroup]) -> list[Need]:
    """All pods of no named group, and of each named group as many as it needs."""
    of_groups = _group_needs(ground, question, groups)
    grouped = {kind for need in of_groups for kind in need.kinds}
    single = [Need(frozenset({i}), kind.count) for i, kind in enumerate(question.kinds) if i not in grouped]
    return [*single, *(need for need in of_groups if need.number)]


def _group_needs(ground: Ground, question: PlacementQuestion, groups: Sequence[PodGroup]) -> list[Need]:
    found = []
    for group, key in zip(groups, _keys(groups), strict=True):
        kinds = frozenset(i for i, kind in enumerate(question.kinds) if kind.first.info.group == key)
        waiting = sum(question.kinds[kind].count for kind in kinds)
        there = len(ground.cluster.groups.on_nodes(key))
        found.append(Need(kinds, max(0, group.min_count - there) if group.min_count else waiting))
    return found


def _outcome(question: PlacementQuestion, found: BestPlacement, needs: Sequence[Need]) -> PlacementOutcome:
    if not question.kinds:
        return "Placed" if all(not need.number for need in needs) else "Impossible"
    there = {id(each.candidate) for each in found.placed}
    numbers = [sum(id(member) in there for member in kind.members) for kind in question.kinds]
    if all(sum(numbers[kind] for kind in need.kinds) >= need.number for need in needs):
        return "Placed"
    return "Impossible" if question.is_excluded(needs) else "Undecided"


# What the scheduler would do


def _scheduler(
    inventory: Inventory, target: Target, question: Question, chosen: _Chosen, found: BestPlacement
) -> SchedulerResult:
    result = schedule_chosen(inventory, target, question, chosen)
    uids = {pod.metadata.uid for pod in chosen.pods}
    bound = sum(bool(record.node) for record in result.pods if record.pod.metadata.uid in uids)
    most = sum(found.bounds)
    is_best = True if bound == most else False if found.is_best or len(found.placed) > bound else None
    return SchedulerResult(bound=bound, is_best=is_best)
