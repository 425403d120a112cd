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
    assert ran.out.endswith("\nWhat if: 2 nodes like gpu-a added; node/cpu-a removed. Kubernetes 1.36.3.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--drain", "gpu-c"), "unknown node 'gpu-c' (did you mean 'gpu-a'?)"),
        (("--add-nodes", "gpu-a"), "--add-nodes: 'gpu-a' is not N=NODE or N=FILE"),
        (("--add-nodes", "x=gpu-a"), "--add-nodes: 'x=gpu-a' is not N=NODE or N=FILE"),
        (("--add-nodes", "0=gpu-a"), "cannot add 0 nodes: expected 1 to 10,000"),
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
    before, _, rest = in_process(command, "--help").out.partition("What-if changes, applied in this order:\n")
    after, _, live = rest.partition("Live cluster (read with kubectl):\n")
    options = ["--cordon", "--drain", "--without", "--add-nodes"]
    assert [line.split()[0] for line in after.splitlines() if line.startswith("  --")] == options
    assert not any(option in before for option in options)
    asking = [line.split()[0] for line in live.partition("\n\n")[0].splitlines() if line.startswith("  --")]
    assert asking == ["--live", "--context", "--kubeconfig", "--scheduler-metrics"]


def test_room_on_an_excluded_node_is_the_reason() -> None:
    row = in_process("allocate", QUICKSTART, "train", "--cordon", "gpu-a").out.splitlines()[1]
    assert row.endswith("only gpu-a would have room, but rejected: cordoned")


def test_that_all_nodes_are_excluded_is_a_reason() -> None:
    cordoned = ["--cordon", "gpu-b", "--cordon", "cpu-a"]
    row = in_process("allocate", QUICKSTART, "train", "--without", "node/gpu-a", *cordoned).out.splitlines()[1]
    assert row.endswith("all nodes rejected: cordoned")


RACKS = "tests/cli/inputs/racks.yaml"
"""Three racks with two nodes each, but for the third, which has one; a node without a rack."""


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        (("--drain", "rack=r1"), ["a1", "a2"]),
        (("--drain", "-l", "rack=r1"), ["a1", "a2"]),
        (("--drain", "rack in (r1, r3)"), ["a1", "a2", "c1"]),
        (("--drain", "rack=r1,zone!=z1"), ["a2"]),
        (("--drain", "!rack"), ["spare"]),
        (("--cordon", "--selector", "rack=r2"), ["b1", "b2"]),
        (("--drain", "a1", "--drain", "rack=r3"), ["a1", "c1"]),
    ],
)
def test_nodes_are_chosen_by_their_labels(arguments: tuple[str, ...], nodes: list[str]) -> None:
    assert [edit["node"] for edit in edits("schedule", RACKS, *arguments)] == nodes


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("rack=r9", "no node has the labels 'rack=r9'"),
        ("rack==", "no node has the labels 'rack=='"),
        ("=r1", "couldn't parse the selector string \"=r1\": found '=', expected: !, identifier, or 'end of string'"),
    ],
)
def test_labels_that_choose_nothing_are_refused(given: str, said: str) -> None:
    assert in_process("schedule", RACKS, "--drain", given).err == f"error: {said}\n"


def test_nodes_are_looked_at_by_their_labels() -> None:
    def looked_at(names: str) -> set[str]:
        told = json.loads(in_process("allocate", RACKS, "--drain", "a1", "--node", names, "-o", "json").out)
        return {node["name"] for claim_set in told["claimSets"] for node in claim_set["nodes"]}

    assert looked_at("rack in (r1,r3)") == {"a1", "a2", "c1"}
    assert looked_at("a1,c1") == {"a1", "c1"}


@pytest.mark.parametrize("arguments", [("each-by", "rack"), ("each-by=rack",)])
def test_the_nodes_of_a_rack_are_drained_together(arguments: tuple[str, ...]) -> None:
    told = json.loads(in_process("diff", RACKS, "--drain", *arguments, "-o", "json").out)
    assert {row["name"]: row["nodes"] for row in told["nodes"]} == {
        "rack=r1": ["a1", "a2"],
        "rack=r2": ["b1", "b2"],
        "rack=r3": ["c1"],
    }
    assert [row["name"] for row in told["nodes"] if row["lost"]] == ["rack=r1", "rack=r2"]
    [warned] = [each["message"] for each in told["warnings"] if each["code"] == "nodes-not-drained"]
    assert warned == "1 node without the label rack not drained: spare"


def test_each_by_is_for_diff_and_for_a_label_that_there_is() -> None:
    assert "`dra-plan diff --drain each-by=rack`" in in_process("schedule", RACKS, "--drain", "each-by", "rack").err
    assert in_process("diff", RACKS, "--drain", "each-by", "row").err == "error: no node has the label 'row'\n"
    assert in_process("diff", RACKS, "--drain", "each", "--drain", "each-by", "rack").status == 2


def test_a_namespace_goes_with_all_that_is_in_it() -> None:
    [edit] = json.loads(in_process("pools", RACKS, "--without", "namespace/ml", "-o", "json").out)["whatIf"]
    of_claims = {"ResourceClaim", "ResourceClaimTemplate"}
    assert {each["kind"] for each in edit["gone"]} == {"Pod", "PodDisruptionBudget"} | of_claims
    assert len(edit["gone"]) == 10
    ran = in_process("allocate", RACKS, "--without", "ns/mll")
    assert (ran.status, ran.err) == (2, "error: unknown Namespace 'mll' (did you mean 'ml'?)\n")


@pytest.mark.parametrize(
    ("pattern", "nodes"),
    [("gpu-*", {"gpu-a", "gpu-b"}), ("*-a", {"gpu-a", "cpu-a"}), ("?pu-[b-z]", {"gpu-b"}), ("gpu-a", {"gpu-a"})],
)
def test_nodes_are_chosen_by_pattern_wherever_they_are_named(pattern: str, nodes: set[str]) -> None:
    cordoned = in_process("allocate", "fixtures/quickstart", "--cordon", pattern, "-o", "json")
    assert {edit["node"] for edit in json.loads(cordoned.out)["whatIf"]} == nodes
    pools = in_process("allocate", "fixtures/quickstart", "--node", pattern, "-o", "json")
    assert {node["name"] for node in json.loads(pools.out)["claimSets"][0]["nodes"]} == nodes


@pytest.mark.parametrize("pattern", ["x*", "[", "[!a-z]*", "*" * 254])
def test_a_pattern_that_no_node_meets_is_an_error(pattern: str) -> None:
    ran = in_process("allocate", "fixtures/quickstart", "--drain", pattern)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
