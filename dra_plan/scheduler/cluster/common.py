"""Data shared by simulations that have most objects in common, which makes each further simulation cheap."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import Struct, field

from .claims import StoredClaims
from .known_objects import KnownObjects
from .memo import NodeTables


class Common(Struct, frozen=True):
    """A cache for simulations with the same target and step limit. It never changes results."""

    objects: KnownObjects = field(default_factory=KnownObjects)
    stored: StoredClaims = field(default_factory=StoredClaims)
    answers: dict[Hashable, NodeTables[Any]] = field(default_factory=dict)
    """The results for nodes that plugins have cached, by plugin and its arguments."""
    standing_by: dict[Hashable, Any] = field(default_factory=dict)
    """The simulations, by their options, that are forked for other states of their input."""
