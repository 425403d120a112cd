"""One-line reasons why a pod has no node, for gates and CI reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import UNSET

from dra_plan.documents.scheduling import ExplainedAttempt, ScheduledPod
from dra_plan.documents.stories import MostLeft
from dra_plan.questions.schedule.document import ScheduleDocument
from dra_plan.text.columns import Lines
from dra_plan.text.naming import named
from dra_plan.text.refusing_nodes import group_lines
from dra_plan.text.rivals import contested
from dra_plan.text.stories import story_lines, told_lines
from dra_plan.text.words import counted, request_of

MISSING_TEMPLATE = "missing-template"
"""The code of the warning that a claim template is missing in the input."""


MOST = 2
"""The maximum number of reasons in a line."""


def pod_names(document: ScheduleDocument) -> dict[str, str]:
    """Return what to call each pod, by NAMESPACE/NAME: `pod/NAMESPACE/NAME`, or its workload if it does not exist yet.

    The names of such pods are placeholders. If a workload has several, the number of the pod follows: ` pod 2 of 3`.
    """
    new = Counter(named(pod.workload) for pod in document.pods if pod.workload is not None)
    seen: Counter[str] = Counter()
    found = {}
    for pod in document.pods:
        of = named(pod.workload) if pod.workload is not None else ""
        seen[of] += 1
        place = f" pod {seen[of]} of {new[of]}" if new[of] > 1 else ""
        found[f"{pod.namespace}/{pod.name}"] = f"{of}{place}" if of else f"pod/{pod.namespace}/{pod.name}"
    return found


def aside(pod: ScheduledPod) -> str:
    """Return why the pod has no new result (it was already bound, or was not selected), or "" if it has one."""
    if pod.outcome == "Bound" and not pod.attempts:
        return "already bound"
    return "not chosen" if pod.outcome == "Skipped" and pod.waiting == "not chosen" else ""


def of_attempts(document: ScheduleDocument) -> dict[str, ExplainedAttempt]:
    """Return the last explained attempt of each pod, by NAMESPACE/NAME."""
    explained = document.explanations if document.explanations is not UNSET else ()
    return {f"{pod.namespace}/{pod.name}": attempt for attempt in explained for pod in attempt.pods}


def of_rivals(document: ScheduleDocument) -> dict[str, str]:
    """Return, for each pod that would fit without other pending pods, a text that names the pods that block it.

    The keys are NAMESPACE/NAME of the blocked pod.
    """
    found = document.contested if document.contested is not UNSET else ()
    return {f"{pod.namespace}/{pod.name}": contested(each) for each in found for pod in each.without_node}


def short(attempt: ExplainedAttempt) -> str:
    """Return the reason on most nodes, and the number of these nodes; for a request that no node can meet, on all.

    The text gives the most frequent reason and its number of nodes, and then what rejects the nodes on which the
    devices would fit.
    """
    if not attempt.stories:
        return ""
    if attempt.most_left is not None and attempt.most_left.nodes > len(attempt.stories[0].nodes):
        return _at_most(attempt.most_left)
    story = max(attempt.stories, key=lambda each: len(each.nodes) if each.devices else 0)
    line = next(iter(story_lines(story)), "").rstrip(".:")
    where = story.nodes[0] if len(story.nodes) == 1 else counted(len(story.nodes), "node")
    closest = next(group_lines(attempt.devices_fit), "")
    return "; ".join([*([f"on {where}: {line}"] if line else []), *([f"on {closest}"] if closest else [])])


def _at_most(of: MostLeft) -> str:
    """Return that no node has as many devices as the request needs, and the node that has the most of them."""
    of_class = f" of class {of.class_}" if of.class_ else ""
    needs = f"{request_of(of.claim, of.request)} needs {counted(of.need, 'device')}{of_class}, and no node has enough"
    if not of.left:
        return f"{needs}: none is available on any of the {counted(of.nodes, 'node')}"
    return f"{needs}: at most {of.left} of {of.devices} {'is' if of.left == 1 else 'are'} available, on {of.node}"


def whole(attempt: ExplainedAttempt) -> str:
    """Return the complete explanation, with one fact per line."""
    closest = list(group_lines(attempt.devices_fit))
    others = "\n".join(told_lines(attempt.absent, attempt.leading, attempt.stories)).strip()
    return "\n".join([*closest, *([""] if closest else []), others])


def attempt_lines(attempt: ExplainedAttempt) -> Lines:
    """Yield what is missing on nodes where the devices would fit, followed by the reasons for the other nodes."""
    yield from (f"  {line}" for line in group_lines(attempt.devices_fit))
    yield from told_lines(attempt.absent, attempt.leading, attempt.stories)


def of_pods(document: ScheduleDocument, names: Sequence[str]) -> str:
    """Return in brackets why these pods have no node, or "" if this is not known.

    The text follows the names of the pods in the same line.
    """
    attempts, rivals = of_attempts(document), of_rivals(document)
    pods = {f"{pod.namespace}/{pod.name}": pod for pod in document.pods}
    reasons: dict[str, str] = {}
    for name in names:
        said = (
            rivals.get(name, "").rstrip(".")
            or (short(attempts[name]) if name in attempts else "")
            or without_template(document, name)
        )
        said = said or _scheduler_says(pods.get(name))
        reasons.setdefault(said, name)
    reasons.pop("", None)
    if len(reasons) == 1:
        [only] = reasons
        return f" ({only})"
    told = [f"{name}: {said}" for said, name in list(reasons.items())[:MOST]]
    return f" ({'; '.join(told)})" if told else ""


def without_template(document: ScheduleDocument, name: str) -> str:
    """Return a sentence if the template of one of the pod's claims is missing, or "" if it is not.

    The scheduler's own message does not mention the template.
    """
    for warning in document.warnings:
        owner = warning.object.rpartition(" ")[2]
        if warning.code == MISSING_TEMPLATE and (name == owner or name.startswith(f"{owner}-")):
            return warning.message
    return ""


def _scheduler_says(pod: ScheduledPod | None) -> str:
    """Return the scheduler's message without the part about preemption, or what the pod waits for."""
    if pod is None:
        return ""
    said = (pod.message or pod.waiting).removeprefix(f'pod "{pod.namespace}/{pod.name}": ')
    return said.partition(". still not schedulable")[0].partition(". preemption:")[0].rstrip(".")
