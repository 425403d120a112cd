"""What one partitionable GPU can hand out at the same time, against a count by hand of its manifest."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from dra_plan.api.quantity import parse

from .combinations import possible_sets

MANIFEST = Path("fixtures/mig/cluster.yaml")


def slices() -> list[dict[str, Any]]:
    [listed] = [d for d in yaml.safe_load_all(MANIFEST.read_text()) if d["kind"] == "List"]
    return [item["spec"] for item in listed["items"] if item["kind"] == "ResourceSlice"]


def amounts(entries: list[dict[str, Any]], key: str) -> Counter[tuple[str, str]]:
    return Counter({(e[key], name): parse(c["value"]).units for e in entries for name, c in e["counters"].items()})


def test_the_sets_are_those_whose_sums_stay_within_the_counters() -> None:
    own = [spec for spec in slices() if spec["driver"] == "gpu.nvidia.com"]
    totals = amounts([e for spec in own for e in spec.get("sharedCounters", [])], "name")
    devices = [d for spec in own for d in spec.get("devices", []) if "consumesCounters" in d]
    needs = {d["name"]: amounts(d["consumesCounters"], "counterSet") for d in devices}
    most = max(sum(1 for _ in found) for found in possible_sets([str(MANIFEST)], "gpu.nvidia.com"))
    by_hand = set()
    for size in range(1, most + 2):
        for chosen in combinations(needs, size):
            spent: Counter[tuple[str, str]] = Counter()
            for name in chosen:
                spent.update(needs[name])
            if all(amount <= totals[counter] for counter, amount in spent.items()):
                by_hand.add(frozenset(chosen))
    found = list(possible_sets([str(MANIFEST)], "gpu.nvidia.com"))
    assert len(found) == len({frozenset(one) for one in found})
    assert {frozenset(one) for one in found} == by_hand
    assert len(by_hand) > 100
