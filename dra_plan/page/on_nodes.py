"""Where a claim set fits, which devices it gets there, and why devices are rejected, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dra_plan.allocator import AllocationError, DeviceID, NodeOutcome, Outcome, View
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.devices import DeviceCheck
from dra_plan.documents.reasons import LeadingReason
from dra_plan.explanation import funnel
from dra_plan.explanation.document import leading_reasons
from dra_plan.explanation.funnel import NodeOffer
from dra_plan.explanation.placement import Placements
from dra_plan.explanation.reasons import code, refusal_fields
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.nodes import with_nodes
from dra_plan.scheduler.attempts import FailedAttempt

MOST_ASKED = 400
"""The maximum number of nodes for which reasons are computed, in addition to those in an explanation."""


@dataclass(frozen=True, slots=True)
class RefusedDevices:
    """Devices on a node that are rejected by the same check for the same request."""

    claim: str
    request: str
    check: DeviceCheck
    devices: tuple[DeviceID, ...]


@dataclass(frozen=True, slots=True)
class AnswerOnNode:
    """The result for a claim set on a node.

    The result is an outcome, or `Excluded` if the pod cannot run on the node for reasons other than devices.
    """

    outcome: str
    message: str = ""
    gets: tuple[tuple[DeviceID, str], ...] = ()
    """The devices that the claim set gets, each with its request."""
    refused: tuple[RefusedDevices, ...] = ()
    reason: LeadingReason | None = None
    """The main obstacle, if it is known from an explanation."""


def on_nodes(plans: Iterable[ClaimSetPlan], inventory: Inventory, view: View) -> list[dict[str, AnswerOnNode]]:
    """Return the result of each plan on every node."""
    nodes = {node.metadata.name: node for node in with_nodes(inventory, infer=True)[0].nodes}
    return [dict(_of_set(one, nodes, view)) for one in plans]


def at_attempt(
    attempt: FailedAttempt, told: Mapping[str, tuple[str, str]], most: int = MOST_ASKED
) -> dict[str, AnswerOnNode]:
    """Return the result of a pod's last attempt on the nodes in `told`, which maps nodes to outcomes and messages.

    The results describe the cluster at the time of the attempt. Devices are examined only on the first `most` nodes.
    """
    return refused_then(attempt.view(), attempt.nodes, attempt.claims, attempt.allocated, told, most)


def refused_then(
    view: View,
    nodes: Iterable[Node],
    claims: Sequence[ResourceClaim],
    allocated: Sequence[ResourceClaim],
    told: Mapping[str, tuple[str, str]],
    most: int = MOST_ASKED,
) -> dict[str, AnswerOnNode]:
    """Return the result for these claims on the nodes in `told`, which maps nodes to outcomes and messages.

    Devices are examined only on the first `most` nodes.
    """
    placements = Placements(view, claims, None, allocated)
    asked = [node for node in nodes if node.metadata.name in told] if claims else []
    offers = {node.metadata.name: _offer(placements, node) for node in asked[:most]}
    return {
        name: AnswerOnNode(outcome, message, refused=tuple(_refused(offers.get(name))))
        for name, (outcome, message) in told.items()
    }


def _of_set(plan: ClaimSetPlan, nodes: dict[str, Node], view: View) -> Iterator[tuple[str, AnswerOnNode]]:
    offers = {
        node.metadata.name: offer
        for group in (plan.explanation.groups if plan.explanation is not None else ())
        for node, offer in zip(group.nodes, group.offers, strict=True)
        if offer is not None
    }
    reasons = dict(_reasons(plan))
    placements = Placements(view, plan.claim_set.claims, None, plan.claim_set.allocated)
    asked = 0
    for found in plan.nodes:
        offer = offers.get(found.node)
        if offer is None and found.outcome is not Outcome.FITS and asked < MOST_ASKED and found.node in nodes:
            asked += 1
            offer = _offer(placements, nodes[found.node])
        excluded = plan.excluded.get(found.node, ())
        message = "; ".join(each.message for each in excluded) or str(found.error or "")
        outcome = "Excluded" if excluded else found.outcome.value
        yield (
            found.node,
            AnswerOnNode(outcome, message, tuple(_gets(found)), tuple(_refused(offer)), reasons.get(found.node)),
        )


def _reasons(plan: ClaimSetPlan) -> Iterator[tuple[str, LeadingReason]]:
    for group in plan.explanation.groups if plan.explanation is not None else ():
        for reason in leading_reasons([group])[:1]:
            yield from ((node.metadata.name, reason) for node in group.nodes)


def _offer(placements: Placements, node: Node) -> NodeOffer | None:
    try:
        return funnel.offer(placements.on(node))
    except AllocationError:
        return None


def _gets(found: NodeOutcome) -> Iterator[tuple[DeviceID, str]]:
    if found.outcome is Outcome.FITS:
        for allocation in found.allocations:
            for result in allocation.devices.results:
                yield DeviceID(result.driver, result.pool, result.device), result.request


def _refused(offer: NodeOffer | None) -> Iterable[RefusedDevices]:
    for each in offer.funnels if offer is not None else ():
        for removal in each.removals:
            fields = refusal_fields(removal.refusal)
            yield RefusedDevices(
                claim=each.want.claim.metadata.name,
                request=each.want.full_name,
                check=DeviceCheck(step=code(removal.refusal).step, passed=False, **fields),
                devices=tuple(device.id for device in removal.devices),
            )
