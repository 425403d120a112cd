"""What the devices offer to one constraint, as masks by value."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from dra_plan.allocator.constraints import UNKNOWN, Constraint, MatchAttribute
from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice

Token = Hashable
"""A value that devices can have in common: its type and the value, or one element of a list."""


class Values:
    """The devices by value. `unknown` are those whose value has a type that nothing equals."""

    __slots__ = ("at", "constraint", "is_match", "masks", "unknown")

    def __init__(self, constraint: Constraint, positions: Mapping[PoolDevice, int]) -> None:
        self.constraint = constraint
        self.is_match = isinstance(constraint, MatchAttribute)
        self.at: dict[int, tuple[Token, ...]] = {}
        """The tokens that a device offers, by position; absent where it lacks the attribute, () where unknown."""
        self.masks: dict[Token, int] = {}
        self.unknown = 0
        for device, position in positions.items():
            value = constraint.value(device)
            if value is None:
                continue
            tokens = self.at[position] = self._tokens(value)
            for token in tokens:
                self.masks[token] = self.masks.get(token, 0) | 1 << position
            if not tokens:
                self.unknown |= 1 << position

    def _tokens(self, value: tuple[str, object]) -> tuple[Token, ...]:
        if value is UNKNOWN:
            return ()
        kind, content = value
        if isinstance(content, frozenset):
            return tuple((kind, item) for item in sorted(content))
        return (value,)

    def pinned(self, ledger: Ledger) -> tuple[Token, ...] | None:
        """matchAttribute: the values that devices may still share; None while any will do."""
        count, value = ledger.pins.get(self.constraint, (0, None))
        return self._tokens(value) if count and value is not None else None

    def remembered(self, ledger: Ledger, but: str | None = None) -> list[Token]:
        """distinctAttribute: the values that no further device may have.

        `but`: a request with slots left; what it is remembered for under Q2 is overwritten before another request
        is tried, so it says nothing about those.
        """
        seen: Iterable[tuple[object, tuple[str, object]]] = ledger.remembered.get(self.constraint, {}).items()
        return [token for slot, value in seen if but is None or slot != but for token in self._tokens(value)]

    def offering(self, tokens: Iterable[Token]) -> int:
        """The devices that offer one of the values."""
        mask = 0
        for token in tokens:
            mask |= self.masks.get(token, 0)
        return mask
