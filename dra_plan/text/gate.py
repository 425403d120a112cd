"""What a gate asks of an answer, and whether a claim set passes it. Exit status and reports follow it.

What it makes of the answers of one question is in the question's folder, in `gate.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from msgspec import UNSET

from dra_plan.allocator import Outcome
from dra_plan.documents.base import PrintedDocument
from dra_plan.documents.claim_sets import ExplainedClaimSet, PlannedClaimSet
from dra_plan.documents.refusals import ApiServerRefusal, Refusals

ClaimSetEntry = PlannedClaimSet | ExplainedClaimSet
D = TypeVar("D", bound=PrintedDocument)


class Verdict(Enum):
    """What a gate makes of one claim set or pod."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Gate(NamedTuple):
    """What is asked: by default that every claim set fits on some node, and every pod is bound.

    `min_copies` asks of an owner that there is room for that many copies, `min_nodes` of a claim set that it fits on
    that many nodes; `require_fit` takes what is undecided as failed, `no_warnings` every warning.
    """

    require_fit: bool = False
    min_nodes: int = 1
    min_copies: int = 0
    no_warnings: bool = False

    @property
    def undecided(self) -> Verdict:
        """What it makes of what is undecided."""
        return Verdict.FAILED if self.require_fit else Verdict.UNDECIDED

    def claim_set(self, claim_set: ClaimSetEntry) -> Verdict:
        """The verdict on a claim set of an AllocationPlan or an Explanation."""
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
    """What gates make of one kind of document."""

    verdicts: Callable[[Gate, D], list[Verdict]]
    """The verdicts on everything in it."""
    causes: Callable[[Gate, D], list[str]] = lambda _gate, _document: []
    """What failed, in a line; nothing where the tables say it already."""

    def all_verdicts(self, gate: Gate, document: D) -> list[Verdict]:
        """The verdicts on everything in the document, then on what the API server refuses, its warnings last."""
        warnings = [one for one in document.warnings if not one.is_note] if gate.no_warnings else []
        return [*self.verdicts(gate, document), *(Verdict.FAILED for _ in (*refusals_of(document), *warnings))]


def refusals_of(document: PrintedDocument) -> list[ApiServerRefusal]:
    """What the API server refuses of what the answer is about; some answers are about what is listed twice."""
    found: Refusals = getattr(document, "refusals", UNSET)
    return list(found or ())


def outcomes(claim_set: ClaimSetEntry) -> dict[Outcome, list[str]]:
    """The names of the nodes that are not excluded, by their outcome: of a plan's claim set or of an explanation's."""
    found: dict[Outcome, list[str]] = {}
    if isinstance(claim_set, PlannedClaimSet):
        for node in (each for each in claim_set.nodes if not each.excluded_by):
            found.setdefault(node.outcome, []).append(node.name)
    else:
        for story in claim_set.stories:
            found.setdefault(story.outcome, []).extend(story.nodes)
    return found
