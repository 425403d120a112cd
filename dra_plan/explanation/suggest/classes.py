"""Other device classes that a request might ask for: those of the same driver's devices."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.requests import Want
from dra_plan.api.resource import DeviceClass
from dra_plan.cel.parts import strings
from dra_plan.documents.suggestions import AlternativeAdded, ClassChanged
from dra_plan.explanation import edits
from dra_plan.explanation.funnel import Funnel, NodeOffer
from dra_plan.explanation.names import request_name

from .change import Change, edit_want

MOST = 6
"""Classes to try for one request."""


def of_funnel(offer: NodeOffer, funnel: Funnel) -> Iterator[Change]:
    """Another class; for an alternative, one more alternative that asks for the other class."""
    want = funnel.want
    if want.device_class is None:
        return
    devices = [device for pool in offer.pools for device in pool.devices()]
    drivers = _drivers(want.device_class, devices, offer) or _named(want.device_class, devices)
    tried = 0
    for name, other in sorted(offer.placement.view.classes.items()):
        if name == want.device_class.metadata.name or tried == MOST:
            continue
        if drivers & _drivers(other, devices, offer):
            tried += 1
            yield _other(want, name)


def _other(want: Want, name: str) -> Change:
    if not want.parent:
        now = want.device_class.metadata.name if want.device_class else ""
        changed = ClassChanged(code="change-class", **request_name(want), from_=now, to=name)
        return Change(changed, edit_want(want, edits.set_class(name)))
    about = {**request_name(want), "request": want.parent}
    return Change(
        AlternativeAdded(code="add-alternative", **about, class_=name, count=want.count),
        lambda placement: edits.add_alternative(placement, want.claim_index, want.parent, name, want.count),
    )


def _drivers(device_class: DeviceClass, devices: list[PoolDevice], offer: NodeOffer) -> set[str]:
    """The drivers of the devices that pass all selectors of the class."""
    compile_ = offer.placement.view.compile
    try:
        selectors = [compile_(s.cel.expression) for s in device_class.spec.selectors if s.cel is not None]
        return {d.id.driver for d in devices if all(s.matches(d.device, d.id.driver) for s in selectors)}
    except (SelectorError, ValueError):
        return set()


def _named(device_class: DeviceClass, devices: list[PoolDevice]) -> set[str]:
    """The drivers that the selectors of the class name."""
    named = {text for s in device_class.spec.selectors if s.cel is not None for text in strings(s.cel.expression)}
    return {device.id.driver for device in devices} & named
