"""The scheduler's messages without useless remarks on preemption, for narrow tables."""

from __future__ import annotations

import re

from dra_plan.scheduler.cycle import NOT_HELPFUL

_NO_HELP = re.compile(
    rf"(?: still not schedulable,)? preemption: 0/(\d+) nodes are available: \1 {re.escape(NOT_HELPFUL)}\.$"
)


def without(message: str) -> str:
    """Return the scheduler's message. The remark on preemption is removed if preemption cannot help on any node."""
    return _NO_HELP.sub("", message)
