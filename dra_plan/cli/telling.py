"""What is told on standard error beside answers and errors: whether at all, and what a run still owes.

Some warnings of the input must be told whatever becomes of the run, until a document's warnings have told them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_plan.api.inventory import Notice

_owed: list[Notice] = []


_quiet = False


def begin() -> None:
    """Nothing is owed and everything is told, as at the start of a run."""
    hush(quiet=False)
    owe(())


def hush(*, quiet: bool) -> None:
    """Whether notes and warnings are left out."""
    global _quiet  # noqa: PLW0603 - one run of the program is one process
    _quiet = quiet


def is_quiet() -> bool:
    """Whether notes and warnings are left out in this run."""
    return _quiet


COLOURS = ("auto", "always", "never")
_colour = "auto"


def paint(when: str) -> str:
    """Sets when output has colours, one of COLOURS. Raises UsageError for anything else."""
    global _colour  # noqa: PLW0603 - as above
    if when not in COLOURS:
        from dra_plan.errors import UsageError

        raise UsageError(f"--color: {when!r} is not one of {', '.join(COLOURS)}")
    _colour = when
    return when


def has_colour(*, terminal: bool) -> bool:
    """Whether a stream has colours: --color, NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE say; else a terminal has."""
    if _colour != "auto":
        return _colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def owe(warnings: Iterable[Notice]) -> None:
    """Keeps what must be told even if an error ends the run: `owed` has it until then."""
    _owed[:] = warnings


def owed() -> list[Notice]:
    """What no document has told."""
    return [*_owed]
