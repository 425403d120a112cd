"""Explanations of random clusters against brute force that shares no code with them.

Reasons are looked up in the plain values the cluster was made from; a blocking set is tried by changing those values
and trying every combination of devices; a suggestion is applied to the Kubernetes objects, which are planned anew.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from dra_plan import allocate
from tests.allocator.model import Case, Claim, Device, Option, Pool, Taint, random_case, to_objects
from tests.allocator.oracle import _amount as amount_of
from tests.allocator.oracle import _tolerates as tolerates
from tests.allocator.oracle import first_solution

from .apply import applied
from .asking import only_set

ENOUGH = 10**9


# -- reasons -------------------------------------------------------------------------------------------------------


def option_of(case: Case, told: dict[str, Any]) -> tuple[Claim, Option]:
    claim = next(claim for claim in case.claims if claim.name == told["claim"]["name"])
    name, _, alternative = told["request"].partition("/")
    request = next(request for request in claim.requests if request.name == name)
    return claim, next((option for option in request.options if option.name == alternative), request.options[0])


def place_of(case: Case, told: dict[str, str]) -> tuple[Pool, Device]:
    pool = next(pool for pool in case.pools if pool.key == (told["driver"], told["pool"]))
    return pool, next(device for device in pool.devices if device.name == told["device"])


def holds(
    case: Case, code: str, told: dict[str, Any], claim: Claim, option: Option, pool: Pool, device: Device
) -> bool:
    """Whether the reason is true of the device, by the plain values."""
    key = (pool.driver, pool.name, device.name)
    amount = amount_of(option, device)
    if code == "in-use":
        return key in case.busy and case.busy[key] is None and not option.admin
    if code == "selector-false":
        if "class" in told:
            return pool.driver != option.driver
        return option.model is not None and device.model != option.model
    if code == "capacity-policy":
        return amount is None
    if code == "capacity-short":
        used = 0 if option.admin else case.busy.get(key) or 0
        return amount is not None and used + amount > device.memory
    if code == "counter-short":
        if option.admin or (device.shared and key in case.busy):
            return False
        busy = [d for d in pool.devices if (pool.driver, pool.name, d.name) in case.busy]
        used = sum(d.consumes.get(told["counter"], 0) for d in busy)
        return used + device.consumes[told["counter"]] > pool.counters[told["counter"]]
    if code == "not-tolerated":
        return told["taint"] == vars(device.taint) and not is_tolerated(option, device.taint)
    assert code == "attribute-missing"
    return device.numa is None and (claim.match, claim.distinct) != (None, None)


def is_tolerated(option: Option, taint: Taint | None) -> bool:
    return not taint or taint.effect == "None" or any(tolerates(each, taint) for each in option.tolerates)


def check_reasons(case: Case, claim_set: dict[str, Any]) -> Iterator[str]:
    """The codes that were told, each true of its examples; numbers add up; devices left have nothing against them."""
    total = sum(len(pool.devices) for pool in case.pools)
    for story in claim_set["stories"]:
        for request in story["requests"]:
            claim, option = option_of(case, request)
            assert request["devices"] == total == request["left"] + sum(r["count"] for r in request["removed"])
            for removed in request["removed"]:
                yield removed["code"]
                for example in removed["examples"]:
                    assert holds(case, removed["code"], removed, claim, option, *place_of(case, example))
            for left in request["leftDevices"]:
                pool, device = place_of(case, left)
                assert pool.driver == option.driver
                assert option.model in (None, device.model)
                assert is_tolerated(option, device.taint)
                assert option.admin or case.busy.get((pool.driver, pool.name, device.name), 0) is not None


# -- blocking sets -------------------------------------------------------------------------------------------------


def all_elements(case: Case) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for claim in case.claims:
        found += [("request", claim.name, request.name) for request in claim.requests]
        found += [("constraint", claim.name, n) for n in range(2 - (claim.match, claim.distinct).count(None))]
    found += [("counter", *pool.key, name) for pool in case.pools for name in pool.counters]
    return [*found, *(("claim", f"busy-{n}") for n in range(len(case.busy) + len(case.watched)))]


def named(element: dict[str, Any]) -> tuple[Any, ...]:
    if element["kind"] == "counter":
        return ("counter", element["pool"]["driver"], element["pool"]["pool"], element["counter"])
    if element["kind"] == "claim":
        return ("claim", element["claim"]["name"])
    return (element["kind"], element["claim"]["name"], element.get("request", element.get("constraint")))


def without(case: Case, dropped: Iterable[tuple[Any, ...]]) -> Case:
    """The case in which these elements do not hold."""
    gone = set(dropped)
    changed = copy.deepcopy(case)
    changed.busy = {key: used for n, (key, used) in enumerate(case.busy.items()) if ("claim", f"busy-{n}") not in gone}
    for pool in changed.pools:
        pool.counters = {
            name: ENOUGH if ("counter", *pool.key, name) in gone else value for name, value in pool.counters.items()
        }
    for claim in changed.claims:
        of_match = ("constraint", claim.name, 0)
        of_distinct = ("constraint", claim.name, int(claim.match is not None))
        claim.match, claim.distinct = (
            None if place in gone else listed
            for place, listed in ((of_match, claim.match), (of_distinct, claim.distinct))
        )
        claim.requests = [r for r in claim.requests if ("request", claim.name, r.name) not in gone]
        kept = [request.name for request in claim.requests]
        claim.match, claim.distinct = _of_those(claim.match, kept), _of_those(claim.distinct, kept)
    return changed


def _of_those(listed: list[str] | None, kept: list[str]) -> list[str] | None:
    """A constraint's requests that are left; none of them left is no constraint, while an empty list means all."""
    if not listed:
        return listed
    return [name for name in listed if name.partition("/")[0] in kept] or None


def check_blocking_set(case: Case, blocking: dict[str, Any]) -> None:
    held = [named(element) for element in blocking["elements"]]
    others = [element for element in all_elements(case) if element not in held]
    assert len(held) + len(others) == len(all_elements(case)), "an element that the case does not have"
    assert first_solution(without(case, others)) is None, "not sufficient"
    for element in held:
        assert first_solution(without(case, [*others, element])) is not None, f"{element} is not needed"


# -- together ------------------------------------------------------------------------------------------------------


def check(seeds: Iterable[int], quirks: str = "fixed") -> dict[str, int]:
    seen: dict[str, int] = {}
    for seed in seeds:
        case = random_case(seed)
        objects = to_objects(case)
        before = copy.deepcopy(objects)
        asked = {"quirks": quirks, "feature_gates": {"DRAListTypeAttributes": case.lists}}
        claim_set = only_set(objects, **asked)
        assert objects == before, f"seed {seed}: the input was changed"
        found = list(check_reasons(case, claim_set)) if quirks == "fixed" else []
        for story in claim_set["stories"]:
            if story["blockingSet"] is not None:
                assert story["blockingSet"]["proven"], f"seed {seed}"
                check_blocking_set(case, story["blockingSet"])
                found.append("blocking-set")
        for suggestion in claim_set["suggestions"]:
            changed = applied(objects, suggestion["changes"])
            [outcome] = [s["outcome"] for s in allocate(changed, **asked, together=True).to_dict()["claimSets"]]
            assert outcome == "Fits", f"seed {seed}: {suggestion['changes']}"
            found += [change["code"] for change in suggestion["changes"]]
        for name in found:
            seen[name] = seen.get(name, 0) + 1
    return seen


EXPECTED = {
    "in-use",
    "capacity-policy",
    "change-value",
    "selector-false",
    "capacity-short",
    "counter-short",
    "not-tolerated",
    "attribute-missing",
    "blocking-set",
    "tolerate-taint",
    "lower-count",
    "drop-selector",
    "drop-constraint",
    "release-claim",
    "drop-request",
    "count-instead-of-all",
    "lower-capacity",
}
"""What the random cases must bring up for the tests to say anything."""


def test_explanations_of_small_random_cases_are_true() -> None:
    seen = check(range(250))
    assert EXPECTED - {"lower-capacity", "count-instead-of-all"} <= set(seen), seen


def test_suggestions_hold_with_the_defects_of_the_release_too() -> None:
    assert "release-claim" in check(range(1000, 1100), quirks="upstream")


@pytest.mark.long
def test_explanations_of_many_random_cases_are_true() -> None:
    assert set(check(range(2000, 5000))) >= EXPECTED
