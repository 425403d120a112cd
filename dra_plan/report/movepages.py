"""What `explain --moves` adds to a page: the cluster before and after the moves, side by side."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.allocator import View
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import AllocationResult, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from dra_plan.documents.moves import MoveStep, RoomForPod
from dra_plan.output import explain_words as words
from dra_plan.output.explain_moves import room_lines

from . import drawnpods, picks, told
from .content import Page
from .drawnpods import DrawnPod
from .moments import Beginning, Moments
from .picks import Mark, Pick
from .scene import Scene

SCENES = ("Now", "After the moves")

_TONES = {"Fits": picks.GOOD, "Moves": picks.GOOD, "Preemption": picks.OTHER, "Undecided": picks.OTHER}

_WORDS = {
    "Fits": "nobody has to move",
    "Moves": "moves make room",
    "Preemption": "pods have to go",
    "Impossible": "no room",
    "Undecided": "undecided",
}


def fill_moves(made: Page, rooms: list[RoomForPod], view: View | None) -> None:
    """A pick for each pod that waits. The pictures, if there are any, are those of `SCENES`."""
    made.harm_word = "has to move"
    made.opens_on = len(made.picks) if rooms else None
    if len(rooms) == 1:
        made.headline = f"{made.headline}; {_WORDS[rooms[0].outcome]}"
    drawn = made.scenes if len(made.scenes) == len(SCENES) and view is not None else []
    for room in rooms:
        sentence, *rest = told.lines(room_lines(room))
        name, _, said = sentence.text.partition(": ")
        tone, word = _TONES.get(room.outcome, picks.BAD), _WORDS[room.outcome]
        pick = Pick(f"pick-{len(made.picks)}", name, tone, word, _short(room), [{} for _ in made.scenes])
        if drawn and view is not None:
            _draw(made, pick, room, Beginning(drawn[1], view), drawn[0])
        made.picks.append(pick)
        made.articles.append(told.Article(pick.key, name, tone, word, words.capital(said), rest))


def _short(room: RoomForPod) -> str:
    return words.listed([f"{step.namespace}/{step.name}" for step in room.steps if step.action != "Start"], 4)


def _draw(made: Page, pick: Pick, room: RoomForPod, after: Beginning, now: Scene) -> None:
    """Before: who leaves. After: the devices as they are then, and who has started where."""
    pick.marks = [_leaving(room, now), drawnpods.of_all(_starting(room), after.scene)]
    changed: dict[str, ResourceClaim | None] = {}
    for step in room.steps:
        if step.from_node:
            changed.update(dict.fromkeys(after.held_by(step.namespace, step.name)))
        changed.update({claim.key: claim for claim in _claims(step)})
    pick.moment = len(made.moments)
    made.moments.append(Moments(after).change(changed))


def _leaving(room: RoomForPod, now: Scene) -> dict[int, Mark]:
    leaving = {f"{step.namespace}/{step.name}": step.node for step in room.steps if step.from_node}
    for step in room.steps:
        if step.action == "Place":
            leaving[f"{step.namespace}/{step.name}"] = step.node
    made: dict[int, Mark] = {}
    for step in room.steps:
        place = now.by_node.get(step.from_node) if step.from_node else None
        if place is None:
            continue
        name = f"{step.namespace}/{step.name}"
        mark = made.setdefault(place.number, Mark(picks.OTHER, ""))
        mark.message = words.listed([*([mark.message] if mark.message else []), name])
        mark.label = "pods leave"
        for device in place.devices:
            holders = [(one.namespace, pod) for one in device.drawn.holders for pod in one.pods]
            if (step.namespace, step.name) in holders:
                to = f"{name} goes to {leaving[name]}" if leaving[name] else f"{name} finds no other place"
                mark.harms[device.at] = to
    return made


def _starting(room: RoomForPod) -> Iterator[DrawnPod]:
    for step in room.steps:
        if step.node:
            yield DrawnPod(f"{step.namespace}/{step.name}", step.node, tuple(_claims(step)))


def _claims(step: MoveStep) -> Iterator[ResourceClaim]:
    """The claims that a pod gets, as they are then."""
    users = [ResourceClaimConsumerReference(resource="pods", name=step.name)]
    for claim in step.claims:
        allocation = AllocationResult(devices=claim.allocation.devices, node_selector=claim.allocation.node_selector)
        yield ResourceClaim(
            metadata=ObjectMeta(name=claim.name, namespace=claim.namespace),
            status=ResourceClaimStatus(allocation=allocation, reserved_for=users),
        )
