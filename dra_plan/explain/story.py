"""The story of nodes: all that is known about why claims do not fit there, told once for nodes with the same one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dra_plan.allocator import AllocationError, NodeOutcome, Outcome
from dra_plan.allocator.reasons import SelectorRefused
from dra_plan.api.core import Node
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import node_matches
from dra_plan.claimsets import ClaimSet

from . import blocking, changes, defects, faults, funnel, suggest
from .blocking import BlockingSet
from .checks import Checks
from .choices import Choice, Path
from .defects import DefectFinding
from .faults import Fault
from .funnel import Funnel, NodeView
from .reasons import PoolUnusable, Refusal, SelectorFailed, group_key
from .scene import Budget, Scene, Stage, World
from .selectors import Finding, Publications, findings

MOST_BLOCKING_SETS = 24
"""Nodes for which a blocking set is sought from scratch; the others are compared with those found."""

MOST_TRIED = 6
"""Stories on whose example node suggestions are tried."""


@dataclass(slots=True)
class Story:
    """What is told of `nodes`; all details are those of the first, `answer` and `view` too.

    `views` are the views of all nodes, in their order; `spread` is how far the counts of removals reach over them.
    """

    nodes: list[Node]
    answer: NodeOutcome
    view: NodeView | None = None
    views: list[NodeView | None] = field(default_factory=list)
    findings: dict[tuple[int, int], list[Finding]] = field(default_factory=dict)
    blocking: BlockingSet | None = None
    defect: DefectFinding | None = None
    fault: Fault | None = None
    choices: list[Choice] = field(default_factory=list)
    elsewhere: list[ResourceClaim] = field(default_factory=list)

    def spread(self, want: int, key: tuple[object, ...]) -> tuple[int, int]:
        """The least and the most devices that removals of this kind take from a want, over all nodes of the story."""
        counts = [
            next((len(r.devices) for r in view.funnels[want].removals if group_key(r.refusal) == key), 0)
            for view in self.views
            if view is not None
        ]
        return (min(counts), max(counts)) if counts else (0, 0)


@dataclass(slots=True)
class SetExplanation:
    """The stories of a claim set, those of nodes that do not fit first, and what would make it fit."""

    stories: list[Story]
    suggestions: list[suggest.Suggestion]
    tried: int
    """How many changes, or combinations of changes, were tried."""
    fault: Fault | None = None


def explain(
    world: World,
    claim_set: ClaimSet,
    nodes: Sequence[Node],
    answers: Sequence[NodeOutcome],
    *,
    max_steps: int | None = None,
    suggests: bool = True,
) -> SetExplanation:
    """Why the answers are what they are. `answers` are those for `nodes`, in the same order."""
    if claim_set.error is not None:
        return SetExplanation([], [], 0, faults.of_set(claim_set, world.inventory))
    teller = _Teller(world, claim_set, max_steps)
    stories = teller.stories(nodes, answers)
    for story in stories:
        teller.tell(story)
    fits = any(answer.outcome is Outcome.FITS for answer in answers)
    if not suggests or fits:
        return SetExplanation(stories, [], 0)
    suggester = teller.suggester(stories)
    return SetExplanation(stories, suggester.found(), suggester.tried)


class _Teller:
    def __init__(self, world: World, claim_set: ClaimSet, max_steps: int | None) -> None:
        self._stage = Stage(world, claim_set.claims, max_steps)
        self._world, self._claim_set = world, claim_set
        self._known: list[BlockingSet] = []
        self._budget = Budget(3 * blocking.TOTAL_STEPS, blocking.STEPS_EACH)

    # -- grouping ------------------------------------------------------------------------------------------------

    def stories(self, nodes: Sequence[Node], answers: Sequence[NodeOutcome]) -> list[Story]:
        """Nodes with the same story together, in the order of first nodes; what decides about the set comes first."""
        grouped: dict[tuple[object, ...], Story] = {}
        for node, answer in zip(nodes, answers, strict=True):
            view = self._view(node) if answer.outcome is not Outcome.FITS else None
            elsewhere = [claim for claim in self._claim_set.allocated if not _reaches(claim, node)]
            together = _is_together(view, answer) and not elsewhere
            found = self._blocking(view) if view is not None and together else None
            key = (_key(view, answer, together=together), tuple(c.key for c in elsewhere), _blocking_key(found))
            story = grouped.setdefault(key, Story([], answer, view, blocking=found, elsewhere=elsewhere))
            story.nodes.append(node)
            story.views.append(view)
        fits_anywhere = any(answer.outcome is Outcome.FITS for answer in answers)
        errs_anywhere = any(answer.outcome is Outcome.ERROR for answer in answers)
        first = Outcome.ERROR if errs_anywhere else Outcome.FITS if fits_anywhere else None
        return sorted(grouped.values(), key=lambda story: story.answer.outcome is not first)

    def _view(self, node: Node) -> NodeView | None:
        try:
            return funnel.view(self._stage.scene(node))
        except AllocationError:
            return None

    def _blocking(self, view: NodeView) -> BlockingSet | None:
        """A blocking set of this node: one known from another node if it is enough here, else a new one."""
        for known in self._known:
            if blocking.is_enough(view.scene, known.elements, self._budget):
                return known
        if len(self._known) >= MOST_BLOCKING_SETS or self._budget.spent:
            return BlockingSet((), proven=False)
        found = blocking.blocking_set(view.scene, self._budget)
        if found is not None and found.elements:
            self._known.append(found)
        return found

    # -- telling -------------------------------------------------------------------------------------------------

    def tell(self, story: Story) -> None:
        """Adds what is found by asking again, on the first node."""
        scene = self._stage.scene(story.nodes[0])
        outcome = story.answer.outcome
        if outcome is Outcome.FITS:
            path = Path()
            scene.ask(probe=path)
            story.choices = path.choices
            return
        if outcome is not Outcome.UNDECIDED:
            story.defect = defects.defects(scene, story.answer)
        if outcome in (Outcome.ERROR, Outcome.NODE_ERROR):
            story.fault = faults.of_answer(scene, story.answer, self._claim_set)
        if story.view is not None:
            story.findings = _findings(story.view)

    def suggester(self, stories: Iterable[Story]) -> suggest.Suggester:
        """What would make the set fit on the example node of some story, tried."""
        suggester = suggest.Suggester()
        told = [story for story in stories if story.answer.outcome is not Outcome.FITS and not story.elsewhere]
        for story in told[:MOST_TRIED]:
            scene = self._stage.scene(story.nodes[0])
            suggester.try_on(scene, _candidates(scene, story))
        return suggester


def _candidates(scene: Scene, story: Story) -> list[changes.Change]:
    made = changes.of_fault(scene, story.fault) if story.fault is not None else []
    if story.view is not None:
        made += changes.candidates(story.view, story.blocking, story.findings)
    return made


def _reaches(claim: ResourceClaim, node: Node) -> bool:
    allocation = claim.status.allocation if claim.status is not None else None
    selector = allocation.node_selector if allocation is not None else None
    return selector is None or node_matches(selector, node.metadata.name, node.metadata.labels)


def _is_together(view: NodeView | None, answer: NodeOutcome) -> bool:
    """Whether the node refuses although each request alone could be met."""
    refuses = answer.outcome in (Outcome.DOES_NOT_FIT, Outcome.NODE_ERROR)
    return refuses and view is not None and not view.failing()


def _key(view: NodeView | None, answer: NodeOutcome, *, together: bool) -> tuple[object, ...]:
    """What nodes must share to have the same story: outcome, defects met, and for each request what stops it."""
    if answer.outcome is Outcome.FITS:
        return (answer.outcome,)
    key: list[object] = [answer.outcome, tuple(sorted(answer.sighted))]
    if answer.outcome is Outcome.ERROR:
        key.append(answer.message)
    if view is not None:
        key += [() if together else _funnel_key(funnel) for funnel in view.funnels]
        key += sorted({found.code for found in view.unusable})
        key.append(view.devices == 0)
    return tuple(key)


def _funnel_key(told: Funnel) -> tuple[object, ...]:
    return told.problem, *(group_key(removal.refusal) for removal in told.removals)


def _blocking_key(found: BlockingSet | None) -> tuple[object, ...]:
    if found is None:
        return ()
    return (found.proven, *(element for element in found.elements if isinstance(element, blocking.SAME_EVERYWHERE)))


def _findings(view: NodeView) -> dict[tuple[int, int], list[Finding]]:
    """The deciding parts of selectors, for requests that can't be met alone.

    Of a class's selector only where no device passes it: that it keeps other kinds of devices out is its purpose.
    """
    devices = [device for pool in view.pools for device in pool.devices()]
    publications = Publications(devices)
    failing = {id(funnel) for funnels in view.failing() for funnel in funnels}
    found: dict[tuple[int, int], list[Finding]] = {}
    for position, told in enumerate(view.funnels):
        if id(told) not in failing:
            continue
        for number, removal in enumerate(told.removals):
            refusal = removal.refusal
            if not isinstance(refusal, SelectorRefused | SelectorFailed) or _is_whole_device(refusal):
                continue
            if refusal.class_name is None or not _is_passed(view, told, refusal.class_name):
                compile_ = view.scene.world.compile
                found[position, number] = findings(refusal.expression, removal.devices, compile_, publications)
    return found


def _is_whole_device(refusal: Refusal) -> bool:
    """Whether a selector fails whatever it says, as one attribute of the device can't be had, or does not compile."""
    if not isinstance(refusal, SelectorFailed):
        return False
    return "unsupported attribute value" in refusal.message or "compile error" in refusal.message


def _is_passed(view: NodeView, told: Funnel, class_name: str) -> bool:
    """Whether any device, free or not, passes the selectors of the class."""
    if told.left:
        return True
    checks = Checks(view.scene)
    pools = {pool.id: pool for pool in view.pools}
    for removal in told.removals:
        if isinstance(removal.refusal, PoolUnusable) or getattr(removal.refusal, "class_name", None) == class_name:
            continue
        for device in removal.devices:
            refusal = checks.selector(told.want, device, pools[device.id.pool_id])
            if getattr(refusal, "class_name", None) != class_name:
                return True
    return False
