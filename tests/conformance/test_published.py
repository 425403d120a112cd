"""Manifests that others publish, against what the real allocator made of them: where a folder of both is at hand.

They are not ours to carry, so the folder is named by the environment. It holds clusters with their workload files,
`expected.json`, and for one partitioned GPU the list of all sets of devices that it can hand out.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dra_plan import releases
from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.manifests.load import load
from dra_plan.planner.question import Question
from dra_plan.questions.allocate.answer import plan_claim_sets
from tests.allocator.combinations import possible_sets

from .recorded import differences, gates

REAL = os.environ.get("DRA_PLAN_REAL_MANIFESTS", "")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not REAL, reason="DRA_PLAN_REAL_MANIFESTS does not name a folder of published manifests"),
]

NOT_COMPARABLE = {
    # Recorded with another file's template of the same name, which asks for All; this file's asks for 4 of 2 devices.
    ("17-google-tpu-v1beta1", "workloads/multi-tpu-pod.yaml", "tpu-test/multi-tpu-pod"),
}


def key(item: Any) -> tuple[str, str]:
    return item.metadata.namespace, item.metadata.name


def joined(first: Inventory, second: Inventory, *, only: tuple[str, ...] = ()) -> Inventory:
    """Both, without the claims and templates of the second that the first has; of the second `only` these lists."""
    parts: dict[str, Any] = {}
    for name in only or ("nodes", "slices", "classes", "claims", "templates", "pods", "workloads"):
        there = {key(item) for item in getattr(first, name)}
        parts[name] = getattr(first, name) + [item for item in getattr(second, name) if key(item) not in there]
    return replace(first, **parts)


def asked(cluster: Path, file: str) -> Inventory:
    """The cluster with its allocated claims and one file, what this refers to taken from the files beside it.

    The recorded answer for an allocated claim is that for the claim before it was allocated.
    """
    inventory = load([str(path) for path in sorted(cluster.glob("*.yaml"))])
    if file.startswith("allocated/"):
        pending = load([str(cluster / file)])
        claims = [msgspec.structs.replace(claim, status=None) for claim in pending.claims]
        return joined(inventory, replace(pending, claims=claims))
    for path in sorted(cluster.glob("allocated/*.yaml")):
        inventory = joined(inventory, load([str(path)]))
    inventory = joined(inventory, load([str(cluster / file)]))
    for path in sorted((cluster / "workloads").glob("*.yaml")):
        inventory = joined(inventory, load([str(path)]), only=("claims", "templates"))
    return inventory


def name_of(claim_set: dict[str, Any]) -> tuple[str, str]:
    owner = claim_set["owner"] or {"kind": "ResourceClaim", **claim_set["claims"][0]}
    return owner["kind"], f"{owner['namespace']}/{owner['name']}"


def test_plans_agree() -> None:
    compared, differ = 0, []
    for cluster, entries in json.loads((Path(REAL) / "expected.json").read_text()).items():
        for entry in entries:
            if (cluster, entry["file"], entry["name"]) in NOT_COMPARABLE:
                continue
            inventory = asked(Path(REAL) / cluster, entry["file"])
            view = View.of(inventory, releases.target("1.36", gates(entry)))
            plan = plan_claim_sets(inventory, view, Question()).to_dict()
            sets = [one for one in plan["claimSets"] if name_of(one) == (entry["kind"], entry["name"])]
            case = {"id": f"{cluster}/{entry['file']}", "expected": entry}
            differ += differences(case, {"claimSets": sets})
            compared += 1
    assert not differ, "\n".join(differ)
    assert compared


def test_a_partitioned_gpu_hands_out_the_published_sets() -> None:
    [published] = Path(REAL).glob("*/possible-allocations.json")
    found = possible_sets(sorted(str(path) for path in published.parent.glob("*.yaml")), "gpu.nvidia.com")
    assert {frozenset(one) for one in found} == {frozenset(one) for one in json.loads(published.read_text())}
