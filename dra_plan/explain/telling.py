"""From the answers for nodes to stories: which nodes share one, and what is found out about each by asking again."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.allocator import AllocationError, NodeOutcome, Outcome
from dra_plan.allocator.reasons import InUse
from dra_plan.api.core import Node
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import node_matches
from dra_plan.claimsets import ClaimSet

from . import blocking, choices, defects, faults, funnel
from .blocking import BlockingSet
from .findings import findings_of
from .funnel import Funnel, NodeView
from .reasons import group_key
from .remedies import Remedies
from .scene import Budget, Stage, World
from .story import SetExplanation, Story

Key = tuple[object, ...]

MOST_BLOCKING_SETS = 24
"""Nodes for which a blocking set is sought from scratch; the others are compared with those found."""


def explain(
    world: World,
    claim_set: ClaimSet,
    nodes: Sequence[Node],
    answers: Sequence[NodeOutcome],
    *,
    max_steps: int | None = None,
    suggests: bool = True,
    deadline: float | None = None,
) -> SetExplanation:
    """Why the answers are what they are. `answers` are those for `nodes`, in the same order.

    After the `deadline`, in monotonic time, nothing more is asked of the allocator: blocking sets are not proven then,
    and nothing is suggested.
    """
    if claim_set.error is not None:
        return SetExplanation([], [], 0, faults.of_set(claim_set, world.inventory))
    stage = Stage(world, claim_set.claims, max_steps, claim_set.allocated, deadline)
    teller = _Teller(stage, claim_set)
    stories = teller.stories(nodes, answers)
    for story in stories:
        teller.tell(story)
    remedies = Remedies(stage, stories)
    if suggests:
        remedies.seek()
    return SetExplanation(stories, remedies.found(), remedies.tried)


class _Teller:
    def __init__(self, stage: Stage, claim_set: ClaimSet) -> None:
        self._stage, self._claim_set = stage, claim_set
        self._known: list[blocking.Known] = []
        self._budget = Budget(blocking.ALL_STEPS, blocking.STEPS_EACH)

    # -- grouping ------------------------------------------------------------------------------------------------

    def stories(self, nodes: Sequence[Node], answers: Sequence[NodeOutcome]) -> list[Story]:
        """Nodes with the same story together, in the order of first nodes; what decides about the set comes first."""
        grouped: dict[Key, Story] = {}
        for node, answer in zip(nodes, answers, strict=True):
            view = self._view(node) if answer.outcome is not Outcome.FITS else None
            elsewhere = [claim for claim in self._claim_set.allocated if not _reaches(claim, node)]
            together = _is_together(view, answer) and not elsewhere
            found = self._blocking(view) if view is not None and together else None
            kept_away = tuple(claim.key for claim in elsewhere)
            key = (_key(view, answer, together=together), kept_away, _blocking_key(found), answer.sighted)
            story = grouped.setdefault(key, Story([], [], [], blocking=found, elsewhere=elsewhere))
            story.add(node, answer, view)
        grouped = self._by_defect(grouped)
        for story in grouped.values():
            if story.blocking is None:
                story.lead()
        found_outcomes = {answer.outcome for answer in answers}
        first = next((o for o in (Outcome.ERROR, Outcome.FITS) if o in found_outcomes), None)
        return sorted(grouped.values(), key=lambda story: story.answer.outcome is not first)

    def _by_defect(self, stories: dict[Key, Story]) -> dict[Key, Story]:
        """Stories that differ only in defects that were met, and not in those that decide, become one."""
        merged: dict[Key, Story] = {}
        for key, story in stories.items():
            if story.answer.outcome not in (Outcome.FITS, Outcome.UNDECIDED):
                story.defect = defects.defects(self._stage.scene(story.nodes[0]), story.answer)
            known = merged.setdefault((*key[:-1], story.defect), story)
            if known is not story:
                for node, answer, view in zip(story.nodes, story.answers, story.views, strict=True):
                    known.add(node, answer, view)
        return merged

    def _view(self, node: Node) -> NodeView | None:
        try:
            return funnel.view(self._stage.scene(node))
        except AllocationError:
            return None

    def _blocking(self, view: NodeView) -> BlockingSet | None:
        """A blocking set of this node: one known from another node if it is enough here, else a new one."""
        for known in self._known:
            if known.is_enough(view.scene.node, self._budget):
                return known.found
        if len(self._known) >= MOST_BLOCKING_SETS or self._budget.spent:
            return BlockingSet((), proven=False)
        found = blocking.blocking_set(view.scene, self._budget)
        if found is not None and found.elements:
            self._known.append(blocking.Known(found, view.scene))
        return found

    # -- telling -------------------------------------------------------------------------------------------------

    def tell(self, story: Story) -> None:
        """Adds what is found by asking again, on the first node."""
        scene = story.scene = self._stage.scene(story.nodes[0])
        outcome = story.answer.outcome
        if outcome is Outcome.FITS:
            story.choices = choices.of(scene)
            return
        if story.answer.error is not None:
            story.fault = faults.of_error(scene, story.answer.error, self._claim_set)
        story.findings = findings_of([view for view in story.views if view is not None])


def _reaches(claim: ResourceClaim, node: Node) -> bool:
    allocation = claim.status.allocation if claim.status is not None else None
    selector = allocation.node_selector if allocation is not None else None
    return selector is None or node_matches(selector, node.metadata.name, node.metadata.labels)


def _is_together(view: NodeView | None, answer: NodeOutcome) -> bool:
    """Whether the node refuses although each request alone could be met."""
    refuses = answer.outcome in (Outcome.DOES_NOT_FIT, Outcome.NODE_ERROR)
    return refuses and view is not None and not view.failing()


def _key(view: NodeView | None, answer: NodeOutcome, *, together: bool) -> tuple[object, ...]:
    """What nodes must share to have the same story: outcome, and for each request what stops it."""
    if answer.outcome is Outcome.FITS:
        return (answer.outcome,)
    if answer.outcome is Outcome.ERROR:
        return answer.outcome, answer.message
    key: list[object] = [answer.outcome]
    if view is not None:
        key += [() if together else _funnel_key(view, told) for told in view.funnels]
        key += sorted({found.code for found in view.unusable})
        key.append(view.devices == 0)
    return tuple(key)


def _funnel_key(view: NodeView, told: Funnel) -> tuple[object, ...]:
    """What stops the want: a device that is in use, and would not do if it were free, counts by what it lacks."""
    causes: dict[object, None] = {}
    for removal in told.removals:
        if not isinstance(removal.refusal, InUse):
            causes[removal.key] = None
            continue
        for device in removal.devices:
            unfit = view.checks.selector(told.want, device)
            causes[removal.key if unfit is None else group_key(unfit)] = None
    return told.problem, frozenset(causes)


def _blocking_key(found: BlockingSet | None) -> tuple[object, ...]:
    if found is None:
        return ()
    return (found.proven, *(element for element in found.elements if isinstance(element, blocking.SAME_EVERYWHERE)))
