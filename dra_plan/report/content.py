"""What a page holds, before any layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_plan.documents.base import PrintedDocument

from .findings import FileFindings
from .picks import Pick
from .scene import Scene
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
    picks_title: str = "Claim sets"
    gets_word: str = "would get"
    slider: bool = False
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
    def models(self) -> list[tuple[str, int, int]]:
        """What is free of each model, in the last picture."""
        return self.scenes[-1].models if self.scenes else []

    @property
    def states(self) -> list[str]:
        """The states that some device has."""
        return list(dict.fromkeys(state for scene in self.scenes for state in scene.states))

    @property
    def told_by(self) -> str:
        """The command whose tables stand below."""
        return f"dra-plan {self.command}".strip()
