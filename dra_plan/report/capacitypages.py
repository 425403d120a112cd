"""The page of `capacity`: whose copies there is room for, and how they fill the nodes."""

from __future__ import annotations

from msgspec import structs

from dra_plan.documents.capacity import CapacityDocument, OwnerCapacity
from dra_plan.documents.fleet import IdleDevices
from dra_plan.output import capacity, text
from dra_plan.output import explain_words as words
from dra_plan.output.capacity_fleet import why_stranded

from . import picks, told
from .bars import BarRow, Bars, Segment
from .content import Page
from .picks import Mark, Pick
from .scene import Scene


def fill_capacity(made: Page, document: CapacityDocument) -> None:
    """Whose copies there is room for, and how they fill the nodes."""
    made.picks_title, made.marks_devices = "Who is copied", False
    made.headline = _room([item.scheduled.copies for item in document.items])
    bars = Bars("Devices, when no more copies are bound", [_bar(kind) for kind in document.fleet.kinds])
    for number, item in enumerate(document.items):
        alone = structs.replace(document, items=[item])
        pick = _pick(item, made.scenes[0] if made.scenes else Scene([]), f"pick-{number}")
        if not made.scenes:
            pick.marks = []
        made.picks.append(pick)
        short = capacity.table(alone, None)[1:-1]
        blocks = told.blocks([*short, *(part for part in capacity.wide(alone, None)[1:-1] if part not in short)])
        sentence = f"The scheduler binds {pick.word}."
        article = told.Article(pick.key, pick.name, pick.tone, pick.word, sentence, [told.ToldLine(pick.line)])
        article.bars, article.blocks = bars, blocks
        made.articles.append(article)


def _bar(of: IdleDevices) -> BarRow:
    """Devices of one kind: in use before, of use to copies, and stranded, with the reasons."""
    stranded = of.stranded or 0
    why = ", ".join(f"{reason.devices} {why_stranded(reason)}" for reason in of.reasons)
    of_use = "idle, not known whether stranded" if of.stranded is None else "of use to copies"
    return BarRow(
        " ".join(part for part in (of.model or of.driver, of.profile) if part),
        [
            Segment(of.devices - of.idle, picks.OTHER, f"{of.devices - of.idle} in use or out of reach"),
            Segment(of.idle - stranded, picks.GOOD, f"{of.idle - stranded} {of_use}"),
            Segment(stranded, picks.BAD, f"{stranded} stranded ({why})"),
        ],
    )


def _room(copies: list[int]) -> str:
    if not copies:
        return "Nothing to copy"
    if len(copies) == 1:
        return f"Room for {words.counted(copies[0], 'copy', 'copies')}"
    room = sum(number > 0 for number in copies)
    return f"{room} of {len(copies)} have room for copies"


def _pick(item: OwnerCapacity, scene: Scene, key: str) -> Pick:
    """How the copies of one owner fill the nodes."""
    found = item.scheduled
    marks: dict[int, Mark] = {
        place.number: Mark(picks.OTHER, "no copy") for place in scene.by_node.values() if place.node
    }
    for node in found.nodes:
        if node.name in scene.by_node:
            marks[scene.by_node[node.name].number] = Mark(picks.GOOD, words.counted(node.copies, "copy", "copies"))
    return Pick(
        key=key,
        name=text.named(item.owner),
        tone=picks.GOOD if found.copies else picks.BAD,
        word=words.counted(found.copies, "copy", "copies"),
        line=f"The next one: {found.message}" if found.message else found.ended,
        marks=[marks],
    )
