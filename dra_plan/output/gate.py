"""What a gate asks of an answer, and whether a claim set or a pod passes it. Exit status and reports follow it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import UNSET

from dra_plan.allocator import Outcome
from dra_plan.documents.allocation import AllocationDocument, PlannedClaimSet
from dra_plan.documents.capacity import CapacityDocument, MixCapacity, OwnerCapacity
from dra_plan.documents.diff import ChangedClaimSet, ChangedPod, DiffDocument, HeldDevice
from dra_plan.documents.drains import DrainsDocument
from dra_plan.documents.explanation import ExplainedClaimSet, ExplanationDocument
from dra_plan.documents.growth import GrowthDocument
from dra_plan.documents.placement import PlacementDocument
from dra_plan.documents.schedule import ScheduleDocument, ScheduledPod

ClaimSetEntry = PlannedClaimSet | ExplainedClaimSet
Gated = (
    AllocationDocument
    | CapacityDocument
    | DiffDocument
    | DrainsDocument
    | ExplanationDocument
    | GrowthDocument
    | PlacementDocument
    | ScheduleDocument
)

Change = ChangedClaimSet | ChangedPod | HeldDevice
"""What a gate of `diff` asks about."""


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

    def claim_set(self, claim_set: ClaimSetEntry) -> Verdict:
        """The verdict on a claim set of an AllocationPlan or an Explanation."""
        if claim_set.outcome is Outcome.ERROR:
            return Verdict.FAILED
        fitting = len(claim_set.fitting_nodes)
        if fitting >= self.min_nodes:
            return Verdict.PASSED
        if fitting + len(outcomes(claim_set).get(Outcome.UNDECIDED, ())) < self.min_nodes:
            return Verdict.FAILED
        return self._undecided()

    def pod(self, pod: ScheduledPod) -> Verdict:
        """The verdict on a pod of a SchedulePlan. A pod that is left alone passes."""
        if pod.outcome in ("Bound", "Skipped"):
            return Verdict.PASSED
        return self._undecided() if pod.is_undecided else Verdict.FAILED

    def capacity(self, item: OwnerCapacity) -> Verdict:
        """The verdict on an item of a CapacityPlan: whether there is room for so many copies."""
        found, best = item.scheduled, item.possible
        if found.copies >= self.min_copies and (self.min_copies or found.ended != "Undecided"):
            return Verdict.PASSED
        is_short = best is not None and best.at_most is not None and best.at_most < self.min_copies
        return self._undecided() if found.ended in ("Undecided", "Limit") and not is_short else Verdict.FAILED

    def mix(self, mix: MixCapacity, items: Sequence[OwnerCapacity]) -> Verdict:
        """The verdict on owners that are counted together: whether there is room for so many sets."""
        ends = {item.scheduled.ended for item in items}
        if mix.sets >= self.min_copies and (self.min_copies or "Undecided" not in ends):
            return Verdict.PASSED
        return self._undecided() if ends & {"Undecided", "Limit"} else Verdict.FAILED

    def _undecided(self) -> Verdict:
        return Verdict.FAILED if self.require_fit else Verdict.UNDECIDED

    def verdicts(self, document: Gated) -> list[Verdict]:
        """The verdicts on everything in the document, its warnings last."""
        if isinstance(document, ScheduleDocument):
            found = [self.pod(pod) for pod in document.pods]
            if document.settled and document.settled.unsettled is not None:
                found.append(Verdict.FAILED)
        elif isinstance(document, DiffDocument):
            changed: list[Change] = [*document.claim_sets, *document.pods, *document.held_devices]
            found = [Verdict.FAILED for one in changed if one.change == "Lost"]
            found += [self._undecided() for one in changed if one.change == "Undecided" and not _fits_in_both(one)]
        elif isinstance(document, DrainsDocument):
            lost = [pod for node in document.nodes for pod in node.lost]
            found = [self._undecided() if pod.undecided else Verdict.FAILED for pod in lost]
            found += [self._undecided() for node in document.nodes for _ in node.undecided]
        elif isinstance(document, GrowthDocument):
            found = [Verdict.FAILED for _ in document.beyond_help]
            found += [self._undecided()] if document.outcome == "Undecided" else []
        elif isinstance(document, PlacementDocument):
            verdicts = {"Placed": Verdict.PASSED, "Impossible": Verdict.FAILED, "Undecided": self._undecided()}
            found = [verdicts[document.outcome]]
        elif isinstance(document, CapacityDocument):
            found = [self.capacity(item) for item in document.items]
            if document.mix is not UNSET:
                found = [self.mix(document.mix, document.items)]
        else:
            found = [self.claim_set(claim_set) for claim_set in document.claim_sets]
        if self.no_warnings:
            found += [Verdict.FAILED for _ in document.warnings]
        return found


def _fits_in_both(one: Change) -> bool:
    """Whether only the nodes are undecided on which a claim set fits, not that it fits before and after."""
    if not isinstance(one, ChangedClaimSet) or one.before is None or one.after is None:
        return False
    return one.before.outcome is Outcome.FITS and one.after.outcome is Outcome.FITS


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
