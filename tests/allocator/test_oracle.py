"""The allocator against brute force, without any of upstream's defects: same answer, and the same first solution."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from dra_plan import allocate, releases
from dra_plan.releases import NEWEST

from .model import Case, random_case, to_objects
from .oracle import Solution, first_solution

GATES = {"DRAListTypeAttributes": True}
EVERYWHERE = (
    "DRAListTypeAttributes",
    "DRAPartitionableDevices",
    "DRADeviceTaints",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
)


def planned(
    case: Case,
    objects: list[dict],
    quirks: str = "fixed",
    version: str = NEWEST,
    gates: dict[str, bool] | None = None,
) -> tuple[str, Solution | None]:
    given = gates if gates is not None else GATES if case.lists else None
    options = {"kubernetes_version": version, "feature_gates": given}
    document = allocate(objects, quirks=quirks, together=True, **options).to_dict()
    [claim_set] = document["claimSets"]
    [node] = claim_set["nodes"]
    if node["outcome"] != "Fits":
        return node["outcome"], None
    return "Fits", [
        [(r["request"], r["driver"], r["pool"], r["device"]) for r in c["allocation"]["devices"].get("results", [])]
        for c in node["claims"]
    ]


def features(case: Case, solution: Solution | None) -> Iterator[str]:
    """What a case has in it; of a solution, also what it made use of."""
    devices = {(pool.driver, pool.name, device.name): device for pool in case.pools for device in pool.devices}
    options = [option for claim in case.claims for request in claim.requests for option in request.options]
    has = {
        "counters": any(pool.counters for pool in case.pools),
        "shared devices": any(device.shared for device in devices.values()),
        "policy with a range": any(d.policy and d.policy.least is not None for d in devices.values()),
        "policy with values": any(d.policy and d.policy.values for d in devices.values()),
        "taints": any(device.taint for device in devices.values()),
        "tolerations": any(option.tolerates for option in options),
        "admin access": any(option.admin for option in options),
        "alternatives": any(request.alternatives for claim in case.claims for request in claim.requests),
        "constraint on an alternative": any("/" in str([claim.match, claim.distinct]) for claim in case.claims),
        "matchAttribute": any(claim.match is not None for claim in case.claims),
        "distinctAttribute": any(claim.distinct is not None for claim in case.claims),
        "All": any(option.every for option in options),
        "capacity requests": any(option.memory is not None for option in options),
        "two claims": len(case.claims) > 1,
        "allocated devices": any(memory is None for memory in case.busy.values()),
        "allocated shares": any(memory is not None for memory in case.busy.values()),
        "allocated with admin access": bool(case.watched),
        "lists": any(device.numa and len(device.numa) > 1 for device in devices.values()),
    }
    yield from (name for name, there in has.items() if there)
    if solution is not None:
        taken = [(request, devices[driver, pool, name]) for claim in solution for request, driver, pool, name in claim]
        yield from ("takes: shared device" for _, device in taken if device.shared)
        yield from ("takes: counters" for _, device in taken if any(device.consumes.values()))
        yield from ("takes: tainted device" for _, device in taken if device.taint)
        yield from ("takes: second alternative" for request, _ in taken if request.endswith("/o1"))


Mix = dict[str, Counter[str]]


def check(seeds: Iterable[int]) -> Mix:
    """How many cases of either outcome have which feature."""
    mix: Mix = {"Fits": Counter(), "DoesNotFit": Counter()}
    for seed in seeds:
        case = random_case(seed)
        objects = to_objects(case)
        before = copy.deepcopy(objects)
        outcome, solution = planned(case, objects)
        assert objects == before, f"seed {seed}: the input was changed"
        expected = first_solution(case)
        assert (outcome, solution) == ("DoesNotFit" if expected is None else "Fits", expected), f"seed {seed}"
        mix[outcome].update({*features(case, solution), "cases"})
    return mix


def assert_not_vacuous(mix: Mix, least: int) -> None:
    """Both answers, and every feature with either of them, often enough to mean something."""
    everywhere = {name for outcome in mix.values() for name in outcome}
    rare = {
        f"{outcome}: {name}": count[name]
        for outcome, count in mix.items()
        for name in everywhere
        if count[name] < least and not (outcome == "DoesNotFit" and name.startswith("takes:"))
    }
    assert len(everywhere) == 23
    assert not rare


def test_brute_force_agrees_on_small_random_cases() -> None:
    assert_not_vacuous(check(range(600)), least=10)


def test_brute_force_finds_the_known_defects() -> None:
    """The same cases as the release answers them: if nothing differed, the comparison above would show nothing."""
    cases = [random_case(seed) for seed in range(300)]
    answers = [planned(case, to_objects(case), "upstream", "1.36.2")[1] for case in cases]
    assert sum(answer != first_solution(case) for answer, case in zip(answers, cases, strict=True)) > 20


def _is_beyond(case: Case, rules: releases.Rules) -> bool:
    """Whether the release has other rules for the case: counters in slices of their own, taints that inform."""
    specs = [made["spec"] for made in to_objects(case) if "spec" in made]
    apart = any("sharedCounters" in spec for spec in specs)
    effects = {
        taint["effect"]
        for spec in specs
        for device in spec.get("devices", ())
        if isinstance(device, dict)
        for taint in device.get("taints", ())
    }
    return (apart and not rules.counter_slices) or ("None" in effects and rules.unknown_effects_block)


@pytest.mark.parametrize("release", releases.RECORDED)
def test_brute_force_agrees_under_every_release(release: str) -> None:
    """Where the release takes pools in random order the outcome alone is compared.

    Lists need a gate of 1.36 or newer.
    """
    known = releases.gates_of(releases.find_release(release).minor)
    every_gate = {gate: True for gate in EVERYWHERE if gate in known}
    answers = set()
    for seed in range(120):
        case = random_case(seed)
        if case.lists and "DRAListTypeAttributes" not in every_gate:
            continue
        if _is_beyond(case, releases.target(release, every_gate).rules):
            continue
        gates = every_gate if case.lists else every_gate | dict.fromkeys(every_gate.keys() & GATES, False)
        outcome, solution = planned(case, to_objects(case), version=release, gates=gates)
        expected = first_solution(case)
        assert outcome == ("DoesNotFit" if expected is None else "Fits"), f"seed {seed}"
        if releases.target(release, gates).ordered:
            assert solution == expected, f"seed {seed}"
        answers.add(outcome)
    assert answers == {"Fits", "DoesNotFit"}


@pytest.mark.long
def test_brute_force_agrees_on_5000_small_random_cases() -> None:
    assert_not_vacuous(check(range(600, 5600)), least=100)
