"""Plugin factories by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dra_plan.errors import UsageError

from .framework import Plugin

if TYPE_CHECKING:
    from .handle import Handle

Factory = Callable[[Mapping[str, Any], "Handle"], Plugin]
"""(arguments from the configuration, handle) -> plugin."""


class Registry(dict[str, Factory]):
    """Plugin name to factory."""

    def register(self, name: str, factory: Factory) -> None:
        """Add a factory; UsageError if the name is taken."""
        if name in self:
            raise UsageError(f"a plugin named {name} already exists")
        self[name] = factory

    def unregister(self, name: str) -> None:
        """Remove a factory; UsageError if there is none."""
        if name not in self:
            raise UsageError(f"no plugin named {name} exists")
        del self[name]

    def merge(self, other: Mapping[str, Factory]) -> None:
        """Register everything of another registry."""
        for name, factory in other.items():
            self.register(name, factory)
