"""Devices that represent the node's own cpu, memory or huge pages (DRANodeAllocatableResources, KEP-5517).

This module computes which node resources an allocation's devices use, checks that the node has enough left after the
pod's own requests, and finds other users of such a claim. The allocator ignores node resources when it chooses devices,
so the node is rejected if the first choice does not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dra_plan.allocator import View
from dra_plan.api.core import NodeAllocatableResourceClaimStatus, Pod
from dra_plan.api.quantity import Quantity, parse, product
from dra_plan.api.resource import (
    AllocationResult,
    DeviceRequestAllocationResult,
    NodeAllocatableResourceMapping,
    ResourceClaim,
)
from dra_plan.claims.pod_claims import claim_name
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_requests import CPU, EPHEMERAL, MEMORY, exact_requests, pod_requests
from dra_plan.scheduler.framework.status import Code, Status, error, insufficient, unresolvable

Mappings = Mapping[str, NodeAllocatableResourceMapping]

_ONE = parse("1")
_FIRST = (CPU, MEMORY, EPHEMERAL)


class ConsumedCapacityError(Exception):
    """The error raised if a mapping needs the consumed capacity of a device that is not shared.

    The message is upstream's.
    """


class NodeAllocatable:
    """The devices in the cluster that use node resources.

    As in upstream, devices are looked up by pool and device name only, ignoring the driver and the generation.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._devices: dict[tuple[str, str], Mappings] = {}
        for slice_ in view.slices:
            for device in slice_.spec.devices:
                self._devices.setdefault(
                    (slice_.spec.pool.name, device.name), device.node_allocatable_resource_mappings
                )

    def check(
        self, pod: Pod, node: NodeInfo, pairs: Sequence[tuple[ResourceClaim, AllocationResult]]
    ) -> tuple[Status | None, list[NodeAllocatableResourceClaimStatus]]:
        """Return a rejection if the node lacks resources that new devices use, and the entries for the pod's status.

        The rejection is None if the node has enough. Claims that were allocated earlier use nothing.
        """
        concerned = [pair for pair in pairs if any(self._mappings(result) for result in pair[1].devices.results)]
        if not concerned:
            return None, []
        try:
            taken = [(claim, self._taken(claim, allocation)) for claim, allocation in concerned]
        except ConsumedCapacityError as problem:
            return error(str(problem)), []
        entries = sorted(_entries(pod, taken), key=lambda entry: entry.resource_claim_name)
        for entry in entries:
            if not entry.containers:
                text = "node-allocatable resource claim not referenced by any container within the pod"
                return unresolvable(f"claim {entry.resource_claim_name}: {text}"), []
        return _covered(pod, entries) or _fits(pod, node, entries), entries

    def _mappings(self, result: DeviceRequestAllocationResult) -> Mappings:
        return self._devices.get((result.pool, result.device), {})

    def _taken(self, claim: ResourceClaim, allocation: AllocationResult) -> dict[str, Quantity]:
        total: dict[str, Quantity] = {}
        for result in allocation.devices.results:
            for name, mapping in sorted(self._mappings(result).items()):
                amount = _amount(claim, result, name, mapping)
                if amount is not None:
                    total[name] = total[name] + amount if name in total else amount
        return total


def _amount(
    claim: ResourceClaim, result: DeviceRequestAllocationResult, resource: str, mapping: NodeAllocatableResourceMapping
) -> Quantity | None:
    """Return the amount of a resource that one device takes.

    Return None if its mapping names a capacity that was not consumed.
    """
    times = _ONE if mapping.allocation_multiplier is None else parse(mapping.allocation_multiplier)
    if not mapping.capacity_key:
        return times
    if result.consumed_capacity is None:
        raise ConsumedCapacityError(
            f"claim {claim.key}, device {result.device}: ConsumedCapacity is nil, but Capacity key "
            f"'{mapping.capacity_key}' is set in NodeAllocatableResourceMappings for resource {resource}"
        )
    consumed = result.consumed_capacity.get(mapping.capacity_key)
    return None if consumed is None else product(parse(consumed), times)


def _entries(
    pod: Pod, taken: Iterable[tuple[ResourceClaim, dict[str, Quantity]]]
) -> Iterable[NodeAllocatableResourceClaimStatus]:
    """Yield one entry for each claim that takes resources, with the containers that name it, as often as they do."""
    names = {entry.name: claim_name(pod, entry) for entry in pod.spec.resource_claims}
    listed = (*pod.spec.init_containers, *pod.spec.containers)
    uses = [(names.get(use.name), container.name) for container in listed for use in container.resources.claims]
    for claim, amounts in taken:
        if amounts:
            yield NodeAllocatableResourceClaimStatus(
                resource_claim_name=claim.metadata.name,
                containers=[container for name, container in uses if name == claim.metadata.name],
                resources={name: amount.text for name, amount in sorted(amounts.items())},
            )


def _covered(pod: Pod, entries: Sequence[NodeAllocatableResourceClaimStatus]) -> Status | None:
    """Return a rejection if pod-level requests are less than containers and devices together.

    The rejection mentions the first such resource in name order.
    """
    if pod.spec.resources is None or not pod.spec.resources.requests:
        return None
    demand = exact_requests(pod, claimed=entries)
    together = exact_requests(pod, pod_level=False, claimed=entries)
    short = next((name for name in sorted(demand) if together.get(name, demand[name]) > demand[name]), None)
    if short is None:
        return None
    what = "is insufficient to cover the aggregated container and node-allocatable DRA requests"
    return unresolvable(f"pod level request for {short} {what}")


def _fits(pod: Pod, node: NodeInfo, entries: Sequence[NodeAllocatableResourceClaimStatus]) -> Status | None:
    """Check like NodeResourcesFit, for the resources that devices can represent."""
    demand = pod_requests(pod, claimed=entries)
    pages = sorted(name for name in demand if name.startswith("hugepages-"))
    left = {name: node.allocatable.get(name, 0) - node.requested.get(name, 0) for name in (*_FIRST, *pages)}
    short = [name for name, free in left.items() if 0 < demand.get(name, 0) > free]
    if not short:
        return None
    hopeless = any(demand[name] > node.allocatable.get(name, 0) for name in short)
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE
    room = node.allocatable
    return Status(code, *(insufficient(name, demand[name], left[name], room.get(name, 0)) for name in short))


def used_elsewhere(pod: Pod, claims: Iterable[ResourceClaim], node: NodeInfo) -> Status | None:
    """Return a rejection if another pod on the node uses one of these allocated claims, or None.

    Which claims the other pods use is read from their status.
    """
    for claim in claims:
        users = [
            info.uid
            for info in node.pods.values()
            if any(entry.resource_claim_name == claim.metadata.name for entry in info.claimed)
            and info.pod.metadata.namespace == pod.metadata.namespace
        ]
        if len(users) > 1:
            return unresolvable(f"node allocatable resource claim {claim.metadata.name} shared by multiple pods")
        if users and users[0] != (pod.metadata.uid or pod.key):
            return unresolvable(f"node allocatable resource claim {claim.metadata.name} is already used by another pod")
    return None
