"""Rules about the status of claims: allocations, users, and the drivers' reports (DRA145, DRA158, DRA159)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from dra_plan.allocator.requests import RESULTS_LIMIT
from dra_plan.api.meta import FieldPath
from dra_plan.api.resource import (
    AllocatedDeviceStatus,
    AllocationResult,
    Condition,
    DeviceClaim,
    DeviceRequestAllocationResult,
    ResourceClaimSpec,
    ResourceClaimStatus,
)
from dra_plan.manifests.diagnose import expected

from . import claims, devices, limits, names, selectors
from .claims import check_references, known_request, request_names
from .formats import nearest, shown
from .limits import CONDITIONS, MESSAGE_BYTES, REASON_BYTES, TOO_LONG, at_most, at_most_bytes
from .rule import Problem, refused

# -- conditions --------------------------------------------------------------------------------------------------------
# DRA158: conditions of devices in the status of claims, and of taint rules (apimachinery's `ValidateConditions`).

TAKE_AS_IT_IS = "Copy the status unchanged from a cluster, or remove it."

CONDITION = refused(
    "DRA158",
    "condition that the API server rejects",
    (
        "A condition must have a status (True, False or Unknown), a one-word reason, and the time of its "
        "last transition."
    ),
    TAKE_AS_IT_IS,
)
CONDITION_RULES = (CONDITION,)

_STATUSES = ("True", "False", "Unknown")
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)


def check_conditions(path: FieldPath, conditions: Sequence[Condition]) -> Iterator[Problem]:
    """Check a list of conditions."""
    yield from at_most(path, conditions, CONDITIONS, "condition")
    yield from names.unique((((*path, i, "type"), condition.type) for i, condition in enumerate(conditions)), "type")
    for index, condition in enumerate(conditions):
        at = (*path, index)
        yield from names.label_name((*at, "type"), condition.type)
        if condition.status not in _STATUSES:
            message = f"{shown(condition.status)} is not one of {', '.join(_STATUSES)}"
            yield CONDITION.at((*at, "status"), message, nearest(condition.status, _STATUSES) or "")
        yield from names.required((*at, "reason"), condition.reason)
        if condition.reason and _REASON.fullmatch(condition.reason) is None:
            message = (
                f"{shown(condition.reason)} is not a valid reason: a letter, then letters, digits, '_', ',' and ':'"
            )
            yield CONDITION.at((*at, "reason"), message)
        yield from at_most_bytes((*at, "reason"), condition.reason, REASON_BYTES, "reason")
        yield from at_most_bytes((*at, "message"), condition.message, MESSAGE_BYTES, "message")
        yield from names.required((*at, "lastTransitionTime"), condition.last_transition_time or "")
        if (condition.observed_generation or 0) < 0:
            yield CONDITION.at((*at, "observedGeneration"), f"{condition.observed_generation} is negative")


# -- status of claims --------------------------------------------------------------------------------------------------

STATUS = refused(
    "DRA145",
    "claim status that contradicts itself",
    (
        "Only an allocated claim can be reserved, and only once for each consumer. Only allocated devices "
        "can have a driver status."
    ),
    TAKE_AS_IT_IS,
)
FORMAT = refused(
    "DRA159",
    "claim status in the wrong format",
    (
        "Share IDs must be UUIDs. Addresses must have a prefix length and be in their shortest form. The "
        "source of a configuration must be FromClass or FromClaim."
    ),
    TAKE_AS_IT_IS,
)
RULES = (STATUS, FORMAT)

_MAPPED_BITS = 96
"""The number of bits before an IPv4 address that is written as IPv6."""
_SOURCES = ("FromClass", "FromClaim")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_PATH: FieldPath = ("status",)


def check(status: ResourceClaimStatus, spec: ResourceClaimSpec) -> Iterator[Problem]:
    """Check the status of a claim."""
    allocated: set[tuple[str, str, str, str | None]] = set()
    if status.allocation is not None:
        yield from _allocation((*_PATH, "allocation"), status.allocation, spec.devices)
        allocated = {_key(result) for result in status.allocation.devices.results}
    yield from _reserved((*_PATH, "reservedFor"), status)
    seen: set[tuple[str, str, str, str | None]] = set()
    for index, device in enumerate(status.devices):
        at, key = (*_PATH, "devices", index), _key(device)
        name = f"{device.driver}/{device.pool}/{device.device}"
        if key not in allocated:
            yield STATUS.at(at, f"{name} is not allocated to this claim")
        if key in seen:
            yield names.NOT_UNIQUE.at(at, f"device {name} is listed twice")
        seen.add(key)
        yield from _device(at, device)


def _key(device: DeviceRequestAllocationResult | AllocatedDeviceStatus) -> tuple[str, str, str, str | None]:
    return device.driver, device.pool, device.device, device.share_id


def _reserved(path: FieldPath, status: ResourceClaimStatus) -> Iterator[Problem]:
    yield from at_most(path, status.reserved_for, limits.RESERVED_FOR, "user")
    if status.reserved_for and status.allocation is None:
        yield STATUS.at(path, "the claim is reserved but not allocated")
    yield from names.unique((((*path, i, "uid"), user.uid) for i, user in enumerate(status.reserved_for)), "user")
    for index, user in enumerate(status.reserved_for):
        for name, value in (("resource", user.resource), ("name", user.name), ("uid", user.uid)):
            yield from names.required((*path, index, name), value)


def _allocation(path: FieldPath, allocation: AllocationResult, claim: DeviceClaim) -> Iterator[Problem]:
    at = (*path, "devices")
    results, entries, known = allocation.devices.results, allocation.devices.config, request_names(claim)
    yield from at_most((*at, "results"), results, RESULTS_LIMIT, "result")
    for index, result in enumerate(results):
        yield from known_request((*at, "results", index, "request"), result.request, known)
        yield from _result((*at, "results", index), result)
    yield from at_most((*at, "config"), entries, limits.ALLOCATION_CONFIGS, "configuration")
    for index, entry in enumerate(entries):
        place = (*at, "config", index)
        yield from names.required((*place, "source"), entry.source)
        if entry.source and entry.source not in _SOURCES:
            message = f"{shown(entry.source)} is neither FromClass nor FromClaim"
            yield FORMAT.at((*place, "source"), message, nearest(entry.source, _SOURCES) or "")
        yield from check_references((*place, "requests"), entry.requests, claim)
        yield from claims.check(place, entry.opaque)
    if allocation.node_selector is not None:
        terms, place = allocation.node_selector.node_selector_terms, (*path, "nodeSelector", "nodeSelectorTerms")
        if not terms:
            yield from names.required(place, "")
        yield from selectors.check_terms(place, terms)


def _result(path: FieldPath, result: DeviceRequestAllocationResult) -> Iterator[Problem]:
    yield from names.driver((*path, "driver"), result.driver)
    yield from names.pool((*path, "pool"), result.pool)
    yield from names.dns_label((*path, "device"), result.device, "device name")
    yield from devices.binding(path, result)
    yield from _share(path, result.share_id)


def _share(path: FieldPath, share_id: str | None) -> Iterator[Problem]:
    if share_id is not None and _UUID.fullmatch(share_id) is None:
        yield FORMAT.at((*path, "shareID"), f"{shown(share_id)} is not a UUID in lower case")


def _device(path: FieldPath, device: AllocatedDeviceStatus) -> Iterator[Problem]:
    yield from names.driver((*path, "driver"), device.driver)
    yield from names.pool((*path, "pool"), device.pool)
    yield from names.dns_label((*path, "device"), device.device, "device name")
    yield from _share(path, device.share_id)
    yield from check_conditions((*path, "conditions"), device.conditions)
    if device.data is not None:
        yield from _data((*path, "data"), device.data)
    if isinstance(device.network_data, dict):
        yield from _network((*path, "networkData"), device.network_data)


def _data(path: FieldPath, data: Any) -> Iterator[Problem]:
    size = len(msgspec.json.encode(data))
    if size > limits.OPAQUE_BYTES:
        yield TOO_LONG.at(path, f"data of {size} bytes; at most {limits.OPAQUE_BYTES} are allowed")
    elif not isinstance(data, dict):
        yield FORMAT.at(path, expected("an object", data))


def _network(path: FieldPath, network: dict[str, Any]) -> Iterator[Problem]:
    for name, most in (("interfaceName", limits.INTERFACE_BYTES), ("hardwareAddress", limits.HARDWARE_BYTES)):
        yield from at_most_bytes((*path, name), network.get(name) or "", most, "text")
    addresses = network.get("ips") or []
    yield from at_most((*path, "ips"), addresses, limits.IPS, "address")
    yield from names.unique((((*path, "ips", index), text) for index, text in enumerate(addresses)), "address")
    for index, text in enumerate(addresses):
        right = _address(text)
        if right != text:
            yield FORMAT.at((*path, "ips", index), f"{shown(text)} is not an address such as 10.9.8.7/24", right)


def _address(text: str) -> str:
    """Return an address with its prefix length in the shortest form; empty if the text is not an address."""
    try:
        found = ipaddress.ip_interface(text)
    except ValueError:
        return ""
    if "/" not in text:
        return ""
    mapped = found.ip.ipv4_mapped if isinstance(found, ipaddress.IPv6Interface) else None
    length = found.network.prefixlen
    return found.with_prefixlen if mapped is None else f"{mapped}/{max(length - _MAPPED_BITS, 0)}"
