"""Brute force: every combination of devices in the order of the walk, judged as a whole by what the API promises.

Nothing here is clever, and nothing is shared with the allocator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from .model import Case, Claim, Device, Option, Pool, Taint, Toleration

Place = tuple[Pool, Device]
Choice = tuple[Option, tuple[Place, ...]]
Take = tuple[str, Option, Place]
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
        wanted = [place for place in wanted if _could_serve(option, place[1])]
        if wanted and all(_is_free(case, place, option) for place in wanted):
            yield tuple(wanted)
        return
    wanted = [place for place in wanted if _could_serve(option, place[1]) and _is_free(case, place, option)]
    yield from combinations(wanted, option.count)


def _could_serve(option: Option, device: Device) -> bool:
    amount = _amount(option, device)
    return amount is not None and amount <= device.memory


def _is_free(case: Case, place: Place, option: Option) -> bool:
    pool, device = place
    taint = device.taint
    if taint and taint.effect != "None" and not any(_tolerates(each, taint) for each in option.tolerates):
        return False
    key = (pool.driver, pool.name, device.name)
    return option.admin or not (key in case.busy and case.busy[key] is None)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    return (
        toleration.key in (None, taint.key)
        and toleration.effect in (None, taint.effect)
        and (toleration.exists or toleration.value == taint.value)
    )


def _amount(option: Option, device: Device) -> int | None:
    """What the option takes of the device's memory; None if the policy allows nothing that is enough."""
    policy = device.policy
    if option.memory is None:
        return policy.default if policy else device.memory
    if policy is None:
        return option.memory
    if policy.values is not None:
        return min((value for value in policy.values if value >= option.memory), default=None)
    if policy.least is None:
        return option.memory
    allowed = range(policy.least, 100, policy.step or 1)
    most = 100 if policy.most is None else policy.most
    return min((value for value in allowed if option.memory <= value <= most), default=None)


def _is_allowed(case: Case, slots: list[tuple[Claim, int]], choices: list[Choice]) -> bool:
    takes = [
        (claim.name, option, place)
        for (claim, _), (option, picked) in zip(slots, choices, strict=True)
        for place in picked
    ]
    return _devices_suffice(case, takes) and _counters_suffice(case, takes) and _constraints_hold(slots, choices)


def _devices_suffice(case: Case, takes: list[Take]) -> bool:
    """Dedicated devices go to one request, beside any claims with admin access; shared ones to what memory allows."""
    memory: Counter[tuple[str, str, str]] = Counter()
    owners: Counter[tuple[str, str, str]] = Counter()
    for claim, option, (pool, device) in takes:
        key = (pool.driver, pool.name, device.name)
        if not device.shared:
            owners[claim, *key] += 1  # one claim has no device twice, whatever its access
            if owners[claim, *key] > 1:
                return False
        if option.admin:
            continue
        owners[key] += 1
        if owners[key] > 1 and not device.shared:
            return False
        amount = _amount(option, device)
        assert amount is not None
        memory[key] += amount
        used = memory[key] if device.shared else amount
        if (case.busy.get(key) or 0) + used > device.memory:
            return False
    return True


def _counters_suffice(case: Case, takes: list[Take]) -> bool:
    taken = {(pool.key, device.name) for _, option, (pool, device) in takes if not option.admin}
    for pool in case.pools:
        used: Counter[str] = Counter()
        touched: set[str] = set()
        for device in pool.devices:
            is_busy = (pool.driver, pool.name, device.name) in case.busy
            is_new = (pool.key, device.name) in taken and not is_busy
            for name, amount in device.consumes.items():
                if is_busy or is_new:
                    used[name] += amount
                if is_new:
                    touched.add(name)
        if any(used[name] > pool.counters[name] for name in touched):
            return False
    return True


def _constraints_hold(slots: list[tuple[Claim, int]], choices: list[Choice]) -> bool:
    for claim in {id(claim): claim for claim, _ in slots}.values():
        mine = [(slots[k][1], choices[k]) for k in range(len(slots)) if slots[k][0] is claim]
        for affected, holds in ((claim.match, _share_a_value), (claim.distinct, _are_disjoint)):
            if affected is None:
                continue
            values = [
                device.numa
                for index, (option, picked) in mine
                if not affected
                or {claim.requests[index].name, f"{claim.requests[index].name}/{option.name}"} & {*affected}
                for _, device in picked
            ]
            if None in values or not holds([value for value in values if value is not None]):
                return False
    return True


def _share_a_value(values: list[frozenset[int | str]]) -> bool:
    return not values or bool(frozenset.intersection(*values))


def _are_disjoint(values: list[frozenset[int | str]]) -> bool:
    return all(one.isdisjoint(other) for one, other in combinations(values, 2))


def _written(case: Case, slots: list[tuple[Claim, int]], choices: list[Choice]) -> Solution:
    written: dict[str, list[tuple[str, str, str, str]]] = {claim.name: [] for claim in case.claims}
    for (claim, index), (option, picked) in zip(slots, choices, strict=True):
        request = claim.requests[index]
        name = f"{request.name}/{option.name}" if request.alternatives else request.name
        written[claim.name] += [(name, pool.driver, pool.name, device.name) for pool, device in picked]
    return list(written.values())
