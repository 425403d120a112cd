"""The scheduler's messages in tables that have little room: without what says of preemption that it is no help."""

from __future__ import annotations

import re

from dra_plan.scheduler.cycle import NOT_HELPFUL

_NO_HELP = re.compile(
    rf"(?: still not schedulable,)? preemption: 0/(\d+) nodes are available: \1 {re.escape(NOT_HELPFUL)}\.$"
)


def without(message: str) -> str:
    """The message up to that; whole if preemption could help on some node."""
    return _NO_HELP.sub("", message)
