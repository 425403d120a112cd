"""Reports of `explain`: one check for each owner, or for each claim set if only devices were requested."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from dra_plan.api.inventory import Origin
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.questions.explain.blocks import OwnerBlock, owner_blocks
from dra_plan.questions.explain.document import ExplanationDocument
from dra_plan.questions.explain.gate import of_owner
from dra_plan.questions.explain.owners import owner_lines, set_lines
from dra_plan.text.gate import Gate, Verdict
from dra_plan.text.headlines import headline
from dra_plan.text.naming import named
from dra_plan.text.reports import claim_sets
from dra_plan.text.reports.claim_sets import Origins
from dra_plan.text.reports.content import Content, Entry, Level, ReportCase, Result, RuleText, of_warnings

RULES = {
    **claim_sets.RULES,
    "held": RuleText("The scheduler does not try the pod", "dra-plan explain says what."),
    "refused": RuleText("The API server rejects the object", "dra-plan validate shows where, and how to fix it."),
    "stuck": RuleText("The pod has a node, but no devices", "Delete it, and let kube-scheduler choose the node."),
}

CODES = {
    "Error": "allocation-error",
    "Held": "held",
    "Refused": "refused",
    "Stuck": "stuck",
    "Unknown": "unknown",
    "Undecided": "undecided",
}
"""The rule of each verdict, except for pods that fit on no node."""


def content(document: ExplanationDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the result for each owner, and the warnings, as the content of CI reports."""
    if document.verdicts is UNSET:
        found = document.claim_sets
        return claim_sets.content(
            found,
            document.warnings,
            gate,
            origins,
            command="explain",
            anchor=anchor,
            details=lambda claim_set: "\n".join(set_lines(claim_set)),
        )
    blocks = owner_blocks(document)
    checks = [_explained(one, block, gate, origins) for block in blocks for one in block.verdicts]
    failed, notes = of_warnings(document.warnings, gate)
    return Content("explain", (*checks, *failed), tuple(notes), RULES, anchor)


def _explained(first: OwnerVerdict, block: OwnerBlock, gate: Gate, origins: Origins) -> ReportCase:
    """Return the result for one of the owners with equal text."""
    name = named(first.object)
    sets = [gate.claim_set(claim_set) for claim_set in block.claim_sets[:1]]
    verdict = next(iter(sets), Verdict.PASSED) if first.verdict == "Suspended" else of_owner(gate, first)
    if verdict is Verdict.PASSED:
        return ReportCase(name)
    origin = origins.get((first.kind, first.namespace, first.name), Origin(""))
    entry = Entry(
        Level.ERROR,
        CODES.get(first.told, "does-not-fit"),
        headline([first]),
        source=origin.source,
        line=origin.line,
        object=f"{first.kind} {first.namespace}/{first.name}",
        details="\n".join(owner_lines(replace(block, verdicts=[first]))),
    )
    return ReportCase(name, Result.BROKEN if verdict is Verdict.UNDECIDED else Result.FAILED, entry)
