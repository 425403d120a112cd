"""`allocate --trace`: the search as text, and what it can't be combined with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_plan.allocator import Allocator, Outcome, View
from dra_plan.manifests.decode import from_dicts
from dra_plan.questions.allocate.trace import SearchTrace
from dra_plan.releases import target
from tests.allocator.described import objects
from tests.allocator.pruning.witnesses import WITNESSES
from tests.conftest import Golden

from .running import ROOT, Ran, given, in_process

GOLDEN = ROOT / "tests" / "cli" / "golden"

PAIR = """
gpu-0 nic=0 root=0
gpu-1 nic=0 root=0
gpu-2 nic=0 root=1
nic-0 nic=1 root=1
want gpu 1 nic=0
want nic 1 nic=1
match root
"""
MANY = "\n".join([*(f"d{number:02}" for number in range(13)), "want x 7", "want y 7"])
TAINTED = """
counter s 3
a kind=1 taint
b kind=1 uses=2 of s
c kind=1 uses=2 of s
h kind=2 holds=4
want small 1 kind=1
want share 1 kind=2 share=3
want more 1 kind=2 share=3
want none 1 kind=1
"""


def traced(description: str, tmp_path: Path, *arguments: str) -> Ran:
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects(description)}), encoding="utf-8")
    return in_process("allocate", str(path), "--trace", *arguments)


@pytest.mark.parametrize(
    ("name", "description"), [("pair", PAIR), ("tainted", TAINTED), ("refuted", MANY), ("pruned", WITNESSES["R6"])]
)
def test_text(name: str, description: str, golden: Golden, tmp_path: Path) -> None:
    golden(GOLDEN / f"trace-{name}.txt", traced(description, tmp_path).out)


def test_the_answer_is_the_same_and_comes_last() -> None:
    inputs = [*given("cluster", "fits"), "--node", "node-a"]
    told, silent = in_process("allocate", *inputs, "--trace"), in_process("allocate", *inputs)
    assert told.out.endswith(f"\n\n{silent.out}")
    assert (told.status, told.err) == (silent.status, silent.err)


@pytest.mark.parametrize("description", [PAIR, TAINTED, MANY, WITNESSES["R6"]])
def test_the_search_is_the_same_unheard(description: str, tmp_path: Path) -> None:
    """The wide table tells the steps and every device."""
    told = traced(description, tmp_path, "-o", "wide")
    silent = in_process("allocate", str(tmp_path / "input.json"), "-o", "wide")
    assert told.out.endswith(f"\n\n{silent.out}")


@pytest.mark.parametrize(
    ("inputs", "fault"),
    [
        (("cluster", "fits"), "the input has 2 nodes (--node chooses one)"),
        (
            ("cluster", "fits", "too-many"),
            "the input has 2 claim sets (-n and -l choose pods and claims) and 2 nodes (--node",
        ),
    ],
)
def test_one_search_only(inputs: tuple[str, ...], fault: str) -> None:
    ran = in_process("allocate", *given(*inputs), "--trace")
    assert (ran.status, ran.out) == (2, "")
    assert fault in ran.err


@pytest.mark.parametrize("form", ["json", "yaml", "name", "jsonpath={.kind}"])
def test_formats_for_programs_have_no_place_for_it(form: str) -> None:
    ran = in_process("allocate", *given("cluster", "fits"), "--node", "node-a", "--trace", "-o", form)
    assert (ran.status, ran.out) == (2, "")
    assert "--trace needs -o table or wide, not " in ran.err


def test_nothing_to_plan_has_no_trace() -> None:
    ran = in_process("allocate", *given("cluster"), "--node", "node-a", "--trace", "--allow-empty")
    assert ran.status == 0
    assert "step by step" not in ran.out


def lines(made: list[dict[str, Any]], trace: SearchTrace) -> list[str]:
    inventory = from_dicts(made)
    answer = Allocator(inventory.claims, View.of(inventory, target())).allocate(inventory.nodes[0], trace)
    assert answer.outcome is Outcome.FITS
    return list(trace.lines())


def test_what_is_too_much_is_counted() -> None:
    whole = lines(objects(PAIR), SearchTrace())
    assert len(whole) == 16
    assert lines(objects(PAIR), SearchTrace(most=4)) == [*whole[:4], "13 more events left out"]


def test_names_tell_devices_and_claims_apart() -> None:
    made = objects("a\nwant x 2\nclaim\nwant y 1")
    other = json.loads(json.dumps(made[2]))
    other["metadata"]["name"] = other["spec"]["pool"]["name"] = "q"
    other["spec"]["devices"].append({"name": "b"})
    made[-1]["metadata"]["namespace"] = "other"
    assert lines([*made, other], SearchTrace()) == [
        "default/c1/x[0]: take p/a",
        "  default/c1/x[1]: take q/a",
        "    other/c2/y[0]: not p/a and q/a: already taken",
        "    other/c2/y[0]: take q/b",
        "      solved",
    ]
