"""What validate says can never be, the recorded scheduler never did."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

import dra_plan
from tests.conformance.recorded import cases, gates, version

NEVER = {"DRA201", "DRA202", "DRA230", "DRA232", "DRA241"}
"""The rules that say that a claim can't be met by any device of the input."""


def _judged(corpus: Iterator[dict[str, Any]]) -> Iterator[tuple[str, bool, set[str]]]:
    for case in corpus:
        fits = any(node.get("fits") or node.get("proved") for node in case["expected"]["nodes"])
        report = dra_plan.validate(case["objects"], kubernetes_version=version(case), feature_gates=gates(case))
        yield case["id"], fits, {finding.code for finding in report.findings}


def _check(corpus: Iterator[dict[str, Any]]) -> tuple[int, int, int]:
    fitting = refused = named = 0
    for name, fits, codes in _judged(corpus):
        if fits:
            assert not codes & NEVER, name
            fitting += 1
        else:
            refused += 1
            named += bool(codes & NEVER)
    return fitting, refused, named


def test_what_fits_is_never_called_impossible() -> None:
    fitting, refused, named = _check(islice(cases("cases"), 0, None, 9))
    assert fitting > 30
    assert named > refused / 3


@pytest.mark.long
@pytest.mark.parametrize("corpus", ["cases", "cases-1.34", "cases-1.35", "quirks", "hard"])
def test_what_fits_is_never_called_impossible_in_any_case(corpus: str) -> None:
    fitting, _, _ = _check(cases(corpus))
    assert fitting > 0
