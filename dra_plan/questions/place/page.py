"""The page of `place`: a placement or a set of pods that proves there is none, and the bounds."""

from __future__ import annotations

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.on_nodes import refused_then
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Pick
from dra_plan.page.pods import DrawnPod, of_all, of_one
from dra_plan.page.told import BarRow, Bars, Segment
from dra_plan.placement.verify import PlacedPod
from dra_plan.planner.nodes import with_nodes
from dra_plan.questions.place.answer import PlacementPlan
from dra_plan.questions.place.document import ImpossibilityProof, PlacementDocument
from dra_plan.questions.place.proof import ProvedImpossible
from dra_plan.questions.place.text import AT_ONCE, FORMATS, device_lines, proof, wide
from dra_plan.text import words

_TONES = {"Placed": picks.GOOD, "Impossible": picks.BAD, "Undecided": picks.OTHER, "Refused": picks.BAD}


def page(answer: PlacementPlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `place`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "place", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_placement(made, answer, inventory, view)
    return made


def fill_placement(made: Page, answer: PlacementPlan, inventory: Inventory | None, view: View | None) -> None:
    """Fill the page with one picture of the whole placement, followed by the pods."""
    document = answer.document
    made.picks_title, made.gets_word, made.opens_on = "Pods that wait", "given", 0
    bound = [_bound(each) for each in answer.found.placed] if document.placed else []
    _add_answer(made, document, bound)
    if answer.proof is not None:
        if document.placed:
            _add_proof(made, answer.proof.document, gangs=bool(answer.document.groups))
        if inventory is not None and view is not None and made.scenes:
            made.picks[-1].marks = [_of_proof(answer.proof, inventory, Beginning(made.scenes[0], view))]
    for one, entry in zip(bound, document.placed, strict=False):
        pick = Pick(f"pick-{len(made.picks)}", f"pod/{one.pod}", picks.GOOD, "placed", f"on {one.node}", [])
        if made.scenes:
            pick.marks = [of_one(one, made.scenes[0], "placed here")]
        article = told.Article(pick.key, pick.name, picks.GOOD, "placed", f"Placed on {one.node}.")
        article.summary += [told.TextLine(f"Gets {line}") for line in device_lines(entry)]
        made.picks.append(pick)
        made.articles.append(article)
    late = {(one.namespace, one.name): one for one in document.refused_afterwards}
    for pod in document.left:
        name = f"pod/{pod.namespace}/{pod.name}"
        pick = Pick(f"pick-{len(made.picks)}", name, picks.BAD, "no place", "", [{} for _ in made.scenes])
        refused = late.get((pod.namespace, pod.name))
        said = f"{refused.plugin} rejects it on {refused.node}: {refused.message}" if refused is not None else ""
        made.picks.append(pick)
        article = told.Article(pick.key, name, picks.BAD, "no place", ("It does not fit together with the other pods."))
        article.summary = told.lines([said])
        made.articles.append(article)


def _bound(of: PlacedPod) -> DrawnPod:
    metadata = of.candidate.pod.metadata
    return DrawnPod(f"{metadata.namespace}/{metadata.name}", of.node, of.claims)


def _add_answer(made: Page, document: PlacementDocument, bound: list[DrawnPod]) -> None:
    tone, word = _TONES[document.outcome], document.outcome
    some = document.outcome == "Placed" or not document.placed
    name = "all of them at the same time" if some else "as many as can run at the same time"
    at_most = f"at most {document.at_most} of {words.counted(document.pods, 'pod')}"
    line = f"{document.at_least} can run, {at_most}" if document.at_least != document.at_most else at_most
    if document.outcome == "Placed":
        line = words.counted(len(bound), "pod")
    pick = Pick("pick-0", name, tone, word, line, [])
    if made.scenes:
        marks = of_all(bound, made.scenes[0])
        for late in document.refused_afterwards:
            place = made.scenes[0].by_node.get(late.node)
            if place is not None:
                said = f"{late.namespace}/{late.name}: {late.plugin}: {late.message}"
                marks[place.number] = Mark(picks.BAD, "rejects a pod afterwards", said)
        pick.marks = [marks]
    article = told.Article(pick.key, name, tone, word, f"{made.headline}.")
    article.bars = _bounds(document)
    article.blocks = told.blocks(wide(document, None)[1:-1])
    made.picks.append(pick)
    made.articles.append(article)


def _bounds(document: PlacementDocument) -> Bars:
    """Return the number of pods known to fit, of those that may fit, and of those that cannot."""
    least, most, pods = document.at_least, document.at_most, document.pods
    segments = [
        Segment(least, picks.GOOD, f"{least} {AT_ONCE}"),
        Segment(most - least, picks.OTHER, f"{most - least} more may be possible"),
        Segment(pods - most, picks.BAD, f"{pods - most} cannot run next to them (proved)"),
    ]
    return Bars("Pods that can run at the same time", [BarRow(words.counted(pods, "pod"), segments)])


def _add_proof(made: Page, proved: ImpossibilityProof, *, gangs: bool) -> None:
    """Add the proof that not all can be placed, next to the placement of those that can."""
    names = [f"{pod.namespace}/{pod.name}" for pod in proved.pods]
    pick = Pick(f"pick-{len(made.picks)}", "why not all of them", picks.BAD, "proof", words.listed(names, 4), [])
    lines = told.lines(proof(proved, gangs=gangs).lines)
    made.picks.append(pick)
    made.articles.append(told.Article(pick.key, pick.name, pick.tone, pick.word, lines[0].text, lines[1:]))


def _of_proof(proof: ProvedImpossible, inventory: Inventory, beginning: Beginning) -> dict[int, Mark]:
    """Return the nodes of the other pods in the set, and on each node why the remaining pod does not fit."""
    placed = [_bound(each) for each in proof.found.placed]
    claims = {claim.key: claim for one in placed for claim in one.claims}
    then = beginning.view.with_claims(tuple({**beginning.claims, **claims}.values()))
    left = f"{proof.document.left.namespace}/{proof.document.left.name}"
    if proof.refused is None:
        return {}
    refused = ((name, statuses) for name, statuses in proof.refused.of_nodes.items() if statuses)
    told_of = {name: ("DoesNotFit", statuses[0].message) for name, statuses in refused}
    nodes = with_nodes(inventory, infer=True)[0].nodes
    marks = picks.marks(
        refused_then(then, nodes, proof.refused.claims, proof.refused.allocated, told_of), beginning.scene
    )
    for mark in marks.values():
        mark.label = f"no room for {left}" if mark.label else ""
    for number, held in of_all(placed, beginning.scene).items():
        mark = marks.setdefault(number, Mark(picks.GOOD, ""))
        mark.label = "; ".join(part for part in (held.label, mark.label) if part)
        mark.gets = held.gets
        mark.notes = {at: note for at, note in mark.notes.items() if at not in held.gets}
    return marks
