"""`explain`: the containers of a pod that together request the most of a resource at one time.

Init containers run one after another, each together with the earlier sidecars; the containers run together with all
sidecars. The request of a pod is the largest of these sums (KEP-753).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_plan.api.core import Container, PodSpec
from dra_plan.scheduler.cluster.nodes import amount_text, amounts

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
