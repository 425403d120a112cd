"""The page of `capacity`: how many copies of each owner fit, and on which nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET, structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.page import picks, told
from dra_plan.page.content import Page
from dra_plan.page.pages import begin, drawn
from dra_plan.page.picks import Mark, Pick
from dra_plan.page.pods import MOST_NAMED
from dra_plan.page.scene import Scene
from dra_plan.page.told import BarRow, Bars, Segment
from dra_plan.questions.capacity import text as capacity
from dra_plan.questions.capacity.answer import CapacityPlan
from dra_plan.questions.capacity.document import (
    CapacityDocument,
    IdleDevices,
    OwnerCapacity,
    OwnerDevices,
    PlacedCopy,
)
from dra_plan.questions.capacity.text import FORMATS, copied_owner, why_stranded, withheld
from dra_plan.text import words


def page(answer: CapacityPlan, inventory: Inventory | None, view: View | None) -> Page:
    """Return the page for a result of `capacity`. It has a picture if the cluster can be drawn."""
    made = begin(answer.document, "capacity", FORMATS)
    made.scenes = drawn(inventory, view)
    fill_capacity(made, answer.document)
    return made


def fill_capacity(made: Page, document: CapacityDocument) -> None:
    """Fill the page with the owners and the number of copies on each node."""
    made.picks_title, made.gets_word = "Who is copied", "in a copy"
    made.headline = _room(document)
    made.marks_devices = any(_placed(item, document) for item in document.items)
    bars = Bars("Devices, when no more copies are bound", [_bar(kind, document) for kind in document.fleet.kinds])
    for number, item in enumerate(document.items):
        alone = structs.replace(document, items=[item])
        best = _placed(item, document)
        pick = _pick(item, best, made.scenes[0] if made.scenes else Scene([]), f"pick-{number}")
        if not made.scenes:
            pick.marks = []
        made.picks.append(pick)
        blocks = told.blocks([*capacity.details(alone), *told.without(capacity.nodes(alone), "WORKLOAD")])
        sentence = f"The scheduler binds {pick.word}."
        article = told.Article(pick.key, pick.name, pick.tone, pick.word, sentence, [told.TextLine(_next(item))])
        if best and made.scenes:
            article.summary.append(told.TextLine(_MARKED))
        article.blocks = blocks
        if item.devices:
            article.bars = Bars("Devices for this owner alone", list(_own_bars(item, document)))
        made.articles.append(article)
    if bars.rows:
        fleet = told.Article("fleet-bars", "all devices", picks.OTHER, "the fleet", "", bars=bars, always=True)
        made.articles.append(fleet)


_MARKED = "The picture marks the devices of each copy in the best known placement."


def _placed(item: OwnerCapacity, document: CapacityDocument) -> list[PlacedCopy]:
    """Return the owner's copies in the known placement, if there is one; with a mix, those of all owners."""
    mix = None if document.mix is UNSET else document.mix
    found = item.possible or (mix.possible if mix is not None else None)
    return [] if found is None else [copy for copy in found.placement if copy.owner == item.owner]


def _bar(of: IdleDevices, document: CapacityDocument) -> BarRow:
    """Return the devices of one kind: used before, withheld, usable by copies, and stranded, with the reasons."""
    stranded = of.stranded or 0
    unwanted = sum(reason.devices for reason in of.reasons if reason.code == "not-wanted")
    why = why_stranded(structs.replace(of, reasons=[one for one in of.reasons if one.code != "not-wanted"]), document)
    of_use = "idle, not known whether stranded" if of.stranded is None else "usable by copies"
    held = sum(one.devices for one in of.withheld)
    in_use = "in use, or parts of a device in use" if of.profile else "in use"
    return BarRow(
        _kind(of),
        [
            Segment(of.devices - of.idle - held, "used", f"{of.devices - of.idle - held} {in_use}"),
            Segment(held, picks.OTHER, withheld(of)),
            Segment(of.idle - stranded - unwanted, picks.GOOD, f"{of.idle - stranded - unwanted} {of_use}"),
            Segment(unwanted, picks.OTHER, f"{unwanted} not asked for"),
            Segment(stranded, picks.BAD, f"{stranded} stranded ({why})"),
        ],
    )


def _kind(of: IdleDevices | OwnerDevices) -> str:
    """Return the model, or else the driver, with the profile of partitions."""
    return " ".join(part for part in (of.model or of.driver, of.profile) if part)


def _own_bars(item: OwnerCapacity, document: CapacityDocument) -> Iterator[BarRow]:
    """Yield the devices of each kind that the owner asks for: in use before, in use by its copies, and stranded."""
    kinds = {(kind.driver, kind.model, kind.profile): kind for kind in document.fleet.kinds}
    for own in item.devices:
        kind = kinds[own.driver, own.model, own.profile]
        rest = kind.devices - own.used - own.stranded
        yield BarRow(
            _kind(own),
            [
                Segment(rest, "used", f"{rest} in use, not available, or not for it"),
                Segment(own.used, picks.GOOD, f"{own.used} used by its copies"),
                Segment(own.stranded, picks.BAD, f"{own.stranded} stranded"),
            ],
        )


def _room(document: CapacityDocument) -> str:
    items = document.items
    if not items:
        return "Nothing to copy"
    if len(items) == 1:
        return f"Room for {_copies(items[0])}"
    room = sum(item.scheduled.copies > 0 for item in items)
    noun = "pods" if all(item.owner.kind == "Pod" for item in items) else "workloads"
    least = capacity.at_least(items) if room < len(items) else ""
    return (
        f"Room for copies of {least}{room} of {len(items)} {noun}{', each on its own' if document.mix is UNSET else ''}"
    )


def _copies(item: OwnerCapacity) -> str:
    noun = ("gang", "gangs") if item.gang is not None else ("copy", "copies")
    return capacity.at_least([item]) + words.counted(item.scheduled.copies, *noun)


def _next(item: OwnerCapacity) -> str:
    """Return what the scheduler says of one copy more, or why none was tried."""
    found = item.scheduled
    return f"The next one: {found.message}" if found.message else found.ended


def _held(item: OwnerCapacity, number: int) -> str:
    """Return the copies that a node holds."""
    noun = ("pod", "pods") if item.gang is not None else ("copy", "copies")
    return words.counted(number, *noun) if number else f"no {noun[0]}"


def _pick(item: OwnerCapacity, best: list[PlacedCopy], scene: Scene, key: str) -> Pick:
    """Return the distribution of one owner's copies over nodes, and their devices in the best placement."""
    found = item.scheduled
    marks: dict[int, Mark] = {
        place.number: Mark(picks.OTHER, _held(item, 0)) for place in scene.by_node.values() if place.node
    }
    for node in found.nodes:
        if node.name in scene.by_node:
            marks[scene.by_node[node.name].number] = Mark(picks.GOOD, _held(item, node.copies))
    _mark_devices(item, best, scene, marks)
    return Pick(
        key=key,
        name=copied_owner(item.owner),
        tone=picks.GOOD if found.copies else picks.BAD,
        word=_copies(item),
        line=capacity.why_not_more(item.next_copy) if item.next_copy is not None else found.ended,
        marks=[marks],
    )


def _mark_devices(item: OwnerCapacity, best: list[PlacedCopy], scene: Scene, marks: dict[int, Mark]) -> None:
    """Mark the devices of each copy, or pod of a gang, with its number.

    A node says so if its number differs from the scheduler's.
    """
    held = Counter(copy.node for copy in best)
    for name, place in scene.by_node.items() if best else ():
        label = _held(item, held[name])
        if place.number in marks and label != marks[place.number].label:
            marks[place.number].message = f"in the best placement {label}"
    users: dict[tuple[int, int], list[str]] = {}
    for number, copy in enumerate(best, start=1):
        for taken in copy.devices:
            for device in scene.by_device.get(f"{taken.driver}/{taken.pool}/{taken.device}", ())[:1]:
                users.setdefault((scene.home[id(device)].number, device.at), []).append(str(number))
    for (where, at), numbers in users.items():
        mark = marks.setdefault(where, Mark(picks.GOOD, "used"))
        mark.gets[at] = f"{_held(item, len(numbers)).split()[1]} {words.listed(numbers, MOST_NAMED)}"
