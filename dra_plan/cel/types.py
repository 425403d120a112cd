"""The types of the selector language as values; how they are assigned to each other is in `unify`."""

from msgspec import Struct


class Type(Struct, frozen=True):
    """One type: equal types compare equal; `str` gives the runtime notation, `describe` that of type errors.

    `kind` is one of: null, bool, int, uint, double, string, bytes, duration, timestamp, any, dyn, error, type, list,
    map, optional, object, opaque, param, wrapper. `name` is the runtime name of objects and opaque types, and the name
    of a type parameter. `params` are the element types: list 1, map 2, optional 1, type 0 or 1, wrapper 1.
    """

    kind: str
    name: str = ""
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    def describe(self) -> str:
        """Return the notation of cel-go's type errors, which shortens some names."""
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
    """Return list(element)."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return map(key, value)."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return optional_type(value)."""
    return Type("optional", "optional_type", (value,))


def type_of(described: Type) -> Type:
    """Return the type of a type identifier, such as type(int)."""
    return Type("type", "type", (described,))


def wrapper_of(value: Type) -> Type:
    """Return the nullable form of a basic type (google.protobuf.Int64Value and so on)."""
    return Type("wrapper", "wrapper", (value,))


def parameter(name: str) -> Type:
    """Return a type parameter of an overload."""
    return Type("param", name)
