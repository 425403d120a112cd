"""A cache that drops the least recently used values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_VALUES = 100_000
"""The maximum number of values in a cache."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Remembered(Generic[_Key, _Value]):
    """A cache that computes each value on first use.

    It drops the least recently used value if there are more than `most`.

    Equal keys must always give equal values, so that the cache never changes an answer.
    """

    __slots__ = ("_most", "_values", "has_dropped")

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self.has_dropped = False
        """True if a value requested earlier may have been dropped."""

    def of(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """Return the value for the key. If it is not in the cache, `make` computes it."""
        values = self._values
        try:
            value = values[key]
        except KeyError:
            pass
        else:
            values.move_to_end(key)
            return value
        value = make()
        self.keep(key, value)
        return value

    def get(self, key: _Key) -> _Value | None:
        """Return the cached value for the key, or None if there is none."""
        return self._values.get(key)

    def keep(self, key: _Key, value: _Value) -> None:
        """Store this value for the key."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
            self.has_dropped = True

    def clear(self) -> None:
        """Drop all values. Call this when something changes that the values depend on but the keys do not contain."""
        self._values.clear()
