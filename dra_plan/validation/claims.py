"""DRA141 to DRA144, DRA146: claims and claim templates by themselves, as the API server judges them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import parse
from dra_plan.api.resource import DeviceClaim, DeviceRequest, DeviceSubRequest, ExactDeviceRequest, ResourceClaimSpec
from dra_plan.manifests.paths import value_at
from dra_plan.releases import Target

from . import configs, formats, limits, names, selectors, taints
from .limits import at_most
from .rule import Problem, refused, warning
from .words import nearest, shown

ONE_FORM = refused(
    "DRA141",
    "request with not exactly one of exactly and firstAvailable",
    "A request is either for devices of one class or a list of alternatives.",
    "Keep one of the two. In v1beta1 the fields of `exactly` stand directly in the request.",
)
MODE = refused(
    "DRA142",
    "allocation mode and count that contradict each other",
    "ExactCount needs a count of at least 1, All takes none; other modes do not exist.",
    "Leave out count for All; leave out both for one device.",
)
UNKNOWN_REQUEST = refused(
    "DRA143",
    "reference to a request that the claim does not have",
    "Constraints, configuration and containers name requests as REQUEST, or REQUEST/SUBREQUEST for one alternative.",
    "Correct the name.",
)
EMPTY_CONSTRAINT = refused(
    "DRA144",
    "constraint without an attribute",
    "A constraint compares one attribute: matchAttribute or distinctAttribute.",
    "Name the attribute, or remove the constraint.",
)
CAPACITY_AMOUNT = warning(
    "DRA146",
    "request for a negative amount of capacity",
    "No device gives back capacity when it is taken. The API server does not check the amount.",
    "Write how much each device must offer.",
)
RULES = (ONE_FORM, MODE, UNKNOWN_REQUEST, EMPTY_CONSTRAINT, CAPACITY_AMOUNT)


def check_spec(path: FieldPath, spec: ResourceClaimSpec, target: Target) -> Iterator[Problem]:
    """The spec of a claim or template."""
    path, devices = (*path, "devices"), spec.devices
    requests = (*path, "requests")
    yield from at_most(requests, devices.requests, limits.REQUESTS, "request")
    named = (((*requests, index, "name"), request.name) for index, request in enumerate(devices.requests))
    yield from names.unique(named, "request")
    for index, request in enumerate(devices.requests):
        yield from _request((*requests, index), request, target)
    yield from _constraints((*path, "constraints"), devices)
    yield from at_most((*path, "config"), devices.config, limits.CONFIGS, "configuration")
    for index, entry in enumerate(devices.config):
        at = (*path, "config", index)
        yield from check_references((*at, "requests"), entry.requests, devices)
        yield from configs.check(at, entry.opaque)


def _request(path: FieldPath, request: DeviceRequest, target: Target) -> Iterator[Problem]:
    yield from names.dns_label((*path, "name"), request.name, "request name")
    alternatives = (*path, "firstAvailable")
    if request.exactly is None and not request.first_available:
        yield ONE_FORM.at(path, "neither exactly nor firstAvailable is set")
    elif request.exactly is not None and request.first_available:
        yield ONE_FORM.at(alternatives, "exactly and firstAvailable are both set")
    if request.exactly is not None:
        yield from _wanted((*path, "exactly"), request.exactly, target)
    yield from at_most(alternatives, request.first_available, limits.SUBREQUESTS, "alternative")
    named = (((*alternatives, index, "name"), sub.name) for index, sub in enumerate(request.first_available))
    yield from names.unique(named, "alternative")
    for index, sub in enumerate(request.first_available):
        yield from names.dns_label((*alternatives, index, "name"), sub.name, "request name")
        yield from _wanted((*alternatives, index), sub, target)


def _wanted(path: FieldPath, wanted: ExactDeviceRequest | DeviceSubRequest, target: Target) -> Iterator[Problem]:
    yield from names.subdomain((*path, "deviceClassName"), wanted.device_class_name, "device class name")
    yield from selectors.check((*path, "selectors"), wanted.selectors, target)
    mode, amount = wanted.allocation_mode, wanted.count
    if mode == "All":
        if amount:
            yield MODE.at((*path, "count"), f"{amount} with mode All, which takes every matching device")
    elif mode == "ExactCount":
        if amount <= 0:
            yield MODE.at((*path, "count"), f"{amount} is not more than 0")
    else:
        known = ("ExactCount", "All")
        message = f"{shown(mode)} is neither ExactCount nor All"
        yield MODE.at((*path, "allocationMode"), message, nearest(mode, known) or "")
    yield from taints.tolerations((*path, "tolerations"), wanted.tolerations)
    for name, value in (wanted.capacity.requests if wanted.capacity else {}).items():
        at = (*path, "capacity", "requests", name)
        yield from names.qualified(at, name, "capacity", checked=False)
        if parse(value).sign < 0:
            yield CAPACITY_AMOUNT.at(at, f"{value} is less than 0")


def without_class(path: FieldPath, document: Any) -> Iterator[Problem]:
    """The requests at a path of a v1beta1 document that lack a class: then not even the mode gets its default."""
    written = value_at(document, path)
    for index, request in enumerate(written if isinstance(written, list) else ()):
        if not isinstance(request, dict) or request.get("firstAvailable"):
            continue
        given = any(request.get(name) is not None for name in _GIVEN) or request.get("count")
        if given and not request.get("deviceClassName") and not request.get("allocationMode"):
            at, message = (*path, index, "allocationMode"), "missing; without deviceClassName it has no default"
            yield Problem(MODE, at, message, written=True)


_GIVEN = ("selectors", "adminAccess", "tolerations", "capacity")
"""Fields that make a request of v1beta1 one for devices of a class; names and counts that are zero do not."""


def _constraints(path: FieldPath, devices: DeviceClaim) -> Iterator[Problem]:
    yield from at_most(path, devices.constraints, limits.CONSTRAINTS, "constraint")
    for index, constraint in enumerate(devices.constraints):
        at = (*path, index)
        yield from check_references((*at, "requests"), constraint.requests, devices)
        if constraint.match_attribute is not None:
            yield from names.fully_qualified((*at, "matchAttribute"), constraint.match_attribute)
        elif constraint.distinct_attribute is not None:
            yield from names.fully_qualified((*at, "distinctAttribute"), constraint.distinct_attribute)
        else:
            yield EMPTY_CONSTRAINT.at(at, "neither matchAttribute nor distinctAttribute is set")


def request_names(devices: DeviceClaim) -> list[str]:
    """Everything that may be referred to: requests, and REQUEST/ALTERNATIVE."""
    return [
        name
        for request in devices.requests
        for name in (request.name, *(f"{request.name}/{sub.name}" for sub in request.first_available))
    ]


def check_references(path: FieldPath, references: list[str], devices: DeviceClaim) -> Iterator[Problem]:
    """A list of requests of the claim."""
    known = request_names(devices)
    yield from at_most(path, references, limits.REQUESTS, "request")
    yield from names.unique((((*path, index), name) for index, name in enumerate(references)), "request")
    for index, name in enumerate(references):
        yield from known_request((*path, index), name, known)


def known_request(path: FieldPath, name: str, known: list[str]) -> Iterator[Problem]:
    """A reference to one of the known requests."""
    if not all(map(formats.is_dns_label, name.split("/"))):
        yield UNKNOWN_REQUEST.at(path, f"{shown(name)} is no request name", nearest(name, known) or "")
    elif name not in known:
        yield UNKNOWN_REQUEST.at(path, f"no request {shown(name)} in this claim", nearest(name, known) or "")
