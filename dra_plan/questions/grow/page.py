"""The page of `grow`: the new nodes among the existing ones, their pods, and why one node fewer is not enough."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.on_nodes import at_attempt
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Moments, Pick
from dra_plan.page.pods import (
    HOLDS_NONE,
    DrawnPod,
    claims_by_pod,
    claims_of_pods,
    of_all,
    of_one,
    pod_article,
    pod_pick,
)
from dra_plan.questions.grow import text as growth
from dra_plan.questions.grow.answer import GrowthPlan
from dra_plan.questions.grow.document import GrowthDocument, NotEnough, TriedNumber
from dra_plan.questions.grow.search import Grown
from dra_plan.questions.grow.text import FORMATS
from dra_plan.questions.schedule.answer import schedule_document
from dra_plan.text import words


def page(answer: GrowthPlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `grow`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "grow", FORMATS)
    if inventory is not None:
        grown = answer.grown(inventory, answer.final.counts)
        view = View.of(grown, answer.target)
        new = {node for names in answer.final.added for node in names}
        made.scenes = drawn(grown, view, new=new)
    fill_growth(made, answer, inventory, view)
    return made


def fill_growth(made: Page, answer: GrowthPlan, inventory: Inventory | None, view: View | None) -> None:
    """Fill the page with the new nodes and their pods, the numbers of nodes that are not enough, and the pods."""
    document = answer.document
    made.picks_title, made.gets_word, made.opens_on = "New nodes, and the pending pods", "given", 0
    made.headline = _headline(document)
    if made.scenes and document.nodes:
        made.tiles_when = "With the new nodes, before pending pods are bound."
    beginning = Beginning(made.scenes[0], view) if made.scenes and view is not None else None
    claims = claims_by_pod(answer.final.result.claims)
    bound = [
        DrawnPod("/".join(key), node, tuple(claims.get(key, {}).values())) for key, node in answer.final.bound.items()
    ]
    _add_answer(made, answer, document, bound)
    for short, asked in zip(document.not_enough, answer.fewer, strict=True):
        _add_short(made, answer, short, asked, inventory, beginning)
    wanted = [*answer.final.unbound, *answer.final.bound]
    plan = schedule_document(answer.final.result)
    pods = {(pod.namespace, pod.name): pod for pod in plan.pods}
    claims_of = claims_of_pods(plan.claims)
    of = {one.pod: one for one in bound}
    for key in wanted:
        if key in pods:
            pick = pod_pick(pods[key], len(made.picks))
            one = of.get("/".join(key))
            pick.marks = [of_one(one, made.scenes[0])] if one is not None and made.scenes else []
            made.picks.append(pick)
            made.articles.append(pod_article(pick, pods[key], claims_of, plan.evictions))


def _headline(document: GrowthDocument) -> str:
    helped = document.pods - len(document.beyond_help)
    if document.outcome == "NotNeeded":
        if not document.beyond_help:
            return f"No new nodes are needed{growth.in_this_order(document)}"
        if not helped:
            return f"New nodes would not help{growth.in_this_order(document, helpless=True)}"
        beyond = words.counted(len(document.beyond_help), "pod")
        return f"New nodes would not help {beyond}{growth.in_this_order(document, helpless=True)}"
    if document.at_most is None:
        return "Undecided: not every pod was bound in what was tried"
    number = len(document.nodes)
    more, left = words.counted(helped - document.bound_before, "more pod"), len(document.beyond_help)
    said = f"{words.counted(number, 'new node')} for {more}{growth.in_this_order(document)}"
    said = said if document.outcome == "Found" else f"Undecided: {said} are enough, fewer may be"
    return f"{said}; {_pending(left)}" if left else said


def _pending(left: int) -> str:
    return f"{words.counted(left, 'pod')} stay{'s' if left == 1 else ''} pending"


def _add_answer(made: Page, answer: GrowthPlan, document: GrowthDocument, bound: Sequence[DrawnPod]) -> None:
    counts = [TriedNumber(like=kind.like, count=kind.count or 0) for kind in document.kinds]
    enough = document.at_most is not None
    tone = picks.GOOD if enough and not document.beyond_help else picks.BAD
    spare = "no help" if document.beyond_help else "not needed"
    left = len(document.beyond_help)
    found = _pending(left) if left else "enough"
    word = {"Found": found, "NotNeeded": spare}.get(document.outcome, "undecided")
    name = growth.tried(counts) if enough else "What was tried last"
    line = f"{len(bound)} of {words.counted(document.pods, 'pod')} bound"
    marks: list[dict[int, Mark]] = []
    if made.scenes:
        marks = [of_all(bound, made.scenes[0])]
        for like, names in zip((kind.like for kind in answer.kinds), answer.final.added, strict=True):
            for node in names:
                place = made.scenes[0].by_node[node]
                mark = marks[0].setdefault(place.number, Mark(picks.OTHER, HOLDS_NONE))
                mark.label = f"like {like}: {mark.label}"
    pick = Pick("pick-0", name, tone, word, line, marks)
    made.picks.append(pick)
    blocks = told.blocks(growth.wide(document, None)[:-1])
    made.articles.append(told.Article(pick.key, name, tone, word, f"{words.capital(line)}.", blocks=blocks))


def _add_short(
    made: Page,
    answer: GrowthPlan,
    short: NotEnough,
    asked: Grown,
    inventory: Inventory | None,
    beginning: Beginning | None,
) -> None:
    """Add numbers that were not enough: the picture with them, and why pods have no node."""
    number, name = len(made.picks), growth.tried(short.nodes)
    line = f"{words.counted(len(short.unbound), 'pod')} not scheduled"
    pick = Pick(f"pick-{number}", name, picks.BAD, "not enough", line, [])
    article = told.Article(pick.key, name, picks.BAD, pick.word, f"{words.capital(line)}.")
    article.summary += [told.TextLine(f"{names}: {message}") for names, message in growth.alike(short.unbound)]
    unbound = {(pod.namespace, pod.name) for pod in short.unbound}
    told_of = answer.explained(inventory, asked) if inventory is not None else []
    explained = [each for each in told_of if any((pod.namespace, pod.name) in unbound for pod in each[0].pods)]
    article.stories = [told.story(story) for one, _ in explained for story in one.stories]
    if beginning is not None:
        drawn = beginning.scene
        there = {node for names in asked.added for node in names}
        marks = {}
        for one, attempt in explained[:1]:
            said = {node: (story.outcome.value, story.message) for story in one.stories for node in story.nodes}
            marks = picks.marks(at_attempt(attempt, said), drawn)
        for node in (node for names in answer.final.added for node in names if node not in there):
            marks[drawn.by_node[node].number] = Mark(picks.OTHER, "not there")
        pick.marks, pick.moment = [marks], len(made.moments)
        made.moments.append(Moments(beginning).change(beginning.differing(asked.result.claims)))
    made.picks.append(pick)
    made.articles.append(article)
