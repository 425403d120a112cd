"""Exit statuses: one table for every command and every output format."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """What the exit status says. A status never depends on the output format."""

    OK = 0
    DOES_NOT_FIT = 1
    USAGE = 2
    UNDECIDED = 3
    INTERNAL = 4
    INTERRUPTED = 130
    """128 + SIGINT, as a shell reports it."""
    BROKEN_PIPE = 141
    """128 + SIGPIPE: the reader of standard output went away."""


def of_allocation_plan(document: dict[str, Any]) -> Exit:
    """The status of an AllocationPlan: a set that does not fit wins over one that is undecided."""
    outcomes = {claim_set["outcome"] for claim_set in document["claimSets"]}
    if outcomes & {"DoesNotFit", "Error"}:
        return Exit.DOES_NOT_FIT
    if "Undecided" in outcomes:
        return Exit.UNDECIDED
    return Exit.OK


def of_schedule_plan(document: dict[str, Any]) -> Exit:
    """The status of a SchedulePlan: 1 if a pod stays unbound, unless only the step budget is to blame for it."""
    unbound = [pod for pod in document["pods"] if pod["outcome"] not in ("Bound", "Skipped")]
    if any("undecidedNodes" not in pod for pod in unbound):
        return Exit.DOES_NOT_FIT
    return Exit.UNDECIDED if unbound else Exit.OK
