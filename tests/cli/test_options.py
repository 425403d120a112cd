"""Option values that are read here."""

import pytest

from dra_plan.errors import UsageError
from dra_plan.options import parse_gates

from .running import ROOT, given, in_process

QUICKSTART = str(ROOT / "fixtures" / "quickstart")


def test_gates() -> None:
    assert parse_gates(None) is None
    assert parse_gates(["A=true,B=false", "C=True", "A=false"]) == {"A": False, "B": False, "C": True}
    assert parse_gates(["A, B=false,C"]) == {"A": True, "B": False, "C": True}


@pytest.mark.parametrize("text", ["A=", "=true", "A=maybe", "A=true;B=false"])
def test_bad_gates(text: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=true or NAME=false"):
        parse_gates([text])


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule"])
def test_labels_are_read_as_kubectl_reads_them(command: str) -> None:
    ran = in_process(command, *given("cluster", "fits"), "-l", "a%=b")
    assert ran.status == 2
    assert 'couldn\'t parse the selector string "a%=b": unable to parse requirement:' in ran.err


@pytest.mark.parametrize("nodes", [("--node", "gpu-a,gpu-b"), ("--node", "gpu-a", "--node", "gpu-b,")])
@pytest.mark.parametrize("command", ["allocate", "explain", "pools"])
def test_nodes_in_one_option_or_in_several(command: str, nodes: tuple[str, ...]) -> None:
    ran = in_process(command, QUICKSTART, *nodes, "-o", "json")
    assert "gpu-a" in ran.out
    assert "gpu-b" in ran.out
    assert "cpu-a" not in ran.out


def test_every_unknown_node_is_told_with_the_one_that_is_near() -> None:
    ran = in_process("allocate", QUICKSTART, "--node", "gpu-A,gpu-x,nowhere")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "error: unknown node 'gpu-A' (did you mean 'gpu-a'?): the input has 3 nodes\n"
        "error: unknown node 'gpu-x' (did you mean 'gpu-a'?): the input has 3 nodes\n"
        "error: unknown node 'nowhere': the input has 3 nodes\n"
    )


def test_no_name_is_no_choice_of_all_nodes() -> None:
    assert in_process("allocate", QUICKSTART, "--node", ",").status == 2


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule"])
def test_all_namespaces_is_accepted_and_goes_before_a_namespace(command: str) -> None:
    everything = in_process(command, QUICKSTART, "-o", "json").out
    assert in_process(command, QUICKSTART, "-A", "-n", "elsewhere", "-o", "json").out == everything


def test_gates_need_no_value() -> None:
    ran = in_process("pools", QUICKSTART, "--feature-gates", "DRAConsumableCapacity,DRADeviceTaints=false")
    assert ran.out.endswith(", DRADeviceTaints=false.\n")
