"""Every recorded outcome of the real allocator, in every selectable release."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest

from dra_plan import allocate

from .recorded import cases, differences, gates, version

KNOWN_TO_DIFFER = {
    # Upstream's pool order is random in 1.34; the recorded runs agreed with each other on an order that
    # starts elsewhere than at the first pool met, so the plan gives another of the possible allocations.
    "cases-1.34": {"all-0033", "first-0015", "taint-0000", "binding-0016"},
}


def plan(case: dict[str, Any], **options: Any) -> dict[str, Any]:
    objects = copy.deepcopy(case["objects"])
    document = allocate(
        objects, kubernetes_version=version(case), feature_gates=gates(case), together=True, **options
    ).to_dict()
    assert objects == case["objects"], f"{case['id']}: the input was changed"
    return document


ALIKE = {"cases-1.36.3": "cases", "cases-1.37": "cases-1.36.3"}
"""Corpora in which most outcomes are those of another one: of the rest a part is enough where time is short."""

EVERY = 12


@pytest.mark.parametrize("corpus", ["cases", "quirks", pytest.param("hard", marks=pytest.mark.long)])
def test_every_recorded_outcome_is_agreed_with(corpus: str) -> None:
    agree(corpus, cases(corpus))


OLDER, TENTH = ("cases-1.35", "cases-1.34"), 10


@pytest.mark.parametrize("corpus", OLDER)
def test_a_tenth_of_what_older_releases_did_is_agreed_with(corpus: str) -> None:
    agree(corpus, cases(corpus, TENTH))


@pytest.mark.long
@pytest.mark.parametrize("corpus", OLDER)
def test_every_outcome_of_older_releases_is_agreed_with(corpus: str) -> None:
    agree(corpus, cases(corpus))


@pytest.mark.parametrize("corpus", ALIKE)
def test_what_a_release_changed_is_agreed_with(corpus: str) -> None:
    """The cases with another outcome than the release before, and some of the others."""
    before = {case["id"]: case["expected"] for name in (ALIKE[corpus], "quirks") for case in cases(name)}
    given = list(cases(corpus))
    new = [case for case in given if _outcomes(case["expected"]) != _outcomes(before.get(case["id"], {}))]
    assert new
    agree(corpus, [case for number, case in enumerate(given) if number % EVERY == 0 or case in new])


@pytest.mark.long
@pytest.mark.parametrize("corpus", ALIKE)
def test_every_outcome_of_newer_releases_is_agreed_with(corpus: str) -> None:
    agree(corpus, cases(corpus))


def _outcomes(expected: dict[str, Any]) -> Any:
    return [{k: v for k, v in node.items() if k != "invocations"} for node in expected.get("nodes", [])]


def agree(corpus: str, given: Iterable[dict[str, Any]]) -> None:
    given = list(given)
    differ = {case["id"]: found for case in given if (found := differences(case, plan(case)))}
    known = KNOWN_TO_DIFFER.get(corpus, set()) & {case["id"] for case in given}
    unexpected = {case: found for case, found in differ.items() if case not in known}
    assert not unexpected, "\n".join(line for found in unexpected.values() for line in found[:3])
    assert known <= set(differ), f"{sorted(known - set(differ))} agree now: take them off the list"


ENDED = {"cases-1.36.3": {"Q4"}, "cases-1.37": {"Q1", "Q2", "Q4", "Q6", "Q10", "Q15", "Q19", "Q23"}}
"""Defects that a minimal case shows, and that the release of the corpus does not have any more."""


@pytest.mark.parametrize("corpus", ["quirks", *ENDED])
def test_defects_are_told_where_they_change_the_answer(corpus: str) -> None:
    """Each switchable defect that a minimal case shows is named in the warnings, and gone under `fixed`."""
    shown = set()
    for case in cases(corpus):
        if case["id"][0] not in "QKR":
            continue  # not a minimal case
        document = plan(case)
        repaired = plan(case, quirks="fixed")
        told = [w["message"] for w in document["warnings"] if w["code"] == "upstream-defect"]
        same = [s["nodes"] for s in _without_steps(document)] == [s["nodes"] for s in _without_steps(repaired)]
        assert bool(told) == (not same), f"{case['id']}: {told}"
        shown |= {message.split(" ")[0].rstrip(",") for message in told}
        assert not any(w["code"] == "upstream-defect" for w in repaired["warnings"])
    # The cases of Q5, Q21 and Q22 have the same answer without the defect; tests/allocator has ones that turn.
    ended = ENDED.get(corpus, set())
    assert {f"Q{n}" for n in (1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 23)} - ended <= shown
    assert not ended & shown


def _without_steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    sets = copy.deepcopy(document["claimSets"])
    for node in (node for claim_set in sets for node in claim_set["nodes"]):
        del node["steps"]
    return sets
