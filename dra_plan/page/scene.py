"""Pictures of a cluster, which consist of places (nodes and shared pools) with their pools and devices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

from dra_plan import shown
from dra_plan.api import quantity
from dra_plan.documents.pools import CounterSetLeft
from dra_plan.page.picture import ClusterPicture, DrawnDevice, DrawnNode, DrawnPool
from dra_plan.text import columns, words

WORDS = {"free": "free", "used": "in use", "shared": "shared", "tainted": "tainted", "out": "can't be had"}
"""The states of a device, and the text in its box."""


NOT_SUITABLE = "not suitable"
"""The text in the box of a free device that is not suitable for the selected entry."""


LETTERS = {"free": "f", "used": "u", "shared": "s", "tainted": "t", "out": "o"}


@dataclass(frozen=True, slots=True)
class SceneDevice:
    """A device in a picture, and its position in its place."""

    at: int
    pool: DrawnPool
    drawn: DrawnDevice

    @property
    def state(self) -> str:
        """The state of the device, one of the keys of `WORDS`."""
        if self.drawn.state == "Available":
            return "free"
        if self.drawn.state == "Allocated":
            return "used"
        if self.drawn.state == "Shared":
            return "shared"
        return "tainted" if self.drawn.taint and self.drawn.reason.startswith("taint ") else "out"

    @property
    def name(self) -> str:
        """The name of the device, as DRIVER/POOL/DEVICE."""
        return f"{self.pool.driver}/{self.pool.name}/{self.drawn.name}"

    @property
    def detail(self) -> str:
        """A text about the device: which claims use it, how much of it is left, or why it is not available."""
        told = []
        if self.drawn.holders:
            told.append("by claim " + words.listed([words.holder(one) for one in self.drawn.holders]))
        told += [f"{name}: {left} of {total} left" for name, (left, total) in (self.drawn.capacity or {}).items()]
        if self.drawn.reason and self.state != "used":
            told.append(self.drawn.reason)
        elif self.drawn.taint and self.drawn.holders:
            told.append(f"tainted {self.drawn.taint}")
        told += [self.drawn.note] if self.drawn.note else []
        return "; ".join(told)


MOST_SLOTS = 32
"""The number of slots drawn in a row, which is the number of columns in the styles."""


MOST_PIPS = 16
"""The maximum number of steps of a counter that are drawn as separate pips."""


Span = tuple[int, int, SceneDevice]
"""A partition: its first column (from 1), its number of columns, and its device."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a physical device, with its number and the claim that uses it, or "" if it is free."""

    number: int
    name: str
    taken: bool
    by: str


@dataclass(frozen=True, slots=True)
class SlotRow:
    """Adjacent slots of one kind."""

    name: str
    slots: list[Slot]

    @property
    def taken(self) -> int:
        """The number of slots that are taken."""
        return sum(slot.taken for slot in self.slots)


@dataclass(frozen=True, slots=True)
class PartRow:
    """A run of adjacent partitions with the same profile.

    Every part has a first column (the leftmost is 1) and a width.
    """

    profile: str
    parts: list[Span]


@dataclass(frozen=True, slots=True)
class Amount:
    """A counter that is not drawn as slots: its name, its total amount, and how much is left.

    A counter with few steps is drawn as pips.
    """

    name: str
    left: str
    total: str
    percent: float
    """The percentage that is in use."""
    pips: list[bool]
    """Whether each step is in use; empty if the counter is not drawn as pips."""

    @property
    def said(self) -> str:
        """How much of the counter is left, as text."""
        return f"{self.left} of {self.total} left"

    @property
    def taken_pips(self) -> int:
        """The number of pips in use."""
        return sum(self.pips)


@dataclass(frozen=True, slots=True)
class PhysicalDevice:
    """A physical device that a counter set describes.

    It consists of rows of slots, partitions that cover slots, other counters, and devices that cover no slots.
    """

    name: str
    model: str
    slots: list[SlotRow]
    rows: list[PartRow]
    amounts: list[Amount]
    whole: list[SceneDevice]

    @property
    def is_covered(self) -> bool:
        """Whether the drawn partitions show which slots are in use, because no other device uses any."""
        return bool(self.rows) and not self.whole

    @property
    def columns(self) -> int:
        """The number of slots in the longest row."""
        return max((len(row.slots) for row in self.slots), default=1)


def physical_devices(sets: Sequence[CounterSetLeft], devices: Iterable[SceneDevice]) -> list[PhysicalDevice]:
    """Return the physical devices whose partitions a pool contains, in the order of their counter sets."""
    drawing = [device for device in devices if device.drawn.draws]
    return [made for each in sets if (made := _physical(each, drawing)) is not None]


def _physical(of: CounterSetLeft, devices: list[SceneDevice]) -> PhysicalDevice | None:
    parts = [device for device in devices if of.name in (device.drawn.draws or {})]
    if not parts:
        return None
    slot_rows = {name: row for name, row in columns.rows(of.total).items() if len(row) <= MOST_SLOTS}
    # A GPU may have several kinds of slots (memory slices, engines). Partitions are positioned on the first kind.
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
    """Return the position of a partition on the slots; None if it takes no slots, or slots that are not adjacent."""
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
    """Return partitions in rows, one row per profile, widest first; overlapping partitions get additional rows.

    Each partition goes into the first row of its profile in which it overlaps nothing. Partitions of one profile are
    equally wide and are added from left to right, so this needs no more rows than the largest number of partitions over
    one slot.
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
    """Return a counter, in steps that divide the consumption of every partition.

    For example, an A100 GPU has 98 multiprocessors, and partitions that take 14, 28, 42, 56 and 98 of them, so there
    are 7 steps of 14, each of which is a pip. If the steps do not fill the counter, or if there are too many, there are
    no pips, but only the amount.
    """
    left, total = quantity.parse(of.left[name]).nano, quantity.parse(of.total[name]).nano
    step = gcd(*(draws[of.name].get(name, 0) for part in parts if of.name in (draws := part.drawn.draws or {})))
    pips: list[bool] = []
    if step and not total % step and 1 < total // step <= MOST_PIPS:
        pips = [at * step < total - left for at in range(total // step)]
    percent = round(100 * (total - left) / total, 1) if total else 0
    return Amount(name, of.left[name], of.total[name], percent, pips)


@dataclass(frozen=True, slots=True)
class Frame:
    """Devices that have the same value of an attribute, or all other devices if the label is ""."""

    label: str
    devices: list[SceneDevice]


@dataclass(frozen=True)
class ScenePool:
    """A pool in a place. Its devices are drawn in frames, or as partitions of physical devices."""

    pool: DrawnPool
    devices: list[SceneDevice]

    @cached_property
    def physical(self) -> list[PhysicalDevice]:
        """The physical devices that have partitions, one for each counter set."""
        return physical_devices(self.pool.counter_sets, self.devices)

    @cached_property
    def frames(self) -> list[Frame]:
        """The devices that are not partitions, grouped by the value of the attribute.

        Groups are in the order of their first device.
        """
        parts = {device.at for one in self.physical for row in one.rows for _, _, device in row.parts}
        parts |= {device.at for one in self.physical for device in one.whole}
        groups: dict[str, list[SceneDevice]] = {}
        for device in self.devices:
            if device.at not in parts:
                groups.setdefault(device.drawn.frame, []).append(device)
        key = self.pool.framed_by.rpartition("/")[2]
        return [Frame(f"{key} {value}" if value else "", devices) for value, devices in groups.items()]


@dataclass
class ScenePlace:
    """A node in a picture, or a pool that belongs to no single node. For such a pool, `node` is None."""

    number: int
    title: str
    node: DrawnNode | None
    pools: list[ScenePool]
    reached_by: tuple[str, ...] = ()
    is_new: bool = False
    """Whether the node does not exist yet."""

    @cached_property
    def devices(self) -> list[SceneDevice]:
        """All devices in the place, by position."""
        return [device for pool in self.pools for device in pool.devices]

    @property
    def models(self) -> list[CountedModel]:
        """The number of devices of each model or driver in the place, without partitions."""
        return counted_models(device for pool in self.pools for device in whole_devices(pool))


def whole_devices(pool: ScenePool) -> list[SceneDevice]:
    """Return the pool's devices that are not partitions."""
    return [device for frame in pool.frames for device in frame.devices] if pool.physical else pool.devices


@dataclass
class CountedModel:
    """How many devices there are of a model (or of a driver without models), and how many are free or shared."""

    name: str
    total: int = 0
    free: int = 0
    shared: int = 0

    @property
    def said(self) -> str:
        """How many devices are free, as text."""
        return f"{self.free} of {self.total} free" + (f", {self.shared} shared" if self.shared else "")


def counted_models(devices: Iterable[SceneDevice]) -> list[CountedModel]:
    """Return the number of devices of each model, or of each driver without models."""
    found: dict[str, CountedModel] = {}
    for device in devices:
        name = device.drawn.model or device.pool.driver
        model = found.setdefault(name, CountedModel(name))
        model.total += 1
        model.free += device.state == "free"
        model.shared += device.state == "shared"
    return list(found.values())


@dataclass
class Scene:
    """A picture on a page. If there are two pictures, `title` distinguishes them."""

    places: list[ScenePlace]
    title: str = ""
    says: str = "the cluster as it is"
    """The caption while no entry is selected."""
    selected: frozenset[str] = frozenset()
    """The node labels that pods select by."""
    by_node: dict[str, ScenePlace] = field(default_factory=dict)
    by_device: dict[str, list[SceneDevice]] = field(default_factory=dict)
    home: dict[int, ScenePlace] = field(default_factory=dict)
    """The place of each device, by `id()` of the device."""

    @cached_property
    def states(self) -> list[str]:
        """The states that devices have in the picture, in the order of `WORDS`."""
        found = {device.state for place in self.places for device in place.devices}
        return [state for state in WORDS if state in found]


class Texts:
    """The texts of a page, numbered so that each text is stored once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._known: dict[str, int] = {}

    def at(self, text: str) -> int:
        """Return the number of the text, which is added if it is new."""
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self.all)
            self.all.append(shown.printable(text))
        return number


def scene(picture: ClusterPicture, title: str = "", *, new: Collection[str] = ()) -> Scene:
    """Return a scene with the places of a cluster. Nodes in `new` come first."""
    own: dict[str, list[DrawnPool]] = {node.name: [] for node in picture.nodes}
    others = []
    for pool in picture.pools:
        if pool.home in own:
            own[pool.home].append(pool)
        else:
            others.append(pool)
    made = Scene([], title, selected=picture.selected)
    for node in sorted(picture.nodes, key=lambda node: node.name not in new):
        place = _add(made, node.name, node, own[node.name])
        place.is_new = node.name in new
    for pool in others:
        _add(made, f"{pool.driver}/{pool.name}", None, [pool])
    return made


def _add(to: Scene, title: str, node: DrawnNode | None, pools: list[DrawnPool]) -> ScenePlace:
    numbered: Iterator[int] = iter(range(sum(len(pool.devices) for pool in pools)))
    drawn = [ScenePool(pool, [SceneDevice(next(numbered), pool, each) for each in pool.devices]) for pool in pools]
    place = ScenePlace(len(to.places), title, node, drawn, pools[0].nodes if node is None else ())
    to.places.append(place)
    if node is not None:
        to.by_node[node.name] = place
    for device in place.devices:
        to.by_device.setdefault(device.name, []).append(device)
        to.home[id(device)] = place
    return place
