"""Recorded answers of the Cluster Autoscaler's own code (1.36.1), case by case.

What differed between runs of that code, which iterates maps in random order, is `open`: of options that are, one of the
recorded shapes (how many pods of each workload, a pod without one by its name) has to come out.
"""

from __future__ import annotations

import collections
import gzip
import json
from typing import Any

import pytest

from dra_plan import Cluster
from tests.cli.running import ROOT

with gzip.open(ROOT / "tests" / "conformance" / "autoscale.jsonl.gz", "rt", encoding="utf-8") as lines:
    CASES = [json.loads(line) for line in lines]
FIELDS = {
    "scaleUp": [
        *("result", "error", "unready", "fitExisting", "considered", "fits", "options", "leastWaste", "mostPods"),
        *("leastNodes", "plan", "triggered", "awaiting", "notTriggered"),
    ],
    "scaleDown": ["removable", "unremovable", "moves"],
}


def said(value: Any) -> Any:
    """Without what is empty: the recordings leave that out."""
    if isinstance(value, dict):
        return {key: said(item) for key, item in value.items() if said(item) not in (None, [], {}, "")}
    return [said(item) for item in value] if isinstance(value, list) else value


def shape(options: Any, owners: dict[str, str]) -> Any:
    counted = [(o["group"], o["nodes"], collections.Counter(owners[pod] for pod in o["pods"])) for o in options or []]
    return sorted((group, nodes, sorted(pods.items())) for group, nodes, pods in counted)


def owners_of(objects: list[dict[str, Any]]) -> dict[str, str]:
    pods = [each["metadata"] for each in objects if each["kind"] == "Pod"]
    return {
        f"{each['namespace']}/{each['name']}": (each.get("ownerReferences") or [{"name": each["name"]}])[0]["name"]
        for each in pods
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_case(case: dict[str, Any]) -> None:
    expected, unknown = case["expected"], case["expected"]["open"]
    groups = {"nodeGroups": case["nodeGroups"], "options": case["options"]}
    found = Cluster.of(case["objects"], kubernetes_version="1.36.2").autoscale(groups).to_dict()
    for part, fields in FIELDS.items():
        for field in set(fields) - set(unknown.get(part) or ()):
            ours, theirs = said(found[part].get(field)), said((expected.get(part) or {}).get(field))
            assert (ours or None) == (theirs or None), f"{part}.{field}"
    if "options" in unknown["scaleUp"]:
        shapes = [
            sorted((o["group"], o["nodes"], sorted(o["pods"].items())) for o in one["options"])
            for one in expected["scaleUpShapes"]
        ]
        assert shape(found["scaleUp"].get("options"), owners_of(case["objects"])) in shapes
    if "utilization" not in unknown["scaleDown"]:
        for node, used in expected["utilization"].items():
            assert found["utilization"][node]["utilization"] == pytest.approx(used["utilization"], abs=1e-6)


def test_there_are_cases_of_every_kind() -> None:
    assert len(CASES) == 267
    results = {case["expected"]["scaleUp"].get("result") for case in CASES}
    assert len(results - {None}) == 4
