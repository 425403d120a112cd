"""Option values that are read here."""

import pytest

from dra_plan.cli.options import parse_gates
from dra_plan.errors import UsageError

from .running import given, in_process


def test_gates() -> None:
    assert parse_gates(None) == {}
    assert parse_gates(["A=true,B=false", "C=True", "A=false"]) == {"A": False, "B": False, "C": True}


@pytest.mark.parametrize("text", ["A", "A=", "A=maybe", "A=true;B=false"])
def test_bad_gates(text: str) -> None:
    with pytest.raises(UsageError, match="is not NAME=true or NAME=false"):
        parse_gates([text])


@pytest.mark.parametrize("command", ["allocate", "explain", "schedule"])
def test_labels_are_read_as_kubectl_reads_them(command: str) -> None:
    ran = in_process(command, *given("cluster", "fits"), "-l", "a%=b")
    assert ran.status == 2
    assert 'couldn\'t parse the selector string "a%=b": unable to parse requirement:' in ran.err
