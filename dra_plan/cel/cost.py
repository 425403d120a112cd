"""The units of cost, as in cel-go's cost tracker: the limit, and the cost of literals, strings, patterns and equality.

Ranges of sizes and costs follow, for the estimate before evaluation (`estimate`). The costs of calls are in the tables
in `library`, those of selections and folds are in `folds`, and the rest are in `interpret`.
"""

from __future__ import annotations

import math

from msgspec import Struct

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver

from .values import Cidr, Ip, NamedFormat, QuantityCell, Url, Value, size_of

COST_LIMIT = 1_000_000
"""The cost at which an evaluation ends in an error; the API server rejects expressions whose estimate is higher."""

LIST_COST, MAP_COST, MESSAGE_COST = 10, 30, 40

_PER_CHARACTER = 0.1
_PER_PATTERN_CHARACTER = 0.25

_UNIT_EQUALITY = frozenset((Quantity, QuantityCell, Ip, Cidr, NamedFormat, Url, Semver))


def traversal(size: int, factor: float = _PER_CHARACTER) -> int:
    """Return the cost of traversing a string of this size. `factor` is the cost of one character."""
    return math.ceil(size * factor)


def equality(left: Value, right: Value) -> int:
    """Return the cost of comparing these operands by `==`."""
    if type(left) is str and type(right) is str:
        return traversal(min(len(left), len(right)))
    return 1 if type(left) in _UNIT_EQUALITY else inequality(left, right)


def inequality(left: Value, right: Value) -> int:
    """Return the cost of comparing these operands by `!=`, or of ordering them if they are strings."""
    return traversal(min(size_of(left), size_of(right)))


def pattern_cost(text: int, pattern: int) -> int:
    """Return the cost of searching a text for a pattern, given the sizes of both."""
    return math.ceil((1.0 + text) * _PER_CHARACTER) * math.ceil(pattern * _PER_PATTERN_CHARACTER)


# -- ranges of sizes and costs -----------------------------------------------------------------------------------------
# The arithmetic is cel-go's: unsigned 64-bit integers that saturate at their maximum.

MOST = 2**64 - 1
_TWO_TO_64 = 2.0**64

STRING_FACTOR = 0.1
"""The cost of traversing one character (cel-go common.StringTraversalCostFactor)."""

REGEX_FACTOR = 0.25
"""The cost of one character in a regular expression (cel-go common.RegexStringLengthCostFactor)."""


def _scaled(number: int, factor: float) -> int:
    """Return number times factor, rounded up, in cel-go's floating point."""
    approximate = float(number)
    if approximate > 0 and factor > 0 and approximate > _TWO_TO_64 / factor:
        return MOST
    product = math.ceil(approximate * factor)
    return MOST if product >= _TWO_TO_64 else product


class Interval(Struct, frozen=True):
    """A range of sizes or costs, with its minimum and maximum."""

    least: int
    most: int

    def plus(self, other: Interval) -> Interval:
        """Return the range of the sum of both."""
        return Interval(min(self.least + other.least, MOST), min(self.most + other.most, MOST))

    def times(self, other: Interval) -> Interval:
        """Return the range of the product of both."""
        return Interval(min(self.least * other.least, MOST), min(self.most * other.most, MOST))

    def scaled(self, factor: float) -> Interval:
        """Return the range multiplied by a cost factor and rounded up."""
        return Interval(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Interval) -> Interval:
        """Return the smallest range that contains both."""
        return Interval(min(self.least, other.least), max(self.most, other.most))


def fixed(number: int) -> Interval:
    """Return the range that contains only this number."""
    return Interval(number, number)


FREE, ONE, UNKNOWN = fixed(0), fixed(1), Interval(0, MOST)


class Entries(Struct, frozen=True):
    """The sizes of the keys (or indices) and of the values of a container. `kind` is list or map."""

    kind: str
    key: Interval
    value: Interval

    def union(self, other: Entries | None) -> Entries | None:
        """Return the ranges that include the sizes of both containers, or None if `other` is not known."""
        if other is None:
            return None
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value))
