"""The line that says why a gate failed."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.allocator import Outcome
from dra_plan.text import refusals
from dra_plan.text.gate import ClaimSetEntry, D, Gate, Judge, Verdict, refusals_of
from dra_plan.text.naming import claim_set_name
from dra_plan.text.words import counted, listed


def failure(gate: Gate, judge: Judge[D], document: D) -> str:
    """Return a line that lists all failures of gates that were set explicitly, or "" if there are none."""
    if gate == Gate():
        return ""
    causes = judge.causes(gate, document)
    if refused := refusals_of(document):
        objects = list(dict.fromkeys(one.object for one in refused))
        causes.append(f"{refusals.headline(refused).replace('The', 'the', 1)}: {listed(objects)}")
    counting = [warning for warning in document.warnings if gate.counts(warning)]
    if counting:
        codes = list(dict.fromkeys(warning.code for warning in counting))
        option = "--fail-on warning" if gate.no_warnings else "--require-fit"
        causes.append(f"{counted(len(counting), 'warning')} ({option}): {listed(codes)}")
    return f"gate failed: {'; '.join(causes)}" if causes else ""


def of_claim_sets(gate: Gate, claim_sets: Sequence[ClaimSetEntry]) -> list[str]:
    """Return a line for each kind of failure, naming the claim sets that failed."""
    usual = Gate()
    refused, undecided, few = [], [], []
    for claim_set in claim_sets:
        if gate.claim_set(claim_set) is not Verdict.FAILED or claim_set.outcome is Outcome.REFUSED:
            continue
        name = claim_set_name(claim_set)
        if usual.claim_set(claim_set) is Verdict.FAILED:
            refused.append(name)
        elif len(claim_set.fitting_nodes) < gate.min_nodes and gate.min_nodes > 1:
            few.append(f"{name} on {len(claim_set.fitting_nodes)}")
        else:
            undecided.append(name)
    return [
        *cause(refused, "workload", "does not fit", "do not fit"),
        *cause(few, "workload", *[f"fit{s} on fewer than {gate.min_nodes} nodes (--min-nodes)" for s in ("s", "")]),
        *undecided_cause(undecided, "workload"),
    ]


def undecided_cause(names: Sequence[str], what: str) -> list[str]:
    """Return a line saying that these results are undecided. The list is empty if there are no names.

    `--require-fit` rejects undecided results.
    """
    return cause(names, what, *[f"{verb} undecided (--require-fit)" for verb in ("is", "are")])


def cause(names: Sequence[str], what: str, one: str, many: str) -> list[str]:
    """Return a line saying that these names failed in the same way. The list is empty if there are no names."""
    if not names:
        return []
    return [f"{counted(len(names), what)} {one if len(names) == 1 else many}: {listed(list(names))}"]
