"""`explain`: why each claim set of the input fits or does not, and what would make it fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec import UNSET

from dra_plan.allocator import Outcome, View
from dra_plan.allocator.identity import named_device
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.index import Index
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.allocation import NodeExclusion
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.explanation import DeviceStory, ExcludedNodes, ExplainedClaimSet, ExplanationDocument
from dra_plan.documents.moves import RoomForPod
from dra_plan.documents.podgroups import ExplainedPodGroup
from dra_plan.errors import UsageError

from . import completeness
from .allocation import AllocationPlan, plan_claim_sets
from .answer import PrintedAnswer, counted
from .claim_set_plan import ClaimSetPlan, set_summary
from .nodes import choose_nodes, with_nodes
from .podgroups import explain_groups, tell_groups_apart
from .question import Question
from .scheduling import choice


@dataclass(frozen=True, repr=False)
class Explanation(PrintedAnswer[ExplanationDocument]):
    """The answer of `explain`: plans with explanations, which `for` goes through, and what became of single devices."""

    plan: AllocationPlan
    devices: tuple[DeviceStory, ...] = ()
    pod_groups: tuple[ExplainedPodGroup, ...] = ()
    moves: tuple[RoomForPod, ...] | None = None
    """How room can be made for the pods that wait, if that was asked."""
    notices: tuple[Notice, ...] = ()
    """What a reader should know about the moves."""

    def __iter__(self) -> Iterator[ClaimSetPlan]:
        return iter(self.plan)

    def __len__(self) -> int:
        return len(self.plan)

    def __repr__(self) -> str:
        return f"<Explanation for {self.plan.target.version} of {counted(len(self), 'claim set')}>"

    def _document(self) -> ExplanationDocument:
        from dra_plan.explanation.document import SetParts

        parts = SetParts()
        return ExplanationDocument(
            target=answer_target(self.plan.target),
            claim_sets=[
                ExplainedClaimSet(**set_summary(plan), **parts.of(plan.explanation), excluded=_excluded(plan))
                for plan in self.plan.claim_sets
                if plan.explanation is not None
            ],
            unplanned=list(self.plan.unplanned) or UNSET,
            pod_groups=list(self.pod_groups) or UNSET,
            moves=UNSET if self.moves is None else list(self.moves),
            devices=list(self.devices),
            warnings=warnings([*self.plan.notices, *self.notices]),
        )


def _excluded(plan: ClaimSetPlan) -> list[ExcludedNodes]:
    """The excluded nodes, those with the same exclusions together; those that have room apart, and first."""
    fitting = {answer.node for answer in plan.nodes if answer.outcome is Outcome.FITS}
    groups: dict[tuple[bool, tuple[NodeExclusion, ...]], list[str]] = {}
    for node, exclusions in plan.excluded.items():
        groups.setdefault((node in fitting, tuple(exclusions)), []).append(node)
    found = [
        ExcludedNodes(nodes=nodes, excluded_by=list(exclusions), has_room=has_room)
        for (has_room, exclusions), nodes in groups.items()
    ]
    return sorted(found, key=lambda each: not each.has_room)


def explain_claim_sets(
    inventory: Inventory, view: View, question: Question, *, devices: Iterable[str] = (), moves: int | None = None
) -> Explanation:
    """Explains the claim sets of an input, of which `view` is the view.

    `devices` are DRIVER/POOL/DEVICE; up to `moves` running pods may leave to make room. Raises UsageError if no slice
    has such a device, otherwise as `plan_claim_sets`.
    """
    groups, owners = tell_groups_apart(inventory, question.owners, question.namespace)
    question = replace(question, owners=owners, names_groups=bool(groups))
    plan = plan_claim_sets(inventory, view, question, explain=True, suggest=True)
    explained = explain_groups(inventory, view.target, groups, question)
    inventory, _ = with_nodes(inventory, infer=question.infer_nodes)
    room = None if moves is None else tuple(_rooms(inventory, view, question, moves))
    needed = any(one.outcome != "Fits" for one in room or ())
    lacking = completeness.of_leaving(Index(inventory), "a move") if needed else []
    nodes = choose_nodes(inventory.nodes, question.nodes)
    sets = [planned.claim_set for planned in plan]
    return Explanation(
        plan, tuple(_device(view, nodes, sets, text) for text in devices), tuple(explained), room, tuple(lacking)
    )


def _rooms(inventory: Inventory, view: View, question: Question, limit: int) -> list[RoomForPod]:
    from .moves import rooms

    if question.names_groups and not question.owners:
        return []
    return rooms(inventory, view.target, question, choice(inventory, view.target, question), limit)


def _device(view: View, nodes: Sequence[Node], sets: Sequence[ClaimSet], text: str) -> DeviceStory:
    from dra_plan.explanation import device

    asked = named_device(text)
    if asked not in set(device.known_devices(view)):
        near = device.hint(view, asked)
        meant = f" (did you mean {near}?)" if near else ""
        raise UsageError(f"--device: no resource slice of the input has the device {text}{meant}")
    return device.explain_device(view, nodes, sets, asked)
