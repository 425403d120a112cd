"""Costs as in cel-go: the limit, the costs of basic operations, and ranges for estimates.

The costs of calls are in the tables of `library`, those of selections and comprehensions in `folds`, and the others in
`interpret`.
"""

from __future__ import annotations

import math

from msgspec import Struct

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver

from .values import Cidr, Ip, NamedFormat, QuantityCell, Url, Value, size_of

COST_LIMIT = 1_000_000
"""The cost at which an evaluation fails. The API server rejects expressions whose estimated cost is higher."""

LIST_COST, MAP_COST, MESSAGE_COST = 10, 30, 40

_PER_CHARACTER = 0.1
_PER_PATTERN_CHARACTER = 0.25

_UNIT_EQUALITY = frozenset((Quantity, QuantityCell, Ip, Cidr, NamedFormat, Url, Semver))


def traversal(size: int, factor: float = _PER_CHARACTER) -> int:
    """Return the cost of traversing a string, given its size and the cost per character."""
    return math.ceil(size * factor)


def equality(left: Value, right: Value) -> int:
    """Return the cost of `left == right`."""
    if type(left) is str and type(right) is str:
        return traversal(min(len(left), len(right)))
    return 1 if type(left) in _UNIT_EQUALITY else inequality(left, right)


def inequality(left: Value, right: Value) -> int:
    """Return the cost of `left != right`, or of ordering two strings."""
    return traversal(min(size_of(left), size_of(right)))


def pattern_cost(text: int, pattern: int) -> int:
    """Return the cost of searching a text for a pattern, given the size of each."""
    return math.ceil((1.0 + text) * _PER_CHARACTER) * math.ceil(pattern * _PER_PATTERN_CHARACTER)


# -- ranges of sizes and costs -----------------------------------------------------------------------------------------
# The arithmetic is cel-go's: unsigned 64-bit integers that saturate at their maximum.

MOST = 2**64 - 1
_TWO_TO_64 = 2.0**64

STRING_FACTOR = 0.1
"""The cost per character of traversing a string (cel-go common.StringTraversalCostFactor)."""

REGEX_FACTOR = 0.25
"""The cost per character of a regular expression (cel-go common.RegexStringLengthCostFactor)."""


def _scaled(number: int, factor: float) -> int:
    """Return number times factor, rounded up, in cel-go's floating point."""
    approximate = float(number)
    if approximate > 0 and factor > 0 and approximate > _TWO_TO_64 / factor:
        return MOST
    product = math.ceil(approximate * factor)
    return MOST if product >= _TWO_TO_64 else product


class Interval(Struct, frozen=True):
    """A range of sizes or costs."""

    least: int
    most: int

    def plus(self, other: Interval) -> Interval:
        """Return the range of the sum."""
        return Interval(min(self.least + other.least, MOST), min(self.most + other.most, MOST))

    def times(self, other: Interval) -> Interval:
        """Return the range of the product."""
        return Interval(min(self.least * other.least, MOST), min(self.most * other.most, MOST))

    def scaled(self, factor: float) -> Interval:
        """Return the range multiplied by a factor and rounded up."""
        return Interval(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Interval) -> Interval:
        """Return the smallest range that contains both ranges."""
        return Interval(min(self.least, other.least), max(self.most, other.most))


def fixed(number: int) -> Interval:
    """Return the range that contains only this number."""
    return Interval(number, number)


FREE, ONE, UNKNOWN = fixed(0), fixed(1), Interval(0, MOST)


class Entries(Struct, frozen=True):
    """The sizes of the keys (or indices) and values in a container. `kind` is list or map."""

    kind: str
    key: Interval
    value: Interval

    def union(self, other: Entries | None) -> Entries | None:
        """Return ranges that cover the sizes in both containers, or None if `other` is None."""
        if other is None:
            return None
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value))
