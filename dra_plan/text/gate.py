"""Gates, which are conditions on a result, and the verdict on each claim set.

Exit status and reports depend on the verdict.

The rules for one command's results are in `gate.py` in the command's folder.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from msgspec import UNSET

from dra_plan.allocator import Outcome
from dra_plan.api.inventory import Notice
from dra_plan.documents.base import PrintedDocument
from dra_plan.documents.claim_sets import ExplainedClaimSet, PlannedClaimSet
from dra_plan.documents.refusals import ApiServerRefusal, Refusals

ClaimSetEntry = PlannedClaimSet | ExplainedClaimSet
D = TypeVar("D", bound=PrintedDocument)


class Verdict(Enum):
    """The verdict of a gate on one claim set or pod."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Gate(NamedTuple):
    """The conditions; the default is that every claim set fits on some node and every pod is bound.

    `min_copies` requires that at least this many copies of an owner fit, and `min_nodes` that a claim set fits on at
    least this many nodes. With `require_fit`, undecided results count as failed, and so do inputs in which something in
    use is missing. With `no_warnings`, every warning counts.
    """

    require_fit: bool = False
    min_nodes: int = 1
    min_copies: int = 0
    no_warnings: bool = False

    def counts(self, warning: Notice) -> bool:
        """Return whether the gate fails because of this warning."""
        return not warning.is_note and (self.no_warnings or (self.require_fit and warning.is_partial))

    @property
    def undecided(self) -> Verdict:
        """Return the verdict on undecided claim sets and pods."""
        return Verdict.FAILED if self.require_fit else Verdict.UNDECIDED

    def claim_set(self, claim_set: ClaimSetEntry) -> Verdict:
        """Return the verdict on a claim set in an AllocationPlan or an Explanation."""
        if claim_set.outcome in (Outcome.ERROR, Outcome.REFUSED):
            return Verdict.FAILED
        if claim_set.outcome is Outcome.UNKNOWN:
            return self.undecided
        fitting = len(claim_set.fitting_nodes)
        if fitting >= self.min_nodes:
            return Verdict.PASSED
        if fitting + len(outcomes(claim_set).get(Outcome.UNDECIDED, ())) < self.min_nodes:
            return Verdict.FAILED
        return self.undecided


class Judge(NamedTuple, Generic[D]):
    """The gate functions of one kind of document."""

    verdicts: Callable[[Gate, D], list[Verdict]]
    """A function that returns the verdicts on everything in the document."""
    causes: Callable[[Gate, D], list[str]] = lambda _gate, _document: []
    """A function that returns the failures in one line; nothing if the tables already show the failures."""

    def all_verdicts(self, gate: Gate, document: D) -> list[Verdict]:
        """Return the verdicts on everything in the document, on what the API server rejects, and on the warnings."""
        warnings = [one for one in document.warnings if gate.counts(one)]
        return [*self.verdicts(gate, document), *(Verdict.FAILED for _ in (*refusals_of(document), *warnings))]


def refusals_of(document: PrintedDocument) -> list[ApiServerRefusal]:
    """Return what the API server rejects, or nothing for documents without this field."""
    found: Refusals = getattr(document, "refusals", UNSET)
    return list(found or ())


def outcomes(claim_set: ClaimSetEntry) -> dict[Outcome, list[str]]:
    """Return the names of nodes that are not excluded, by outcome, for a claim set in a plan or an explanation."""
    found: dict[Outcome, list[str]] = {}
    if isinstance(claim_set, PlannedClaimSet):
        for node in (each for each in claim_set.nodes if not each.excluded_by):
            found.setdefault(node.outcome, []).append(node.name)
    else:
        for story in claim_set.stories:
            found.setdefault(story.outcome, []).extend(story.nodes)
    return found
