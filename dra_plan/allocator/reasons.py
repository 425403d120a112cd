"""Why a device or a request was refused: values, never sentences. `output` words them."""

from __future__ import annotations

from typing import NamedTuple


class InUse(NamedTuple):
    """The device belongs to an allocated claim (`NAMESPACE/NAME`), or was taken earlier in this search."""

    claim: str | None


class SelectorRefused(NamedTuple):
    """The selector at `position` of the class (`class_name`) or of the request (None) is false for the device."""

    class_name: str | None
    position: int
    expression: str


class OtherNode(NamedTuple):
    """With per-device node selection: the device sits on other nodes."""


class BindingConditionsOff(NamedTuple):
    """The device has binding conditions and the feature is off."""


class CountersOff(NamedTuple):
    """The device consumes counters and partitionable devices are off."""


class NotTolerated(NamedTuple):
    """A taint that no toleration of the request covers."""

    key: str
    value: str
    effect: str


class CapacityMissing(NamedTuple):
    """The request names a capacity that the device does not have."""

    name: str


class PolicyViolated(NamedTuple):
    """The device's request policy does not allow the amount."""

    name: str
    amount: str


class CapacityShort(NamedTuple):
    """Less of a capacity is left than needed; nano-units."""

    name: str
    need: int
    left: int


class CounterShort(NamedTuple):
    """Less of a counter is left than needed; nano-units. The counter may be one the device does not consume (Q7)."""

    counter_set: str
    counter: str
    need: int
    left: int


class AttributeMissing(NamedTuple):
    """A constraint's attribute that the device does not have."""

    constraint: int
    attribute: str


class AttributeDiffers(NamedTuple):
    """matchAttribute: the device offers another value than the devices taken before."""

    constraint: int
    attribute: str
    offered: object
    pinned: object


class AttributeRepeats(NamedTuple):
    """distinctAttribute: the device offers a value that a device taken before has too."""

    constraint: int
    attribute: str
    offered: object
    by: str


ConstraintReason = AttributeMissing | AttributeDiffers | AttributeRepeats
"""How a device breaks a constraint."""

CapacityReason = CapacityMissing | PolicyViolated | CapacityShort
"""Why a device's capacity can't serve a request."""

DeviceReason = (
    InUse
    | SelectorRefused
    | OtherNode
    | BindingConditionsOff
    | CountersOff
    | NotTolerated
    | CapacityMissing
    | PolicyViolated
    | CapacityShort
    | CounterShort
    | ConstraintReason
)
"""Why a device was refused to a request."""


class NothingMatches(NamedTuple):
    """All: no device of the node matches the request."""


class TooManyDevices(NamedTuple):
    """The claim would get more devices than a claim may have."""

    need: int
    limit: int


RequestReason = NothingMatches | TooManyDevices
"""Why a request was refused before any device was tried."""
