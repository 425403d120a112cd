"""What is alike is done once: values by a key that tells all they depend on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_VALUES = 100_000
"""A bound for memory where what is asked for is bounded by the input anyway."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Remembered(Generic[_Key, _Value]):
    """Values by key, each made when its key is first asked for; of more than `most` the least recently used is dropped.

    It never changes an answer: equal keys must stand for equal values, so that nobody can tell one that is remembered
    from one that is made again. A value that keeps itself up to date must be as good when it begins empty.
    """

    __slots__ = ("_most", "_values", "has_dropped")

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._values: OrderedDict[_Key, _Value] = OrderedDict()
        self.has_dropped = False
        """Whether a value that was asked for once may be gone by now."""

    def of(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """The value of the key, by `make` if there is none."""
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
        """The value of the key, None if there is none."""
        return self._values.get(key)

    def keep(self, key: _Key, value: _Value) -> None:
        """Take this for the value of the key from now on."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
            self.has_dropped = True

    def clear(self) -> None:
        """Something has changed on which values depend, beside their keys."""
        self._values.clear()
