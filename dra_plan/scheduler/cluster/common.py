"""Data shared by simulations whose states have most objects in common, so that each further simulation is cheap."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import Struct, field

from .claims import StoredClaims
from .known_objects import KnownObjects
from .memo import NodeTables


class Common(Struct, frozen=True):
    """Cached data for several simulations with the same target and step budget. Results do not depend on this cache."""

    objects: KnownObjects = field(default_factory=KnownObjects)
    stored: StoredClaims = field(default_factory=StoredClaims)
    answers: dict[Hashable, NodeTables[Any]] = field(default_factory=dict)
    """The answers about nodes that plugins remember, by plugin and its arguments."""
    standing_by: dict[Hashable, Any] = field(default_factory=dict)
    """The simulations that are forked for states of their input, by their options."""
