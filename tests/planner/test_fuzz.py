"""Planning of objects that decode but make little sense: an answer, or an error that says what is wrong; no crash."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from dra_plan import allocate, gather_pools
from dra_plan.errors import DraPlanError
from tests.conformance.recorded import cases, gates
from tests.fuzzing.objects import broken
from tests.limits import at_most

Plain = dict[str, Any]

CASES = [case for corpus in ("quirks", "cases") for case in cases(corpus) if len(json.dumps(case["objects"])) < 20_000]
STEPS = 2_000
SLOW = 5.0
"""Seconds of processor time in which every plan is done; the slowest take a tenth."""


def mutated(r: random.Random) -> tuple[list[Plain], dict[str, bool]]:
    """A recorded case in which some values are replaced, removed, repeated, or moved from elsewhere."""
    case = r.choice(CASES)
    return broken(r, case["objects"]), gates(case)


def check(seed: int) -> str:
    """The outcome; anything but an error of our own fails the test."""
    r = random.Random(seed)
    objects, feature_gates = mutated(r)
    before = repr(objects)
    quirks = r.choice(["upstream", "fixed"])
    try:
        with at_most(SLOW, f"seed {seed}"):
            together = r.random() < 0.7
            plan = allocate(objects, together=together, quirks=quirks, feature_gates=feature_gates, max_steps=STEPS)
            json.dumps(plan.to_dict(), allow_nan=False)
            json.dumps(gather_pools(objects, quirks=quirks, feature_gates=feature_gates).to_dict(), allow_nan=False)
    except DraPlanError:
        return "refused"
    finally:
        assert repr(objects) == before, f"seed {seed}: the input was changed"
    return "planned"


def test_mutated_cases() -> None:
    outcomes = [check(seed) for seed in range(200)]
    assert min(outcomes.count("planned"), outcomes.count("refused")) > 20


@pytest.mark.long
def test_many_mutated_cases() -> None:
    for seed in range(200, 5_000):
        check(seed)
