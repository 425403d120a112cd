"""The progress bar: on a terminal's standard error, and only for long runs."""

import io
import sys

import pytest

from dra_plan.cli import progress
from dra_plan.cli.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_none_off_a_terminal() -> None:
    with progress_bar(wanted=True) as advance:
        assert advance is None


def test_none_if_not_wanted(terminal: Terminal) -> None:
    with progress_bar(wanted=False) as advance:
        assert advance is None


def test_a_short_run_shows_nothing(terminal: Terminal) -> None:
    with progress_bar(wanted=True) as advance:
        assert advance is not None
        for done in range(100):
            advance(done, 100)
    assert terminal.getvalue() == ""


def test_a_long_run_shows_a_bar(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER", -1.0)
    with progress_bar(wanted=True) as advance:
        assert advance is not None
        advance(3, 7)
    assert "3/7" in terminal.getvalue()


def test_the_bar_goes_away_when_the_run_fails(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER", -1.0)

    def run() -> None:
        with progress_bar(wanted=True) as advance:
            assert advance is not None
            advance(3, 7)
            raise ValueError("over")

    with pytest.raises(ValueError, match="over"):
        run()
    assert "\x1b[?25h" in terminal.getvalue(), "the cursor is shown again"
