"""Output of text: documents to standard output, everything else to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from dra_plan import shown
from dra_plan.api.inventory import Notice
from dra_plan.cli.telling import has_colour, is_quiet, owe, told_later
from dra_plan.errors import InputError
from dra_plan.text.columns import Screen
from dra_plan.text.formats import D, Format

ALLOWED_EMPTY = "(--allow-empty makes that a success)"


QUOTED = " | "
"""The prefix of the lines of an error that quote the expression at fault."""


ANY_WIDTH = 100_000
"""A width at which lines never wrap, for output without a width, such as a pager that accepts colours."""


def screen(stream: TextIO) -> Screen | None:
    """Return the terminal to which `stream` writes, or None for plain text.

    COLUMNS sets the width of standard output even if it is a file or a pipe. If COLUMNS is not set, a file or a pipe
    gets plain text. If colours are on, it gets text of unlimited width.
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
    """Print the warnings of a document to standard error, the document to standard output, and then stored notes."""
    print_warnings(document.warnings)
    sys.stdout.writelines(form.parts(document, screen(sys.stdout)))
    sys.stdout.flush()
    print_notes(told_later())


def nothing_to_do(warnings: Iterable[Notice], why: str) -> InputError:
    """Print the warnings and return the error for a command that has nothing to do.

    The warnings may say more about the reason.
    """
    print_warnings(warnings)
    return InputError(f"{why} {ALLOWED_EMPTY}")


def print_warnings(warnings: Iterable[Notice]) -> None:
    """Print the warnings of a document to standard error. On a terminal, lines are wrapped between words."""
    from dra_plan.text.notices import lines

    owe(())
    if is_quiet():
        return
    terminal = screen(sys.stderr)
    for line in lines(warnings):
        print(_wrapped(line, terminal.width) if terminal else line, file=sys.stderr)
    sys.stderr.flush()


def print_error(*lines: str) -> None:
    """Print the lines of an error to standard error. Only lines that dra-plan writes itself begin with `error:`.

    On a terminal, lines are wrapped between words. A line that quotes an expression is not wrapped, because a caret on
    the next line points into it.
    """
    terminal = screen(sys.stderr)
    for part in lines:
        line = f"error: {shown.line(part)}"
        print(_wrapped(line, terminal.width) if terminal and not part.startswith(QUOTED) else line, file=sys.stderr)
    sys.stderr.flush()


def print_note(text: str) -> None:
    """Print a note about the input to standard error, unless the run is quiet. A note is not a warning."""
    if not is_quiet():
        print_verdict(text)


def print_notes(notes: Iterable[str]) -> None:
    """Print each of the notes."""
    for note in notes:
        print_note(note)


def print_verdict(text: str) -> None:
    """Print a line about the result to standard error, even in a quiet run.

    On a terminal, it is wrapped between words.
    """
    line, terminal = shown.line(text), screen(sys.stderr)
    print(_wrapped(line, terminal.width) if terminal else line, file=sys.stderr)


def print_hint(text: str) -> None:
    """Print the next step to standard error if it is a terminal."""
    if screen(sys.stderr):
        print(f"\n{shown.line(text)}", file=sys.stderr)


def _wrapped(line: str, width: int) -> str:
    import textwrap

    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
