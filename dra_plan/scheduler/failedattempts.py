"""What a failed attempt saw of claims and devices, for those who explain it afterwards. Keeping it changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from dra_plan.allocator import View
from dra_plan.api.core import Node, Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.pod_claims import PodClaimError, pod_claims
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.dra.state import PodState

from . import pluginnames
from .cycle import CycleResult
from .cyclestate import CycleState
from .handle import Handle
from .queuedpod import QueuedPod
from .runtime import Framework


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """The last attempt of a pod that failed for its claims.

    `nodes` are those that DynamicResources refused, or failed on; `claims` are the pod's that waited for devices, with
    the one for extended resources, `allocated` those that had theirs. `all_claims` are those of the cluster then, with
    what was in flight, the same tuple for attempts between which nothing changed; `cluster` is all else of it.
    """

    pod: Pod
    number: int
    message: str
    nodes: tuple[Node, ...]
    claims: tuple[ResourceClaim, ...]
    allocated: tuple[ResourceClaim, ...]
    all_claims: tuple[ResourceClaim, ...]
    cluster: View

    def view(self) -> View:
        """The cluster as the attempt saw it."""
        return self.cluster.with_claims(self.all_claims)


class FailedAttempts:
    """Keeps each pod's last attempt, by uid, if it failed for its claims."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._claims: tuple[ResourceClaim, ...] = ()
        self._revision = -1
        self.by_uid: dict[str, FailedAttempt] = {}

    def begin(self) -> None:
        """An attempt starts: what it does to claims itself does not count."""
        store = self._handle.cluster.claims
        if self._revision != store.revision:
            self._claims, self._revision = tuple(store.seen()), store.revision

    def ended(self, item: QueuedPod, framework: Framework, state: CycleState, result: CycleResult) -> None:
        """The attempt is over."""
        self.by_uid.pop(item.uid, None)
        plugins = [plugin for plugin in framework.all_plugins() if isinstance(plugin, DynamicResources)]
        names = [] if result.node else _refused(result)
        if not names or not plugins:
            return
        cluster = self._handle.cluster
        nodes = [cluster.nodes[name] for name in names if name in cluster.nodes]
        kept: PodState = state.get(plugins[0].name) or PodState()
        claims = plugins[0].claims_asked_for(kept, item.pod, nodes[0]) if nodes else []
        allocated = kept.allocated
        if kept.empty:  # PreFilter refused the claims before it kept them
            found = self._of(item.pod)
            claims = [claim for claim in found if claim.allocation is None]
            allocated = [claim for claim in found if claim.allocation is not None]
        if nodes and (claims or allocated):
            self.by_uid[item.uid] = FailedAttempt(
                pod=item.pod,
                number=item.attempts,
                message=result.message,
                nodes=tuple(node.node for node in nodes),
                claims=tuple(claims),
                allocated=tuple(allocated),
                all_claims=self._claims,
                cluster=cluster.view,
            )

    def _of(self, pod: Pod) -> list[ResourceClaim]:
        try:
            return pod_claims(pod, self._handle.cluster.claims.get)
        except PodClaimError:
            return []


def _refused(result: CycleResult) -> list[str]:
    """The nodes that DynamicResources refused, or on which filters failed with an error."""
    statuses = result.diagnosis.statuses if result.diagnosis is not None else {}
    refused = [name for name, status in statuses.items() if status.plugin == pluginnames.DYNAMIC_RESOURCES]
    return list(dict.fromkeys([*result.fatal, *refused]))
