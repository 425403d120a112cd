"""Which reason leads on nodes that refuse: of the devices that come nearest to being used, what stops most of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_plan.allocator import AllocationError, NodeOutcome, Outcome, View
from dra_plan.api.core import Node
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.leading import LeadingReason

from .blocking import BlockingSet, blocking_set
from .elements import ConstraintElement, CounterElement
from .errors import ErrorDetails
from .funnel import Funnel, NodeOffer, Removal
from .funnel import offer as offer_of
from .groups import NodeGroup
from .holders import wanted
from .node_selectors import decisive_parts_of
from .placement import Budget, Placement, Placements
from .reasons import code, refusal_fields

Cause = tuple[str, str, str]
"""A code, the class whose selector refuses, and the name that it is about; empty where there is none."""

BLOCKING_STEPS = 2_000
"""Search steps for what collides, where there are many claim sets to look at."""

_OTHER_KIND, _OTHER_DEVICE, _NEARLY = range(3)
"""How near a device comes: refused by the class's selector, by the request's, or by what comes after both."""


def leading_reasons(groups: Iterable[NodeGroup]) -> list[LeadingReason]:
    """The leading reasons of the nodes that refuse, the commonest first; nodes without any device come last."""
    found: dict[Cause, list[tuple[NodeGroup, list[Funnel]]]] = {}
    for group in groups:
        if group.answer.outcome is not Outcome.FITS or group.elsewhere:
            cause, funnel = _of_group(group)
            funnels: list[Funnel] = []
            if funnel is not None and group.offer is not None:
                funnels = list(group.funnels(group.offer.funnels.index(funnel)))
            found.setdefault(cause, []).append((group, funnels))
    made = [_reason(cause, told) for cause, told in found.items()]
    return sorted(made, key=lambda r: (r.code == "no-devices", -r.nodes, r.code, r.class_, r.name))


def of_nodes(
    view: View, claim_set: ClaimSet, nodes: Sequence[Node], answers: Sequence[NodeOutcome]
) -> list[LeadingReason]:
    """The leading reasons on nodes, found with little work: what collides is sought on one node, for a short time.

    `answers` are those for `nodes`, in the same order. That one node is the first by name, whatever that order is.
    """
    placements = Placements(view, claim_set.claims, BLOCKING_STEPS, claim_set.allocated)
    budget, groups = Budget(BLOCKING_STEPS, BLOCKING_STEPS), []
    collision: BlockingSet | None = None
    for node, answer in sorted(zip(nodes, answers, strict=True), key=lambda pair: pair[0].metadata.name):
        offer = _offer(placements.on(node))
        group = NodeGroup([node], [answer], [offer], elsewhere=claim_set.out_of_reach(node))
        if answer.error is not None:
            group.error = ErrorDetails(answer.error.cause.code, answer.message)
        elif offer is not None and not offer.failing():
            group.blocking = collision = collision or blocking_set(offer.placement, budget)
        elif offer is not None:
            group.decisive_parts = decisive_parts_of([offer])
        groups.append(group)
    return leading_reasons(groups)


def _offer(placement: Placement) -> NodeOffer | None:
    try:
        return offer_of(placement)
    except AllocationError:
        return None


def _reason(cause: Cause, told: Sequence[tuple[NodeGroup, list[Funnel]]]) -> LeadingReason:
    """The reason with the groups that have it, each with what its nodes have left for the request that fails."""
    funnels = [funnel for _, funnels in told for funnel in funnels]
    best = max(funnels, key=lambda funnel: (len(funnel.left), funnel.need, funnel.want.full_name), default=None)
    same = [funnel for funnel in funnels if best is not None and funnel.want.full_name == best.want.full_name]
    left, need = _spread([len(funnel.left) for funnel in same]), _spread([funnel.need for funnel in same])
    return LeadingReason(
        code=cause[0],
        class_=cause[1],
        name=cause[2],
        request=best.want.full_name if best is not None else "",
        need=best.need if best is not None else None,
        left=len(best.left) if best is not None else None,
        left_from=left[0] if left[0] != left[1] else None,
        need_from=need[0] if need[0] != need[1] else None,
        need_to=need[1] if need[0] != need[1] else None,
        nodes=sum(len(group.nodes) for group, _ in told),
    )


def _spread(numbers: Sequence[int]) -> tuple[int | None, int | None]:
    """The least and the most; None for nothing."""
    return min(numbers, default=None), max(numbers, default=None)


def _of_group(group: NodeGroup) -> tuple[Cause, Funnel | None]:
    if group.error is not None:
        missing = group.error.missing
        return (group.error.code, "", missing[2] if missing is not None else ""), None
    if group.elsewhere:
        return ("claim-elsewhere", "", group.elsewhere[0].metadata.name), None
    if group.answer.outcome is Outcome.UNDECIDED or group.offer is None:
        return ("undecided", "", ""), None
    if group.offer.devices == 0:
        return ("no-devices", "", ""), None
    failing = group.offer.failing()
    if not failing:
        return _of_blocking(group), None
    funnel = max(failing[0], key=lambda funnel: len(funnel.left))
    return _of_funnel(group, group.offer, funnel), funnel


def _of_blocking(group: NodeGroup) -> Cause:
    """The constraint or the counter that collides; that requests do, where there is neither."""
    for element in group.blocking.elements if group.blocking is not None else ():
        if isinstance(element, ConstraintElement) and group.offer is not None:
            constraint = group.offer.placement.claims[element.claim].spec.devices.constraints[element.position]
            return "not-together", "", constraint.match_attribute or constraint.distinct_attribute or ""
        if isinstance(element, CounterElement):
            return "counter-short", "", element.counter
    return "not-together", "", ""


def _of_funnel(group: NodeGroup, offer: NodeOffer, funnel: Funnel) -> Cause:
    if funnel.problem == "too-many-devices":
        return "too-many-devices", "", ""
    weighed: list[tuple[int, int, Cause]] = []
    for number, removal in enumerate(funnel.removals):
        near, count = _weight(offer, funnel, removal)
        if count:
            about = _about(group, offer.funnels.index(funnel), number, removal)
            class_name = getattr(removal.refusal, "class_name", None) or ""
            weighed.append((near, count, (code(removal.refusal).name, class_name, about)))
    if not weighed:
        return funnel.problem or "too-few-devices", "", ""
    near, _, cause = min(weighed, key=lambda weight: (-weight[0], -weight[1], weight[2]))
    return ("too-few-devices", "", "") if near == _OTHER_KIND and funnel.left else cause


def _weight(offer: NodeOffer, funnel: Funnel, removal: Removal) -> tuple[int, int]:
    """How near the devices come, and how many they are; of devices in use those count that would match."""
    if removal.step == "in-use":
        return _NEARLY, len(wanted(offer, funnel.want, removal.devices))
    if removal.step == "selector":
        of_class = getattr(removal.refusal, "class_name", None) is not None
        return (_OTHER_KIND if of_class else _OTHER_DEVICE), len(removal.devices)
    return (_OTHER_DEVICE if removal.step == "pool" else _NEARLY), len(removal.devices)


def _about(group: NodeGroup, position: int, number: int, removal: Removal) -> str:
    """The name that a person knows it by."""
    fields = refusal_fields(removal.refusal)
    if removal.step == "selector":
        parts = group.decisive_parts.get((position, number), ())
        return next((found.reference.name for part in parts for found in part.found if found.reference.name), "")
    taint = fields.get("taint")
    name = taint.key if taint is not None else ""
    return str(name or fields.get("counter") or fields.get("capacity") or fields.get("attribute") or "")
