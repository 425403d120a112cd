"""The page of `schedule`: the pods in their order, what each gets, and why it gets nothing when it was tried last."""

from __future__ import annotations

from collections.abc import Mapping

from dra_plan.allocator import View
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.schedule import ExplainedAttempt, ScheduleDocument, ScheduledPod
from dra_plan.output import explain_words as words
from dra_plan.output import text
from dra_plan.planner.onnodes import MOST_ASKED, at_attempt
from dra_plan.planner.scheduling import SchedulePlan
from dra_plan.scheduler.attempts import FailedAttempt

from . import drawnpods, picks, told
from .content import Page
from .drawnpods import DrawnPod
from .moments import Beginning, Moments
from .picks import Mark, Pick
from .scene import Scene

_TONES = {
    "Bound": picks.GOOD,
    "Waiting": picks.OTHER,
    "Gated": picks.OTHER,
    "Skipped": picks.OTHER,
    "Undecided": picks.OTHER,
}

PodKey = tuple[str, str]
"""Namespace and name."""


def fill_schedule(made: Page, answer: SchedulePlan, view: View | None) -> None:
    """The pods in their order, each with what it gets and why not."""
    document = answer.document
    made.gets_word, made.picks_title = "gets", "Pods, in the scheduler's order"
    told_pods = [pod for pod in document.pods if pod.attempts or pod.outcome not in ("Bound", "Skipped")]
    waiting = [pod for pod in told_pods if pod.outcome != "Bound"]
    if waiting:
        made.headline = f"{len(waiting)} of {words.counted(len(told_pods), 'pod')} get{_s(len(waiting))} no node"
    else:
        made.headline = f"Every pod gets its node ({words.counted(len(told_pods), 'pod')})"
    made.slider = bool(made.scenes and document.pods)
    made.tiles_when = "Before the first pod is tried." if made.slider else ""
    why = {(pod.namespace, pod.name): each for each in document.explanations or () for pod in each.pods}
    for number, pod in enumerate(document.pods):
        pick = pod_pick(pod, number)
        made.picks.append(pick)
        made.articles.append(pod_article(pick, pod, document, why.get((pod.namespace, pod.name))))
    if made.scenes and view is not None:
        _draw(made, answer, view, why)


def _s(number: int) -> str:
    return "s" if number == 1 else ""


def pod_pick(pod: ScheduledPod, number: int) -> Pick:
    """A pod of a schedule, to be picked."""
    line = pod.message or pod.waiting or ""
    if pod.node_name:
        line = f"on {pod.node_name}" if pod.attempts else f"on {pod.node_name} before"
    name = f"pod/{pod.namespace}/{pod.name}"
    return Pick(f"pick-{number}", name, _TONES.get(pod.outcome, picks.BAD), pod.outcome, line, [])


def pod_article(
    pick: Pick, pod: ScheduledPod, document: ScheduleDocument, why: ExplainedAttempt | None
) -> told.Article:
    """What is told of a pod of a schedule; `why` it has no node, if that is known."""
    devices = [
        f"{claim.name}, request {result.request}: {text.device_name(result)}"
        for claim in document.claims
        if claim.allocation is not None
        and claim.namespace == pod.namespace
        and any(user.name == pod.name for user in claim.reserved_for)
        for result in claim.allocation.devices.results
    ]
    sentence = f"{pod.outcome} {pick.line}." if pod.node_name else f"{pod.outcome}."
    article = told.Article(pick.key, pick.name, pick.tone, pick.word, sentence)
    if not pod.node_name and pick.line:
        article.summary.append(told.ToldLine(words.scheduler_says(pick.line)))
    article.summary += [told.ToldLine(f"Claim {one}") for one in devices]
    if pod.best_nodes:
        article.summary.append(told.ToldLine(f"Nodes with the highest score: {words.listed(pod.best_nodes, 8)}."))
    if pod.nominated_node_name:
        article.summary.append(told.ToldLine(f"Nominated: {pod.nominated_node_name}."))
    gone = [one.pod for one in document.evictions if one.preemptor == f"{pod.namespace}/{pod.name}"]
    if gone:
        article.summary.append(told.ToldLine(f"Has to go for it: {words.listed(gone, 8)}."))
    if why is not None:
        article.summary += [told.ToldLine(words.absent(found)) for found in why.absent]
        article.stories = [told.story(story) for story in why.stories]
    return article


# -- on the picture ------------------------------------------------------------------------------------------------


def _draw(made: Page, answer: SchedulePlan, view: View, why: Mapping[PodKey, ExplainedAttempt]) -> None:
    """Marks what each pod gets, and who is refused why; what is taken from then on, and what was at its attempt."""
    drawn = made.scenes[0]
    beginning = Beginning(drawn, view)
    going_on = Moments(beginning)
    claims = claims_by_pod(answer.outcome.claims)
    evicted: dict[str, list[str]] = {}
    for each in answer.document.evictions:
        evicted.setdefault(each.preemptor, []).append(each.pod)
    for pick, pod in zip(made.picks, answer.document.pods, strict=True):
        name = f"{pod.namespace}/{pod.name}"
        own = claims.get((pod.namespace, pod.name), {})
        pick.marks = [_marks(pod, own, drawn)]
        if pod.attempts:
            freed = [key for other in evicted.get(name, ()) for key in beginning.held_by(*other.split("/", 1))]
            pick.change = going_on.change({**dict.fromkeys(freed), **own})
    failed = {(one.pod.metadata.namespace, one.pod.metadata.name): one for one in answer.outcome.failed_attempts}
    _draw_failed(made, beginning, failed, why)


def claims_by_pod(claims: list[ResourceClaim]) -> dict[PodKey, dict[str, ResourceClaim]]:
    """The claims with devices that are reserved for each pod."""
    found: dict[PodKey, dict[str, ResourceClaim]] = {}
    for claim in claims:
        for user in claim.status.reserved_for if claim.status is not None and claim.allocation is not None else ():
            found.setdefault((claim.metadata.namespace, user.name), {})[claim.key] = claim
    return found


def _marks(pod: ScheduledPod, claims: Mapping[str, ResourceClaim], drawn: Scene) -> dict[int, Mark]:
    bound = DrawnPod(f"{pod.namespace}/{pod.name}", pod.node_name or "", tuple(claims.values()))
    made = drawnpods.of_one(bound, drawn, "bound here" if pod.attempts else "runs here")
    for name, message in pod.errors.items():
        if name in drawn.by_node:
            made[drawn.by_node[name].number] = Mark(picks.BAD, "error", message)
    return made


def _draw_failed(
    made: Page, beginning: Beginning, failed: Mapping[PodKey, FailedAttempt], why: Mapping[PodKey, ExplainedAttempt]
) -> None:
    """Each pod that was refused devices: the picture as its last attempt saw it, with the reasons on the devices."""
    left = MOST_ASKED
    marks: dict[int, dict[int, Mark]] = {}
    moments: dict[int, int] = {}
    by_name = {pick.name: pick for pick in made.picks}
    for key, explained in why.items():
        attempt = failed.get(key)
        if attempt is None:
            continue
        pick = by_name[f"pod/{'/'.join(key)}"]
        if id(explained) not in marks:
            said = {name: (one.outcome.value, one.message) for one in explained.stories for name in one.nodes}
            marks[id(explained)] = picks.marks(at_attempt(attempt, said, left), beginning.scene)
            left = max(0, left - len(said))
        pick.marks[0].update(marks[id(explained)])
        seen = id(attempt.all_claims)
        if seen not in moments:
            moments[seen] = len(made.moments)
            made.moments.append(Moments(beginning).change(beginning.differing(attempt.all_claims)))
        pick.moment = moments[seen]
