"""Devices that are refused, and what selectors find of them, as documents have them (`documents.devices`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dra_plan.allocator import PoolDevice
from dra_plan.allocator.reasons import CapacityMissing, InUse, PolicyViolated
from dra_plan.api.meta import QuantityText
from dra_plan.api.resource import CapacityRequestPolicy, CapacityRequestPolicyRange
from dra_plan.documents.base import DeviceName
from dra_plan.documents.clauses import ComputedPart, ComputedValue, DecidingClause, FoundName, FoundValue
from dra_plan.documents.devices import ClaimHolder, RemovedDevices
from dra_plan.explanation.suggest.capacities import asked_name

from .funnel import Funnel, NodeOffer, Removal
from .holders import holders, wanted
from .names import device_name
from .placement import Placement
from .reasons import refusal_fields
from .selectors import DecisivePart, NamedValues

EXAMPLES = 3
"""Devices that a removal names."""

VALUES = 6
"""Values that a finding lists."""


def examples(devices: Sequence[PoolDevice]) -> list[DeviceName]:
    """Some of the devices."""
    return [device_name(device.id) for device in devices[:EXAMPLES]]


def values(counted: Counter[tuple[str, Any]]) -> list[FoundValue]:
    """The commonest values, of which `counted` has types and numbers."""
    return [_value(typed, count) for typed, count in counted.most_common(VALUES)]


def _value(typed: tuple[str, Any], count: int) -> FoundValue:
    kind, value = typed
    return FoundValue(type=kind, value=list(value) if isinstance(value, tuple) else value, count=count)


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
        examples=examples(found.devices),
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
        values=values(found.values),
        other_values=max(0, len(found.values) - VALUES),
        missing=found.missing,
        problem=found.problem,
        hint=found.hint,
        known=found.known or [],
    )
