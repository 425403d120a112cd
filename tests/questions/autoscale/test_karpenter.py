"""Recorded answers of Karpenter's own provisioning: NodeClaims, their instance types and pods, and errors by kind.

Where ten runs gave several answers, ours is one of them. Pods with topology spread are not claimed.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.errors import UsageError
from dra_plan.questions.autoscale import karpenter
from dra_plan.questions.autoscale.text import parse
from dra_plan.text.columns import Screen
from tests.build import slice_
from tests.cli.running import ROOT, in_process
from tests.questions.autoscale.clusters import group, grouped, ready_node, waiting

with gzip.open(ROOT / "tests" / "conformance" / "karpenter.jsonl.gz", "rt", encoding="utf-8") as lines:
    CASES = [json.loads(line) for line in lines]
KINDS = {
    "no instance type can satisfy the allocation": "NoInstanceType",
    "claim is bound to a different": "BoundElsewhere",
    "no instance type has enough resources": "NotEnoughResources",
}


def groups_of(case: dict[str, Any]) -> dict[str, Any]:
    pool = {"nodePool": "all"} if case["mode"] == "types" else {}
    return {"nodeGroups": [{**one, **pool} for one in case["nodeGroups"]]}


def claims_of(answer: dict[str, Any]) -> list[Any]:
    claims = answer.get("nodeClaims") or []
    return sorted((sorted(one["pods"]), one["nodePool"], sorted(one["instanceTypes"])) for one in claims)


def kind_of(error: str) -> str:
    return next(kind for text, kind in KINDS.items() if text in error)


def answered(objects: Any, groups: Any) -> dict[str, Any]:
    found = Cluster.of(objects, kubernetes_version="1.36.2").autoscale(groups, engine="karpenter")
    return dict(found.to_dict()["karpenter"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_case(case: dict[str, Any]) -> None:
    found, expected = answered(case["objects"], groups_of(case)), case["expected"]
    if case["family"] == "spread":
        assert set(found["unknown"].values()) == {karpenter.TOPOLOGY}
        assert not found.get("nodeClaims")
        return
    assert not found.get("unknown")
    assert claims_of(found) in [claims_of(one) for one in expected.get("outcomes") or [expected]]
    assert (found.get("errors") or {}) == {pod: kind_of(said) for pod, said in expected["errors"].items()}


def test_how_much_is_claimed() -> None:
    """As docs/autoscale.md counts it."""
    assert (len(CASES), sum(case["family"] == "spread" for case in CASES)) == (48, 3)
    page = (ROOT / "docs" / "autoscale.md").read_text(encoding="utf-8")
    assert "For Karpenter, there are 48 recorded runs. dra-plan agrees with 45 of them" in page


def test_nodes_that_are_there_come_first() -> None:
    found = answered([*waiting(2), ready_node("n"), slice_("n", "gpu-0")], grouped(0))
    assert found["onNodes"] == {"default/p0": "n"}
    assert [one["pods"] for one in found["nodeClaims"]] == [["default/p1"]]


def test_the_pool_of_the_highest_weight_comes_first() -> None:
    pools = {"nodeGroups": [group("light"), group("heavy", weight=10)]}
    assert answered(waiting(1), pools)["nodeClaims"][0]["nodePool"] == "heavy"


def test_too_many_trials_leave_pods_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(karpenter, "MOST_TRIALS", 0)
    found = answered(waiting(3), grouped(0))
    assert found["unknown"] == {"default/p1": karpenter.BEYOND, "default/p2": karpenter.BEYOND}


def test_a_pod_without_its_claim_is_not_seen() -> None:
    objects = [each for each in waiting(2) if each["metadata"]["name"] != "p0-gpu"]
    found = answered(objects, grouped(0))
    assert found["ignored"] == ["default/p0"]
    assert [one["pods"] for one in found["nodeClaims"]] == [["default/p1"]]


@pytest.mark.parametrize("width", [80, 200])
def test_whole_text(width: int, golden: Any) -> None:
    case = next(one for one in CASES if one["id"] == "k-unsat-01")
    cluster = Cluster.of(case["objects"], kubernetes_version="1.36.2")
    document = cluster.autoscale(groups_of(case), engine="karpenter").document
    text = parse("wide")(document, Screen(width, colour=False))
    golden(Path(__file__).parent / "golden" / f"karpenter-{width}.txt", text)


def test_another_engine_is_an_error() -> None:
    with pytest.raises(UsageError, match="--engine: 'x' is not one of cluster-autoscaler, karpenter"):
        Cluster.of(waiting(1)).autoscale(grouped(1), engine="x")


def test_a_group_without_a_template_is_an_error() -> None:
    with pytest.raises(UsageError, match="--engine karpenter: group 'g' has no template"):
        Cluster.of(waiting(1)).autoscale({"nodeGroups": [group(), {"name": "g"}]}, engine="karpenter")


def test_on_the_command_line() -> None:
    groups = "tests/cli/inputs/autoscale-groups.yaml"
    ran = in_process("autoscale", "tests/cli/inputs/autoscale.yaml", "--groups", groups, "--engine", "karpenter")
    assert ran.status == 1
    assert "Karpenter creates 2 NodeClaims." in ran.out
