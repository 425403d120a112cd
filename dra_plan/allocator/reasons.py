"""The reasons for rejecting a device or a request, and the errors that end an allocation.

Reasons are values without texts. There are three kinds of errors, as in upstream, and one for the step limit. `cause`
says what an error is about; its message is upstream's, to be shown but never parsed.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from dra_plan.errors import DraPlanError

from .identity import PoolID


class InUse(NamedTuple):
    """The device is in use by an allocated claim (`NAMESPACE/NAME`) or, if `claim` is None, by the search itself."""

    claim: str | None


class SelectorRefused(NamedTuple):
    """A selector is false for the device.

    `position` is the index of the selector in the class `class_name` or, if this is None, in the request.
    """

    class_name: str | None
    position: int
    expression: str


class OtherNode(NamedTuple):
    """The device is available only on other nodes."""


class BindingConditionsOff(NamedTuple):
    """The device has binding conditions, but the feature gate for them is off."""


class CountersOff(NamedTuple):
    """The device consumes counters, but the feature gate for partitionable devices is off."""


class NotTolerated(NamedTuple):
    """The request does not tolerate a taint of the device."""

    key: str
    value: str
    effect: str


class CapacityMissing(NamedTuple):
    """The device does not have a requested capacity."""

    name: str


class PolicyViolated(NamedTuple):
    """The request policy of a capacity does not allow the amount."""

    name: str
    amount: str


class CapacityShort(NamedTuple):
    """A capacity of the device has less left than the request needs. Amounts are in nano-units."""

    name: str
    need: int
    left: int


class CounterShort(NamedTuple):
    """A counter has less left than the device needs. Amounts are in nano-units.

    With Q7, it may be a counter that the device does not consume.
    """

    counter_set: str
    counter: str
    need: int
    left: int


class AttributeMissing(NamedTuple):
    """The device does not have an attribute that a constraint compares."""

    constraint: int
    attribute: str


class AttributeDiffers(NamedTuple):
    """The device's value differs from the value of the devices taken before (matchAttribute)."""

    constraint: int
    attribute: str
    offered: object
    pinned: object


class AttributeRepeats(NamedTuple):
    """A device taken before has the same value (distinctAttribute)."""

    constraint: int
    attribute: str
    offered: object
    by: str


ConstraintReason = AttributeMissing | AttributeDiffers | AttributeRepeats
"""The reasons why a device can violate a constraint."""

CapacityReason = CapacityMissing | PolicyViolated | CapacityShort
"""The reasons why the capacity of a device may not be enough for a request."""

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
"""The reasons for rejecting a device for a request."""


class NothingMatches(NamedTuple):
    """The request is for all matching devices, but none on the node matches."""


class TooManyDevices(NamedTuple):
    """The claim would get more devices than a claim may have."""

    need: int
    limit: int


RequestReason = NothingMatches | TooManyDevices
"""The reasons for rejecting a request before any device is checked."""


# -- errors ------------------------------------------------------------------------------------------------------------

ErrorCode = Literal[
    "class-missing",
    "class-not-named",
    "feature-off",
    "count-mode",
    "request-empty",
    "constraint-unknown",
    "too-many-devices",
    "all-and-broken-pool",
    "all-and-constraint",
    "invalid-pool",
    "invalid-pools",
    "node-selector-terms",
    "node-selector-invalid",
    "capacity-request",
    "selector-compile",
    "selector-runtime",
]
"""The kinds of errors, described in docs/reasons.md."""


class Cause(Struct, frozen=True):
    """The cause of an error: its kind, upstream's message, and the objects that it is about.

    `claim` is NAMESPACE/NAME, `request` is REQUEST or REQUEST/ALTERNATIVE, and `gate` is the feature gate that is off.
    Fields that do not apply are empty.
    """

    code: ErrorCode
    message: str
    claim: str = ""
    request: str = ""
    device_class: str = ""
    gate: str = ""
    pool: PoolID | None = None


class AllocationError(DraPlanError):
    """Raised for an error that ends the scheduling attempt of the pod."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to create the error in another process."""
        return type(self), (self.cause,)


class SelectorError(AllocationError):
    """Raised if a selector does not compile, or if it fails on a device.

    `position` is the index of the selector in its class or request, and `detail` is CEL's message. `device` is None if
    the selector does not compile. `of_device` is true if every selector would fail on the device.
    """

    def __init__(
        self, cause: Cause, position: int, expression: str, detail: str, device: object = None, of_device: bool = False
    ) -> None:
        super().__init__(cause)
        self.position, self.expression, self.detail = position, expression, detail
        self.device, self.of_device = device, of_device

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to create the error in another process."""
        parts = (self.cause, self.position, self.expression, self.detail, self.device, self.of_device)
        return SelectorError, parts


class NodeAllocationError(DraPlanError):
    """Raised for an error that rejects only the current node."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to create the error in another process."""
        return type(self), (self.cause,)


class StepsExhaustedError(DraPlanError):
    """Raised if a search reaches its step limit or its deadline. The outcome is then undecided."""
