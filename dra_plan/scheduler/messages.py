"""The text of FailedScheduling: how the reasons of all nodes become one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .status import Status

NO_NODES = "no nodes available to schedule pods"
NOT_HELPFUL = "Preemption is not helpful for scheduling"


def fit_error(total: int, statuses: Mapping[str, Status], *, pre_filter: str = "", post_filter: str = "") -> str:
    """`0/N nodes are available: ...`: every reason with its count, sorted as text, or the reason for all nodes."""
    text = f"0/{total} nodes are available:"
    if pre_filter:
        text += f" {pre_filter}."
    else:
        counts = Counter([reason.text for status in statuses.values() for reason in status.reasons])
        reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
        if reasons:
            text += f" {', '.join(reasons)}."
    if post_filter:
        text += f" {post_filter}"
    return text
