"""The allocator against brute force, without any of upstream's defects: same answer, and the same first solution."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import pytest

from dra_plan import allocate

from .model import random_case, to_objects
from .oracle import Solution, first_solution


def planned(objects: list[dict]) -> tuple[str, Solution | None]:
    [claim_set] = allocate(objects, quirks="fixed", together=True).to_dict()["claimSets"]
    [node] = claim_set["nodes"]
    if node["outcome"] != "Fits":
        return node["outcome"], None
    return "Fits", [
        [(r["request"], r["driver"], r["pool"], r["device"]) for r in c["allocation"]["devices"].get("results", [])]
        for c in node["claims"]
    ]


def check(seeds: Iterable[int]) -> dict[str, int]:
    outcomes: dict[str, int] = {}
    for seed in seeds:
        case = random_case(seed)
        objects = to_objects(case)
        before = copy.deepcopy(objects)
        outcome, solution = planned(objects)
        assert objects == before, f"seed {seed}: the input was changed"
        expected = first_solution(case)
        assert (outcome, solution) == ("DoesNotFit" if expected is None else "Fits", expected), f"seed {seed}"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


def test_brute_force_agrees_on_small_random_cases() -> None:
    outcomes = check(range(400))
    assert min(outcomes["Fits"], outcomes["DoesNotFit"]) > 50, "the cases must test both answers"


@pytest.mark.long
def test_brute_force_agrees_on_5000_small_random_cases() -> None:
    check(range(400, 5400))
