"""The content of a page, independent of its layout."""

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
    """A finding, and its source line in three parts: before, at and after the position of the finding."""

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
    """The findings in a file, in line order."""

    name: str
    findings: list[ShownFinding]


@dataclass
class Page:
    """The content of a page: headline, pictures, entries to select, articles, and the whole `document`."""

    command: str
    headline: str
    target: str
    document: PrintedDocument | None = None
    scenes: list[Scene] = field(default_factory=list)
    picks: list[Pick] = field(default_factory=list)
    moments: list[PictureChange] = field(default_factory=list)
    """The changes to the initial picture at each of the times that entries show."""
    moments_in: int = 0
    """The index of the picture that the changes in `moments` apply to."""
    picks_title: str = "Pods and claims"
    opens_on: int | None = None
    """The index of the entry that is selected first. None means the first entry with a bad result."""
    gets_word: str = "would get"
    harm_word: str = ""
    """The text for devices whose users suffer from the selected entry."""
    slider: str = ""
    """The label of the slider, or "" if there is none."""
    before: str = ""
    """The caption of the picture before the slider's first step."""
    steps: int = 0
    """The number of entries that are steps of the slider. They come first."""
    curves: Curves | None = None
    """The curves over time, which show the slider's position."""
    tiles_when: str = ""
    """When the numbers of free devices at the top of the page apply, if this is not obvious."""
    marks_devices: bool = True
    """Whether entries show which devices they get."""
    articles: list[Article] = field(default_factory=list)
    answers_title: str = "The answer"
    findings: list[FileFindings] = field(default_factory=list)
    profiles: list[tuple[str, int, int]] = field(default_factory=list)
    """The kinds of device partitions: the name, how many still fit, and how many are published."""
    blocks: list[Block] = field(default_factory=list)
    warnings: Sequence[str] = ()

    @property
    def states(self) -> list[str]:
        """The states that devices have in any of the pictures or changes."""
        found = {state for scene in self.scenes for state in scene.states}
        changes = [*self.moments, *(pick.change for pick in self.picks if pick.change is not None)]
        found |= {device.state for change in changes for device in change.devices.values()}
        return [state for state in WORDS if state in found]

    @property
    def changes_nodes(self) -> bool:
        """Whether selecting an entry can change the cluster, instead of showing alternatives on single nodes."""
        return any(not pick.each_alone for pick in self.picks)

    @property
    def has_unsuitable(self) -> bool:
        """Whether any entry shows why a device is not suitable."""
        return any(mark.notes for pick in self.picks for marks in pick.marks for mark in marks.values())

    @property
    def has_parts(self) -> bool:
        """Whether the pictures show device partitions, some of which are too small for text."""
        return any(pool.physical for scene in self.scenes for place in scene.places for pool in place.pools)

    @property
    def told_by(self) -> str:
        """The command that prints the tables of the page."""
        return f"dra-plan {self.command}".strip()


MOST_ARTICLES = 150
"""The maximum number of brief articles that are laid out. If there are more, they become lines of text."""


MOST_GROUPS = 60
"""The maximum number of node groups listed for an entry. The groups with the most nodes come first."""


MOST_NODES = 8
"""The maximum number of nodes named in a group."""


def fill_boxes(made: Page) -> None:
    """Add to each article the texts that the picture's boxes show while the article's entry is selected."""
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
