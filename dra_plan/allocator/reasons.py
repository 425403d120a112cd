"""The reasons for rejecting a device or a request, and the ways in which an allocation can end without a result.

Reasons come first. They are values, never sentences; `output` words them. Then come the errors, of the three kinds that
upstream distinguishes, and the step budget. An error's `cause` gives its kind and subject; its text is upstream's, and
is to be shown but never parsed.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from dra_plan.errors import DraPlanError

from .identity import PoolID


class InUse(NamedTuple):
    """A device that an allocated claim (`NAMESPACE/NAME`) uses, or that was taken earlier in this search."""

    claim: str | None


class SelectorRefused(NamedTuple):
    """A selector that is false for the device.

    `position` is its index in the class `class_name`, or in the request if `class_name` is None.
    """

    class_name: str | None
    position: int
    expression: str


class OtherNode(NamedTuple):
    """A device that is only on other nodes. With per-device node selection, each device says on which nodes it is."""


class BindingConditionsOff(NamedTuple):
    """A device that has binding conditions, although the feature for binding conditions is off."""


class CountersOff(NamedTuple):
    """A device that consumes counters, although the feature for partitionable devices is off."""


class NotTolerated(NamedTuple):
    """A device taint that the request does not tolerate."""

    key: str
    value: str
    effect: str


class CapacityMissing(NamedTuple):
    """A requested capacity that the device does not have."""

    name: str


class PolicyViolated(NamedTuple):
    """An amount that the device's request policy does not allow."""

    name: str
    amount: str


class CapacityShort(NamedTuple):
    """A capacity that has less left than the request needs. Amounts are in nano-units."""

    name: str
    need: int
    left: int


class CounterShort(NamedTuple):
    """A counter that has less left than the device needs. Amounts are in nano-units.

    The device itself may not consume the counter (Q7).
    """

    counter_set: str
    counter: str
    need: int
    left: int


class AttributeMissing(NamedTuple):
    """An attribute that a constraint compares but that the device does not have."""

    constraint: int
    attribute: str


class AttributeDiffers(NamedTuple):
    """A value that differs from the value of the devices that were taken before. matchAttribute does not allow this."""

    constraint: int
    attribute: str
    offered: object
    pinned: object


class AttributeRepeats(NamedTuple):
    """A value that a device taken before already has. distinctAttribute does not allow this."""

    constraint: int
    attribute: str
    offered: object
    by: str


ConstraintReason = AttributeMissing | AttributeDiffers | AttributeRepeats
"""The ways in which a device breaks a constraint."""

CapacityReason = CapacityMissing | PolicyViolated | CapacityShort
"""The reasons why a device's capacity cannot serve a request."""

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
"""The reasons why a device was not given to a request."""


class NothingMatches(NamedTuple):
    """A request for all matching devices, on a node that has no matching device."""


class TooManyDevices(NamedTuple):
    """A claim that would get more devices than a claim may have."""

    need: int
    limit: int


RequestReason = NothingMatches | TooManyDevices
"""The reasons why a request was rejected before any device was tried."""


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
"""The kinds of errors; docs/reasons.md describes each."""


class Cause(Struct, frozen=True):
    """The reason why an attempt ends with an error: the kind of the error, upstream's text, and the objects involved.

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
    """Raised when an error ends the whole scheduling attempt of the pod, on all nodes."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to rebuild the error in another process."""
        return type(self), (self.cause,)


class SelectorError(AllocationError):
    """Raised when a selector does not compile, or when it fails on a device.

    `position` is the selector's index in its class or request. `detail` is the message of CEL. `device` is the device
    on which the selector failed, or None if the selector does not compile. `of_device` is true if no selector at all
    can be evaluated on this device.
    """

    def __init__(
        self, cause: Cause, position: int, expression: str, detail: str, device: object = None, of_device: bool = False
    ) -> None:
        super().__init__(cause)
        self.position, self.expression, self.detail = position, expression, detail
        self.device, self.of_device = device, of_device

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to rebuild the error in another process."""
        parts = (self.cause, self.position, self.expression, self.detail, self.device, self.of_device)
        return SelectorError, parts


class NodeAllocationError(DraPlanError):
    """Raised when an error rejects only this node."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to rebuild the error in another process."""
        return type(self), (self.cause,)


class StepsExhaustedError(DraPlanError):
    """Raised when the step budget is used up before the search ends. The outcome is then undecided."""
