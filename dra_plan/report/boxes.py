"""What the boxes of the picture say of each pick, as text: for whoever reads without a script, and for paper.

Nodes on which the same is said of the same devices stand together. Layout belongs to the templates.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.output import explain_words as words

from .content import Page
from .picks import Mark, Pick
from .scene import ScenePlace
from .told import BoxLines

MOST_GROUPS = 60
"""Groups of nodes that are told of one pick: of more, those with the most nodes."""

MOST_NODES = 8
"""Nodes of a group that are named."""


def fill_boxes(made: Page) -> None:
    """Each article gets what the boxes say when its pick is shown."""
    articles = {article.key: article for article in made.articles}
    for pick in made.picks:
        if pick.key in articles:
            articles[pick.key].boxes = list(_told(pick, made))


def _told(pick: Pick, made: Page) -> Iterator[BoxLines]:
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for drawn, marks in zip(made.scenes, pick.marks, strict=False):
        for number, mark in sorted(marks.items()):
            place = drawn.places[number]
            if said := tuple(_lines(place, mark, made)):
                groups.setdefault((drawn.title, mark.label, said), []).append(place.title)
    shown = list(groups.items())
    if len(shown) > MOST_GROUPS:
        shown = sorted(shown, key=lambda each: -len(each[1]))[:MOST_GROUPS]
    for (title, label, said), names in shown:
        whose = ": ".join(part for part in (title, words.listed(names, MOST_NODES), label) if part)
        yield BoxLines(whose, said)
    if rest := len(groups) - len(shown):
        yield BoxLines(f"{words.counted(rest, 'other group')} of nodes: on the picture, one by one.", ())


def _lines(place: ScenePlace, mark: Mark, made: Page) -> Iterator[str]:
    """Each thing that is said, with the devices of which it is."""
    found: dict[str, list[str]] = {}
    for device in place.devices:
        if device.at in mark.gets:
            said = ", ".join(part for part in (made.gets_word, mark.gets[device.at]) if part)
        elif device.at in mark.harms:
            said = f"{made.harm_word}, {mark.harms[device.at]}"
        elif device.at in mark.notes:
            said = mark.notes[device.at]
        else:
            continue
        several = len(place.pools) > 1
        found.setdefault(said, []).append(f"{device.pool.driver}/{device.drawn.name}" if several else device.drawn.name)
    for said, names in found.items():
        yield f"{words.listed(names, len(names))}: {said}"
