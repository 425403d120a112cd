"""What a declaration is: overloads, and libraries that bring them with a Kubernetes version; no declarations here."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from dra_plan.cel.macros import Expander, MacroKey
from dra_plan.cel.types import Type


class Overload(Struct, frozen=True):
    """One signature of a function. For a member, `args` begin with the target. `id` is cel-go's or Kubernetes' own."""

    id: str
    args: tuple[Type, ...]
    result: Type
    member: bool = False
    since: tuple[int, int] = (1, 0)
    gate: str | None = None

    @property
    def generic(self) -> bool:
        """Whether type parameters occur in the signature."""
        return any(map(_has_parameter, (*self.args, self.result)))


def _has_parameter(of: Type) -> bool:
    return of.kind == "param" or any(map(_has_parameter, of.params))


def plain(identifier: str, args: tuple[Type, ...], result: Type) -> Overload:
    """Return a global overload."""
    return Overload(identifier, args, result)


def member(identifier: str, args: tuple[Type, ...], result: Type) -> Overload:
    """Return a member overload; the first argument is the target."""
    return Overload(identifier, args, result, member=True)


class Library(Struct, frozen=True, kw_only=True):
    """Functions, macros and type names that arrive together.

    New expressions see a library from Kubernetes version `since` on, or, if it has a gate, when the gate is on (the
    gate outweighs the version). Stored expressions see every library that the release knows (`known_since`).
    """

    name: str
    since: tuple[int, int]
    gate: str | None = None
    known_since: tuple[int, int] = (1, 0)
    functions: Mapping[str, tuple[Overload, ...]] = {}
    macros: Mapping[MacroKey, Expander] = {}
    types: Mapping[str, Type] = {}

    def overloads(self) -> Mapping[str, tuple[Overload, ...]]:
        """Return the functions' overloads, each tagged with what brings it."""
        return {name: tuple(map(self._tagged, overloads)) for name, overloads in self.functions.items()}

    def _tagged(self, overload: Overload) -> Overload:
        return Overload(overload.id, overload.args, overload.result, overload.member, self.since, self.gate)


def for_each(types: tuple[Type, ...], make: Callable[[Type], Overload]) -> tuple[Overload, ...]:
    """Return one overload for each type."""
    return tuple(map(make, types))
