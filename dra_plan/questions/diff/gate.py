"""The gate rules for a ClusterDiff, which fails if anything is lost, or if bare pods run on drained nodes."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.allocator import Outcome
from dra_plan.documents.base import AppliedEdit, HeldDrain
from dra_plan.questions.diff.document import ChangedClaimSet, ChangedPod, DiffDocument, HeldDevice, new_edits
from dra_plan.text.gate import Gate, Judge, Verdict

Change = ChangedClaimSet | ChangedPod | HeldDevice


def _verdicts(gate: Gate, document: DiffDocument) -> list[Verdict]:
    changed: list[Change] = [*document.claim_sets, *document.pods, *document.held_devices]
    found = [Verdict.FAILED for one in changed if one.change == "Lost"]
    found += [gate.undecided for one in changed if one.change == "Undecided" and not _fits_in_both(one)]
    found += [Verdict.FAILED for one in document.selectors if one.lost or one.stops]
    found += [Verdict.FAILED for hold in new_holds(document) if not hold.allowed]
    found += [Verdict.FAILED for _ in never_recreated(document)]
    return found + ([Verdict.FAILED] if document.after.unsettled and not document.before.unsettled else [])


def never_recreated(document: DiffDocument) -> Iterator[ChangedPod]:
    """Yield the bare pods on nodes that are drained or removed only in the second state. They are not recreated."""
    left = {(pod.namespace, pod.name) for edit in _new_edits(document) if _empties(edit) for pod in edit.gone}
    for pod in document.pods:
        if pod.change == "Gone" and not pod.owner and (pod.namespace, pod.name) in left:
            yield pod


def _empties(edit: AppliedEdit) -> bool:
    return edit.edit == "Drain" or (edit.object is not None and edit.object.kind == "Node")


def _new_edits(document: DiffDocument) -> list[AppliedEdit]:
    return new_edits(document.before.what_if, document.after.what_if)


def new_holds(document: DiffDocument) -> Iterator[HeldDrain]:
    """Yield the disruption budgets that block drains only in the second state."""
    for edit in _new_edits(document):
        yield from edit.held_by


def _fits_in_both(one: Change) -> bool:
    """Return whether only the nodes of a claim set are undecided, not that it fits before and after."""
    if not isinstance(one, ChangedClaimSet) or one.before is None or one.after is None:
        return False
    return one.before.outcome is Outcome.FITS and one.after.outcome is Outcome.FITS


JUDGE = Judge(_verdicts)
