"""Names in documents, known defects that change a result, and the objects to edit to change a claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from dra_plan.allocator import DeviceID, NodeOutcome, PoolID
from dra_plan.allocator.requests import Want
from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate
from dra_plan.api.well_known import POD_CLAIM_ANNOTATION
from dra_plan.documents.base import ClaimName, DeviceName, PoolName
from dra_plan.documents.stories import ClaimElsewhere
from dra_plan.releases import DEFECTS, Defect

from .placement import Budget, Placement


def claim_name(claim: ResourceClaim) -> ClaimName:
    """Return the claim's namespace and name."""
    return ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name)


def pod_entry(claim: ResourceClaim) -> str:
    """Return the name that the pod's resourceClaims have for a generated claim, or "" for other claims."""
    return (claim.metadata.annotations or {}).get(POD_CLAIM_ANNOTATION, "")


def pods_using(claim: ResourceClaim | None) -> list[str]:
    """Return the names of the pods that the claim is reserved for."""
    reserved = claim.reserved_for if claim is not None else []
    return [consumer.name for consumer in reserved if consumer.resource == "pods"]


def claim_elsewhere(claim: ResourceClaim) -> ClaimElsewhere:
    """Return an allocated claim whose devices the node cannot reach, with the devices and the users of the claim."""
    results = claim.allocation.devices.results if claim.allocation is not None else []
    return ClaimElsewhere(
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        devices=[DeviceName(driver=each.driver, pool=each.pool, device=each.device) for each in results],
        pods=pods_using(claim),
    )


def device_name(device: DeviceID) -> DeviceName:
    """Return the driver, pool and name of the device."""
    return DeviceName(driver=device.driver, pool=device.pool, device=device.device)


def pool_name(pool: PoolID) -> PoolName:
    """Return the driver and name of the pool."""
    return PoolName(driver=pool.driver, pool=pool.pool)


def request_name(want: Want) -> dict[str, Any]:
    """Return the fields that identify a request in documents."""
    return {"claim": claim_name(want.claim), "request": want.full_name}


# -- defects that decide -----------------------------------------------------------------------------------------------
# These are a release's known defects without which the result would be different.

STEPS = 50_000
"""The maximum number of search steps for finding decisive defects on one node."""


class DecisiveDefects(Struct, frozen=True):
    """The defects that change the result on a node, and the result without them (`promised`)."""

    defects: tuple[Defect, ...]
    promised: str


def defects(placement: Placement, answer: NodeOutcome) -> DecisiveDefects | None:
    """Return the defects that change the outcome on this node, or None if there are none.

    If a single defect changes the outcome, only that defect is returned. Otherwise, all defects that occurred are
    returned.
    """
    active = placement.view.target.quirks.among(answer.sighted)
    budget = Budget(STEPS, STEPS)
    for names in [(name,) for name in active] + ([active] if len(active) > 1 else []):
        other = placement.repaired(*names).ask(budget)
        if other.outcome is not answer.outcome and other.outcome.value != "Undecided":
            return DecisiveDefects(tuple(d for d in DEFECTS if d.quirk in names), other.outcome.value)
    return None


# -- objects that claims come from -------------------------------------------------------------------------------------

CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"


def made_from(claim: ResourceClaim, inventory: Inventory) -> ObjectKey | None:
    """Return the template of a generated claim, or None if the template is not in the input or has changed.

    The claim itself can't be changed, but its template can, and new pods get new claims from the template.
    """
    named = _named_template(claim, inventory)
    same = (template for template in _templates(named, inventory) if template.spec.spec == claim.spec)
    return next((named for _ in same), None)


def absent_template(claim: ResourceClaim, inventory: Inventory) -> str | None:
    """Return the name of a generated claim's template if the input lacks the template, and otherwise None."""
    named = _named_template(claim, inventory)
    return named[2] if named is not None and not any(_templates(named, inventory)) else None


def _named_template(claim: ResourceClaim, inventory: Inventory) -> ObjectKey | None:
    """Return the template that the pod of a generated claim names for it, or None if there is no such pod."""
    controller, entry = claim.metadata.controller, (claim.metadata.annotations or {}).get(POD_CLAIM_ANNOTATION)
    if controller is None or controller.kind != "Pod" or entry is None:
        return None
    namespace = claim.metadata.namespace
    owner = namespace, controller.name
    pods = (pod for pod in inventory.pods if (pod.metadata.namespace, pod.metadata.name) == owner)
    entries = (each for pod in pods for each in pod.spec.resource_claims if each.name == entry)
    name = next((each.resource_claim_template_name for each in entries), None)
    return (TEMPLATE, namespace, name) if name else None


def _templates(named: ObjectKey | None, inventory: Inventory) -> Iterator[ResourceClaimTemplate]:
    """Yield the template of the input that has this name."""
    for template in inventory.templates:
        if (TEMPLATE, template.metadata.namespace, template.metadata.name) == named:
            yield template


def source(claim: ResourceClaim, inventory: Inventory) -> ObjectKey:
    """Return the template from which a new claim is created, or the claim itself if it has no template.

    A new claim and its template share one spec object, which identifies the template.
    """
    made_from = next((template for template in inventory.templates if template.spec.spec is claim.spec), None)
    if made_from is None:
        return CLAIM, claim.metadata.namespace, claim.metadata.name
    return TEMPLATE, made_from.metadata.namespace, made_from.metadata.name


def edited_object(claim: ResourceClaim, inventory: Inventory) -> ObjectKey:
    """Return the object to edit in order to change the claim.

    This is the claim's template, even if the input lacks it, or the claim itself.
    """
    absent = absent_template(claim, inventory)
    if absent is not None:
        return TEMPLATE, claim.metadata.namespace, absent
    return made_from(claim, inventory) or source(claim, inventory)
