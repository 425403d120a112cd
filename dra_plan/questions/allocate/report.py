"""Reports of `allocate`, with one check per claim set, rejected object, and pod that does not fit with the others."""

from __future__ import annotations

from dra_plan.api.inventory import Origin
from dra_plan.documents.claim_sets import PodWithoutNode
from dra_plan.questions.allocate.document import AllocationDocument
from dra_plan.questions.allocate.gate import left_over
from dra_plan.text.gate import Gate
from dra_plan.text.reports import claim_sets, refusals
from dra_plan.text.reports.claim_sets import Origins
from dra_plan.text.reports.content import Content, Entry, Level, ReportCase, Result, RuleText

RULES = {
    **claim_sets.RULES,
    "no-room-for-all": RuleText("The pods do not fit together", ("dra-plan schedule shows which pod gets which node.")),
    refusals.CODE: refusals.RULE,
}


def content(document: AllocationDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the content of CI reports: a check for each claim set, and the warnings."""
    more = refusals.checks(document.refusals) + [_left(pod, origins) for pod in left_over(gate, document)]
    found, told = document.claim_sets, document.warnings
    return claim_sets.content(found, told, gate, origins, command="allocate", anchor=anchor, more=more, rules=RULES)


def _left(pod: PodWithoutNode, origins: Origins) -> ReportCase:
    """Return the check of a pod that gets no node when all compete."""
    origin = origins.get(("Pod", pod.namespace, pod.name), Origin(""))
    name = f"Pod {pod.namespace}/{pod.name}"
    said = pod.message or "cannot be scheduled"
    entry = Entry(Level.ERROR, "no-room-for-all", said, origin.source, line=origin.line, object=name)
    return ReportCase(f"{name} next to the others", Result.FAILED, entry)
