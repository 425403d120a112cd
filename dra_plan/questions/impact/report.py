"""Reports of `impact`, with one check per affected pod, claim set, allocated device, selector and quota.

Each check points to the first object that the change applies.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.inventory import Origin
from dra_plan.questions.diff.document import undecided_outcomes
from dra_plan.questions.impact.document import AffectedPod, ImpactDocument
from dra_plan.questions.impact.gate import LOSSES
from dra_plan.questions.impact.text import EFFECTS, unsettled, when_it_ends
from dra_plan.text.gate import Gate, Verdict
from dra_plan.text.naming import claim_set_name, why_not_known
from dra_plan.text.reports import claim_sets, refusals
from dra_plan.text.reports.claim_sets import Origins
from dra_plan.text.reports.content import Content, Entry, Level, ReportCase, Result, RuleText, of_warnings
from dra_plan.text.words import counted

RULES = {
    "pod-ends": RuleText("A running pod loses its node", "`dra-plan explain` says why the replacement does not fit."),
    "no-longer-starts": RuleText("A pending pod could no longer be scheduled", "dra-plan explain says why."),
    "claims-lost": RuleText("Claims that fit would fit nowhere", "dra-plan explain says why."),
    "device-lost": RuleText("A claim has a device that no longer exists", "Drain the node before its devices change."),
    "selector-lost": RuleText(
        "A selector in use no longer matches any device", "`dra-plan cel` shows what the devices have."
    ),
    "quota-exceeded": RuleText(
        "Usage exceeds a quota", "Running pods are not terminated, but nothing new is admitted."
    ),
    "quota-unstated": RuleText(
        "A quota requires requests or limits that running pods do not set",
        "Set them in the pod template, or give defaults with a LimitRange.",
    ),
    "unsettled": RuleText("The cluster never settles", "`dra-plan schedule --settle` shows what repeats."),
    "undecided": claim_sets.RULES["undecided"],
    refusals.CODE: refusals.RULE,
}

_CODES = {"NoLongerStarts": "no-longer-starts", "Refused": refusals.CODE, "Undecided": "undecided"}
"""The rules of effects; other failing effects have pod-ends."""


def content(document: ImpactDocument, gate: Gate, origins: Origins, *, anchor: str) -> Content:
    """Return the results and warnings as the content of CI reports.

    `origins` maps objects to their files.
    """
    at = _place(document, origins)
    checks = [_pod(pod, gate, at) for pod in document.pods]
    checks += _others(document, gate, at)
    checks += refusals.checks(document.refusals)
    failed, notes = of_warnings(document.warnings, gate)
    return Content("impact", (*checks, *failed), tuple(notes), RULES, anchor)


def _place(document: ImpactDocument, origins: Origins) -> Origin:
    """Return the position of the first object that differs from the cluster."""
    changed = [one for one in document.applied if one.change != "Unchanged"] or document.applied
    found = (origins.get((one.kind, one.namespace, one.name)) for one in changed)
    return next((origin for origin in found if origin is not None), Origin(""))


def _pod(pod: AffectedPod, gate: Gate, at: Origin) -> ReportCase:
    name = f"pod/{pod.namespace}/{pod.name}"
    verdict = gate.undecided if pod.effect == "Undecided" else Verdict.FAILED
    if pod.effect not in LOSSES and pod.effect != "Undecided":
        return ReportCase(name)
    moment = when_it_ends(pod)
    reason = (pod.after.message or "") if pod.after is not None else ""
    if pod.effect == "Undecided":
        reason = why_not_known(undecided_outcomes([pod]))
    said = ", ".join(part for part in (EFFECTS[pod.effect], moment) if part)
    message = ": ".join(part for part in (said, reason) if part)
    return _failed(name, verdict, _CODES.get(pod.effect, "pod-ends"), message, at, f"Pod {pod.namespace}/{pod.name}")


def _others(document: ImpactDocument, gate: Gate, at: Origin) -> Iterator[ReportCase]:
    for one in document.claim_sets:
        name = claim_set_name(one)
        if one.change == "Lost":
            yield _failed(name, Verdict.FAILED, "claims-lost", "its claims would fit nowhere", at)
        elif one.change == "Undecided":
            yield _failed(name, gate.undecided, "undecided", why_not_known(undecided_outcomes([one])), at)
        else:
            yield ReportCase(name)
    for held in document.held_devices:
        device = f"{held.driver}/{held.pool}/{held.device}"
        name, claim = f"device {device}", f"ResourceClaim {held.holder.namespace}/{held.holder.name}"
        lost = held.change == "Lost"
        yield _failed(name, Verdict.FAILED, "device-lost", f"{device} is gone", at, claim) if lost else ReportCase(name)
    for selector in document.selectors:
        name = f"selector {selector.expression}"
        if selector.lost:
            said = f"{selector.expression} would match no device; now it matches {selector.before}"
            yield _failed(name, Verdict.FAILED, "selector-lost", said, at)
        else:
            yield ReportCase(name)
    for quota in (each for each in document.quotas if each.exceeded):
        name = f"ResourceQuota {quota.namespace}/{quota.name}"
        said = f"{quota.resource}: {quota.used_after} used, {quota.hard} allowed"
        yield _failed(f"{name} {quota.resource}", Verdict.FAILED, "quota-exceeded", said, at, name)
    for quota in (each for each in document.quotas if each.unstated):
        name = f"ResourceQuota {quota.namespace}/{quota.name}"
        said = f"{counted(quota.unstated, 'running pod')} without {quota.resource} could not be created again"
        yield _failed(f"{name} {quota.resource} unstated", Verdict.FAILED, "quota-unstated", said, at, name)
    if document.unsettled:
        yield _failed("settling", Verdict.FAILED, "unsettled", unsettled(document), at)


def _failed(name: str, verdict: Verdict, code: str, message: str, at: Origin, of: str = "") -> ReportCase:
    result = Result.BROKEN if verdict is Verdict.UNDECIDED else Result.FAILED
    return ReportCase(name, result, Entry(Level.ERROR, code, message, source=at.source, line=at.line, object=of))
