"""Slices whose counter sets have a form that the release does not accept and that its scheduler misreads."""

from __future__ import annotations

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceSlice
from dra_plan.releases import Target
from dra_plan.wording import listed

NOT_ACCEPTED = "slice-not-accepted"


def of_counter_slices(inventory: Inventory, target: Target) -> list[Notice]:
    """Return a warning if slices publish counter sets in a form that the release does not accept.

    Since 1.35, a slice with counter sets has no devices, and its counter sets apply to the whole pool. Up to 1.34,
    counter sets are in the same slice as the devices that use them.
    """
    if not target.features.partitionable_devices:
        return []
    apart = target.rules.counter_slices
    found = [one for one in inventory.slices if (_has_both(one) if apart else _lacks_sets(one))]
    if not found:
        return []
    names = f"slice{'' if len(found) == 1 else 's'} {listed([one.metadata.name for one in found])}"
    release = f"Kubernetes {target.version}"
    if apart:
        what = f"sharedCounters next to devices, which {release} does not accept: these devices are not used. Move the"
        told = f"{names}: {what} sharedCounters to another slice of the pool"
    else:
        what = f"devices whose counter sets are in another slice, which {release} does not accept: their counters are"
        told = f"{names}: {what} not checked, and a device may be allocated twice. Put both into the same slice"
    return [Notice(NOT_ACCEPTED, told, f"ResourceSlice {found[0].metadata.name}")]


def _has_both(of: ResourceSlice) -> bool:
    return bool(of.spec.shared_counters and of.spec.devices)


def _lacks_sets(of: ResourceSlice) -> bool:
    sets = {each.name for each in of.spec.shared_counters}
    return any(taken.counter_set not in sets for device in of.spec.devices for taken in device.consumes_counters)
