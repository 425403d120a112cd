"""The amounts that pods need and that nodes have, as a quick test before calls to the allocator.

The amounts of pods on a node are added up: the number of pods, CPU, memory and storage and, for devices, the total
capacity that requests take, the number of requests that take more than half of a device, and the number of devices if
none can be shared. Pods that exceed a node's amounts do not fit; other pods may fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from dra_plan.allocator import AllocationError
from dra_plan.api.quantity import parse
from dra_plan.api.resource import Device, ExactDeviceRequest, ResourceClaim
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.framework import plugin_names

from .node_kinds import PlacementCluster, PodToPlace

DeviceName = tuple[str, str, str]
Amounts = tuple[int, ...]
"""One amount for each entry of `NodeAmounts.sorts`."""

_REQUESTS = ("cpu", "memory", "ephemeral-storage")
_UNKNOWN = 10**30
"""A number larger than any need."""


class NodeAmounts:
    """The amounts that pods of the given shapes need, and that nodes have free.

    A pod's amounts do not include devices for the claims in `shared`, which contains keys of claims.
    """

    def __init__(
        self, ground: PlacementCluster, shapes: Sequence[PodToPlace], shared: Collection[str] = frozenset()
    ) -> None:
        self._ground, self._shared = ground, shared
        self._counts_requests = any(plugin.name == plugin_names.FIT for plugin in ground.framework.points["filter"])
        self._shapes = [self._needed(shape) for shape in shapes]
        self._held: dict[str, list[tuple[DeviceName, Device, dict[str, int]]]] = {}
        """The devices that each claim holds."""
        self.sorts: list[Hashable] = list(dict.fromkeys(sort for needs in self._shapes for sort in needs))
        self._position = {sort: position for position, sort in enumerate(self.sorts)}
        self.needs: list[Amounts] = [self._listed(needs) for needs in self._shapes]
        """The amounts that a pod of each shape needs."""
        self.parts: list[tuple[tuple[str, int, int], ...]] = [tuple(self._parts(shape)) for shape in shapes]
        """For each shape, what each request needs from a single device: capacity, amount and number of devices."""

    def _listed(self, amounts: Mapping[Hashable, int]) -> Amounts:
        return tuple(amounts.get(sort, 0) for sort in self.sorts)

    # Needs of pods

    def _parts(self, pod: PodToPlace) -> Iterator[tuple[str, int, int]]:
        for exact in self._exact(pod):
            for name, text in exact.capacity.requests.items() if exact.capacity is not None else ():
                yield _short(name), parse(text).nano, exact.count

    def _exact(self, pod: PodToPlace) -> Iterator[ExactDeviceRequest]:
        for claim in pod.pending:
            for request in claim.spec.devices.requests if claim.key not in self._shared else ():
                exact = request.exactly
                if exact is not None and exact.allocation_mode != "All" and not exact.admin_access:
                    yield exact if self._counts_capacity else replace(exact, capacity=None)

    @property
    def _counts_capacity(self) -> bool:
        """Return whether the release checks the capacity of the device that it takes."""
        target = self._ground.target
        return target.features.consumable_capacity and not target.quirks.capacity_of_wrong_device

    def _needed(self, pod: PodToPlace) -> Counter[Hashable]:
        found: Counter[Hashable] = Counter(dict(self._requested(pod)))
        for exact in self._exact(pod):
            if exact.capacity is None and not self._is_shared:
                found["devices"] += exact.count
        for name, amount, count in self._parts(pod):
            found["sum", name] += count * amount
            if 2 * amount > self._largest.get(name, 0):
                found["half", name] += count
        return found

    def _requested(self, pod: PodToPlace) -> Iterator[tuple[Hashable, int]]:
        yield "pods", 1
        for name in _REQUESTS if self._counts_requests else ():
            if pod.info.requests.get(name, 0):
                yield name, pod.info.requests[name]

    @cached_property
    def _devices(self) -> dict[tuple[str, str, str], Device]:
        return {
            (each.spec.driver, each.spec.pool.name, device.name): device
            for each in self._ground.simulation.inventory.slices
            for device in each.spec.devices
        }

    @cached_property
    def _is_shared(self) -> bool:
        """Return whether any device can be shared."""
        is_known = self._ground.target.features.consumable_capacity
        return is_known and any(device.allow_multiple_allocations for device in self._devices.values())

    @cached_property
    def _largest(self) -> dict[str, int]:
        """Return the largest amount of each capacity that a device has."""
        found: dict[str, int] = {}
        for device in self._devices.values():
            for name, amount in _capacities(device):
                found[name] = max(found.get(name, 0), amount)
        return found

    # Held and available amounts

    def held(self, pod: PodToPlace, claims: Iterable[ResourceClaim]) -> Amounts:
        """Return the amounts that become free when the pod leaves and these claims are deallocated."""
        found = [0] * len(self.sorts)
        for sort, amount in (*self._requested(pod), *self._taken(claims)):
            if sort in self._position:
                found[self._position[sort]] += amount
        return tuple(found)

    def taken(self, claims: Iterable[ResourceClaim]) -> Iterator[tuple[DeviceName, Device, dict[str, int]]]:
        """Yield the devices that the claims hold, with the capacity that they take from each."""
        for claim in claims:
            if claim.key not in self._held:
                self._held[claim.key] = list(self._taken_by(claim))
            yield from self._held[claim.key]

    def _taken_by(self, claim: ResourceClaim) -> Iterator[tuple[DeviceName, Device, dict[str, int]]]:
        for result in claim.allocation.devices.results if claim.allocation is not None else ():
            name = result.driver, result.pool, result.device
            device = self._devices.get(name)
            if device is not None and not result.admin_access:
                consumed = {_short(each): parse(text).nano for each, text in (result.consumed_capacity or {}).items()}
                shares = result.share_id is not None
                amounts = {each: consumed.get(each, 0) if shares else n for each, n in _capacities(device)}
                yield name, device, amounts

    def _taken(self, claims: Iterable[ResourceClaim]) -> Iterator[tuple[Hashable, int]]:
        for _, device, amounts in self.taken(claims):
            yield "devices", 1
            for name, amount in amounts.items():
                yield ("sum", name), amount
                if 2 * amount > self._largest[name] or not device.allow_multiple_allocations:
                    yield ("half", name), 1

    def places(
        self, claims: Iterable[ResourceClaim], places: Mapping[tuple[DeviceName, str], int]
    ) -> Iterator[tuple[int, int]]:
        """Yield the capacity that the claims take from devices, as (position in `places`, amount)."""
        for device, _, amounts in self.taken(claims):
            for name, amount in amounts.items():
                if (device, name) in places:
                    yield places[device, name], amount

    def devices(self, node: NodeInfo, claims: Iterable[ResourceClaim]) -> dict[tuple[DeviceName, str], int]:
        """Return how much of each capacity is free on each device that the node can use.

        Only these claims count as holding devices.
        """
        try:
            pools = self._ground.view.gatherer.gather(node.node)
        except AllocationError:
            return {}
        found = {
            ((pool.id.driver, pool.id.pool, device.name), name): amount
            for pool in pools
            for slice_ in pool.slices
            for device in slice_.object.spec.devices
            for name, amount in _capacities(device)
        }
        for device, _, amounts in self.taken(claims):
            for name, amount in amounts.items():
                if (device, name) in found:
                    found[device, name] -= amount
        return found

    def free(self, node: NodeInfo, claims: Iterable[ResourceClaim]) -> Amounts:
        """Return the free amounts on the node. Only these claims count as holding devices."""
        found: Counter[Hashable] = Counter({"pods": node.allowed_pods - len(node.pods)})
        for name in _REQUESTS:
            found[name] = node.allocatable.get(name, 0) - node.requested.get(name, 0)
        try:
            pools = self._ground.view.gatherer.gather(node.node)
        except AllocationError:
            return tuple(found.get(sort, _UNKNOWN) for sort in self.sorts)
        for pool in pools:
            for slice_ in pool.slices:
                for device in slice_.object.spec.devices:
                    found["devices"] += 1
                    for name, amount in _capacities(device):
                        found["sum", name] += amount
                        found["half", name] += 1
        for sort, amount in self._taken(claims):
            found[sort] -= amount
        return self._listed(found)


def _short(name: str) -> str:
    """Return a capacity's name without the driver."""
    return name.rpartition("/")[2]


def _capacities(device: Device) -> Iterator[tuple[str, int]]:
    for name, capacity in device.capacity.items():
        yield _short(name), parse(capacity.value).nano
