"""What can be picked on a page, and what the picture shows of it then: where a claim set fits, what a pod gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_plan import shown
from dra_plan.allocator import DeviceID
from dra_plan.output import explain_removed
from dra_plan.output import explain_words as words
from dra_plan.planner.onnodes import AnswerOnNode

from .moments import PictureChange
from .scene import Scene, ScenePlace, Texts

GOOD, BAD, OTHER = "good", "bad", "other"
"""How something ended, for its colour."""


@dataclass
class Mark:
    """What a pick says of a place: a word and its tone, more words, devices that it gets, and why others are none.

    `harms` are devices in use whose holders suffer from what is picked, with what becomes of these.
    """

    tone: str
    label: str
    message: str = ""
    gets: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    harms: dict[int, str] = field(default_factory=dict)


@dataclass
class Pick:
    """Something to pick: `line` says in short how it ended. `marks` are those of each scene, by place.

    With a slider, `change` is what is another from then on. `moment` is the number of the page's moment that it is
    shown in, if that is known.
    """

    key: str
    name: str
    tone: str
    word: str
    line: str
    marks: list[dict[int, Mark]]
    change: PictureChange | None = None
    moment: int | None = None

    def plain(self, texts: Texts) -> dict[str, Any]:
        """What the script needs."""
        return {
            "key": self.key,
            "name": shown.printable(self.name),
            "tone": self.tone,
            "word": shown.printable(self.word),
            "line": shown.printable(self.line),
            "marks": [{str(at): _plain(mark, texts) for at, mark in scene.items()} for scene in self.marks],
            "change": self.change.plain(texts) if self.change is not None else None,
            "moment": self.moment,
        }


def _plain(mark: Mark, texts: Texts) -> list[Any]:
    gets = {str(at): texts.at(request) for at, request in mark.gets.items()}
    notes = {str(at): texts.at(note) for at, note in mark.notes.items()}
    harms = {str(at): texts.at(harm) for at, harm in mark.harms.items()}
    return [mark.tone, texts.at(mark.label), texts.at(mark.message), gets, notes, harms]


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
                mark.gets[position] = f"request {request}"
            else:
                there = shared.setdefault(where.number, Mark(GOOD, f"used from {name}"))
                if there.label == f"used from {name}":
                    there.gets[position] = f"request {request}"
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
