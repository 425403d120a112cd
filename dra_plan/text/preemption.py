"""The scheduler's messages for narrow tables, without the part that says that preemption does not help."""

from __future__ import annotations

import re

from dra_plan.scheduler.cycle import NOT_HELPFUL

_NO_HELP = re.compile(
    rf"(?: still not schedulable,)? preemption: 0/(\d+) nodes are available: \1 {re.escape(NOT_HELPFUL)}\.$"
)


def without(message: str) -> str:
    """Return the scheduler's message.

    The part about preemption is left out if preemption could not help on any node.
    """
    return _NO_HELP.sub("", message)
