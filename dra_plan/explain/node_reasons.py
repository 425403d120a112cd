"""The reasons of an AllocationPlan's nodes: for each node a flat list, the cause first.

Every code is described in docs/reasons.md.
"""

from __future__ import annotations

from typing import Any

from dra_plan.allocator import Outcome

from . import document
from .blocking import SAME_EVERYWHERE, BlockingSet
from .explainer import SetExplanation
from .funnel import Funnel, NodeOffer
from .groups import NodeGroup
from .suggest.change import about

Data = dict[str, Any]


def reasons_by_node(told: SetExplanation) -> dict[str, list[Data]]:
    """The reasons of every node that was asked."""
    return {
        node.metadata.name: reasons(group, position)
        for group in told.groups
        for position, node in enumerate(group.nodes)
    }


def reasons(group: NodeGroup, position: int) -> list[Data]:
    """Why the claims do not fit on the node at this position of the group: the cause first."""
    if group.answer.outcome is Outcome.FITS and not group.elsewhere:
        return []
    made: list[Data] = []
    if group.defect is not None:
        made.append({"code": "upstream-defect", **document.defect(group.defect)})
    if group.error is not None:
        made.append(document.fault(group.error))
    made += [{"code": "claim-elsewhere", "claim": document.name(claim)} for claim in group.elsewhere]
    if group.answer.outcome is Outcome.UNDECIDED:
        made.append({"code": "undecided", "steps": group.answer.steps})
    offer = group.offers[position]
    if offer is not None and group.answer.outcome is not Outcome.ERROR:
        made += _view_reasons(group, offer)
    return made


def _view_reasons(group: NodeGroup, offer: NodeOffer) -> list[Data]:
    made: list[Data] = []
    if offer.devices == 0:
        made.append({"code": "no-devices"})
    failing = [funnel for funnels in offer.failing() for funnel in funnels]
    for funnel in failing:
        made.append({"code": funnel.problem, **about(funnel.want), **_numbers(funnel)})
        for found in funnel.removals:
            told = document.removal(offer, funnel, found)
            made.append({**about(funnel.want), **told, "device": document.device_name(found.devices[0])})
    made += [document.pool(found) for found in offer.unusable]
    if not failing and group.answer.outcome is Outcome.DOES_NOT_FIT and not group.elsewhere:
        made.append({"code": "not-together", **document.blocking_set(offer, _blocking(group, offer))})
    return made


def _blocking(group: NodeGroup, offer: NodeOffer) -> BlockingSet:
    """The group's blocking set; on other nodes than the first only what means the same there, and not proven."""
    found = group.blocking or BlockingSet((), proven=False)
    if offer is group.offer:
        return found
    kept = tuple(element for element in found.elements if isinstance(element, SAME_EVERYWHERE))
    return BlockingSet(kept, proven=False)


def _numbers(funnel: Funnel) -> Data:
    return {"need": funnel.need, "left": len(funnel.left), "devices": funnel.devices}
