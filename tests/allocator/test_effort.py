"""The estimated length of the plain search, against searches whose length is known."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import pytest

from dra_plan import claims, releases
from dra_plan.allocator import Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.pruning_rules import ESCALATE_AFTER, NEVER
from dra_plan.api.core import Node
from dra_plan.manifests.decode import from_dicts
from tests.build import node
from tests.conformance.recorded import cases, gates

from .build import claim, device, device_class, exactly, is_v, pool


def asked(objects: list[dict[str, Any]], **feature_gates: bool) -> tuple[Allocator, list[Node]]:
    inventory = from_dicts(objects)
    view = View.of(inventory, releases.target(feature_gates=feature_gates))
    [claim_set] = claims.expand(inventory, namespace=None, selector=None, together=True).sets
    return Allocator(claim_set.claims, view), list(inventory.nodes)


def long_searches(every: int) -> Iterator[tuple[float, int]]:
    """Estimate and recorded steps of every long search that the real allocator finished."""
    for corpus in ("hard", "cases"):
        for case in cases(corpus, 1 if corpus == "hard" else every):
            steps = {wanted["node"]: wanted for wanted in case["expected"]["nodes"]}
            if all(wanted.get("invocations", 0) <= ESCALATE_AFTER for wanted in steps.values()):
                continue
            allocator, nodes = asked(case["objects"], **gates(case))
            for each in nodes:
                wanted = steps[each.metadata.name]
                answer = allocator.allocate(each)
                if wanted["invocations"] > ESCALATE_AFTER and not wanted.get("timeout"):
                    assert answer.outcome is not Outcome.ERROR
                    yield allocator.effort(each, answer), wanted["invocations"]


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.long)])
def test_recorded_searches(every: int) -> None:
    ratios = [estimate / steps for estimate, steps in long_searches(every)]
    assert len(ratios) > 40 / every
    assert 0.9 < statistics.median(ratios) < 1.1
    assert sum(0.5 < ratio < 2 for ratio in ratios) >= 0.8 * len(ratios)
    assert min(ratios) > 0.2
    assert max(ratios) < 20  # the limit of 32 devices ends branches that the estimate goes into


def late_solution() -> list[dict[str, Any]]:
    """Two requests of three devices each under matchAttribute; only the last six devices of fifteen agree."""
    devices = [device(f"d{index:02}", v=index if index < 9 else 99) for index in range(15)]
    constraint = {"matchAttribute": "a.example.com/v", "requests": ["second"]}
    wanted = claim(exactly("first", 3), exactly("second", 3, where=is_v(99)), constraints=[constraint])
    return [node(), device_class(), *pool(*devices), wanted]


def test_only_what_lies_before_the_solution_counts() -> None:
    allocator, [only] = asked(late_solution())
    answer = allocator.allocate(only)
    assert answer.outcome is Outcome.FITS
    to_solution = allocator.effort(only, answer)
    whole = allocator.effort(only, NodeOutcome("n1", Outcome.DOES_NOT_FIT))
    assert answer.steps / 2 < to_solution < answer.steps * 2
    assert whole > 20 * to_solution


@pytest.mark.parametrize("version", ["1.36", "1.35"])
def test_a_search_through_alternatives_to_a_late_solution(version: str) -> None:
    """The first alternative is searched to its end before the second one fits; the plain walk can still be taken."""
    devices = [device(f"d{index:02}", v=index % 2) for index in range(8)]
    options = [
        {"name": "big", "deviceClassName": "a", "count": 4},
        {"name": "small", "deviceClassName": "a", "count": 1},
    ]
    alternatives = {"name": "r", "firstAvailable": options}
    rest = exactly("rest", 5)
    objects = [node(), device_class(), *pool(*devices), claim(alternatives, rest)]
    inventory = from_dicts(objects)
    view = View.of(inventory, releases.target(version, dict.fromkeys(releases.gate_defaults(version), True)))
    plain = Allocator(inventory.claims, view, pruning=NEVER)
    [only] = inventory.nodes
    answer = plain.allocate(only)
    assert answer.outcome is Outcome.FITS
    assert answer.steps > 500
    assert answer.allocations[0].devices.results[0].request == "r/small"
    assert answer.steps / 2 < plain.effort(only, answer) < answer.steps * 2


def test_the_estimate_is_the_same_on_every_run() -> None:
    allocator, [only] = asked(late_solution())
    answer = allocator.allocate(only)
    assert allocator.effort(only, answer) == allocator.effort(only, answer)
