"""The progress bar: on a terminal's standard error, and only for long runs."""

import contextlib
import io
import threading

import pytest

from dra_plan.cli import live as progress
from dra_plan.cli.live import progress_bar, reading


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, *, wanted: bool = True, fail: bool = False) -> str:
    """What a run of two steps leaves on a standard error of this kind."""
    with contextlib.redirect_stderr(stream), progress_bar(wanted=wanted) as advance:
        if advance is None:
            return "no bar"
        advance(3, 7)
        if fail:
            raise ValueError("over")
        advance(4, 7)
    return stream.getvalue()


@pytest.fixture
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOWN_AFTER", -1.0)
    monkeypatch.setenv("TERM", "xterm")


def test_none_off_a_terminal() -> None:
    assert shown(io.StringIO()) == "no bar"


def test_none_if_not_wanted() -> None:
    assert shown(Terminal(), wanted=False) == "no bar"


def test_a_short_run_shows_nothing() -> None:
    assert shown(Terminal()) == ""


@pytest.mark.usefixtures("_long")
def test_a_long_run_shows_a_bar() -> None:
    assert "/7" in shown(Terminal())


@pytest.mark.usefixtures("_long")
def test_the_bar_goes_away_when_the_run_fails() -> None:
    stream = Terminal()
    with pytest.raises(ValueError, match="over"):
        shown(stream, fail=True)
    assert "\x1b[?25h" in stream.getvalue(), "the cursor is shown again"


def read(stream: io.StringIO, *, wanted: bool = True) -> str:
    """What is left on a standard error of this kind after files were read for so long that a line appeared."""
    with contextlib.redirect_stderr(stream), reading(["a.yaml", "b\x1b", "c", "d"], wanted=wanted):
        for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
            timer.join()
    return stream.getvalue()


@pytest.mark.usefixtures("_long")
def test_a_line_while_much_is_read() -> None:
    text = read(Terminal())
    assert "reading a.yaml, b\\x1b, c ..." in text
    assert text.endswith("\x1b[2K"), "the line is gone"


@pytest.mark.usefixtures("_long")
def test_no_line_off_a_terminal_or_if_not_wanted() -> None:
    assert read(io.StringIO()) == ""
    assert read(Terminal(), wanted=False) == ""


def test_no_line_while_little_is_read() -> None:
    stream = Terminal()
    with contextlib.redirect_stderr(stream), reading(["a.yaml"]):
        pass
    assert stream.getvalue() == ""
