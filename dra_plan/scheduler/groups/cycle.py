"""The cycle of a pod group: its pods one after the other through the ordinary algorithm, and what that comes to.

Each pod that finds a node is held there while the later ones are tried; at the end everything is given back, last
first. Nothing is bound here, and nothing that was there before is changed: that is `commit`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from dra_plan.api.scheduling import PodGroup
from dra_plan.scheduler.cycle import Cycle, CycleResult, describe_rejection
from dra_plan.scheduler.cyclestate import CycleState, GroupCycleState
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.queuedpod import QueuedPod
from dra_plan.scheduler.runtime import Framework
from dra_plan.scheduler.status import Status


class GroupVerdict(Enum):
    """What becomes of a group in one cycle."""

    SCHEDULED = "scheduled"
    PREEMPTING = "preempting"
    """Enough pods would have a node, once the pods that are in the way of some of them are gone."""
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"


@dataclass(slots=True)
class MemberAttempt:
    """One pod's part in a cycle. `node` is where it was held, "" if nowhere; `waits` is why Permit holds it back."""

    item: QueuedPod
    state: CycleState
    result: CycleResult
    node: str = ""
    preempts: bool = False
    """The node is one on which less important pods have to make room first."""
    waits: Sequence[Status] = ()


@dataclass(slots=True)
class GroupOutcome:
    """What a cycle came to. With the verdict ERROR the last attempt is the one that failed."""

    verdict: GroupVerdict
    attempts: list[MemberAttempt] = field(default_factory=list)
    score: int = 0
    """How good the placement is, if there are several."""


class GroupCycle:
    """Runs cycles of groups."""

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
        """Try the pods in order. `makes_room`: pods without a node may preempt. `score` is asked of a success.

        `domain` is what the trace calls the nodes.
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
        """Count the pod on the node for the rest of the cycle, unless Reserve or Permit refuses."""
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
        """As soon as Permit lets one pod through, there are enough; then one that preempts holds all of them back.

        Repaired, it does only where it is needed.
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
