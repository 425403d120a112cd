"""What PreFilter asks of each claim before any node is looked at: whether it can be allocated, and has its classes."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from dra_plan.allocator import View
from dra_plan.api.resource import DeviceRequest, ResourceClaim
from dra_plan.api.selectors import selector_problem
from dra_plan.scheduler.status import Status, error, unresolvable

if TYPE_CHECKING:
    from dra_plan.scheduler.cluster import SimulatedCluster


def check_claim(
    claim: ResourceClaim, cluster: SimulatedCluster, *, is_special: bool, shared: Container[str] = ()
) -> Status | None:
    """Why the pod can't be scheduled with this claim; the special claim for extended resources has no requests yet.

    `shared` are the uids of claims in flight whose allocation the pod may use as well: those of its group's cycle.
    """
    if claim.allocation is not None:
        selector = claim.allocation.node_selector
        problem = selector_problem(selector) if selector is not None else None
        return error(problem) if problem else None
    if cluster.claims.pending_allocation(claim.metadata.uid) is not None and claim.metadata.uid not in shared:
        return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
    if is_special:
        return None
    return check_requests(claim, cluster.view)


def check_requests(claim: ResourceClaim, view: View) -> Status | None:
    """Why no node is even looked at for what the claim asks: forms and classes that are not known."""
    statuses = (_check_request(claim, request, view) for request in claim.spec.devices.requests)
    return next((status for status in statuses if status is not None), None)


def _check_request(claim: ResourceClaim, request: DeviceRequest, view: View) -> Status | None:
    where = f"resource claim {claim.key}, request {request.name}"
    if request.exactly is not None:
        return _check_class(request.exactly.device_class_name, request.name, view)
    if not request.first_available:
        return unresolvable(f"{where}: unknown request type")
    if not view.target.features.prioritized_list:
        return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
    statuses = (
        _check_class(option.device_class_name, f"{request.name}/{option.name}", view)
        for option in request.first_available
    )
    return next((status for status in statuses if status is not None), None)


def _check_class(name: str, request: str, view: View) -> Status | None:
    if not name:
        return error(f"request {request}: unsupported request type")
    if name not in view.classes:
        return unresolvable(f"request {request}: device class {name} does not exist")
    return None
