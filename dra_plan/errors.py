"""The exceptions that callers of dra-plan may catch; what belongs to one part only derives from these there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class DraPlanError(Exception):
    """Base of every error that dra-plan raises on purpose."""

    _lines: tuple[str, ...] = ()

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> Self:
        """An error that says several things, a line each."""
        said = tuple(lines)
        error = cls("\n".join(said))
        error.lines = said
        return error

    @property
    def lines(self) -> tuple[str, ...]:
        """What the error says, a line each. Line ends inside one are those of what it names, and no lines of ours."""
        return self._lines or (str(self),)

    @lines.setter
    def lines(self, said: tuple[str, ...]) -> None:
        self._lines = said


class UsageError(DraPlanError):
    """The question itself is wrong: an unknown version, feature gate, node or option value."""


class InputError(DraPlanError, ValueError):
    """Objects that can't be read as Kubernetes objects."""
