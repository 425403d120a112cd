"""Groups of nodes as plain data: the parts of an Explanation.

The shape is that of `output/schemas/Explanation.json`; every code is described in docs/reasons.md.
"""

from __future__ import annotations

from typing import Any

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.counters import Counters
from dra_plan.allocator.reasons import CapacityMissing, InUse, PolicyViolated
from dra_plan.allocator.requests import Want
from dra_plan.api.notice import Origin
from dra_plan.api.resource import CapacityRequestPolicy, ResourceClaim

from .blocking import BlockingSet
from .choices import DeviceChoice
from .defects import DecisiveDefects
from .elements import ClaimElement, ConstraintElement, CounterElement, RequestElement
from .errors import ErrorDetails
from .explainer import SetExplanation
from .funnel import Funnel, NodeOffer, Removal
from .groups import NodeGroup
from .holders import holders, wanted
from .placement import Placement
from .pools import SkippedPool
from .reasons import TakenAlready, amount, code, group_key
from .selectors import DecisivePart, NamedValues
from .suggest.capacities import asked_name
from .suggest.change import about
from .suggest.trials import Suggestion

Data = dict[str, Any]

EXAMPLES = 3
"""Devices that a removal names."""

VALUES = 6
"""Values that a finding lists."""


def set_document(told: SetExplanation) -> Data:
    """The part of an Explanation that concerns one claim set, without owner, claims and outcome."""
    return {
        "fault": fault(told.error) if told.error is not None else None,
        "stories": [_group(group) for group in told.groups],
        "suggestions": [suggestion(found) for found in told.suggestions],
        "tried": told.tried,
    }


def _group(group: NodeGroup) -> Data:
    offer = group.offer
    return {
        "nodes": [node.metadata.name for node in group.nodes],
        "outcome": group.answer.outcome.value,
        "message": group.answer.message,
        "steps": group.answer.steps,
        "defect": defect(group.defect) if group.defect is not None else None,
        "fault": fault(group.error) if group.error is not None else None,
        "claimsElsewhere": [name(claim) for claim in group.elsewhere],
        "devices": offer.devices if offer is not None else None,
        "pools": [pool(found) for found in offer.unusable] if offer is not None else [],
        "requests": [_funnel(group, offer, position) for position in range(len(offer.funnels))]
        if offer is not None
        else [],
        "blockingSet": blocking_set(offer, group.blocking) if offer is not None and group.blocking else None,
        "choices": [choice(group.placement, made) for made in group.choices if group.placement is not None],
    }


def name(claim: ResourceClaim) -> Data:
    """Namespace and name."""
    return {"namespace": claim.metadata.namespace, "name": claim.metadata.name}


def key_name(key: str) -> Data:
    """Namespace and name of NAMESPACE/NAME."""
    namespace, _, plain = key.partition("/")
    return {"namespace": namespace, "name": plain}


def device_name(device: PoolDevice) -> Data:
    """Driver, pool and name."""
    return device.id._asdict()


def _origin(origin: Origin | None) -> str:
    return str(origin) if origin is not None else ""


# -- requests ------------------------------------------------------------------------------------------------------


def _funnel(group: NodeGroup, offer: NodeOffer, position: int) -> Data:
    funnel = offer.funnels[position]
    return {
        **request(funnel),
        "removed": [
            {
                **removal(offer, funnel, found),
                **_range("count", group.removed(position, found.key)),
                "selectors": [finding(item) for item in group.decisive_parts.get((position, number), ())],
            }
            for number, found in enumerate(funnel.removals)
        ],
        "left": len(funnel.left),
        **_range("left", group.left(position)),
        **_range("devices", group.devices(position)),
        "leftDevices": [device_name(device) for device in funnel.left[:EXAMPLES]],
    }


def _range(name: str, ends: tuple[int, int]) -> Data:
    return {f"{name}From": ends[0], f"{name}To": ends[1]}


def request(funnel: Funnel) -> Data:
    """What a request wants, and the code of what stops it alone, if anything does."""
    want = funnel.want
    return {
        **about(want),
        "class": want.device_class.metadata.name if want.device_class is not None else "",
        "alternative": bool(want.parent),
        "mode": "All" if want.takes_all else "ExactCount",
        "need": funnel.need,
        "devices": funnel.devices,
        "problem": funnel.problem,
    }


def removal(offer: NodeOffer, funnel: Funnel, found: Removal) -> Data:
    """The devices that one reason takes away."""
    made: Data = {"code": code(found.refusal).name, "step": found.step, "count": len(found.devices)}
    made |= code(found.refusal).data(found.refusal)
    if isinstance(found.refusal, InUse):
        made["wanted"] = len(wanted(offer, funnel.want, found.devices))
    if isinstance(found.refusal, CapacityMissing):
        made["published"] = sorted({name for device in found.devices for name in device.device.capacity})
    if isinstance(found.refusal, PolicyViolated):
        made["policies"] = _policies(found, found.refusal.name)
        asked = asked_name(funnel.want, found.refusal.name)
        if asked is not None:
            made["asked"] = str((funnel.want.capacity or {})[asked])
    held = holders(offer, funnel.want, found)
    if held:
        made["holders"] = [holder(offer.placement, key) for key in held]
    made["examples"] = [device_name(device) for device in found.devices[:EXAMPLES]]
    return made


def _policies(found: Removal, capacity: str) -> list[Data]:
    """The different request policies of a capacity, each once."""
    told: list[Data] = []
    for device in found.devices:
        policy = device.device.capacity[capacity].request_policy
        if policy is not None and (made := policy_document(policy)) not in told:
            told.append(made)
    return told


def policy_document(policy: CapacityRequestPolicy) -> Data:
    """A request policy as its fields are written, without those that are absent."""
    made: Data = {}
    if policy.default is not None:
        made["default"] = str(policy.default)
    if policy.valid_values:
        made["validValues"] = [str(value) for value in policy.valid_values]
    if policy.valid_range is not None:
        ends = (("min", policy.valid_range.min), ("max", policy.valid_range.max), ("step", policy.valid_range.step))
        made["validRange"] = {name: str(value) for name, value in ends if value is not None}
    return made


def holder(placement: Placement, key: str) -> Data:
    """A claim and the pods that may use its devices."""
    claim = next((claim for claim in placement.allocated if claim.key == key), None)
    reserved = claim.status.reserved_for if claim is not None and claim.status is not None else []
    made: Data = {**key_name(key), "pods": [user.name for user in reserved if user.resource == "pods"]}
    return {**made, "own": True} if key in placement.own else made


def finding(item: DecisivePart) -> Data:
    """A deciding part of a selector."""
    made: Data = {"clause": item.clause, "count": item.count, "found": [_found(found) for found in item.found]}
    if item.computed:
        made["computed"] = [
            {"part": part, "values": [{"value": value, "count": n} for value, n in values.most_common(VALUES)]}
            for part, values in item.computed.items()
        ]
    if item.error is not None:
        made["error"] = item.error
    return made


def _found(found: NamedValues) -> Data:
    values = [
        {"type": kind, "value": list(value) if isinstance(value, tuple) else value, "count": count}
        for (kind, value), count in found.values.most_common(VALUES)
    ]
    made: Data = {
        "kind": found.reference.kind,
        "domain": found.reference.domain,
        "name": found.reference.name,
        "values": values,
        "otherValues": max(0, len(found.values) - VALUES),
        "missing": found.missing,
        "problem": found.problem,
    }
    if found.hint is not None:
        made["hint"] = found.hint
    if found.known:
        made["known"] = found.known
    return made


# -- pools, blocking sets, defects, errors -------------------------------------------------------------------------


def pool(found: SkippedPool) -> Data:
    """A pool that is not looked at."""
    about_pool = found.pool
    made: Data = {
        "code": found.code,
        "pool": about_pool.id._asdict(),
        "generation": about_pool.generation,
        "devices": found.devices,
        "slices": list(found.slices),
    }
    if found.code == "pool-incomplete":
        made |= {"seen": about_pool.seen, "expected": about_pool.expected}
    elif found.code == "pool-invalid":
        made["problem"] = str(about_pool.problem)
    else:
        made["supersededBy"] = about_pool.superseded_by
    return made


def blocking_set(offer: NodeOffer, found: BlockingSet) -> Data:
    """Elements that can't be met together."""
    return {"proven": found.proven, "elements": [_element(offer, element) for element in found.elements]}


def _element(offer: NodeOffer, element: RequestElement | ConstraintElement | CounterElement | ClaimElement) -> Data:
    placement = offer.placement
    if isinstance(element, ClaimElement):
        return {"kind": "claim", "claim": holder(placement, element.claim)}
    if isinstance(element, CounterElement):
        return {
            "kind": "counter",
            "pool": element.pool._asdict(),
            "counterSet": element.counter_set,
            "counter": element.counter,
            **_counter_numbers(placement, element),
        }
    claim = placement.claims[element.claim]
    if isinstance(element, RequestElement):
        passing = _passing(offer, element)
        return {"kind": "request", "claim": name(claim), "request": element.request, **passing}
    constraint = claim.spec.devices.constraints[element.position]
    made: Data = {"kind": "constraint", "claim": name(claim), "constraint": element.position}
    if constraint.match_attribute is not None:
        made["matchAttribute"] = constraint.match_attribute
    if constraint.distinct_attribute is not None:
        made["distinctAttribute"] = constraint.distinct_attribute
    return {**made, "requests": list(constraint.requests)}


def _passing(offer: NodeOffer, element: RequestElement) -> Data:
    """How many devices a request needs, and which pass every check while nothing is taken; not for alternatives."""
    place = (element.claim, element.request)
    funnels = [f for f in offer.funnels if (f.want.claim_index, f.want.request_name) == place]
    if len(funnels) != 1:
        return {}
    [funnel] = funnels
    devices = [device_name(device) for device in funnel.left[:EXAMPLES]]
    return {"need": funnel.need, "left": len(funnel.left), "leftDevices": devices}


def _counter_numbers(placement: Placement, element: CounterElement) -> Data:
    """What is left of a counter, and its total."""
    counters = Counters(placement.view.state, placement.view.target)
    for about_pool in placement.view.gatherer.gather(placement.node):
        if about_pool.id == element.pool:
            for slice_ in about_pool.counter_slices or about_pool.slices:
                for counter_set in slice_.object.spec.shared_counters:
                    if counter_set.name == element.counter_set and element.counter in counter_set.counters:
                        left = counters.remaining(about_pool, slice_)[element.counter_set, element.counter]
                        return {"left": amount(left), "total": str(counter_set.counters[element.counter].value)}
    return {}


def defect(found: DecisiveDefects) -> Data:
    """Known defects to which the answer is owed."""
    return {
        "defects": [{"id": d.id, "issue": d.issue or None, "title": d.title} for d in found.defects],
        "promised": found.promised,
    }


def fault(found: ErrorDetails) -> Data:
    """What ended the attempt."""
    made: Data = {"code": found.code, "message": found.message}
    if found.object is not None:
        kind, namespace, plain = found.object
        made["object"] = {"kind": kind, "namespace": namespace, "name": plain}
    if found.missing is not None:
        kind, namespace, plain = found.missing
        made["missing"] = {"kind": kind, "namespace": namespace, "name": plain}
    if found.origin is not None:
        made["source"] = _origin(found.origin)
    if found.device is not None:
        made["device"] = found.device._asdict()
    if found.mended is not None:
        made["rewrite"] = {"expression": found.mended.expression, "outcome": found.mended.outcome}
    for label, value in (
        ("request", found.request),
        ("selector", found.selector),
        ("expression", found.expression),
        ("known", found.known or None),
        ("hint", found.hint),
        ("gate", found.gate),
    ):
        if value is not None:
            made[label] = value
    return made


def suggestion(found: Suggestion) -> Data:
    """Changes that were tried together, and the node on which the claims then fit."""
    return {"changes": [{"code": change.code, **change.data} for change in found.changes], "node": found.node}


def choice(placement: Placement, made: DeviceChoice) -> Data:
    """A device that was chosen, and those before it."""
    passed: dict[tuple[object, ...], Data] = {}
    for device, reason in made.passed_over:
        if isinstance(reason, InUse | TakenAlready) and not _would_do(made.want, device):
            continue
        key = group_key(reason) if reason is not None else ("led-nowhere",)
        told = {"code": "led-nowhere"} if reason is None else {"code": code(reason).name, **code(reason).data(reason)}
        entry = passed.setdefault(key, {**told, "count": 0, "examples": []})
        entry["count"] += 1
        if isinstance(reason, InUse) and reason.claim is not None:
            held = entry.setdefault("holders", [])
            if (by := holder(placement, reason.claim)) not in held:
                held.append(by)
        if len(entry["examples"]) < EXAMPLES:
            entry["examples"].append(device_name(device))
    return {
        **about(made.want),
        "slot": made.slot,
        "device": made.device._asdict() if made.device is not None else None,
        "passedOver": list(passed.values()),
        "alternativesBefore": [_alternative(made.offer, told) for told in made.alternatives_before if made.offer],
    }


def _would_do(want: Want, device: PoolDevice) -> bool:
    """Whether the selectors of the want pass the device."""
    try:
        return want.selector_refusal(device) is None
    except SelectorError:
        return False


def _alternative(offer: NodeOffer, funnel: Funnel) -> Data:
    """An alternative that was not chosen; what is left of its devices was not enough together with the rest."""
    removed = [{**removal(offer, funnel, found), "selectors": []} for found in funnel.removals]
    left = [device_name(device) for device in funnel.left[:EXAMPLES]]
    return {**request(funnel), "removed": removed, "left": len(funnel.left), "leftDevices": left}
