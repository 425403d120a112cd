"""The best placement of pods on a cluster, a bound on all placements, and why some pods cannot be placed.

In order: the repair of a placement that filters reject; the search, which carries out the solution of the integer
program pod by pod; and the smallest set of pods that cannot be placed together. `seek` places existing pods, and
`seek_copies` places copies of templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.refusals import copy_of

from .gangs import NO_GROUPS, GroupToPlace, PodShapes, WholeGroups, apart, gang_of, goals_of, groups_of
from .generation import ColumnGeneration
from .limits import StepBudget
from .node_capacity import FitAnswer, NodeCapacity, NodeQuestions, claims_of
from .node_kinds import AlikeNodes, PlacementCluster, PodKind, PodToPlace, kinds_of, node_kinds
from .pricing import NodePricer
from .program import Column, Gang, Goal, Need, Program, Solution, best
from .together import MOST_COLUMNS, OPEN, Assigned, Coupling, JointAnswer, combinations_below
from .verify import Afterwards, Carrying, Found, LateRefusal, PlacedPod, PodsInside

# -- repairing a placement ---------------------------------------------------------------------------------------------
# If filters outside the program reject pods, these pods are tried on other nodes; other pods stay. Pods are served in
# order, so pods that are left at the end may still fit in another placement.

MOST_TRIES = 5_000
"""The maximum number of times that a pod is tried on a node."""


class Repair:
    """Adds pods to a placement that all filters accept, keeping the pods of a group together."""

    def __init__(self, ground: PlacementCluster, placed: Sequence[PlacedPod], whole: WholeGroups) -> None:
        self._ground, self._placed = ground, list(placed)
        self._may_be = whole.may_be((each.candidate, each.node) for each in placed)
        self._carrying = Carrying(ground, may_find_devices_gone=True)
        self._tries = 0

    def with_more(self, left: Sequence[PodToPlace]) -> tuple[list[PlacedPod], list[PodToPlace]]:
        """Add every pod that fits on some node, those of high priority first.

        Return the placement, and the pods that fit on no node.
        """
        waiting = sorted(left, key=lambda candidate: -candidate.info.priority)
        with Afterwards(self._ground).inside() as inside:
            if not self._stands(inside):
                return self._placed, list(left)
            before = len(waiting) + 1
            while len(waiting) < before:  # other pods may have affinity to a new pod
                before = len(waiting)
                for candidate in list(waiting):
                    self._add(candidate, inside, waiting)
        return self._placed, waiting

    def _stands(self, inside: PodsInside) -> bool:
        """Apply the current placement, with its devices."""
        again: list[PlacedPod] = []
        for each in self._placed:
            found = {claim.metadata.uid: claim.allocation for claim in each.claims if claim.allocation is not None}
            again += self._carrying.on_node(each.node, [each.candidate], found)
        return len(again) == len(self._placed) and not inside.let_in([(e.candidate, e.node) for e in self._placed])

    def _add(self, candidate: PodToPlace, inside: PodsInside, waiting: list[PodToPlace]) -> None:
        """Remove the pod from the waiting pods if there is a node for it."""
        for node in self._ground.nodes:
            if self._tries >= MOST_TRIES:
                return
            if not self._may_be(candidate, node.name):
                continue
            self._tries += 1
            self._carrying.know(node.name)
            if inside.add(candidate, node.name) is not None:
                continue
            placed = next(self._carrying.on_node(node.name, [candidate], {}), None)
            if placed is not None:
                self._placed.append(placed)
                waiting.remove(candidate)
                return
            inside.take_back()


# -- searching for the best placement ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BestPlacement:
    """Pods that can run at the same time, verified one by one, with bounds on all placements.

    `reached` and `bounds` have a number for each goal or, with a mix, the number of whole sets. `late` are the
    rejections by filters that the program does not include (`Afterwards`). The rejected pods are in `left`.
    """

    placed: tuple[PlacedPod, ...]
    left: tuple[PodToPlace, ...]
    reached: tuple[int, ...]
    bounds: tuple[int, ...]
    is_possible: bool = True
    """False if it is proved that the needed pods cannot be placed."""
    late: tuple[LateRefusal, ...] = ()

    @property
    def is_best(self) -> bool:
        """True if it is proved that no placement is better."""
        return self.reached == self.bounds


MOST_COMBINATIONS = 1_000
"""The maximum number of combinations on a node that are all examined. If there are more, columns are created as
needed."""


class PlacementQuestion:
    """The question of how pods of some kinds can be placed on the nodes of a cluster."""

    def __init__(
        self,
        ground: PlacementCluster,
        kinds: Sequence[PodKind],
        budget: StepBudget | None = None,
        groups: Mapping[GroupKey, GroupToPlace] = NO_GROUPS,
    ) -> None:
        """Set up the question. The placement meets the constraints of `groups`.

        With a step budget, pods on nodes that share devices are not checked together.
        """
        self.ground, self.kinds, self._budget = ground, tuple(kinds), budget
        self.groups = groups

    @cached_property
    def node_kinds(self) -> list[AlikeNodes]:
        """The kinds of nodes in the cluster."""
        return node_kinds(self.ground, self._shapes.kinds, apart(self.groups.values()))

    @cached_property
    def _shapes(self) -> PodShapes:
        return PodShapes.of(self.kinds, self.groups)

    @cached_property
    def rooms(self) -> list[NodeCapacity]:
        """For each kind of node, the combinations of shapes that fit on a node."""
        return [asked.room() for asked in self._heard()]

    def _heard(self) -> Iterator[NodeQuestions]:
        """Yield the queries about each kind of node, and report progress."""
        for index, asked in enumerate(self._questions):
            if self.ground.time.progress is not None:
                self.ground.time.progress(index, len(self._questions))
            yield asked

    @cached_property
    def _questions(self) -> list[NodeQuestions]:
        kinds = self._shapes.kinds
        return [NodeQuestions(self.ground, kinds, node_kind, self._budget) for node_kind in self.node_kinds]

    @cached_property
    def _generation(self) -> ColumnGeneration | None:
        """A generator of columns if nodes can hold too many combinations; None if all of them are examined."""
        kinds = self._shapes.kinds
        if self.is_coupled or self._budget is not None or any(kind.shared or kind.more for kind in kinds):
            return None
        if all(asked.combinations <= MOST_COMBINATIONS for asked in self._heard()):
            return None
        alone = [
            Column(index, tuple(most if i == shape else 0 for i in range(len(kinds))))
            for index, asked in enumerate(self._questions)
            for shape, most in enumerate(asked.most_of)
            if most
        ]
        return ColumnGeneration(NodePricer(self.ground, kinds, self.node_kinds, self._questions), alone)

    @property
    def has_one_shape(self) -> bool:
        """True if all pods have the same requirements."""
        return len(self._shapes.kinds) == 1

    @property
    def is_coupled(self) -> bool:
        """True if several nodes can use the same devices for these pods."""
        return any(node_kind.shared for node_kind in self.node_kinds)

    def program(
        self,
        goals: Sequence[Goal],
        *,
        outer: bool = False,
        needs: Sequence[Need] = (),
        mix: Sequence[int] | None = None,
        whole: bool = True,
    ) -> Program:
        """Return the integer program for the combinations that fit.

        With `outer`, combinations that may fit are included too. If `whole` is false, gangs may be incomplete.
        """
        return Program(
            nodes=tuple(len(node_kind.nodes) for node_kind in self.node_kinds),
            wanted=tuple(kind.count for kind in self.kinds),
            columns=() if self._generation is not None else tuple(self._columns(outer=outer)),
            goals=tuple(goals),
            shapes=self._shapes.of_kinds,
            needs=tuple(needs),
            gangs=tuple(self._gangs if whole else (replace(g, least=1) for g in self._gangs if g.domains is not None)),
            mix=tuple(mix) if mix is not None else None,
            clashes=tuple(self.coupling.clashes) if outer and self.is_coupled else (),
            time=self.ground.time,
        )

    @cached_property
    def _gangs(self) -> list[Gang]:
        positions = {node.name: i for i, node_kind in enumerate(self.node_kinds) for node in node_kind.nodes}
        return [gang_of(group, self.kinds, positions) for group in self.groups.values()]

    def _columns(self, *, outer: bool) -> Iterable[Column]:
        for index, room in enumerate(self.rooms):
            below = outer and self.is_coupled and self.coupling.clashes
            for combination in combinations_below(room) if below else room.outer if outer else room.inner:
                if any(combination):
                    claims = claims_of(self._shapes.kinds, combination) if not self.is_coupled else frozenset()
                    yield Column(index, combination, claims)

    @cached_property
    def coupling(self) -> Coupling:
        """The known clashes between pods on nodes that share devices."""
        return Coupling(self.ground, self._shapes.kinds, self.node_kinds)

    def _coupled(self, **asked: Any) -> tuple[Solution, Assigned, JointAnswer]:
        """Return the best solution in which all pods have devices together, or the last one that was not excluded."""
        while True:
            program = self.program(outer=True, **asked)
            solution = best(program)
            late = self.ground.time.is_over
            if not solution.is_possible or not solution.is_found or late or len(program.columns) > MOST_COLUMNS:
                return solution, [], OPEN
            assigned = self._assignment(solution, program)
            told = self.coupling.ask(assigned)
            if told.answer is not FitAnswer.NO:
                return solution, assigned, told
            if not self.coupling.learn(assigned):
                return solution, assigned, OPEN

    @property
    def is_exact(self) -> bool:
        """True if it is certain for every combination whether it fits, and nodes share no devices."""
        return not self.is_coupled and all(room.inner == room.outer for room in self.rooms)

    def best(
        self,
        goals: Sequence[Goal],
        needs: Sequence[Need] = (),
        mix: Sequence[int] | None = None,
        *,
        worth: Callable[[int], bool] = lambda _pods: True,
    ) -> BestPlacement:
        """Return the best placement for these goals, the most important goal first.

        `worth` is called with the number of pods that can be placed. If it returns False, only the bounds are returned.
        """
        if self.is_coupled and self._budget is None:
            placed, left, bounds, possible = self._best_coupled(goals, needs, mix)
        else:
            solution, program = self._solved(self.program(goals, needs=needs, mix=mix))
            bounds, possible = solution.bounds, solution.is_possible
            if self._generation is None and not self.is_exact:
                outer = best(self.program(goals, outer=True, needs=needs, mix=mix))
                bounds, possible = outer.bounds, outer.is_possible
            is_worth = worth(sum(solution.placed)) and not self.ground.time.is_over
            placed, left = (
                self._carried_out(solution, self._assignment(solution, program))
                if is_worth
                else ([], self._everybody())
            )
        if not bounds:
            bounds = tuple(sum(self.kinds[kind].count for kind in goal.kinds) + len(goal.gangs) for goal in goals)
        placed, left = self._whole(placed, left)
        late = Afterwards(self.ground).refusals([(each.candidate, each.node) for each in placed])
        if late:
            placed, left = self._whole(*self._without([each.candidate for each in late], placed, left))
            placed, left = Repair(self.ground, placed, WholeGroups(self.groups)).with_more(left)
            waiting = {id(candidate) for candidate in left}
            late = [each for each in late if id(each.candidate) in waiting]
        reached = self.reached(placed, goals, mix)
        return BestPlacement(tuple(placed), tuple(left), reached, bounds, is_possible=possible, late=tuple(late))

    def _everybody(self) -> list[PodToPlace]:
        return [member for kind in self.kinds if kind.more is None for member in kind.members]

    def _solved(self, program: Program) -> tuple[Solution, Program]:
        """Return the best solution, and the program with its columns."""
        return self._generation.best(program) if self._generation is not None else (best(program), program)

    def _best_coupled(
        self, goals: Sequence[Goal], needs: Sequence[Need], mix: Sequence[int] | None
    ) -> tuple[list[PlacedPod], list[PodToPlace], tuple[int, ...], bool]:
        """Place the pods with the devices that were found together.

        If no such devices were found, or if they turn out not to fit, place the pods node after node.
        """
        solution, assigned, told = self._coupled(goals=goals, needs=needs, mix=mix)
        if self.ground.time.is_over:
            return [], self._everybody(), solution.bounds, solution.is_possible
        if told.answer is FitAnswer.YES:
            placed, left = self._carried_out(solution, assigned, told.found)
            if len(placed) >= sum(solution.placed):
                return placed, left, solution.bounds, True
        program = self.program(goals, needs=needs, mix=mix)
        simple = best(program)
        placed, left = self._carried_out(simple, self._assignment(simple, program))
        return placed, left, solution.bounds, solution.is_possible

    def _whole(self, placed: list[PlacedPod], left: list[PodToPlace]) -> tuple[list[PlacedPod], list[PodToPlace]]:
        """Return the placement without incomplete gangs, which occur if a filter or missing devices excluded pods."""
        parts = WholeGroups(self.groups).parts([each.candidate for each in placed])
        return self._without(parts, placed, left) if parts else (placed, left)

    def _without(
        self, refused: Sequence[PodToPlace], placed: Sequence[PlacedPod], left: Sequence[PodToPlace]
    ) -> tuple[list[PlacedPod], list[PodToPlace]]:
        """Return the placement without the rejected pods; the next users of their claims then allocate these."""
        gone = {id(candidate) for candidate in refused}
        orphans = {c.metadata.uid: c for each in placed if id(each.candidate) in gone for c in each.claims}
        kept = []
        for each in placed:
            if id(each.candidate) not in gone:
                asked = self.ground.claims_on(each.candidate, self.ground.cluster.nodes[each.node])
                found = [orphans.pop(claim.metadata.uid) for claim in asked if claim.metadata.uid in orphans]
                kept.append(replace(each, claims=(*each.claims, *found)))
        return kept, [*left, *refused]

    def is_excluded(self, needs: Sequence[Need]) -> bool:
        """Return whether it is proved that the needed pods cannot be placed, even without other pods."""
        every = goals_of(self.kinds)
        if self.is_coupled:
            solution, _, _ = self._coupled(goals=every, needs=needs, whole=False)
            return not solution.is_possible
        program = self.program(every, outer=True, needs=needs, whole=False)
        if self._generation is not None:
            return self._generation.is_excluded(program)
        return not best(program).is_possible

    def most_pods(self) -> int:
        """Return an upper bound on the number of pods that can be placed, whatever their priority.

        Only complete gangs count.
        """
        every = goals_of(self.kinds)
        if self.is_coupled and self._budget is None:
            solution, _, _ = self._coupled(goals=every)
        else:
            solution, _ = self._solved(self.program(every, outer=True))
        return solution.bounds[0] if solution.bounds else sum(kind.count for kind in self.kinds)

    def reached(
        self, placed: Sequence[PlacedPod], goals: Sequence[Goal], mix: Sequence[int] | None = None
    ) -> tuple[int, ...]:
        """Return the value of each goal in the placement or, with a mix, the number of whole sets."""
        there = {id(each.candidate) for each in placed}
        numbers = [sum(id(member) in there for member in kind.members) for kind in self.kinds]
        if mix is not None:
            return (min(number // share for number, share in zip(numbers, mix, strict=True) if share),)
        started = WholeGroups(self.groups).started(each.candidate for each in placed)
        starts = [key in started for key in self.groups]
        return tuple(
            sum(numbers[kind] for kind in goal.kinds) + sum(starts[gang] for gang in goal.gangs) for goal in goals
        )

    # From numbers to pods

    def _carried_out(
        self, solution: Solution, assigned: Assigned, found: Found | None = None
    ) -> tuple[list[PlacedPod], list[PodToPlace]]:
        """Return a solution's pods on their nodes, each verified, and the pods that are left."""
        carrying = Carrying(self.ground, may_find_devices_gone=self.is_coupled)
        placed = [each for node, pods in assigned for each in carrying.on_node(node, pods, found)]
        there = {id(each.candidate) for each in placed}
        left = [
            member
            for kind, number in zip(self.kinds, solution.placed or [0] * len(self.kinds), strict=True)
            for member in (kind.members if kind.more is None else kind.take(number))
            if id(member) not in there
        ]
        if self.is_coupled:
            allowed = WholeGroups(self.groups).may_be((each.candidate, each.node) for each in placed)
            placed += carrying.elsewhere(left, allowed)
        return placed, left

    def _assignment(self, solution: Solution, program: Program) -> list[tuple[str, list[PodToPlace]]]:
        """Return each node's pods, with nodes and pods in their own order."""
        holds: dict[str, tuple[int, tuple[int, ...]]] = {}
        for index, number in sorted(solution.taken.items()):
            column = program.columns[index]
            free = [node.name for node in self.node_kinds[column.node_kind].nodes if node.name not in holds]
            holds.update(dict.fromkeys(free[:number], (column.node_kind, column.holds)))
        done = [0] * len(self.kinds)
        assigned = []
        for name in (node.name for node in self.ground.nodes if node.name in holds):
            node_kind, held = holds[name]
            pods: list[PodToPlace] = []
            left = list(held)
            for index, kind in enumerate(self.kinds):
                if node_kind in solution.only.get(index, (node_kind,)):
                    shape = program.shapes[index]
                    number = min(left[shape], solution.placed[index] - done[index])
                    pods += kind.take(number, done[index])
                    done[index] += number
                    left[shape] -= number
            if pods:
                assigned.append((name, pods))
        return assigned


def seek(ground: PlacementCluster, pods: Iterable[Pod], *, by_priority: bool = False) -> BestPlacement:
    """Place as many of these pods as possible. With `by_priority`, pods of higher priority come first."""
    candidates = [ground.ready(pod) for pod in pods]
    groups = groups_of(ground, candidates)
    question = PlacementQuestion(ground, kinds_of(candidates, groups), groups=groups)
    return question.best(goals_of(question.kinds, list(groups.values()), by_priority=by_priority))


def seek_copies(
    inventory: Inventory,
    target: Target,
    templates: Sequence[tuple[Pod, int]],
    limit: int,
    *,
    max_steps: int | None = None,
    budget: StepBudget | None = None,
    worth: Callable[[int], bool] = lambda _pods: True,
    view: View | None = None,
) -> BestPlacement:
    """Place as many copies of the templates as possible, in addition to the running pods.

    A set has the given number of copies of each template, and at most `limit` sets are placed; `reached` and `bounds`
    count whole sets. All copies share the existing claims that a template names.

    `worth` is called with the number of pods that can be placed; if it returns False, only `bounds` are returned.
    `view` must be the view of the inventory, if given. Raises SolverMissingError if there are several templates and no
    solver.
    """
    ground = PlacementCluster(inventory, target, max_steps, view=view)
    kinds = [_copies(ground, pod, share * limit) for pod, share in templates]
    question = PlacementQuestion(ground, kinds, budget)
    return question.best(goals_of(kinds), mix=[share for _, share in templates], worth=worth)


def _copies(ground: PlacementCluster, template: Pod, count: int) -> PodKind:
    def more(number: int) -> PodToPlace:
        return ground.ready(ground.add(copy_of(template, number)))

    first = more(0)
    shared = frozenset(claim.key for claim in first.pending if not claim.metadata.owner_references)
    return PodKind([first], count, more, shared)


# -- the smallest set that can't be placed -----------------------------------------------------------------------------
# If any one of these pods is omitted, the others can be placed, as far as is known.


def smallest(question: PlacementQuestion, needs: Sequence[Need]) -> list[Need]:
    """Return the smallest needs that are still proved to be impossible to meet.

    Pods of low priority are left out first.
    """
    left = list(needs)
    for index in reversed(range(len(left))):
        if question.ground.time.is_over:
            break  # the rest is proved, although it may not be minimal
        low, high = 0, left[index].number
        while low < high:
            middle = (low + high) // 2
            trial = [*left[:index], Need(left[index].kinds, middle), *left[index + 1 :]]
            if question.is_excluded(trial):
                high = middle
            else:
                low = middle + 1
        left[index] = Need(left[index].kinds, high)
    return [need for need in left if need.number]
