"""Who depends on an object that a change is about."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.resource import ResourceClaimSpec
from dra_plan.documents.base import ObjectName
from dra_plan.explanation.sources import CLAIM, TEMPLATE


def of_class(inventory: Inventory, name: str, *, except_: Collection[ObjectKey]) -> list[ObjectName]:
    """The claims and templates of the input that ask for devices of the class, but for those excepted."""
    specs = [
        *((CLAIM, claim.metadata, claim.spec) for claim in inventory.claims),
        *((TEMPLATE, template.metadata, template.spec.spec) for template in inventory.templates),
    ]
    return [
        ObjectName(kind=kind, namespace=metadata.namespace, name=metadata.name)
        for kind, metadata, spec in specs
        if name in set(_classes(spec)) and (kind, metadata.namespace, metadata.name) not in except_
    ]


def _classes(spec: ResourceClaimSpec) -> Iterator[str]:
    for request in spec.devices.requests:
        if request.exactly is not None:
            yield request.exactly.device_class_name
        yield from (alternative.device_class_name for alternative in request.first_available)
