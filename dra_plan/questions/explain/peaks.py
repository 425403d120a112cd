"""`explain`: the containers of a pod that together request the most of a resource at one time.

Init containers run one after another, each together with the earlier sidecars; the containers run together with all
sidecars. The request of a pod is the largest of these sums (KEP-753). A LimitRange may add requests that containers do
not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_plan.api.core import Container, Pod, PodSpec
from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.documents.verdicts import DefaultedRequest
from dra_plan.scheduler.cluster.nodes import amount_text, amounts
from dra_plan.scheduler.new_pods import pod_of

SIDECAR = "Always"
"""The restartPolicy of an init container that keeps running."""


def asked_of(container: Container, resource: str) -> int:
    """Return the amount of the resource that the container requests."""
    return amounts(container.resources.requests).get(resource, 0)


def peak(spec: PodSpec, resource: str) -> Sequence[Container]:
    """Return the containers that together request the most of the resource; of two equal sums the first."""
    sidecars: list[Container] = []
    sums: list[Sequence[Container]] = []
    for container in spec.init_containers:
        if container.restart_policy == SIDECAR:
            sidecars.append(container)
        else:
            sums.append([container, *sidecars])
    sums.append([*spec.containers, *sidecars])
    return max(sums, key=lambda each: _sum(each, resource))


def parts(spec: PodSpec, resource: str) -> list[str]:
    """Return `init container migrate 4`, `sidecar proxy 200m`: the requests, if not only the containers have them."""
    asking = [one for one in peak(spec, resource) if asked_of(one, resource)]
    if all(one in spec.containers for one in asking) or spec.resources is not None:
        return []
    return [f"{_called(one, spec)} {one.name} {amount_text(resource, asked_of(one, resource))}" for one in asking]


def _called(container: Container, spec: PodSpec) -> str:
    if container in spec.containers:
        return "container"
    return "sidecar" if container.restart_policy == SIDECAR else "init container"


def _sum(containers: Iterable[Container], resource: str) -> int:
    return sum(asked_of(one, resource) for one in containers)


def defaulted(inventory: Inventory, asked: Pod | AnyWorkload, over: Sequence[str]) -> list[DefaultedRequest]:
    """Return the requests that a LimitRange adds to the pod for resources whose quota is exceeded."""
    from dra_plan.controllers import limits

    namespace = asked.metadata.namespace
    pod = asked if isinstance(asked, Pod) else pod_of(asked, pod_template(asked), asked.metadata.name)
    limit_ranges = [one for one in inventory.limit_ranges if one.metadata.namespace == namespace]
    return [
        DefaultedRequest(container=container, resource=resource, amount=amount, limit_range=name)
        for container, resource, amount, name in limits.given(pod, limit_ranges)
        if not {resource, f"requests.{resource}", f"limits.{resource}"}.isdisjoint(over)
    ]
