"""A cache: values by a key that contains everything they depend on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_VALUES = 100_000
"""A memory bound for caches whose keys are bounded by the input anyway."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Remembered(Generic[_Key, _Value]):
    """Values by key. Each value is computed when it is first used.

    If there are more than `most` values, the least recently used value is dropped. The cache never changes an answer:
    equal keys must have equal values, so that a cached value and a new value are the same. If the value changes over
    time, it must also be correct after it was dropped and created again.
    """

    __slots__ = ("_most", "_values", "has_dropped")

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self.has_dropped = False
        """True if a value requested earlier may have been dropped."""

    def of(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """Return the value for the key. If there is no value, `make` computes it."""
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
        """Return the value for the key, or None if there is none."""
        return self._values.get(key)

    def keep(self, key: _Key, value: _Value) -> None:
        """Store this as the value for the key."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
            self.has_dropped = True

    def clear(self) -> None:
        """Drop all values. Call this method when something that is not in the keys has changed the right values."""
        self._values.clear()
