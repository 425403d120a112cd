"""Reports of `schedule`: one check per pod."""

from __future__ import annotations

from collections.abc import Mapping

from dra_plan.api.inventory import Origin
from dra_plan.documents.scheduling import ExplainedAttempt, PodRejectedLater, ScheduledPod
from dra_plan.questions.schedule.document import ScheduleDocument
from dra_plan.questions.schedule.gate import never_made, of_pod
from dra_plan.questions.schedule.reasons import aside, of_attempts, of_rivals, pod_names, short, whole, without_template
from dra_plan.text.gate import Gate, Verdict
from dra_plan.text.reports import refusals
from dra_plan.text.reports.claim_sets import Origins
from dra_plan.text.reports.content import SEARCH_ENDED, Content, Entry, Level, ReportCase, Result, RuleText, of_warnings
from dra_plan.text.words import capital, ended, scheduler_says

RULES = {
    "unschedulable": RuleText("The pod stays pending", "dra-plan explain says why its claims do not fit."),
    "not-bound": RuleText("The pod is not bound yet", ("Something else must happen first; the message names it.")),
    "over-quota": RuleText("A quota rejects the pod's claim", "Request less, raise the quota, or delete objects."),
    "scheduling-error": RuleText("The scheduling attempt failed with an error", "The message is the scheduler's own."),
    "refused": RuleText("The API server does not create the pod", "The message is the API server's own."),
    "undecided": RuleText(SEARCH_ENDED, "Allow more with --max-steps or --timeout."),
    "not-created": RuleText(
        "A pod is not created", ("A quota or the API server rejects the pod; the output contains the message.")
    ),
    refusals.CODE: refusals.RULE,
}


CODES = {
    "Unschedulable": "unschedulable",
    "Gated": "not-bound",
    "OverQuota": "over-quota",
    "Waiting": "not-bound",
    "Error": "scheduling-error",
    "Refused": refusals.CODE,
}


def content(document: ScheduleDocument, gate: Gate, origins: Origins, *, command: str, anchor: str) -> Content:
    """Return the content of CI reports: a check for each scheduled pod, and the warnings."""
    attempts, rivals, names = of_attempts(document), of_rivals(document), pod_names(document)
    told: dict[Told, str] = {}
    checks = []
    for pod in _planned(document):
        name = f"{pod.namespace}/{pod.name}"
        attempt, rival = attempts.get(name), rivals.get(name, "")
        check = _like(_check(pod, names[name], gate, origins, attempt, rival), pod, attempt, rival, told)
        checks.append(_with_template(check, name, document))
    checks += refusals.checks(document.refusals)
    checks += [_never_made(what) for what in (never_made(document.settled) if document.settled else ())]
    checks += [_rejected_later(each, names) for each in document.rejected_later or ()]
    failed, notes = of_warnings(document.warnings, gate)
    return Content(command, (*checks, *failed), tuple(notes), RULES, anchor)


def _planned(document: ScheduleDocument) -> list[ScheduledPod]:
    """Return the pods that were scheduled; all of them if there are none."""
    return [pod for pod in document.pods if not aside(pod)] or document.pods


def _rejected_later(pod: PodRejectedLater, names: Mapping[str, str]) -> ReportCase:
    """Return the check of a pod that a quota or limit keeps from being created."""
    name = names[f"{pod.namespace}/{pod.name}"]
    return ReportCase(f"{name} created", Result.FAILED, Entry(Level.ERROR, "not-created", f"{name}: {pod.message}"))


def _never_made(what: str) -> ReportCase:
    """Return the check of an object that controllers and events fail to create."""
    return ReportCase(what, Result.FAILED, Entry(Level.ERROR, "not-created", f"not created: {what}"))


def _with_template(check: ReportCase, pod: str, document: ScheduleDocument) -> ReportCase:
    """Return the check of the pod with the missing template of a claim as its reason, if this is the reason."""
    why = without_template(document, pod)
    if check.entry is None or not why:
        return check
    return check._replace(entry=check.entry._replace(message=f"{ended(why)} {scheduler_says(check.entry.message)}"))


def _like(
    check: ReportCase, pod: ScheduledPod, attempt: ExplainedAttempt | None, rival: str, told: dict[Told, str]
) -> ReportCase:
    """Return the check without an explanation that an earlier one has at the same place, as for replicas.

    The pods that take its room are named in each. `told` has the object of the first check with each attempt and place,
    and is updated.
    """
    if check.entry is None or attempt is None:
        return check
    first = told.setdefault((id(attempt), check.entry.source, check.entry.line), check.entry.object)
    if first == check.entry.object:
        return check
    reason = f"For the same reason as {first}{f': {rival}' if rival else '.'}"
    message = f"{reason} {scheduler_says(pod.message or pod.waiting)}"
    return check._replace(entry=check.entry._replace(message=message, details="", like=first))


def _check(
    pod: ScheduledPod, name: str, gate: Gate, origins: Origins, attempt: ExplainedAttempt | None, rival: str
) -> ReportCase:
    """Return the check of the pod, which reports call by this name."""
    verdict = of_pod(gate, pod)
    if verdict is Verdict.PASSED:
        return ReportCase(name)
    origin = _origin(pod, origins)
    message = pod.message or pod.waiting or f"stays unbound: {pod.outcome}"
    because = _reason(pod, attempt) if attempt is not None else ""
    reason = rival or (ended(because) if because else "")
    entry = Entry(
        Level.ERROR,
        "undecided" if pod.is_undecided else CODES[pod.outcome],
        f"{capital(reason)} {scheduler_says(message)}" if reason else message,
        source=origin.source,
        line=origin.line,
        object=_object(pod, name),
        details=whole(attempt) if attempt is not None else "",
    )
    return ReportCase(name, Result.BROKEN if verdict is Verdict.UNDECIDED else Result.FAILED, entry)


def _reason(pod: ScheduledPod, attempt: ExplainedAttempt) -> str:
    """Return the reason in one line; it names the pod that it is about, because it names the pod's claims."""
    reason, first = short(attempt), attempt.pods[0]
    if not reason or (first.namespace, first.name) == (pod.namespace, pod.name):
        return reason
    return f"as for pod {first.namespace}/{first.name}, {reason}"


Told = tuple[int, str, int]
"""An explained attempt (identified by `id`), a file and a line."""


def _object(pod: ScheduledPod, name: str) -> str:
    """Return the name in reports with the kind as in manifests: `Deployment NAMESPACE/NAME pod 2 of 3`."""
    kind = pod.workload.kind if pod.workload is not None else "Pod"
    return f"{kind} {name.partition('/')[2]}"


def _origin(pod: ScheduledPod, origins: Origins) -> Origin:
    """Return the position of the pod in the input; for a pod that does not exist yet, that of its workload."""
    of = pod.workload
    key = ("Pod", pod.namespace, pod.name) if of is None else (of.kind, of.namespace, of.name)
    return origins.get(key, Origin(""))
