"""What was found out, as the parts of an Explanation (`documents.explanation`) and of a plan's reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.counters import Counters
from dra_plan.allocator.reasons import CapacityMissing, InUse, PolicyViolated
from dra_plan.allocator.requests import Want
from dra_plan.api.base import QuantityText
from dra_plan.api.resource import CapacityRequestPolicy, CapacityRequestPolicyRange
from dra_plan.documents.base import ClaimName, DeviceName, ObjectName
from dra_plan.documents.clauses import ComputedPart, ComputedValue, DecidingClause, FoundName, FoundValue
from dra_plan.documents.devices import ClaimHolder, PassedOver, RemovedDevices
from dra_plan.documents.explanation import AbsentName, ChosenDevice, NodeStory, PassedAlternative, StoryRequest
from dra_plan.documents.reasons import (
    AttemptFault,
    BlockingClaim,
    BlockingConstraint,
    BlockingCounter,
    BlockingElement,
    BlockingRequest,
    KnownDefect,
    NotTogether,
    OwedToDefects,
    TriedRewrite,
    UnusablePool,
)
from dra_plan.documents.suggestions import TriedChanges

from .absent import AbsentValue
from .blocking import BlockingSet
from .choices import DeviceChoice
from .defects import DecisiveDefects
from .elements import ClaimElement, ConstraintElement, CounterElement, RequestElement
from .errors import ErrorDetails
from .explainer import SetExplanation
from .funnel import Funnel, NodeOffer, Removal
from .groups import NodeGroup
from .holders import holders, wanted
from .names import claim_name, device_name, pool_name, request_name
from .placement import Placement
from .pools import SkippedPool
from .reasons import Refusal, TakenAlready, amount, group_key, refusal_fields
from .selectors import DecisivePart, NamedValues
from .suggest.capacities import asked_name
from .suggest.trials import Suggestion

EXAMPLES = 3
"""Devices that a removal names."""

VALUES = 6
"""Values that a finding lists."""


def set_parts(told: SetExplanation) -> dict[str, Any]:
    """The fields of an ExplainedClaimSet that a plan does not have."""
    return {
        "fault": fault(told.error) if told.error is not None else None,
        "absent": absent(told),
        "stories": stories(told),
        "suggestions": [suggestion(found) for found in told.suggestions],
        "tried": told.tried,
    }


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
        choices=[choice(group.placement, made) for made in group.choices if group.placement is not None],
    )


def _absent(found: AbsentValue) -> AbsentName:
    values = found.values.most_common(VALUES)
    return AbsentName(
        **request_name(found.want),
        class_=found.class_name or "",
        selector=found.position,
        clause=found.clause,
        kind=found.reference.kind,
        domain=found.reference.domain,
        name=found.reference.name,
        wanted=found.wanted[1],
        values=[_value(typed, count) for typed, count in values],
        other_values=len(found.values) - len(values),
    )


def _value(typed: tuple[str, Any], count: int) -> FoundValue:
    kind, value = typed
    return FoundValue(type=kind, value=list(value) if isinstance(value, tuple) else value, count=count)


def _examples(devices: Sequence[PoolDevice]) -> list[DeviceName]:
    return [device_name(device.id) for device in devices[:EXAMPLES]]


# -- requests ------------------------------------------------------------------------------------------------------


def _story_request(group: NodeGroup, offer: NodeOffer, position: int) -> StoryRequest:
    funnel = offer.funnels[position]
    removed = []
    for number, found in enumerate(funnel.removals):
        least, most = group.removed(position, found.key)
        parts = [clause(part) for part in group.decisive_parts.get((position, number), ())]
        removed.append(replace(removal(offer, funnel, found), count_from=least, count_to=most, selectors=parts))
    left, devices = group.left(position), group.devices(position)
    return StoryRequest(
        **_request(funnel),
        removed=removed,
        left_from=left[0],
        left_to=left[1],
        devices_from=devices[0],
        devices_to=devices[1],
        left_devices=_examples(funnel.left),
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


def removal(offer: NodeOffer, funnel: Funnel, found: Removal) -> RemovedDevices:
    """The devices that one reason takes away."""
    made: dict[str, Any] = {}
    if isinstance(found.refusal, InUse):
        made["wanted"] = len(wanted(offer, funnel.want, found.devices))
    if isinstance(found.refusal, CapacityMissing):
        made["published"] = sorted({name for device in found.devices for name in device.device.capacity})
    if isinstance(found.refusal, PolicyViolated):
        made["policies"] = _policies(found, found.refusal.name)
        asked = asked_name(funnel.want, found.refusal.name)
        if asked is not None:
            made["asked"] = str((funnel.want.capacity or {})[asked])
    return RemovedDevices(
        **refusal_fields(found.refusal),
        step=found.step,
        count=len(found.devices),
        **made,
        holders=[holder(offer.placement, key) for key in holders(offer, funnel.want, found)],
        examples=_examples(found.devices),
    )


def _policies(found: Removal, capacity: str) -> list[CapacityRequestPolicy]:
    """The different request policies of a capacity, each once."""
    told: list[CapacityRequestPolicy] = []
    for device in found.devices:
        policy = device.device.capacity[capacity].request_policy
        if policy is not None and (made := _policy(policy)) not in told:
            told.append(made)
    return told


def _policy(policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
    """A request policy with all amounts as texts, without an empty list."""
    ends = policy.valid_range
    return CapacityRequestPolicy(
        default=_text(policy.default),
        valid_values=[str(value) for value in policy.valid_values] if policy.valid_values else None,
        valid_range=CapacityRequestPolicyRange(min=_text(ends.min), max=_text(ends.max), step=_text(ends.step))
        if ends is not None
        else None,
    )


def _text(amount: QuantityText | None) -> str | None:
    return None if amount is None else str(amount)


def holder(placement: Placement, key: str) -> ClaimHolder:
    """A claim and the pods that may use its devices."""
    claim = next((claim for claim in placement.allocated if claim.key == key), None)
    reserved = claim.status.reserved_for if claim is not None and claim.status is not None else []
    namespace, _, name = key.partition("/")
    pods = [user.name for user in reserved if user.resource == "pods"]
    return ClaimHolder(namespace=namespace, name=name, pods=pods, own=key in placement.own)


def clause(part: DecisivePart) -> DecidingClause:
    """A deciding part of a selector."""
    computed = [
        ComputedPart(part=text, values=[ComputedValue(value=value, count=n) for value, n in values.most_common(VALUES)])
        for text, values in (part.computed or {}).items()
    ]
    found = [_found(found) for found in part.found]
    return DecidingClause(clause=part.clause, count=part.count, found=found, computed=computed, error=part.error)


def _found(found: NamedValues) -> FoundName:
    return FoundName(
        kind=found.reference.kind,
        domain=found.reference.domain,
        name=found.reference.name,
        values=[_value(typed, count) for typed, count in found.values.most_common(VALUES)],
        other_values=max(0, len(found.values) - VALUES),
        missing=found.missing,
        problem=found.problem,
        hint=found.hint,
        known=found.known or [],
    )


# -- pools, blocking sets, defects, errors -------------------------------------------------------------------------


def pool(found: SkippedPool) -> UnusablePool:
    """A pool that is not looked at."""
    skipped = found.pool
    incomplete, invalid = found.code == "pool-incomplete", found.code == "pool-invalid"
    return UnusablePool(
        code=found.code,
        pool=pool_name(skipped.id),
        generation=skipped.generation,
        devices=found.devices,
        slices=list(found.slices),
        seen=skipped.seen if incomplete else None,
        expected=skipped.expected if incomplete else None,
        problem=str(skipped.problem) if invalid else "",
        superseded_by=None if incomplete or invalid else skipped.superseded_by,
    )


def blocking_set(offer: NodeOffer, found: BlockingSet) -> NotTogether:
    """Elements that can't be met together."""
    return NotTogether(proven=found.proven, elements=[_element(offer, element) for element in found.elements])


def _element(
    offer: NodeOffer, element: RequestElement | ConstraintElement | CounterElement | ClaimElement
) -> BlockingElement:
    placement = offer.placement
    if isinstance(element, ClaimElement):
        return BlockingClaim(claim=holder(placement, element.claim))
    if isinstance(element, CounterElement):
        return _counter(placement, element)
    claim = placement.claims[element.claim]
    if isinstance(element, RequestElement):
        return _blocking_request(offer, element, claim_name(claim))
    constraint = claim.spec.devices.constraints[element.position]
    return BlockingConstraint(
        claim=claim_name(claim),
        constraint=element.position,
        match_attribute=constraint.match_attribute,
        distinct_attribute=constraint.distinct_attribute,
        requests=list(constraint.requests),
    )


def _blocking_request(offer: NodeOffer, element: RequestElement, claim: ClaimName) -> BlockingRequest:
    """How many devices a request needs, and which pass every check while nothing is taken; not for alternatives."""
    place = (element.claim, element.request)
    funnels = [f for f in offer.funnels if (f.want.claim_index, f.want.request_name) == place]
    if len(funnels) != 1:
        return BlockingRequest(claim=claim, request=element.request)
    [funnel] = funnels
    return BlockingRequest(
        claim=claim,
        request=element.request,
        need=funnel.need,
        left=len(funnel.left),
        left_devices=_examples(funnel.left),
    )


def _counter(placement: Placement, element: CounterElement) -> BlockingCounter:
    """A counter with what is left of it, and its total."""
    made = BlockingCounter(pool=pool_name(element.pool), counter_set=element.counter_set, counter=element.counter)
    counters = Counters(placement.view.state, placement.view.target)
    for about_pool in placement.view.gatherer.gather(placement.node):
        if about_pool.id == element.pool:
            for slice_ in about_pool.counter_slices or about_pool.slices:
                for counter_set in slice_.object.spec.shared_counters:
                    if counter_set.name == element.counter_set and element.counter in counter_set.counters:
                        left = counters.remaining(about_pool, slice_)[element.counter_set, element.counter]
                        total = counter_set.counters[element.counter].value
                        return replace(made, left=amount(left), total=str(total))
    return made


def defect(found: DecisiveDefects) -> OwedToDefects:
    """Known defects to which the answer is owed."""
    return OwedToDefects(
        defects=[KnownDefect(id=each.id, issue=each.issue or None, title=each.title) for each in found.defects],
        promised=found.promised,
    )


def fault(found: ErrorDetails) -> AttemptFault:
    """What ended the attempt."""
    rewrite = found.mended
    return AttemptFault(
        code=found.code,
        message=found.message,
        object=_object(found.object),
        missing=_object(found.missing),
        source=str(found.origin) if found.origin is not None else None,
        device=device_name(found.device) if found.device is not None else None,
        rewrite=TriedRewrite(expression=rewrite.expression, outcome=rewrite.outcome) if rewrite is not None else None,
        request=found.request,
        selector=found.selector,
        expression=found.expression,
        known=found.known,
        hint=found.hint,
        gate=found.gate,
    )


def _object(key: tuple[str, str, str] | None) -> ObjectName | None:
    return ObjectName(kind=key[0], namespace=key[1], name=key[2]) if key is not None else None


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
        examples=_examples([device for device, _ in passed]),
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
    return PassedAlternative(**_request(funnel), removed=removed, left_devices=_examples(funnel.left))
