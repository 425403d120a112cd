"""Planning of objects that decode but make little sense: an answer, or an error that says what is wrong; no crash."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from dra_plan import allocate, gather_pools
from dra_plan.errors import DraPlanError
from tests.conformance.recorded import cases, gates
from tests.limits import at_most

Plain = dict[str, Any]

CASES = [case for corpus in ("quirks", "cases") for case in cases(corpus) if len(json.dumps(case["objects"])) < 20_000]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 33, 2**63 - 1, -(2**63), 1.5, [], {}, [None], [{}], [""]),
    *("", "a", "1", "1Gi", "0", "-1", "1e30", "9Ei", "n", "All", "ExactCount", "In", "metadata.name", "x" * 300),
    *("example.com/a/b", "/", "a/", "true", "device.attributes", "1.2.3", "node-0"),
    *({"a": None}, {"": ""}, {"value": "1"}, {"string": "a"}, {"cel": {"expression": "1"}}),
]
STEPS = 2_000
SLOW = 5.0
"""Seconds of processor time in which every plan is done; the slowest take a tenth."""


def mutated(r: random.Random) -> tuple[list[Plain], dict[str, bool]]:
    """A recorded case in which some values are replaced, removed, repeated, or moved from elsewhere."""
    case = r.choice(CASES)
    objects = copy.deepcopy(case["objects"])
    for _ in range(r.randint(1, 3)):
        place: Any = r.choice(objects)
        if r.random() < 0.7:
            inner = place.get("spec")
            place = inner if isinstance(inner, dict) else place
        while True:
            keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = r.choice(keys)
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or r.random() < 0.2:
                _change(r, place, key, objects)
                break
            place = inner
    return objects, gates(case)


def _change(r: random.Random, place: Any, key: Any, objects: list[Plain]) -> None:
    """Mostly to another value of the same type, for most others are refused at once."""
    kind = r.random()
    old = place[key]
    if kind < 0.15 and key not in ("apiVersion", "kind", "metadata"):
        del place[key]
    elif kind < 0.3 and isinstance(place, list):
        place.append(copy.deepcopy(old))
    elif kind < 0.4 and isinstance(old, dict):
        place[key] = copy.deepcopy(r.choice(objects).get("spec"))
    elif kind < 0.9:
        same = [value for value in VALUES if type(value) is type(old)]
        place[key] = copy.deepcopy(r.choice(same or VALUES))
    else:
        place[key] = copy.deepcopy(r.choice(VALUES))


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
