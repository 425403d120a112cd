"""What explanations say of the recorded cases is true, statement by statement."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.conformance import recorded

from .asking import explain
from .checker import Checked, check

CORPORA = ("quirks", "cases", "cases-1.35", "cases-1.34")


def checked(case: dict[str, Any]) -> Checked:
    asked = {"feature_gates": recorded.gates(case), "kubernetes_version": recorded.version(case)}
    [claim_set] = explain(case["objects"], **asked).to_dict()["claimSets"]
    return check(case["objects"], claim_set, asked)


def all_checked(corpus: str, every: int, first: int = 0) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    wrong = []
    for case in recorded.cases(corpus, every, first):
        found = checked(case)
        counts += found.counts
        wrong += [f"{case['id']} {line}" for line in found.wrong]
    return counts, wrong


def test_what_is_said_of_some_recorded_cases_is_true() -> None:
    counts, wrong = all_checked("cases", every=96, first=84)
    assert wrong == []
    assert {"suggestion by patches", "how many are left", "a blocking set", "in-use"} <= set(counts), counts


@pytest.mark.long
@pytest.mark.parametrize("corpus", CORPORA)
def test_what_is_said_of_a_whole_corpus_is_true(corpus: str) -> None:
    counts, wrong = all_checked(corpus, every=1)
    assert wrong == []
    assert sum(counts.values()) > (100 if corpus == "quirks" else 5_000), counts
