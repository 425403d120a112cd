"""Devices that claims are allocated, and that drivers publish on one side only: whose they are.

Nothing takes an allocated claim from its pod when a driver no longer publishes the device: the pod runs on, with a
device that kubelet can't prepare anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dra_plan.allocator import PoolID, View
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.devices import ClaimHolder
from dra_plan.documents.diff import ChangedPool, HeldDevice, HeldDeviceChange

from .pools import published

Asked = Callable[[ClaimHolder], bool]
"""Whether a claim, with the pods that may use it, is asked about."""


def held_devices(pools: Iterable[ChangedPool], before: View, after: View, asked: Asked) -> Iterator[HeldDevice]:
    """Lost: claims of the state after have devices that are gone. Gained: those of the state before had such as came.

    `pools` are the pools that differ.
    """
    gone: dict[PoolID, set[str]] = {}
    new: dict[PoolID, set[str]] = {}
    for pool in pools:
        key = PoolID(pool.driver, pool.pool)
        gone[key] = set(published(before, key) if pool.change == "Gone" else pool.devices_gone)
        new[key] = set(published(after, key) if pool.change == "New" else pool.devices_new)
    yield from _held("Lost", gone, after.claims, asked)
    yield from _held("Gained", new, before.claims, asked)


def _held(
    change: HeldDeviceChange, devices: Mapping[PoolID, set[str]], claims: Iterable[ResourceClaim], asked: Asked
) -> Iterator[HeldDevice]:
    if not any(devices.values()):
        return
    for claim in claims:
        if claim.allocation is None:
            continue
        results = [(PoolID(each.driver, each.pool), each.device) for each in claim.allocation.devices.results]
        found = [(pool, device) for pool, device in dict.fromkeys(results) if device in devices.get(pool, ())]
        if not found:
            continue
        users = claim.status.reserved_for if claim.status is not None else ()
        pods = [user.name for user in users if user.resource == "pods"]
        holder = ClaimHolder(namespace=claim.metadata.namespace, name=claim.metadata.name, pods=pods)
        if asked(holder):
            for pool, device in found:
                yield HeldDevice(change=change, driver=pool.driver, pool=pool.pool, device=device, holder=holder)
