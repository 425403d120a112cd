"""Fields of resource.k8s.io that not every recorded release has.

Each field is listed with its kind, its first and last minor versions, and its feature gate. Fields that all recorded
releases have are not listed, even if they need a gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .versions import MINORS, not_recorded, not_simulated


class ApiField(NamedTuple):
    """A field of a kind, with its feature gate and the minor versions that have it."""

    name: str
    kind: str
    gate: str
    since: str
    until: str = ""
    """The first minor version without the field, or "" if the newest version has it."""

    def exists_in(self, version: str) -> bool:
        """Return whether this minor version has the field."""
        place = MINORS.index(version)
        return MINORS.index(self.since) <= place and (not self.until or place < MINORS.index(self.until))


FIELDS = (
    ApiField("nodeAllocatableResourceMappings", "ResourceSlice", "DRANodeAllocatableResources", "1.36", "1.37"),
    ApiField("nodeAllocatableResources", "ResourceSlice", "DRANodeAllocatableResources", "1.37"),
    ApiField("skipNodeOperations", "ResourceSlice", "DRAOptionalNodeOperations", "1.37"),
    ApiField("partitionTypeAttribute", "ResourceSlice", "DRAPartitionableDevicesType", "1.37"),
    ApiField("compatibilityGroups", "ResourceSlice", "DRADeviceCompatibilityGroups", "1.37"),
    ApiField("derivedAttributes", "ResourceClaim", "DRADerivedAttributes", "1.37"),
)


def does_not_have(version: str) -> str:
    """Return a message saying that this minor version does not have a field and therefore drops it."""
    return f"Kubernetes {version} does not have the field and drops it"


def unused(field: ApiField, version: str, gates: Mapping[str, bool]) -> tuple[str, str]:
    """Return why a field in the input is ignored, as a code and a message.

    Both are empty if the field is not ignored.
    """
    if not field.exists_in(version):
        return "field-dropped", does_not_have(version)
    if not gates.get(field.gate, False):
        return "field-dropped", f"Kubernetes {version} drops the field: feature gate {field.gate} is off"
    why = not_simulated(field.gate, version)
    why = f"{why}; it is ignored" if why else not_recorded(field.gate, version)
    return ("not-simulated", f"the field is not simulated: {why}") if why else ("", "")
