"""The gate rules for a CapacityPlan."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from dra_plan.questions.capacity.document import CapacityDocument, MixCapacity, OwnerCapacity
from dra_plan.text.gate import Gate, Judge, Verdict


def of_owner(gate: Gate, item: OwnerCapacity) -> Verdict:
    """Return whether enough copies of an owner fit."""
    found, best = item.scheduled, item.possible
    if found.ended == "Refused" and (not found.copies or found.copies < gate.min_copies):
        return Verdict.FAILED
    if found.copies >= gate.min_copies and (gate.min_copies or found.ended != "Undecided"):
        return Verdict.PASSED
    is_short = best is not None and best.at_most is not None and best.at_most < gate.min_copies
    return gate.undecided if found.ended in ("Undecided", "Limit") and not is_short else Verdict.FAILED


def of_mix(gate: Gate, mix: MixCapacity, items: Sequence[OwnerCapacity]) -> Verdict:
    """Return whether enough sets of copies fit if the owners are counted together."""
    ends = {item.scheduled.ended for item in items}
    if "Refused" in ends and (not mix.sets or mix.sets < gate.min_copies):
        return Verdict.FAILED
    if mix.sets >= gate.min_copies and (gate.min_copies or "Undecided" not in ends):
        return Verdict.PASSED
    return gate.undecided if ends & {"Undecided", "Limit"} else Verdict.FAILED


def _verdicts(gate: Gate, document: CapacityDocument) -> list[Verdict]:
    if document.mix is not UNSET:
        return [of_mix(gate, document.mix, document.items)]
    return [of_owner(gate, item) for item in document.items]


def _causes(gate: Gate, document: CapacityDocument) -> list[str]:
    from dra_plan.questions.capacity.text import copied_owner
    from dra_plan.text.gate_words import cause
    from dra_plan.text.words import counted

    few = [
        f"{copied_owner(item.owner)} for {item.scheduled.copies}"
        for item in document.items
        if of_owner(gate, item) is Verdict.FAILED
    ]
    if document.mix is not UNSET:
        is_short = of_mix(gate, document.mix, document.items) is Verdict.FAILED
        few = [f"all together for {document.mix.sets}"] if is_short else []
    noun = ("copy", "copies") if document.mix is UNSET else ("whole set",)
    enough = counted(gate.min_copies, *noun)
    verbs = [f"{verb} room for fewer than {enough} (--at-least)" for verb in ("has", "have")]
    return cause(few, "workload", *verbs)


JUDGE = Judge(_verdicts, _causes)
