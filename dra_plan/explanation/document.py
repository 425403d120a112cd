"""The findings as parts of an Explanation, and as the reasons in a plan. `text` creates the sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from dra_plan.allocator import AllocationError, NodeOutcome, Outcome, PoolDevice, SelectorError, View
from dra_plan.allocator.reasons import CounterShort, InUse
from dra_plan.allocator.requests import Want
from dra_plan.api.core import Node
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.devices import PassedOver
from dra_plan.documents.reasons import LeadingReason, NodeReason, Reason
from dra_plan.documents.stories import AbsentName, ChosenDevice, NodeStory, PassedAlternative, StoryRequest
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.explanation.suggest.admissions import suggestion_rank
from dra_plan.explanation.suggest.node_labels import near_slices
from dra_plan.explanation.suggest.trials import MOST_SUGGESTIONS, Suggestion

from . import collisions, parts
from .absent import AbsentValue, decisive_parts_of
from .collisions import CounterKey, counter_sets, not_together
from .driver_pods import DriverPods, missing_drivers
from .elements import SAME_EVERYWHERE, BlockingSet, ConstraintElement, CounterElement, blocking_set
from .errors import ErrorDetails
from .explainer import SetExplanation
from .funnel import DeviceChoice, Funnel, NodeOffer, Removal, SkippedPool, holders_on, wanted
from .funnel import offer as offer_of
from .groups import NodeGroup
from .hints import clause, values
from .names import claim_elsewhere, claim_name, device_name, pool_name, request_name
from .parts import defect, examples, fault, holder, pool, removal
from .placement import Budget, Placement, Placements
from .reasons import Refusal, TakenAlready, code, group_key, refusal_fields

# -- leading reasons ---------------------------------------------------------------------------------------------------
# The leading reason is the one that rejects most of the devices that are closest to being usable.

Cause = tuple[str, str, str]
"""A code, the class whose selector rejects devices, and the name of the reason's subject.

The class and the name are "" if there is none.
"""

BLOCKING_STEPS = 2_000
"""The maximum number of search steps for blocking sets, if there are many claim sets to examine."""

_OTHER_KIND, _OTHER_DEVICE, _NEARLY = range(3)
"""How close a device comes: rejected by the class's selector, by the request's own selector, or by a later check."""


def leading_reasons(groups: Iterable[NodeGroup]) -> list[LeadingReason]:
    """Return the leading reasons on the nodes that reject the claims, most common first.

    The reason for nodes without devices comes last.
    """
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


def leading_by_node(groups: Iterable[NodeGroup]) -> Iterator[tuple[str, LeadingReason]]:
    """Yield each node that rejects the claims, with its leading reason.

    If the node alone does not show the subject of the reason, the subject for the node's group is used.
    """
    for group in groups:
        for shared in leading_reasons([group]):
            for node, answer, offer in zip(group.nodes, group.answers, group.offers, strict=True):
                alone = replace(group, nodes=[node], answers=[answer], offers=[offer])
                for one in leading_reasons([alone]):
                    name = one.name or (shared.name if shared.code == one.code else "")
                    yield node.metadata.name, replace(one, name=name)


def of_nodes(
    view: View, claim_set: ClaimSet, nodes: Sequence[Node], answers: Sequence[NodeOutcome]
) -> list[LeadingReason]:
    """Return the leading reasons on the nodes, as far as a short search finds them.

    A blocking set is searched for only on the node whose name sorts first. `answers` contains the results for `nodes`,
    in the same order.
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
    """Return the reason with its groups, each with the free devices of its nodes for the request that fails."""
    funnels = [funnel for _, funnels in told for funnel in funnels]
    best = max(funnels, key=lambda funnel: (len(funnel.left), funnel.need, funnel.want.full_name), default=None)
    same = [funnel for funnel in funnels if best is not None and funnel.want.full_name == best.want.full_name]
    left, need = _spread([len(funnel.left) for funnel in same]), _spread([funnel.need for funnel in same])
    invalid = _invalid_pool(told[0][0]) if cause[0] == "invalid-pools" else None
    return LeadingReason(
        code=cause[0],
        class_=cause[1],
        name=cause[2],
        pool=pool_name(invalid.pool.id) if invalid is not None else None,
        hint=invalid.hint if invalid is not None else "",
        request=best.want.full_name if best is not None else "",
        need=best.need if best is not None else None,
        left=len(best.left) if best is not None else None,
        left_from=left[0] if left[0] != left[1] else None,
        need_from=need[0] if need[0] != need[1] else None,
        need_to=need[1] if need[0] != need[1] else None,
        nodes=sum(len(group.nodes) for group, _ in told),
    )


def _spread(numbers: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the smallest and the largest; None for nothing."""
    return min(numbers, default=None), max(numbers, default=None)


def _of_group(group: NodeGroup) -> tuple[Cause, Funnel | None]:
    if group.error is not None:
        missing = group.error.missing
        invalid = _invalid_pool(group) if group.error.code == "invalid-pools" else None
        named = str(invalid.pool.problem) if invalid is not None else ""
        return (group.error.code, "", missing[2] if missing is not None else named), None
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


def _invalid_pool(group: NodeGroup) -> SkippedPool | None:
    """Return the first invalid pool of the group's nodes."""
    unusable = group.offer.unusable if group.offer is not None else ()
    return next((one for one in unusable if one.code == "pool-invalid"), None)


def _of_blocking(group: NodeGroup) -> Cause:
    """Return the constraint or the counter that collides; if there is neither, the cause that requests collide."""
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
    for number, taken in enumerate(funnel.removals):
        near, count = _weight(offer, funnel, taken)
        if count:
            about = _about(group, offer.funnels.index(funnel), number, taken)
            class_name = getattr(taken.refusal, "class_name", None) or ""
            weighed.append((near, count, (code(taken.refusal).name, class_name, about)))
    if not weighed:
        return funnel.problem or "too-few-devices", "", ""
    near, _, cause = min(weighed, key=lambda weight: (-weight[0], -weight[1], weight[2]))
    return ("too-few-devices", "", "") if near == _OTHER_KIND and funnel.left else cause


def _weight(offer: NodeOffer, funnel: Funnel, removal: Removal) -> tuple[int, int]:
    """Return how close the devices come, and their number; devices in use count if they would match."""
    if removal.step == "in-use":
        return _NEARLY, len(wanted(offer, funnel.want, removal.devices))
    if removal.step == "selector":
        of_class = getattr(removal.refusal, "class_name", None) is not None
        return (_OTHER_KIND if of_class else _OTHER_DEVICE), len(removal.devices)
    return (_OTHER_DEVICE if removal.step == "pool" else _NEARLY), len(removal.devices)


def _about(group: NodeGroup, position: int, number: int, removal: Removal) -> str:
    """Return the name of the reason's subject."""
    fields = refusal_fields(removal.refusal)
    if removal.step == "selector":
        parts = group.decisive_parts.get((position, number), ())
        return next((found.reference.name for part in parts for found in part.found if found.reference.name), "")
    taint = fields.get("taint")
    name = taint.key if taint is not None else ""
    return str(name or fields.get("counter") or fields.get("capacity") or fields.get("attribute") or "")


# -- claim sets and groups of nodes ------------------------------------------------------------------------------------


class SetParts:
    """The fields that an ExplainedClaimSet has in addition to those of a plan. Equal claim sets share them."""

    def __init__(self, drivers: DriverPods | None = None) -> None:
        self._known: dict[int, tuple[SetExplanation, dict[str, Any]]] = {}
        self._drivers = drivers

    def of(self, told: SetExplanation) -> dict[str, Any]:
        """Return the fields for an explanation, by name."""
        _, parts = self._known.setdefault(id(told.groups), (told, {}))
        if not parts:
            parts.update(_set_parts(told, self._drivers))
        made = parts if told.renaming is None else {name: told.renaming.of(part) for name, part in parts.items()}
        return _with_admissions(told, made) if told.admissions_tried else made


def _set_parts(told: SetExplanation, drivers: DriverPods | None) -> dict[str, Any]:
    return {
        "fault": fault(told.error) if told.error is not None else None,
        "absent": absent(told),
        "leading": leading_reasons(told.groups),
        "stories": stories(told, drivers),
        "suggestions": [suggestion(found) for found in told.suggestions],
        "tried": told.tried,
    }


def _with_admissions(told: SetExplanation, parts: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the changes that would admit the pods to excluded nodes.

    These changes are in order among the other suggestions.
    """
    every = [(found.rank, found.told) for found in told.admissions]
    every += [(suggestion_rank(found.changes), found) for found in parts["suggestions"]]
    ordered = [found for _, found in sorted(every, key=lambda pair: pair[0])]
    return {**parts, "suggestions": ordered[:MOST_SUGGESTIONS], "tried": parts["tried"] + told.admissions_tried}


def absent(told: SetExplanation) -> list[AbsentName]:
    """Return the required values that no device in the cluster has."""
    return [_absent(found) for found in told.absent]


def stories(told: SetExplanation, drivers: DriverPods | None = None) -> list[NodeStory]:
    """Return the results for the claims, one for each group of nodes.

    If `drivers` is given, the results say why driver pods do not run on the nodes.
    """
    return [_story(group, drivers) for group in told.groups]


def _story(group: NodeGroup, drivers: DriverPods | None) -> NodeStory:
    offer = group.offer
    refused = offer if group.error is None and group.answer.outcome is not Outcome.FITS else None
    return NodeStory(
        nodes=[node.metadata.name for node in group.nodes],
        outcome=group.answer.outcome,
        message=group.answer.message,
        steps=group.answer.steps,
        defect=defect(group.defect) if group.defect is not None else None,
        fault=fault(group.error) if group.error is not None else None,
        claims_elsewhere=[claim_elsewhere(claim) for claim in group.elsewhere],
        devices=offer.devices if offer is not None else None,
        missing_drivers=missing_drivers(refused) if refused is not None else [],
        driver_pods=drivers.missing(refused, group.nodes) if refused is not None and drivers is not None else [],
        near_slices=near_slices(offer.placement) if offer is not None and offer.devices == 0 else [],
        pools=[pool(found) for found in offer.unusable] if offer is not None else [],
        requests=[_story_request(group, offer, at) for at in range(len(offer.funnels))] if offer is not None else [],
        blocking_set=not_together(offer, group.blocking) if offer is not None and group.blocking else None,
        counter_sets=list(counter_sets(offer, _counters_in_the_way(group, offer))) if offer is not None else [],
        choices=[choice(group.placement, made) for made in group.choices if group.placement is not None],
    )


def _counters_in_the_way(group: NodeGroup, offer: NodeOffer) -> Iterator[CounterKey]:
    """Yield the counter sets that devices are rejected for, or that can't be met together with the rest."""
    for funnel in (funnel for funnels in offer.failing() for funnel in funnels):
        for found in funnel.removals:
            if isinstance(found.refusal, CounterShort):
                yield from ((device.id.pool_id, found.refusal.counter_set) for device in found.devices)
    for element in group.blocking.elements if group.blocking is not None else ():
        if isinstance(element, CounterElement):
            yield element.pool, element.counter_set


def _absent(found: AbsentValue) -> AbsentName:
    there = values(found.values)
    return AbsentName(
        **request_name(found.want),
        class_=found.class_name or "",
        selector=found.position,
        clause=found.clause,
        kind=found.reference.kind,
        domain=found.reference.domain,
        name=found.reference.name,
        wanted=found.wanted[1],
        values=there,
        other_values=len(found.values) - len(there),
    )


# -- requests, suggestions and choices ---------------------------------------------------------------------------------


def _story_request(group: NodeGroup, offer: NodeOffer, position: int) -> StoryRequest:
    funnel = offer.funnels[position]
    removed = []
    for number, found in enumerate(funnel.removals):
        least, most = group.removed(position, found.key)
        parts = [clause(part) for part in group.decisive_parts.get((position, number), ())]
        spread = {"count_from": least, "count_to": most, "holders_on": holders_on(group.offers, position, found)}
        removed.append(replace(removal(offer, funnel, found), **spread, selectors=parts))
    left, devices = group.left(position), group.devices(position)
    return StoryRequest(
        **_request(funnel),
        removed=removed,
        left_from=left[0],
        left_to=left[1],
        devices_from=devices[0],
        devices_to=devices[1],
        left_devices=examples(funnel.left),
    )


def _request(funnel: Funnel) -> dict[str, Any]:
    """Return a request's needs and results, and the code of the reason that stops it alone, if any."""
    want = funnel.want
    return {
        **request_name(want),
        "class_": want.device_class.metadata.name if want.device_class is not None else "",
        "alternative": bool(want.parent),
        "mode": "All" if want.takes_all else "ExactCount",
        "need": funnel.need,
        "devices": funnel.devices,
        "problem": funnel.problem,
        "left": len(funnel.left),
    }


def suggestion(found: Suggestion) -> TriedChanges:
    """Return the changes of a suggestion, and the node on which the claims then fit."""
    return TriedChanges(
        changes=[change.told for change in found.changes],
        node=found.node,
        patches=list(found.patches),
        feature_gates=found.gates or {},
    )


def choice(placement: Placement, made: DeviceChoice) -> ChosenDevice:
    """Return a chosen device, and the devices that were tried before it, as a part of a document."""
    reasons: dict[tuple[object, ...], list[tuple[PoolDevice, Refusal | None]]] = {}
    for device, reason in made.passed_over:
        if isinstance(reason, InUse | TakenAlready) and not _would_do(made.want, device):
            continue
        key = group_key(reason) if reason is not None else ("led-nowhere",)
        reasons.setdefault(key, []).append((device, reason))
    return ChosenDevice(
        **request_name(made.want),
        slot=made.slot,
        device=device_name(made.device) if made.device is not None else None,
        passed_over=[_passed_over(placement, passed) for passed in reasons.values()],
        alternatives_before=[_alternative(made.offer, told) for told in made.alternatives_before if made.offer],
    )


def _passed_over(placement: Placement, passed: Sequence[tuple[PoolDevice, Refusal | None]]) -> PassedOver:
    """Return devices that were skipped for reasons of one kind; the first represents all."""
    first = passed[0][1]
    keys = dict.fromkeys(reason.claim for _, reason in passed if isinstance(reason, InUse) and reason.claim is not None)
    return PassedOver(
        **({"code": "led-nowhere"} if first is None else refusal_fields(first)),
        count=len(passed),
        examples=examples([device for device, _ in passed]),
        holders=[holder(placement, key) for key in keys],
    )


def _would_do(want: Want, device: PoolDevice) -> bool:
    """Return whether the selectors of the want pass the device."""
    try:
        return want.selector_refusal(device) is None
    except SelectorError:
        return False


def _alternative(offer: NodeOffer, funnel: Funnel) -> PassedAlternative:
    """Return an alternative that was not chosen because its free devices were not enough together with the rest."""
    removed = [replace(removal(offer, funnel, found), selectors=[]) for found in funnel.removals]
    return PassedAlternative(**_request(funnel), removed=removed, left_devices=examples(funnel.left))


# -- reasons of the nodes of a plan ------------------------------------------------------------------------------------
# Each node in an AllocationPlan has a flat list, which begins with the cause. Every code is described in
# docs/reasons.md.


def reasons_by_node(told: SetExplanation) -> dict[str, list[Reason]]:
    """Return the reasons for every node that was examined."""
    return {
        node.metadata.name: reasons(group, position)
        for group in told.groups
        for position, node in enumerate(group.nodes)
    }


def reasons(group: NodeGroup, position: int) -> list[Reason]:
    """Return why the claims do not fit on the node at this position in the group, starting with the cause."""
    if group.answer.outcome is Outcome.FITS and not group.elsewhere:
        return []
    made: list[Reason] = []
    if group.defect is not None:
        made.append(replace(parts.defect(group.defect), code="upstream-defect"))
    if group.error is not None:
        made.append(parts.fault(group.error))
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
            told = parts.removal(offer, funnel, found)
            made.append(replace(told, **about, device=device_name(found.devices[0].id)))
    made += [parts.pool(found) for found in offer.unusable]
    if not failing and group.answer.outcome is Outcome.DOES_NOT_FIT and not group.elsewhere:
        made.append(replace(collisions.not_together(offer, _blocking(group, offer)), code="not-together"))
    return made


def _blocking(group: NodeGroup, offer: NodeOffer) -> BlockingSet:
    """Return the group's blocking set.

    For nodes other than the first, it has only the elements with the same meaning there, and is not proven.
    """
    found = group.blocking or BlockingSet((), proven=False)
    if offer is group.offer:
        return found
    kept = tuple(element for element in found.elements if isinstance(element, SAME_EVERYWHERE))
    return BlockingSet(kept, proven=False)
