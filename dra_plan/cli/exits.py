"""Exit statuses: one table for every command and every output format."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_plan.output.gate import Gate, Gated


class Exit(IntEnum):
    """What the exit status says. A status never depends on the output format or on reports."""

    OK = 0
    DOES_NOT_FIT = 1
    USAGE = 2
    UNDECIDED = 3
    INTERNAL = 4
    INTERRUPTED = 130
    """128 + SIGINT, as a shell reports it."""
    BROKEN_PIPE = 141
    """128 + SIGPIPE: the reader of standard output went away."""


def of_document(document: Gated, gate: Gate | None = None) -> Exit:
    """The status of a plan, as the gate judges it: what fails wins over what is undecided.

    A gate that somebody has set, and that failed, says so on standard error, in one line.
    """
    from dra_plan.output.gate import Gate, Verdict

    gate = gate or Gate()
    verdicts = gate.verdicts(document)
    if Verdict.FAILED in verdicts:
        if gate != Gate():
            from dra_plan.output.gate_words import failure

            from .printing import print_note

            said = failure(gate, document)
            if said:
                print_note(said)
        return Exit.DOES_NOT_FIT
    return Exit.UNDECIDED if Verdict.UNDECIDED in verdicts else Exit.OK
