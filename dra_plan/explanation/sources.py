"""Where a claim comes from: the object that somebody has to edit to change it."""

from __future__ import annotations

from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.resource import ResourceClaim

CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"


def source(claim: ResourceClaim, inventory: Inventory) -> ObjectKey:
    """The template that the claim is made from, known by its very spec; else the claim as it was read."""
    made_from = next((template for template in inventory.templates if template.spec.spec is claim.spec), None)
    if made_from is None:
        return CLAIM, claim.metadata.namespace, claim.metadata.name
    return TEMPLATE, made_from.metadata.namespace, made_from.metadata.name
