"""The page of `replay`: curves over time, and the nodes and devices at each kept sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.curves import Curve, CurveLine, Curves
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Beginning, Mark, Moments, Pick, PictureChange
from dra_plan.page.scene import Scene, SceneDevice
from dra_plan.questions.replay import text as replay
from dra_plan.questions.replay.answer import Replay
from dra_plan.questions.replay.document import FleetSample, ReplayDocument, ReplayedPod, ReplayRun
from dra_plan.questions.replay.fleet import KeptMoment
from dra_plan.questions.replay.text import FORMATS, Value, duration
from dra_plan.text import words
from dra_plan.text.columns import Table

NOT_THERE = "the node is not in the cluster"
MOST_NAMED = 8
"""The maximum number of pods that are named for one moment."""


def page(answer: Replay, inventory: Inventory | None, _view: View | None) -> Page:
    """Return the page for a result of `replay`. It has a picture if the cluster can be drawn."""
    document = answer.document
    made = begin(document, "replay", FORMATS)
    made.headline = _headline(document)
    made.picks_title, made.answers_title, made.gets_word = "Moments", "At this moment", "newly allocated"
    view = View.of(answer.enlarged, answer.target)
    if inventory is not None:
        there = {node.metadata.name for node in inventory.nodes}
        later = {node.metadata.name for node in answer.enlarged.nodes} - there
        made.scenes = drawn(answer.enlarged, view, new=later)
    now = Moments(Beginning(made.scenes[0], view)) if made.scenes else None
    before = 0.0
    for number, kept in enumerate(answer.kept):
        sample = document.runs[0].samples[kept.sample]
        made.picks.append(_pick(document.runs[0], kept, number, before))
        if now is not None:
            _draw(made, made.picks[-1], kept, now)
        made.articles.append(_article(made.picks[-1], document, kept.sample))
        before = sample.second
    made.opens_on = len(made.picks) - 1 if made.picks else None
    made.curves = _curves(document, [kept.sample for kept in answer.kept])
    if made.picks:
        made.slider, made.steps = "Time", len(made.picks)
        named = f" The fleet is that of {document.runs[0].name}." if len(document.runs) > 1 else ""
        made.tiles_when = f"At the start.{named}"
    return made


def _headline(document: ReplayDocument) -> str:
    """Return the duration and the use, also for the run to compare with."""
    shares = [f"{100 * run.used:.1f}%" for run in document.runs]
    used = words.listed([f"{share} ({run.name})" for share, run in zip(shares, document.runs, strict=True)])
    used = used if len(shares) > 1 else shares[0]
    waiting = document.runs[0].samples[-1].waiting
    left = f"; {words.counted(int(waiting), 'pod')} still waiting" if waiting else ""
    return f"{used} of all devices allocated on average over {duration(document.seconds)}{left}"


# -- moments -----------------------------------------------------------------------------------------------------------


def _pick(run: ReplayRun, kept: KeptMoment, number: int, before: float) -> Pick:
    sample = run.samples[kept.sample]
    came = [pod for pod in run.pods if _within(pod.bound, before, sample.second, first=not number)]
    went = [pod for pod in run.pods if pod.bound is not None and _within(pod.ended, before, sample.second)]
    word = f"{sample.bound:g} bound, {sample.waiting:g} waiting"
    said = [
        f"{words.counted(len(pods), 'pod')} {one if len(pods) == 1 else many}"
        for pods, one, many in ((came, "got a node", "got a node"), (went, "ended", "ended"))
        if pods
    ]
    made = Pick(f"pick-{number}", f"At {duration(sample.second)}", picks.PLAIN, word, "; ".join(said), [])
    made.step = number + 1
    return made


def _within(moment: float | None, after: float, until: float, *, first: bool = False) -> bool:
    return moment is not None and (after < moment <= until or (first and moment <= until))


def _article(pick: Pick, document: ReplayDocument, number: int) -> told.Article:
    """Return the figures of the moment, and the pending pods."""
    article = told.Article(pick.key, pick.name, pick.tone, pick.word, f"{pick.word}.".capitalize())
    article.summary = [told.TextLine(f"{words.capital(part)}.") for part in pick.line.split("; ") if part]
    alone = [
        structs.replace(run, samples=run.samples[number : number + 1], bands=run.bands[number : number + 1])
        for run in document.runs
        if number < len(run.samples)
    ]
    article.blocks = [_turned(replay.samples(structs.replace(document, runs=alone), replay.ALL))]
    second = document.runs[0].samples[number].second
    waiting = [f"{pod.namespace}/{pod.name}" for pod in document.runs[0].pods if _waits(pod, second)]
    if waiting:
        article.summary.append(told.TextLine(f"Waiting: {words.listed(waiting, MOST_NAMED)}."))
    return article


def _turned(figures: Table) -> told.TextTable:
    """Return a row per figure, a column per run."""
    named = figures.headers[0] == "RUN"
    rows = [
        [header.capitalize(), *(row[at] for row in figures.rows)]
        for at, header in enumerate(figures.headers)
        if header not in ("RUN", "TIME")
    ]
    return told.TextTable(["Figure", *([row[0] for row in figures.rows] if named else ["Now"])], rows)


def _waits(pod: ReplayedPod, second: float) -> bool:
    bound_later = pod.bound is None or pod.bound > second
    return pod.arrived <= second and bound_later and (pod.ended is None or pod.ended > second)


# -- on the picture ----------------------------------------------------------------------------------------------------


def _draw(made: Page, pick: Pick, kept: KeptMoment, now: Moments) -> None:
    """Draw the devices at that moment: those allocated since the previous moment are marked."""
    drawn = made.scenes[0]
    pick.change = now.become(kept.claims)
    marks: dict[int, Mark] = {}
    for (place, at), device in sorted(pick.change.devices.items()):
        mark = marks.setdefault(place, Mark(picks.OTHER, ""))
        if device.state in ("used", "shared"):
            mark.gets[at] = device.detail
    for mark in marks.values():
        mark.label = "more in use" if mark.gets else "less in use"
    for place, devices in _absent(drawn, kept, now):
        for device in devices:
            pick.change.devices[place, device.at] = device
        marks[place] = Mark(picks.OTHER, "not in the cluster")
    _back(drawn, kept, now, pick.change)
    pick.marks = [marks]


def _absent(drawn: Scene, kept: KeptMoment, now: Moments) -> Iterator[tuple[int, list[SceneDevice]]]:
    """Yield the nodes that do not exist at that moment, with unavailable devices."""
    for name, place in drawn.by_node.items():
        if name not in kept.nodes:
            yield (
                place.number,
                [
                    SceneDevice(one.at, one.pool, replace(one.drawn, state="Unavailable", reason=NOT_THERE))
                    for one in now.devices(place)
                ],
            )


def _back(drawn: Scene, kept: KeptMoment, now: Moments, change: PictureChange) -> None:
    """Restore the devices of existing nodes, whatever their previous state was."""
    for name in kept.nodes:
        place = drawn.by_node.get(name)
        if place is not None and place.is_new:
            for device in now.devices(place):
                change.devices.setdefault((place.number, device.at), device)


# -- curves ------------------------------------------------------------------------------------------------------------


_CURVES: tuple[tuple[str, str, Value], ...] = (
    ("Devices allocated", "%", replay.share),
    ("Waiting pods", "pods", lambda one: one.waiting),
    ("Fragmented devices", "devices", lambda one: one.fragmented),
    ("Idle nodes", "nodes", lambda one: one.whole_idle_nodes),
)


def _curves(document: ReplayDocument, stops: Sequence[int]) -> Curves:
    longest = max(document.runs, key=lambda run: len(run.samples))
    seconds = [sample.second for sample in longest.samples]
    made = []
    for title, unit, value in _CURVES:
        lines = [CurveLine(run.name, *_values(run, value, len(seconds))) for run in document.runs]
        made.append(Curve(title, unit, lines, 100.0 if unit == "%" else 0.0))
    return Curves(seconds, [duration(each) for each in seconds], made, stops)


def _values(run: ReplayRun, value: Value, length: int) -> Iterator[list[float]]:
    """Yield the values, and for several orders the mean, the minimum and the maximum; an ended run keeps its state."""
    if not run.bands:
        yield list(_filled((value(one) for one in run.samples), length))
        return
    for part in ("mean", "least", "most"):
        samples: list[FleetSample] = [getattr(band, part) for band in run.bands]
        yield list(_filled((value(one) for one in samples), length))


def _filled(values: Iterable[float], length: int) -> list[float]:
    made = list(values)
    return made + made[-1:] * (length - len(made))
