"""What simulations share whose states have most objects in common: one more costs little beyond what differs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from .cluster import KnownObjects
from .memo import NodeTables


@dataclass(frozen=True)
class Common:
    """Shared by successive simulations with the same target and step budget. No answer depends on it."""

    objects: KnownObjects = field(default_factory=KnownObjects)
    answers: dict[Hashable, NodeTables[Any]] = field(default_factory=dict)
    """What plugins remember of nodes, by plugin and its arguments."""
