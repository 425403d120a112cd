"""The messages on standard error other than results and errors: whether to print them, and which are pending.

Some warnings about the input must be printed in every run, unless a document's warnings include them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_plan.api.inventory import Notice

_owed: list[Notice] = []
_later: list[str] = []


_quiet = False


def begin() -> None:
    """Reset the state at the start of a run: there are no stored warnings or notes, and the run is not quiet."""
    hush(quiet=False)
    owe(())
    tell_later(())


def hush(*, quiet: bool) -> None:
    """Set whether this run omits notes and warnings."""
    global _quiet  # noqa: PLW0603 - one run of the program is one process
    _quiet = quiet


def is_quiet() -> bool:
    """Return whether this run omits notes and warnings."""
    return _quiet


COLOURS = ("auto", "always", "never")
_colour = "auto"


def paint(when: str) -> str:
    """Set when output has colours; `when` is one of COLOURS. Raises UsageError for any other value."""
    global _colour  # noqa: PLW0603 - as above
    if when not in COLOURS:
        from dra_plan.errors import UsageError

        raise UsageError(f"--color: {when!r} is not one of {', '.join(COLOURS)}")
    _colour = when
    return when


def has_colour(*, terminal: bool) -> bool:
    """Return whether a stream has colours. `terminal` says whether the stream is a terminal.

    --color, NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE decide. If none of them is set, only a terminal has colours.
    """
    if _colour != "auto":
        return _colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def owe(warnings: Iterable[Notice]) -> None:
    """Store warnings that must be printed even if an error ends the run. `owed` returns them."""
    _owed[:] = warnings


def owed() -> list[Notice]:
    """Return the stored warnings that have not been printed as part of a document."""
    return [*_owed]


def tell_later(notes: Iterable[str]) -> None:
    """Store notes to be printed below the result, or above the error that ends the run."""
    _later[:] = notes


def told_later() -> list[str]:
    """Return the stored notes, which are then no longer stored."""
    notes = [*_later]
    _later.clear()
    return notes
