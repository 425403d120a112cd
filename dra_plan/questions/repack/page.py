"""The page of `repack`: the waves in order, the pods that move, and the devices that are free in the end."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import moves, picks, told
from dra_plan.page.content import Page
from dra_plan.page.moves import DrawnMove
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Moments, Pick
from dra_plan.questions.repack import text as repack
from dra_plan.questions.repack.answer import RepackPlan
from dra_plan.questions.repack.document import AskedRoom, RepackDocument, RepackWave
from dra_plan.questions.repack.text import FORMATS
from dra_plan.text import words

_TONES = {"Fits": picks.GOOD, "Moves": picks.GOOD, "Impossible": picks.BAD}
_WORDS = {"Fits": "no pod has to move", "Moves": "room", "Impossible": "no room", "Undecided": "undecided"}


_ROOMS: dict[AskedRoom, Callable[[str], str]] = {
    "Free": lambda room: f"Free: {room}",
    "For": lambda room: f"Room for {room}",
    "Most": lambda _: "Room for pending pods",
}


def page(answer: RepackPlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `repack`. It has a picture if the cluster can be drawn."""
    document = answer.document
    made = begin(document, "repack", FORMATS)
    made.headline = repack.headline(document)
    made.picks_title, made.answers_title = "Waves and result", "Steps"
    made.gets_word, made.harm_word = "gets", "has to move"
    made.scenes = drawn(inventory, view)
    now = Moments(Beginning(made.scenes[0], view)) if made.scenes and view is not None else None
    for number, wave in enumerate(document.waves):
        _add_wave(made, document, number, wave, now)
        if now is not None and answer.carried is not None:
            made.picks[-1].change = now.become(answer.carried.path[number].claims)
    _add_room(made, document)
    if document.waves:
        moves.through_waves(made)
    return made


def _add_wave(made: Page, document: RepackDocument, number: int, wave: RepackWave, now: Moments | None) -> None:
    going = [DrawnMove(f"{pod.namespace}/{pod.name}", pod.from_node, pod.to_node, pod.devices) for pod in wave.moved]
    word = f"{words.counted(len(going), 'pod')} {'moves' if len(going) == 1 else 'move'}"
    pick = Pick(
        f"pick-{number}", f"Wave {number + 1}", picks.GOOD, word, words.listed([each.pod for each in going], 4), []
    )
    pick.ways = moves.ways(going)
    pick.marks = [moves.of_moves(going, drawn, now) for drawn in made.scenes]
    for scene, marks in zip(made.scenes, pick.marks, strict=True):
        for place in (scene.by_node[name] for name in wave.cordoned if name in scene.by_node):
            mark = marks.setdefault(place.number, Mark(picks.OTHER, ""))
            mark.label = ", ".join(part for part in ("cordoned", mark.label) if part)
    made.picks.append(pick)
    tables = [part for part in repack.wide(structs.replace(document, waves=[wave]), None) if not isinstance(part, str)]
    article = told.Article(pick.key, pick.name, pick.tone, word, f"{word}.")
    if wave.cordoned:
        article.summary = [told.TextLine(f"{repack.cordoned(wave.cordoned)}.")]
    article.blocks = told.blocks(told.without(tables, "WAVE"))
    made.articles.append(article)


def _add_room(made: Page, document: RepackDocument) -> None:
    """Add the wanted pods or devices, with their final nodes."""
    tone, word = _TONES.get(document.outcome, picks.OTHER), _WORDS[document.outcome]
    line = words.listed([place.node for place in document.places], 4) if document.places else ""
    pick = Pick(f"pick-{len(made.picks)}", _ROOMS[document.asked](document.room), tone, word, line, [])
    taken = [
        DrawnMove(f"{place.namespace}/{place.name}" if place.namespace else "", "", place.node, place.devices)
        for place in document.places
    ]
    pick.marks = [moves.of_moves(taken, drawn, None) for drawn in made.scenes]
    for scene, marks in zip(made.scenes, pick.marks, strict=True):
        for number, mark in marks.items():
            if scene.places[number].node is not None:
                mark.label = "has the room"
    made.picks.append(pick)
    sentences = [part for part in repack.table(document, None) if isinstance(part, str)]
    article = told.Article(pick.key, pick.name, tone, word, sentences[0])
    article.summary = [told.TextLine(each) for each in sentences[1:-1]]
    made.articles.append(article)
