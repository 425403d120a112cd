"""The base classes of the exceptions that callers of dra-plan may catch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class DraPlanError(Exception):
    """The base class of all errors that dra-plan raises on purpose."""

    _lines: tuple[str, ...] = ()

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> Self:
        """Return an error with these messages, one per line."""
        said = tuple(lines)
        error = cls("\n".join(said))
        error.lines = said
        return error

    @property
    def lines(self) -> tuple[str, ...]:
        """The messages of the error, one per line. Line breaks inside a quoted value do not start a new message."""
        return self._lines or (str(self),)

    @lines.setter
    def lines(self, said: tuple[str, ...]) -> None:
        self._lines = said


class UsageError(DraPlanError):
    """Raised if a call cannot be carried out, for example because it names an unknown version, node or option."""


class InputError(DraPlanError, ValueError):
    """Raised if objects cannot be read as Kubernetes objects."""
