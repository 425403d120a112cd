"""What devices publish: the values of attributes and capacities by name, and the names that there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_plan.allocator import PoolDevice
from dra_plan.api.resource import DeviceAttribute
from dra_plan.cel.device import named, split_name
from dra_plan.cel.parts import Reference

_TYPES = (
    ("int", "int_value"),
    ("bool", "bool_value"),
    ("string", "string_value"),
    ("version", "version_value"),
    ("ints", "int_values"),
    ("bools", "bool_values"),
    ("strings", "string_values"),
    ("versions", "version_values"),
)


class Publications:
    """Which attributes and capacities the devices at hand publish, for did-you-mean."""

    def __init__(self, devices: Iterable[PoolDevice]) -> None:
        self.domains: dict[str, dict[str, None]] = {"attribute": {}, "capacity": {}}
        self.names: dict[tuple[str, str], dict[str, None]] = {}
        self.drivers: dict[str, None] = {}
        for device in devices:
            self.drivers[device.id.driver] = None
            for kind, table in (("attribute", device.device.attributes), ("capacity", device.device.capacity)):
                for full in table:
                    domain, name = qualified(full, device.id.driver)
                    self.domains[kind][domain] = None
                    self.names.setdefault((kind, domain), {})[name] = None

    def homes(self, kind: str, name: str) -> list[str]:
        """The domains in which a name is published, sorted."""
        return sorted(domain for (of, domain), names in self.names.items() if of == kind and name in names)


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Domain and identifier; a bare name belongs to the driver's domain."""
    domain, identifier, _ = split_name(name, driver)
    return domain, identifier


def look_up(device: PoolDevice, reference: Reference) -> tuple[str, Any] | None:
    """Type and value of what the reference names on the device, or None."""
    if reference.kind == "driver":
        return "string", device.id.driver
    if reference.kind == "domain":
        has = any(qualified(name, device.id.driver)[0] == reference.domain for name in device.device.attributes)
        return ("bool", True) if has else None
    if reference.kind == "capacity":
        capacity = named(device.device.capacity, device.id.driver, reference.domain, reference.name)
        return None if capacity is None else ("quantity", str(capacity.value))
    attribute = named(device.device.attributes, device.id.driver, reference.domain, reference.name)
    return None if attribute is None else attribute_value(attribute)


def attribute_value(attribute: DeviceAttribute) -> tuple[str, Any]:
    """Type and value of an attribute; lists as tuples."""
    for kind, slot in _TYPES:
        value = getattr(attribute, slot)
        if value is not None:
            return kind, tuple(value) if isinstance(value, list) else value
    return "unknown", None
