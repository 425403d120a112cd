"""Conversion of older resource.k8s.io versions to v1, on plain dicts. The input is never changed.

Conversions only move fields; they neither set defaults nor check types. They raise `UnfitError` for a document that
does not have the shape of its version; `diagnose` then finds its faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_plan.api.meta import FieldPath

BASIC_DEVICES = "spec.devices[*].basic"
"""The field of v1beta1 devices that wraps the fields of a device."""

Plain = dict[str, Any]
Converter = Callable[[Plain], Plain]

FLAT_REQUEST = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""The fields of a request that v1beta1 has in the request itself and later versions have in `exactly`."""
FLAT_VERSIONS = frozenset({"v1beta1", "v1alpha3"})
"""The versions with such requests, and with the fields of devices in `basic`."""
REQUESTS: Mapping[str, FieldPath] = {
    "ResourceClaim": ("spec", "devices", "requests"),
    "ResourceClaimTemplate": ("spec", "spec", "devices", "requests"),
}
"""The path of the device requests, by kind."""
_BETA_REQUEST = frozenset({"name", "firstAvailable", *FLAT_REQUEST})


class UnfitError(Exception):
    """The error raised for a document that does not have the shape of its version. Only `manifests` uses it."""


def _mapping(value: object) -> Plain:
    if not isinstance(value, dict):
        raise UnfitError
    return value


def _sequence(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise UnfitError
    return value


def _with(owner: Plain, key: str, change: Callable[[Any], Any]) -> Plain:
    """Return a copy of `owner` with `change` applied to the field, or `owner` itself if the field is absent."""
    if owner.get(key) is None:
        return owner
    return {**owner, key: change(owner[key])}


def _without(owner: Plain, *keys: str) -> Plain:
    return {key: value for key, value in owner.items() if key not in keys} if any(k in owner for k in keys) else owner


def _spec(change: Converter) -> Converter:
    return lambda document: _with(document, "spec", lambda spec: change(_mapping(spec)))


# ResourceSlice


def _beta_device(device: object, capacity: Converter) -> Plain:
    """Move the payload out of `basic`; a device without it keeps only its name."""
    device = _mapping(device)
    if not device.keys() <= {"name", "basic"}:
        raise UnfitError
    payload = device.get("basic")
    lifted = {} if payload is None else _with(_mapping(payload), "capacity", lambda value: capacity(_mapping(value)))
    if "name" in lifted:
        raise UnfitError
    return {"name": device["name"], **lifted} if "name" in device else lifted


def _beta_slice_spec(spec: Plain, capacity: Converter) -> Plain:
    spec = _with(spec, "devices", lambda devices: [_beta_device(device, capacity) for device in _sequence(devices)])
    # Both fields were plain values before v1beta2, so their zero value meant "not set".
    unset = [
        key for key, zero in (("nodeName", ""), ("allNodes", False)) if spec.get(key) is zero or spec.get(key) == zero
    ]
    return _without(spec, *unset)


def _wrapped_capacity(capacity: Plain) -> Plain:
    """Wrap the capacities of v1alpha3, which are bare quantities."""
    if any(isinstance(value, Mapping) for value in capacity.values()):
        raise UnfitError
    return {name: value if value is None else {"value": value} for name, value in capacity.items()}


def slice_from_v1beta1(document: Plain) -> Plain:
    """Return a v1beta1 slice as v1, with devices moved out of `basic`."""
    return _spec(lambda spec: _beta_slice_spec(spec, lambda capacity: capacity))(document)


def slice_from_v1alpha3(document: Plain) -> Plain:
    """Return a v1alpha3 slice as v1.

    Devices are moved out of `basic`, and capacities are wrapped in `value`.
    """
    return _spec(lambda spec: _beta_slice_spec(spec, _wrapped_capacity))(document)


# ResourceClaim and ResourceClaimTemplate


def _flat_request_is_set(request: Plain) -> bool:
    """Return whether v1 has an `exactly` for this flat request, after v1beta1's own defaulting."""
    if not request.get("firstAvailable"):
        return True  # v1beta1 has already set allocationMode
    return bool(
        request.get("deviceClassName")
        or request.get("allocationMode")
        or request.get("count")
        or any(request.get(key) is not None for key in ("selectors", "adminAccess", "tolerations", "capacity"))
    )


def _beta_request(request: object) -> Plain:
    request = _mapping(request)
    if not request.keys() <= _BETA_REQUEST:
        raise UnfitError
    nested = {key: request[key] for key in FLAT_REQUEST if key in request}
    converted = _without(request, *FLAT_REQUEST)
    return {**converted, "exactly": nested} if _flat_request_is_set(request) else converted


def _beta_claim_spec(spec: Plain) -> Plain:
    return _with(
        spec,
        "devices",
        lambda devices: _with(
            _mapping(devices), "requests", lambda requests: [_beta_request(request) for request in _sequence(requests)]
        ),
    )


def claim_from_v1beta1(document: Plain) -> Plain:
    """Return a v1beta1 claim as v1, with the fields of requests moved into `exactly`."""
    return _spec(_beta_claim_spec)(document)


def template_from_v1beta1(document: Plain) -> Plain:
    """Return a v1beta1 claim template as v1."""
    return _spec(_spec(_beta_claim_spec))(document)


def _alpha_claim_spec(spec: Plain) -> Plain:
    """Drop the classic-DRA `controller`; in 1.31 `adminAccess: false` meant "not set"."""
    return _without(_with(spec, "devices", _alpha_devices), "controller")


def _alpha_devices(devices: object) -> Plain:
    def unset_false(request: object) -> Plain:
        request = _mapping(request)
        return _without(request, "adminAccess") if request.get("adminAccess") is False else request

    return _with(
        _mapping(devices), "requests", lambda requests: [unset_false(request) for request in _sequence(requests)]
    )


def _alpha_status(status: object) -> Plain:
    status = _without(_mapping(status), "deallocationRequested")
    return _with(status, "allocation", lambda allocation: _without(_mapping(allocation), "controller"))


def claim_from_v1alpha3(document: Plain) -> Plain:
    """Return a v1alpha3 claim as v1, without the fields of classic DRA."""
    document = _with(document, "status", _alpha_status)
    return claim_from_v1beta1(_spec(_alpha_claim_spec)(document))


def template_from_v1alpha3(document: Plain) -> Plain:
    """Return a v1alpha3 claim template as v1."""
    return template_from_v1beta1(_spec(_spec(_alpha_claim_spec))(document))


def class_from_v1alpha3(document: Plain) -> Plain:
    """Return a v1alpha3 class as v1, without `suitableNodes`, which had no effect on structured allocation."""
    return _spec(lambda spec: _without(spec, "suitableNodes"))(document)


# DeviceTaintRule


def taint_rule(document: Plain) -> Plain:
    """Return the rule unchanged.

    Raises UnfitError if its selector has a field that 1.35 removed: a class or CEL selectors.
    """

    def check(spec: Plain) -> Plain:
        if not _mapping(spec.get("deviceSelector") or {}).keys() <= {"driver", "pool", "device"}:
            raise UnfitError
        return spec

    return _spec(check)(document)


# Pod groups


def pod_group_from_v1beta1(document: Plain) -> Plain:
    """Return a 1.37 pod group as v1alpha2. In 1.37, `disruptionMode` is a struct with exactly one field."""
    return _spec(lambda spec: _with(spec, "disruptionMode", _disruption_mode))(document)


def _disruption_mode(mode: object) -> str:
    if isinstance(mode, str):
        return mode
    return "PodGroup" if "podGroup" in _mapping(mode) else "Pod"


def group_workload(document: Plain) -> Plain:
    """Return a Workload of any version as v1alpha2. In v1alpha1, the templates are `podGroups` with a `policy`."""

    def template(value: object) -> Plain:
        value = dict(_mapping(value))
        if "policy" in value:
            value["schedulingPolicy"] = value.pop("policy")
        return _with(value, "disruptionMode", _disruption_mode)

    def spec(value: Plain) -> Plain:
        templates = value.get("podGroupTemplates", value.get("podGroups"))
        return {} if templates is None else {"podGroupTemplates": [template(each) for each in _sequence(templates)]}

    return _spec(spec)(document)


# Pods before 1.31


def lift_claim_sources(pod_spec: Plain) -> Plain:
    """Return the pod spec with the fields in `resourceClaims[].source` (before 1.31) moved up into the entries."""

    def lift(claim: object) -> object:
        if not isinstance(claim, dict) or not isinstance(claim.get("source"), dict):
            return claim
        return {**_without(claim, "source"), **claim["source"]}

    claims = pod_spec.get("resourceClaims")
    if not isinstance(claims, list):
        return pod_spec
    return {**pod_spec, "resourceClaims": [lift(claim) for claim in claims]}
