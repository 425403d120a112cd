"""The scheduler's messages in tables that have little room: without what says of preemption that it is no help."""

from __future__ import annotations

import re

_NO_HELP = re.compile(
    r"(?: still not schedulable,)? preemption: 0/(\d+) nodes are available:"
    r" \1 Preemption is not helpful for scheduling\.$"
)


def without(message: str) -> str:
    """The message up to that; whole if preemption could help on some node."""
    return _NO_HELP.sub("", message)
