"""What can be picked on a page, and what the picture shows of it then: where a claim set fits, what a pod gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_plan import shown
from dra_plan.allocator import DeviceID
from dra_plan.documents.capacity import OwnerCapacity
from dra_plan.documents.explanation import NodeStory
from dra_plan.documents.schedule import ScheduleDocument, ScheduledPod
from dra_plan.output import explain_removed, text
from dra_plan.output import explain_words as words
from dra_plan.planner.onnodes import AnswerOnNode

from .devices import SceneDevice
from .scene import Scene, ScenePlace, Texts

GOOD, BAD, OTHER = "good", "bad", "other"
"""How something ended, for its colour."""


@dataclass
class Mark:
    """What a pick says of a place: a word and its tone, more words, devices that it gets, and why others are none."""

    tone: str
    label: str
    message: str = ""
    gets: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)


@dataclass
class Pick:
    """Something to pick: `line` says in short how it ended. `marks` are those of each scene, by place.

    `takes` are devices that are in use from then on, as (place, position, by whom): what a slider goes through.
    """

    key: str
    name: str
    tone: str
    word: str
    line: str
    marks: list[dict[int, Mark]]
    takes: list[tuple[int, int, str]] = field(default_factory=list)
    frees: list[tuple[int, int]] = field(default_factory=list)

    def plain(self, texts: Texts) -> dict[str, Any]:
        """What the script needs."""
        return {
            "key": self.key,
            "name": shown.printable(self.name),
            "tone": self.tone,
            "word": shown.printable(self.word),
            "line": shown.printable(self.line),
            "marks": [{str(at): _plain(mark, texts) for at, mark in scene.items()} for scene in self.marks],
            "takes": [[place, at, texts.at(whom)] for place, at, whom in self.takes],
            "frees": self.frees,
        }


def _plain(mark: Mark, texts: Texts) -> list[Any]:
    gets = {str(at): texts.at(request) for at, request in mark.gets.items()}
    notes = {str(at): texts.at(note) for at, note in mark.notes.items()}
    return [mark.tone, texts.at(mark.label), texts.at(mark.message), gets, notes]


_OUTCOMES = {
    "Fits": (GOOD, "fits"),
    "DoesNotFit": (BAD, "does not fit"),
    "NodeError": (BAD, "error"),
    "Error": (BAD, "error"),
    "Undecided": (OTHER, "undecided"),
    "Excluded": (OTHER, "kept away"),
}


def outcome(word: str) -> tuple[str, str]:
    """The tone of an outcome, and its words."""
    return _OUTCOMES.get(word, (OTHER, word))


def marks(answers: Mapping[str, AnswerOnNode], scene: Scene) -> dict[int, Mark]:
    """What the answers of one claim set say of each place; of a pool that nodes share, what the first fitting one."""
    made: dict[int, Mark] = {}
    shared: dict[int, Mark] = {}
    for name, answer in answers.items():
        place = scene.by_node.get(name)
        if place is None:
            continue
        tone, label = outcome(answer.outcome)
        mark = made[place.number] = Mark(tone, label, answer.message)
        for device, request in answer.gets if answer.outcome == "Fits" else ():
            at = _found(scene, device)
            if at is None:
                continue
            where, position = at
            if where is place:
                mark.gets[position] = request
            else:
                there = shared.setdefault(where.number, Mark(GOOD, f"used from {name}"))
                if there.label == f"used from {name}":
                    there.gets[position] = request
        _note(answer, scene, place, mark, shared)
    return {**made, **shared}


def _note(answer: AnswerOnNode, scene: Scene, place: ScenePlace, mark: Mark, shared: dict[int, Mark]) -> None:
    requests = {(each.claim, each.request) for each in answer.refused}
    told: dict[DeviceID, list[str]] = {}
    for each in answer.refused:
        said = _why(each.check) if len(requests) == 1 else f"{each.request}: {_why(each.check)}"
        for device in each.devices:
            told.setdefault(device, []).append(said)
    if answer.outcome == "Fits":
        return
    for device, reasons in told.items():
        at = _found(scene, device)
        if at is None or len(reasons) < len(requests):
            continue
        where, position = at
        notes = mark.notes if where is place else shared.setdefault(where.number, Mark(OTHER, "")).notes
        notes.setdefault(position, "; ".join(dict.fromkeys(reasons)))


def _why(check: Any) -> str:
    if check.code == "selector-false":
        return f"{words.selector(check.selector, check.class_)} is false"
    return explain_removed.removed(check)


def _found(scene: Scene, device: DeviceID) -> tuple[ScenePlace, int] | None:
    found = scene.by_device.get(str(device))
    return None if not found else (scene.home[id(found[0])], found[0].at)


# -- pods, one after the other -------------------------------------------------------------------------------------

_PODS = {"Bound": GOOD, "Waiting": OTHER, "Gated": OTHER, "Skipped": OTHER, "Undecided": OTHER}


def pods(document: ScheduleDocument, scene: Scene) -> Iterator[Pick]:
    """The pods in the scheduler's order, each with the devices that are its own from then on."""
    devices: dict[str, list[str]] = {}
    for claim in document.claims:
        results = claim.allocation.devices.results if claim.allocation is not None else ()
        for user in claim.reserved_for:
            devices.setdefault(f"{claim.namespace}/{user.name}", []).extend(map(text.device_name, results))
    evicted: dict[str, list[str]] = {}
    for each in document.evictions:
        evicted.setdefault(each.preemptor, []).append(each.pod)
    for number, pod in enumerate(document.pods):
        name = f"{pod.namespace}/{pod.name}"
        found = [
            (scene.home[id(one[0])], one[0]) for each in devices.get(name, ()) if (one := scene.by_device.get(each))
        ]
        made = Pick(
            key=f"pick-{number}",
            name=f"pod/{name}",
            tone=_PODS.get(pod.outcome, BAD),
            word=pod.outcome,
            line=_pod_line(pod),
            marks=[_pod_marks(pod, scene, found)],
            frees=[at for other in evicted.get(name, ()) for at in _held(other, scene)],
        )
        if pod.attempts:
            made.takes = [(place.number, device.at, f"by {name}") for place, device in found]
        yield made


def _pod_line(pod: ScheduledPod) -> str:
    if pod.node_name:
        return f"on {pod.node_name}" if pod.attempts else f"on {pod.node_name} before"
    return pod.message or pod.waiting or ""


def _pod_marks(pod: ScheduledPod, scene: Scene, found: list[tuple[ScenePlace, SceneDevice]]) -> dict[int, Mark]:
    made: dict[int, Mark] = {}
    place = scene.by_node.get(pod.node_name or "")
    if place is not None:
        made[place.number] = Mark(GOOD, "bound here" if pod.attempts else "runs here")
    for where, device in found:
        made.setdefault(where.number, Mark(GOOD, "used")).gets[device.at] = ""
    for name, message in pod.errors.items():
        if name in scene.by_node:
            made[scene.by_node[name].number] = Mark(BAD, "error", message)
    return made


def refusing(stories: list[NodeStory], scene: Scene) -> Iterator[tuple[int, Mark]]:
    """The nodes that were refused to a pod for devices, as they were when it was tried last."""
    for story in stories:
        tone, label = outcome(story.outcome.value)
        for name in story.nodes:
            if name in scene.by_node and tone == BAD:
                yield scene.by_node[name].number, Mark(tone, label, story.message)


def _held(pod: str, scene: Scene) -> Iterator[tuple[int, int]]:
    """The devices that nobody but the pod has."""
    namespace, _, name = pod.partition("/")
    for place in scene.places:
        for device in place.devices:
            holders = device.drawn.holders
            if holders and all(one.namespace == namespace and one.pods == [name] for one in holders):
                yield place.number, device.at


# -- copies --------------------------------------------------------------------------------------------------------


def copies(item: OwnerCapacity, scene: Scene, key: str) -> Pick:
    """How the copies of one owner fill the nodes."""
    found = item.scheduled
    marks: dict[int, Mark] = {place.number: Mark(OTHER, "no copy") for place in scene.by_node.values() if place.node}
    for node in found.nodes:
        if node.name in scene.by_node:
            marks[scene.by_node[node.name].number] = Mark(GOOD, words.counted(node.copies, "copy", "copies"))
    return Pick(
        key=key,
        name=text.named(item.owner),
        tone=GOOD if found.copies else BAD,
        word=words.counted(found.copies, "copy", "copies"),
        line=f"The next one: {found.message}" if found.message else found.ended,
        marks=[marks],
    )
