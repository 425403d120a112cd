"""Why requests, nodes and claim sets are not satisfied. Explanations and plans contain these reasons.

docs/reasons.md describes every code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from dra_plan.allocator import Outcome
from dra_plan.documents.base import (
    Amount,
    ClaimName,
    DeviceName,
    DocumentPart,
    ObjectName,
    PoolName,
    Position,
    RequestName,
    SchedulerText,
    ServedResource,
    Text,
    one_of,
)
from dra_plan.documents.devices import ClaimHolder, FoundValue, RemovedDevices


class UnusablePool(DocumentPart, frozen=True, kw_only=True):
    """A pool that the allocator skips."""

    code: Annotated[str, one_of("pool-incomplete", "pool-invalid", "pool-obsolete", "devices-with-counters")]
    pool: PoolName
    generation: int
    devices: Amount
    slices: Annotated[list[str], Meta(description="The slices that cause the pool to be skipped.")]
    seen: Amount | None = None
    expected: int | None = None
    problem: str = ""
    hint: Annotated[str, Meta(description="The counter set or counter that was probably meant.")] = ""
    absent: Annotated[str, Meta(description="The counter set that devices consume but no slice publishes.")] = ""
    superseded_by: int | None = None
    counts: Annotated[
        list[int],
        Meta(description="The values of resourceSliceCount, if the slices of one generation disagree."),
    ] = []


class KnownDefect(DocumentPart, frozen=True, kw_only=True):
    """A known defect of the release."""

    id: str
    issue: int | None
    title: str


class OwedToDefects(DocumentPart, frozen=True, kw_only=True):
    """Known defects of the release that change the answer, and the answer without them."""

    code: Annotated[str, one_of("upstream-defect"), Meta(description="Set only among the reasons in a plan.")] = ""
    defects: Annotated[list[KnownDefect], Meta(min_length=1)]
    promised: Annotated[str, one_of("Fits", "DoesNotFit", "NodeError", "Error")]


class TriedRewrite(DocumentPart, frozen=True, kw_only=True):
    """A rewritten selector that does not fail, and the answer with it."""

    expression: str
    outcome: str


class UnreadyPod(DocumentPart, frozen=True, kw_only=True):
    """A pod that is not ready, and the reason."""

    pod: Annotated[Text, Meta(description="The pod, as NAMESPACE/NAME.")]
    node: str
    reason: Annotated[str, Meta(description="The one-word reason why its first waiting container waits.")] = ""
    message: Annotated[str, Meta(description="The message of the kubelet or the scheduler.")] = ""
    container: Annotated[str, Meta(description="The name of the first waiting container.")] = ""


class AttemptFault(DocumentPart, frozen=True, kw_only=True):
    """The error that ended the scheduling attempt."""

    code: str
    message: SchedulerText
    object: ObjectName | None = None
    template: Annotated[
        str, Meta(description="The template of the claim, if `object` is a claim that is created from a template.")
    ] = ""
    missing: ObjectName | None = None
    maker: Annotated[
        ObjectName | None, Meta(description="The object from which a controller creates the claim template `missing`.")
    ] = None
    maker_pods: Annotated[
        list[UnreadyPod], Meta(description="The pods of this controller that were found and are not ready.")
    ] = []
    source: str | None = None
    device: DeviceName | None = None
    rewrite: TriedRewrite | None = None
    request: str | None = None
    selector: Position | None = None
    expression: str | None = None
    known: list[str] = []
    hint: str | None = None
    gate: str | None = None


# -- what can't be met together ------------------------------------------------------------------------------------


class CompetingRequest(RequestName, frozen=True, kw_only=True):
    """A request that competes with other requests of the same pod."""

    serves: Annotated[
        ServedResource | None,
        Meta(description="What the request is for, if the scheduler created it for an extended resource."),
    ] = None


class BlockingRequest(CompetingRequest, frozen=True, kw_only=True, tag_field="kind", tag="request"):
    """A request in a blocking set.

    If it has no alternatives, it lists the devices that pass every check when nothing is allocated.
    """

    entry: Annotated[str, Meta(description="For a claim from a template: its name in the pod's resourceClaims.")] = ""
    need: Amount | None = None
    left: Amount | None = None
    left_devices: list[DeviceName] | None = None


class MetValues(DocumentPart, frozen=True, kw_only=True):
    """The values of a constraint's attribute on the devices that are left for a request."""

    request: str
    values: list[FoundValue]
    other_values: Amount
    missing: Amount


class BlockingConstraint(DocumentPart, frozen=True, kw_only=True, tag_field="kind", tag="constraint"):
    """A constraint in a blocking set, identified by its position in the claim."""

    claim: ClaimName
    constraint: Position
    match_attribute: str | None = None
    distinct_attribute: str | None = None
    requests: list[str]
    values: Annotated[list[MetValues], Meta(description=("The values that the constraint compares, by request."))] = []


class BlockingCounter(DocumentPart, frozen=True, kw_only=True, tag_field="kind", tag="counter"):
    """A counter in a blocking set."""

    pool: PoolName
    counter_set: str
    counter: str
    left: str = ""
    total: str = ""


class BlockingClaim(DocumentPart, frozen=True, kw_only=True, tag_field="kind", tag="claim"):
    """A claim with devices in a blocking set."""

    claim: ClaimHolder


BlockingElement = BlockingRequest | BlockingConstraint | BlockingCounter | BlockingClaim


class NeededAmount(CompetingRequest, frozen=True, kw_only=True):
    """The smallest amount of a shared resource that is enough for a request."""

    need: str


class Shortage(DocumentPart, frozen=True, kw_only=True):
    """A counter, or a capacity of a shared device, that is insufficient for several requests together."""

    pool: PoolName | None = None
    counter_set: str = ""
    name: Annotated[str, Meta(description="The name of the counter or capacity.")]
    devices: Annotated[list[DeviceName], Meta(description="For a capacity: some of the devices that have it.")] = []
    needs: list[NeededAmount]
    sum: str
    left: str


class SeenCounterSet(DocumentPart, frozen=True, kw_only=True):
    """A counter set of a pool, with the remaining and the total amount of each counter."""

    pool: PoolName
    counter_set: str
    total: dict[str, str]
    left: dict[str, str]


class NotTogether(DocumentPart, frozen=True, kw_only=True):
    """A blocking set: a minimal set of requests, constraints, counters and claims that cannot all be satisfied."""

    code: Annotated[str, one_of("not-together"), Meta(description="Set only among the reasons in a plan.")] = ""
    proven: Annotated[
        bool,
        Meta(
            description=(
                "True if trials without known defects have shown that the other elements fit when any one is left out."
            )
        ),
    ]
    elements: list[BlockingElement]
    shortages: Annotated[
        list[Shortage],
        Meta(description=("The counters and capacities that are insufficient for all requests together.")),
    ] = []
    need: Annotated[
        Amount, Meta(description="The total number of devices that the requests need, if too few are left.")
    ] = 0
    left: Annotated[Amount, Meta(description="The number of devices left for any of the requests.")] = 0


# -- the reasons of a plan -----------------------------------------------------------------------------------------


class NodeReason(DocumentPart, frozen=True, kw_only=True):
    """A reason that concerns a whole request, claim or node, not single devices."""

    code: str
    claim: ClaimName | None = None
    request: str = ""
    need: Amount | None = None
    left: Amount | None = None
    devices: Amount | None = None
    steps: Amount | None = None


Reason = NodeReason | RemovedDevices | UnusablePool | OwedToDefects | NotTogether | AttemptFault


REASONS = (NodeReason, RemovedDevices, UnusablePool, OwedToDefects, NotTogether, AttemptFault)


if TYPE_CHECKING:
    AnyReason = Reason
else:
    AnyReason = Any  # as above


class LeadingReason(DocumentPart, frozen=True, kw_only=True):
    """A reason and the number of nodes to which it applies. docs/reasons.md describes the codes."""

    code: Text
    class_: Annotated[
        str,
        Meta(description="The class whose selector rejects the devices. Absent for the request's own selector."),
    ] = ""
    name: Annotated[
        str, Meta(description="The attribute, capacity, counter or taint that the reason concerns, if any.")
    ] = ""
    pool: Annotated[PoolName | None, Meta(description="invalid-pools: the invalid pool on the first node.")] = None
    hint: Annotated[str, Meta(description="invalid-pools: the name that the driver probably meant.")] = ""
    request: str = ""
    need: Annotated[Amount | None, Meta(description="The number of devices that the request needs on the nodes.")] = (
        None
    )
    left: Annotated[
        Amount | None, Meta(description=("The largest number of devices left for the request on any of the nodes."))
    ] = None
    left_from: Annotated[
        Amount | None, Meta(description="The smallest number of devices left, if it differs between the nodes.")
    ] = None
    need_from: Annotated[
        Amount | None, Meta(description="The smallest number of devices needed, if it differs between the nodes.")
    ] = None
    need_to: Annotated[
        Amount | None, Meta(description=("The largest number of devices needed, if it differs between the nodes."))
    ] = None
    nodes: Annotated[int, Meta(ge=1)]


NodeAnswer = Annotated[Outcome, one_of("Fits", "DoesNotFit", "NodeError", "Error", "Undecided")]
"""The result for a node or a claim set.

NodeError applies only to nodes. Refused applies only to claim sets: the API server rejects the object, so the results
on nodes do not matter.
"""
