"""The content of a page, before any layout, and the text of its boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dra_plan.documents.base import PrintedDocument
from dra_plan.page.curves import Curves
from dra_plan.page.picks import Mark, Pick, PictureChange
from dra_plan.page.scene import WORDS, Scene, ScenePlace
from dra_plan.page.told import Article, Block, BoxLines
from dra_plan.text import words


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding with its line in three parts: the text before the position, the text at the position, and the rest."""

    code: str
    severity: str
    message: str
    line: int
    excerpt: bool
    before: str
    marked: str
    after: str
    about: str
    help: str
    why: str
    suggestion: str
    fix: str


@dataclass(frozen=True, slots=True)
class FileFindings:
    """The findings in one file, in the order of their lines."""

    name: str
    findings: list[ShownFinding]


@dataclass
class Page:
    """The content of a page: its headline, the pictures, the picks, and the articles.

    It includes the whole `document`.
    """

    command: str
    headline: str
    target: str
    document: PrintedDocument | None = None
    scenes: list[Scene] = field(default_factory=list)
    picks: list[Pick] = field(default_factory=list)
    moments: list[PictureChange] = field(default_factory=list)
    """The changes from the initial picture at the times at which picks are shown."""
    moments_in: int = 0
    """The index of the picture in which these times are shown."""
    picks_title: str = "Pods and claims"
    opens_on: int | None = None
    """The pick with which the page opens; None for the first pick that ended badly."""
    gets_word: str = "would get"
    harm_word: str = ""
    """The word for devices whose holders suffer from the pick."""
    slider: str = ""
    """The label of the slider; "" for none."""
    before: str = ""
    """The caption of the picture before the first step."""
    steps: int = 0
    """The number of picks that are steps of the slider; these come first."""
    curves: Curves | None = None
    """The curves over time, with the positions of the slider's steps."""
    tiles_when: str = ""
    """The time to which the free devices at the top of the page refer, if it is not obvious."""
    marks_devices: bool = True
    """True if picks say which devices they get."""
    articles: list[Article] = field(default_factory=list)
    answers_title: str = "The answer"
    findings: list[FileFindings] = field(default_factory=list)
    profiles: list[tuple[str, int, int]] = field(default_factory=list)
    """Kinds of partitions of devices: the number that still fit, and the number that are listed."""
    blocks: list[Block] = field(default_factory=list)
    warnings: Sequence[str] = ()

    @property
    def states(self) -> list[str]:
        """The states that devices have in any picture or at any time."""
        found = {state for scene in self.scenes for state in scene.states}
        changes = [*self.moments, *(pick.change for pick in self.picks if pick.change is not None)]
        found |= {device.state for change in changes for device in change.devices.values()}
        return [state for state in WORDS if state in found]

    @property
    def changes_nodes(self) -> bool:
        """True if any pick changes the cluster. Other picks only try single nodes."""
        return any(not pick.each_alone for pick in self.picks)

    @property
    def has_unsuitable(self) -> bool:
        """True if any pick says why a device is not suitable."""
        return any(mark.notes for pick in self.picks for marks in pick.marks for mark in marks.values())

    @property
    def has_parts(self) -> bool:
        """True if device partitions are drawn. Some partitions are too small for text."""
        return any(pool.physical for scene in self.scenes for place in scene.places for pool in place.pools)

    @property
    def told_by(self) -> str:
        """The command that prints the tables on the page."""
        return f"dra-plan {self.command}".strip()


MOST_ARTICLES = 150
"""The number of articles above which brief articles are shown as text, line by line."""


MOST_GROUPS = 60
"""The number of node groups that are listed for one pick; the groups with the most nodes come first."""


MOST_NODES = 8
"""The maximum number of nodes in a group that are named."""


def fill_boxes(made: Page) -> None:
    """Add to each article the text that the boxes in the picture show while the article's pick is shown."""
    articles = {article.key: article for article in made.articles}
    for pick in made.picks:
        if pick.key in articles:
            articles[pick.key].boxes = list(_told(pick, made))


def _told(pick: Pick, made: Page) -> Iterator[BoxLines]:
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for drawn, marks in zip(made.scenes, pick.marks, strict=False):
        for number, mark in sorted(marks.items()):
            place = drawn.places[number]
            if said := tuple(_lines(place, mark, made, WORDS["used"] if pick.has_devices else made.gets_word)):
                groups.setdefault((drawn.title, mark.label, said), []).append(place.title)
    shown = list(groups.items())
    if len(shown) > MOST_GROUPS:
        shown = sorted(shown, key=lambda each: -len(each[1]))[:MOST_GROUPS]
    for (title, label, said), names in shown:
        whose = ": ".join(part for part in (title, words.listed(names, MOST_NODES), label) if part)
        yield BoxLines(whose, said)
    if rest := len(groups) - len(shown):
        yield BoxLines(f"{words.counted(rest, 'other group')} of nodes: on the picture, one by one.", ())


def _lines(place: ScenePlace, mark: Mark, made: Page, gets: str) -> Iterator[str]:
    """Yield each statement, with the devices that it applies to."""
    found: dict[str, list[str]] = {}
    for device in place.devices:
        if device.at in mark.gets:
            said = ", ".join(part for part in (gets, mark.gets[device.at]) if part)
        elif device.at in mark.harms:
            said = f"{made.harm_word}, {mark.harms[device.at]}"
        elif device.at in mark.notes:
            said = mark.notes[device.at]
        elif device.at in mark.others:
            said = mark.others[device.at]
        else:
            continue
        several = len(place.pools) > 1
        found.setdefault(said, []).append(f"{device.pool.driver}/{device.drawn.name}" if several else device.drawn.name)
    for said, names in found.items():
        yield f"{words.listed(names, len(names))}: {said}"
