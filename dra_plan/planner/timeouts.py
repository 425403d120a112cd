"""Nodes on which the release would probably not come to its answer in time: what `upstream-may-time-out` warns of."""

from __future__ import annotations

import math
import time

from dra_plan.allocator import Allocator, NodeOutcome, Outcome
from dra_plan.allocator.pruning_rules import ESCALATE_AFTER
from dra_plan.api.core import Node
from dra_plan.api.inventory import Notice
from dra_plan.claims.sets import ClaimSet
from dra_plan.releases import Target

from . import notices

FILTER_SECONDS = 10
"""kube-scheduler's default limit for the filter of one node."""

STEPS_PER_SECOND = 100_000
"""What the real allocator does. The recorded searches that were cut off after 60 s had done 16,000 to 410,000."""

NODES_JUDGED = 16
"""Long searches of one claim set of which the length is estimated, each at the cost of a tenth of a second."""

_NAMED = 3
_MOST_STEPS = 10**15
"""Beyond this, which would take the real allocator 300 years, a number of steps says no more."""


class TimeoutWatch:
    """Watches the answers for one claim set."""

    def __init__(self, target: Target, claim_set: ClaimSet, allocator: Allocator, deadline: float | None) -> None:
        self._target, self._claim_set, self._allocator = target, claim_set, allocator
        self._deadline = deadline
        self._judged = self._passed_over = 0
        self._late: dict[str, float] = {}

    def saw(self, node: Node, answer: NodeOutcome) -> None:
        """Estimates how long the release searches for this answer, if the search was long."""
        if not self._target.features.filter_timeout or not _was_long(answer):
            return
        late = self._deadline is not None and time.monotonic() > self._deadline
        if late or self._judged == NODES_JUDGED:
            self._passed_over += 1
            return
        self._judged += 1
        steps = self._allocator.effort(node, answer)
        if steps > FILTER_SECONDS * STEPS_PER_SECOND:
            self._late[answer.node] = steps

    def notices(self) -> list[Notice]:
        """The warning, if any node is marked."""
        if not self._late:
            return []
        names = list(self._late)
        named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        follows = "the pod's scheduling attempt" if self._target.rules.timeout_ends_attempt else "the search there"
        rest = f"; {self._passed_over} more nodes with long searches were not judged" if self._passed_over else ""
        message = (
            f"kube-scheduler {self._target.release} would probably pass its {FILTER_SECONDS} s for a node on {named}"
            f" ({_about(max(self._late.values()))} search steps), which ends {follows} without an answer{rest}"
        )
        return [Notice("upstream-may-time-out", message, *notices.about(self._claim_set))]


def _was_long(answer: NodeOutcome) -> bool:
    """Whether the plain search was given up; an error may have been met at any step of it."""
    return answer.steps > ESCALATE_AFTER and answer.outcome is not Outcome.ERROR


def _about(steps: float) -> str:
    """One digit: the estimate is no better. An estimate may be infinite."""
    if steps > _MOST_STEPS:
        return "more than 10^15"
    power = 10 ** math.floor(math.log10(steps))
    rounded = round(steps / power) * power
    return f"about {rounded // 10**6} million" if rounded < 10**9 else f"about {rounded:.0e}".replace("e+", "e")
