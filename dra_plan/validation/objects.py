"""The checks of one object by itself, for every kind, and of what is in the input more than once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dra_plan.api.resource import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from dra_plan.manifests.paths import FieldPath
from dra_plan.releases import Target

from . import claims, classes, gates, names, pods, schema, slices, taints
from .finding import Finding
from .rule import Problem
from .subject import Subject

_DRA = "resource.k8s.io"
_NOT_SERVED = frozenset({"v1alpha3"})
"""Versions of resource.k8s.io that none of the selectable releases serves, taint rules excepted."""
_BETA_RULES = frozenset({"1.36"})
"""Releases that serve v1beta2 of DeviceTaintRule; those before have v1alpha3 only."""


def findings(subjects: Iterable[Subject], target: Target) -> Iterator[Finding]:
    """Everything that can be told of each object without looking at another one, and of repeated ones."""
    first: dict[tuple[str, str, str], Subject] = {}
    for subject in subjects:
        for problem in _problems(subject, target):
            yield subject.finding(problem)
        if subject.kind is None or not subject.name:
            continue
        generated = not (subject.value.get("metadata") or {}).get("name")
        other = first.setdefault(subject.key, subject)
        if other is not subject and not generated:
            yield subject.finding(schema.GIVEN_TWICE.at((), f"given twice, first in {other.place.origin}"))


def _problems(subject: Subject, target: Target) -> Iterator[Problem]:
    yield from subject.problems
    if subject.kind is None:
        return
    if subject.version in subject.kind.versions:
        yield from _version(subject, target)
    if not subject.name:
        yield schema.NO_NAME.at(("metadata", "name"), "missing")
    elif subject.kind.group == _DRA:
        yield from names.subdomain(("metadata", "name"), subject.name.rstrip("-"), "object name")
    if subject.obj is not None:
        yield from _own(subject, target)


def _version(subject: Subject, target: Target) -> Iterator[Problem]:
    kind = subject.kind
    if kind is None or kind.group != _DRA or subject.version in kind.current_versions:
        return
    newest = f"apiVersion: {kind.api_version}"
    if subject.version in _NOT_SERVED and kind.name != "DeviceTaintRule":
        message = f"{target.version} does not serve {_DRA}/{subject.version} of {kind.name}"
        yield schema.NOT_SERVED.at(("apiVersion",), message, newest)
    elif not (kind.name == "DeviceTaintRule" and not _serves_beta_rules(target)):
        message = f"{_DRA}/{subject.version} is deprecated, {kind.api_version} replaces it"
        yield schema.DEPRECATED.at(("apiVersion",), message, newest)


def _serves_beta_rules(target: Target) -> bool:
    return target.version in _BETA_RULES


def _own(subject: Subject, target: Target) -> Iterator[Problem]:
    obj: Any = subject.obj
    spec: FieldPath = ("spec",)
    if isinstance(obj, ResourceSlice):
        yield from slices.check(obj, target)
    elif isinstance(obj, DeviceClass):
        yield from classes.check(obj, target)
    elif isinstance(obj, ResourceClaim):
        yield from claims.check_spec(spec, obj.spec, target)
        if obj.status is not None:
            yield from claims.check_status(obj.status, obj.spec)
    elif isinstance(obj, ResourceClaimTemplate):
        yield from claims.check_spec((*spec, "spec"), obj.spec.spec, target)
    elif isinstance(obj, DeviceTaintRule):
        yield from taints.taint((*spec, "taint"), obj.spec.taint)
    if subject.kind is not None and subject.kind.pod_spec:
        yield from pods.check(subject.kind.pod_spec, pod_spec_of(obj))
    yield from gates.check(obj, target)


def pod_spec_of(obj: Any) -> Any:
    """The pod spec of a pod, workload, job or cron job."""
    spec = obj.spec
    while not hasattr(spec, "resource_claims"):
        spec = (spec.template if hasattr(spec, "template") else spec.job_template).spec
    return spec
