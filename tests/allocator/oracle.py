"""Brute force: every combination of devices in the order of the walk, judged as a whole by what the API promises.

Nothing here is clever, and nothing is shared with the allocator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from .model import Case, Claim, Device, Option, Pool

Place = tuple[Pool, Device]
Choice = tuple[Option, tuple[Place, ...]]
Solution = list[list[tuple[str, str, str, str]]]


def first_solution(case: Case) -> Solution | None:
    """The first assignment, in walk order, that breaks no promise: per claim (request, driver, pool, device)."""
    places = [(pool, device) for pool in sorted(case.pools, key=lambda p: p.key) for device in pool.devices]
    slots = [(claim, index) for claim in case.claims for index in range(len(claim.requests))]
    for choices in _assignments(case, places, slots, []):
        if _is_allowed(case, slots, choices):
            return _written(case, slots, choices)
    return None


def _assignments(
    case: Case, places: list[Place], slots: list[tuple[Claim, int]], chosen: list[Choice]
) -> Iterator[list[Choice]]:
    if len(chosen) == len(slots):
        yield chosen
        return
    claim, index = slots[len(chosen)]
    for option in claim.requests[index].options:
        for picked in _picks(case, places, option):
            yield from _assignments(case, places, slots, [*chosen, (option, picked)])


def _picks(case: Case, places: list[Place], option: Option) -> Iterator[tuple[Place, ...]]:
    """The sets of devices an option may get, each device fit for it on its own."""
    wanted = [place for place in places if place[0].driver == option.driver and option.model in (None, place[1].model)]
    if option.every:
        # All means every device of the kind that could ever serve the request; one that is not free spoils it.
        wanted = [place for place in wanted if option.memory is None or option.memory <= place[1].memory]
        if wanted and all(_is_free(case, place, option) for place in wanted):
            yield tuple(wanted)
        return
    yield from combinations([place for place in wanted if _is_free(case, place, option)], option.count)


def _is_free(case: Case, place: Place, option: Option) -> bool:
    pool, device = place
    if device.taint and not option.tolerates:
        return False
    key = (pool.driver, pool.name, device.name)
    return not (key in case.busy and case.busy[key] is None)


def _amount(option: Option, device: Device) -> int:
    if option.memory is not None:
        return option.memory
    return device.memory if device.default is None else device.default


def _is_allowed(case: Case, slots: list[tuple[Claim, int]], choices: list[Choice]) -> bool:
    takes = [(option, place) for option, picked in choices for place in picked]
    return _devices_suffice(case, takes) and _counters_suffice(case, takes) and _constraints_hold(slots, choices)


def _devices_suffice(case: Case, takes: list[tuple[Option, Place]]) -> bool:
    memory: Counter[tuple[str, str, str]] = Counter()
    owners: Counter[tuple[str, str, str]] = Counter()
    for option, (pool, device) in takes:
        key = (pool.driver, pool.name, device.name)
        owners[key] += 1
        memory[key] += _amount(option, device)
        persisted = case.busy.get(key) or 0
        used = memory[key] if device.shared else _amount(option, device)
        if persisted + used > device.memory or (owners[key] > 1 and not device.shared):
            return False
    return True


def _counters_suffice(case: Case, takes: list[tuple[Option, Place]]) -> bool:
    taken = {(pool.key, device.name) for _, (pool, device) in takes}
    for pool in case.pools:
        used: Counter[str] = Counter()
        before: Counter[str] = Counter()
        touched: set[str] = set()
        for device in pool.devices:
            is_busy = (pool.driver, pool.name, device.name) in case.busy
            is_new = (pool.key, device.name) in taken and not is_busy
            for name, amount in device.consumes.items():
                if is_busy or is_new:
                    used[name] += amount
                if is_busy:
                    before[name] += amount
                if is_new:
                    touched.add(name)
        if any(used[name] > pool.counters[name] for name in touched):
            return False
    return True


def _constraints_hold(slots: list[tuple[Claim, int]], choices: list[Choice]) -> bool:
    for claim in {id(claim): claim for claim, _ in slots}.values():
        mine = [(slots[k][1], choices[k]) for k in range(len(slots)) if slots[k][0] is claim]
        for applies, listed, same in (
            (claim.has_match, claim.match, True),
            (claim.has_distinct, claim.distinct, False),
        ):
            if not applies:
                continue
            values = [
                device.numa
                for index, (_, picked) in mine
                if not listed or claim.requests[index].name in listed
                for _, device in picked
            ]
            if None in values or len(set(values)) != (min(len(values), 1) if same else len(values)):
                return False
    return True


def _written(case: Case, slots: list[tuple[Claim, int]], choices: list[Choice]) -> Solution:
    written: dict[str, list[tuple[str, str, str, str]]] = {claim.name: [] for claim in case.claims}
    for (claim, index), (option, picked) in zip(slots, choices, strict=True):
        request = claim.requests[index]
        name = f"{request.name}/{option.name}" if request.alternatives else request.name
        written[claim.name] += [(name, pool.driver, pool.name, device.name) for pool, device in picked]
    return list(written.values())
