"""The next state of the cluster: what changed becomes events, and events wake pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api.inventory import Inventory

if TYPE_CHECKING:
    from .simulate import Simulation


def advance(simulation: Simulation, before: Inventory, after: Inventory) -> None:
    """Apply the differences."""
