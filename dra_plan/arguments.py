"""What the arguments of the Python API may be, and how a wrong one is refused: with a UsageError that names it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from dra_plan import releases
from dra_plan.api.label_text import parse_selector
from dra_plan.api.meta import LabelSelector
from dra_plan.errors import UsageError
from dra_plan.releases import Target

Objects = dict[str, Any] | Iterable[dict[str, Any]]
"""Kubernetes objects as plain dicts, or one of them."""

Names = str | Iterable[str] | None
"""One name, or several; None or none at all for no choice."""


def names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """The names of an argument that takes one or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def label_selector(given: str | LabelSelector | None) -> LabelSelector | None:
    """The selector of an argument that takes its text, too. Raises UsageError for a text that is none."""
    return parse_selector(given) if isinstance(given, str) else given


def target_of(version: str, gates: Mapping[str, bool] | None, quirks: str) -> Target:
    """The target of a version, gates that differ from its defaults, and a mode of quirks. Raises UsageError."""
    if gates is not None and not isinstance(gates, Mapping):
        raise UsageError(f"feature_gates: wanted a dict of names and truth values, got {gates!r}")
    return releases.target(version, gates, quirks)


def list_of(given: Any, argument: str, what: str) -> list[Any]:
    """The items of an argument that takes several. Raises UsageError for a string, a path or one object."""
    if isinstance(given, str | bytes | os.PathLike | dict):
        raise UsageError(f"{argument}: wanted a list of {what}, got {given!r}")
    return list(given)
