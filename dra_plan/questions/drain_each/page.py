"""The page of `diff --drain each`, which shows how harmful it is to drain each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.base import ObjectName
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Mark, Pick
from dra_plan.page.scene import Scene, ScenePlace
from dra_plan.page.told import BarRow, Bars, Segment
from dra_plan.questions.drain_each import text as drains
from dra_plan.questions.drain_each.answer import DrainList
from dra_plan.questions.drain_each.document import DrainedNode, DrainsDocument, LostPod
from dra_plan.questions.drain_each.text import FORMATS
from dra_plan.text import words

MOST_NODES = 300
"""The maximum number of nodes that are listed, starting with the most harmful."""


def page(answer: DrainList, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `diff --drain each`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "diff", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_drains(made, answer.document)
    return made


def fill_drains(made: Page, document: DrainsDocument) -> None:
    """Fill the page with the losses that all drains share, and then with the losses of each drain."""
    made.picks_title, made.answers_title, made.opens_on = "Nodes, the worst first", "If it is drained", 0
    made.gets_word, made.harm_word = "has to move", "is lost"
    harmful = [node for node in document.nodes if node.lost or node.gone]
    made.headline = _headline(harmful, document)
    drawn = made.scenes[0] if made.scenes else None
    _add_all(made, document, drawn)
    running = _pods_of(drawn) if drawn is not None else {}
    for node in document.nodes[:MOST_NODES]:
        tone, word = _said(node)
        pods = [*_names(node.lost), *_names(node.gone)]
        pick = Pick(f"pick-{len(made.picks)}", node.name, tone, word, words.listed(pods, 4), [])
        if drawn is not None:
            pick.marks = [_marks(node, word, drawn, running)]
        article = told.Article(pick.key, pick.name, tone, word, f"{words.capital(word)}.")
        article.summary += told.lines([_numbers(node)])
        one = DrainsDocument(target=document.target, by=document.by, nodes=[node], warnings=[])
        article.blocks = told.blocks([part for part in drains.wide(one, None)[1:-1] if not isinstance(part, str)])
        made.picks.append(pick)
        made.articles.append(article)


def _names(pods: Sequence[LostPod | ObjectName]) -> list[str]:
    return [f"{pod.namespace}/{pod.name}" for pod in pods]


def _headline(harmful: list[DrainedNode], document: DrainsDocument) -> str:
    losing = [node for node in harmful if node.lost]
    if losing:
        worst = losing[0]
        most = f"the worst is {worst.name}, with {words.counted(len(worst.lost), 'pod')}"
        return f"{len(losing)} of {drains.drained(document)} cannot be drained without loss; {most}"
    return drains.none_lost(document)


def _said(node: DrainedNode) -> tuple[str, str]:
    if node.lost:
        return picks.BAD, f"{words.counted(len(node.lost), 'pod')} left pending"
    if node.gone:
        return picks.OTHER, f"{words.counted(len(node.gone), 'pod')} not recreated"
    if node.absent:
        return picks.OTHER, f"{words.counted(len(node.absent), 'pod')} not in the input"
    if node.undecided:
        return picks.OTHER, f"{words.counted(len(node.undecided), 'pod')} undecided"
    return picks.GOOD, "nothing is lost"


def _numbers(node: DrainedNode) -> str:
    parts = [
        (node.moved, f"{words.counted(node.moved, 'pod')} would be bound to other nodes"),
        (len(node.gone), f"{words.counted(len(node.gone), 'pod')} would be terminated and not recreated"),
        (node.gained, f"{words.counted(node.gained, 'pod')} that cannot be scheduled now would be scheduled"),
        (len(node.undecided), f"{words.counted(len(node.undecided), 'pod')} undecided"),
    ]
    said = [part for number, part in parts if number]
    return f"{words.capital('; '.join(said))}." if said else ""


def _add_all(made: Page, document: DrainsDocument, drawn: Scene | None) -> None:
    lost = sum(bool(node.lost) for node in document.nodes)
    unclear = any(node.undecided for node in document.nodes)
    word = f"{lost} of {len(document.nodes)} with loss" if lost else "undecided" if unclear else "nothing is lost"
    tone = picks.BAD if lost else picks.OTHER if unclear else picks.GOOD
    pick = Pick("pick-0", "each node in turn", tone, word, "", [])
    if drawn is not None:
        pick.marks = [
            {
                drawn.by_node[node.name].number: Mark(*_said(node))
                for node in document.nodes
                if node.name in drawn.by_node
            }
        ]
    rows = [
        BarRow(
            node.name,
            [
                Segment(len(node.lost), picks.BAD, f"{len(node.lost)} left pending"),
                Segment(len(node.gone), picks.OTHER, f"{len(node.gone)} not recreated"),
                Segment(node.moved, picks.GOOD, f"{node.moved} moved"),
                Segment(len(node.undecided), picks.OTHER, f"{len(node.undecided)} undecided"),
                Segment(len(node.absent), picks.OTHER, f"{len(node.absent)} not in the input"),
            ],
        )
        for node in document.nodes[:MOST_NODES]
    ]
    rest = len(document.nodes) - MOST_NODES
    article = told.Article(pick.key, pick.name, tone, word, made.headline + ".")
    article.bars = Bars("Pods, by the node that is drained", rows)
    article.rest = [told.TextLine(f"{words.counted(rest, 'other node')} in the tables below.")] if rest > 0 else []
    made.picks.append(pick)
    made.articles.append(article)


Running = Mapping[int, Mapping[int, list[str]]]
"""The pods that use each device, by the place and the position of the device."""


def _pods_of(drawn: Scene) -> Running:
    return {
        place.number: {
            device.at: [f"{holder.namespace}/{pod}" for holder in device.drawn.holders for pod in holder.pods]
            for device in place.devices
            if device.drawn.holders
        }
        for place in drawn.places
    }


def _marks(node: DrainedNode, word: str, drawn: Scene, running: Running) -> dict[int, Mark]:
    place: ScenePlace | None = drawn.by_node.get(node.name)
    if place is None:
        return {}
    mark = Mark(_said(node)[0], f"drained: {word}")
    lost, gone = _names(node.lost), _names(node.gone)
    for at, pods in running.get(place.number, {}).items():
        without_place, without_maker = ([pod for pod in pods if pod in of] for of in (lost, gone))
        if without_place:
            mark.harms[at] = f"{words.listed(without_place)} could not be scheduled"
        elif without_maker:
            mark.harms[at] = f"{words.listed(without_maker)} would be terminated and not recreated"
        elif pods:
            mark.gets[at] = words.listed(pods)
    return {place.number: mark}
