"""What was found out, as the parts of an Explanation (`documents.explanation`) and of a plan's reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.reasons import CounterShort, InUse
from dra_plan.allocator.requests import Want
from dra_plan.documents.devices import PassedOver
from dra_plan.documents.explanation import AbsentName, ChosenDevice, NodeStory, PassedAlternative, StoryRequest
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.explanation.suggest.admissions import suggestion_rank
from dra_plan.explanation.suggest.trials import MOST, Suggestion

from .absent import AbsentValue
from .choices import DeviceChoice
from .collisions import CounterKey, blocking_set, counter_sets
from .device_parts import clause, examples, holder, removal, values
from .elements import CounterElement
from .explainer import SetExplanation
from .funnel import Funnel, NodeOffer
from .groups import NodeGroup
from .holders import holders_on
from .leading import leading_reasons
from .names import claim_name, device_name, request_name
from .placement import Placement
from .reason_parts import defect, fault, pool
from .reasons import Refusal, TakenAlready, group_key, refusal_fields


class SetParts:
    """The fields of an ExplainedClaimSet that a plan does not have; for sets that are alike they are made once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[SetExplanation, dict[str, Any]]] = {}

    def of(self, told: SetExplanation) -> dict[str, Any]:
        """The fields, by name."""
        _, parts = self._known.setdefault(id(told.groups), (told, {}))
        if not parts:
            parts.update(_set_parts(told))
        made = parts if told.renaming is None else {name: told.renaming.of(part) for name, part in parts.items()}
        return _with_admissions(told, made) if told.admissions_tried else made


def _set_parts(told: SetExplanation) -> dict[str, Any]:
    return {
        "fault": fault(told.error) if told.error is not None else None,
        "absent": absent(told),
        "leading": leading_reasons(told.groups),
        "stories": stories(told),
        "suggestions": [suggestion(found) for found in told.suggestions],
        "tried": told.tried,
    }


def _with_admissions(told: SetExplanation, parts: dict[str, Any]) -> dict[str, Any]:
    """The fields with what would let the pods onto excluded nodes, in its place among the other suggestions."""
    every = [(found.rank, found.told) for found in told.admissions]
    every += [(suggestion_rank(found.changes), found) for found in parts["suggestions"]]
    ordered = [found for _, found in sorted(every, key=lambda pair: pair[0])]
    return {**parts, "suggestions": ordered[:MOST], "tried": parts["tried"] + told.admissions_tried}


def absent(told: SetExplanation) -> list[AbsentName]:
    """The values that no device of the cluster has."""
    return [_absent(found) for found in told.absent]


def stories(told: SetExplanation) -> list[NodeStory]:
    """What became of the claims on each group of nodes."""
    return [_story(group) for group in told.groups]


def _story(group: NodeGroup) -> NodeStory:
    offer = group.offer
    return NodeStory(
        nodes=[node.metadata.name for node in group.nodes],
        outcome=group.answer.outcome,
        message=group.answer.message,
        steps=group.answer.steps,
        defect=defect(group.defect) if group.defect is not None else None,
        fault=fault(group.error) if group.error is not None else None,
        claims_elsewhere=[claim_name(claim) for claim in group.elsewhere],
        devices=offer.devices if offer is not None else None,
        pools=[pool(found) for found in offer.unusable] if offer is not None else [],
        requests=[_story_request(group, offer, at) for at in range(len(offer.funnels))] if offer is not None else [],
        blocking_set=blocking_set(offer, group.blocking) if offer is not None and group.blocking else None,
        counter_sets=list(counter_sets(offer, _counters_in_the_way(group, offer))) if offer is not None else [],
        choices=[choice(group.placement, made) for made in group.choices if group.placement is not None],
    )


def _counters_in_the_way(group: NodeGroup, offer: NodeOffer) -> Iterator[CounterKey]:
    """The counter sets that devices are refused for, or that can't be met together with the rest."""
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


# -- requests ------------------------------------------------------------------------------------------------------


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
    """What a request wants and gets, and the code of what stops it alone, if anything does."""
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
    """Changes that were tried together, and the node on which the claims then fit."""
    return TriedChanges(
        changes=[change.told for change in found.changes],
        node=found.node,
        patches=list(found.patches),
        feature_gates=found.gates or {},
    )


def choice(placement: Placement, made: DeviceChoice) -> ChosenDevice:
    """A device that was chosen, and those before it."""
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
    """Devices that were passed over for reasons of one kind, told of with the first."""
    first = passed[0][1]
    keys = dict.fromkeys(reason.claim for _, reason in passed if isinstance(reason, InUse) and reason.claim is not None)
    return PassedOver(
        **({"code": "led-nowhere"} if first is None else refusal_fields(first)),
        count=len(passed),
        examples=examples([device for device, _ in passed]),
        holders=[holder(placement, key) for key in keys],
    )


def _would_do(want: Want, device: PoolDevice) -> bool:
    """Whether the selectors of the want pass the device."""
    try:
        return want.selector_refusal(device) is None
    except SelectorError:
        return False


def _alternative(offer: NodeOffer, funnel: Funnel) -> PassedAlternative:
    """An alternative that was not chosen; what is left of its devices was not enough together with the rest."""
    removed = [replace(removal(offer, funnel, found), selectors=[]) for found in funnel.removals]
    return PassedAlternative(**_request(funnel), removed=removed, left_devices=examples(funnel.left))
