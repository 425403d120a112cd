"""Turn plain dicts into typed v1 objects: directly, or field by field if they do not match their schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from dra_plan.api.core import PodSpec
from dra_plan.api.meta import Object

from .convert import UnfitError, lift_claim_sources
from .diagnose import Report, diagnose
from .kinds import Kind
from .places import Place, label_of
from .quantities import are_readable

NOT_DECODED = (msgspec.MsgspecError, UnfitError, RecursionError, UnicodeError)
"""The errors that typed decoding raises for objects that need a closer check."""


def decode(value: dict[str, Any], kind: Kind, version: str, place: Place, report: Report, label: str) -> Object | None:
    """Return the object as a v1 type, or None if the API server could not decode it. Faults are added to the report."""
    obj: Object | None
    try:
        obj = typed(value, kind, version)
    except NOT_DECODED:
        obj = None
    if obj is None or not are_readable(obj):
        obj = _repaired(value, kind, version, place, report, label)
    if obj is not None and kind.pod_spec and has_unset_claims(obj):
        lifted = _replace_at(value, kind.pod_spec, lift_claim_sources)
        if lifted != value:
            report.lifted_source(label, place.origin)
            obj = _repaired(lifted, kind, version, place, report, label)
    return obj


def typed(value: dict[str, Any], kind: Kind, version: str) -> Object:
    """Return the value as a v1 object. Raises one of `NOT_DECODED` if any part of the value does not fit."""
    convert = kind.versions[version]
    return msgspec.convert(convert(value) if convert else value, kind.type)


def _repaired(
    value: dict[str, Any], kind: Kind, version: str, place: Place, report: Report, label: str
) -> Object | None:
    """Decode the parts that the API server would accept.

    Record faults and return None if it would reject the object.
    """
    decoded = diagnose(value, kind, version)
    if decoded.wrong:
        lines = place.lines([path for path, _, _ in decoded.wrong])
        for (path, message, hint), line in zip(decoded.wrong, lines, strict=True):
            report.fault(place, message, label=label, path=path, hint=hint, line=line)
        return None
    try:
        obj = typed(decoded.value, kind, version)
    except NOT_DECODED as error:
        report.fault(place, f"can't be decoded: {error}", label=label)
        return None
    if kind.group == "resource.k8s.io" and decoded.unknown:
        report.unknown_fields(kind, version, list(decoded.unknown), label, place)
    return obj


def label_of_value(value: dict[str, Any], kind: Kind, namespace: str) -> str:
    """Return `KIND NAMESPACE/NAME` for an object of a known kind."""
    return label_of(kind.name, value.get("metadata"), kind, namespace)


def pod_spec_of(obj: Object) -> PodSpec:
    """Return the spec of a pod, or the pod spec in a workload's template."""
    spec: Any = obj.spec  # type: ignore[attr-defined]
    while not isinstance(spec, PodSpec):
        spec = (spec.template if hasattr(spec, "template") else spec.job_template).spec
    return spec


def has_unset_claims(obj: Object) -> bool:
    """Return whether an entry in resourceClaims names neither a claim nor a template.

    This is true of entries in the form used before 1.31.
    """
    return any(
        claim.resource_claim_name is None and claim.resource_claim_template_name is None
        for claim in pod_spec_of(obj).resource_claims
    )


def _replace_at(value: Any, path: tuple[str, ...], change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    if not path:
        return change(value)
    if path[0] not in value:
        return value
    return {**value, path[0]: _replace_at(value[path[0]], path[1:], change)}
