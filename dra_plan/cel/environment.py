"""The functions, macros and types that an expression can use, by Kubernetes version, feature gates and rules."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, TypeAlias

from msgspec import Struct

from .device import DEVICE, Sized, device
from .library import LIBRARIES, Library, Overload
from .macros import Expander, MacroKey
from .messages import MESSAGES, WellKnown
from .types import Type

ExpressionRules: TypeAlias = Literal["stored", "new"]

_CONSUMABLE, _LISTS = "DRAConsumableCapacity", "DRAListTypeAttributes"
_CONSUMABLE_SINCE, _LISTS_SINCE = (1, 34), (1, 36)
_STORED_LISTS_SINCE = (1, 37)
"""The version since which stored expressions see lists, regardless of the gate."""
_QUANTITIES_KEPT_SINCE = (1, 37)
"""The version since which arithmetic does not change the quantity on which it is called."""
_MOST_BYTES = 10 * 1024


class Environment(Struct, frozen=True, eq=False):
    """The functions, macros and types that an expression can use. Environments are shared and immutable."""

    functions: Mapping[str, tuple[Overload, ...]]
    macros: Mapping[MacroKey, Expander]
    types: Mapping[str, Type]
    messages: Mapping[str, WellKnown]
    device: Sized
    lists: bool
    """True if attributes may be lists."""
    changes_quantities: bool
    """True if upstream's arithmetic may change its operands."""
    most_bytes: int | None
    """The maximum length of an expression in bytes of UTF-8, or None if only the parser's limit applies."""

    @property
    def result_type(self) -> Type:
        """The type of attributes, which an expression may have instead of bool."""
        domain = self.device.fields["attributes"].element
        assert domain is not None
        assert domain.element is not None
        return domain.element.type


def environment(
    kubernetes_version: str, feature_gates: Mapping[str, bool] | None = None, rules: ExpressionRules = "stored"
) -> Environment:
    """Return the environment for a Kubernetes minor version such as "1.36". Equal arguments return the same object.

    With `rules="stored"`, it has every declaration that the scheduler accepts, regardless of gates. With `rules="new"`,
    it has the declarations that the API server accepts on create: those whose gate is on, and those of the previous
    release, so that a rollback is possible. Only the gates DRAConsumableCapacity and DRAListTypeAttributes matter; they
    are off by default.
    """
    major, minor = kubernetes_version.split(".")[:2]
    version = (int(major), int(minor))
    known = ((_CONSUMABLE, _CONSUMABLE_SINCE), (_LISTS, _LISTS_SINCE))
    gates = feature_gates or {}
    on = frozenset(gate for gate, since in known if gates.get(gate) and version >= since)
    if rules == "stored" and version >= _STORED_LISTS_SINCE:
        on |= {_LISTS}
    return _environment(version, on, rules)


@cache
def _environment(version: tuple[int, int], on: frozenset[str], rules: ExpressionRules) -> Environment:
    """Return the environment for a version and the gates that are on and known to it."""
    libraries = [library for library in LIBRARIES if _applies(library, version, on, rules)]
    multiple = version >= _CONSUMABLE_SINCE and (rules == "stored" or _CONSUMABLE in on)
    types = {name: of for library in libraries for name, of in library.types.items()}
    types |= {name: message.type for name, message in MESSAGES.items()}
    return Environment(
        functions=_functions(libraries),
        macros={key: expand for library in libraries for key, expand in library.macros.items()},
        types=types | {DEVICE.name: DEVICE},
        messages=MESSAGES,
        device=device(lists=_LISTS in on, multiple_allocations=multiple),
        lists=_LISTS in on,
        changes_quantities=version < _QUANTITIES_KEPT_SINCE,
        most_bytes=_MOST_BYTES if rules == "new" else None,
    )


def _applies(library: Library, version: tuple[int, int], on: frozenset[str], rules: ExpressionRules) -> bool:
    if rules == "stored":
        return version >= library.known_since
    if library.gate is not None:
        return library.gate in on
    return library.since <= (version[0], version[1] - 1)


def _functions(libraries: Iterable[Library]) -> Mapping[str, tuple[Overload, ...]]:
    functions: dict[str, tuple[Overload, ...]] = {}
    for library in libraries:
        for name, overloads in library.functions.items():
            functions[name] = functions.get(name, ()) + overloads
    return functions
