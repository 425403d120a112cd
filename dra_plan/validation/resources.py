"""Rules about the resources of containers, pods and quotas (DRA161 to DRA164; `ValidateResourceRequirements`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_plan.api.core import Container, PodSpec, ResourceRequirements
from dra_plan.api.meta import FieldPath, QuantityText
from dra_plan.api.quantity import Quantity, QuantityError, compare, parse
from dra_plan.api.well_known import COUNTED_OBJECTS
from dra_plan.manifests.paths import render, value_at

from . import formats
from .classes import is_extended_resource
from .formats import nearest, no_extended_resource, shown
from .rule import Problem, refused

RESOURCE_NAME = refused(
    "DRA161",
    "invalid resource name",
    (
        "Containers can request cpu, memory, ephemeral-storage, hugepages-SIZE, or a resource "
        "with a domain. Quotas can limit these resources (with the prefix `requests.` or "
        "`limits.`) and the number of objects."
    ),
    "Write the full name of the resource, such as example.com/gpu.",
)
AMOUNT = refused(
    "DRA162",
    "invalid resource amount",
    (
        "Amounts must not be negative. Amounts of extended resources, object counts and amounts of huge "
        "pages must be whole numbers."
    ),
    "Write a whole number that is not negative.",
)
LIMIT = refused(
    "DRA163",
    "request that contradicts its limit",
    (
        "A request must not exceed its limit. Extended resources and huge pages cannot be overcommitted: "
        "they must have a limit, and the request must be equal to the limit. A container that requests "
        "huge pages must also request cpu or memory."
    ),
    "Write the same amount in both fields, or set only the limit, which is then also used as the request.",
)
POD_RESOURCES = refused(
    "DRA164",
    "pod-level resources that the API server rejects",
    (
        "Pod-level resources can only be cpu, memory and huge pages. Claims are not allowed. The "
        "requests must cover the sum of all container requests, and each limit must cover the "
        "limit of every single container."
    ),
    "Move other resources and claims to a container, or increase the pod-level amounts.",
)
RULES = (RESOURCE_NAME, AMOUNT, LIMIT, POD_RESOURCES)

_NATIVE = ("cpu", "memory", "ephemeral-storage")
_HUGE = "hugepages-"
_QUOTA_NAMES = frozenset(
    (
        *COUNTED_OBJECTS,
        *_NATIVE,
        "requests.storage",
        *(f"{part}.{name}" for part in ("requests", "limits") for name in _NATIVE),
    )
)
_Amounts = Mapping[str, QuantityText]


def check_containers(path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
    """Check the resource requests and limits of each container in a pod."""
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            at = (*path, field, index, "resources")
            yield from _names_and_amounts(at, container.resources, container=True)
            yield from _limits(at, container.resources)


def check_pod(path: FieldPath, spec: PodSpec) -> Iterator[Problem]:
    """Check the pod-level resource requests and limits (upstream: `validatePodResources`)."""
    resources = spec.resources
    if resources is None:
        return
    path = (*path, "resources")
    if resources.claims:
        yield POD_RESOURCES.at((*path, "claims"), "claims can't be set for the pod as a whole, only for containers")
    for field, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name in amounts:
            if name not in ("cpu", "memory") and not is_huge(name):
                message = f"{shown(name)} can't be set for the pod as a whole, only cpu, memory and {_HUGE}SIZE"
                yield POD_RESOURCES.at((*path, field, name), message)
    yield from _names_and_amounts(path, resources, container=False)
    yield from _limits(path, resources)
    yield from _holds_containers(path, resources, spec)


def is_huge(name: str) -> bool:
    """Return whether the resource consists of huge pages of any size."""
    return name.startswith(_HUGE)


def _names_and_amounts(path: FieldPath, given: ResourceRequirements, *, container: bool) -> Iterator[Problem]:
    for field, amounts in (("limits", given.limits), ("requests", given.requests)):
        for name, value in amounts.items():
            at = (*path, field, name)
            if field == "requests" and given.limits.get(name) == value:
                continue  # the limit and the request have the same fault
            if container:
                yield from _container_resource(at, name)
            yield from amount(at, name, value)
            if is_huge(name):
                yield from _whole_pages(at, name[len(_HUGE) :], value)


def _whole_pages(path: FieldPath, page: str, written: QuantityText) -> Iterator[Problem]:
    size, value = _quantity(page), _quantity(written)
    if size is not None and value is not None and size.units > 0 and value.units % size.units:
        yield AMOUNT.at(path, f"{written} is not a number of whole pages of {page}")


def _container_resource(path: FieldPath, name: str) -> Iterator[Problem]:
    if "/" not in name:
        if name not in _NATIVE and not is_huge(name):
            message = (
                f"{shown(name)} is not a container resource: the only names without a domain are {', '.join(_NATIVE)}"
            )
            yield RESOURCE_NAME.at(path, f"{message} and {_HUGE}SIZE", nearest(name, _NATIVE) or "")
    elif not formats.is_label_name(name):
        yield RESOURCE_NAME.at(path, f"{shown(name)} is not a resource name: {formats.LABEL_NAME.partition(': ')[2]}")
    elif "kubernetes.io/" not in name and not is_extended_resource(name):
        yield RESOURCE_NAME.at(path, no_extended_resource(name))


def amount(path: FieldPath, name: str, written: object) -> Iterator[Problem]:
    """Check the amount of a resource (upstream: `ValidateResourceQuantityValue`)."""
    value = _quantity(written)
    if value is None:
        return
    if value.sign < 0:
        yield AMOUNT.at(path, f"{written} is negative")
    elif (name in COUNTED_OBJECTS or is_extended_resource(name)) and value.milli % 1000:
        yield AMOUNT.at(path, f"{written} of {shown(name)} is not a whole number")


def _quantity(written: object) -> Quantity | None:
    """Return the quantity; None for any other value, which other rules report."""
    try:
        return parse(written) if isinstance(written, str | int | float) else None
    except QuantityError:
        return None


def _limits(path: FieldPath, given: ResourceRequirements) -> Iterator[Problem]:
    for name, requested in given.requests.items():
        limit, whole = given.limits.get(name), not _may_be_overcommitted(name)
        if limit is None:
            if whole:
                message = f"{shown(name)} can't be overcommitted: its limit must be set, and equal to the request"
                yield LIMIT.at((*path, "requests", name), message).called(render((*path, "limits")))
            continue
        order = compare(parse(requested), parse(limit))
        if order and whole:
            message = f"{requested} of {shown(name)} must be equal to its limit of {limit}"
            yield LIMIT.at((*path, "requests", name), message, str(limit))
        elif order > 0:
            yield LIMIT.at((*path, "requests", name), f"{requested} of {name} is more than its limit of {limit}")
    named = {*given.requests, *given.limits}
    huge = sorted(filter(is_huge, named))
    if huge and not named & {"cpu", "memory"}:
        yield LIMIT.at(path, f"{huge[0]} without cpu or memory")


def _may_be_overcommitted(name: str) -> bool:
    """Return `IsOvercommitAllowed`: True for Kubernetes' own resources except huge pages."""
    return ("/" not in name or "kubernetes.io/" in name) and not is_huge(name)


def _holds_containers(path: FieldPath, resources: ResourceRequirements, spec: PodSpec) -> Iterator[Problem]:
    """Check that the pod's requests cover its containers' concurrent needs, and its limits what each may use."""
    for name, value in resources.requests.items():
        needed = _together(spec, name)
        if needed is not None and compare(needed, parse(value)) > 0:
            message = f"{value} is less than the {needed} that the containers request together"
            yield POD_RESOURCES.at((*path, "requests", name), message)
    for index, container in enumerate(spec.containers):
        for name, limit in container.resources.limits.items():
            most = resources.limits.get(name)
            if most is not None and compare(parse(limit), parse(most)) > 0:
                at = (*path[:-1], "containers", index, "resources", "limits", name)
                yield POD_RESOURCES.at(at, f"{limit} is more than the pod's limit of {most}", str(most))


def _together(spec: PodSpec, name: str) -> Quantity | None:
    """Return the containers' concurrent requests of a resource (`AggregateContainerRequests`).

    Return None if no container requests it.
    """
    running: Quantity | None = None
    most: Quantity | None = None
    for container in spec.init_containers:
        asked = _request(container, name)
        if asked is None:
            continue
        beside = asked if running is None else running + asked
        if container.is_sidecar:
            running = beside
        most = beside if most is None else max(most, beside)
    for container in spec.containers:
        asked = _request(container, name)
        if asked is not None:
            running = asked if running is None else running + asked
    return running if most is None or (running is not None and running >= most) else most


def _request(container: Container, name: str) -> Quantity | None:
    written = container.resources.requests.get(name)
    return None if written is None else parse(written)


def check_quota(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the limits of a ResourceQuota as written in the manifest (upstream: `ValidateResourceQuotaSpec`)."""
    hard = value_at(value, ("spec", "hard"))
    for name, limit in (hard if isinstance(hard, dict) else {}).items():
        if not isinstance(name, str):
            continue
        path: FieldPath = ("spec", "hard", name)
        if "/" in name:
            if not formats.is_label_name(name):
                message = f"{shown(name)} is not a resource name: {formats.LABEL_NAME.partition(': ')[2]}"
                yield RESOURCE_NAME.at(path, message)
        elif name not in _QUOTA_NAMES and not is_huge(name.removeprefix("requests.")):
            message = (
                f"{shown(name)} is not a resource that quotas limit; other resources need a "
                "domain, such as example.com/gpu"
            )
            yield RESOURCE_NAME.at(path, message, nearest(name, _QUOTA_NAMES) or "")
        yield from amount(path, name, limit)
