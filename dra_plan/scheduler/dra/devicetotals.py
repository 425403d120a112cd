"""How many devices a node has for an extended resource that devices serve: what scores count as its capacity.

Coarser than the allocator, as upstream's scoring is: pool generations and completeness, taints and counters play no
role.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dra_plan.allocator import DeviceID, View
from dra_plan.api.core import NodeSelector
from dra_plan.api.resource import Device, DeviceClass, ResourceSlice
from dra_plan.api.selectors import node_matches, selector_problem
from dra_plan.scheduler.cluster import SimulatedCluster
from dra_plan.scheduler.nodeinfo import NodeInfo

if TYPE_CHECKING:
    from dra_plan.cel import Selector

Totals = Callable[[str, NodeInfo], tuple[int, int]]
"""(resource name, node) -> (devices, those in use)."""


class DeviceTotals:
    """Counts devices by resource name and node. Nothing is counted for a resource whose selectors fail on the node."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self._view: View | None = None
        self._local: dict[str, list[ResourceSlice]] = {}
        self._matching: dict[tuple[str, int], list[Device] | None] = {}

    def of(self, name: str, node: NodeInfo) -> tuple[int, int]:
        """(devices, those in use) of the class behind the resource; (0, 0) if there is none."""
        served_by = self._cluster.extended_names().get(name)
        found = self._cluster.view.classes.get(served_by) if served_by is not None else None
        if found is None:
            return 0, 0
        self._follow()
        state = self._cluster.claims.state
        total = used = 0
        try:
            for slice_ in self._local.get(node.name, self._local[""]):
                for device in self._devices(slice_, found, node):
                    total += 1
                    spec = slice_.spec
                    used += state.holder(DeviceID(spec.driver, spec.pool.name, device.name)) is not None
        except ValueError:
            return 0, 0
        return total, used

    def _follow(self) -> None:
        """Sort the slices by node when they have changed; those for no single node are in every list."""
        if self._view is self._cluster.view:
            return
        self._view = self._cluster.view
        self._matching = {}
        self._local = {"": []}
        for slice_ in self._view.slices:
            where = "" if _for_many(slice_) else slice_.spec.node_name
            if where and where not in self._local:
                self._local[where] = list(self._local[""])
            for listed in [self._local[where]] if where else self._local.values():
                listed.append(slice_)

    def _devices(self, slice_: ResourceSlice, device_class: DeviceClass, node: NodeInfo) -> list[Device]:
        """The slice's devices on the node that match the class. ValueError where upstream gives up."""
        spec = slice_.spec
        if not spec.per_device_node_selection:
            if not _slice_is_on(slice_, node):
                return []
            return self._known_matches(slice_, device_class)
        there = [device for device in spec.devices if _device_is_on(device, node)]
        return self._matches(there, device_class, spec.driver)

    def _known_matches(self, slice_: ResourceSlice, device_class: DeviceClass) -> list[Device]:
        """The devices that match the class, found once for all nodes."""
        key = (device_class.metadata.name, id(slice_))
        if key not in self._matching:
            try:
                self._matching[key] = self._matches(slice_.spec.devices, device_class, slice_.spec.driver)
            except ValueError:
                self._matching[key] = None
        matching = self._matching[key]
        if matching is None:
            raise ValueError(f"selectors of class {device_class.metadata.name} fail")
        return matching

    def _matches(self, devices: Sequence[Device], device_class: DeviceClass, driver: str) -> list[Device]:
        selectors: list[Selector] = [
            self._cluster.view.compile(selector.cel.expression)
            for selector in device_class.spec.selectors
            if devices and selector.cel is not None
        ]
        return [device for device in devices if all(selector.matches(device, driver) for selector in selectors)]


def _for_many(slice_: ResourceSlice) -> bool:
    spec = slice_.spec
    return not spec.node_name or spec.all_nodes or spec.per_device_node_selection or spec.node_selector is not None


def _slice_is_on(slice_: ResourceSlice, node: NodeInfo) -> bool:
    """Unlike for the allocator, a slice that says nothing is everywhere."""
    spec = slice_.spec
    if spec.all_nodes or spec.node_name == node.name:
        return True
    return not spec.node_name and (spec.node_selector is None or _selected(spec.node_selector, node))


def _device_is_on(device: Device, node: NodeInfo) -> bool:
    if device.all_nodes or device.node_name == node.name:
        return True
    return not device.node_name and device.node_selector is not None and _selected(device.node_selector, node)


def _selected(selector: NodeSelector, node: NodeInfo) -> bool:
    problem = selector_problem(selector)
    if problem:
        raise ValueError(problem)
    return node_matches(selector, node.name, node.labels)
