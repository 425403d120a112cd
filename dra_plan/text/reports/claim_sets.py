"""Reports of `allocate` and `explain`, with one check per claim set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from dra_plan.allocator import Outcome
from dra_plan.api.inventory import Notice, Origin
from dra_plan.documents.claim_sets import PlannedClaimSet
from dra_plan.documents.refusals import REFUSED
from dra_plan.text import stories, words
from dra_plan.text.gate import ClaimSetEntry, Gate, Verdict, outcomes
from dra_plan.text.naming import claim_set_name
from dra_plan.text.reports import refusals
from dra_plan.text.reports.content import SEARCH_ENDED, Content, Entry, Level, ReportCase, Result, RuleText, of_warnings

E = TypeVar("E", bound=ClaimSetEntry)
Origins = Mapping[tuple[str, str, str], Origin]


RULES = {
    "does-not-fit": RuleText("The claims fit on no node", "dra-plan explain says why, down to the device."),
    "too-few-nodes": RuleText("The claims fit on too few nodes", "--min-nodes asks for more; see dra-plan explain."),
    "allocation-error": RuleText(
        "The scheduler stops with an error", ("The pod would not be scheduled, even if it fits on some nodes.")
    ),
    "undecided": RuleText(SEARCH_ENDED, "Allow more steps with --max-steps."),
    "unknown": RuleText("The input lacks what decides", ("The warnings show the command that gets it.")),
    refusals.CODE: refusals.RULE,
}


def content(
    claim_sets: Iterable[E],
    warnings: Iterable[Notice],
    gate: Gate,
    origins: Origins,
    *,
    command: str,
    anchor: str,
    more: Sequence[ReportCase] = (),
    rules: dict[str, RuleText] | None = None,
    details: Callable[[E], str] = lambda _claim_set: "",
) -> Content:
    """Return a report on an AllocationPlan or an Explanation.

    It contains a check for each claim set, the checks in `more`, and the warnings. `details` returns additional lines
    for a failed claim set.
    """
    checks = [_check(claim_set, gate, origins, details) for claim_set in claim_sets]
    failed, notes = of_warnings(warnings, gate)
    return Content(command, (*checks, *more, *failed), tuple(notes), rules or RULES, anchor)


def _check(claim_set: E, gate: Gate, origins: Origins, details: Callable[[E], str]) -> ReportCase:
    name = claim_set_name(claim_set)
    verdict = gate.claim_set(claim_set)
    if verdict is Verdict.PASSED:
        return ReportCase(name)
    key = _key(claim_set)
    origin = origins.get(key, Origin("")) if key else Origin("")
    code, message = _words(claim_set, gate)
    entry = Entry(
        Level.ERROR,
        code,
        message,
        source=origin.source,
        line=origin.line,
        object=f"{key[0]} {key[1]}/{key[2]}" if key else "",
        details=details(claim_set),
    )
    return ReportCase(name, Result.BROKEN if verdict is Verdict.UNDECIDED else Result.FAILED, entry)


def _key(claim_set: ClaimSetEntry) -> tuple[str, str, str] | None:
    """Return the object at which a claim set is shown: its owner, or its first claim."""
    owner = claim_set.owner
    if owner is not None:
        return owner.kind, owner.namespace, owner.name
    claims = claim_set.claims
    return ("ResourceClaim", claims[0].namespace, claims[0].name) if claims else None


def _words(claim_set: ClaimSetEntry, gate: Gate) -> tuple[str, str]:
    """Return the code and message for a claim set that did not pass."""
    found, fitting = outcomes(claim_set), claim_set.fitting_nodes
    undecided = len(found.get(Outcome.UNDECIDED, ()))
    excluded = [*stories.excluded_nodes(claim_set)]
    looked_at = sum(map(len, found.values())) + sum(len(nodes) for nodes, _ in excluded)
    total = words.counted(looked_at, "node")
    if claim_set.outcome is Outcome.REFUSED:
        return refusals.CODE, REFUSED
    if claim_set.outcome is Outcome.UNKNOWN:
        return "unknown", f"not known: {words.UNKNOWN}"
    if claim_set.outcome is Outcome.ERROR:
        also = f"; nodes that would fit without this error: {words.listed(fitting)}" if fitting else ""
        return "allocation-error", f"{stories.error_of(claim_set)}{also}{_messages(claim_set)}"
    if undecided and len(fitting) + undecided >= gate.min_nodes:
        return "undecided", f"undecided within the step budget on {undecided} of {total}"
    if fitting:
        which = words.listed(fitting)
        return "too-few-nodes", (f"fits on {len(fitting)} of {total} ({which}); {gate.min_nodes} are required")
    return "does-not-fit", f"fits on none of {total} that were checked{_messages(claim_set)}"


def _messages(claim_set: ClaimSetEntry) -> str:
    """Return the scheduler's messages about the nodes, without duplicates."""
    nodes = claim_set.nodes if isinstance(claim_set, PlannedClaimSet) else ()
    refusing = (node for node in nodes if node.outcome is not Outcome.FITS and not node.excluded_by)
    said = dict.fromkeys(node.message for node in refusing if node.message)
    said |= dict.fromkeys(stories.causes(found) for _, found in stories.excluded_nodes(claim_set))
    return f": {'; '.join(said)}" if said else ""
