"""`explain`: the containers of a pod that together request the most of a resource at one time.

Init containers run one after another, each together with the earlier sidecars; the containers run together with all
sidecars. The request of a pod is the largest of these sums (KEP-753). A LimitRange may add requests that containers do
not have. An amount in spec.resources of the pod replaces the sum (KEP-2837).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dra_plan.api.core import Container, LimitRange, Pod, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.documents.verdict_parts import DefaultedRequest
from dra_plan.scheduler.cluster.pod_requests import CPU, MEMORY, amount_text, amounts
from dra_plan.scheduler.new_pods import pod_of

_LIMIT_RANGER = "kubernetes.io/limit-ranger"
"""The annotation in which the API server's LimitRanger plugin lists what it has set."""

_GIVEN = re.compile(r"(?:: |; )(?P<resources>[^;:]+?) request for (?:init )?container (?P<container>[^;\s]+)")


def asked_of(container: Container, resource: str) -> int:
    """Return the amount of the resource that the container requests."""
    return amounts(container.resources.requests).get(resource, 0)


def peak(spec: PodSpec, resource: str) -> Sequence[Container]:
    """Return the containers that together request the most of the resource.

    If two sets of containers request the same amount, return the first.
    """
    sidecars: list[Container] = []
    sums: list[Sequence[Container]] = []
    for container in spec.init_containers:
        if container.is_sidecar:
            sidecars.append(container)
        else:
            sums.append([container, *sidecars])
    sums.append([*spec.containers, *sidecars])
    return max(sums, key=lambda each: _sum(each, resource))


def containers_ask(spec: PodSpec, resource: str) -> int:
    """Return the amount of the resource that the containers together request."""
    return _sum(peak(spec, resource), resource)


def pod_level(spec: PodSpec, resource: str) -> int | None:
    """Return the amount that the pod requests as a whole, which replaces those of its containers (KEP-2837), or None.

    Only cpu, memory and huge pages have such an amount.
    """
    asked = amounts(spec.resources.requests) if spec.resources is not None else {}
    return asked.get(resource) if resource in (CPU, MEMORY) or resource.startswith("hugepages-") else None


def overhead_of(spec: PodSpec, resource: str) -> int:
    """Return the amount of the resource that the pod's RuntimeClass adds as overhead."""
    return amounts(spec.overhead).get(resource, 0)


def parts(pod: Pod, resource: str, limit_ranges: Iterable[LimitRange]) -> list[str]:
    """Return the parts of the pod's total request, such as `init container migrate 4` or `overhead 250m`.

    The list is empty if only the containers have requests. If a LimitRange added a request when the pod was created,
    the text names the LimitRange, unless several could have added the request.
    """
    spec = pod.spec
    overhead = overhead_of(spec, resource)
    extra = [f"overhead of its RuntimeClass {amount_text(resource, overhead)}"] if overhead else []
    whole = pod_level(spec, resource)
    if whole is not None:
        own = amount_text(resource, containers_ask(spec, resource))
        there = f"{amount_text(resource, whole)} in " if overhead else ""
        return [f"{there}spec.resources of the pod; its containers request {own}", *extra]
    asking = [one for one in peak(spec, resource) if asked_of(one, resource)]
    added = {one.name for one in asking} & given_by_limit_range(pod, resource)
    if all(one in spec.containers for one in asking) and not overhead and not added:
        return []
    names = [one.metadata.name for one in limit_ranges if one.metadata.namespace == pod.metadata.namespace]
    source = f", set by LimitRange {names[0]}" if len(names) == 1 else ", set by a LimitRange"
    told = [
        f"{_called(one, spec)} {one.name} {amount_text(resource, asked_of(one, resource))}"
        f"{source if one.name in added else ''}"
        for one in asking
    ]
    return [*told, *extra]


def given_by_limit_range(pod: Pod, resource: str) -> set[str]:
    """Return the containers whose request the LimitRanger plugin of the API server has added."""
    said = (pod.metadata.annotations or {}).get(_LIMIT_RANGER, "")
    found = _GIVEN.finditer(said)
    return {each["container"] for each in found if resource in each["resources"].split(", ")}


def _called(container: Container, spec: PodSpec) -> str:
    if container in spec.containers:
        return "container"
    return "sidecar" if container.is_sidecar else "init container"


def _sum(containers: Iterable[Container], resource: str) -> int:
    return sum(asked_of(one, resource) for one in containers)


def defaulted(inventory: Inventory, asked: Pod | AnyWorkload, over: Sequence[str]) -> list[DefaultedRequest]:
    """Return the requests that a LimitRange adds to the pod, for the resources that exceed a quota."""
    from dra_plan.controllers import limits

    namespace = asked.metadata.namespace
    pod = asked if isinstance(asked, Pod) else pod_of(asked, pod_template(asked), asked.metadata.name)
    limit_ranges = [one for one in inventory.limit_ranges if one.metadata.namespace == namespace]
    return [
        DefaultedRequest(container=container, resource=resource, amount=amount, limit_range=name)
        for container, resource, amount, name in limits.given(pod, limit_ranges)
        if not {resource, f"requests.{resource}", f"limits.{resource}"}.isdisjoint(over)
    ]
