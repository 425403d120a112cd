"""Devices that a node offers twice: in a DRA driver's slices, and as an extended resource from a device plugin."""

from __future__ import annotations

from collections.abc import Container, Iterable

from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.quantity import parse
from dra_plan.api.resource import ResourceSlice

DEVICES_TWICE = "devices-twice"


def of_devices_twice(inventory: Inventory) -> list[Notice]:
    """Return warnings about devices that a node offers both as an extended resource and through a DRA driver.

    There is one warning for each resource and driver with the same vendor and name: `nvidia.com/gpu` belongs to the
    drivers `gpu.nvidia.com` and `nvidia.com`. The scheduler counts the two separately, so it can give one device to two
    pods, of which the second fails on its node.
    """
    twice: dict[tuple[str, str], list[str]] = {}
    numbers = {node.metadata.name: found for node in inventory.nodes if (found := _numbers(node))}
    published = _drivers(inventory.slices, numbers) if numbers else {}
    for node, resources in numbers.items():
        for resource in resources:
            for driver in sorted(_of_same_devices(resource, published.get(node, ()))):
                twice.setdefault((resource, driver), []).append(node)
    return [
        Notice(
            DEVICES_TWICE,
            (
                f"{_named(nodes)} {resource} as a number, and there are ResourceSlices of driver "
                f"{driver}. If these are the same devices, each can be allocated twice, and the second "
                "pod fails to start: disable one of the two"
            ),
            f"Node {nodes[0]}",
        )
        for (resource, driver), nodes in twice.items()
    ]


def _numbers(node: Node) -> list[str]:
    """Return the resources with a vendor of which the node has some."""
    allocatable = (node.status.allocatable or {}).items()
    return [resource for resource, amount in allocatable if "/" in resource and parse(amount).sign > 0]


def _drivers(slices: Iterable[ResourceSlice], nodes: Container[str]) -> dict[str, set[str]]:
    """Return the drivers that publish devices on these nodes, by node. The contents of other slices are not read."""
    drivers: dict[str, set[str]] = {}
    for each in slices:
        node = each.spec.node_name
        if node and node in nodes and each.spec.devices:
            drivers.setdefault(node, set()).add(each.spec.driver)
    return drivers


def _of_same_devices(resource: str, drivers: Iterable[str]) -> list[str]:
    vendor, _, name = resource.partition("/")
    return [driver for driver in drivers if driver in (vendor, f"{name}.{vendor}")]


def _named(nodes: list[str]) -> str:
    others = len(nodes) - 1
    return f"{nodes[0]} has" if not others else f"{nodes[0]} and {others} more have"
