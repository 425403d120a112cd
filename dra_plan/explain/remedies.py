"""Where suggestions are tried: which stories, on which of their nodes, and against which other nodes they must hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.allocator import Outcome
from dra_plan.api.core import Node

from . import changes, suggest
from .change import Change
from .findings import findings_of
from .funnel import NodeView
from .scene import Budget, Scene, Stage
from .story import Story

MOST_TRIED = 6
"""Stories on whose nodes changes are tried."""

MOST_ERRORS = 300
"""Nodes with an error that are asked whether a change removes it."""

MOST_CONFIRMED = 100
"""Other nodes that are asked whether a change leads to an error there."""

CONFIRM_STEPS = 2_000
"""Search steps for one such question."""


class Remedies:
    """What would make a claim set fit, found on the nodes of its stories."""

    def __init__(self, stage: Stage, stories: Sequence[Story]) -> None:
        self._stage, self._stories = stage, stories
        fitting = [s.nodes[0] for s in stories if s.answer.outcome is Outcome.FITS]
        self._errors = [story for story in stories if story.answer.outcome is Outcome.ERROR]
        self._needed = bool(self._errors) or not fitting
        self._others = list(_others(stories, self._errors))
        elsewhere = fitting[0].metadata.name if fitting else None
        self._suggester = suggest.Suggester(self._confirmed, elsewhere)

    @property
    def tried(self) -> int:
        """How many changes, or combinations of changes, were tried."""
        return self._suggester.tried

    def found(self) -> list[suggest.Suggestion]:
        """What helped."""
        return self._suggester.found()

    def seek(self) -> None:
        """Tries changes where they might help; where some node ends the attempt with an error, only there."""
        if not self._needed:
            return
        told = self._errors or [story for story in self._stories if not story.elsewhere]
        for alone in (True, False):
            for story in told[:MOST_TRIED]:
                for position in _places(story):
                    self._try(story, position, alone=alone)
            if self._suggester.found():
                return

    def _try(self, story: Story, position: int, *, alone: bool) -> None:
        scene, view = self._stage.scene(story.nodes[position]), story.views[position]
        made = changes.of_fault(scene, story.fault) if story.fault is not None else []
        if view is not None:
            made += changes.candidates(view, story.blocking, findings_of([view]), blames_all=story.defect is not None)
        if alone:
            self._suggester.try_each(scene, made)
        else:
            self._suggester.try_together(scene, made)

    def _confirmed(self, made: Sequence[Change]) -> bool:
        """Whether the changes lead to an error on none of the other nodes, where one would end the attempt for all."""
        budget = Budget(len(self._others) * CONFIRM_STEPS, CONFIRM_STEPS)
        return not any(_errs(self._stage.scene(node), made, budget) for node in self._others)


def _errs(scene: Scene, made: Sequence[Change], budget: Budget) -> bool:
    for change in made:
        scene = change.apply(scene)
    return scene.ask(budget).outcome is Outcome.ERROR


def _places(story: Story) -> list[int]:
    """The nodes of a story on which least is lacking or in use, and the first: where changes are tried."""
    lacking = [_lack(view) for view in story.views]
    return list(dict.fromkeys((lacking.index(min(lacking)), 0)))


def _lack(view: NodeView | None) -> tuple[int, int]:
    """How many devices are lacking for requests that can't be met alone; then, how many others have in use."""
    if view is None:
        return 0, 0
    failing = view.failing()
    lacking = sum(min(max(0, funnel.need - len(funnel.left)) for funnel in funnels) for funnels in failing)
    return lacking, sum(len(r.devices) for fs in failing for f in fs for r in f.removals if r.step == "in-use")


def _others(stories: Sequence[Story], errors: Sequence[Story]) -> Iterator[Node]:
    """The nodes with an error, then one of each story, then more of them all; as many as can be asked."""
    chosen: dict[str, Node] = {}
    failing = [node for story in errors for node in story.nodes][:MOST_ERRORS]
    others = [*(s.nodes[0] for s in stories), *(node for s in stories for node in s.nodes)][:MOST_CONFIRMED]
    for node in (*failing, *others):
        chosen.setdefault(node.metadata.name, node)
    yield from chosen.values()
