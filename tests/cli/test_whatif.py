"""The what-if options: the same on every command that plans, applied in the order given."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import in_process

QUICKSTART = "fixtures/quickstart"
PLANNING = ("allocate", "explain", "pools", "schedule")


def edits(*arguments: str) -> list[dict[str, object]]:
    return json.loads(in_process(*arguments, "-o", "json").out)["whatIf"]


@pytest.mark.parametrize("command", PLANNING)
def test_edits_are_applied_in_the_order_given(command: str) -> None:
    one = edits(command, QUICKSTART, "--drain", "gpu-a", "--add-nodes", "1=gpu-b", "--cordon", "gpu-b-new-1")
    assert [edit["edit"] for edit in one] == ["Drain", "AddNodes", "Cordon"]
    two = edits(command, QUICKSTART, "--cordon=gpu-b", "--without", "node/cpu-a", "--cordon", "gpu-a")
    assert [(edit["edit"], edit.get("node")) for edit in two] == [
        ("Cordon", "gpu-b"),
        ("Without", None),
        ("Cordon", "gpu-a"),
    ]


def test_the_table_says_what_was_changed() -> None:
    ran = in_process("schedule", QUICKSTART, "--add-nodes", "2=gpu-a", "--without", "no/cpu-a")
    assert ran.out.endswith("\nWhat if: 2 nodes added like gpu-a; without node/cpu-a. Kubernetes 1.36.3.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--drain", "gpu-c"), "unknown node 'gpu-c' (did you mean 'gpu-a'?)"),
        (("--add-nodes", "gpu-a"), "--add-nodes: 'gpu-a' is not N=NODE or N=FILE"),
        (("--add-nodes", "x=gpu-a"), "--add-nodes: 'x=gpu-a' is not N=NODE or N=FILE"),
        (("--add-nodes", "0=gpu-a"), "0 nodes can't be added: from 1 to 10,000 at a time"),
        (("--without", "gpu-a"), "'gpu-a' is not KIND/NAME or KIND/NAMESPACE/NAME"),
        (("--cordon", "gpu-a-new-1", "--add-nodes", "1=gpu-a"), "unknown node 'gpu-a-new-1' (did you mean 'gpu-a'?)"),
    ],
)
def test_what_can_not_be_done_is_a_usage_error(arguments: tuple[str, ...], said: str) -> None:
    ran = in_process("allocate", QUICKSTART, *arguments)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {said}\n")


def test_a_drained_node_has_no_room() -> None:
    before = in_process("schedule", QUICKSTART, "-o", "name").out
    assert "node/gpu-a" in before
    assert "node/gpu-a" not in in_process("schedule", QUICKSTART, "--drain", "gpu-a", "-o", "name").out


@pytest.mark.parametrize("command", PLANNING)
def test_help_has_them_in_a_part_of_their_own(command: str) -> None:
    before, _, rest = in_process(command, "--help").out.partition("What if, in the order given:\n")
    after, _, live = rest.partition("Ask a cluster, through kubectl:\n")
    options = ["--cordon", "--drain", "--without", "--add-nodes"]
    assert [line.split()[0] for line in after.splitlines() if line.startswith("  --")] == options
    assert not any(option in before for option in options)
    asking = [line.split()[0] for line in live.splitlines() if line.startswith("  --")]
    assert asking == ["--live", "--context", "--kubeconfig", "--scheduler-metrics"]


def test_room_on_an_excluded_node_is_the_reason() -> None:
    row = in_process("allocate", QUICKSTART, "train", "--cordon", "gpu-a").out.splitlines()[1]
    assert row.endswith("room only on gpu-a, excluded by NodeUnschedulable, TaintToleration")


def test_that_all_nodes_are_excluded_is_a_reason() -> None:
    cordoned = ["--cordon", "gpu-b", "--cordon", "cpu-a"]
    row = in_process("allocate", QUICKSTART, "train", "--without", "node/gpu-a", *cordoned).out.splitlines()[1]
    assert row.endswith("all nodes excluded by NodeUnschedulable, TaintToleration")
