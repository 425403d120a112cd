"""Extended resources served by devices: which names, and which requests stand for them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from dra_plan.api.core import Container, Pod
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.quantity import parse
from dra_plan.api.resource import DeviceClaim, DeviceRequest, ExactDeviceRequest, ResourceClaim, ResourceClaimSpec
from dra_plan.api.well_known import IMPLICIT_PREFIX, SPECIAL_ANNOTATION
from dra_plan.scheduler.podrequest import Amounts, is_extended

SPECIAL_NAME = "<extended-resources>"
"""The name of the claim before it is created."""
_SUFFIX = "xxxxx"
"""Stands for the five random characters that the API server appends."""


def wanted_names(requests: Amounts) -> list[str]:
    """The extended resources that the pod asks for, by name."""
    return sorted(
        name
        for name, value in requests.items()
        if value > 0 and (is_extended(name) or name.startswith(IMPLICIT_PREFIX))
    )


def served_names(names: Iterable[str], mapped: Collection[str], allocatable: Mapping[str, int]) -> tuple[str, ...]:
    """Those of the names that devices serve on a node; those that a class serves are `mapped`."""
    return tuple(name for name in names if is_served(allocatable.get(name, 0), mapped=name in mapped))


def is_served(allocatable: int, *, mapped: bool) -> bool:
    """Whether devices serve a name on a node: a class does, and the node has nothing of it to allocate."""
    return mapped and allocatable <= 0


def new_special_claim(pod: Pod) -> ResourceClaim:
    """The claim in memory, without requests yet."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True)
    return ResourceClaim(
        metadata=ObjectMeta(
            name=SPECIAL_NAME,
            namespace=pod.metadata.namespace,
            generate_name=f"{pod.metadata.name}-extended-resources-",
            annotations={SPECIAL_ANNOTATION: "true"},
            owner_references=[owner],
            uid=f"{SPECIAL_NAME} {pod.key}",
        )
    )


def stored_name(claim: ResourceClaim) -> str:
    """The name under which the claim is created."""
    return claim.metadata.generate_name + _SUFFIX


@dataclass(frozen=True, slots=True)
class Use:
    """One container's use of one request."""

    container: str
    resource: str
    request: str

    def to_dict(self) -> dict[str, str]:
        """As the pod's status has it."""
        return {"containerName": self.container, "resourceName": self.resource, "requestName": self.request}


def container_shape(pod: Pod) -> Hashable:
    """All of the pod that the special claim's requests follow from: equal shapes make equal requests."""
    init, containers = pod.spec.init_containers, pod.spec.containers
    listed = (*init, *containers)
    return len(init), tuple((c.restart_policy, tuple(sorted(c.resources.requests.items()))) for c in listed)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A container that asks for a resource."""

    index: int
    container: Container
    request: str
    count: int


def special_requests(
    pod: Pod, served: Collection[str], classes: Mapping[str, str]
) -> tuple[list[DeviceRequest], list[Use]]:
    """The requests for the names that devices serve, sorted by name as text, and who uses which."""
    containers = [*pod.spec.init_containers, *pod.spec.containers]
    plain = len(pod.spec.init_containers)
    requests: list[DeviceRequest] = []
    mappings: list[Use] = []
    for resource in sorted(served):
        asking = [a for index, c in enumerate(containers) if (a := _asking(index, c, resource)) is not None]
        lasting = [a for a in asking if a.index >= plain or a.container.restart_policy == "Always"]
        passing = [a for a in asking if a not in lasting]
        for one in lasting:
            requests.append(_request(one.request, classes[resource], one.count))
            mappings.append(Use(one.container.name, resource, one.request))
        extra = _reuse(passing, lasting, resource, mappings)
        if extra is not None:
            requests.append(_request(extra[0], classes[resource], extra[1]))
    requests.sort(key=lambda request: request.name)
    return requests, mappings


def _asking(index: int, container: Container, resource: str) -> _Asking | None:
    listed = container.resources.requests
    if resource not in listed:
        return None
    count = parse(listed[resource])
    if count.sign <= 0 or count.nano % 10**9:
        return None
    position = sorted(listed).index(resource)
    return _Asking(index, container, f"container-{index}-request-{position}", count.nano // 10**9)


def _reuse(
    passing: list[_Asking], lasting: list[_Asking], resource: str, mappings: list[Use]
) -> tuple[str, int] | None:
    """Init containers use what later containers will have; the largest remainder becomes one shared request."""
    largest: tuple[str, int] | None = None
    short: list[_Asking] = []
    for one in passing:
        left = one.count
        for later in lasting:
            if left <= 0:
                break
            if later.index >= one.index:
                mappings.append(Use(one.container.name, resource, later.request))
                left -= later.count
        if left > 0:
            short.append(one)
            if largest is None or left > largest[1]:
                largest = (one.request, left)
    if largest is not None:
        mappings += [Use(one.container.name, resource, largest[0]) for one in short]
    return largest


def _request(name: str, device_class: str, count: int) -> DeviceRequest:
    return DeviceRequest(
        name=name, exactly=ExactDeviceRequest(device_class_name=device_class, allocation_mode="ExactCount", count=count)
    )


def with_requests(claim: ResourceClaim, requests: list[DeviceRequest]) -> ResourceClaim:
    """The special claim with its requests."""
    return replace(claim, spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests)))
