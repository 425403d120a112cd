"""`upstream-may-time-out`: on the nodes where the real allocator was cut off, and not where it was quick."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import allocate, releases
from tests.allocator import build
from tests.build import node
from tests.conformance.recorded import cases, gates, version

ALL_135 = dict.fromkeys(releases.gate_defaults("1.35"), True)
CODE = "upstream-may-time-out"
SLOW = {case["id"]: case for case in cases("hard")}


def warned(case: dict[str, Any], **options: Any) -> list[str]:
    options = {"kubernetes_version": version(case), "feature_gates": gates(case), **options}
    plan = allocate(case["objects"], together=True, **options).to_dict()
    return [warning["message"] for warning in plan["warnings"] if warning["code"] == CODE]


@pytest.mark.parametrize(
    ("corpus", "every"),
    [("cases", 2), *(pytest.param(corpus, 1, marks=pytest.mark.long) for corpus in ("hard", "cases"))],
)
def test_recorded_searches(corpus: str, every: int) -> None:
    """Cut off after 60 s: told of. Done in a third of the steps that 10 s are taken for: not told of."""
    seen = 0
    for case in cases(corpus, every):
        nodes = case["expected"]["nodes"]
        if all(wanted.get("invocations", 0) <= 500 for wanted in nodes):
            continue
        seen += 1
        told = " ".join(warned(case))
        for wanted in nodes:
            name = wanted["node"]
            if wanted.get("timeout"):
                assert f" {name} " in told, case["id"]
            elif wanted["invocations"] < 300_000:
                assert f" {name} " not in told, case["id"]
    assert seen > 10


def test_the_whole_message() -> None:
    [message] = warned(SLOW["adv-share_cap"])
    assert message == (
        "kube-scheduler 1.36.2 would probably exceed its limit of 10 s for a node on n "
        "(about 100 million search steps), which ends the pod's scheduling attempt without an answer"
    )


def test_a_release_in_which_the_limit_rejects_the_node_only() -> None:
    [message] = warned(SLOW["adv-share_cap"], kubernetes_version="1.35", feature_gates=ALL_135)
    assert "1.35.6" in message
    assert "which ends the search there without an answer" in message


def test_no_limit_no_warning() -> None:
    assert warned(SLOW["adv-share_cap"], feature_gates={"DRASchedulerFilterTimeout": False}) == []


def test_an_undecided_answer_is_judged_too() -> None:
    assert warned(SLOW["adv-match_two_claims"], max_steps=600)


@pytest.mark.parametrize("claims", [4, 10], ids=["finite", "infinite"])
def test_an_estimate_beyond_all_measure(claims: int) -> None:
    """One device is missing; no solution among so many combinations that the estimate may pass what a float holds."""
    devices = [build.device(f"d{number:03}") for number in range(claims * 32 - 1)]
    pool = build.pool(*devices)
    wanted = [build.claim(*(build.exactly(f"r{n}", 4) for n in range(8)), name=f"c{m:02}") for m in range(claims)]
    plan = allocate([node(), build.device_class(), *pool, *wanted], together=True).to_dict()
    assert plan["claimSets"][0]["outcome"] == "DoesNotFit"
    [message] = [warning["message"] for warning in plan["warnings"] if warning["code"] == CODE]
    assert "a node on n1 (more than 10^15 search steps), which ends" in message


def test_many_nodes_cost_no_more_than_some() -> None:
    """Sixteen long searches are judged; the rest is counted."""
    case = SLOW["adv-share_cap"]
    nodes, others = [], []
    for obj in case["objects"]:
        (nodes if obj["kind"] in ("Node", "ResourceSlice") else others).append(obj)
    text = [
        {
            **obj,
            "metadata": {**obj["metadata"], "name": f"{obj['metadata']['name']}-{index}"},
            "spec": spec_of(obj, index),
        }
        for index in range(20)
        for obj in nodes
    ]
    [message] = warned({**case, "objects": [*text, *others]})
    assert "on n-0, n-1, n-2 and 13 more (about" in message
    assert message.endswith("; 4 more nodes with long searches were not checked")


def spec_of(obj: dict[str, Any], index: int) -> dict[str, Any]:
    if obj["kind"] == "Node":
        return obj.get("spec", {})
    pool = {**obj["spec"]["pool"], "name": f"{obj['spec']['pool']['name']}-{index}"}
    return {**obj["spec"], "nodeName": f"n-{index}", "pool": pool}
