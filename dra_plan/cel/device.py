"""The variable `device`: its value for a device, and its type.

In order: attributes and capacities, with the check that all of them can be converted; and types with the maximum sizes
that the API allows, for type checks and cost estimates.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from dra_plan.api import quantity, semver
from dra_plan.api.meta import QuantityText
from dra_plan.api.quantity import Quantity, QuantityError
from dra_plan.api.resource import Device, DeviceAttribute
from dra_plan.api.semver import SemverError
from dra_plan.cel.library.lists import MOST_LIST_VALUES
from dra_plan.cel.library.quantities import cell
from dra_plan.errors import InputError

from .reads import Read
from .types import ANY, BOOL, DYN, QUANTITY, STRING, Type, map_of
from .values import DefaultMap, EvaluationError, Value

_MOST_REMEMBERED = 200_000

_T = TypeVar("_T")


def as_device(device: Device | Mapping[str, Any]) -> Device:
    """Return a Device as it is, or create one from a dict with attributes, capacity and allowMultipleAllocations.

    Raises InputError for any other dict.
    """
    if isinstance(device, Device):
        return device
    try:
        return msgspec.convert({"name": "", **device}, Device)
    except msgspec.ValidationError as error:
        raise InputError(f"device: {error}") from None


def attribute_value(attribute: DeviceAttribute, *, lists: bool) -> Value:
    """Return the value of an attribute. Raises EvaluationError if it has no value that can be used."""
    if attribute.int_value is not None:
        return attribute.int_value
    if attribute.bool_value is not None:
        return attribute.bool_value
    if attribute.string_value is not None:
        return attribute.string_value
    if attribute.version_value is not None:
        return _version(attribute.version_value)
    if lists:
        for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
            if values is not None:
                return list(values)
        if attribute.version_values is not None:
            return [_version(text) for text in attribute.version_values]
    raise EvaluationError("unsupported attribute value")


def _version(text: str) -> Value:
    try:
        return semver.parse(text)
    except SemverError as error:
        raise EvaluationError(f"parse semantic version: {error}") from None


def capacity_value(text: QuantityText) -> Quantity:
    """Return the amount of a capacity. Raises EvaluationError if the text is not a quantity."""
    try:
        return quantity.parse(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from None


def split_name(name: str, driver: str) -> tuple[str, str, bool]:
    """Return the domain and the ID in a name, and whether the name contains the domain.

    A name without a domain belongs to the domain of the driver.
    """
    domain, slash, identifier = name.partition("/")
    return (domain, identifier, True) if slash else (driver, name, False)


def device_value(device: Device, driver: str, *, lists: bool, exact_quantities: bool) -> dict[str, Value]:
    """Return the value of the variable `device`.

    With `exact_quantities`, capacities are stored as upstream stores them. If a name occurs both with and without the
    driver's domain, the entry with the domain is used; in upstream, it may be either.
    """
    attributes: DefaultMap = DefaultMap()
    for name, attribute in device.attributes.items():
        domain, identifier, written = split_name(name, driver)
        inner = attributes.setdefault(domain, {})
        if written or identifier not in inner:
            inner[identifier] = attribute_value(attribute, lists=lists)
    capacity: DefaultMap = DefaultMap()
    for name, amount in device.capacity.items():
        domain, identifier, written = split_name(name, driver)
        inner = capacity.setdefault(domain, {})
        if written or identifier not in inner:
            value = capacity_value(amount.value)
            inner[identifier] = cell(value) if exact_quantities else value
    return {
        "driver": driver,
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": bool(device.allow_multiple_allocations),
    }


def read_value(
    device: Device, driver: str, reads: Iterable[Read], *, lists: bool, exact_quantities: bool
) -> dict[str, Value]:
    """Return the value of the variable `device`, with only the parts that an expression reads."""
    attributes: DefaultMap = DefaultMap()
    capacity: DefaultMap = DefaultMap()
    for kind, domain, identifier in reads:
        if kind == "attributes":
            attribute = named(device.attributes, driver, domain, identifier)
            if attribute is not None:
                attributes.setdefault(domain, {})[identifier] = attribute_value(attribute, lists=lists)
        elif kind == "capacity":
            amount = named(device.capacity, driver, domain, identifier)
            if amount is not None:
                value = capacity_value(amount.value)
                capacity.setdefault(domain, {})[identifier] = cell(value) if exact_quantities else value
    return {
        "driver": driver,
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": bool(device.allow_multiple_allocations),
    }


def named(entries: Mapping[str, _T], driver: str, domain: str, identifier: str) -> _T | None:
    """Return the attribute or capacity with this domain and ID, or None.

    In the driver's own domain, the name may be written without the domain.
    """
    found = entries.get(f"{domain}/{identifier}")
    return entries.get(identifier) if found is None and domain == driver else found


class Inspector:
    """Checks that all attributes and capacities of a device can be converted.

    If one of them cannot, every selector fails on the device.
    """

    def __init__(self, *, lists: bool) -> None:
        self._lists = lists
        self._lock = threading.Lock()
        self.sound: dict[int, Device] = {}
        """Devices without errors, by `id()`. Keeping them here ensures that no other device gets the same ID."""

    def inspect(self, device: Device) -> str | None:
        """Return the error with which every selector fails on the device, or None. The result None is cached."""
        problem = self.look(device)
        if problem is None:
            with self._lock:
                if len(self.sound) >= _MOST_REMEMBERED:
                    self.sound.clear()
                self.sound[id(device)] = device
        return problem

    def look(self, device: Device) -> str | None:
        """Return the same as `inspect`, without the cache."""
        for name, attribute in device.attributes.items():
            if attribute.int_value is None and attribute.bool_value is None and attribute.string_value is None:
                try:
                    attribute_value(attribute, lists=self._lists)
                except EvaluationError as error:
                    return f"attribute {name}: {error}"
        try:
            for amount in device.capacity.values():
                capacity_value(amount.value)
        except EvaluationError as error:
            return str(error)
        return None


# -- types and sizes of the variable -----------------------------------------------------------------------------------

DEVICE = Type("object", "kubernetes.DRADevice")

# Limits of resource.k8s.io, from k8s.io/api/resource/v1.
_MOST_DRIVER = 63
_MOST_DOMAIN = 63
_MOST_ID = 32
_MOST_STRING = 64
_MOST_ENTRIES = 32


class Sized(Struct, frozen=True):
    """A type, with the maximum size of its values and the types of their contents.

    The size is a number of elements or characters, or 0 if values have no size.
    """

    type: Type
    most: int = 0
    key: Sized | None = None
    element: Sized | None = None
    fields: Mapping[str, Sized] = {}
    any_field: Sized | None = None
    """The type of every field, if all field names are allowed, as for attributes."""


def _map(key: int, value: Sized, *, any_field: Sized | None = None) -> Sized:
    return Sized(map_of(STRING, value.type), _MOST_ENTRIES, Sized(STRING, key), value, any_field=any_field)


def device(*, lists: bool, multiple_allocations: bool) -> Sized:
    """Return the type of the variable `device`.

    With `lists`, attributes may be lists (the DRAListTypeAttributes gate). With `multiple_allocations`, the device has
    the field allowMultipleAllocations (the DRAConsumableCapacity gate).
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
