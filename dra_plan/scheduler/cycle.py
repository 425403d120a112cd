"""The scheduling cycle of one pod, which ends with a reserved and permitted node, or with a diagnosis.

Contents: the FailedScheduling message, how many nodes to examine, the choice among the best nodes, and the cycle, which
runs a profile's plugins in upstream's order (schedulePod, prioritizeNodes). Binding is in `scheduler/binding.py`, and
`scheduler/framework` runs the plugins.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, repeat
from operator import eq
from typing import overload

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.nodes import NodeInfo, PassedNodes
from dra_plan.scheduler.framework.extender import Extender, ExtenderError
from dra_plan.scheduler.framework.interface import Diagnosis, Handle, NominatingInfo
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import (
    Code,
    CycleState,
    Status,
    counts_of,
    error,
    not_satisfied,
    succeeded,
    unresolvable,
    unschedulable,
)

from .node_refusals import Explain, NodeRefusals

# -- the message of FailedScheduling -----------------------------------------------------------------------------------
# The reasons for all nodes become one sentence.

NO_NODES = "no nodes available to schedule pods"
NOT_HELPFUL = "Preemption is not helpful for scheduling"


def fit_error(total: int, statuses: Mapping[str, Status], *, pre_filter: str = "", post_filter: str = "") -> str:
    """Return the message `0/N nodes are available: ...`, in which each reason comes with its number of nodes.

    The reasons are sorted as text. If a PreFilter plugin rejects all nodes for one reason, the message gives only that
    reason.
    """
    counts: Counter[str] = Counter()
    if not pre_filter:
        for rejection, number in counts_of(statuses).items():
            for text in rejection.texts:
                counts[text] += number
    return counted_fit_error(total, counts, pre_filter=pre_filter, post_filter=post_filter)


def counted_fit_error(total: int, counts: Mapping[str, int], *, pre_filter: str = "", post_filter: str = "") -> str:
    """Return the message `0/N nodes are available: ...`. `counts` is the number of nodes for each reason."""
    text = f"0/{total} nodes are available:"
    reasons = [pre_filter] if pre_filter else sorted(f"{count} {reason}" for reason, count in counts.items() if count)
    if reasons:
        text += f" {', '.join(reasons)}."
    if post_filter:
        text += f" {post_filter}"
    return text


# -- how many nodes are examined, and which of the best is taken -------------------------------------------------------

LEAST_FEASIBLE = 100
_LEAST_PERCENTAGE = 5


def nodes_to_find(total: int, percentage: int) -> int:
    """Return how many feasible nodes the scheduler looks for.

    With fewer than 100 nodes, it looks for all of them. Otherwise, it looks for a percentage of them, but at least for
    100. A percentage of 0 means the default.
    """
    if total < LEAST_FEASIBLE:
        return total
    if percentage == 0:
        percentage = max(50 - total // 125, _LEAST_PERCENTAGE)
    if percentage >= 100:
        return total
    return max(total * percentage // 100, LEAST_FEASIBLE)


_FEW = 100
"""The number of best nodes up to which searching for each takes less time than comparing all scores."""


def best_of(scores: Sequence[int]) -> list[int]:
    """Return the indices of the highest score."""
    highest = max(scores)
    number = scores.count(highest)
    if number > _FEW:
        return list(compress(count(), map(eq, scores, repeat(highest))))
    found: list[int] = []
    for _ in range(number):
        found.append(scores.index(highest, found[-1] + 1 if found else 0))
    return found


class BestNodes(Sequence[str]):
    """The names of the nodes with the highest score. A name is looked up only when it is accessed."""

    __slots__ = ("_best", "_nodes")

    def __init__(self, nodes: Sequence[NodeInfo], best: Sequence[int]) -> None:
        if isinstance(nodes, PassedNodes):
            best, nodes = [nodes.positions[index] for index in best], nodes.all
        self._nodes, self._best = nodes, array("I", best)  # stored for every pod: 1/4 of a list of numbers

    def __len__(self) -> int:
        return len(self._best)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._nodes[at].name for at in self._best[index]]
        return self._nodes[self._best[index]].name

    def __iter__(self) -> Iterator[str]:
        return (self._nodes[at].name for at in self._best)


def winner(best: Sequence[int]) -> int:
    """Return the index that is chosen from the indices of the best nodes: the root of a binary heap.

    Go's container/heap builds the heap from the bottom. Only a strictly greater element replaces another, and of two
    equal children the left one moves up. The root is therefore the first best element when the tree of indices is
    traversed from the root, left before right. The binary digits of index + 1 after the first describe the path from
    the root.
    """
    return best[0] if best[0] == 0 else min(best, key=lambda index: f"{index + 1:b}"[1:])


# -- the scheduling cycle ----------------------------------------------------------------------------------------------

EXTENDER = "Extender"
_EXTENDER_SCALE = 10
"""The factor that scales extenders' scores, which are 0 to 10, to those of plugins, which are 0 to 100."""


@dataclass(slots=True)
class CycleResult:
    """The result of a scheduling cycle. It has either `node` or `message`, but never both."""

    node: str = ""
    message: str = ""
    failed_with_error: bool = False
    unexplained: bool = False
    """True if nothing is known to help the pod, which is then simply retried. This is the case after an error, and
    after a rejection during binding.
    """
    rejected_by: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()
    nomination: NominatingInfo | None = None
    filtered: bool = False
    """True if nodes were examined. A cycle that ends earlier takes almost no time."""
    best: Sequence[str] = ()
    diagnosis: Diagnosis | None = None
    fatal: dict[str, str] = field(default_factory=dict)
    """The nodes on which a filter failed with an error, which ends the attempt regardless of the other nodes."""
    refusals: NodeRefusals | None = None
    """All reasons that exclude each node, if they were requested and no node was found."""


class Cycle:
    """A runner of scheduling cycles, which stores the node at which the next cycle starts."""

    def __init__(
        self,
        handle: Handle,
        extenders: Sequence[Extender] = (),
        pick: Callable[[Sequence[int]], int] = winner,
    ) -> None:
        """Set up the cycle. `pick` chooses one of the indices of the best nodes."""
        self._handle = handle
        self._extenders = extenders
        self._start = 0
        self._pick = pick
        self.explain: Explain = lambda _framework, _state, _pod, _diagnosis: None
        """A callback that returns the record of an attempt that found no node."""

    def run(self, framework: Framework, state: CycleState, pod: Pod, percentage: int) -> CycleResult:
        """Find a node for the pod and reserve it. If a later step fails, all reservations are released."""
        result, chosen = self.find(framework, state, pod, percentage)
        if chosen is not None:
            self._take(framework, state, pod, chosen, result)
        return result

    def find(
        self, framework: Framework, state: CycleState, pod: Pod, percentage: int, *, makes_room: bool = True
    ) -> tuple[CycleResult, NodeInfo | None]:
        """Return the result of the cycle, and the best node or None. The node is not reserved yet.

        If there is no such node, the result has the reason. PostFilter runs only if `makes_room` is set.
        """
        nodes = self._handle.cluster.in_order
        if not nodes:
            lost = CycleResult(message=NO_NODES, rejected_by=frozenset({"*"}), nomination=NominatingInfo(""))
            return lost, None
        result = CycleResult()
        feasible = self._find(framework, state, pod, nodes, percentage, result)
        if feasible is None:
            return result, None
        if not feasible:
            if makes_room:
                assert result.diagnosis is not None
                result.refusals = self.explain(framework, state, pod, result.diagnosis)
                self._post_filter(framework, state, pod, len(nodes), result)
            return result, None
        return result, self._choose(framework, state, pod, feasible, result)

    # Filtering

    def _find(
        self,
        framework: Framework,
        state: CycleState,
        pod: Pod,
        nodes: Sequence[NodeInfo],
        percentage: int,
        result: CycleResult,
    ) -> Sequence[NodeInfo] | None:
        """Return the nodes that fit; None after an error."""
        excluded: dict[str, Status] = {}
        allowed, status, restricting = framework.run_pre_filter(state, pod, nodes)
        if status is not None and not succeeded(status):
            if not status.rejected:
                return self._fail(result, status)
            result.diagnosis = Diagnosis(
                {node.name: status for node in nodes}, status.message, frozenset({status.plugin})
            )
            return []
        result.filtered = True
        nominated = self._nominated(framework, state, pod)
        if nominated is not None:
            return [nominated]
        examined = nodes
        if allowed.node_names is not None:
            examined = [node for node in nodes if node.name in allowed.node_names]
            status = unresolvable(not_satisfied(restricting)).by(restricting[0])
            excluded = {node.name: status for node in nodes if node.name not in allowed.node_names}
        passed, refused = self._examine(framework, state, pod, examined, nodes, percentage, result)
        self._start = (self._start + len(passed) + len(refused)) % len(nodes)
        if result.failed_with_error:
            return None
        if passed and not self._extenders:
            result.diagnosis = Diagnosis({**excluded, **refused} if excluded else refused)
            return passed
        if not excluded and not self._extenders:
            result.diagnosis = Diagnosis(refused, "", _plugins(refused) | set(restricting))
            return passed
        statuses = {**excluded, **dict(refused.items())}
        feasible = self._extend(pod, passed, statuses, result)
        if feasible is None:
            return None
        plugins = _plugins(statuses) | set(restricting)
        if len(feasible) != len(passed):
            plugins |= {EXTENDER}
        result.diagnosis = Diagnosis(statuses, "", plugins)
        return feasible

    def _nominated(self, framework: Framework, state: CycleState, pod: Pod) -> NodeInfo | None:
        """Return the nominated node if the pod fits on it; no other node is then examined."""
        uid = self._handle.cluster.info(pod).uid
        name = self._handle.nominator.node_of(uid)
        node = self._handle.cluster.nodes.get(name) if name else None
        if node is None or not succeeded(framework.filter_nodes(state, pod)(node)):
            return None
        left = self._extend(pod, [node], {}, CycleResult())
        return node if left else None

    def _examine(
        self,
        framework: Framework,
        state: CycleState,
        pod: Pod,
        nodes: Sequence[NodeInfo],
        everything: Sequence[NodeInfo],
        percentage: int,
        result: CycleResult,
    ) -> tuple[Sequence[NodeInfo], Mapping[str, Status]]:
        """Return the nodes that pass the filters, and the rejections.

        An error on any node still makes the attempt fail.
        """
        enough = nodes_to_find(len(nodes), percentage)
        if not framework.points["score"] and not any(e.is_filter or e.is_prioritizer for e in self._extenders):
            enough = 1
        check = framework.filter_nodes(state, pod)
        start = self._start % len(nodes) if nodes else 0
        if nodes is everything and check.remembers:
            scan = check.scan(nodes, start, enough)
            broken = scan.errors()
            feasible: Sequence[NodeInfo] = scan.passed
            refused: Mapping[str, Status] = check.refused(scan)
        else:
            passed, statuses = [], {}
            for node in (*nodes[start:], *nodes[:start]):
                status = check(node)
                if status is not None:
                    statuses[node.name] = status
                    continue
                passed.append(node)
                if len(passed) >= enough:
                    break
            feasible = passed
            broken = {name: status for name, status in statuses.items() if status.code is Code.ERROR}
            refused = {name: status for name, status in statuses.items() if status.code is not Code.ERROR}
        if broken:
            result.fatal = {name: status.message for name, status in broken.items()}
            result.best = [node.name for node in feasible]
            self._fail(result, next(iter(broken.values())))
        return feasible, refused

    def _extend(
        self, pod: Pod, nodes: Sequence[NodeInfo], statuses: dict[str, Status], result: CycleResult
    ) -> Sequence[NodeInfo] | None:
        """Return the nodes that the extenders accept; None after an error."""
        for extender in self._extenders:
            if not nodes:
                break
            if not extender.is_filter or not extender.is_interested(pod):
                continue
            try:
                answer = extender.filter(pod, nodes)
            except ExtenderError as problem:
                if extender.ignorable:
                    continue
                return self._fail(result, error(str(problem)))
            for name, reason in answer.unresolvable.items():
                statuses[name] = unresolvable(reason).by(EXTENDER)
            for name, reason in answer.failed.items():
                if name not in answer.unresolvable:
                    statuses[name] = unschedulable(reason).by(EXTENDER)
            nodes = [node for node in nodes if node.name in answer.nodes]
        return nodes

    @staticmethod
    def _fail(result: CycleResult, status: Status) -> None:
        """Record an error, which ends the attempt; an earlier nomination is void."""
        result.message, result.failed_with_error, result.unexplained = status.message, True, True
        result.nomination = NominatingInfo("")

    def _post_filter(self, framework: Framework, state: CycleState, pod: Pod, total: int, result: CycleResult) -> None:
        diagnosis = result.diagnosis
        assert diagnosis is not None
        text = ""
        if framework.points["postFilter"]:
            result.nomination, status = framework.run_post_filter(state, pod, diagnosis.statuses)
            text = status.message if status is not None else ""
        told = {(each.plugin, each.is_pending) for each, number in counts_of(diagnosis.statuses).items() if number}
        result.pending = frozenset(plugin for plugin, is_pending in told if is_pending)
        refusing = {plugin for plugin, is_pending in told if not is_pending}
        result.rejected_by = diagnosis.plugins - (result.pending - refusing) - {""}
        result.message = fit_error(total, diagnosis.statuses, pre_filter=diagnosis.pre_filter, post_filter=text)

    # Scoring

    def _choose(
        self, framework: Framework, state: CycleState, pod: Pod, feasible: Sequence[NodeInfo], result: CycleResult
    ) -> NodeInfo | None:
        """Return the chosen node; None after an error."""
        if len(feasible) == 1:
            result.best = [feasible[0].name]
            return feasible[0]
        status = framework.run_pre_score(state, pod, feasible)
        if status is not None:
            self._fail(result, status)
            return None
        table: dict[str, list[int]] = {}
        totals = framework.run_totals(state, pod, feasible, table if framework.tracer else None)
        if isinstance(totals, Status):
            self._fail(result, totals)
            return None
        self._prioritize(pod, feasible, totals)
        best = best_of(totals)
        result.best = BestNodes(feasible, best)
        if framework.tracer:
            framework.tracer.scored([node.name for node in feasible], table, result.best)
        return feasible[self._pick(best)]

    def _prioritize(self, pod: Pod, nodes: Sequence[NodeInfo], totals: list[int]) -> None:
        """Add the extenders' scores; like upstream, skip an extender that can't be called."""
        for extender in self._extenders:
            if not extender.is_prioritizer or not extender.is_interested(pod):
                continue
            try:
                scores = extender.prioritize(pod, nodes)
            except ExtenderError:
                continue
            for index, node in enumerate(nodes):
                totals[index] += scores.get(node.name, 0) * extender.weight * _EXTENDER_SCALE

    # Taking

    def _take(self, framework: Framework, state: CycleState, pod: Pod, node: NodeInfo, result: CycleResult) -> None:
        cluster = self._handle.cluster
        info = cluster.info(pod)
        cluster.assume(info, node.name)
        self._handle.nominator.clear(info.uid)
        status = framework.run_reserve(state, pod, node.name)
        if status is None:
            status = framework.run_permit(state, pod, node.name)
            if status is None or status.code is Code.WAIT:
                result.node = node.name
                return
        framework.run_unreserve(state, pod, node.name)
        cluster.forget(info, node.name)
        describe_rejection(status, node.name, result)


def _plugins(statuses: Mapping[str, Status]) -> frozenset[str]:
    return frozenset(each.plugin for each, number in counts_of(statuses).items() if number)


def describe_rejection(status: Status, node: str, result: CycleResult) -> None:
    """Describe a failure after a node was chosen. A rejection is worded as if this were the only node."""
    result.best = ()
    if status.rejected:
        result.message = fit_error(1, {node: status})
        result.rejected_by = frozenset({status.plugin}) - {""}
    else:
        result.message, result.failed_with_error, result.unexplained = status.message, True, True


def describe_binding_failure(status: Status, result: CycleResult) -> None:
    """Describe a failure in PreBind or Bind, with only its own text. No plugin is recorded as its cause."""
    result.message, result.failed_with_error, result.unexplained = status.message, not status.rejected, True
