"""`place`: the placement of pods that exists, or the proof that none does, whatever the scheduler would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index
from dra_plan.claims.owners import DEPLOYMENT, deployment_of, is_waiting
from dra_plan.documents.base import ObjectName, answer_target, claim_allocation, warnings
from dra_plan.documents.claim_sets import PlacedPodClaim
from dra_plan.documents.obstacles import NextCopy
from dra_plan.placement.node_kinds import PlacementCluster, PodToPlace, kinds_of
from dra_plan.placement.search import BestPlacement, PlacementQuestion, levels_of, smallest
from dra_plan.placement.solver import Need
from dra_plan.placement.verify import PlacedPod
from dra_plan.planner import notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.bystanders import of_bystanders
from dra_plan.planner.creation import not_created
from dra_plan.planner.nodes import of_devices, of_templates, with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.obstacles import next_copy
from dra_plan.planner.owners import tell_groups_apart
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.refused import RefusedOwner, accepted, entries
from dra_plan.planner.suspended import resumed
from dra_plan.planner.twice import of_devices_twice
from dra_plan.questions.place.document import (
    ImpossibilityProof,
    PlacedPodEntry,
    PlacementDocument,
    PlacementOutcome,
    PodMaker,
    PriorityLevel,
    RefusedAfterwards,
    SchedulerResult,
    WantedGroup,
)
from dra_plan.questions.schedule.answer import choice, schedule_chosen
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.keys import GroupKey, group_key
from dra_plan.scheduler.cycle import fit_error
from dra_plan.scheduler.groups.cycle import PlacementError, placements
from dra_plan.scheduler.refusals import Refusals, refusals


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
    refused: tuple[RefusedOwner, ...] = ()
    """Pods and workloads asked about that the API server does not let be."""

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
            refusals=entries(self.refused),
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
    inventory = resumed(inventory, question.owners, question.namespace)
    groups, owners = tell_groups_apart(inventory, question.owners, question.namespace)
    chosen = _Chosen(groups, choice(inventory, target, replace(question, owners=owners)), bool(owners))
    taken = accepted(inventory, target, chosen, question.runtime_config)
    inventory = taken.inventory
    ground = PlacementCluster(inventory, target, question.max_steps)
    refused = (*taken.refused, *chosen.refuse(inventory, ground))
    found, asked, needs = _best(ground, chosen, groups, most=most)
    outcome = _outcome(asked, found, needs)
    pods = [each.info.pod for kind in asked.kinds for each in kind.members]
    there = {pod.key for pod in inventory.pods if pod.metadata.is_stored}
    if refused and outcome == "Placed":
        outcome = "Refused"
    return PlacementPlan(
        target=target,
        question=asked,
        found=found,
        needs=tuple(needs),
        groups=tuple(zip(groups, _group_needs(ground, asked, groups), strict=True)),
        outcome=outcome,
        proof=prove(asked, needs) if outcome == "Impossible" and asked.kinds else None,
        scheduler=_scheduler(ground, question, chosen, found) if most else None,
        most=most,
        refused=refused,
        notices=(
            *notices.of_target(target, inventory.nodes),
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
    """Which pods are to be placed: those that wait, and are named or chosen."""

    def __init__(self, groups: Sequence[PodGroup], others: Chosen, names_others: bool) -> None:
        self._groups = {(group.metadata.namespace, group.metadata.name) for group in groups}
        self._others, self._ask_others = others, names_others or not groups
        self._refused: set[str] = set()

    def refuse(self, inventory: Inventory, ground: PlacementCluster) -> list[RefusedOwner]:
        """Leave out the pods that quotas and limits do not let be, from now on; returns them."""
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
        """The pods, in the order in which the scheduler got to see them."""
        return [pod for pod in ground.cluster.pods.values() if is_waiting(pod) and self(pod)]


def _keys(groups: Sequence[PodGroup]) -> list[GroupKey]:
    return [(group.metadata.namespace, group.metadata.name) for group in groups]


def _best(
    ground: PlacementCluster, chosen: _Chosen, groups: Sequence[PodGroup], *, most: bool
) -> tuple[BestPlacement, PlacementQuestion, list[Need]]:
    """The best placement, in the best of the domains where a group has to stay in one."""
    tried = []
    for domains in _domains(ground, groups):
        candidates = [ground.ready(pod) for pod in chosen.pods(ground)]
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


def _domains(ground: PlacementCluster, groups: Sequence[PodGroup]) -> list[dict[GroupKey, frozenset[str]]]:
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


def _needs(ground: PlacementCluster, question: PlacementQuestion, groups: Sequence[PodGroup]) -> list[Need]:
    """All pods of no named group, and of each named group as many as it needs."""
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


def _outcome(question: PlacementQuestion, found: BestPlacement, needs: Sequence[Need]) -> PlacementOutcome:
    if not question.kinds:
        return "Placed" if all(not need.number for need in needs) else "Impossible"
    there = {id(each.candidate) for each in found.placed}
    numbers = [sum(id(member) in there for member in kind.members) for kind in question.kinds]
    if all(sum(numbers[kind] for kind in need.kinds) >= need.number for need in needs):
        return "Placed"
    return "Impossible" if question.is_excluded(needs) else "Undecided"


# What the scheduler would do


def _scheduler(ground: PlacementCluster, question: Question, chosen: _Chosen, found: BestPlacement) -> SchedulerResult:
    result = schedule_chosen(ground.simulation.inventory, ground.target, question, chosen)
    uids = {pod.metadata.uid for pod in chosen.pods(ground)}
    bound = sum(bool(record.node) for record in result.pods if record.pod.metadata.uid in uids)
    most = sum(found.bounds)
    is_best = True if bound == most else False if found.is_best or len(found.placed) > bound else None
    return SchedulerResult(bound=bound, is_best=is_best)


def entry(placed: PlacedPod, index: Index) -> PlacedPodEntry:
    """The pod as the document tells it; the index is of the input."""
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
    """The workload whose template the pod is made from: what controls it, directly or through others; None if bare."""
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
