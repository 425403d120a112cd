"""Objects that were put through the API server of Kubernetes 1.36.2: the same verdict, and each field that it named."""

import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

import dra_plan
from tests.conformance.recorded import cases

DIFFERENCES = list(yaml.safe_load_all((Path(__file__).parent / "differences.yaml").read_text(encoding="utf-8")))
BEFORE_FIELDS = {"decode", "panic"}
"""Stages at which the API server names no field."""


def _plain(field: str) -> str:
    """A field's name without brackets around keys, and as v1 has it."""
    field = re.sub(r"\[(?!\d+\])([^\]]*)\]", r".\1", field)
    return field.replace(".basic.", ".").replace(".exactly.", ".").replace("ownerReferences.uid", "ownerReferences")


def _names(field: str, wanted: str) -> bool:
    """Whether one of the two is the other, or part of it."""
    short, long = sorted((_plain(field), _plain(wanted)), key=len)
    return long.startswith(short) and (len(long) == len(short) or not short or long[len(short)] in ".[")


def _refusals(value: dict[str, Any], gates: dict[str, bool] | None) -> list[str]:
    found = dra_plan.validate(value, kubernetes_version="1.36.2", feature_gates=gates).findings
    return [one.field for one in found if one.rule.refused_by == "APIServer" and str(one.severity) == "error"]


def _check(case: dict[str, Any]) -> None:
    found = _refusals(case["object"], case["gates"])
    assert bool(found) == (case["verdict"] == "reject"), (case["id"], found)
    if not BEFORE_FIELDS & set(case["stages"]):
        assert [one for one in case["fields"] if not any(_names(field, one) for field in found)] == [], case["id"]


def test_recorded_objects() -> None:
    for case in islice(cases("validate"), 0, None, 11):
        _check(case)


@pytest.mark.long
def test_every_recorded_object() -> None:
    for case in cases("validate"):
        _check(case)


@pytest.mark.parametrize("case", DIFFERENCES, ids=lambda case: case["title"][:60])
def test_one_rule_each(case: dict[str, Any]) -> None:
    found = _refusals(case["object"], case.get("gates"))
    assert bool(found) == case["refused"]
    assert [one for one in case["fields"] if not any(_names(field, one) for field in found)] == []
