"""Printing: documents to standard output, and everything else to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from dra_plan import shown
from dra_plan.api.inventory import Notice
from dra_plan.cli.telling import are_annotated, has_colour, is_quiet, owe, told_later
from dra_plan.errors import InputError
from dra_plan.text.columns import Screen
from dra_plan.text.formats import D, Format

ALLOWED_EMPTY = "(--allow-empty makes that a success)"


QUOTED = " | "
"""The prefix of a line of an error that quotes an expression."""


ANY_WIDTH = 100_000
"""A width at which no line wraps, for output with colours but without a width, such as a pager."""


def screen(stream: TextIO) -> Screen | None:
    """Return the terminal that `stream` writes to, or None for plain text.

    A file or pipe gets plain text, or lines of unlimited width if colours are on. COLUMNS sets the width of standard
    output even for a file or pipe.
    """
    terminal = stream.isatty()
    colour = has_colour(terminal=terminal)
    if not terminal and not (stream is sys.stdout and _has_width()):
        return Screen(width=ANY_WIDTH, colour=True) if colour else None
    import shutil

    return Screen(width=shutil.get_terminal_size().columns, colour=colour)


def _has_width() -> bool:
    """Return whether the environment sets a width."""
    width = os.environ.get("COLUMNS", "")
    return width.isascii() and width.isdigit() and int(width) > 0


def print_document(document: D, form: Format[D]) -> None:
    """Print a document to standard output, its warnings to standard error before it, and stored notes after it."""
    print_warnings(document.warnings)
    sys.stdout.writelines(form.parts(document, screen(sys.stdout)))
    sys.stdout.flush()
    print_notes(told_later())


def nothing_to_do(warnings: Iterable[Notice], why: str) -> InputError:
    """Print the warnings, which may say why there is nothing to do, and return the error to raise."""
    print_warnings(warnings)
    return InputError(f"{why} {ALLOWED_EMPTY}")


def print_warnings(warnings: Iterable[Notice]) -> None:
    """Print a document's warnings to standard error, unless CI annotations there contain them."""
    from dra_plan.text.notices import lines

    owe(())
    if is_quiet() or are_annotated():
        return
    terminal = screen(sys.stderr)
    for line in lines(warnings):
        print(_wrapped(line, terminal.width) if terminal else line, file=sys.stderr)
    sys.stderr.flush()


def print_error(*lines: str) -> None:
    """Print the lines of an error to standard error, each with the prefix `error:`.

    A line that quotes an expression is not wrapped, because a caret on the next line points to a position in it.
    """
    terminal = screen(sys.stderr)
    for part in lines:
        line = f"error: {shown.line(part)}"
        print(_wrapped(line, terminal.width) if terminal and not part.startswith(QUOTED) else line, file=sys.stderr)
    sys.stderr.flush()


def print_note(text: str) -> None:
    """Print a note to standard error, unless the run is quiet. Notes are not warnings."""
    if not is_quiet():
        print_verdict(text)


def print_notes(notes: Iterable[str]) -> None:
    """Print each of the notes."""
    for note in notes:
        print_note(note)


def print_verdict(text: str) -> None:
    """Print a line about the result to standard error, even if the run is quiet."""
    line, terminal = shown.line(text), screen(sys.stderr)
    print(_wrapped(line, terminal.width) if terminal else line, file=sys.stderr)


def print_hint(text: str) -> None:
    """Print the next step to standard error, if it is a terminal."""
    if screen(sys.stderr):
        print(f"\n{shown.line(text)}", file=sys.stderr)


def _wrapped(line: str, width: int) -> str:
    import textwrap

    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
