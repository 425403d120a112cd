"""Pools and what is left of them, worked out from plain objects by counting: no code of the package is used.

The rules are those of `GatherPools` and `GatherAllocatedState` as the API describes them, for 1.34, 1.35 and 1.36.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

Plain = dict[str, Any]

UNITS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


class World(NamedTuple):
    """A case: its objects, and what of the rules depends on release and gates."""

    objects: list[Plain]
    version: str
    partitionable: bool
    consumable: bool
    taints: bool
    binding: bool

    def all(self, kind: str) -> list[Plain]:
        return [obj for obj in self.objects if obj["kind"] == kind]

    @property
    def pooled_counters(self) -> bool:
        """Counter sets stand in slices of their own, and the cluster's other slices are looked at."""
        return self.version != "1.34"


def amount(text: str | int) -> Fraction:
    text = str(text)
    for suffix, power in BINARY.items():
        if text.endswith(suffix):
            return Fraction(text[:-2]) * 1024**power
    if text[-1] in UNITS:
        return Fraction(text[:-1]) * Fraction(10) ** UNITS[text[-1]]
    return Fraction(text)


# -- which slices a node sees ----------------------------------------------------------------------------------------


def pool_of(slice_: Plain) -> tuple[str, str]:
    return slice_["spec"]["driver"], slice_["spec"]["pool"]["name"]


def generation(slice_: Plain) -> int:
    return int(slice_["spec"]["pool"].get("generation", 0))


def count(slice_: Plain) -> int:
    return int(slice_["spec"]["pool"]["resourceSliceCount"])


def sets(slice_: Plain) -> list[Plain]:
    return slice_["spec"].get("sharedCounters") or []


def devices(slice_: Plain) -> list[Plain]:
    return slice_["spec"].get("devices") or []


def targets(fields: Plain, node: Plain) -> bool:
    if fields.get("nodeName"):
        return bool(fields["nodeName"] == node["metadata"]["name"])
    if fields.get("allNodes"):
        return True
    if fields.get("nodeSelector") is not None:
        return any(term_holds(term, node) for term in fields["nodeSelector"].get("nodeSelectorTerms", []))
    return bool(fields.get("perDeviceNodeSelection")) and any(targets(device, node) for device in fields["devices"])


def term_holds(term: Plain, node: Plain) -> bool:
    labels = node["metadata"].get("labels") or {}
    rules = [(labels.get(rule["key"]), rule) for rule in term.get("matchExpressions") or []]
    rules += [(node["metadata"]["name"], rule) for rule in term.get("matchFields") or []]
    return bool(rules) and all(rule_holds(value, rule) for value, rule in rules)


def rule_holds(value: str | None, rule: Plain) -> bool:
    values = rule.get("values") or []
    match rule["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(values[0])
        case "Lt":
            return value is not None and int(value) < int(values[0])
    raise AssertionError(rule)


def seen_by(node: Plain, world: World) -> list[Plain]:
    """The slices that count for a node, in the order in which the release meets them.

    In 1.36 those that name the node come first; the experimental allocator of older releases, which is needed for
    binding conditions and consumable capacity, looks at slices with binding conditions last.
    """
    found = []
    for slice_ in world.all("ResourceSlice"):
        spec = slice_["spec"]
        if not world.partitionable and is_of_gate(slice_, world):
            continue
        if (world.pooled_counters and sets(slice_)) or targets(spec, node):
            found.append(slice_)
    if world.version >= "1.36":
        found.sort(key=lambda s: not s["spec"].get("nodeName") or bool(sets(s)))
    elif world.binding or world.consumable:
        found.sort(key=lambda s: any(device.get("bindingConditions") for device in devices(s)))
    return found


# -- the state of pools ----------------------------------------------------------------------------------------------


class Truth(NamedTuple):
    """A pool as a node sees it."""

    generation: int
    state: str
    reason: str
    expected: int
    slices: list[Plain]
    """All slices that belong to it, also those for other nodes where they count."""


def pools(node: Plain, world: World) -> dict[tuple[str, str], Truth]:
    by_pool: dict[tuple[str, str], list[Plain]] = {}
    for slice_ in seen_by(node, world):
        by_pool.setdefault(pool_of(slice_), []).append(slice_)
    return {pool: truth(pool, slices, world) for pool, slices in by_pool.items()}


def reaches(node: Plain, pool: tuple[str, str], number: int, world: World) -> bool:
    """Whether all slices of the generation name the node, or one that has not only counters targets it."""
    every = [one for one in world.all("ResourceSlice") if pool_of(one) == pool and generation(one) == number]
    known = [one for one in every if world.partitionable or not is_of_gate(one, world)]
    names = {one["spec"].get("nodeName") or "" for one in every}
    if len(names) == 1 and names != {""}:
        return names == {node["metadata"]["name"]}
    return any(targets(one["spec"], node) for one in known if devices(one) or not sets(one))


def is_of_gate(slice_: Plain, world: World) -> bool:
    """Whether the slice needs DRAPartitionableDevices."""
    per_device = slice_["spec"].get("perDeviceNodeSelection") is not None
    return per_device or bool(world.pooled_counters and sets(slice_))


def truth(pool: tuple[str, str], slices: list[Plain], world: World) -> Truth:
    newest = max(generation(slice_) for slice_ in slices)
    mine = [slice_ for slice_ in slices if generation(slice_) == newest]
    expected = count(mine[0])
    everywhere = [slice_ for slice_ in world.all("ResourceSlice") if pool_of(slice_) == pool]
    peers = [slice_ for slice_ in everywhere if generation(slice_) == newest]
    belong = mine
    complete = len(mine) == expected
    if not complete and world.pooled_counters:
        if max(generation(slice_) for slice_ in everywhere) > newest:
            return Truth(newest, "Obsolete", "", expected, mine)
        belong = peers
        complete = len(peers) == expected
    if not complete:
        return Truth(newest, "Incomplete", "", expected, belong)
    reason = contradiction(mine, belong, world)
    return Truth(newest, "Invalid" if reason else "Complete", reason, expected, belong)


def contradiction(mine: list[Plain], belong: list[Plain], world: World) -> str:
    """Why the pool contradicts itself; duplicate devices are only looked for where the node can reach them."""
    if world.version >= "1.36":
        mine = sorted(mine, key=lambda slice_: slice_["metadata"]["name"])
        belong = [*mine, *(slice_ for slice_ in belong if slice_ not in mine)]
    names: set[str] = set()
    for device in (device for slice_ in mine if not (is_counters(slice_, world)) for device in devices(slice_)):
        if device["name"] in names:
            return f"duplicate device name {device['name']}"
        names.add(device["name"])
    if not world.partitionable or not world.pooled_counters:
        return ""
    known: dict[str, set[str]] = {}
    for counter_set in (counter_set for slice_ in belong for counter_set in sets(slice_)):
        if counter_set["name"] in known:
            return f"duplicate counter set name {counter_set['name']}"
        known[counter_set["name"]] = set(counter_set["counters"])
    for device in (device for slice_ in belong if not sets(slice_) for device in devices(slice_)):
        for entry in device.get("consumesCounters") or []:
            if entry["counterSet"] not in known:
                return f"counter set {entry['counterSet']} not found"
            for name in sorted(entry["counters"]):
                if name not in known[entry["counterSet"]]:
                    return f"counter {name} not found in counter set {entry['counterSet']}"
    return ""


def is_counters(slice_: Plain, world: World) -> bool:
    return world.partitionable and world.pooled_counters and bool(sets(slice_))


# -- what is left ----------------------------------------------------------------------------------------------------

DeviceKey = tuple[str, str, str]


class Held(NamedTuple):
    """What claims hold: whole devices, devices in shares, and how much of which capacity."""

    whole: set[DeviceKey]
    shared: set[DeviceKey]
    used: dict[tuple[DeviceKey, str], Fraction]


def held(world: World) -> Held:
    found = Held(set(), set(), {})
    for claim in world.all("ResourceClaim"):
        allocation = (claim.get("status") or {}).get("allocation") or {}
        for result in (allocation.get("devices") or {}).get("results") or []:
            key = (result["driver"], result["pool"], result["device"])
            if result.get("adminAccess"):
                continue
            if result.get("shareID") is None or not world.consumable:
                found.whole.add(key)
                continue
            found.shared.add(key)
            for name, value in (result.get("consumedCapacity") or {}).items():
                found.used[key, name] = found.used.get((key, name), Fraction(0)) + amount(value)
    return found


def counters_left(pool: tuple[str, str], belong: list[Plain], world: World) -> dict[tuple[str, str], Fraction]:
    """By counter set and counter. In 1.34 sets and the devices that draw on them share a slice."""
    totals = {
        (counter_set["name"], name): amount(counter["value"])
        for slice_ in belong
        for counter_set in sets(slice_)
        for name, counter in counter_set["counters"].items()
    }
    holding = held(world)
    busy = holding.whole | (holding.shared if world.version >= "1.36" else set())
    for device in (device for slice_ in belong for device in devices(slice_)):
        if (*pool, device["name"]) in busy:
            for entry in device.get("consumesCounters") or []:
                for name, counter in entry["counters"].items():
                    if (entry["counterSet"], name) in totals:
                        totals[entry["counterSet"], name] -= amount(counter["value"])
    return totals


def capacity_left(key: DeviceKey, device: Plain, world: World) -> dict[str, Fraction]:
    used = held(world).used
    return {
        name: amount(capacity["value"]) - used.get((key, name), Fraction(0))
        for name, capacity in (device.get("capacity") or {}).items()
    }


def device_state(pool: tuple[str, str], truth: Truth, device: Plain, slice_: Plain, world: World) -> str:
    key = (*pool, device["name"])
    holding = held(world)
    if key in holding.whole:
        return "Allocated"
    if key in holding.shared:
        return "Allocated" if any(left <= 0 for left in capacity_left(key, device, world).values()) else "Shared"
    if truth.state != "Complete" and (world.pooled_counters or truth.state != "Incomplete"):
        return "Unavailable"
    if device.get("bindingConditions") and not world.binding:
        return "Unavailable"
    if is_tainted(device, world):
        return "Unavailable"
    if device.get("consumesCounters") and (not world.partitionable or starved(pool, truth, device, slice_, world)):
        return "Unavailable"
    return "Available"


def is_tainted(device: Plain, world: World) -> bool:
    effects = {taint.get("effect") for taint in device.get("taints") or []}
    if world.version == "1.34":
        return world.taints and bool(effects)
    return world.taints and bool(effects & {"NoSchedule", "NoExecute"})


def starved(pool: tuple[str, str], truth: Truth, device: Plain, slice_: Plain, world: World) -> bool:
    """Whether the counters can't pay for the device; one that is overdrawn already blocks all of the pool (Q7)."""
    left = counters_left(pool, truth.slices if world.pooled_counters else [slice_], world)
    if any(value < 0 for value in left.values()):
        return True
    wanted: dict[tuple[str, str], Fraction] = {}
    for entry in device["consumesCounters"]:
        for name, counter in entry["counters"].items():
            place = entry["counterSet"], name
            wanted[place] = wanted.get(place, Fraction(0)) + amount(counter["value"])
    return any(need > left[place] for place, need in wanted.items() if place in left)
