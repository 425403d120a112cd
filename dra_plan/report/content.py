"""What a page holds, before any layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_plan.documents.base import PrintedDocument

from .devices import WORDS
from .findings import FileFindings
from .moments import PictureChange
from .picks import Pick
from .scene import CountedModel, Scene
from .told import Article, Block


@dataclass
class Page:
    """A page: its headline, the pictures, what can be picked, and what is told; `document` is in it, whole."""

    command: str
    headline: str
    target: str
    document: PrintedDocument | None = None
    scenes: list[Scene] = field(default_factory=list)
    picks: list[Pick] = field(default_factory=list)
    moments: list[PictureChange] = field(default_factory=list)
    """What is another than in the beginning, at moments that picks are shown in."""
    moments_in: int = 0
    """The picture in which they are shown."""
    picks_title: str = "Claim sets"
    opens_on: int | None = None
    """The pick that the page opens on; None for the first that ended badly."""
    gets_word: str = "would get"
    harm_word: str = ""
    """What is said of devices whose holders suffer from what is picked."""
    slider: bool = False
    tiles_when: str = ""
    """When as much was free as the head of the page says, where that is not plain."""
    marks_devices: bool = True
    """Whether picks say which devices they get."""
    articles: list[Article] = field(default_factory=list)
    answers_title: str = "The answer"
    findings: list[FileFindings] = field(default_factory=list)
    profiles: list[tuple[str, int, int]] = field(default_factory=list)
    """Kinds of parts of devices: how many still fit, and how many are listed."""
    blocks: list[Block] = field(default_factory=list)
    warnings: Sequence[str] = ()

    @property
    def models(self) -> list[CountedModel]:
        """What is free of each model, in the last picture."""
        return self.scenes[-1].models if self.scenes else []

    @property
    def states(self) -> list[str]:
        """The states that some device has, in some picture or at some moment."""
        found = {state for scene in self.scenes for state in scene.states}
        changes = [*self.moments, *(pick.change for pick in self.picks if pick.change is not None)]
        found |= {device.state for change in changes for device in change.devices.values()}
        return [state for state in WORDS if state in found]

    @property
    def is_told(self) -> bool:
        """Whether anything but tables stands beside the picture."""
        return bool(self.articles or self.findings or self.warnings)

    @property
    def has_unsuitable(self) -> bool:
        """Whether some pick says why a device does not do."""
        return any(mark.notes for pick in self.picks for marks in pick.marks for mark in marks.values())

    @property
    def has_parts(self) -> bool:
        """Whether parts of devices are drawn, some of them without room for words."""
        return any(pool.physical for scene in self.scenes for place in scene.places for pool in place.pools)

    @property
    def told_by(self) -> str:
        """The command whose tables stand below."""
        return f"dra-plan {self.command}".strip()
