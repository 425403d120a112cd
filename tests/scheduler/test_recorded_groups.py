"""What kube-scheduler 1.36.2 did with pod groups on small clusters, and what we do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_plan import schedule
from tests.conformance.recorded import cases

from .test_recorded import check

CASES = [*cases("gang"), *cases("gang-quirks")]
EVERY = 5
ALWAYS = {"gangshared-0059"}
"""Pods that came in another order than their creationTimestamps say: the groups have none."""
DECIDED = [case for case in CASES if "expected" in case]
SAMPLE = [case for at, case in enumerate(DECIDED) if at % EVERY == 0 or case["id"] in ALWAYS]


def answer(case: dict[str, Any]) -> dict[str, Any]:
    asked = {"kubernetes_version": "1.36.2", "feature_gates": case["featureGates"], "api_server": "real"}
    return schedule(case["objects"], **asked).to_dict()


def compare(case: dict[str, Any], document: dict[str, Any]) -> None:
    expected = case["expected"]
    check(expected, document)
    if case.get("podGroupsRandom"):
        return
    groups = {f"{group['namespace']}/{group['name']}": group for group in document["podGroups"]}
    for wanted in expected.get("podGroups") or []:
        assert groups[wanted["podGroup"]].get("conditions", []) == wanted.get("conditions", [])


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case["id"])
def test_sample_agrees(case: dict[str, Any]) -> None:
    before = json.dumps(case["objects"])
    compare(case, answer(case))
    assert json.dumps(case["objects"]) == before


@pytest.mark.long
@pytest.mark.parametrize("case", DECIDED, ids=lambda case: case["id"])
def test_every_case_agrees(case: dict[str, Any]) -> None:
    compare(case, answer(case))


def test_what_upstream_decides_at_random_is_one_of_its_answers() -> None:
    [case] = [case for case in CASES if "outcomes" in case]
    document = answer(case)
    agreeing = []
    for outcome in case["outcomes"]:
        try:
            compare({**case, "expected": outcome}, document)
        except AssertionError:
            continue
        agreeing.append(outcome)
    assert len(agreeing) == 1
