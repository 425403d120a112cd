"""What must not change an answer: the order of the input, its form, and the API version it is written in."""

from __future__ import annotations

import copy
import io
import random
from collections import Counter
from typing import Any

import pytest

from dra_plan import Cluster, allocate
from tests.allocator.model import random_case, to_objects
from tests.conformance.recorded import cases, gates
from tests.manifests.test_properties import FORMS

from .older_versions import as_kyaml, as_v1beta1, as_v1beta2

Plain = dict[str, Any]


SHARES = [pytest.param(25), pytest.param(1, marks=pytest.mark.long)]
"""Every 25th of the recorded cases, or all of them."""


def answers(document: Plain) -> list[Plain]:
    """The claim sets with their nodes by name, without what an order may change: the order of nodes, and steps."""
    sets = []
    for claim_set in document["claimSets"]:
        nodes = {node["name"]: {k: v for k, v in node.items() if k != "steps"} for node in claim_set["nodes"]}
        sets.append({**claim_set, "nodes": nodes, "fittingNodes": sorted(claim_set["fittingNodes"])})
    return sets


def plan(case: Plain, objects: list[Plain]) -> Plain:
    return allocate(objects, feature_gates=gates(case), together=True).to_dict()


def is_pending(obj: Plain) -> bool:
    return obj["kind"] == "ResourceClaim" and not (obj.get("status") or {}).get("allocation")


def shuffled(r: random.Random, objects: list[Plain]) -> list[Plain]:
    """Another order, in which the pending claims follow each other as before: theirs is the order of the pod."""
    mixed = r.sample(objects, k=len(objects))
    pending = iter([obj for obj in objects if is_pending(obj)])
    return [next(pending) if is_pending(obj) else obj for obj in mixed]


ORDER_MATTERS = ("Q1 ", "Q16 ", "Q16,")
"""Defects by which the order matters upstream too: who asks for counters first, which slice comes first."""


@pytest.mark.parametrize("every", SHARES)
def test_the_order_of_objects_does_not_matter(every: int) -> None:
    r = random.Random(36)
    seen: Counter[str] = Counter()
    for case in [case for corpus in ("cases", "quirks") for case in cases(corpus, every)]:
        document = plan(case, case["objects"])
        if any(w["message"].startswith(ORDER_MATTERS) for w in document["warnings"]):
            seen["passed over"] += 1
            continue
        other = plan(case, shuffled(r, case["objects"]))
        assert answers(other) == answers(document), case["id"]
        seen.update(claim_set["outcome"] for claim_set in document["claimSets"])
    assert seen["passed over"] < 10
    assert min(seen["Fits"], seen["DoesNotFit"], seen["Error"]) > 20 / every, seen


@pytest.mark.parametrize("seeds", [range(150), pytest.param(range(150, 1000), marks=pytest.mark.long)])
def test_whether_claims_fit_does_not_depend_on_any_order(seeds: range) -> None:
    """Without the defects: devices, slices, claims and constraints in any order; requests keep their place."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        case = random_case(seed)
        r = random.Random(seed)
        objects = to_objects(case)
        options: Plain = {"quirks": "fixed", "together": True, "feature_gates": {"DRAListTypeAttributes": case.lists}}
        [before] = allocate(objects, **options).to_dict()["claimSets"]
        for obj in objects:
            spec = obj["spec"]
            for place in (spec, spec.get("devices") if isinstance(spec.get("devices"), dict) else {}):
                for field in ("devices", "constraints", "sharedCounters"):
                    if isinstance(place.get(field), list):
                        r.shuffle(place[field])
        [after] = allocate(r.sample(objects, k=len(objects)), **options).to_dict()["claimSets"]
        assert after["outcome"] == before["outcome"], f"seed {seed}"
        seen[after["outcome"]] += 1
    assert min(seen["Fits"], seen["DoesNotFit"]) > 40, seen


@pytest.mark.parametrize("every", SHARES)
@pytest.mark.parametrize("older", [as_v1beta1, as_v1beta2])
def test_an_older_api_version_gives_the_same_plan(older: Any, every: int) -> None:
    converted = 0
    for case in cases("cases", every):
        objects = [older(obj) for obj in case["objects"]]
        converted += sum(old != new for old, new in zip(objects, case["objects"], strict=True))
        assert answers(plan(case, objects)) == answers(plan(case, case["objects"])), case["id"]
    assert converted > 2000 / every


def test_versions_may_be_mixed() -> None:
    r = random.Random(1)
    for case in cases("cases", 23):
        objects = [r.choice([as_v1beta1, as_v1beta2, copy.deepcopy])(obj) for obj in case["objects"]]
        assert answers(plan(case, objects)) == answers(plan(case, case["objects"])), case["id"]


@pytest.mark.parametrize("form", [*FORMS, "KYAML"])
def test_every_form_gives_the_same_plan(form: str) -> None:
    write = as_kyaml if form == "KYAML" else FORMS[form]
    for case in cases("cases", 61):
        text = write(case["objects"])
        data = text.encode() if isinstance(text, str) else text
        cluster = Cluster.load(["-"], stdin=io.BytesIO(data), feature_gates=gates(case))
        found = cluster.allocate(together=True).to_dict()
        expected = plan(case, case["objects"])
        assert found["claimSets"] == expected["claimSets"], case["id"]
