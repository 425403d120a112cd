"""Which device class serves which extended resource name."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.resource import DeviceClass
from dra_plan.api.well_known import IMPLICIT_PREFIX

from .clock import parse_time


def class_names(classes: Iterable[DeviceClass], *, loser_loses_implicit: bool) -> dict[str, str]:
    """Resource name to class name, for classes that arrive in name order.

    On a clash the newer class wins, with equal age the lower name. `loser_loses_implicit` (quirk E2): a class that
    loses on arrival is dropped altogether, its implicit name too.
    """
    mapping: dict[str, str] = {}
    owners: dict[str, DeviceClass] = {}
    for device_class in sorted(classes, key=lambda c: c.metadata.name):
        explicit = device_class.spec.extended_resource_name
        if explicit:
            owner = owners.get(explicit)
            if owner is not None and not _newer(device_class, owner):
                if not loser_loses_implicit:
                    mapping[IMPLICIT_PREFIX + device_class.metadata.name] = device_class.metadata.name
                continue
            owners[explicit] = device_class
            mapping[explicit] = device_class.metadata.name
        mapping[IMPLICIT_PREFIX + device_class.metadata.name] = device_class.metadata.name
    return mapping


def _newer(one: DeviceClass, other: DeviceClass) -> bool:
    mine, theirs = (parse_time(c.metadata.creation_timestamp) or 0.0 for c in (one, other))
    return mine > theirs or (mine == theirs and one.metadata.name < other.metadata.name)
