"""Check the quantities in decoded objects, because the API server rejects objects with invalid quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from dra_plan.api.core import LimitRange, Node, Pod, PodSpec, ResourceQuota, ResourceRequirements
from dra_plan.api.meta import Object, QuantityText
from dra_plan.api.quantity import QuantityError, parse
from dra_plan.api.resource import (
    CapacityRequestPolicy,
    Device,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra_plan.api.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim
from dra_plan.api.workloads import CronJob, CustomWorkload, Job, ReplicationController, Workload

Quantities = Iterable[QuantityText | None]

_MOST_KEPT = 1_000
_readable: set[QuantityText | None] = {None}
"""Amounts, as text, that can be read."""


def are_readable(obj: Object) -> bool:
    """Return whether every quantity in the object is valid."""
    quantities = _QUANTITIES.get(type(obj))
    if quantities is None:
        return True
    found = set(quantities(obj))
    if found <= _readable:  # the same few amounts occur again and again
        return True
    try:
        for quantity in found:
            if quantity is not None:
                parse(quantity)
    except QuantityError:
        return False
    if len(_readable) < _MOST_KEPT:
        _readable.update([quantity for quantity in found if isinstance(quantity, str)])
    return True


def _of_slice(piece: ResourceSlice) -> Quantities:
    found: list[QuantityText | None] = []
    for device in piece.spec.devices:
        for capacity in device.capacity.values():
            found.append(capacity.value)
            if capacity.request_policy is not None:
                found += _of_policy(capacity.request_policy)
        if device.consumes_counters or device.node_allocatable_resource_mappings:
            found += _of_consumption(device)
    for counters in piece.spec.shared_counters:
        found += [counter.value for counter in counters.counters.values()]
    return found


def _of_policy(policy: CapacityRequestPolicy) -> Quantities:
    yield policy.default
    yield from policy.valid_values or ()
    if policy.valid_range is not None:
        yield from (policy.valid_range.min, policy.valid_range.max, policy.valid_range.step)


def _of_consumption(device: Device) -> Quantities:
    for consumption in device.consumes_counters:
        yield from (counter.value for counter in consumption.counters.values())
    yield from (mapping.allocation_multiplier for mapping in device.node_allocatable_resource_mappings.values())


def _of_claim(claim: ResourceClaim) -> Quantities:
    found = _of_claim_spec(claim.spec)
    if claim.allocation is not None:
        for result in claim.allocation.devices.results:
            if result.consumed_capacity:
                found += result.consumed_capacity.values()
    return found


def _of_claim_spec(spec: ResourceClaimSpec) -> list[QuantityText | None]:
    found: list[QuantityText | None] = []
    for request in spec.devices.requests:
        for wanted in (request.exactly, *request.first_available):
            if wanted is not None and wanted.capacity is not None:
                found += wanted.capacity.requests.values()
    return found


def _of_node(node: Node) -> Quantities:
    return [*node.status.capacity.values(), *node.status.allocatable.values()]


def _of_pod(pod: Pod) -> Quantities:
    yield from _of_pod_spec(pod.spec)
    for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        yield from status.allocated_resources.values()
        yield from _of_resources([status.resources])
    for claim in pod.status.node_allocatable_resource_claim_statuses:
        yield from claim.resources.values()


def _of_pod_spec(spec: PodSpec) -> Quantities:
    containers = chain(spec.containers, spec.init_containers)
    yield from spec.overhead.values()
    yield from _of_resources([spec.resources, *(container.resources for container in containers)])


def _of_resources(resources: Iterable[ResourceRequirements | None]) -> Quantities:
    for requirements in resources:
        if requirements is not None:
            yield from requirements.requests.values()
            yield from requirements.limits.values()


def _of_volume(volume: PersistentVolume) -> Quantities:
    return volume.spec.capacity.values()


def _of_volume_claim(claim: PersistentVolumeClaim) -> Quantities:
    return claim.spec.resources.requests.values()


def _of_storage_capacity(capacity: CSIStorageCapacity) -> Quantities:
    return capacity.capacity, capacity.maximum_volume_size


def _of_limits(limits: LimitRange) -> Quantities:
    for item in limits.spec.limits:
        for amounts in (item.max, item.min, item.default, item.default_request, item.max_limit_request_ratio):
            yield from amounts.values()


def _of_templated(owner: Any) -> Quantities:
    return _of_pod_spec(owner.spec.template.spec)


_QUANTITIES: dict[type[Object], Callable[[Any], Quantities]] = {
    ResourceSlice: _of_slice,
    ResourceClaim: _of_claim,
    ResourceClaimTemplate: lambda template: _of_claim_spec(template.spec.spec),
    Node: _of_node,
    ResourceQuota: lambda quota: quota.spec.hard.values(),
    LimitRange: _of_limits,
    PersistentVolume: _of_volume,
    PersistentVolumeClaim: _of_volume_claim,
    CSIStorageCapacity: _of_storage_capacity,
    Pod: _of_pod,
    Workload: _of_templated,
    ReplicationController: _of_templated,
    CustomWorkload: _of_templated,
    Job: _of_templated,
    CronJob: lambda job: _of_templated(job.spec.job_template),
}
