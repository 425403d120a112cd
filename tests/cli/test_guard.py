"""Errors that reach the command line."""

import subprocess
import sys

import pytest

from dra_plan.cli.exits import Exit
from dra_plan.cli.guard import guarded
from dra_plan.errors import InputError, UsageError

from .running import ROOT, dra_plan, environment, given


@pytest.mark.parametrize("error", [UsageError("so it is"), InputError("so it is")])
def test_errors_on_purpose_are_one_line(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        raise error

    assert guarded(action) == Exit.USAGE
    assert capsys.readouterr() == ("", "error: so it is\n")


def test_a_defect_says_how_to_report_it(capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        raise KeyError("surprise")

    assert guarded(action) == Exit.INTERNAL
    out, err = capsys.readouterr()
    assert out == ""
    assert "KeyError: 'surprise'" in err
    assert "Please report it at https://" in err
    assert "Python 3." in err


def test_control_characters_in_messages_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        raise UsageError("no node 'x\x1b[2J'")

    guarded(action)
    assert capsys.readouterr().err == "error: no node 'x\\x1b[2J'\n"


def test_every_fault_gets_its_line() -> None:
    ran = dra_plan("allocate", "missing-1", "missing-2")
    assert ran.status == 2
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["error", "error"]


def test_a_reader_that_goes_away() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "dra_plan", "allocate", *given("cluster", "fits"), "-o", "json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read().decode()
    process.stderr.close()
    assert (process.wait(60), err) == (Exit.BROKEN_PIPE, "")


def test_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        raise KeyboardInterrupt

    assert guarded(action) == Exit.INTERRUPTED
    assert capsys.readouterr() == ("", "error: interrupted\n")
