"""The units of costs at run time: the limit, and what literals, texts, patterns and equality cost.

As in cel-go's cost tracker. What calls cost stands in the tables of `library`, the rest in `interpret` and `qualify`;
the estimate before evaluation is in `estimate`.
"""

from __future__ import annotations

import math

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver

from .values import Cidr, Ip, NamedFormat, QuantityCell, Url, Value, size_of

COST_LIMIT = 1_000_000
"""An evaluation that costs more ends in an error, and the API server refuses what may cost more by its estimate."""

LIST_COST, MAP_COST, MESSAGE_COST = 10, 30, 40

_PER_CHARACTER = 0.1
_PER_PATTERN_CHARACTER = 0.25

_UNIT_EQUALITY = frozenset((Quantity, QuantityCell, Ip, Cidr, NamedFormat, Url, Semver))


def traversal(size: int, factor: float = _PER_CHARACTER) -> int:
    """The cost of going through a text of this size."""
    return math.ceil(size * factor)


def equality(left: Value, right: Value) -> int:
    """The cost of `==`."""
    if type(left) is str and type(right) is str:
        return traversal(min(len(left), len(right)))
    return 1 if type(left) in _UNIT_EQUALITY else inequality(left, right)


def inequality(left: Value, right: Value) -> int:
    """The cost of `!=`, and of ordering texts."""
    return traversal(min(size_of(left), size_of(right)))


def pattern_cost(text: int, pattern: int) -> int:
    """The cost of looking for a pattern, by the sizes of both."""
    return math.ceil((1.0 + text) * _PER_CHARACTER) * math.ceil(pattern * _PER_PATTERN_CHARACTER)
