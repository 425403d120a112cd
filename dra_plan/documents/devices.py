"""Devices in documents: the checks that a device must pass, and the decisive parts of selectors."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta

from dra_plan.api.resource import CapacityRequestPolicy, ResourceClaim
from dra_plan.documents.base import (
    Amount,
    ClaimName,
    DeviceName,
    DocumentPart,
    ObjectName,
    Position,
    Text,
    any_of,
    one_of,
)


class FoundValue(DocumentPart, frozen=True, kw_only=True):
    """A value and the number of devices that have it."""

    type: str
    value: Any
    count: Amount


class FoundName(DocumentPart, frozen=True, kw_only=True):
    """An attribute or capacity that a selector reads, with the values that devices publish."""

    kind: Annotated[str, one_of("attribute", "capacity", "domain", "driver")]
    domain: str
    name: str
    values: list[FoundValue]
    other_values: Amount
    missing: Amount
    problem: Annotated[
        str | None, one_of(None, "missing", "wrong-domain", "unknown-domain", "wrong-kind", "wrong-type", "unordered")
    ]
    hint: Annotated[str | None, Meta(description=("The name, domain, kind or type that was probably meant."))] = None
    known: Annotated[list[str], Meta(description="If there is no hint, the known names in this domain.")] = []


class ComputedValue(DocumentPart, frozen=True, kw_only=True):
    """A value that a part of a selector evaluates to, and the number of devices with this result."""

    value: str
    count: Amount


class ComputedPart(DocumentPart, frozen=True, kw_only=True):
    """A part of a selector, and the values that it evaluates to."""

    part: str
    values: list[ComputedValue]


class DecidingClause(DocumentPart, frozen=True, kw_only=True):
    """The decisive part of a selector, and the values that devices have for its attributes and capacities.

    Device counts are totals over all nodes with the same reasons.
    """

    clause: str
    count: Annotated[int, Meta(ge=1)]
    found: list[FoundName]
    computed: list[ComputedPart] = []
    error: str | None = None


DEVICE_CODES = (
    "pool-unusable",
    "in-use",
    "binding-conditions-off",
    "selector-error",
    "selector-false",
    "other-node",
    "capacity-missing",
    "capacity-policy",
    "capacity-short",
    "counters-off",
    "counter-short",
    "not-tolerated",
    "attribute-missing",
    "attribute-differs",
    "attribute-repeats",
)
"""The codes of reasons that concern single devices."""


CHOICE_CODES = ("taken-already", "led-nowhere")
"""The codes of reasons why a search skipped a device and chose a later one."""


CheckName = Annotated[
    str, one_of("pool", "in-use", "feature", "selector", "node", "capacity", "counter", "taint", "constraint")
]
"""The allocator's check that a reason comes from."""


class ClaimHolder(DocumentPart, frozen=True, kw_only=True):
    """A claim with allocated devices, and the pods that it is reserved for."""

    namespace: str
    name: str
    pods: list[str]
    own: Annotated[bool, Meta(description="Whether the claim is part of the explained claim set.")] = False
    leaving: Annotated[
        list[str],
        Meta(
            description=(
                "The pods in `pods` that are being deleted. Only pool lists and node obstacles have this field."
            )
        ),
    ] = []
    finished: Annotated[
        bool,
        Meta(
            description=(
                "For node obstacles: whether all pods of the claim have finished. If not, `pods` contains "
                "only the pods that have not."
            )
        ),
    ] = False


def claim_holder(claim: ResourceClaim, leaving: Container[tuple[str, str]] = ()) -> ClaimHolder:
    """Return the claim as a holder of devices, with the pods that it is reserved for.

    `leaving` contains the namespaces and names of the pods that are being deleted.
    """
    users = claim.reserved_for
    pods = [user.name for user in users if user.resource == "pods"]
    namespace = claim.metadata.namespace
    ends = [name for name in pods if (namespace, name) in leaving]
    return ClaimHolder(namespace=namespace, name=claim.metadata.name, pods=pods, leaving=ends)


class TaintName(DocumentPart, frozen=True, kw_only=True):
    """A taint on a device or node."""

    key: str
    value: str
    effect: str


class EvictingDevice(DocumentPart, frozen=True, kw_only=True):
    """A device whose taint evicts a pod."""

    device: Annotated[str, Meta(description="The device, as DRIVER/POOL/DEVICE.")]
    taint: TaintName
    rule: Annotated[
        str, Meta(description="The DeviceTaintRule that sets the taint, or empty if the driver sets it.")
    ] = ""
    gate: Annotated[
        str,
        Meta(description="The feature gate that is off before the change, so that the taint evicts no pods there."),
    ] = ""


class AttributePublisher(DocumentPart, frozen=True, kw_only=True):
    """A driver, the number of its devices in the input, and the number of these devices that have an attribute."""

    driver: Text
    devices: Amount
    having: Amount


class ComparedAttribute(DocumentPart, frozen=True, kw_only=True):
    """An attribute that a constraint compares but some devices lack."""

    requests: Annotated[list[str], Meta(description="The requests whose devices are compared.")]
    distinct: Annotated[bool, Meta(description="Whether the values must be different. Otherwise, they must be equal.")]
    is_only: Annotated[bool, Meta(description="Whether the claim has no other constraint.")]
    drivers: Annotated[list[AttributePublisher], Meta(description="The drivers of the devices without the attribute.")]
    publishers: Annotated[list[str], Meta(description="Other drivers that publish the attribute.")]


class RemovedDevices(DocumentPart, frozen=True, kw_only=True):
    """Devices that are rejected for the same reason. The code determines which fields are set."""

    claim: Annotated[
        ClaimName | None, Meta(description="The claim of the request. Set only among the reasons in a plan.")
    ] = None
    request: Annotated[
        str, Meta(description="The request, or REQUEST/ALTERNATIVE. Set only among the reasons in a plan.")
    ] = ""
    code: Annotated[str, one_of(*DEVICE_CODES)]
    step: CheckName
    count: Annotated[int, Meta(ge=1)]
    state: str = ""
    selector: Position | None = None
    expression: str = ""
    class_: str = ""
    error: str = ""
    capacity: str = ""
    amount: str = ""
    counter_set: str = ""
    counter: str = ""
    need: Annotated[
        str,
        Meta(
            description=("If an amount is short: the smallest amount that the request needs from any of the devices.")
        ),
    ] = ""
    need_to: Annotated[str, Meta(description="The largest amount needed, if it differs between the devices.")] = ""
    left: Annotated[str, Meta(description="The largest amount left on any of the devices.")] = ""
    left_from: Annotated[str, Meta(description="The smallest amount left, if it differs between the devices.")] = ""
    taint: TaintName | None = None
    tolerated: Annotated[
        str,
        Meta(description="not-tolerated: the request's toleration with the same key, written as a taint."),
    ] = ""
    constraint: Position | None = None
    attribute: str = ""
    compared: Annotated[
        ComparedAttribute | None,
        Meta(
            description=(
                "attribute-missing: the attribute that the constraint compares, and the drivers that publish it."
            )
        ),
    ] = None
    offered: Any = UNSET
    pinned: Any = UNSET
    wanted: Annotated[Amount | None, Meta(description="in-use: the number of devices that match the selectors.")] = None
    published: Annotated[
        list[str] | None, Meta(description=("capacity-missing: the names of the capacities that the devices do have."))
    ] = None
    policies: list[CapacityRequestPolicy] | None = None
    asked: Annotated[
        str, Meta(description="capacity-policy, capacity-short: the requested amount before rounding.")
    ] = ""
    unasked: Annotated[
        str,
        one_of("", "default", "whole"),
        Meta(
            description=(
                "capacity-short: the amount that applies if the request states none, which is the policy's "
                "default or the whole capacity."
            )
        ),
    ] = ""
    holders: list[ClaimHolder] = []
    holders_on: Annotated[
        str,
        Meta(
            description=(
                "The node to which `holders` applies, if the claims that hold the devices differ between nodes."
            )
        ),
    ] = ""
    examples: list[DeviceName]
    count_from: Annotated[
        Amount | None, Meta(description=("The smallest number of rejected devices on any of the nodes."))
    ] = None
    count_to: Amount | None = None
    selectors: list[DecidingClause] | None = None
    device: Annotated[
        DeviceName | None, Meta(description="The first of the devices. Set only among the reasons in a plan.")
    ] = None


class PassedOver(DocumentPart, frozen=True, kw_only=True):
    """Devices that were skipped for the same reason. The code determines which fields are set."""

    code: Annotated[str, one_of(*DEVICE_CODES, *CHOICE_CODES)]
    state: str = ""
    selector: Position | None = None
    expression: str = ""
    class_: str = ""
    error: str = ""
    capacity: str = ""
    amount: str = ""
    counter_set: str = ""
    counter: str = ""
    need: str = ""
    left: str = ""
    taint: TaintName | None = None
    constraint: Position | None = None
    attribute: str = ""
    offered: Any = UNSET
    pinned: Any = UNSET
    count: Annotated[int, Meta(ge=1)]
    examples: list[DeviceName]
    holders: list[ClaimHolder] = []


class SelectorDetail(DocumentPart, frozen=True, kw_only=True):
    """A selector and its result for a device."""

    class_: str | None
    selector: Position
    expression: str
    result: bool | None
    error: str = ""
    selectors: list[DecidingClause] | None = None


class CapacityDetail(DocumentPart, frozen=True, kw_only=True):
    """A capacity of a device, and the amount that a request consumes."""

    capacity: str
    need: str
    left: str
    total: str


class CounterDetail(DocumentPart, frozen=True, kw_only=True):
    """A counter, and the amount that a device consumes. The amount left is null if the pool has no such counter."""

    counter_set: str
    counter: str
    need: str
    left: str | None


class TaintDetail(TaintName, frozen=True, kw_only=True):
    """A taint on a device, and whether a request does not tolerate it."""

    blocks: bool
    tolerated: bool


class ConstraintDetail(DocumentPart, frozen=True, kw_only=True):
    """A constraint, and the value that it compares on the device, or null if the device has no such value."""

    constraint: Position
    attribute: str
    value: Any


Detail = SelectorDetail | CapacityDetail | CounterDetail | TaintDetail | ConstraintDetail


DETAILS = (SelectorDetail, CapacityDetail, CounterDetail, TaintDetail, ConstraintDetail)


if TYPE_CHECKING:
    AnyDetail = Detail
else:
    AnyDetail = Any  # a union without a distinguishing field cannot be decoded


class DeviceCheck(DocumentPart, frozen=True, kw_only=True):
    """A check that a device passed or failed. If it failed, the code determines which fields are set."""

    step: CheckName
    passed: bool
    code: Annotated[str, one_of(*DEVICE_CODES)] = ""
    state: str = ""
    selector: Position | None = None
    expression: str = ""
    class_: str = ""
    error: str = ""
    capacity: str = ""
    amount: str = ""
    counter_set: str = ""
    counter: str = ""
    need: str = ""
    left: str = ""
    taint: TaintName | None = None
    constraint: Position | None = None
    attribute: str = ""
    offered: Any = UNSET
    pinned: Any = UNSET
    details: Annotated[list[AnyDetail], Meta(extra_json_schema={"items": any_of(*DETAILS)})] = []


class ChangedValue(DocumentPart, frozen=True, kw_only=True):
    """An attribute, capacity or other field of a pool's devices that was changed, added or removed."""

    field: Text
    devices: Annotated[Amount, Meta(description="The number of devices for which the field changed.")]
    before: Annotated[
        str | None, Meta(description="The value on the first of these devices, or null if the device had none.")
    ]
    after: str | None


class ChangedPool(DocumentPart, frozen=True, kw_only=True):
    """A pool that drivers publish differently after the change."""

    driver: Text
    pool: Text
    change: Literal["New", "Gone", "Changed"]
    devices_gone: list[str] = []
    devices_new: list[str] = []
    values: list[ChangedValue] = []


class ChangedSelector(DocumentPart, frozen=True, kw_only=True):
    """A selector that matches a different number of devices after the change."""

    expression: Text
    used_by: list[ObjectName]
    reads_gone: Annotated[
        list[str],
        Meta(description="The attributes in the selector that no device has any more, as DOMAIN/NAME."),
    ] = []
    edited_from: Annotated[str, Meta(description="The original selector, if the selector was edited.")] = ""
    lost: Annotated[
        bool,
        Meta(description="True if the selector no longer matches any devices although pods or workloads still use it."),
    ] = False
    before: Annotated[
        Amount,
        Meta(
            description=(
                "The number of devices that the selector matched before the change, in pools with all their slices."
            )
        ),
    ]
    after: Amount
    in_use: Annotated[
        Amount,
        Meta(description="The number of devices from classes with this selector that claims had before the change."),
    ] = 0
    erring: Annotated[
        Amount, Meta(description="The number of devices on which the selector fails with an error after the change.")
    ] = 0
    erring_pools: Annotated[list[str], Meta(description="The pools of the devices in `erring`, as DRIVER/POOL.")] = []
    error: Annotated[str, Meta(description="The error on the first device in `erring`, or empty if there is none.")] = (
        ""
    )
    stops: Annotated[
        bool,
        Meta(
            description=(
                "True if the selector is in use and fails on more devices than before. Its error ends the "
                "scheduling attempt on all nodes as soon as one of these devices is checked."
            )
        ),
    ] = False
