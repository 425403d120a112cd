"""Names of claims, requests, devices and pools as documents have them."""

from __future__ import annotations

from typing import Any

from dra_plan.allocator import DeviceID, PoolID
from dra_plan.allocator.requests import Want
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.base import ClaimName, DeviceName, PoolName


def claim_name(claim: ResourceClaim) -> ClaimName:
    """Namespace and name."""
    return ClaimName(namespace=claim.metadata.namespace, name=claim.metadata.name)


def device_name(device: DeviceID) -> DeviceName:
    """Driver, pool and name."""
    return DeviceName(driver=device.driver, pool=device.pool, device=device.device)


def pool_name(pool: PoolID) -> PoolName:
    """Driver and pool."""
    return PoolName(driver=pool.driver, pool=pool.pool)


def request_name(want: Want) -> dict[str, Any]:
    """The fields of what begins with the name of a request."""
    return {"claim": claim_name(want.claim), "request": want.full_name}
