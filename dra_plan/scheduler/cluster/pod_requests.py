"""The CPU, memory and other resources that a pod requests from its node, and its host ports.

CPU is in thousandths and everything else in units, both rounded up. The rules for init containers, sidecars, overhead,
pod-level resources and pods being resized are those of `k8s.io/component-helpers/resource`. The node resources that
devices of claims use (KEP-5517) are included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from dra_plan.api.core import Container, ContainerStatus, NodeAllocatableResourceClaimStatus, Pod
from dra_plan.api.meta import QuantityText
from dra_plan.api.quantity import canonical, make, parse

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL = "ephemeral-storage"
PODS = "pods"

DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024
_DEFAULTS = {CPU: DEFAULT_MILLI_CPU * 10**6, MEMORY: DEFAULT_MEMORY * 10**9}
"""The requests that scoring assumes for a container without requests, in billionths."""

Amounts = dict[str, int]
"""Amounts by resource name. CPU is in thousandths."""

_CORE = frozenset({CPU, MEMORY, EPHEMERAL})
_INT64 = 2**63 - 1


def is_extended(name: str) -> bool:
    """Return whether the name is that of an extended resource. Its domain must not be one of Kubernetes' own."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def is_scalar(name: str) -> bool:
    """Return whether the resource is checked on nodes but is not CPU, memory or ephemeral storage."""
    return ("/" in name and not name.startswith("requests.")) or name.startswith(("hugepages-", "attachable-volumes-"))


def amount(name: str, nano: int) -> int:
    """Return an amount in billionths as the whole number that Kubernetes compares."""
    value = -(-nano // 10**6) if name == CPU else -(-nano // 10**9)
    return min(value, _INT64)


def amounts(listed: Mapping[str, QuantityText]) -> Amounts:
    """Return the amounts in a resource list as comparable numbers, including `pods` if the list has it."""
    return _amounts_of(tuple(listed.items())).copy()


@lru_cache(maxsize=1_000)
def _amounts_of(listed: Iterable[tuple[str, QuantityText]]) -> Amounts:
    """Return the amounts of a list: most nodes of a fleet have one of a few lists."""
    return _comparable({name: parse(text).nano for name, text in listed})


def amount_text(resource: str, number: int) -> str:
    """Return an amount, as returned by `amounts`, in the notation of manifests."""
    if resource == CPU:
        return make(number, -3, "DecimalSI").text
    binary = number and number % 1024 == 0 and "/" not in resource
    return canonical(number, "BinarySI" if binary else "DecimalSI")


Claimed = Sequence[NodeAllocatableResourceClaimStatus]
"""The node resources that the devices in a pod's claims use."""


def pod_requests(pod: Pod, *, pod_level: bool = True, defaults: bool = False, claimed: Claimed = ()) -> Amounts:
    """Return a pod's total request for each resource.

    If `defaults` is set, a missing request for CPU or memory is replaced by the default used for scoring.
    """
    return _comparable(exact_requests(pod, pod_level=pod_level, defaults=defaults, claimed=claimed))


def exact_requests(
    pod: Pod, *, pod_level: bool = True, defaults: bool = False, claimed: Claimed = ()
) -> dict[str, int]:
    """Return a pod's total request for each resource, in billionths.

    The node resources that claims use are added to the requests of the containers.
    """
    total = _aggregate(pod, _DEFAULTS if defaults else {})
    for claim in claimed:
        _add(total, {name: parse(text).nano for name, text in claim.resources.items()})
    if pod_level and pod.spec.resources is not None:
        # pod-level requests replace the sum, whether smaller or larger
        for name, text in pod.spec.resources.requests.items():
            if name in (CPU, MEMORY) or name.startswith("hugepages-"):
                total[name] = parse(text).nano
    for name, text in pod.spec.overhead.items():
        total[name] = total.get(name, 0) + parse(text).nano
    return total


def exact_limits(pod: Pod) -> dict[str, int]:
    """Return a pod's total limit for each resource, in billionths.

    Limits are added up like requests, and the overhead is added.
    """
    spec = pod.spec

    def swapped(container: Container) -> Container:
        return replace(container, resources=replace(container.resources, requests=container.resources.limits))

    of_pod = replace(spec.resources, requests=spec.resources.limits) if spec.resources is not None else None
    limited = replace(
        spec,
        containers=[swapped(each) for each in spec.containers],
        init_containers=[swapped(each) for each in spec.init_containers],
        resources=of_pod,
        overhead={},
    )
    total = exact_requests(Pod(metadata=pod.metadata, spec=limited))
    for name, text in spec.overhead.items():
        if total.get(name):
            total[name] += parse(text).nano
    return total


def _comparable(nano: Mapping[str, int]) -> Amounts:
    return {
        name: amount(name, value) for name, value in nano.items() if name in _CORE or name == PODS or is_scalar(name)
    }


def _aggregate(pod: Pod, defaults: Mapping[str, int]) -> dict[str, int]:
    """Return the sum over containers and sidecars, or the init phase's peak if that is larger, in billionths."""
    statuses = {s.name: s for s in (*pod.status.container_statuses, *pod.status.init_container_statuses)}
    infeasible = any(c.type == "PodResizePending" and c.reason == "Infeasible" for c in pod.status.conditions)
    total: dict[str, int] = {}
    for container in pod.spec.containers:
        _add(total, _requests(container, statuses.get(container.name), infeasible, defaults))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in pod.spec.init_containers:
        if container.is_sidecar:
            wanted = _requests(container, statuses.get(container.name), infeasible, defaults)
            _add(total, wanted)
            _add(sidecars, wanted)
            _raise(peak, sidecars)
        else:
            alone = _requests(container, None, infeasible, defaults)
            _add(alone, sidecars)
            _raise(peak, alone)
    _raise(total, peak)
    return total


def _requests(
    container: Container, status: ContainerStatus | None, infeasible: bool, defaults: Mapping[str, int]
) -> dict[str, int]:
    wanted = {name: parse(text).nano for name, text in container.resources.requests.items()}
    if status is not None:
        wanted = _resized(wanted, status, infeasible)
    for name, value in defaults.items():
        wanted.setdefault(name, value)
    return wanted


def _resized(wanted: dict[str, int], status: ContainerStatus, infeasible: bool) -> dict[str, int]:
    """Return the largest of the specified, allocated and running amounts.

    An infeasible resize does not count as specified.
    """
    running = status.resources.requests if status.resources is not None else {}
    if not running and not status.allocated_resources:
        return wanted
    largest = {} if infeasible else dict(wanted)
    for listed in (running, status.allocated_resources):
        _raise(largest, {name: parse(text).nano for name, text in listed.items()})
    return largest


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise(total: dict[str, int], other: Mapping[str, int]) -> None:
    for name, value in other.items():
        if value > total.get(name, -1):
            total[name] = value


def host_ports(containers: Iterable[Container]) -> list[tuple[str, str, int]]:
    """Return the ports that containers use on their node, as (protocol, address, port).

    The address of a port without one is 0.0.0.0.
    """
    return [
        (port.protocol or "TCP", port.host_ip or "0.0.0.0", port.host_port)
        for container in containers
        for port in container.ports
        if port.host_port > 0
    ]
