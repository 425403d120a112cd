"""The picture as templates draw it, and as the script reads it: nodes that are alike once, each with its devices.

A place is a node with the pools that only it sees, or a pool that several nodes see, or none. Places with the same
devices and as many of them in each state are one kind, and drawn once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dra_plan import shown
from dra_plan.planner.picture import ClusterPicture, DrawnPool

from .devices import LETTERS, WORDS, SceneDevice
from .partitions import PhysicalDevice, physical_devices

MOST_APART = 24
"""Nodes that are drawn by themselves; of more, those that are alike are drawn once."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Devices that have the same value of an attribute; without a label, all others."""

    label: str
    devices: list[SceneDevice]


@dataclass(frozen=True)
class ScenePool:
    """A pool of a place, with its devices in frames and in parts."""

    pool: DrawnPool
    devices: list[SceneDevice]

    @cached_property
    def physical(self) -> list[PhysicalDevice]:
        """The devices that are cut into parts, one for each counter set."""
        return physical_devices(self.pool.counter_sets, self.devices)

    @property
    def frames(self) -> list[Frame]:
        """The other devices, those with one value together, in the order of the first."""
        parts = {device.at for one in self.physical for row in one.rows for _, _, device in row.parts}
        parts |= {device.at for one in self.physical for device in one.whole}
        groups: dict[str, list[SceneDevice]] = {}
        for device in self.devices:
            if device.at not in parts:
                groups.setdefault(device.drawn.frame, []).append(device)
        key = self.pool.framed_by.rpartition("/")[2]
        return [Frame(f"{key} {value}" if value else "", devices) for value, devices in groups.items()]


@dataclass(frozen=True)
class ScenePlace:
    """A node, or a pool that is not of one node; `node` is its name, or "" for a pool."""

    number: int
    title: str
    node: str
    pools: list[ScenePool]
    reached_by: tuple[str, ...] = ()
    is_new: bool = False
    """Whether it is a node that there is not yet."""
    is_apart: bool = False
    """Whether it is drawn by itself, as the answer speaks of it."""

    @cached_property
    def devices(self) -> list[SceneDevice]:
        """All devices, in order of their position."""
        return [device for pool in self.pools for device in pool.devices]

    @property
    def likeness(self) -> tuple[Any, ...]:
        """What places of one kind agree in: the devices, and how many of each model are in which state."""
        looks = tuple(
            (d.pool.driver, d.drawn.name, d.drawn.model, d.drawn.profile, d.drawn.frame) for d in self.devices
        )
        states = Counter((d.pool.driver, d.drawn.model, d.drawn.profile, d.state) for d in self.devices)
        pools = tuple((pool.pool.driver, pool.pool.state, len(pool.devices)) for pool in self.pools)
        single = self.number if self.is_apart or not self.node else None
        return single, self.is_new, looks, pools, frozenset(states.items())

    @property
    def models(self) -> list[CountedModel]:
        """Each model, or driver, with how many devices are free and how many there are; parts are not counted."""
        return counted_models(device for pool in self.pools for device in whole_devices(pool))


def whole_devices(pool: ScenePool) -> list[SceneDevice]:
    """The devices of a pool that are no parts of others: they can be counted."""
    return [device for frame in pool.frames for device in frame.devices] if pool.physical else pool.devices


@dataclass
class CountedModel:
    """How many devices of a model, or of a driver that names none, there are, are free, and are shared."""

    name: str
    total: int = 0
    free: int = 0
    shared: int = 0

    @property
    def said(self) -> str:
        """What is free, in words."""
        return f"{self.free} of {self.total} free" + (f", {self.shared} shared" if self.shared else "")


def counted_models(devices: Iterable[SceneDevice]) -> list[CountedModel]:
    """Each model, or driver, with how many are free and how many there are."""
    found: dict[str, CountedModel] = {}
    for device in devices:
        name = device.drawn.model or device.pool.driver
        model = found.setdefault(name, CountedModel(name))
        model.total += 1
        model.free += device.state == "free"
        model.shared += device.state == "shared"
    return list(found.values())


@dataclass(frozen=True)
class AlikePlaces:
    """Places that are alike; the first is drawn."""

    number: int
    places: list[ScenePlace]

    @property
    def first(self) -> ScenePlace:
        """The one that is drawn."""
        return self.places[0]

    @property
    def title(self) -> str:
        """`gpu-a`, or `gpu-a and 3 like it`."""
        more = len(self.places) - 1
        return f"{self.first.title} and {more} like it" if more else self.first.title

    @property
    def names(self) -> list[str]:
        """The names of all places."""
        return [place.title for place in self.places]


@dataclass
class Scene:
    """One picture: `title` says of what, where there are two."""

    places: list[ScenePlace]
    title: str = ""
    by_node: dict[str, ScenePlace] = field(default_factory=dict)
    by_device: dict[str, list[SceneDevice]] = field(default_factory=dict)
    home: dict[int, ScenePlace] = field(default_factory=dict)
    """The place of a device, by the id of the device."""

    @cached_property
    def kinds(self) -> list[AlikePlaces]:
        """The kinds: new nodes first, then those with devices, pools, and nodes without devices."""
        groups: dict[tuple[Any, ...], list[ScenePlace]] = {}
        for place in self.places:
            groups.setdefault(place.likeness, []).append(place)
        return [AlikePlaces(number, places) for number, places in enumerate(sorted(groups.values(), key=_rank))]

    @cached_property
    def models(self) -> list[CountedModel]:
        """Each model of the cluster with how many are free and how many there are, the most first."""
        found = counted_models(d for place in self.places for pool in place.pools for d in whole_devices(pool))
        return sorted(found, key=lambda each: -each.total)

    @cached_property
    def states(self) -> list[str]:
        """The states that some device has, in the order of `WORDS`."""
        found = {device.state for place in self.places for device in place.devices}
        return [state for state in WORDS if state in found]

    def plain(self) -> dict[str, Any]:
        """What the script needs: each place with its kind, and of its devices the states and details."""
        texts = Texts()
        kinds = {place.number: kind.number for kind in self.kinds for place in kind.places}
        return {
            "places": [
                {
                    "name": shown.printable(place.title),
                    "kind": kinds[place.number],
                    "states": "".join(LETTERS[device.state] for device in place.devices),
                    "pools": [[shown.printable(pool.pool.name), len(pool.devices)] for pool in place.pools],
                    "details": {str(d.at): texts.at(d.detail) for d in place.devices if d.detail},
                }
                for place in self.places
            ],
            "texts": texts.all,
        }


class Texts:
    """Texts by number, each kept once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._known: dict[str, int] = {}

    def at(self, text: str) -> int:
        """The number of a text."""
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self.all)
            self.all.append(shown.printable(text))
        return number


def _rank(places: list[ScenePlace]) -> tuple[int, int]:
    place = places[0]
    if not place.node:
        return 1, place.number
    return (-1 if place.is_new else 0 if place.devices else 2), place.number


def scene(picture: ClusterPicture, title: str = "", *, new: Collection[str] = (), apart: Collection[str] = ()) -> Scene:
    """The places of a cluster, and where its nodes and devices are found among them.

    Nodes that are `new` stand first; those `apart` are drawn by themselves, unless they are many.
    """
    apart = apart if len(apart) <= MOST_APART else ()
    own: dict[str, list[DrawnPool]] = {name: [] for name in picture.nodes}
    others = []
    for pool in picture.pools:
        if pool.home in own:
            own[pool.home].append(pool)
        else:
            others.append(pool)
    made = Scene([], title)
    for name, pools in own.items():
        _add(made, name, name, pools, is_new=name in new, is_apart=name in apart)
    for pool in others:
        _add(made, f"{pool.driver}/{pool.name}", "", [pool])
    return made


def _add(to: Scene, title: str, node: str, pools: list[DrawnPool], **what: bool) -> None:
    numbered: Iterator[int] = iter(range(sum(len(pool.devices) for pool in pools)))
    drawn = [ScenePool(pool, [SceneDevice(next(numbered), pool, each) for each in pool.devices]) for pool in pools]
    reached = pools[0].nodes if not node else ()
    place = ScenePlace(len(to.places), title, node, drawn, reached, **what)
    to.places.append(place)
    if node:
        to.by_node[node] = place
    for device in place.devices:
        to.by_device.setdefault(device.name, []).append(device)
        to.home[id(device)] = place
