"""Gates, which are conditions on a result, and their verdicts on claim sets and pods.

Verdicts determine the exit status and the reports. Each command's `gate.py` applies gates to the command's results.
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
    """A gate's verdict on a claim set or pod."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Gate(NamedTuple):
    """The conditions that a result must meet.

    By default, every claim set must fit on a node, and every pod must be bound. `min_copies` is the number of copies of
    each owner that must fit, and `min_nodes` is the number of nodes on which each claim set must fit. With
    `require_fit`, undecided results count as failed, and so do results for an input that lacks an object in use. With
    `no_warnings`, every warning counts as a failure.
    """

    require_fit: bool = False
    min_nodes: int = 1
    min_copies: int = 0
    no_warnings: bool = False

    def counts(self, warning: Notice) -> bool:
        """Return whether this warning makes the gate fail."""
        return not warning.is_note and (self.no_warnings or (self.require_fit and warning.is_partial))

    @property
    def undecided(self) -> Verdict:
        """Return the verdict on undecided claim sets and pods."""
        return Verdict.FAILED if self.require_fit else Verdict.UNDECIDED

    def claim_set(self, claim_set: ClaimSetEntry) -> Verdict:
        """Return the verdict on a claim set of an AllocationPlan or an Explanation."""
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
    """The functions with which a gate is applied to one kind of document."""

    verdicts: Callable[[Gate, D], list[Verdict]]
    """A function that returns the verdicts on everything in the document."""
    causes: Callable[[Gate, D], list[str]] = lambda _gate, _document: []
    """A function that returns a line for each failure that the tables do not already show."""

    def all_verdicts(self, gate: Gate, document: D) -> list[Verdict]:
        """Return the verdicts on everything in the document, including rejected objects and warnings."""
        warnings = [one for one in document.warnings if gate.counts(one)]
        return [*self.verdicts(gate, document), *(Verdict.FAILED for _ in (*refusals_of(document), *warnings))]


def refusals_of(document: PrintedDocument) -> list[ApiServerRefusal]:
    """Return the API server's rejections in the document, which may be empty."""
    found: Refusals = getattr(document, "refusals", UNSET)
    return list(found or ())


def outcomes(claim_set: ClaimSetEntry) -> dict[Outcome, list[str]]:
    """Return the names of the nodes from which the pods are not excluded, by the claim set's outcome on them."""
    found: dict[Outcome, list[str]] = {}
    if isinstance(claim_set, PlannedClaimSet):
        for node in (each for each in claim_set.nodes if not each.excluded_by):
            found.setdefault(node.outcome, []).append(node.name)
    else:
        for story in claim_set.stories:
            found.setdefault(story.outcome, []).extend(story.nodes)
    return found
