"""Pools, defects, errors and rejected devices as parts of documents, and the renaming of claims in such parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

from dra_plan.allocator import PoolDevice
from dra_plan.allocator.identity import PoolProblem
from dra_plan.allocator.reasons import (
    CapacityMissing,
    CapacityShort,
    CounterShort,
    InUse,
    NotTolerated,
    PolicyViolated,
)
from dra_plan.allocator.requests import Want
from dra_plan.api import quantity
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.meta import QuantityText
from dra_plan.api.resource import CapacityRequestPolicy, CapacityRequestPolicyRange, ResourceClaim
from dra_plan.api.selectors import near_toleration
from dra_plan.documents.base import ClaimName, DeviceName, ObjectName
from dra_plan.documents.claim_changes import SelectorChanged
from dra_plan.documents.devices import (
    ClaimHolder,
    RemovedDevices,
)
from dra_plan.documents.reasons import AttemptFault, KnownDefect, OwedToDefects, TriedRewrite, UnusablePool
from dra_plan.documents.suggestions import PatchedObject
from dra_plan.explanation.suggest.capacities import asked_name

from .compared import compared_attribute
from .errors import ErrorDetails
from .funnel import Funnel, NodeOffer, Removal, SkippedPool, holders, wanted
from .names import CLAIM, TEMPLATE, DecisiveDefects, device_name, pool_name
from .placement import Placement
from .reasons import amount, refusal_fields


def pool(found: SkippedPool) -> UnusablePool:
    """Return a skipped pool as a part of a document."""
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
        absent=_absent_counters(skipped.problem) if invalid else "",
        hint=found.hint,
        superseded_by=None if incomplete or invalid else skipped.superseded_by,
        counts=list(found.counts),
    )


def _absent_counters(of: PoolProblem | None) -> str:
    """Return the counter set that is not published; "" for other problems."""
    return "" if of is None or of.device or of.twice or of.counter else of.counter_set


def defect(found: DecisiveDefects) -> OwedToDefects:
    """Return the known defects that cause a result, as a part of a document."""
    return OwedToDefects(
        defects=[KnownDefect(id=each.id, issue=each.issue or None, title=each.title) for each in found.defects],
        promised=found.promised,
    )


def fault(found: ErrorDetails) -> AttemptFault:
    """Return the error that ended the scheduling attempt, as a part of a document."""
    rewrite = found.mended
    return AttemptFault(
        code=found.code,
        message=found.message,
        object=_object(found.object),
        template=found.template,
        missing=_object(found.missing),
        maker=_object(found.maker),
        maker_pods=found.maker_pods,
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


# -- rejected devices --------------------------------------------------------------------------------------------------
# Rejected devices have the selectors' findings about them.

EXAMPLES = 3
"""The maximum number of devices that are named for a reason."""


def examples(devices: Sequence[PoolDevice]) -> list[DeviceName]:
    """Return the names of the first few devices."""
    return [device_name(device.id) for device in devices[:EXAMPLES]]


def removal(offer: NodeOffer, funnel: Funnel, found: Removal) -> RemovedDevices:
    """Return the devices that are removed for one reason, as a part of a document."""
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
    if isinstance(found.refusal, NotTolerated):
        made["tolerated"] = near_toleration(funnel.want.tolerations, found.refusal.key)
    if isinstance(found.refusal, CapacityShort):
        made |= _unequal(funnel.want, found, found.refusal)
    return RemovedDevices(
        **{**refusal_fields(found.refusal), **_amounts(found)},
        step=found.step,
        count=len(found.devices),
        compared=compared_attribute(offer, funnel.want.claim_index, found),
        **made,
        holders=[holder(offer.placement, key) for key in holders(offer, funnel.want, found)],
        examples=examples(found.devices),
    )


def _unequal(want: Want, found: Removal, short: CapacityShort) -> dict[str, str]:
    """Return why the needed amount of a capacity is not the one in the request, if it is not."""
    policies = [device.device.capacity[short.name].request_policy for device in found.devices]
    name = asked_name(want, short.name)
    if name is None:
        has_default = all(policy is not None and policy.default is not None for policy in policies)
        return {"unasked": "default" if has_default else "whole"}
    asked = (want.capacity or {})[name]
    return {} if quantity.parse(asked).nano == short.need else {"asked": str(asked)}


def _amounts(found: Removal) -> dict[str, str]:
    """Return the amounts needed by the devices that lack one, and the free amounts, both as smallest to largest."""
    short = [each for each in found.refusals if isinstance(each, CapacityShort | CounterShort)]
    if not short:
        return {}
    needs, lefts = sorted({each.need for each in short}), sorted({each.left for each in short})
    made = {"need": amount(needs[0]), "left": amount(lefts[-1])}
    if len(needs) > 1:
        made["need_to"] = amount(needs[-1])
    if len(lefts) > 1:
        made["left_from"] = amount(lefts[0])
    return made


def _policies(found: Removal, capacity: str) -> list[CapacityRequestPolicy]:
    """Return the different request policies of a capacity, each once."""
    told: list[CapacityRequestPolicy] = []
    for device in found.devices:
        policy = device.device.capacity[capacity].request_policy
        if policy is not None and (made := _policy(policy)) not in told:
            told.append(made)
    return told


def _policy(policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
    """Return a request policy with all amounts as texts, without an empty list."""
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
    """Return the claim that holds devices, and the pods that may use them."""
    claim = next((claim for claim in placement.allocated if claim.key == key), None)
    reserved = claim.reserved_for if claim is not None else []
    namespace, _, name = key.partition("/")
    pods = [user.name for user in reserved if user.resource == "pods"]
    return ClaimHolder(namespace=namespace, name=name, pods=pods, own=key in placement.own)


# -- the same findings for other claims --------------------------------------------------------------------------------
# Only the names of claims differ.

T = TypeVar("T")
Names = Mapping[ClaimName, ClaimName]


class Renaming:
    """Replaces the names of claims in parts of documents, and the users of these claims by those in `inventory`."""

    def __init__(self, names: Names, inventory: Inventory | None = None) -> None:
        self._names, self._inventory = names, inventory
        self._places: dict[ObjectKey, int] | None = None

    @classmethod
    def between(cls, told: Sequence[ResourceClaim], meant: Sequence[ResourceClaim], inventory: Inventory) -> Renaming:
        """Return a renaming that swaps the names of claims at the same position in two lists."""
        pairs = [(_name(one), _name(other)) for one, other in zip(told, meant, strict=True)]
        return cls(dict([*((other, one) for one, other in pairs), *pairs]), inventory)

    def of(self, part: T) -> T:
        """Return the part with the new names. If it names none of the claims, the same object is returned."""
        return cast(T, self._renamed(part))

    def _renamed(self, part: object) -> object:
        if isinstance(part, ClaimName):
            found = self._names.get(ClaimName(namespace=part.namespace, name=part.name))
            if found is None:
                return part
            return structs.replace(found, template=part.template, is_template_absent=part.is_template_absent)
        if isinstance(part, ObjectName | PatchedObject):
            found = self._names.get(ClaimName(namespace=part.namespace, name=part.name)) if part.kind == CLAIM else None
            return part if found is None else structs.replace(part, namespace=found.namespace, name=found.name)
        if isinstance(part, Struct):
            changed = {}
            for field in part.__struct_fields__:
                before = getattr(part, field)
                after = self._renamed(before)
                if after is not before:
                    changed[field] = after
            if isinstance(part, SelectorChanged) and "used_by" in changed:
                changed["used_by"] = self._in_order(cast(list[ObjectName], changed["used_by"]))
            return structs.replace(part, **changed) if changed else part
        if isinstance(part, list | tuple):
            made = [self._renamed(each) for each in part]
            return part if all(a is b for a, b in zip(made, part, strict=True)) else type(part)(made)
        return part

    def _in_order(self, users: list[ObjectName]) -> list[ObjectName]:
        """Return the users of a class: claims, then templates, in input order."""
        if self._inventory is None:
            return users
        if self._places is None:
            objects = [(CLAIM, each.metadata) for each in self._inventory.claims]
            objects += [(TEMPLATE, each.metadata) for each in self._inventory.templates]
            self._places = {(kind, of.namespace, of.name): at for at, (kind, of) in enumerate(objects)}
        places = self._places
        return sorted(users, key=lambda user: places[user.kind, user.namespace, user.name])


def _name(claim: ResourceClaim) -> ClaimName:
    return ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name)
