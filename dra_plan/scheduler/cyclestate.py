"""The store in which the plugins of one scheduling cycle keep what they computed (v1alpha1: PluginContext)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dra_plan.api.scheduling import PodGroup


class StateNotFoundError(KeyError):
    """Nothing was written under the key; its text is the one that Kubernetes prints."""

    def __str__(self) -> str:
        return "not found"


@dataclass(slots=True)
class GroupCycleState:
    """What the pods of one cycle of a pod group share.

    `in_flight` are the uids of the claims that pods of the group put in flight in this cycle. `tentative` says that
    whatever is taken will be given back: nothing that was there before may be lost then. `postponed` are evictions
    that wait for what becomes of the group.
    """

    group: PodGroup | None
    domain: str = ""
    in_flight: set[str] = field(default_factory=set)
    tentative: bool = True
    postponed: list[Callable[[], None]] = field(default_factory=list)


class CycleState:
    """Values by key. A value with a `clone` method is cloned with the state, any other is shared.

    `group` is what the pods of a group's cycle share, None for a pod that is tried by itself.
    `skip_filter`, `skip_score` and `skip_pre_bind` name the plugins that answered Skip in PreFilter, PreScore and
    PreBindPreFlight.
    """

    __slots__ = ("_values", "group", "skip_filter", "skip_pre_bind", "skip_score")

    def __init__(self, group: GroupCycleState | None = None) -> None:
        self._values: dict[str, Any] = {}
        self.group = group
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.skip_pre_bind: frozenset[str] = frozenset()

    def read(self, key: str) -> Any:
        """The value under the key; StateNotFoundError if nothing was written."""
        try:
            return self._values[key]
        except KeyError:
            raise StateNotFoundError(key) from None

    def get(self, key: str) -> Any:
        """The value under the key, or None."""
        return self._values.get(key)

    def write(self, key: str, value: Any) -> None:
        """Store a value, in place of an earlier one."""
        self._values[key] = value

    def delete(self, key: str) -> None:
        """Forget the value under the key, if there is one."""
        self._values.pop(key, None)

    def clone(self) -> CycleState:
        """A state that can be written to without the original noticing."""
        other = CycleState(self.group)
        other._values = {
            key: value.clone() if hasattr(value, "clone") else value for key, value in self._values.items()
        }
        other.skip_filter = self.skip_filter
        other.skip_score = self.skip_score
        other.skip_pre_bind = self.skip_pre_bind
        return other
