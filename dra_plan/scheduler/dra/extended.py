"""Extended resources that devices provide (KEP-5004), and two scores that depend on devices.

Contents: the special claim for a pod's extended resources and its requests; the number of devices on a node, which
scoring uses as the capacity of such a resource; and the score of firstAvailable alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dra_plan.allocator import DeviceID, View
from dra_plan.api.core import Container, NodeSelector, Pod
from dra_plan.api.meta import ObjectMeta, OwnerReference
from dra_plan.api.quantity import parse
from dra_plan.api.resource import (
    AllocationResult,
    Device,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceSlice,
)
from dra_plan.api.selectors import node_matches, selector_problem
from dra_plan.api.well_known import IMPLICIT_PREFIX, SPECIAL_ANNOTATION
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_requests import Amounts, is_extended

if TYPE_CHECKING:
    from dra_plan.cel import Selector

SPECIAL_NAME = "<extended-resources>"
"""The name of the special claim before it is created."""
_SUFFIX = "xxxxx"
"""A placeholder for the five random characters that the API server appends."""


def wanted_names(requests: Amounts) -> list[str]:
    """Return the extended resources that the pod requests, in alphabetical order."""
    return sorted(
        name
        for name, value in requests.items()
        if value > 0 and (is_extended(name) or name.startswith(IMPLICIT_PREFIX))
    )


def served_names(names: Iterable[str], mapped: Collection[str], allocatable: Mapping[str, int]) -> tuple[str, ...]:
    """Return which of the resources in `names` are provided by devices on a node.

    `mapped` are the resource names of device classes.
    """
    return tuple(name for name in names if is_served(allocatable.get(name, 0), mapped=name in mapped))


def is_served(allocatable: int, *, mapped: bool) -> bool:
    """Return whether devices provide the resource on a node.

    They do if a device class provides the resource (`mapped`) and the node has no allocatable amount of it.
    """
    return mapped and allocatable <= 0


def new_special_claim(pod: Pod) -> ResourceClaim:
    """Return the claim for the pod's extended resources. It is not stored and has no requests yet."""
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
    """Return the name under which the claim for extended resources is stored."""
    return claim.metadata.generate_name + _SUFFIX


class Use(Struct, frozen=True):
    """A container's use of a request in the special claim."""

    container: str
    resource: str
    request: str

    def to_dict(self) -> dict[str, str]:
        """Return the use in the form of the pod's status."""
        return {"containerName": self.container, "resourceName": self.resource, "requestName": self.request}


def container_shape(pod: Pod) -> Hashable:
    """Return what determines the requests of the pod's special claim. Equal shapes have equal requests."""
    init, containers = pod.spec.init_containers, pod.spec.containers
    listed = (*init, *containers)
    return len(init), tuple((c.restart_policy, tuple(sorted(c.resources.requests.items()))) for c in listed)


class _Asking(Struct, frozen=True):
    """A container that requests a resource."""

    index: int
    container: Container
    request: str
    count: int


def special_requests(
    pod: Pod, served: Collection[str], classes: Mapping[str, str]
) -> tuple[list[DeviceRequest], list[Use]]:
    """Return the requests for resources that devices provide, and the containers that use each request.

    The requests are sorted by name as text.
    """
    containers = pod.spec.all_containers
    plain = len(pod.spec.init_containers)
    requests: list[DeviceRequest] = []
    mappings: list[Use] = []
    for resource in sorted(served):
        asking = [a for index, c in enumerate(containers) if (a := _asking(index, c, resource)) is not None]
        lasting = [a for a in asking if a.index >= plain or a.container.is_sidecar]
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
    """Map init containers to the requests of later containers, and return the largest remainder.

    The remainder, with its request, becomes one shared request for all init containers that need more.
    """
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
    """Return the special claim with these requests."""
    return replace(claim, spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests)))


# -- devices as capacity for scoring -----------------------------------------------------------------------------------
# This is the number of devices that a node has for an extended resource. Like upstream's scoring, it is coarser than
# the allocator, and ignores pool generations and completeness, taints and counters.

Totals = Callable[[str, NodeInfo], tuple[int, int]]
"""A function that returns how many devices provide a resource on a node, and how many of them are in use."""


class DeviceTotals:
    """The number of devices by resource name and node.

    Nothing is counted on a node where a selector for the resource fails with an error.
    """

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self._view: View | None = None
        self._local: dict[str, list[ResourceSlice]] = {}
        self._matching: dict[tuple[str, int], list[Device] | None] = {}

    def of(self, name: str, node: NodeInfo) -> tuple[int, int]:
        """Return how many devices provide the resource on the node, and how many of them are in use.

        Both numbers are 0 if no class provides the resource.
        """
        served_by = self._cluster.extended_names().get(name)
        found = self._cluster.view.classes.get(served_by) if served_by is not None else None
        if found is None:
            return 0, 0
        self._follow()
        state = self._cluster.claims.state
        total = used = 0
        try:
            for slice_ in self._local.get(node.name, self._local[""]):
                for device in self._devices(slice_, found, node):
                    total += 1
                    spec = slice_.spec
                    used += state.holder(DeviceID(spec.driver, spec.pool.name, device.name)) is not None
        except ValueError:
            return 0, 0
        return total, used

    def _follow(self) -> None:
        """Sort the slices by node if they have changed; slices that do not name a single node are in every list."""
        if self._view is self._cluster.view:
            return
        self._view = self._cluster.view
        self._matching = {}
        self._local = {"": []}
        for slice_ in self._view.slices:
            where = "" if _for_many(slice_) else slice_.spec.node_name
            if where and where not in self._local:
                self._local[where] = list(self._local[""])
            for listed in [self._local[where]] if where else self._local.values():
                listed.append(slice_)

    def _devices(self, slice_: ResourceSlice, device_class: DeviceClass, node: NodeInfo) -> list[Device]:
        """Return the slice's devices on the node that match the class. Raises ValueError if upstream gives up."""
        spec = slice_.spec
        if not spec.per_device_node_selection:
            if not _slice_is_on(slice_, node):
                return []
            return self._known_matches(slice_, device_class)
        there = [device for device in spec.devices if _device_is_on(device, node)]
        return self._matches(there, device_class, spec.driver)

    def _known_matches(self, slice_: ResourceSlice, device_class: DeviceClass) -> list[Device]:
        """Return the devices that match the class, found once for all nodes."""
        key = (device_class.metadata.name, id(slice_))
        if key not in self._matching:
            try:
                self._matching[key] = self._matches(slice_.spec.devices, device_class, slice_.spec.driver)
            except ValueError:
                self._matching[key] = None
        matching = self._matching[key]
        if matching is None:
            raise ValueError(f"selectors of class {device_class.metadata.name} fail")
        return matching

    def _matches(self, devices: Sequence[Device], device_class: DeviceClass, driver: str) -> list[Device]:
        selectors: list[Selector] = [
            self._cluster.view.compile(selector.cel.expression)
            for selector in device_class.spec.selectors
            if devices and selector.cel is not None
        ]
        return [device for device in devices if all(selector.matches(device, driver) for selector in selectors)]


def _for_many(slice_: ResourceSlice) -> bool:
    spec = slice_.spec
    return not spec.node_name or spec.all_nodes or spec.per_device_node_selection or spec.node_selector is not None


def _slice_is_on(slice_: ResourceSlice, node: NodeInfo) -> bool:
    """Return whether the slice is on the node.

    Unlike in the allocator, a slice that does not name any nodes is on every node.
    """
    spec = slice_.spec
    if spec.all_nodes or spec.node_name == node.name:
        return True
    return not spec.node_name and (spec.node_selector is None or _selected(spec.node_selector, node))


def _device_is_on(device: Device, node: NodeInfo) -> bool:
    if device.all_nodes or device.node_name == node.name:
        return True
    return not device.node_name and device.node_selector is not None and _selected(device.node_selector, node)


def _selected(selector: NodeSelector, node: NodeInfo) -> bool:
    problem = selector_problem(selector)
    if problem:
        raise ValueError(problem)
    return node_matches(selector, node.name, node.labels)


# -- score of firstAvailable alternatives ------------------------------------------------------------------------------

_BEST_RANK = 8
"""The score of a request's first alternative; each later alternative scores one less."""


def is_ranked(claim: ResourceClaim) -> bool:
    """Return whether any request of the claim has alternatives."""
    return any(request.first_available for request in claim.spec.devices.requests)


def rank(claim: ResourceClaim, allocation: AllocationResult | None) -> int:
    """Return the sum of the ranks of the allocated alternatives in the claim."""
    ranked = [request for request in claim.spec.devices.requests if request.first_available]
    if allocation is None or not ranked:
        return 0
    given = {result.request for result in allocation.devices.results}
    total = 0
    for request in ranked:
        ranks = (
            _BEST_RANK - index
            for index, option in enumerate(request.first_available)
            if f"{request.name}/{option.name}" in given
        )
        total += next(ranks, 0)
    return total
