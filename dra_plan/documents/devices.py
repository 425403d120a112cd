"""Devices in documents: the checks that each must pass, and the deciding parts of a selector."""

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
    """A value, and the number of devices that have it."""

    type: str
    value: Any
    count: Amount


class FoundName(DocumentPart, frozen=True, kw_only=True):
    """An attribute or capacity that a selector reads, with the values that devices publish for it."""

    kind: Annotated[str, one_of("attribute", "capacity", "domain", "driver")]
    domain: str
    name: str
    values: list[FoundValue]
    other_values: Amount
    missing: Amount
    problem: Annotated[
        str | None, one_of(None, "missing", "wrong-domain", "unknown-domain", "wrong-kind", "wrong-type", "unordered")
    ]
    hint: Annotated[str | None, Meta(description=("The name, domain, kind or type that was probably intended."))] = None
    known: Annotated[list[str], Meta(description="If there is no hint: the names in this domain.")] = []


class ComputedValue(DocumentPart, frozen=True, kw_only=True):
    """A value that part of a selector has, and the number of devices for which it has this value."""

    value: str
    count: Amount


class ComputedPart(DocumentPart, frozen=True, kw_only=True):
    """A part of a selector, with the values that it has for devices."""

    part: str
    values: list[ComputedValue]


class DecidingClause(DocumentPart, frozen=True, kw_only=True):
    """The part of a selector that decides, and the values that devices have for the attributes and capacities in it.

    Numbers of devices are totals over all nodes of the story.
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
"""Codes of reasons that concern one device."""


CHOICE_CODES = ("taken-already", "led-nowhere")
"""Codes of reasons that exist only during a search: why a device was skipped for a later one."""


CheckName = Annotated[
    str, one_of("pool", "in-use", "feature", "selector", "node", "capacity", "counter", "taint", "constraint")
]
"""A step of the allocator's checks."""


class ClaimHolder(DocumentPart, frozen=True, kw_only=True):
    """A claim with allocated devices, and the pods that may use the claim."""

    namespace: str
    name: str
    pods: list[str]
    own: Annotated[bool, Meta(description="True if the claim belongs to this claim set.")] = False
    leaving: Annotated[
        list[str],
        Meta(
            description="The pods among them that are being deleted. Only lists of pools and obstacles of nodes have "
            "this field."
        ),
    ] = []
    finished: Annotated[
        bool,
        Meta(
            description="In the obstacles of nodes: True if all pods of the claim have finished. `pods` then is empty; "
            "otherwise, it has only those that have not."
        ),
    ] = False


def claim_holder(claim: ResourceClaim, leaving: Container[tuple[str, str]] = ()) -> ClaimHolder:
    """Return the claim as a holder of devices, with the pods for which it is reserved.

    `leaving` has the namespaces and names of pods that are being deleted.
    """
    users = claim.reserved_for
    pods = [user.name for user in users if user.resource == "pods"]
    namespace = claim.metadata.namespace
    ends = [name for name in pods if (namespace, name) in leaving]
    return ClaimHolder(namespace=namespace, name=claim.metadata.name, pods=pods, leaving=ends)


class TaintName(DocumentPart, frozen=True, kw_only=True):
    """A taint of a device or node."""

    key: str
    value: str
    effect: str


class EvictingDevice(DocumentPart, frozen=True, kw_only=True):
    """A device whose taint evicts a pod."""

    device: Annotated[str, Meta(description="The device, as DRIVER/POOL/DEVICE.")]
    taint: TaintName
    rule: Annotated[str, Meta(description="The DeviceTaintRule that sets the taint; empty if the driver sets it.")] = ""
    gate: Annotated[
        str,
        Meta(
            description="The feature gate that is off in the first state, so that the taint does not evict pods there."
        ),
    ] = ""


class AttributePublisher(DocumentPart, frozen=True, kw_only=True):
    """A driver, the number of its devices in the input, and the number of those that have an attribute."""

    driver: Text
    devices: Amount
    having: Amount


class ComparedAttribute(DocumentPart, frozen=True, kw_only=True):
    """An attribute that a constraint compares and that devices lack."""

    requests: Annotated[list[str], Meta(description="The requests whose devices the constraint compares.")]
    distinct: Annotated[bool, Meta(description="Whether the values must differ; otherwise, they must be the same.")]
    is_only: Annotated[bool, Meta(description="Whether the claim has no other constraint.")]
    drivers: Annotated[list[AttributePublisher], Meta(description="The drivers of the devices that lack it.")]
    publishers: Annotated[list[str], Meta(description="The other drivers that publish the attribute.")]


class RemovedDevices(DocumentPart, frozen=True, kw_only=True):
    """Devices that are rejected for the same reason. Which fields are set depends on the code."""

    claim: Annotated[
        ClaimName | None, Meta(description="Only among the reasons of a plan: the claim of the request.")
    ] = None
    request: Annotated[
        str, Meta(description="Only among the reasons of a plan: the request, or REQUEST/ALTERNATIVE.")
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
        Meta(description=("If amounts are short: the smallest amount that the request needs from one of the devices.")),
    ] = ""
    need_to: Annotated[str, Meta(description="The largest amount needed, if the devices differ.")] = ""
    left: Annotated[str, Meta(description="The largest amount that is left on one of the devices.")] = ""
    left_from: Annotated[str, Meta(description="The smallest amount that is left, if the devices differ.")] = ""
    taint: TaintName | None = None
    tolerated: Annotated[
        str,
        Meta(
            description="not-tolerated: the request's toleration of a taint with the same key, in the form of a taint."
        ),
    ] = ""
    constraint: Position | None = None
    attribute: str = ""
    compared: Annotated[
        ComparedAttribute | None, Meta(description="attribute-missing: what the constraint compares, and who has it.")
    ] = None
    offered: Any = UNSET
    pinned: Any = UNSET
    wanted: Annotated[Amount | None, Meta(description="in-use: the number of devices that match the selectors.")] = None
    published: Annotated[
        list[str] | None, Meta(description=("capacity-missing: the names of the capacities that the devices have."))
    ] = None
    policies: list[CapacityRequestPolicy] | None = None
    asked: Annotated[
        str, Meta(description="capacity-policy, capacity-short: the requested amount before it is rounded.")
    ] = ""
    unasked: Annotated[
        str,
        one_of("", "default", "whole"),
        Meta(
            description="capacity-short: if the request states no amount, what applies instead: the default of the "
            "policy or the whole capacity."
        ),
    ] = ""
    holders: list[ClaimHolder] = []
    holders_on: Annotated[
        str, Meta(description=("The node of these holders, if other nodes of the story have other holders."))
    ] = ""
    examples: list[DeviceName]
    count_from: Annotated[Amount | None, Meta(description=("The smallest count on any node of the story."))] = None
    count_to: Amount | None = None
    selectors: list[DecidingClause] | None = None
    device: Annotated[
        DeviceName | None, Meta(description="Only among the reasons of a plan: the first of the devices.")
    ] = None


class PassedOver(DocumentPart, frozen=True, kw_only=True):
    """Devices that were skipped for the same reason. Which fields are set depends on the code."""

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
    """A selector, and its result on a device."""

    class_: str | None
    selector: Position
    expression: str
    result: bool | None
    error: str = ""
    selectors: list[DecidingClause] | None = None


class CapacityDetail(DocumentPart, frozen=True, kw_only=True):
    """A capacity of a device, and the amount of it that a request consumes."""

    capacity: str
    need: str
    left: str
    total: str


class CounterDetail(DocumentPart, frozen=True, kw_only=True):
    """A counter, and the amount of it that a device consumes.

    If the pool has no such counter, the amount left is null.
    """

    counter_set: str
    counter: str
    need: str
    left: str | None


class TaintDetail(TaintName, frozen=True, kw_only=True):
    """A taint of a device, and whether it keeps a request away."""

    blocks: bool
    tolerated: bool


class ConstraintDetail(DocumentPart, frozen=True, kw_only=True):
    """A constraint, and the value that it compares on the device. The value is null if the device has no such value."""

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
    """A check of a device, which either passed or failed. If it failed, the code determines which fields are set."""

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
    """An attribute, a capacity or another field of a pool's devices that changed.

    The field may also exist only before the change, or only after it.
    """

    field: Text
    devices: Annotated[Amount, Meta(description="The number of devices for which the field changed.")]
    before: Annotated[
        str | None, Meta(description="The value on the first of these devices; null if the device had none.")
    ]
    after: str | None


class ChangedPool(DocumentPart, frozen=True, kw_only=True):
    """A pool for which drivers publish something different before and after the change."""

    driver: Text
    pool: Text
    change: Literal["New", "Gone", "Changed"]
    devices_gone: list[str] = []
    devices_new: list[str] = []
    values: list[ChangedValue] = []


class ChangedSelector(DocumentPart, frozen=True, kw_only=True):
    """A selector that matches a different number of devices before and after the change."""

    expression: Text
    used_by: list[ObjectName]
    reads_gone: Annotated[
        list[str],
        Meta(description="The attributes that the selector reads and that no device has any longer, as DOMAIN/NAME."),
    ] = []
    edited_from: Annotated[str, Meta(description="The earlier selector, if the selector itself was edited.")] = ""
    lost: Annotated[
        bool,
        Meta(
            description="True if the selector matched devices before and matches none after, although pods or "
            "workloads still use it."
        ),
    ] = False
    before: Annotated[
        Amount,
        Meta(description="The number of devices that the selector matches, in pools that have all their slices."),
    ]
    after: Amount
    in_use: Annotated[
        Amount,
        Meta(description="The number of devices of classes with this selector that claims had before the change."),
    ] = 0
    erring: Annotated[
        Amount, Meta(description="The number of devices after the change on which the selector fails with an error.")
    ] = 0
    erring_pools: Annotated[list[str], Meta(description="The pools of these devices, as DRIVER/POOL.")] = []
    error: Annotated[str, Meta(description="The first of these errors; empty if there are none.")] = ""
    stops: Annotated[
        bool,
        Meta(
            description="True if the selector is used and fails on more devices than before. The error ends a pod's "
            "attempt on all nodes as soon as one of these devices is checked."
        ),
    ] = False
