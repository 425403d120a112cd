"""What kube-scheduler 1.36.2 did with pods that have volumes, and what we do."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from dra_plan import schedule

from .test_recorded import check

RECORDED = Path(__file__).parents[1] / "conformance" / "volume.jsonl.gz"
EVERY = 3


def read() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


CASES = read()


def check_volumes(case: dict[str, Any], document: dict[str, Any]) -> None:
    check(case["expected"], document)
    wanted = {entry["pvc"]: entry for entry in case["expected"].get("pvcs", [])}
    assert {entry["pvc"]: entry for entry in document["volumes"]} == wanted


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_recorded_cases_agree(case: dict[str, Any]) -> None:
    check_volumes(case, schedule(case["objects"]).to_dict())


@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case["id"])
def test_tracing_changes_nothing(case: dict[str, Any]) -> None:
    """A trace switches all remembered answers off."""
    check_volumes(case, schedule(case["objects"], trace=True).to_dict())


@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case["id"])
def test_the_order_of_files_changes_nothing(case: dict[str, Any]) -> None:
    mixed = list(case["objects"])
    random.Random(case["id"]).shuffle(mixed)
    # pods come in the order of their names; what is made for each does not depend on where it was read
    check_volumes(case, schedule(mixed).to_dict())
