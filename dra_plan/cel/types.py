"""The types of the selector language, and the rules for assigning one type to another.

An assignment may bind type parameters. `infer` finds the types in an expression.
"""

from collections.abc import Sequence

from msgspec import Struct


class Type(Struct, frozen=True):
    """A CEL type. Equal types compare equal.

    `str()` returns the type in cel-go's run-time notation, and `describe` in the notation of type errors.

    `kind` is one of: null, bool, int, uint, double, string, bytes, duration, timestamp, any, dyn, error, type, list,
    map, optional, object, opaque, param, wrapper. `name` is the run-time name of an object or opaque type, or the name
    of a type parameter. `params` are the element types: 1 for a list, an optional or a wrapper, 2 for a map, and 0 or 1
    for a type.
    """

    kind: str
    name: str = ""
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    def describe(self) -> str:
        """Return the type as cel-go writes it in type errors."""
        if self.kind in _SHORT:
            return _SHORT[self.kind]
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(param.describe() for param in self.params)})"


_SHORT = {"any": "any", "duration": "duration", "timestamp": "timestamp", "error": "!error!", "null": "null"}


NULL = Type("null", "null_type")
BOOL = Type("bool", "bool")
INT = Type("int", "int")
UINT = Type("uint", "uint")
DOUBLE = Type("double", "double")
STRING = Type("string", "string")
BYTES = Type("bytes", "bytes")
DURATION = Type("duration", "google.protobuf.Duration")
TIMESTAMP = Type("timestamp", "google.protobuf.Timestamp")
ANY = Type("any", "google.protobuf.Any")
DYN = Type("dyn", "dyn")
ERROR = Type("error", "!error!")
TYPE = Type("type", "type")

QUANTITY = Type("object", "kubernetes.Quantity")
SEMVER = Type("object", "kubernetes.Semver")
URL = Type("object", "kubernetes.URL")
IP = Type("opaque", "net.IP")
CIDR = Type("opaque", "net.CIDR")
FORMAT = Type("object", "kubernetes.NamedFormat")


def list_of(element: Type) -> Type:
    """Return the type `list(element)`."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type `map(key, value)`."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type `optional_type(value)`."""
    return Type("optional", "optional_type", (value,))


def type_of(described: Type) -> Type:
    """Return the type of a type, such as `type(int)`."""
    return Type("type", "type", (described,))


def wrapper_of(value: Type) -> Type:
    """Return the type that allows null in addition to a basic type, such as google.protobuf.Int64Value."""
    return Type("wrapper", "wrapper", (value,))


def parameter(name: str) -> Type:
    """Return a type parameter."""
    return Type("param", name)


# -- assigning types ---------------------------------------------------------------------------------------------------

_NULLABLE = frozenset({"opaque", "optional", "duration", "object", "any", "timestamp", "null", "wrapper"})


def is_dyn(of: Type) -> bool:
    """Return whether the type is dyn or any, which accept all values."""
    return of.kind in ("dyn", "any")


class Bindings:
    """The types that type parameters are bound to. A failed assignment changes nothing."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._fresh = 0

    def fresh(self) -> Type:
        """Return a new, unbound type parameter."""
        self._fresh += 1
        return Type("param", f"_var{self._fresh}")

    def instantiate(self, types: Sequence[Type]) -> list[Type]:
        """Return the types with each type parameter replaced by a new one, which is the same in all types."""
        names: dict[str, Type] = {}
        return [self._renamed(of, names) for of in types]

    def _renamed(self, of: Type, names: dict[str, Type]) -> Type:
        if of.kind == "param":
            if of.name not in names:
                names[of.name] = self.fresh()
            return names[of.name]
        if not of.params:
            return of
        return Type(of.kind, of.name, tuple(self._renamed(param, names) for param in of.params))

    def resolve(self, of: Type, *, free_to_dyn: bool = False) -> Type:
        """Return the type with its bound parameters replaced by their types.

        With `free_to_dyn`, its free parameters become dyn.
        """
        if of.kind == "param":
            bound = self._bound.get(of.name)
            if bound is not None:
                return self.resolve(bound, free_to_dyn=free_to_dyn)
            return DYN if free_to_dyn else of
        if not of.params or of.kind == "wrapper":
            return of
        params = tuple(self.resolve(param, free_to_dyn=free_to_dyn) for param in of.params)
        return of if params == of.params else Type(of.kind, of.name, params)

    def assign_all(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        """Return whether each given type can be assigned to the wanted type at the same position.

        Type parameters are bound only if all can be assigned.
        """
        mark = len(self._trail)
        if self._all(given, wanted):
            return True
        while len(self._trail) > mark:
            name, before = self._trail.pop()
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def assign(self, given: Type, wanted: Type) -> bool:
        """Return whether the given type can be assigned to the wanted type. If so, type parameters are bound."""
        return self.assign_all((given,), (wanted,))

    def _all(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        return len(given) == len(wanted) and all(map(self._may, given, wanted))

    def _may(self, given: Type, wanted: Type) -> bool:
        if wanted.kind == "param":
            valid, was_bound = self._substitutes(given, wanted)
            if valid or was_bound:
                return valid
        if given.kind == "param":
            return self._substitutes(wanted, given)[0]
        if given.kind in _ANYTHING or wanted.kind in _ANYTHING:
            return True
        if given.kind == "null":
            return wanted.kind in _NULLABLE
        if wanted.kind == "null":
            return given.kind in _NULLABLE
        given, wanted = _unwrapped(given), _unwrapped(wanted)
        if given.kind != wanted.kind or given.name != wanted.name:
            return False
        # A type is a type: the type it describes does not matter.
        return given.kind == "type" or self._all(given.params, wanted.params)

    def _substitutes(self, other: Type, param: Type) -> tuple[bool, bool]:
        """Return whether the other type can replace the parameter, and whether the parameter was bound before."""
        if other == param:
            return True, True
        bound = self._bound.get(param.name)
        if bound is None:
            free = self._absent(param, other)
            if free:
                self._bind(param, other)
            return free, False
        if other == bound:
            return True, True
        if not self._may(other, bound):
            return False, True
        general = most_general(other, bound)
        if self._absent(param, general):
            self._bind(param, general)
        return True, True

    def _bind(self, param: Type, to: Type) -> None:
        self._trail.append((param.name, self._bound.get(param.name)))
        self._bound[param.name] = to

    def _absent(self, param: Type, within: Type) -> bool:
        """Return whether the parameter does not occur in the other type (if it did, it could never be resolved)."""
        if param == within:
            return False
        if within.kind == "param":
            bound = self._bound.get(within.name)
            return bound is None or self._absent(param, bound)
        return all(self._absent(param, part) for part in within.params)


_ANYTHING = frozenset({"dyn", "any", "error"})


def _unwrapped(of: Type) -> Type:
    return of.params[0] if of.kind == "wrapper" else of


def most_general(first: Type, second: Type) -> Type:
    """Return the more general of two types, one of which must be assignable to the other."""
    return first if _at_most_as_specific(first, second) else second


def _at_most_as_specific(first: Type, second: Type) -> bool:
    if is_dyn(first) or first.kind == "param":
        return True
    if is_dyn(second) or second.kind == "param" or first.kind != second.kind:
        return False
    if first.kind == "type":
        return True
    if first.kind in ("list", "map", "opaque", "optional"):
        same = first.name == second.name and len(first.params) == len(second.params)
        return same and all(map(_at_most_as_specific, first.params, second.params))
    return first == second


def equivalent(first: Type, second: Type) -> bool:
    """Return whether two types are equal, except that one may be nullable (a wrapper)."""
    first, second = _unwrapped(first), _unwrapped(second)
    same = first.kind == second.kind and first.name == second.name and len(first.params) == len(second.params)
    return same and all(map(equivalent, first.params, second.params))
