"""Changes to claims, their requests and device classes: parts of suggestions."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from dra_plan.api.resource import DeviceToleration

from .base import Amount, ClaimName, DocumentPart, ObjectName, PoolName, Position, Text, one_of
from .devices import TaintName
from .stories import DriverPod


class OtherAmount(DocumentPart, frozen=True, kw_only=True):
    """The largest amount of a capacity or counter, before and after a change of the requested value.

    `from` is the amount on the devices with the old value, and `to` is the amount on those with the new value.
    """

    name: Text
    from_: str
    to: str


class SelectorChanged(DocumentPart, frozen=True, kw_only=True):
    """A selector of a class or a request is replaced, or removed if the new selector is null."""

    code: Annotated[
        str,
        one_of("guard-selector", "fix-spelling", "change-value", "loosen-selector", "drop-selector", "loosen-class"),
    ]
    class_: str = ""
    claim: ClaimName | None = None
    request: str = ""
    selector: Position
    expression: str
    replacement: str | None
    dropped: Annotated[str, Meta(description="The part of the selector that is dropped.")] = ""
    used_by: Annotated[
        list[ObjectName],
        Meta(description="For a selector of a class: the other claims and templates in the input that use the class."),
    ] = []
    amount: Annotated[
        OtherAmount | None,
        Meta(description="change-value: how the sizes of these devices and the requested ones differ."),
    ] = None


class RequestChange(DocumentPart, frozen=True, kw_only=True):
    """A change to a request or to an alternative."""

    code: str
    claim: ClaimName
    request: str


class TaintTolerated(RequestChange, frozen=True, kw_only=True):
    """A toleration is added."""

    code: Annotated[str, one_of("tolerate-taint")]
    toleration: DeviceToleration
    tainted: Annotated[
        list[str], Meta(description="The devices on the node with the taint, as DRIVER/POOL/DEVICE.")
    ] = []
    needed: Annotated[Amount, Meta(description="The smallest number of these devices that the request needs.")] = 0
    since: Annotated[
        str, Meta(description="The time at which the first of these devices got the taint, from timeAdded.")
    ] = ""


class TaintRuleDeleted(DocumentPart, frozen=True, kw_only=True):
    """A DeviceTaintRule is deleted, which removes its taint from devices."""

    code: Annotated[str, one_of("delete-taint-rule")]
    rule: Annotated[Text, Meta(description="The name of the DeviceTaintRule.")]
    taint: TaintName


class CountLowered(RequestChange, frozen=True, kw_only=True):
    """Fewer devices are requested, or a fixed number of devices instead of all that match."""

    code: Annotated[str, one_of("lower-count", "count-instead-of-all")]
    from_: int | None = None
    to: int
    claims: Annotated[
        int,
        Meta(
            description=(
                "The number of the pod's claims that come from the template. Each of them contains the request."
            )
        ),
    ] = 1


class CapacityChanged(RequestChange, frozen=True, kw_only=True):
    """A smaller amount of a capacity, another capacity, or no capacity is requested.

    `request-capacity`: an explicit amount replaces the one that applies if the request states none.
    """

    code: Annotated[str, one_of("lower-capacity", "request-capacity", "rename-capacity", "drop-capacity")]
    capacity: str
    from_: str = ""
    to: str = ""
    also: Annotated[
        dict[str, str],
        Meta(description="request-capacity: the amounts of other capacities that are requested too."),
    ] = {}


class ClassChanged(RequestChange, frozen=True, kw_only=True):
    """Another class is requested."""

    code: Annotated[str, one_of("change-class")]
    from_: str = ""
    to: str
    amount: Annotated[
        OtherAmount | None, Meta(description="How much less the devices have than those of the current class.")
    ] = None


class AlternativeAdded(RequestChange, frozen=True, kw_only=True):
    """An alternative is added."""

    code: Annotated[str, one_of("add-alternative")]
    class_: str
    count: Amount


class RequestDropped(RequestChange, frozen=True, kw_only=True):
    """The request is removed."""

    code: Annotated[str, one_of("drop-request")]


class ConstraintDropped(DocumentPart, frozen=True, kw_only=True):
    """A constraint is removed."""

    code: Annotated[str, one_of("drop-constraint")]
    claim: ClaimName
    constraint: Position
    attribute: str


class PoolAwaited(DocumentPart, frozen=True, kw_only=True):
    """The claim waits for the pool's missing slices."""

    code: Annotated[str, one_of("wait-for-slice")]
    pool: PoolName
    generation: int
    seen: Amount
    expected: int
    on: Annotated[str, Meta(description="The node of the slices, or empty if several nodes may use them.")] = ""
    driver_pods: Annotated[list[DriverPod], Meta(description="The driver's pods on that node that are not ready.")] = []
