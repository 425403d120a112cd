"""Pages about pods: those of `schedule` and `capacity`."""

from __future__ import annotations

from msgspec import structs

from dra_plan.documents.capacity import CapacityDocument
from dra_plan.documents.schedule import ExplainedAttempt, ScheduleDocument, ScheduledPod
from dra_plan.output import capacity, text
from dra_plan.output import explain_words as words

from . import picks, told
from .content import Page
from .picks import Pick
from .scene import Scene


def fill_schedule(made: Page, document: ScheduleDocument) -> None:
    """The pods in their order, each with what it gets and why not."""
    made.gets_word, made.picks_title = "gets", "Pods, in the scheduler's order"
    told_pods = [pod for pod in document.pods if pod.attempts or pod.outcome not in ("Bound", "Skipped")]
    waiting = [pod for pod in told_pods if pod.outcome != "Bound"]
    if waiting:
        made.headline = f"{len(waiting)} of {words.counted(len(told_pods), 'pod')} get{_s(len(waiting))} no node"
    else:
        made.headline = f"Every pod gets its node ({words.counted(len(told_pods), 'pod')})"
    drawn = made.scenes[0] if made.scenes else Scene([])
    made.picks = list(picks.pods(document, drawn))
    made.slider = bool(made.scenes and made.picks)
    why = {(pod.namespace, pod.name): each for each in document.explanations or () for pod in each.pods}
    for pick, pod in zip(made.picks, document.pods, strict=True):
        made.articles.append(_pod_article(pick, pod, document, why.get((pod.namespace, pod.name))))
        explained = why.get((pod.namespace, pod.name))
        if not made.scenes:
            pick.marks = []
        elif explained is not None:
            pick.marks[0].update(picks.refusing(explained.stories, drawn))


def _s(number: int) -> str:
    return "s" if number == 1 else ""


def _pod_article(
    pick: Pick, pod: ScheduledPod, document: ScheduleDocument, why: ExplainedAttempt | None
) -> told.Article:
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
        article.summary.append(told.ToldLine(f"The scheduler says: {pick.line}"))
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


def fill_capacity(made: Page, document: CapacityDocument) -> None:
    """Whose copies there is room for, and how they fill the nodes."""
    made.picks_title, made.marks_devices = "Who is copied", False
    made.headline = _room([item.scheduled.copies for item in document.items])
    for number, item in enumerate(document.items):
        alone = structs.replace(document, items=[item])
        pick = picks.copies(item, made.scenes[0] if made.scenes else Scene([]), f"pick-{number}")
        if not made.scenes:
            pick.marks = []
        made.picks.append(pick)
        short = capacity.table(alone, None)[1:-1]
        blocks = told.blocks([*short, *(part for part in capacity.wide(alone, None)[1:-1] if part not in short)])
        sentence = f"The scheduler binds {pick.word}."
        made.articles.append(
            told.Article(pick.key, pick.name, pick.tone, pick.word, sentence, [told.ToldLine(pick.line)], blocks=blocks)
        )


def _room(copies: list[int]) -> str:
    if not copies:
        return "Nothing to copy"
    if len(copies) == 1:
        return f"Room for {words.counted(copies[0], 'copy', 'copies')}"
    room = sum(number > 0 for number in copies)
    return f"{room} of {len(copies)} have room for copies"
