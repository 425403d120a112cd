"""A gate that failed says so in one line on standard error, whatever goes to standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.questions.explain.gate import JUDGE
from dra_plan.text.gate import Gate
from dra_plan.text.gate_words import failure
from tests.build import bare_pod, claim, deployment, device, device_class, node, pod, request, slice_, template
from tests.explain.asking import explain
from tests.explain.situations import ASKED, SITUATIONS

from .running import in_process


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    slices = [slice_(name, device("gpu-0")) for name in ("a", "b")]
    objects: list[Any] = [node("a"), node("b"), device_class(), *slices]
    objects += [
        claim("one", request("gpu")),
        claim("all", request("gpu", count=2)),
        bare_pod("train", claims={"gpu": "all"}),
    ]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), encoding="utf-8")
    return str(path)


def gate_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("gate failed")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["allocate", "--min-nodes", "2"], "gate failed: 1 workload does not fit: pod/default/train"),
        (
            ["allocate", "--min-nodes", "3"],
            (
                "gate failed: 1 workload does not fit: pod/default/train;"
                " 1 workload fits on fewer than 3 nodes (--min-nodes): resourceclaim/default/one on 2"
            ),
        ),
        (["explain", "--require-fit"], "gate failed: 1 workload cannot be scheduled: pod/default/train"),
        (
            ["schedule", "--require-fit"],
            (
                "gate failed: 1 pod has no node: default/train (on 2 nodes: "
                "Request gpu of claim all needs 2 devices of class gpu.example.com; the node has only 1)"
            ),
        ),
    ],
)
@pytest.mark.parametrize("output", ["json", "name"])
def test_a_gate_that_failed_says_so(cluster: str, arguments: list[str], said: str, output: str) -> None:
    if arguments[0] == "explain" and output == "name":
        output = "markdown"
    ran = in_process(arguments[0], cluster, *arguments[1:], "-o", output)
    assert (ran.status, gate_lines(ran.err)) == (1, [said])
    assert gate_lines(ran.out) == []


def test_what_is_undecided_is_named() -> None:
    document = explain(SITUATIONS["undecided"](), **{"together": False, **ASKED["undecided"]}).document
    assert failure(Gate(require_fit=True), JUDGE, document).startswith(
        "gate failed: 1 workload is undecided (--require-fit)"
    )
    assert failure(Gate(), JUDGE, document) == ""


def test_without_a_gate_nothing_is_said(cluster: str) -> None:
    assert gate_lines(in_process("allocate", cluster).err) == []
    assert gate_lines(in_process("allocate", cluster, "--min-nodes", "1").err) == []


def test_new_pods_are_named_by_their_workload_and_every_node_counts(tmp_path: Path) -> None:
    """The node with the most free devices counts, although its lack of cpu rejects the pod before its devices do."""
    big = pod("x", templates={"gpu": "three"}, cpu="4")
    objects: list[Any] = [node("a", cpu="8"), node("b", cpu="1"), device_class(), template("three", request(count=3))]
    objects += [slice_("a", device("gpu-0")), slice_("b", device("gpu-0"), device("gpu-1"))]
    objects.append(deployment("big", {"metadata": big["metadata"], "spec": big["spec"]}, 2))
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), encoding="utf-8")
    ran = in_process("schedule", str(path), "--require-fit", "--report", f"junit={tmp_path / 'junit.xml'}")
    reason = (
        "request r of claim big-0-gpu needs 3 devices of class gpu.example.com, and no node has enough: "
        "at most 2 of 2 are available, on b"
    )
    said = f"gate failed: deployment/default/big: 2 of 2 new pods have no node ({reason})"
    assert (ran.status, gate_lines(ran.err)) == (1, [said])
    junit = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert [f'name="deployment/default/big pod {number} of 2"' in junit for number in (1, 2)] == [True, True]
