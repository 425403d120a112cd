"""Why a device or a request was refused, and how an allocation can end without an answer.

Reasons come first: values, never sentences; `output` words them. Then the errors, of the three kinds that upstream
keeps apart, and the step budget. An error's `cause` says what kind it is and what it is about; its text is upstream's,
to be shown and never to be parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dra_plan.errors import DraPlanError

from .identity import PoolID


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


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an attempt ends with an error: its kind, upstream's text, and what it is about; empty where nothing is.

    `claim` is NAMESPACE/NAME, `request` REQUEST or REQUEST/ALTERNATIVE, `gate` the feature gate that is off.
    """

    code: ErrorCode
    message: str
    claim: str = ""
    request: str = ""
    device_class: str = ""
    gate: str = ""
    pool: PoolID | None = None


class AllocationError(DraPlanError):
    """Ends the whole scheduling attempt of the pod, on all nodes."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle needs to make the error again in another process."""
        return type(self), (self.cause,)


class SelectorError(AllocationError):
    """A selector that does not compile, or fails on a device.

    `position` is its index among the selectors of its class or request, `detail` the language's own words, `device`
    the device it failed on (None: it does not compile); `of_device` says that no selector can be evaluated on it.
    """

    def __init__(
        self, cause: Cause, position: int, expression: str, detail: str, device: object = None, of_device: bool = False
    ) -> None:
        super().__init__(cause)
        self.position, self.expression, self.detail = position, expression, detail
        self.device, self.of_device = device, of_device

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle needs to make the error again in another process."""
        parts = (self.cause, self.position, self.expression, self.detail, self.device, self.of_device)
        return SelectorError, parts


class NodeAllocationError(DraPlanError):
    """Rejects only this node."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle needs to make the error again in another process."""
        return type(self), (self.cause,)


class StepsExhaustedError(DraPlanError):
    """The step budget ran out before the search ended: neither yes nor no."""
