"""What kube-scheduler 1.36.2 did with pods on small clusters, and what we do."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, schedule

RECORDED = Path(__file__).parents[1] / "conformance" / "schedule.jsonl.gz"
REAL = os.environ.get("DRA_PLAN_REAL_MANIFESTS", "")
EVERY = 5


def read() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def bare(value: Any) -> Any:
    """Without nulls and empty containers, and with share IDs hidden."""
    if isinstance(value, dict):
        cleaned = {key: bare(item) for key, item in value.items()}
        if cleaned.get("shareID"):
            cleaned["shareID"] = "*"
        return {key: item for key, item in cleaned.items() if item not in (None, {}, [])}
    return [bare(item) for item in value] if isinstance(value, list) else value


def check(expected: dict[str, Any], document: dict[str, Any]) -> None:
    pods = {f"{entry['namespace']}/{entry['name']}": entry for entry in document["pods"]}
    for wanted in expected["pods"]:
        found = pods[wanted["pod"]]
        assert found["nodeName"] == wanted.get("node"), found
        if "message" in wanted:
            assert (found["message"], found["reason"]) == (wanted["message"], wanted["reason"])
        else:
            assert found["message"] is None
    claims = {f"{entry['namespace']}/{entry['name']}": entry for entry in document["claims"]}
    for wanted in expected["claims"]:
        found = claims[wanted["claim"]]
        assert bare(found["allocation"]) == bare(wanted.get("allocation"))
        ours = sorted(user["name"] for user in found["reservedFor"])
        assert ours == sorted(user["name"] for user in wanted.get("reservedFor", []))


CASES = read()


@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case["id"])
def test_sample_agrees(case: dict[str, Any]) -> None:
    before = json.dumps(case["objects"])
    check(case["expected"], schedule(case["objects"], kubernetes_version="1.36.2").to_dict())
    assert json.dumps(case["objects"]) == before


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_case_agrees(case: dict[str, Any]) -> None:
    check(case["expected"], schedule(case["objects"], kubernetes_version="1.36.2").to_dict())


@pytest.mark.long
@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case["id"])
def test_tracing_changes_nothing(case: dict[str, Any]) -> None:
    """A trace switches all remembered answers off, so this also shows that remembering is harmless."""
    plain, traced = (schedule(case["objects"], trace=trace).to_dict() for trace in (False, True))
    assert traced.pop("trace")["attempts"] or not plain["pods"]
    assert traced == plain


@pytest.mark.long
@pytest.mark.skipif(not REAL, reason="DRA_PLAN_REAL_MANIFESTS does not name a folder with expected-schedule.json")
def test_published_manifests_agree() -> None:
    root = Path(REAL)
    expected = json.loads((root / "expected-schedule.json").read_text())
    for cluster, files in expected.items():
        shared = [str(path) for path in sorted((root / cluster).glob("*.yaml"))]
        for file, wanted in files.items():
            check(wanted, Cluster.load([*shared, str(root / cluster / file)]).schedule().to_dict())
