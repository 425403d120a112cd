"""Which messages the run prints to standard error, and messages that are still to be printed.

Some warnings about the input are printed in every run, unless the document contains them.
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
    """Reset the state at the start of a run, which is not quiet and has no stored warnings or notes."""
    hush(quiet=False)
    owe(())
    tell_later(())
    annotate(annotated=False)


def hush(*, quiet: bool) -> None:
    """Set whether this run omits notes and warnings."""
    global _quiet  # noqa: PLW0603 - one run of the program is one process
    _quiet = quiet


def is_quiet() -> bool:
    """Return whether this run omits notes and warnings."""
    return _quiet


_annotated = False


def annotate(*, annotated: bool) -> None:
    """Set whether CI annotations on standard error contain the document's warnings."""
    global _annotated  # noqa: PLW0603 - as above
    _annotated = annotated


def are_annotated() -> bool:
    """Return whether CI annotations on standard error contain the document's warnings."""
    return _annotated


COLOURS = ("auto", "always", "never")
_colour = "auto"


def paint(when: str) -> str:
    """Set whether output has colours. Raises UsageError if `when` is not in COLOURS."""
    global _colour  # noqa: PLW0603 - as above
    if when not in COLOURS:
        from dra_plan.errors import UsageError

        raise UsageError(f"--color: {when!r} is not one of {', '.join(COLOURS)}")
    _colour = when
    return when


def has_colour(*, terminal: bool) -> bool:
    """Return whether a stream has colours. `terminal` is whether the stream is a terminal.

    This depends on --color, NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE. If none of them is set, only terminals have
    colours.
    """
    if _colour != "auto":
        return _colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def owe(warnings: Iterable[Notice]) -> None:
    """Store warnings that must be printed even if the run ends with an error."""
    _owed[:] = warnings


def owed() -> list[Notice]:
    """Return the stored warnings that have not been printed yet."""
    return [*_owed]


def tell_later(notes: Iterable[str]) -> None:
    """Store notes to be printed after the result, or before the error that ends the run."""
    _later[:] = notes


def told_later() -> list[str]:
    """Return the stored notes and remove them."""
    notes = [*_later]
    _later.clear()
    return notes
