"""Every recorded selector: the same error to the letter, by the scheduler's and the API server's rules, and cost."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_plan.cel.environment import ExpressionRules, environment
from dra_plan.cel.estimate import estimate
from dra_plan.cel.lexer import CelCompileError
from dra_plan.cel.selector import check

RECORDED = Path(__file__).parents[2] / "conformance"


def cases(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(RECORDED / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def error(case: dict[str, Any], rules: ExpressionRules) -> tuple[str | None, int | None]:
    """The error, or None and the estimated cost."""
    gates = {
        "DRAConsumableCapacity": not case.get("noConsumableCapacity"),
        "DRAListTypeAttributes": case["listTypeAttributes"],
    }
    scope = environment("1.36", gates, rules)
    try:
        checked = check(case["expression"], scope)
    except CelCompileError as refused:
        return str(refused), None
    return None, estimate(checked, scope)


@pytest.mark.parametrize("name", ["cel", "cel_cost"])
def test_errors_and_estimates_agree(name):
    differing = []
    count = 0
    for case in cases(name):
        count += 1
        expected = case["expected"]
        stored, _ = error(case, "stored")
        new, cost = error(case, "new")
        same = stored == expected.get("compileError") and new == expected.get("newExpressionError")
        if not same or (new is None and cost != expected["maxCost"]):
            differing.append((case["id"], case["expression"], stored, new, cost, expected))
    assert count > 100
    assert differing == []
