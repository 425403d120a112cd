"""The reasons of an AllocationPlan's nodes: for each node a flat list, the cause first.

Every code is described in docs/reasons.md.
"""

from __future__ import annotations

from msgspec.structs import replace

from dra_plan.allocator import Outcome
from dra_plan.documents.reasons import NodeReason, Reason

from . import collisions, device_parts, reason_parts
from .blocking import SAME_EVERYWHERE, BlockingSet
from .explainer import SetExplanation
from .funnel import NodeOffer
from .groups import NodeGroup
from .names import claim_name, device_name, request_name


def reasons_by_node(told: SetExplanation) -> dict[str, list[Reason]]:
    """The reasons of every node that was asked."""
    return {
        node.metadata.name: reasons(group, position)
        for group in told.groups
        for position, node in enumerate(group.nodes)
    }


def reasons(group: NodeGroup, position: int) -> list[Reason]:
    """Why the claims do not fit on the node at this position of the group: the cause first."""
    if group.answer.outcome is Outcome.FITS and not group.elsewhere:
        return []
    made: list[Reason] = []
    if group.defect is not None:
        made.append(replace(reason_parts.defect(group.defect), code="upstream-defect"))
    if group.error is not None:
        made.append(reason_parts.fault(group.error))
    made += [NodeReason(code="claim-elsewhere", claim=claim_name(claim)) for claim in group.elsewhere]
    if group.answer.outcome is Outcome.UNDECIDED:
        made.append(NodeReason(code="undecided", steps=group.answer.steps))
    offer = group.offers[position]
    if offer is not None and group.answer.outcome is not Outcome.ERROR:
        made += _view_reasons(group, offer)
    return made


def _view_reasons(group: NodeGroup, offer: NodeOffer) -> list[Reason]:
    made: list[Reason] = []
    if offer.devices == 0:
        made.append(NodeReason(code="no-devices"))
    failing = [funnel for funnels in offer.failing() for funnel in funnels]
    for funnel in failing:
        about = request_name(funnel.want)
        made.append(
            NodeReason(
                code=funnel.problem or "", **about, need=funnel.need, left=len(funnel.left), devices=funnel.devices
            )
        )
        for found in funnel.removals:
            told = device_parts.removal(offer, funnel, found)
            made.append(replace(told, **about, device=device_name(found.devices[0].id)))
    made += [reason_parts.pool(found) for found in offer.unusable]
    if not failing and group.answer.outcome is Outcome.DOES_NOT_FIT and not group.elsewhere:
        made.append(replace(collisions.blocking_set(offer, _blocking(group, offer)), code="not-together"))
    return made


def _blocking(group: NodeGroup, offer: NodeOffer) -> BlockingSet:
    """The group's blocking set; on other nodes than the first only what means the same there, and not proven."""
    found = group.blocking or BlockingSet((), proven=False)
    if offer is group.offer:
        return found
    kept = tuple(element for element in found.elements if isinstance(element, SAME_EVERYWHERE))
    return BlockingSet(kept, proven=False)
