"""Rules of the API server about single claims and claim templates (DRA014, DRA141 to DRA144, DRA146, DRA147).

`claim_status` checks the status of claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from dra_plan.api.meta import FieldPath
from dra_plan.api.quantity import parse
from dra_plan.api.resource import (
    DeviceClaim,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    OpaqueDeviceConfiguration,
    ResourceClaimSpec,
)
from dra_plan.manifests.convert import FLAT_REQUEST, REQUESTS
from dra_plan.manifests.diagnose import expected
from dra_plan.manifests.kinds import Kind
from dra_plan.manifests.paths import render, value_at
from dra_plan.releases import Target

from . import formats, limits, names, selectors
from .formats import nearest, shown
from .limits import OPAQUE_BYTES, TOO_LONG, at_most
from .rule import Problem, refused, warning
from .selectors import tolerations

# -- driver configuration ----------------------------------------------------------------------------------------------
# DRA147, for classes and claims.

CONFIG = refused(
    "DRA147",
    "configuration that is not a driver object",
    (
        "A configuration entry must have the field `opaque`, which contains the driver's name and a "
        "parameters object that only the driver reads."
    ),
    "Write `- opaque: {driver: ..., parameters: {...}}`.",
)
CONFIG_RULES = (CONFIG,)


def check(path: FieldPath, opaque: OpaqueDeviceConfiguration | None) -> Iterator[Problem]:
    """Check the opaque configuration in an entry of a claim's or class's configuration."""
    path = (*path, "opaque")
    if opaque is None:
        yield CONFIG.at(path, "missing")
        return
    yield from names.driver((*path, "driver"), opaque.driver)
    if opaque.parameters is None:
        return  # the schema rules report this
    if not isinstance(opaque.parameters, dict):
        yield CONFIG.at((*path, "parameters"), expected("an object", opaque.parameters))
        return
    size = len(msgspec.json.encode(opaque.parameters))
    if size > OPAQUE_BYTES:
        yield TOO_LONG.at((*path, "parameters"), f"parameters of {size} bytes; at most {OPAQUE_BYTES} are allowed")


# -- claims and templates ----------------------------------------------------------------------------------------------

ONE_FORM = refused(
    "DRA141",
    "request that does not set exactly one of `exactly` and `firstAvailable`",
    "A request asks either for devices of one class, or for the first of several alternatives that is available.",
    "Keep one of the two fields. In v1beta1, the fields of `exactly` are directly in the request.",
)
MODE = refused(
    "DRA142",
    "allocation mode and count that contradict each other",
    "The mode must be ExactCount or All. ExactCount needs a count of at least 1, and All takes no count.",
    "For All, remove `count`; for a single device, remove both fields.",
)
UNKNOWN_REQUEST = refused(
    "DRA143",
    "reference to a request that is not in the claim",
    (
        "Constraints, configuration and containers refer to a request as REQUEST, and to an alternative in a request "
        "as REQUEST/SUBREQUEST."
    ),
    "Correct the name.",
)
EMPTY_CONSTRAINT = refused(
    "DRA144",
    "constraint without an attribute",
    "A constraint compares a single attribute, which `matchAttribute` or `distinctAttribute` names.",
    "Name the attribute, or remove the constraint.",
)
CAPACITY_AMOUNT = warning(
    "DRA146",
    "request for a negative amount of capacity",
    "A request cannot add capacity to a device. The API server does not check the amount.",
    "Write the amount that each device must offer.",
)
RULES = (ONE_FORM, MODE, UNKNOWN_REQUEST, EMPTY_CONSTRAINT, CAPACITY_AMOUNT)


def check_spec(path: FieldPath, spec: ResourceClaimSpec, target: Target) -> Iterator[Problem]:
    """Check the spec of a claim or a claim template."""
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
        yield from check(at, entry.opaque)


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
            yield MODE.at((*path, "count"), f"{amount} with allocation mode All, which takes no count")
    elif mode == "ExactCount":
        if amount <= 0:
            yield MODE.at((*path, "count"), f"{amount} {formats.NOT_POSITIVE}")
    else:
        known = ("ExactCount", "All")
        message = f"{shown(mode)} is neither ExactCount nor All"
        yield MODE.at((*path, "allocationMode"), message, nearest(mode, known) or "")
    yield from tolerations((*path, "tolerations"), wanted.tolerations)
    for name, value in (wanted.capacity.requests if wanted.capacity else {}).items():
        at = (*path, "capacity", "requests", name)
        yield from names.qualified(at, name, "capacity", checked=False)
        if parse(value).sign < 0:
            yield CAPACITY_AMOUNT.at(at, f"{value} is negative")


def without_class(path: FieldPath, document: Any) -> Iterator[Problem]:
    """Check the requests at this path of a v1beta1 document that do not name a class.

    The API server sets no defaults for such requests, not even for the allocation mode.
    """
    written = value_at(document, path)
    for index, request in enumerate(written if isinstance(written, list) else ()):
        if not isinstance(request, dict) or request.get("firstAvailable"):
            continue
        given = any(request.get(name) is not None for name in _GIVEN) or request.get("count")
        if given and not request.get("deviceClassName") and not request.get("allocationMode"):
            at, message = (
                (*path, index, "allocationMode"),
                ("missing; without deviceClassName the request has no default"),
            )
            yield Problem(MODE, at, message, written=True)


_GIVEN = ("selectors", "adminAccess", "tolerations", "capacity")
"""The fields that make a v1beta1 request one for devices of a class, unless they are empty names or zeros."""


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
    """Return the names that other fields can refer to: each request, and each alternative as REQUEST/ALTERNATIVE."""
    return [
        name
        for request in devices.requests
        for name in (request.name, *(f"{request.name}/{sub.name}" for sub in request.first_available))
    ]


def check_references(path: FieldPath, references: list[str], devices: DeviceClaim) -> Iterator[Problem]:
    """Check a list of references to requests of the claim."""
    known = request_names(devices)
    yield from at_most(path, references, limits.REQUESTS, "request")
    yield from names.unique((((*path, index), name) for index, name in enumerate(references)), "request")
    for index, name in enumerate(references):
        yield from known_request((*path, index), name, known)


def known_request(path: FieldPath, name: str, known: list[str]) -> Iterator[Problem]:
    """Check that a reference names one of the known requests."""
    if not all(map(formats.is_dns_label, name.split("/"))):
        yield UNKNOWN_REQUEST.at(path, f"{shown(name)} is not a valid request name", nearest(name, known) or "")
    elif name not in known:
        yield UNKNOWN_REQUEST.at(path, f"no request {shown(name)} in this claim", nearest(name, known) or "")


# -- requests in v1beta1 form ------------------------------------------------------------------------------------------
# DRA014: the fields are directly in the request instead of in `exactly`.

MISPLACED = refused(
    "DRA014",
    "request with fields of `exactly` outside `exactly`",
    (
        "In v1beta1, the class, the selectors and similar fields are directly in the request; since "
        "v1beta2, they are in `exactly`. kubectl rejects them anywhere else. If they are dropped, the "
        "request specifies nothing, and the API server rejects it."
    ),
    "Move the fields into `exactly`, or write the object in v1beta1.",
)
FLAT_REQUEST_RULES = (MISPLACED,)

_WITH_EXACTLY = frozenset({"v1", "v1beta2"})


def lifted(value: dict[str, Any], kind: Kind, version: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the object with misplaced request fields moved into `exactly`, and a problem for each affected request."""
    path = REQUESTS.get(kind.name)
    if path is None or version not in _WITH_EXACTLY:
        return value, []
    requests = value_at(value, path)
    if not isinstance(requests, list):
        return value, []
    found = [
        _problem((*path, index), fields) for index, request in enumerate(requests) if (fields := _misplaced(request))
    ]
    return (_replaced(value, path, [_nested(request) for request in requests]), found) if found else (value, [])


def is_flat(value: Any, kind: Kind, path: FieldPath) -> bool:
    """Return whether the v1 path leads into `exactly` although the request in the manifest omits `exactly`."""
    at = exactly_at(kind, path)
    return at is not None and bool(_misplaced(value_at(value, path[:at])))


def exactly_at(kind: Kind, path: FieldPath) -> int | None:
    """Return the index of `exactly` in a v1 path, or None if the path does not contain it."""
    requests = REQUESTS.get(kind.name, ())
    at = len(requests) + 1
    return at if requests and path[: len(requests)] == requests and path[at : at + 1] == ("exactly",) else None


def flattened(kind: Kind, path: FieldPath) -> FieldPath:
    """Return the v1 path without `exactly`, as in a manifest that leaves it out."""
    at = exactly_at(kind, path)
    return path if at is None else (*path[:at], *path[at + 1 :])


def _misplaced(request: Any) -> list[str]:
    if not isinstance(request, dict) or request.get("exactly") is not None or request.get("firstAvailable"):
        return []
    return [name for name in FLAT_REQUEST if name in request]


def _problem(path: FieldPath, fields: list[str]) -> Problem:
    told = fields[0] if len(fields) == 1 else f"{', '.join(fields[:-1])} and {fields[-1]}"
    verb = "belongs" if len(fields) == 1 else "belong"
    message = f"{told} {verb} in `exactly`, not directly in the request"
    suggestion = f"exactly: {{{fields[0]}: ...}}"
    at = (*path, fields[0])
    return Problem(MISPLACED, at, message, suggestion, written=True, of_key=True).called(render(path))


def _nested(request: Any) -> Any:
    names = _misplaced(request)
    if not names:
        return request
    kept = {key: item for key, item in request.items() if key not in names}
    return {**kept, "exactly": {name: request[name] for name in names}}


def _replaced(value: Any, path: FieldPath, new: Any) -> Any:
    if not path:
        return new
    return {**value, path[0]: _replaced(value[path[0]], path[1:], new)}
