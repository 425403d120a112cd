"""From an answer to its page: a file for each kind. What is not known here still has its text and its document."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from dra_plan.allocator import AllocationError, View
from dra_plan.api.inventory import Inventory
from dra_plan.documents.allocation import AllocationDocument
from dra_plan.documents.base import PrintedDocument
from dra_plan.documents.capacity import CapacityDocument
from dra_plan.documents.diff import DiffDocument
from dra_plan.documents.drains import DrainsDocument
from dra_plan.documents.growth import GrowthDocument
from dra_plan.documents.placement import PlacementDocument
from dra_plan.documents.pools import PoolsDocument
from dra_plan.documents.schedule import ScheduleDocument
from dra_plan.documents.validation import ValidationDocument
from dra_plan.errors import InputError
from dra_plan.output import (
    allocation_table,
    capacity,
    default_format,
    diff,
    drains,
    findings,
    growth,
    notices,
    placement,
    pool_table,
    schedule,
    text,
)
from dra_plan.output import explain_words as words
from dra_plan.output.formats import Formats
from dra_plan.planner.allocation import AllocationPlan
from dra_plan.planner.answer import PrintedAnswer
from dra_plan.planner.diff import ClusterDiff
from dra_plan.planner.drains import DrainList
from dra_plan.planner.explanation import Explanation
from dra_plan.planner.growth.plan import GrowthPlan
from dra_plan.planner.picture import draw
from dra_plan.planner.placing import PlacementPlan
from dra_plan.planner.scheduling import SchedulePlan

from . import movepages, told
from .boxes import fill_boxes
from .capacitypages import fill_capacity
from .content import Page
from .diffpages import fill_diff
from .drainpages import fill_drains
from .findings import by_file
from .growthpages import fill_growth
from .page import render
from .placepages import fill_placement
from .scene import Scene, scene
from .schedulepages import fill_schedule
from .setpages import fill_allocation, fill_explanation

_TABLES: dict[type[PrintedDocument], Formats[Any]] = {
    AllocationDocument: allocation_table.FORMATS,
    CapacityDocument: capacity.FORMATS,
    DiffDocument: diff.FORMATS,
    DrainsDocument: drains.FORMATS,
    GrowthDocument: growth.FORMATS,
    PlacementDocument: placement.FORMATS,
    PoolsDocument: pool_table.FORMATS,
    ScheduleDocument: schedule.FORMATS,
    ValidationDocument: findings.FORMATS,
}
"""Who makes tables of a document."""

_COMMANDS = {
    "AllocationPlan": "allocate",
    "CapacityPlan": "capacity",
    "ClusterDiff": "diff",
    "DrainList": "diff",
    "Explanation": "explain",
    "GrowthPlan": "grow",
    "Placement": "place",
    "PoolList": "pools",
    "SchedulePlan": "schedule",
    "ValidationReport": "validate",
}
"""The command that prints a kind of document."""


def html(answer: PrintedAnswer[Any], inventory: Inventory | None = None, view: View | None = None) -> str:
    """The page of an answer, as one file of HTML."""
    made = page(answer, inventory, view)
    fill_boxes(made)
    return render(made)


def page(answer: PrintedAnswer[Any], inventory: Inventory | None = None, view: View | None = None) -> Page:
    """The page of an answer about a cluster; without one, or one that can't be drawn, there is no picture."""
    document = answer.document
    made = Page(
        command=_COMMANDS.get(document.kind, ""),
        headline=_headline(document),
        target=text.target(document),
        document=document,
        warnings=[line.removeprefix("warning: ") for line in notices.lines(document.warnings, most=20)],
        blocks=_blocks(document),
    )
    if isinstance(answer, ClusterDiff):
        sides = [_drawn(side.inventory, side.view, title) for side, title in _sides(answer)]
        fill_diff(made, answer, [side for side in sides if side is not None] if None not in sides else [])
        return made
    apart = _nodes_spoken_of(answer)
    if isinstance(answer, GrowthPlan) and inventory is not None:
        grown = answer.grown(inventory, answer.final.counts)
        view = View.of(grown, answer.target)
        drawn = _drawn(grown, view, new={node for names in answer.final.added for node in names}, apart=apart)
    else:
        drawn = None if inventory is None or view is None else _drawn(inventory, view, apart=apart)
    made.scenes = [] if drawn is None else [drawn]
    if isinstance(answer, Explanation) and answer.document.moves and drawn is not None:
        made.scenes = [replace(drawn, title=title) for title in movepages.SCENES]
        made.moments_in = 1
    _fill(made, answer, inventory, view)
    return made


def _sides(answer: ClusterDiff) -> Any:
    return (answer.before, "Before"), (answer.after, "After")


def _nodes_spoken_of(answer: PrintedAnswer[Any]) -> set[str]:
    """The nodes to which something happens: which get pods, lose them, or are drained."""
    if isinstance(answer, PlacementPlan):
        placed = answer.proof.found.placed if answer.proof is not None else ()
        return {each.node for each in (*answer.found.placed, *placed)}
    if isinstance(answer, GrowthPlan):
        return set(answer.final.bound.values())
    if isinstance(answer, SchedulePlan):
        return {record.node for record in answer.outcome.pods if record.node and record.attempts}
    if isinstance(answer, DrainList):
        return {node.name for node in answer.nodes if node.lost or node.gone}
    if isinstance(answer, Explanation):
        steps = [step for room in answer.document.moves or () for step in room.steps]
        return {node for step in steps for node in (step.node, step.from_node) if node}
    return set()


def _drawn(inventory: Inventory, view: View, title: str = "", **how: Collection[str]) -> Scene | None:
    """The picture; None for a cluster that can't be drawn: what is wrong is said by the answer, where it matters."""
    try:
        made = scene(draw(inventory, view, infer_nodes=True), title, **how)
    except (AllocationError, InputError):
        return None
    return made if made.places else None


def _headline(document: PrintedDocument) -> str:
    """The first sentence of what is printed in tables; what has its own function gets a better one."""
    formats = _TABLES.get(type(document))
    parts = formats.table(document, None) if formats is not None else []
    return next((part.rstrip(".:") for part in parts if isinstance(part, str)), document.kind)


def _blocks(document: PrintedDocument) -> list[told.Block]:
    """What the command prints: as tables where it is known how they are made, else as it stands."""
    formats = _TABLES.get(type(document))
    if formats is not None:
        wide = formats.wide(document, None)
        return told.blocks(wide if all(map(told.is_short, wide)) else formats.table(document, None))
    try:
        return [told.ToldTable((), (), default_format.text(document))]
    except TypeError:
        return []  # a kind that has no text


def _fill(made: Page, answer: PrintedAnswer[Any], inventory: Inventory | None, view: View | None) -> None:
    document = answer.document
    if isinstance(answer, Explanation):
        fill_explanation(made, answer, inventory, view)
    elif isinstance(answer, AllocationPlan):
        fill_allocation(made, answer, inventory, view)
    elif isinstance(document, PoolsDocument):
        _fill_pools(made, document)
    elif isinstance(answer, SchedulePlan):
        fill_schedule(made, answer, view)
    elif isinstance(document, CapacityDocument):
        fill_capacity(made, document)
    elif isinstance(answer, GrowthPlan):
        fill_growth(made, answer, inventory, view)
    elif isinstance(answer, PlacementPlan):
        fill_placement(made, answer, inventory, view)
    elif isinstance(document, DrainsDocument):
        fill_drains(made, document)
    elif isinstance(document, ValidationDocument):
        _fill_validation(made, document)


def _fill_pools(made: Page, document: PoolsDocument) -> None:
    whole = [pool for pool in document.pools if pool.physical_devices is None]
    said = []
    if whole:
        free, total = (
            sum(numbers) for numbers in zip(*((p.available_devices, p.total_devices) for p in whole), strict=True)
        )
        said.append(f"{free} of {words.counted(total, 'device')} available")
    parted = sum(pool.physical_devices or 0 for pool in document.pools)
    said += [f"{words.counted(parted, 'device')} in parts"] if parted else []
    made.headline = words.capital(" and ".join(said)) or "No pools"
    profiles: dict[str, tuple[int, int]] = {}
    for one in (profile for pool in document.pools for profile in pool.profiles):
        fit, listed = profiles.get(one.profile, (0, 0))
        profiles[one.profile] = fit + one.fit, listed + one.devices
    made.profiles = [(name, *numbers) for name, numbers in profiles.items()]


def _fill_validation(made: Page, document: ValidationDocument) -> None:
    counts = document.summary
    nouns = ((counts.errors, "error"), (counts.warnings, "warning"), (counts.infos, "info"))
    found = [words.counted(number, noun) for number, noun in nouns if number]
    made.headline = f"{words.listed(found)} in {words.counted(counts.objects, 'object')}" if found else "Nothing found"
    made.findings = list(by_file(document))
