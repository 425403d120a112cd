"""Parts of physical devices, as slots: what the counters that they share tell of where they lie on the device.

Drivers publish no positions. But of a counter set with `memory-slice-0` to `memory-slice-7`, one of each, a part that
draws from 2 and 3 lies on these two: numbered counters of total 1 are slots, and those that a part draws are its span.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from dra_plan.api import quantity
from dra_plan.documents.pools import CounterSetLeft
from dra_plan.output import slots

from .devices import SceneDevice

MOST_SLOTS = 32
"""Slots of one row that are drawn; the styles know so many columns."""

MOST_PIPS = 16
"""A counter of up to so many is drawn one by one."""


Span = tuple[int, int, SceneDevice]
"""The first column of a part, from 1, how many columns it takes, and the part."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place on a device: its number, and by whom it is taken, or ""."""

    number: int
    name: str
    taken: bool
    by: str


@dataclass(frozen=True, slots=True)
class SlotRow:
    """Slots of one kind beside each other."""

    name: str
    slots: list[Slot]

    @property
    def taken(self) -> int:
        """How many are taken."""
        return sum(slot.taken for slot in self.slots)


@dataclass(frozen=True, slots=True)
class PartRow:
    """Parts of one profile that lie beside each other: each with its first column, from 1, and how many it spans."""

    profile: str
    parts: list[Span]


@dataclass(frozen=True, slots=True)
class Amount:
    """A counter that is no row of slots: its name, what is left, what there is, and pips where it has few steps."""

    name: str
    left: str
    total: str
    percent: float
    """How much of it is taken."""
    pips: list[bool]
    """For each step in which parts draw from it whether it is taken; empty where it is not drawn so."""

    @property
    def said(self) -> str:
        """What is left, in words."""
        return f"{self.left} of {self.total} left"

    @property
    def taken_pips(self) -> int:
        """How many pips are taken."""
        return sum(self.pips)


@dataclass(frozen=True, slots=True)
class PhysicalDevice:
    """What a counter set stands for: its slots, the parts over them, other amounts, and devices without slots."""

    name: str
    model: str
    slots: list[SlotRow]
    rows: list[PartRow]
    amounts: list[Amount]
    whole: list[SceneDevice]

    @property
    def is_covered(self) -> bool:
        """Whether the parts that are drawn tell which slots are taken: none lies elsewhere."""
        return bool(self.rows) and not self.whole

    @property
    def columns(self) -> int:
        """How many columns the longest row has."""
        return max((len(row.slots) for row in self.slots), default=1)


def physical_devices(sets: Sequence[CounterSetLeft], devices: Iterable[SceneDevice]) -> list[PhysicalDevice]:
    """The physical devices that parts of a pool belong to, in the order of their counter sets."""
    drawing = [device for device in devices if device.drawn.draws]
    return [made for each in sets if (made := _physical(each, drawing)) is not None]


def _physical(of: CounterSetLeft, devices: list[SceneDevice]) -> PhysicalDevice | None:
    parts = [device for device in devices if of.name in (device.drawn.draws or {})]
    if not parts:
        return None
    slot_rows = {name: row for name, row in slots.rows(of.total).items() if len(row) <= MOST_SLOTS}
    # A GPU may have several kinds of slots (memory slices, engines). The first kind is the ruler that parts lie on.
    ruler = next(iter(slot_rows.values()), None)
    spans = [] if ruler is None else [span for part in parts if (span := _span(part, of.name, ruler)) is not None]
    lying = {id(device) for _, _, device in spans}
    in_rows = {name for row in slot_rows.values() for name in row.values()}
    return PhysicalDevice(
        name=of.name,
        model=next((device.drawn.model for device in parts if device.drawn.model), ""),
        slots=[_slot_row(name, row, of, parts) for name, row in slot_rows.items()],
        rows=_part_rows(spans),
        amounts=[_amount(name, of, parts) for name in of.total if name not in in_rows],
        whole=[device for device in parts if id(device) not in lying],
    )


def _span(device: SceneDevice, counter_set: str, ruler: Mapping[int, str]) -> Span | None:
    """Where a part lies on the slots; None if it takes none of them, or slots that are not beside each other."""
    drawn = (device.drawn.draws or {}).get(counter_set, {})
    columns = [column for column, name in enumerate(ruler.values(), start=1) if name in drawn]
    if not columns or columns[-1] - columns[0] != len(columns) - 1:
        return None
    return columns[0], len(columns), device


def _slot_row(name: str, row: Mapping[int, str], of: CounterSetLeft, parts: list[SceneDevice]) -> SlotRow:
    holders = {
        counter: device.drawn.name
        for device in parts
        if device.state == "used"
        for counter in (device.drawn.draws or {})[of.name]
    }
    made = [
        Slot(number, f"{of.name}/{counter}", of.left[counter] != of.total[counter], holders.get(counter, ""))
        for number, counter in row.items()
    ]
    return SlotRow(name, made)


def _part_rows(spans: list[Span]) -> list[PartRow]:
    """Parts in rows, a row a profile; those that overlap get further rows. The widest come first.

    Each part goes into the first row of its profile in which it overlaps nothing. As parts of one profile are equally
    wide and come from left to right, that makes as few rows as there are parts over one slot at most.
    """
    by_profile: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda each: (-each[1], each[0])):
        by_profile.setdefault(span[2].drawn.profile, []).append(span)
    rows: list[PartRow] = []
    for profile, members in by_profile.items():
        own: list[PartRow] = []
        for span in members:
            row = next((row for row in own if not any(_overlap(span, other) for other in row.parts)), None)
            if row is None:
                row = PartRow(profile, [])
                own.append(row)
            row.parts.append(span)
        rows += own
    return rows


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]


def _amount(name: str, of: CounterSetLeft, parts: list[SceneDevice]) -> Amount:
    """A counter, in steps of what all parts draw a multiple of.

    An A100 has 98 multiprocessors and parts that draw 14, 28, 42, 56 and 98 of them: 7 steps of 14, each a pip. Where
    the steps don't fill the counter, or are too many, there are no pips, only the amount.
    """
    left, total = quantity.parse(of.left[name]).nano, quantity.parse(of.total[name]).nano
    step = gcd(*(draws[of.name].get(name, 0) for part in parts if of.name in (draws := part.drawn.draws or {})))
    pips: list[bool] = []
    if step and not total % step and 1 < total // step <= MOST_PIPS:
        pips = [at * step < total - left for at in range(total // step)]
    percent = round(100 * (total - left) / total, 1) if total else 0
    return Amount(name, of.left[name], of.total[name], percent, pips)
