"""The story of nodes: all that is known about why claims do not fit there, told once for nodes with the same one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dra_plan.allocator import NodeOutcome
from dra_plan.api.core import Node
from dra_plan.api.resource import ResourceClaim

from .blocking import BlockingSet
from .choices import Choice
from .defects import DefectFinding
from .faults import Fault
from .funnel import Funnel, NodeView
from .scene import Scene
from .selectors import Finding
from .suggest import Suggestion


@dataclass(slots=True)
class Story:
    """What is told of `nodes`; details are those of the first, `answer`, `view` and `scene` too.

    `answers` and `views` are those of all nodes, in their order; findings are about the devices of all of them.
    """

    nodes: list[Node]
    answers: list[NodeOutcome]
    views: list[NodeView | None]
    findings: dict[tuple[int, int], list[Finding]] = field(default_factory=dict)
    blocking: BlockingSet | None = None
    defect: DefectFinding | None = None
    fault: Fault | None = None
    choices: list[Choice] = field(default_factory=list)
    elsewhere: list[ResourceClaim] = field(default_factory=list)
    scene: Scene | None = None

    @property
    def answer(self) -> NodeOutcome:
        """The answer for the first node."""
        return self.answers[0]

    @property
    def view(self) -> NodeView | None:
        """The view of the first node."""
        return self.views[0]

    def add(self, node: Node, answer: NodeOutcome, view: NodeView | None) -> None:
        """One more node of which the same is told."""
        self.nodes.append(node)
        self.answers.append(answer)
        self.views.append(view)

    def lead(self) -> None:
        """Puts the node first on which there is most to tell: it stands for the others."""
        told = [sum(len(funnel.removals) for funnel in view.funnels) if view else 0 for view in self.views]
        position = told.index(max(told))
        self.nodes.insert(0, self.nodes.pop(position))
        self.answers.insert(0, self.answers.pop(position))
        self.views.insert(0, self.views.pop(position))

    def funnels(self, want: int) -> Iterator[Funnel]:
        """The funnels of one want on all nodes."""
        return (view.funnels[want] for view in self.views if view is not None)

    def removed(self, want: int, key: tuple[object, ...]) -> tuple[int, int]:
        """The least and the most devices that removals of this kind take from a want, over all nodes of the story."""
        counts = [next((len(r.devices) for r in funnel.removals if r.key == key), 0) for funnel in self.funnels(want)]
        return min(counts), max(counts)

    def left(self, want: int) -> tuple[int, int]:
        """The least and the most devices left for a want, over all nodes of the story."""
        counts = [len(funnel.left) for funnel in self.funnels(want)]
        return min(counts), max(counts)

    def devices(self, want: int) -> tuple[int, int]:
        """The least and the most devices looked at for a want, over all nodes of the story."""
        counts = [funnel.devices for funnel in self.funnels(want)]
        return min(counts), max(counts)


@dataclass(slots=True)
class SetExplanation:
    """The stories of a claim set, those of nodes that do not fit first, and what would make it fit."""

    stories: list[Story]
    suggestions: list[Suggestion]
    tried: int
    """How many changes, or combinations of changes, were tried."""
    fault: Fault | None = None
