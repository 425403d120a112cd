"""Devices that a node offers twice: as slices of a DRA driver, and as a number that a device plugin reports."""

from __future__ import annotations

from collections.abc import Iterable

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.quantity import parse

DEVICES_TWICE = "devices-twice"


def of_devices_twice(inventory: Inventory) -> list[Notice]:
    """A warning for each resource and driver of one vendor and name that some nodes have both of.

    The scheduler counts each by itself, so that one device is given to two pods, and the second fails on its node.
    `nvidia.com/gpu` belongs to the drivers `gpu.nvidia.com` and `nvidia.com`.
    """
    drivers: dict[str, set[str]] = {}
    for each in inventory.slices:
        if each.spec.node_name and each.spec.devices:
            drivers.setdefault(each.spec.node_name, set()).add(each.spec.driver)
    found: dict[tuple[str, str], list[str]] = {}
    for node in inventory.nodes if drivers else ():
        published = drivers.get(node.metadata.name, ())
        for resource, amount in (node.status.allocatable or {}).items() if published else ():
            for driver in sorted(_of_same_devices(resource, published)):
                if parse(amount).sign > 0:
                    found.setdefault((resource, driver), []).append(node.metadata.name)
    return [
        Notice(
            DEVICES_TWICE,
            f"{_named(nodes)} {resource} as a number, and ResourceSlices of driver {driver}: if these are the same"
            " devices, each is given away twice, and the second pod fails to start: switch one of the two off",
            f"Node {nodes[0]}",
        )
        for (resource, driver), nodes in found.items()
    ]


def _of_same_devices(resource: str, drivers: Iterable[str]) -> list[str]:
    vendor, slash, name = resource.partition("/")
    return [driver for driver in drivers if slash and driver in (vendor, f"{name}.{vendor}")]


def _named(nodes: list[str]) -> str:
    others = len(nodes) - 1
    return f"{nodes[0]} has" if not others else f"{nodes[0]} and {others} more have"
