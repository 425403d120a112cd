"""Run-time costs, worked out by hand from the rules in `cost`."""

from __future__ import annotations

import pytest

from dra_plan.cel.cost import COST_LIMIT

from .expressions import error, evaluate

A = 'device.attributes["gpu.example.com"]'
C = 'device.capacity["gpu.example.com"]'

COSTS = {
    "true": 0,
    "[1, 2] == [1, 2]": 1,
    "device.driver == ''": 2,  # a comparison with empty text costs nothing
    "device.driver == 'gpu.example.com'": 4,
    f"{A}.model == 'A100'": 5,
    f"{A}.ecc": 4,
    f"has({A}.ecc)": 3,
    f"!has({A}.ecc)": 4,
    f"'model' in {A}": 4,
    f"{A}.index in [1, 2, 3]": 4,  # a set of constants is looked up for nothing
    f"{A}.index in [{A}.index]": 4 + 4 + 10 + 1,
    f"true ? {A}.ecc : false": 3,  # the branch is resolved, not observed
    f"true ? {A}.index == 3 : false": 5,
    f"cel.bind(a, {A}, a.ecc)": 5,
    f"cel.bind(a, {A}, true)": 0,
    f"cel.bind(a, {A}, a.ecc && a.ecc)": 3 + 2 * 2,
    f"{A}.nope == 1 || {A}.ecc": 5 + 4,
    f"{A}.?nope.orValue(1) == 1": 4,
    f"{A}[?'index'].hasValue()": 5,
    f"{C}.memory.isGreaterThan(quantity('1Gi'))": 4 + 1 + 1,
    f"{C}.memory == quantity('40Gi')": 4 + 1 + 1,
    f"{A}.version == semver('1.2.3')": 4 + 1 + 1,
    f"{A}.model.matches('^A[0-9]+$')": 4 + 1 * 3,
    f"{A}.model.startsWith('A')": 4 + 1,
    f"{A}.model.contains('A1')": 4 + 1,
    f"{A}.model.lowerAscii() == 'a100'": 4 + 1 + 1,
    f"{A}.model + 'x' == 'A100x'": 4 + 1 + 1,
    "int('3') == 3": 1,
    "int(device.driver.size()) == 15": 2 + 1 + 1 + 1,
    "[1, 2, 3].all(x, x > 0)": 3 * (2 + 1 + 2) + 1,
    "[1, 2, 3].exists(x, x == 1)": (3 + 1 + 2) + 3 + 1,
    "[1, 2, 3].exists_one(x, x == 1)": 3 * 2 + 2 + 2,
    "[1, 2].map(x, x).size() == 2": 2 * (1 + 11 + 1) + 1 + 1 + 1,
    "[1, 2].filter(x, x > 1).size() == 1": 2 * 2 + (1 + 11 + 1) + 1 + 1 + 1,
    "[3, 1, 2].sort() == [1, 2, 3]": 9 * 2 + 11 + 1,
    "['b', 'a'].sort() == ['a', 'b']": int(4 * 2.1) + 11 + 1,
    "lists.range(5).size() == 5": 5 + 11 + 1 + 1,
    "[1, 2].reverse() == [2, 1]": 2 + 11 + 1,
    "[[1], [2]].flatten() == [1, 2]": 2 + 11 + 1,
    "sets.contains([1, 2], [2])": 1 + 2,
    "sets.equivalent([1, 2], [2, 1])": 1 + 8,
    "[1, 2].sum() == 3": 2 + 1,
    "['abc', 'de'].max() == 'de'": 0 + 1,  # short texts round down to nothing
    "{'a': 1}.a == 1": 1 + 1 + 1,
    f"{{'a': {A}.index}}.a == 3": 30 + 4 + 1 + 1 + 1,
    "'a,b'.split(',').size() == 2": 1 + 1 + 1,
    "ip('10.0.0.1').family() == 4": 1 + 1 + 1,
    "cidr('10.0.0.0/8').containsIP('10.1.1.1')": 1 + 1 + 1,
    "!format.dns1123Label().validate('abc').hasValue()": 1 + 8 + 1 + 1,
    "'%d'.format([1]) == '1'": 1 + 1,
}


@pytest.mark.parametrize("expression", COSTS)
def test_cost(expression: str) -> None:
    assert evaluate(expression).cost == COSTS[expression]


def test_limit() -> None:
    loops = "true"
    for name in "abcdef":
        loops = f"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all({name}, {loops})"
    assert error(loops) == "operation cancelled: actual cost limit exceeded"


def test_the_limit_ends_what_would_absorb_errors() -> None:
    costly = f"lists.range({COST_LIMIT}).all(x, true)"
    assert error(f"{costly} || true") == "operation cancelled: actual cost limit exceeded"
    assert evaluate(f"true || {costly}").match
