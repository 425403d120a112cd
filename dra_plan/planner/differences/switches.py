"""Which feature gate, or which defect, makes a release or a set of gates answer otherwise: one is switched at a time.

A switch is the cause of a change if the state after, with that one switch as it was before, answers as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from dra_plan.documents.diff import ChangedClaimSet, DiffReason
from dra_plan.planner.allocation import AllocationPlan
from dra_plan.releases import DEFECTS, Target, target

from .claim_sets import changed_claim_sets

MOST_SWITCHES = 40
"""So many gates and defects are switched at most, those of the releases in their order."""
MOST_SETS = 50
"""So many claim sets are asked about again with each of them."""

Ask = Callable[[Target, Sequence[ChangedClaimSet]], AllocationPlan]
"""What the state after answers for these claim sets, seen as another target sees it."""


def with_switches(
    changed: Sequence[ChangedClaimSet], before: AllocationPlan, after: Target, ask: Ask
) -> list[ChangedClaimSet]:
    """The changed claim sets; those of which no reason is known yet with the switches that made the change."""
    decided = [one for one in changed if one.change not in ("Undecided", "New", "Gone")]
    open_ = [one for one in decided if not one.reasons][:MOST_SETS]
    found: dict[object, list[DiffReason]] = {}
    for number, (reason, other) in enumerate(_switched(before.target, after)):
        if not open_ or number >= MOST_SWITCHES:
            break
        still = {_key(one) for one in changed_claim_sets(before, ask(other, open_), lambda _: [])}
        for one in open_:
            if _key(one) not in still:
                found.setdefault(_key(one), []).append(reason)
    return [structs.replace(one, reasons=[*one.reasons, *found.get(_key(one), ())]) for one in changed]


def _key(one: ChangedClaimSet) -> object:
    if one.owner is not None:
        return one.owner.kind, one.owner.namespace, one.owner.name, one.part
    return tuple((claim.namespace, claim.name) for claim in one.claims)


def _switched(before: Target, after: Target) -> Iterator[tuple[DiffReason, Target]]:
    """Each switch that differs, and the target after with that one as it was before. A gate that is new was off."""
    for gate, is_on in after.gates.items():
        was = before.gates.get(gate, False)
        if is_on is was:
            continue
        other = target(after.release, {**after.gates, gate: was}, after.quirk_mode)
        other = other.with_quirks(after.quirks)
        if (other.features, other.rules) != (after.features, after.rules):
            yield DiffReason(code="gate-on" if is_on else "gate-off", gate=gate), other
    for defect in DEFECTS:
        now, was = (getattr(each.quirks, defect.quirk) for each in (after, before))
        if now is not was:
            code = "defect-began" if now else "defect-ended"
            reason = DiffReason(code=code, defect=defect.id, title=defect.title)
            yield reason, after.with_quirks(structs.replace(after.quirks, **{defect.quirk: was}))
