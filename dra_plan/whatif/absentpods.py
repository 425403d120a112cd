"""The warning that pods have to leave of which nothing is known but that claims are reserved for them."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.api.inventory import Notice

MOST_NAMED = 3
"""Pods that the warning names before it counts the rest."""


def absent_pods_notice(pods: Sequence[str], event: str, node: str = "") -> Notice:
    """What happens to these pods, NAMESPACE/NAME, in the event is not known; what brings them."""
    them, are, whose = ("it", "a pod", "its") if len(pods) == 1 else ("them", "pods", "their")
    rest = len(pods) - MOST_NAMED
    named = ", ".join(pods[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    return Notice(
        "pods-missing",
        f"claims are reserved for {are} not in the input ({named}): what {event} does to {them} is not said,"
        f" and {whose} devices stay in use: add the output of `kubectl get pods -A -o yaml`",
        f"Node {node}" if node else "",
    )
