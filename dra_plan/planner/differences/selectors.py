"""Selectors that match another number of devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import DeviceRequest, DeviceSelector, ResourceClaimSpec
from dra_plan.documents.base import ObjectName
from dra_plan.documents.diff import ChangedSelector


def changed_selectors(before: tuple[Inventory, View], after: tuple[Inventory, View]) -> Iterator[ChangedSelector]:
    """The expressions of classes, claims and templates that match more devices, or fewer, than before."""
    users: dict[str, dict[ObjectName, None]] = {}
    for inventory, _ in (before, after):
        for expression, user in _used(inventory):
            users.setdefault(expression, {})[user] = None
    for expression, named in users.items():
        old, new = (_matched(view, expression) for _, view in (before, after))
        if old != new:
            gone = _reads_gone(expression, before[1], after[1]) if new < old else []
            yield ChangedSelector(expression=expression, used_by=list(named), reads_gone=gone, before=old, after=new)


def _reads_gone(expression: str, before: View, after: View) -> list[str]:
    """Attributes that the expression reads, and that devices had before and none has now."""
    reads = before.compile(expression).reads or ()
    wanted = {f"{domain}/{name}" for kind, domain, name in reads if kind == "attributes"}
    return sorted(wanted & _attributes(before) - _attributes(after)) if wanted else []


def _attributes(view: View) -> set[str]:
    """The attributes of all devices of newest generations, DOMAIN/NAME; without a domain they are the driver's."""
    found: set[str] = set()
    for pool in view.gatherer.slices:
        for slice_ in view.gatherer.newest(pool).slices:
            for device in slice_.object.spec.devices:
                found.update(name if "/" in name else f"{pool.driver}/{name}" for name in device.attributes)
    return found


def _used(inventory: Inventory) -> Iterator[tuple[str, ObjectName]]:
    for device_class in inventory.classes:
        yield from _each(device_class.spec.selectors, _name("DeviceClass", device_class.metadata))
    for claim in inventory.claims:
        yield from _of_claim(claim.spec, _name("ResourceClaim", claim.metadata))
    for template in inventory.templates:
        yield from _of_claim(template.spec.spec, _name("ResourceClaimTemplate", template.metadata))


def _name(kind: str, metadata: ObjectMeta) -> ObjectName:
    return ObjectName(kind=kind, namespace=metadata.namespace, name=metadata.name)


def _of_claim(spec: ResourceClaimSpec, user: ObjectName) -> Iterator[tuple[str, ObjectName]]:
    for request in spec.devices.requests:
        yield from _each(_selectors(request), user)


def _selectors(request: DeviceRequest) -> Iterator[DeviceSelector]:
    if request.exactly is not None:
        yield from request.exactly.selectors
    for alternative in request.first_available:
        yield from alternative.selectors


def _each(selectors: Iterable[DeviceSelector], user: ObjectName) -> Iterator[tuple[str, ObjectName]]:
    for selector in selectors:
        if selector.cel is not None and selector.cel.expression:
            yield selector.cel.expression, user


def _matched(view: View, expression: str) -> int:
    """How many devices of newest generations match; none if the expression does not compile."""
    try:
        selector = view.compile(expression)
    except ValueError:
        return 0
    gatherer = view.gatherer
    number = 0
    for pool in gatherer.slices:
        for slice_ in gatherer.newest(pool).slices:
            for device in slice_.object.spec.devices:
                try:
                    number += selector.evaluate(device, driver=pool.driver).match
                except ValueError:
                    continue
    return number
