"""Pictures as data for the page's script, and as lines of text for browsers without scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from dra_plan import shown
from dra_plan.page.picks import plain_amount
from dra_plan.page.scene import LETTERS, PhysicalDevice, Scene, ScenePlace, ScenePool, Texts, whole_devices
from dra_plan.text import words

MOST_LABELS = 8
"""The maximum number of node labels that nodes can be grouped by."""


MOST_VALUES = 64
"""The maximum number of values of a label that nodes can be grouped by. Labels that pods select by have no limit."""


MOST_ID_LETTERS = 1_000_000
"""The maximum total length of attributes that name devices, such as UUIDs. If they are longer, they are left out."""


MOST_LINES = 60
"""The maximum number of node groups listed as lines. The groups with the most nodes come first."""


MOST_NAMED = 8
"""The maximum number of nodes named in a group."""


MOST_REACHED = 6
"""The maximum number of nodes named for a pool that several nodes share."""


def plain(scene: Scene, texts: Texts, differing: Collection[str] = ()) -> dict[str, Any]:
    """Return the data of a picture for the script.

    Places with the same layout share it. Places whose titles are in `differing` are marked as different from the other
    picture.
    """
    layouts: dict[bytes, int] = {}
    made: list[dict[str, Any]] = []
    places = []
    labels = _labels(scene)
    ids = (each for place in scene.places for one in place.devices for each in one.drawn.ids)
    keeps_ids = sum(map(len, ids)) <= MOST_ID_LETTERS
    drivers = _drivers(scene)
    for place in scene.places:
        layout = _layout(place, texts, drivers[0] if drivers else "")
        key = msgspec.json.encode(layout)
        if key not in layouts:
            layouts[key] = len(made)
            made.append(layout)
        own = _place(place, layouts[key], labels, texts, keeps_ids=keeps_ids)
        places.append(own | ({"differs": True} if place.title in differing else {}))
    return {
        "title": scene.title,
        "says": scene.says,
        "layouts": made,
        "places": places,
        "labels": labels,
        "keeps_ids": keeps_ids,
        "leads": drivers[0] if len(drivers) > 1 else "",
    }


def differing(scenes: Sequence[Scene]) -> set[str]:
    """Return the titles of the places that differ between the two pictures, or that only one of them has."""
    if len(scenes) < 2:
        return set()
    one, other = ({place.title: _looks(place) for place in scene.places} for scene in scenes[:2])
    return {title for title in one.keys() | other.keys() if one.get(title) != other.get(title)}


def _looks(place: ScenePlace) -> tuple[str, Sequence[str]]:
    return "".join(LETTERS[device.state] for device in place.devices), place.node.away if place.node is not None else ()


def _drivers(scene: Scene) -> list[str]:
    """Return the drivers, beginning with the driver whose devices stand for a node.

    This is the driver with the most devices among those that name models or partition devices, or else among all
    drivers.
    """
    found: dict[str, tuple[bool, int]] = {}
    for pool in (pool for place in scene.places for pool in place.pools):
        names, number = found.get(pool.pool.driver, (False, 0))
        names = names or bool(pool.physical) or any(device.drawn.model for device in whole_devices(pool))
        found[pool.pool.driver] = (names, number + len(whole_devices(pool)) + len(pool.physical))
    return sorted(found, key=lambda driver: found[driver], reverse=True)


def _labels(scene: Scene) -> list[str]:
    """Return the labels that group nodes: those with several values, but fewer than there are nodes.

    If several labels form the same groups, only the first is returned.
    """
    nodes = [place.node for place in scene.places if place.node is not None]
    values: dict[str, set[str]] = {}
    for node in nodes:
        for name, value in node.labels.items():
            values.setdefault(name, set()).add(value)
    most = {name: len(nodes) if name in scene.selected else MOST_VALUES + 1 for name in values}
    found = [name for name, of in values.items() if 1 < len(of) < min(len(nodes), most[name])]
    found.sort(key=lambda name: (name not in scene.selected, "zone" not in name, name))
    alike: dict[tuple[int, ...], str] = {}
    for name in found:
        numbers: dict[str, int] = {}
        alike.setdefault(tuple(numbers.setdefault(of.labels.get(name, ""), len(numbers)) for of in nodes), name)
    return list(alike.values())[:MOST_LABELS]


def _place(place: ScenePlace, layout: int, labels: list[str], texts: Texts, *, keeps_ids: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": shown.printable(place.title),
        "kind": layout,
        "states": "".join(LETTERS[device.state] for device in place.devices),
    }
    details = {str(device.at): texts.at(device.detail) for device in place.devices if device.detail}
    named = place.devices if keeps_ids else []
    physical = [one for pool in place.pools for one in pool.physical]
    optional = {
        "details": details,
        "ids": {str(one.at): [texts.at(each) for each in one.drawn.ids] for one in named if one.drawn.ids},
        "labels": [texts.at(place.node.labels.get(name, "")) for name in labels] if place.node is not None else [],
        "new": place.is_new,
        "reached": "" if place.node is not None else _reached(place),
        "slots": [[texts.at(s.by) if s.taken else -1 for s in row.slots] for one in physical for row in one.slots],
        "amounts": [plain_amount(each, texts) for one in physical for each in one.amounts],
        "shared": place.node is None,
    }
    if place.node is not None and place.node.away:
        optional["away"] = texts.at(", ".join(place.node.away))
    return made | {name: value for name, value in optional.items() if value}


def _reached(place: ScenePlace) -> str:
    return shown.printable(words.listed(list(place.reached_by), MOST_REACHED)) or "no node of the input"


def _layout(place: ScenePlace, texts: Texts, leads: str) -> dict[str, Any]:
    return {
        "kind": texts.at(_kind(place)),
        "pools": [_pool(pool, place, texts) | {"leads": pool.pool.driver == leads} for pool in place.pools],
        "devices": [shown.printable(device.drawn.name) for device in place.devices],
        "models": [texts.at(device.drawn.model or device.pool.driver) for device in place.devices],
        "whole": [device.at for pool in place.pools for device in whole_devices(pool)],
    }


def _kind(place: ScenePlace) -> str:
    """Return a node's models, as the name of its kind."""
    models = ", ".join(f"{model.total:,} \N{MULTIPLICATION SIGN} {model.name}" for model in place.models)
    return models or ("cut into parts" if place.devices else "no devices")


def _pool(pool: ScenePool, place: ScenePlace, texts: Texts) -> dict[str, Any]:
    """Return a pool; its name is omitted if it is the node's name."""
    own = place.node is not None and pool.pool.name == place.node.name
    state = pool.pool.state + (f": {pool.pool.problem}" if pool.pool.problem else "")
    return {
        "driver": texts.at(pool.pool.driver),
        "name": None if own else texts.at(pool.pool.name),
        "state": "" if pool.pool.state == "Complete" else shown.printable(state),
        "frames": [[texts.at(frame.label), [device.at for device in frame.devices]] for frame in pool.frames],
        "physical": [_physical(one) for one in pool.physical],
    }


def _physical(of: PhysicalDevice) -> dict[str, Any]:
    return {
        "name": shown.printable(of.name),
        "model": shown.printable(of.model),
        "columns": of.columns,
        "covered": of.is_covered,
        "slots": [[shown.printable(row.name), [slot.number for slot in row.slots]] for row in of.slots],
        "rows": [
            [shown.printable(row.profile), [[start, wide, one.at] for start, wide, one in row.parts]] for row in of.rows
        ],
        "amounts": [[shown.printable(amount.name), len(amount.pips)] for amount in of.amounts],
        "whole": [device.at for device in of.whole],
    }


def lines(scene: Scene) -> Iterator[str]:
    """Yield a line for each group of nodes that have the same free devices and reject pods for the same reasons."""
    groups: dict[str, list[str]] = {}
    for place in scene.places:
        groups.setdefault("; ".join(_said(place)), []).append(place.title)
    shown_groups = sorted(groups.items(), key=lambda each: -len(each[1]))[:MOST_LINES]
    for said, names in shown_groups:
        yield f"{words.listed(names, MOST_NAMED)}: {said}"
    if rest := len(groups) - len(shown_groups):
        yield f"{words.counted(rest, 'other group')} of nodes"


def _said(place: ScenePlace) -> Iterator[str]:
    if place.is_new:
        yield "new"
    yield from (f"{model.name}: {model.said}" for model in place.models)
    if not place.devices:
        yield "no devices"
    yield from place.node.away if place.node is not None else ()
    for pool in place.pools:
        if pool.pool.state != "Complete":
            yield f"pool {pool.pool.name}: {pool.pool.state}"
        for label, count in _together(pool).items():
            yield f"{words.counted(count, 'free device')} in {label}"


def _together(pool: ScenePool) -> Counter[str]:
    """Return the number of free devices in each frame that has a name."""
    return Counter(frame.label for frame in pool.frames if frame.label for one in frame.devices if one.state == "free")
