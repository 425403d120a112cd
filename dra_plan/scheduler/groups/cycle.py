"""The cycle of a pod group, which tries its pods one after another with the ordinary algorithm, in each placement.

A pod that finds a node is held there while later pods are tried. At the end, all are released in reverse order. After
the cycle come placements (the domains of the group's topology key), the restriction of the cluster for a trial,
messages, and the search for the best placement. Nothing is bound or changed; `groups/scheduling.py` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import Enum

from msgspec import Struct, field

from dra_plan.api.scheduling import PodGroup
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_requests import CPU, MEMORY
from dra_plan.scheduler.cycle import Cycle, CycleResult, describe_rejection
from dra_plan.scheduler.framework.interface import MAX_NODE_SCORE, Handle, NominatingInfo
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.runtime import ASKED_TO_WAIT
from dra_plan.scheduler.framework.status import CycleState, GroupCycleState, Status
from dra_plan.scheduler.framework.types import QueuedPod


class GroupVerdict(Enum):
    """The outcome of a group's scheduling cycle."""

    SCHEDULED = "scheduled"
    PREEMPTING = "preempting"
    """Enough pods would have a node if less important pods were evicted."""
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"


class MemberAttempt(Struct):
    """The attempt to schedule one pod in the cycle of its group.

    `node` is the node on which the pod is placed, or "". `waits` is why Permit delays the pod.
    """

    item: QueuedPod
    state: CycleState
    result: CycleResult
    node: str = ""
    preempts: bool = False
    """True if less important pods have to be evicted from the node first."""
    waits: Sequence[Status] = ()


class GroupOutcome(Struct):
    """The result of a group's cycle. With the verdict ERROR, the last attempt is the one that failed."""

    verdict: GroupVerdict
    attempts: list[MemberAttempt] = field(default_factory=list)
    score: int = 0
    """The score of the placement, if there are several placements."""


class GroupCycle:
    """A runner of pod groups' scheduling cycles."""

    def __init__(self, handle: Handle, cycle: Cycle) -> None:
        self._handle = handle
        self._cycle = cycle

    def run(
        self,
        framework: Framework,
        group: PodGroup | None,
        items: Sequence[QueuedPod],
        percentage: int,
        *,
        makes_room: bool = True,
        domain: str = "",
        score: Callable[[], int] = lambda: 0,
    ) -> GroupOutcome:
        """Try to schedule the pods in order.

        If `makes_room` is set, pods without a node may preempt others. `domain` names the set of nodes in the trace.
        `score` returns the score of a successful result.
        """
        shared = GroupCycleState(group, domain)
        outcome = GroupOutcome(GroupVerdict.UNSCHEDULABLE)
        for item in items:
            attempt = self._try(framework, shared, item, percentage, makes_room=makes_room)
            outcome.attempts.append(attempt)
            if attempt.result.failed_with_error:
                break
        outcome.verdict = self._verdict(group, outcome.attempts)
        if outcome.verdict in (GroupVerdict.SCHEDULED, GroupVerdict.PREEMPTING):
            outcome.score = score()
        for attempt in reversed(outcome.attempts):
            if attempt.node:
                self._give_back(framework, attempt, attempt.node)
        return outcome

    def _try(
        self, framework: Framework, shared: GroupCycleState, item: QueuedPod, percentage: int, *, makes_room: bool
    ) -> MemberAttempt:
        state = CycleState(shared)
        if framework.tracer:
            name = "/".join(item.info.group or ())
            framework.tracer.begin(item.pod.key, item.attempts, self._handle.clock.now, name, shared.domain)
        result, chosen = self._cycle.find(framework, state, item.pod, percentage, makes_room=makes_room)
        attempt = MemberAttempt(item, state, result)
        if chosen is not None:
            self._hold(framework, attempt, chosen.name)
        elif result.nomination is not None and result.nomination.node:
            attempt.preempts = True
            self._hold(framework, attempt, result.nomination.node)
        if framework.tracer:
            framework.tracer.current.node, framework.tracer.current.message = attempt.node, result.message
        return attempt

    def _hold(self, framework: Framework, attempt: MemberAttempt, node: str) -> None:
        """Count the pod on the node for the rest of the cycle, unless Reserve or Permit rejects it."""
        pod = attempt.item.pod
        self._handle.cluster.assume(self._handle.cluster.info(pod), node)
        status = framework.run_reserve(attempt.state, pod, node)
        if status is None:
            status, waits = framework.ask_permit(attempt.state, pod, node)
            attempt.waits = [asked for asked, _ in waits.values()]
        if status is None:
            attempt.node = node
            return
        self._give_back(framework, attempt, node)
        describe_rejection(status, node, attempt.result)

    def _give_back(self, framework: Framework, attempt: MemberAttempt, node: str) -> None:
        pod = attempt.item.pod
        framework.run_unreserve(attempt.state, pod, node)
        self._handle.cluster.forget(self._handle.cluster.info(pod), node)

    def _verdict(self, group: PodGroup | None, attempts: Sequence[MemberAttempt]) -> GroupVerdict:
        """Return the verdict; there are enough pods as soon as Permit lets one of them through.

        Any pod that preempts then delays all pods. If the defect is fixed, it delays them only if the other pods are
        not enough.
        """
        if any(attempt.result.failed_with_error for attempt in attempts):
            return GroupVerdict.ERROR
        if not any(attempt.node and not attempt.waits for attempt in attempts):
            return GroupVerdict.UNSCHEDULABLE
        preempting = sum(bool(attempt.node) and attempt.preempts for attempt in attempts)
        if not preempting:
            return GroupVerdict.SCHEDULED
        if self._handle.target.quirks.extra_pod_holds_back or group is None:
            return GroupVerdict.PREEMPTING
        key = (group.metadata.namespace, group.metadata.name)
        left = len(self._handle.cluster.groups.on_nodes(key)) - preempting
        return GroupVerdict.SCHEDULED if left >= max(group.min_count, 1) else GroupVerdict.PREEMPTING


# -- placements of a group ---------------------------------------------------------------------------------------------
# A placement for the whole group is one domain of its topology key; if there are several, one is chosen.


class PlacementError(Exception):
    """The error raised if the nodes of a group's pods do not determine its domain. The message is upstream's."""


class GroupPlacement(Struct, frozen=True):
    """The nodes of one domain. None stands for all nodes of the cluster."""

    domain: str = ""
    nodes: frozenset[str] | None = None


def placements(cluster: SimulatedCluster, key: GroupKey, group: PodGroup | None) -> list[GroupPlacement]:
    """Return a placement for each value of the group's topology key, in node order.

    Without a topology key, there is one placement with all nodes. If pods of the group already have nodes, these
    determine the domain. Raises PlacementError if these nodes are in no domain or in several.
    """
    label = group.topology_key if group is not None else ""
    if not label:
        return [GroupPlacement()]
    domains: dict[str, list[str]] = {}
    for node in cluster.nodes.values():
        if label in node.labels:
            domains.setdefault(node.labels[label], []).append(node.name)
    fixed = _fixed(cluster, key, label)
    return [GroupPlacement(name, frozenset(nodes)) for name, nodes in domains.items() if fixed is None or name == fixed]


def _fixed(cluster: SimulatedCluster, key: GroupKey, label: str) -> str | None:
    """Return the domain that already has pods in the group; if there are several, upstream mentions two at random."""
    found: dict[str, None] = {}
    for info in cluster.groups.on_nodes(key):
        node = cluster.nodes.get(cluster.groups.node_of(info.uid))
        domain = node.labels.get(label) if node is not None else None
        if domain is None:
            raise PlacementError(_undetermined(f"no topology domain found for pod {info.pod.key}"))
        found[domain] = None
    if len(found) > 1:
        raise PlacementError(_undetermined(f"more than 1 domain found for pod group: {', '.join(sorted(found)[:2])}"))
    return next(iter(found), None)


def _undetermined(why: str) -> str:
    return f"cannot determine domain for already scheduled pods: {why}"


def best(outcomes: Sequence[GroupOutcome], counts: Sequence[int]) -> int:
    """Return the index of the best successful outcome.

    An outcome is rated by its score, and by its number of pods (`counts`) relative to the largest number.
    """
    most = max(counts)
    scores = [count * MAX_NODE_SCORE // most + outcome.score for outcome, count in zip(outcomes, counts, strict=True)]
    return scores.index(max(scores))


def fullness(nodes: Sequence[NodeInfo]) -> int:
    """Return how much of the nodes' CPU and memory is in use, as a percentage from 0 to 100.

    NodeResourcesFit uses this as the score of a placement.
    """
    used = {CPU: sum(n.scored_cpu for n in nodes), MEMORY: sum(n.scored_memory for n in nodes)}
    scores = []
    for name, amount in used.items():
        capacity = sum(node.allocatable.get(name, 0) for node in nodes)
        if capacity > 0:
            scores.append(min(amount, capacity) * MAX_NODE_SCORE // capacity)
    return sum(scores) // len(scores) if scores else 0


# -- restricting the cluster for a trial -------------------------------------------------------------------------------
# The cluster has only some of its nodes, or some pods are removed; everything is undone at the end.


@contextmanager
def only(cluster: SimulatedCluster, names: Collection[str]) -> Iterator[None]:
    """Return a context in which the cluster has only these nodes. Changes must be undone before it ends."""
    everything = cluster.nodes
    cluster.see({name: info for name, info in everything.items() if name in names})
    try:
        yield
    finally:
        cluster.see(everything)


@contextmanager
def same_order(cluster: SimulatedCluster) -> Iterator[None]:
    """Return a context that restores the order of the pods on each node when it ends.

    Pods that are removed in the context must be put back.
    """
    before = {name: list(info.pods) for name, info in cluster.nodes.items()}
    try:
        yield
    finally:
        for name, uids in before.items():
            pods = cluster.nodes[name].pods
            if list(pods) != uids:
                cluster.nodes[name].pods = {uid: pods[uid] for uid in uids}


# -- messages about a group --------------------------------------------------------------------------------------------
# These are the scheduler's messages for a group's pods and the group itself (docs/framework.md, Pod groups).

UNSCHEDULABLE = "pod group is unschedulable"
PREEMPTING = "pod group is waiting for preemption to complete"
NO_PLACEMENT = "no feasible placements found"


def others_failed(error: str) -> str:
    """Return the message for the other pods of a group if one pod fails with an error."""
    return f"failed to schedule other pod from a pod group: {error}"


def different_schedulers(first: str, second: str) -> str:
    """Return the message for pods of a group that name different schedulers."""
    what = "all pods in a single pod group should have the same .spec.schedulerName set"
    return f'{what}, got: "{first}" and "{second}"'


def no_placement_fits(count: int, first: str) -> str:
    """Return the message for a group that fits in none of its placements."""
    return f"0/{count} placements are available, first placement status: {first}"


def held_back(attempt: MemberAttempt) -> CycleResult:
    """Return the result for a pod that found a node although its group did not find enough nodes.

    The pod is not nominated. If it failed to bind earlier, it keeps its older nomination, which is still in its status.
    """
    reasons = [status.message for status in attempt.waits]
    nomination = NominatingInfo(attempt.item.announced) if attempt.preempts or attempt.item.announced else None
    return CycleResult(message=", ".join([UNSCHEDULABLE, *reasons, ASKED_TO_WAIT]), nomination=nomination)


def waits_for_preemption(node: str) -> CycleResult:
    """Return the result for a pod that found a node while its group waits for preemption.

    `node` is the node that the pod is nominated to, or "".
    """
    return CycleResult(message=f"{UNSCHEDULABLE}, {PREEMPTING}", nomination=NominatingInfo(node) if node else None)


def failed(error: str) -> CycleResult:
    """Return the result for a pod whose group's cycle ended with an error."""
    return CycleResult(message=error, failed_with_error=True, unexplained=True, nomination=NominatingInfo(""))


# -- searching for the best placement ----------------------------------------------------------------------------------


class GroupTask(Struct, frozen=True):
    """A group and those of its pods that are tried together, in order."""

    key: GroupKey
    group: PodGroup | None
    items: Sequence[QueuedPod]
    framework: Framework
    percentage: int
    """The percentage of nodes at which the search for feasible nodes stops."""


class GroupAnswer(Struct):
    """The outcome for a group's pods. `message` is the group's own message if it is not scheduled."""

    outcome: GroupOutcome
    message: str = ""
    for_all: str = ""
    """The message for every pod if no pods were tried."""


class GroupSearch:
    """A search for a placement of a group."""

    def __init__(self, handle: Handle, cycle: GroupCycle) -> None:
        self._handle = handle
        self._cycle = cycle

    def run(self, task: GroupTask, *, makes_room: bool = True) -> GroupAnswer:
        """Return the outcome in the best placement that has room for enough pods.

        If there is none, return the outcome in the first placement.
        """
        try:
            where = placements(self._handle.cluster, task.key, task.group)
        except PlacementError as problem:
            return GroupAnswer(GroupOutcome(GroupVerdict.ERROR), str(problem), str(problem))
        if not where:
            return GroupAnswer(GroupOutcome(GroupVerdict.UNSCHEDULABLE), NO_PLACEMENT, NO_PLACEMENT)
        outcomes = []
        for placement in where:
            outcome = self._try(task, placement, makes_room=makes_room)
            if outcome.verdict is GroupVerdict.ERROR:
                return GroupAnswer(outcome, others_failed(outcome.attempts[-1].result.message))
            outcomes.append(outcome)
        fitting = [outcome for outcome in outcomes if outcome.verdict is not GroupVerdict.UNSCHEDULABLE]
        if fitting:
            chosen = fitting[best(fitting, [self._count(task, outcome) for outcome in fitting])]
            waits = chosen.verdict is GroupVerdict.PREEMPTING
            return GroupAnswer(chosen, f"{UNSCHEDULABLE}, {PREEMPTING}" if waits else "")
        message = UNSCHEDULABLE
        if self._handle.target.features.topology_placement:
            message = no_placement_fits(len(where), message)
        return GroupAnswer(outcomes[0], message)

    def _try(self, task: GroupTask, placement: GroupPlacement, *, makes_room: bool) -> GroupOutcome:
        cluster = self._handle.cluster
        with only(cluster, placement.nodes) if placement.nodes is not None else nullcontext():
            return self._cycle.run(
                task.framework,
                task.group,
                task.items,
                task.percentage,
                makes_room=makes_room,
                domain=placement.domain,
                score=lambda: fullness(list(cluster.nodes.values())) if placement.nodes is not None else 0,
            )

    def _count(self, task: GroupTask, outcome: GroupOutcome) -> int:
        """Return how many of the group's pods have a node, including those that would get one."""
        new = sum(bool(attempt.node) for attempt in outcome.attempts)
        return len(self._handle.cluster.groups.on_nodes(task.key)) + new
