"""The reasons of an AllocationPlan's nodes: for each node a flat list, the cause first.

Every code is described in docs/reasons.md.
"""

from __future__ import annotations

from typing import Any

from dra_plan.allocator import Outcome

from . import document
from .blocking import SAME_EVERYWHERE, BlockingSet
from .change import about
from .funnel import Funnel, NodeView
from .story import SetExplanation, Story

Data = dict[str, Any]


def reasons_by_node(told: SetExplanation) -> dict[str, list[Data]]:
    """The reasons of every node that was asked."""
    return {
        node.metadata.name: reasons(story, position)
        for story in told.stories
        for position, node in enumerate(story.nodes)
    }


def reasons(story: Story, position: int) -> list[Data]:
    """Why the claims do not fit on the node at this position of the story: the cause first."""
    if story.answer.outcome is Outcome.FITS and not story.elsewhere:
        return []
    made: list[Data] = []
    if story.defect is not None:
        made.append({"code": "upstream-defect", **document.defect(story.defect)})
    if story.fault is not None:
        made.append(document.fault(story.fault))
    made += [{"code": "claim-elsewhere", "claim": document.name(claim)} for claim in story.elsewhere]
    if story.answer.outcome is Outcome.UNDECIDED:
        made.append({"code": "undecided", "steps": story.answer.steps})
    view = story.views[position]
    if view is not None and story.answer.outcome is not Outcome.ERROR:
        made += _view_reasons(story, view)
    return made


def _view_reasons(story: Story, view: NodeView) -> list[Data]:
    made: list[Data] = []
    if view.devices == 0:
        made.append({"code": "no-devices"})
    failing = [funnel for funnels in view.failing() for funnel in funnels]
    for funnel in failing:
        made.append({"code": funnel.problem, **about(funnel.want), **_numbers(funnel)})
        for found in funnel.removals:
            told = document.removal(view, funnel, found)
            made.append({**about(funnel.want), **told, "device": document.device_name(found.devices[0])})
    made += [document.pool(found) for found in view.unusable]
    if not failing and story.answer.outcome is Outcome.DOES_NOT_FIT and not story.elsewhere:
        made.append({"code": "not-together", **document.blocking_set(view, _blocking(story, view))})
    return made


def _blocking(story: Story, view: NodeView) -> BlockingSet:
    """The story's blocking set; on other nodes than the first only what means the same there, and not proven."""
    found = story.blocking or BlockingSet((), proven=False)
    if view is story.view:
        return found
    kept = tuple(element for element in found.elements if isinstance(element, SAME_EVERYWHERE))
    return BlockingSet(kept, proven=False)


def _numbers(funnel: Funnel) -> Data:
    return {"need": funnel.need, "left": len(funnel.left), "devices": funnel.devices}
