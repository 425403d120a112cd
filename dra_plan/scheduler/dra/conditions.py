"""Binding conditions: devices that drivers prepare before the pod may be bound (KEP-5007)."""

from __future__ import annotations

from dra_plan.api.resource import AllocatedDeviceStatus, Condition, DeviceRequestAllocationResult, ResourceClaim
from dra_plan.scheduler.clock import parse_time


def conditional_results(claim: ResourceClaim) -> list[DeviceRequestAllocationResult]:
    """The claim's results that have conditions."""
    if claim.allocation is None:
        return []
    return [result for result in claim.allocation.devices.results if result.binding_conditions]


def _reported(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    devices = claim.status.devices if claim.status is not None else []
    wanted = (result.driver, result.pool, result.device)
    return next((d for d in devices if (d.driver, d.pool, d.device) == wanted), None)


def _true(status: AllocatedDeviceStatus, name: str) -> Condition | None:
    return next((c for c in status.conditions if c.type == name and c.status == "True"), None)


def preparation(claim: ResourceClaim) -> tuple[bool, Condition | None]:
    """Whether all devices are ready (a claim without conditions is), and the failure condition that is true, if any.

    Upstream looks at one device after the other and stops at the first that is not ready: a failure further down is
    not seen yet.
    """
    for result in conditional_results(claim):
        status = _reported(claim, result)
        if status is None:
            return False, None
        for name in result.binding_failure_conditions:
            found = _true(status, name)
            if found is not None:
                return False, found
        if any(_true(status, name) is None for name in result.binding_conditions):
            return False, None
    return True, None


def timed_out(claim: ResourceClaim, timeout: float, now: float) -> bool:
    """Whether the allocation is older than the timeout."""
    if claim.allocation is None:
        return False
    since = parse_time(claim.allocation.allocation_timestamp)
    return since is not None and since + timeout < now


def usable(claim: ResourceClaim, timeout: float, now: float) -> bool:
    """Whether a pod may still count on the claim's devices."""
    ready, failed = preparation(claim)
    return failed is None and (ready or not timed_out(claim, timeout, now))
