"""Errors that reach the command line."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from dra_plan.cli.printing import print_error
from dra_plan.cli.running import Exit, guarded
from dra_plan.errors import InputError, UsageError
from tests import limits

from .running import ROOT, dra_plan, environment, given, in_process


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
    assert "Report it to the maintainers of your copy of dra-plan" in err
    assert "://" not in err
    assert "Python 3." in err


def test_control_characters_in_messages_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    def action() -> None:
        raise UsageError("no node 'x\x1b[2J'")

    guarded(action)
    assert capsys.readouterr().err == "error: no node 'x\\x1b[2J'\n"


def test_every_fault_gets_its_line() -> None:
    ran = in_process("allocate", "missing-1", "missing-2")
    assert ran.status == 2
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["error", "error"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


LONG = "manifests/a-long-folder-name/with-a-long-file-name.yaml:12: " + "words of a fault " * 6


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_on_a_terminal_long_errors_are_wrapped_between_words(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    print_error(LONG, "short")
    lines = terminal.getvalue().splitlines()
    assert " ".join(terminal.getvalue().split()) == f"error: {LONG}error: short"
    assert lines[-1] == "error: short"
    assert [line for line in lines if len(line) > columns and " " in line.strip()] == []
    assert all(line.startswith(("error:", "  ")) for line in lines)


def test_off_a_terminal_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(LONG)
    assert capsys.readouterr().err == f"error: {LONG}\n"


def test_an_expression_stays_above_its_caret(monkeypatch: pytest.MonkeyPatch) -> None:
    expression = "1 + 1 == 2 && " * 10 + "?"
    ran = in_process("cel", expression)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    print_error(*(line.removeprefix("error: ") for line in ran.err.splitlines()))
    assert f"error:  | {expression}\n" in terminal.getvalue()
    assert ran.err.splitlines()[-1].endswith(f"{'.' * 10}^")
    assert terminal.getvalue().endswith(ran.err.splitlines()[-1] + "\n")


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


def run_with(shell: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program with its standard streams as the shell's redirections make them."""
    command = f'"$0" -m dra_plan "$@" {shell}'
    return limits.run(
        ["sh", "-c", command, sys.executable, *arguments], capture_output=True, cwd=ROOT, env=environment()
    )


@pytest.mark.parametrize(
    ("redirection", "status", "lines"),
    [(">&-", 0, 0), ("2>&-", 0, 1), (">&- 2>&- <&-", 0, 0), ("<&-", 0, 1)],
)
def test_closed_streams(redirection: str, status: int, lines: int) -> None:
    """What is written to a closed stream is gone, and nothing comes out of the other one instead."""
    ran = run_with(redirection, "allocate", *given("cluster", "fits"), "--kubernetes-version", "1.36.9", "-o", "name")
    assert ran.returncode == status
    assert len(ran.stdout.splitlines()) == lines
    assert ("release-not-recorded" in ran.stderr) == ("2>&-" not in redirection)
    assert "Traceback" not in ran.stderr


def test_closed_standard_input_is_empty() -> None:
    ran = run_with("<&-", "allocate", "-")
    assert (ran.returncode, ran.stderr) == (2, "error: no Kubernetes object found in standard input\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device of Linux that is always full")
@pytest.mark.parametrize("form", ["name", "json"])
def test_output_that_can_not_be_written(form: str) -> None:
    ran = run_with("> /dev/full", "allocate", *given("cluster", "fits"), "-o", form)
    assert (ran.returncode, ran.stderr) == (2, "error: cannot write the output: No space left on device\n")


def test_an_encoding_that_lacks_a_character() -> None:
    """A terminal in the C locale gets what it can't show as an escape."""
    text = "{apiVersion: v1, kind: Node, metadata: {name: gpu-\u00fc}}"
    ran = dra_plan(
        "pools", "-", "--node", "gpu-\u00e4", stdin=text, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert ran.status == 2
    assert "Traceback" not in ran.err
    assert ran.err.isascii()


@pytest.mark.parametrize("columns", ["1", "20", "40", "0", "x"])
def test_any_width_is_survived(columns: str) -> None:
    ran = in_process("allocate", *given("cluster", "fits"), "-o", "wide", COLUMNS=columns)
    assert ran.status == 0
