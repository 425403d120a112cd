"""The exit statuses: one table, the same for every output format."""

from typing import Any

import pytest

from dra_plan.cli.running import Exit, of_document
from dra_plan.questions.allocate.gate import JUDGE
from dra_plan.text.gate import Gate
from tests.text import documents

from .running import dra_plan, given, in_process

FORMATS = ["table", "wide", "json", "yaml", "name", "jsonpath={.claimSets[*].outcome}"]
CASES = {
    "everything fits": (["cluster", "fits"], [], 0),
    "a set does not fit": (["cluster", "fits", "too-many"], [], 1),
    "a set is in error": (["cluster", "fits", "error"], [], 1),
    "undecided": (["cluster", "hard"], ["--max-steps", "1"], 3),
    "undecided, and another does not fit": (["cluster", "too-many", "error"], ["--max-steps", "1"], 1),
    "nothing to plan": (["cluster"], [], 2),
    "nothing to plan, allowed": (["cluster"], ["--allow-empty"], 0),
    "no nodes": (["fits"], [], 2),
    "no such file": (["missing"], [], 2),
    "unknown node": (["cluster", "fits"], ["--node", "node-z"], 2),
    "no version": (["cluster", "fits"], ["--kubernetes-version", "newest"], 2),
    "unknown gate": (["cluster", "fits"], ["--feature-gates", "Nonsense=true"], 2),
    "gate without value": (["cluster", "fits"], ["--feature-gates", "DRAAdminAccess="], 2),
    "unknown quirks": (["cluster", "fits"], ["--quirks", "some"], 2),
    "bad label selector": (["cluster", "fits"], ["-l", "a=b=c"], 2),
    "unknown option": (["cluster", "fits"], ["--bogus"], 2),
    "bad number": (["cluster", "fits"], ["--max-steps", "0"], 2),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_allocate(case: str, form: str) -> None:
    inputs, options, status = CASES[case]
    ran = in_process("allocate", *given(*inputs), *options, "-o", form)
    assert ran.status == status, ran
    assert "Traceback" not in ran.err
    if status == Exit.USAGE:
        assert ran.out == ""
        assert "error" in ran.err.lower()


@pytest.mark.parametrize(("inputs", "status"), [(["fits"], 0), (["too-many"], 1), (["missing"], 2)])
def test_the_process_leaves_with_it(inputs: list[str], status: int) -> None:
    assert dra_plan("allocate", *given("cluster", *inputs)).status == status


@pytest.mark.parametrize("form", [*FORMATS[:5], "jsonpath={.pools[*].poolName}"])
@pytest.mark.parametrize(
    ("inputs", "options", "status"),
    [(["cluster"], [], 0), (["fits"], [], 2), (["missing"], [], 2), (["cluster"], ["--node", "node-z"], 2)],
)
def test_pools(inputs: list[str], options: list[str], status: int, form: str) -> None:
    assert in_process("pools", *given(*inputs), *options, "-o", form).status == status


@pytest.mark.parametrize(
    "arguments",
    [
        ["allocate"],
        ["allocate", "x", "-o", "nonsense"],
        ["allocate", "x", "-o", "jsonpath={.a"],
        ["allocate", "x", "-o", "jsonpath=.a"],
        ["pools"],
        ["nonsense"],
        ["schema", "Nonsense"],
        ["completion", "tcsh"],
    ],
)
def test_usage_errors(arguments: list[str]) -> None:
    ran = in_process(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert "error" in ran.err.lower()


@pytest.mark.parametrize("command", ["allocate", "capacity", "explain", "pools", "schedule", "validate"])
def test_without_input_the_command_that_brings_it_is_told(command: str) -> None:
    ran = in_process(command)
    assert (ran.status, ran.out) == (2, "")
    assert "kubectl get " in ran.err
    assert " -A -o json" in ran.err
    assert f"dra-plan {command} {'-' if command == 'validate' else '--live'}" in ran.err


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([], 0),
        (["Fits"], 0),
        (["Fits", "DoesNotFit"], 1),
        (["Error"], 1),
        (["Undecided"], 3),
        (["Fits", "Undecided"], 3),
        (["Undecided", "DoesNotFit"], 1),
        (["Undecided", "Error"], 1),
    ],
)
def test_status_of_a_plan(outcomes: list[str], status: int) -> None:
    sets: list[dict[str, Any]] = [
        documents.claim_set("Pod/a/b", outcome, documents.node("node-a", outcome=outcome)) for outcome in outcomes
    ]
    assert of_document(documents.typed(documents.plan(*sets)), JUDGE, Gate()) == status
