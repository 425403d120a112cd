"""`maintain`: an order in which nodes can be drained, or a proof that every order fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.allotted import OutOfTimeError, step
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.index import Index
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.devices import ChangedSelector
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.nodes import choose_nodes, of_devices, of_leaving, of_preemption, with_nodes
from dra_plan.planner.question import Question
from dra_plan.planner.waves import let_go
from dra_plan.questions.diff.answer import State, broken_selectors
from dra_plan.questions.maintain.document import MaintenanceDocument, MaintenanceOutcome, PodAndNode, Stop, Wave
from dra_plan.questions.maintain.drains import Done, DrainRules, leaving, placed, started, wave
from dra_plan.questions.maintain.given_back import GivenBack, with_surge
from dra_plan.releases import Target
from dra_plan.whatif.edits import comes_back

MOST_DRAINS = 2_000
"""The maximum number of simulated waves. If no order is found within this limit, the result is Undecided."""


@dataclass(frozen=True, repr=False)
class MaintenancePlan(PrintedAnswer[MaintenanceDocument]):
    """The result of `maintain`. Iterating over the result yields the waves."""

    target: Target
    outcome: MaintenanceOutcome
    waves: tuple[Wave, ...]
    stop: Stop | None
    tried: int
    notices: tuple[Notice, ...]
    surge: tuple[str, ...] = ()
    selectors: tuple[ChangedSelector, ...] = ()
    path: tuple[Inventory, ...] = ()
    """The cluster before the first wave (with the surge nodes) and after each wave. If the drain stops, the last
    element is the cluster at that point."""

    def __iter__(self) -> Iterator[Wave]:
        return iter(self.waves)

    def __len__(self) -> int:
        return len(self.waves)

    def __repr__(self) -> str:
        return f"<MaintenancePlan for {self.target.version}: {self.outcome}, {counted(len(self), 'wave')}>"

    def _document(self) -> MaintenanceDocument:
        return MaintenanceDocument(
            target=answer_target(self.target),
            outcome=self.outcome,
            waves=list(self.waves),
            stop=self.stop,
            surge=list(self.surge),
            selectors=list(self.selectors),
            tried=self.tried,
            warnings=warnings(self.notices),
        )


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """The changes to nodes when they return to service, and the surge nodes."""

    to: Inventory | None = None
    """The new ResourceSlices and Nodes; None if nodes return unchanged."""
    kubelet_version: str = ""
    surge: Sequence[tuple[int, str]] = ()
    """Pairs of a number of surge nodes and the node that they are copied from."""


def maintenance(
    inventory: Inventory, target: Target, question: Question, at_once: int = 1, upgrade: Upgrade | None = None
) -> MaintenancePlan:
    """Return an order for draining the nodes that the question names, or all nodes if it names none.

    A wave has at most `at_once` nodes. Raises UsageError for unknown nodes and an invalid `upgrade`, and InputError for
    input without nodes.
    """
    upgrade = upgrade or Upgrade()
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    nodes = choose_nodes(inventory.nodes, question.nodes)
    names = tuple(node.metadata.name for node in nodes)
    enlarged, surge = with_surge(inventory, upgrade.surge)
    back = GivenBack.of(upgrade.to, upgrade.kubelet_version, surge)
    told = [
        *inferred,
        *inventory.notices,
        *of_devices(inventory),
        *of_preemption(inventory, evicts=True),
        *of_leaving(Index(inventory), "a drain", nodes),
        *(upgrade.to.notices if upgrade.to is not None else ()),
        *back.notices(names),
    ]
    rules = DrainRules(target, question, let_go, back)
    bare = _not_made_anew(enlarged, set(names))
    search = _OrderSearch(rules, at_once, hopeless=bool(bare))
    waves = search.order(enlarged, (*names, *surge))
    if waves is None and at_once > 1 and not (search.cut or search.hopeless):  # the larger waves may be the obstacle
        search = _OrderSearch(rules, 1, tried=search.tried)
        waves = search.order(enlarged, (*names, *surge))
    path = (enlarged, *search.path)
    known = search.hopeless or not (search.cut or search.unclear)
    outcome: MaintenanceOutcome = "Possible" if waves is not None else "Impossible" if known else "Undecided"
    stop = None
    if waves is None and search.stop is not None:
        before = started(enlarged, search.path[-1])
        stop = structs.replace(search.stop, started=[*before, *search.stop.started], not_made_anew=bare)
    broken = tuple(_broken_selectors(inventory, back.after(inventory, names), target))
    return MaintenancePlan(
        target, outcome, tuple(waves or ()), stop, search.tried, tuple(told), tuple(surge), broken, path
    )


def _broken_selectors(before: Inventory, after: Inventory, target: Target) -> Iterator[ChangedSelector]:
    """Yield the selectors in use that match no device, or stop with an error, once all nodes are back."""
    if after.slices is before.slices:
        return
    yield from broken_selectors(*(State(each, View.of(each, target)) for each in (before, after)))


def _not_made_anew(inventory: Inventory, names: set[str]) -> list[PodAndNode]:
    return [placed(pod) for pod in leaving(inventory, names) if not comes_back(pod)]


@dataclass
class _OrderSearch:
    """A depth-first search: the node with the fewest pods is drained first; a state without a next node is abandoned.

    Surge nodes come after all others.
    """

    given: DrainRules
    at_once: int
    tried: int = 0
    hopeless: bool = False
    """True if it is known that there is no order, so that one attempt, which shows how far one gets, is enough."""
    cut: bool = False
    """True if not all orders were tried, because of the number of drains or of the time limit."""
    unclear: bool = False
    """True if a drain was skipped that is not known to be impossible."""
    stop: Stop | None = None
    """The stop of the attempt that drained most nodes; among undecided ones, if there are any."""
    path: list[Inventory] = field(default_factory=list)
    """The cluster after each wave of the order, or else at the stop."""
    _failed: set[Hashable] = field(default_factory=set)

    def order(self, inventory: Inventory, names: tuple[str, ...]) -> list[Wave] | None:
        """Return the waves that drain all of these nodes, or None if no order was found."""
        path: list[Wave] = []
        states = [(inventory, names, self._next(inventory, names))]
        while states:
            now, left, candidates = states[-1]
            if not left:
                self.path = [state for state, *_ in states[1:]]
                return path
            first = next(candidates, None)
            if first is None and self.hopeless:
                return None
            if first is None or self.cut:
                self._failed.add(_state(now, left))
                states.pop()
                if path:
                    path.pop()
                continue
            found = self._wave(now, left, first, [name for one in path for name in one.nodes])
            if found is None:
                continue
            done, drained = found
            rest = tuple(name for name in left if name not in drained)
            if _state(done.inventory, rest) in self._failed:
                continue
            back = list(self.given.back.told(drained))
            path.append(Wave(nodes=list(drained), moved=list(done.moved), given_back=back))
            states.append((done.inventory, rest, self._next(done.inventory, rest)))
        return None

    def _next(self, inventory: Inventory, left: Sequence[str]) -> Iterator[str]:
        names = [name for name in left if name not in self.given.back.surge] or left
        pods = Counter(pod.spec.node_name for pod in inventory.pods)
        return iter(sorted(names, key=lambda name: pods[name]))

    def _wave(
        self, now: Inventory, left: Sequence[str], first: str, before: list[str]
    ) -> tuple[Done, tuple[str, ...]] | None:
        """Return the wave that begins with this node, with as many other nodes as possible."""
        done = self._carried_out(now, (first,), left, before)
        if done is None:
            return None
        drained: tuple[str, ...] = (first,)
        for name in self._next(now, left):
            if len(drained) >= self.at_once:
                break
            if name == first:
                continue
            more = self._carried_out(now, (*drained, name), left, before)
            if more is not None:
                done, drained = more, (*drained, name)
        return done, drained

    def _carried_out(
        self, now: Inventory, names: tuple[str, ...], left: Sequence[str], before: list[str]
    ) -> Done | None:
        if self.tried >= MOST_DRAINS:
            self.cut = True
            return None
        self.tried += 1
        try:
            step(len(before), len(before) + len(left))
            found = wave(self.given, now, names)
        except OutOfTimeError:
            self.cut = True
            return None
        if isinstance(found, Done):
            return found
        if len(names) == 1:
            self._stopped(structs.replace(found, done=before), now)
        return None

    def _stopped(self, at: Stop, now: Inventory) -> None:
        unclear = at.reason == "NotKnown"
        if self.stop is None or (unclear, len(at.done)) > (self.unclear, len(self.stop.done)):
            self.stop, self.path = at, [now]
        self.unclear = self.unclear or unclear


def _state(inventory: Inventory, left: Sequence[str]) -> Hashable:
    """Return the state that decides the rest of the search: the nodes left, the nodes of pods, and their devices."""
    pods = frozenset((pod.metadata.namespace, pod.metadata.name, pod.spec.node_name) for pod in inventory.pods)
    taken = frozenset(
        (claim.metadata.namespace, claim.metadata.name, one.driver, one.pool, one.device)
        for claim in inventory.claims
        if claim.allocation is not None
        for one in claim.allocation.devices.results
    )
    return frozenset(left), pods, taken
