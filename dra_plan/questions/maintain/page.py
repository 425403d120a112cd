"""The page of `maintain`: the waves in order, the pods that move, and the cluster after the last wave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import moves, picks, told
from dra_plan.page.content import Page
from dra_plan.page.moves import DrawnMove
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Moments, Pick, PictureChange
from dra_plan.page.scene import Scene, SceneDevice, ScenePlace
from dra_plan.questions.maintain import text as maintain
from dra_plan.questions.maintain.answer import MaintenancePlan
from dra_plan.questions.maintain.document import GivenBackNode, MaintenanceDocument, Stop, Wave
from dra_plan.questions.maintain.text import FORMATS
from dra_plan.text import words

LAST = "After the last wave"


def page(answer: MaintenancePlan, inventory: Inventory | None, _view: View | None) -> Page:
    """Return the page for a result of `maintain`. It has a picture if the cluster can be drawn."""
    document = answer.document
    made = begin(document, "maintain", FORMATS)
    made.headline = maintain.headline(document)
    made.picks_title, made.answers_title = "Waves", "What is done"
    made.gets_word, made.harm_word = "gets", "has to move"
    start = answer.path[0]
    view = View.of(start, answer.target)
    if inventory is not None:
        made.scenes = drawn(start, view, new=set(document.surge))
    is_changed = any(node.slices for wave in document.waves for node in wave.given_back)
    if made.scenes and is_changed:
        made.scenes[0].title = "During the waves"
        made.scenes += drawn(answer.path[-1], View.of(answer.path[-1], answer.target), LAST)
    going_on = Moments(Beginning(made.scenes[0], view)) if made.scenes else None
    for number, wave in enumerate(document.waves, 1):
        _add_wave(made, document, number, wave, going_on)
        if going_on is not None:
            made.picks[-1].change = _carried_out(wave, answer.path[number], made.scenes[0], going_on)
    if document.waves:
        _add_end(made, document)
    if document.stop is not None:
        _add_stop(made, document, document.stop)
        if going_on is not None:
            made.picks[0].moment, made.moments = 0, [going_on.become(answer.path[-1].claims)]
            made.picks[0].marks = [_stopped(made, document.stop, going_on)]
    if document.waves:
        moves.through_waves(made)
    return made


def _add_wave(made: Page, document: MaintenanceDocument, number: int, wave: Wave, now: Moments | None) -> None:
    names = words.listed([maintain.named(document, name) for name in wave.nodes], 6)
    line = f"{words.counted(len(wave.moved), 'pod')} {'moves' if len(wave.moved) == 1 else 'move'}"
    pick = Pick(f"pick-{number - 1}", f"Wave {number}", picks.GOOD, names, line, [])
    going = [DrawnMove(f"{pod.namespace}/{pod.name}", pod.from_node, pod.to_node, pod.devices) for pod in wave.moved]
    pick.ways = moves.ways(going)
    pick.marks = [moves.of_moves(going, drawn, None if at else now) for at, drawn in enumerate(made.scenes)]
    changed = {node.name: node for each in document.waves[: number - 1] for node in each.given_back}
    for at, (scene, marks) in enumerate(zip(made.scenes, pick.marks, strict=True)):
        said = {name: _back(node) for name, node in changed.items()} | dict.fromkeys(wave.nodes, "drained")
        for place in (scene.by_node[name] for name in said if name in scene.by_node):
            if at == 0 or place.title in wave.nodes:
                mark = marks.setdefault(place.number, Mark(picks.OTHER, ""))
                mark.label = ", ".join(part for part in (said[place.title], mark.label) if part)
    made.picks.append(pick)
    alone = structs.replace(document, waves=[wave])
    article = told.Article(pick.key, pick.name, pick.tone, pick.word, f"{names}: {line}.")
    article.summary = [told.TextLine(f"{node.name} is {_back(node)}.") for node in wave.given_back]
    tables = [part for part in maintain.wide(alone, None) if not isinstance(part, str)]
    article.blocks = told.blocks(told.without(tables, "WAVE")) if wave.moved else []
    made.articles.append(article)


def _carried_out(wave: Wave, after: Inventory, drawn: Scene, now: Moments) -> PictureChange:
    """Return the changes of a wave; devices that a node does not return with become unavailable."""
    made = now.become(after.claims)
    for node in (node for node in wave.given_back if node.slices):
        drivers = {name.partition("/")[0] for name in node.devices}
        place = drawn.by_node[node.name]
        for device in now.devices(place):
            if device.pool.driver in drivers and device.name not in node.devices:
                gone = replace(device.drawn, state="Unavailable", reason=("gone: the node comes back with new slices"))
                made.devices[place.number, device.at] = SceneDevice(device.at, device.pool, gone)
    return made


def _back(node: GivenBackNode) -> str:
    said = []
    if node.slices:
        said.append(f"new slices and {words.counted(len(node.devices), 'device')}")
    if node.kubelet_version:
        said.append(f"a kubelet of {node.kubelet_version}")
    return f"comes back with {words.listed(said)}" if said else "returned"


def _add_end(made: Page, document: MaintenanceDocument) -> None:
    """Add the final state: the nodes of all moved pods after all waves."""
    ended: dict[str, DrawnMove] = {}
    for pod in (pod for wave in document.waves for pod in wave.moved):
        name = f"{pod.namespace}/{pod.name}"
        first = ended[name].from_node if name in ended else pod.from_node
        ended[name] = DrawnMove(name, first, pod.to_node, pod.devices)
    line = f"{words.counted(len(ended), 'pod')} moved"
    pick = Pick(f"pick-{len(made.picks)}", LAST, picks.GOOD, "all returned", line, [])
    pick.marks = [moves.of_moves(list(ended.values()), drawn, None) for drawn in made.scenes]
    for scene, marks in zip(made.scenes, pick.marks, strict=True):
        for name in document.surge:
            if name in scene.by_node:
                marks[scene.by_node[name].number] = Mark(picks.OTHER, "removed")
    made.picks.append(pick)
    sentences = [part for part in maintain.table(document, None) if isinstance(part, str)]
    article = told.Article(pick.key, pick.name, pick.tone, pick.word, sentences[0])
    article.summary = [told.TextLine(each) for each in (*sentences[1:-1], *maintain.recreated(document))]
    made.articles.append(article)


def _add_stop(made: Page, document: MaintenanceDocument, stop: Stop) -> None:
    tone = picks.BAD if document.outcome == "Impossible" else picks.OTHER
    pick = Pick("pick-0", f"The drain of {stop.node}", tone, "stops", f"at pod {stop.pod}", [])
    made.picks.append(pick)
    article = told.Article(pick.key, pick.name, tone, pick.word, f"{maintain.stopped(stop)}.")
    made.articles.append(article)


def _stopped(made: Page, stop: Stop, now: Moments) -> dict[int, Mark]:
    """Return the marks of the stop: the node with the devices of the pod, and the nodes drained before."""
    scene = made.scenes[0]
    marks = {
        scene.by_node[name].number: Mark(picks.GOOD, "drained, returned") for name in stop.done if name in scene.by_node
    }
    place = scene.by_node.get(stop.node)
    if place is not None:
        said = dict(_held(stop, place, now))
        marks[place.number] = Mark(picks.BAD, f"stops at {stop.pod}", harms=said)
    return marks


def _held(stop: Stop, place: ScenePlace, now: Moments) -> Iterator[tuple[int, str]]:
    for device in now.devices(place):
        if any(f"{holder.namespace}/{pod}" == stop.pod for holder in device.drawn.holders for pod in holder.pods):
            yield device.at, f"{stop.pod} can't leave"
