"""The containers of a pod that has a node but that the kubelet has not started completely."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.api.core import Container, ContainerStatus, Pod
from dra_plan.claims.owners import RUNNING, STARTING, how_ended, unfinished_init, why_waiting
from dra_plan.documents.claim_sets import WaitingContainer


def waiting_containers(pod: Pod) -> Iterator[WaitingContainer]:
    """Yield the waiting containers, with the kubelet's reasons.

    Containers that are only waiting for an init container are left out if that container has started, or has a reason
    of its own.
    """
    found = unfinished_init(pod) if pod.status.phase in ("", "Pending") else None
    waiting = found[1].state.waiting if found is not None else None
    if found is not None and waiting is None:
        yield _awaited(*found)
        return
    is_known = waiting is not None and waiting.reason not in STARTING
    sidecars = {one.name for one in pod.spec.init_containers if one.is_sidecar}
    inits = len(pod.status.init_container_statuses)
    for place, status in enumerate((*pod.status.init_container_statuses, *pod.status.container_statuses)):
        waiting = status.state.waiting
        if waiting is not None and waiting.reason and not (is_known and waiting.reason in STARTING):
            yield WaitingContainer(
                name=status.name,
                reason=waiting.reason,
                message=why_waiting(status),
                init=place < inits,
                sidecar=place < inits and status.name in sidecars,
            )


def _awaited(container: Container, status: ContainerStatus) -> WaitingContainer:
    """Return an init container that has been started, or has ended with an error, and for which the others wait."""
    running, ended = status.state.running, status.state.terminated
    return WaitingContainer(
        name=status.name,
        reason=RUNNING if ended is None else ended.reason or "Error",
        message=how_ended(ended) if ended is not None else "",
        ended=ended is not None,
        since=(running.started_at or "") if running is not None else "",
        init=True,
        sidecar=container.is_sidecar,
    )
