"""How functions of the language are registered and how an overload is told from run-time values.

The functions themselves are in the modules beside this one, by library; each is registered under cel-go's overload id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from dra_plan.api.quantity import Quantity
from dra_plan.api.semver import Semver
from dra_plan.cel.values import (
    Cidr,
    DefaultMap,
    Duration,
    Ip,
    NamedFormat,
    Optional,
    QuantityCell,
    Timestamp,
    TypeValue,
    Uint,
    Url,
    Value,
)

Function = Callable[..., Value]
_F = TypeVar("_F", bound=Function)


class Overload(msgspec.Struct, frozen=True, eq=False):
    """One overload: its function, and the kinds of values that it takes."""

    id: str
    function: Function
    kinds: tuple[str, ...]

    def accepts(self, arguments: list[Value]) -> bool:
        """Whether upstream's type guard would let these run-time values pass."""
        return len(arguments) == len(self.kinds) and all(map(is_kind, arguments, self.kinds))


OVERLOADS: dict[str, Overload] = {}
"""Every overload with an implementation, by id."""

_CLASSES: dict[str, frozenset[type]] = {
    "bool": frozenset((bool,)),
    "int": frozenset((int,)),
    "uint": frozenset((Uint,)),
    "double": frozenset((float,)),
    "string": frozenset((str,)),
    "bytes": frozenset((bytes,)),
    "null": frozenset((type(None),)),
    "list": frozenset((list,)),
    "map": frozenset((dict, DefaultMap)),
    "duration": frozenset((Duration,)),
    "timestamp": frozenset((Timestamp,)),
    "type": frozenset((TypeValue,)),
    "optional": frozenset((Optional,)),
    "quantity": frozenset((Quantity, QuantityCell)),
    "semver": frozenset((Semver,)),
    "url": frozenset((Url,)),
    "ip": frozenset((Ip,)),
    "cidr": frozenset((Cidr,)),
    "format": frozenset((NamedFormat,)),
}


def is_kind(value: Value, kind: str) -> bool:
    """Whether a value is of a kind: a name above, `list(KIND)` judged by its first element, or `any`."""
    classes = _CLASSES.get(kind)
    if classes is not None:
        return type(value) in classes
    if kind == "any":
        return True
    return type(value) is list and (not value or is_kind(value[0], kind[5:-1]))


def overload(identifier: str, *kinds: str) -> Callable[[_F], _F]:
    """Register the decorated function as the overload with this id for values of these kinds."""

    def register(function: _F) -> _F:
        OVERLOADS[identifier] = Overload(identifier, function, kinds)
        return function

    return register
