"""The variable `device`: its types, and the sizes that Kubernetes' API limits for the cost estimate."""

from collections.abc import Mapping

from msgspec import Struct

from dra_plan.cel.library.lists import MOST_LIST_VALUES

from .types import ANY, BOOL, DYN, QUANTITY, STRING, Type, map_of

DEVICE = Type("object", "kubernetes.DRADevice")

# Limits of resource.k8s.io, from k8s.io/api/resource/v1.
_MOST_DRIVER = 63
_MOST_DOMAIN = 63
_MOST_ID = 32
_MOST_STRING = 64
_MOST_ENTRIES = 32


class Sized(Struct, frozen=True):
    """A type with the most elements or characters a value of it can have (0: no size), and what it contains."""

    type: Type
    most: int = 0
    key: "Sized | None" = None
    element: "Sized | None" = None
    fields: Mapping[str, "Sized"] = {}
    any_field: "Sized | None" = None
    """What every field name leads to, known only for attributes: all have the same limit, whatever their name."""


def _map(key: int, value: Sized, *, any_field: Sized | None = None) -> Sized:
    return Sized(map_of(STRING, value.type), _MOST_ENTRIES, Sized(STRING, key), value, any_field=any_field)


def device(*, lists: bool, multiple_allocations: bool) -> Sized:
    """Return the variable's type.

    With `lists` (gate DRAListTypeAttributes) attributes can be iterated over; `multiple_allocations` adds the field
    allowMultipleAllocations (gate DRAConsumableCapacity).
    """
    attribute = Sized(DYN, max(_MOST_STRING, MOST_LIST_VALUES)) if lists else Sized(ANY, _MOST_STRING)
    fields = {
        "driver": Sized(STRING, _MOST_DRIVER),
        "attributes": _map(_MOST_DOMAIN, _map(_MOST_ID, attribute, any_field=attribute)),
        "capacity": _map(_MOST_DOMAIN, _map(_MOST_ID, Sized(QUANTITY))),
    }
    if multiple_allocations:
        fields["allowMultipleAllocations"] = Sized(BOOL, 1)
    return Sized(DEVICE, fields=fields)
