"""What the pods of a group are told, and the group itself: the scheduler's words (docs/framework.md, Pod groups)."""

from __future__ import annotations

from dra_plan.scheduler.cycle import CycleResult
from dra_plan.scheduler.framework import NominatingInfo
from dra_plan.scheduler.runtime.binding import ASKED_TO_WAIT

from .cycle import MemberAttempt

UNSCHEDULABLE = "pod group is unschedulable"
PREEMPTING = "pod group is waiting for preemption to complete"
NO_PLACEMENT = "no feasible placements found"


def others_failed(error: str) -> str:
    """An error of one pod, as the others are told of it."""
    return f"failed to schedule other pod from a pod group: {error}"


def different_schedulers(first: str, second: str) -> str:
    """Why pods of one group can't be scheduled that belong to different profiles."""
    what = "all pods in a single pod group should have the same .spec.schedulerName set"
    return f'{what}, got: "{first}" and "{second}"'


def no_placement_fits(count: int, first: str) -> str:
    """The group's message where none of its placements is large enough."""
    return f"0/{count} placements are available, first placement status: {first}"


def held_back(attempt: MemberAttempt) -> CycleResult:
    """For a pod that found a node, in a group that did not find enough.

    Nothing is nominated for it now; if it failed to bind before, its status still names the node, and that counts.
    """
    reasons = [status.message for status in attempt.waits]
    nomination = NominatingInfo(attempt.item.announced) if attempt.preempts or attempt.item.announced else None
    return CycleResult(message=", ".join([UNSCHEDULABLE, *reasons, ASKED_TO_WAIT]), nomination=nomination)


def waits_for_preemption(node: str) -> CycleResult:
    """For a pod that found a node, in a group that waits for others to make room; "" if no node is kept for it."""
    return CycleResult(message=f"{UNSCHEDULABLE}, {PREEMPTING}", nomination=NominatingInfo(node) if node else None)


def failed(error: str) -> CycleResult:
    """For a pod of a group that ended in an error."""
    return CycleResult(message=error, failed_with_error=True, unexplained=True, nomination=NominatingInfo(""))
