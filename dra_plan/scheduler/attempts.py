"""Records of scheduling: the outcome of each pod, and its last attempt if that failed because of its claims.

The record of a failed attempt holds the claims and devices as the attempt saw them, so that commands can explain it
later. Keeping records does not change the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct

from dra_plan.allocator import View
from dra_plan.api.core import Node, NodeAllocatableResourceClaimStatus, Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.pod_claims import PodClaimError, pod_claims
from dra_plan.documents.verdict_parts import PodOutcome
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.dra.filter import PodState
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework.interface import Handle
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import CycleState, Status
from dra_plan.scheduler.framework.types import QueuedPod

from .cycle import CycleResult
from .framework import plugin_names
from .node_refusals import NodeRefusals


class FailedAttempt(Struct, frozen=True):
    """The last attempt to schedule a pod, which failed because of its claims.

    `nodes` are the nodes that DynamicResources rejected or failed on. `claims` are the pod's claims that needed
    devices, including the claim for extended resources; `allocated` are those that already had devices. `all_claims`
    are all claims in the cluster at that time, including claims in flight. If nothing changes between two attempts,
    they share this tuple. `cluster` is the rest of the cluster's state.
    """

    pod: Pod
    number: int
    message: str
    nodes: tuple[Node, ...]
    claims: tuple[ResourceClaim, ...]
    allocated: tuple[ResourceClaim, ...]
    all_claims: tuple[ResourceClaim, ...]
    cluster: View
    others: tuple[tuple[Node, Status], ...] = ()
    """The nodes that other plugins rejected, with their statuses."""

    def view(self) -> View:
        """Return the cluster as the attempt saw it."""
        return self.cluster.with_claims(self.all_claims)


class FailedAttempts:
    """The last attempt of each pod by UID, if it failed because of the pod's claims."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._claims: tuple[ResourceClaim, ...] = ()
        self._revision = -1
        self.by_uid: dict[str, FailedAttempt] = {}

    def begin(self) -> None:
        """Start an attempt. Later changes that it makes to claims are not recorded."""
        store = self._handle.cluster.claims
        if self._revision != store.revision:
            self._claims, self._revision = tuple(store.seen()), store.revision

    def ended(self, item: QueuedPod, framework: Framework, state: CycleState, result: CycleResult) -> None:
        """Record how the attempt ended."""
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
        if kept.empty:  # PreFilter rejected the claims before it stored them
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
                others=tuple(_refused_otherwise(result, cluster.nodes)),
            )

    def _of(self, pod: Pod) -> list[ResourceClaim]:
        try:
            return pod_claims(pod, self._handle.cluster.claims.get)
        except PodClaimError:
            return []


def _refused(result: CycleResult) -> list[str]:
    """Return the nodes that DynamicResources rejected, or on which filters failed with an error."""
    statuses = result.diagnosis.statuses if result.diagnosis is not None else {}
    refused = [name for name, status in statuses.items() if status.plugin == plugin_names.DYNAMIC_RESOURCES]
    return list(dict.fromkeys([*result.fatal, *refused]))


def _refused_otherwise(result: CycleResult, nodes: Mapping[str, NodeInfo]) -> Iterator[tuple[Node, Status]]:
    statuses = result.diagnosis.statuses if result.diagnosis is not None else {}
    for name, status in statuses.items():
        if status.rejected and status.plugin != plugin_names.DYNAMIC_RESOURCES and name in nodes:
            yield nodes[name].node, status


# -- the outcome of each pod -------------------------------------------------------------------------------------------


IN_ORDER = "StatefulSet"
"""The holder of a pod that its StatefulSet has not created yet."""


@dataclass
class PodRecord:
    """What is known about the scheduling of a pod."""

    pod: Pod
    node: str = ""
    reason: str = ""
    message: str = ""
    nominated: str = ""
    best: Sequence[str] = ()
    fatal: dict[str, str] = field(default_factory=dict)
    attempts: int = 0
    waiting: str = ""
    """Why the pod is waiting, either at a gate or after a node was chosen."""
    held_by: str = ""
    """The plugin that makes the pod wait, or `IN_ORDER`."""
    on_its_way: bool = False
    """True if a node is reserved for the pod but the pod cannot be bound yet."""
    node_allocatable: list[NodeAllocatableResourceClaimStatus] = field(default_factory=list)
    """The node resources that the devices of the pod's claims use."""
    refusals: NodeRefusals | None = None
    """The reasons for each node at the pod's last failure, if they were requested."""
    ran_out: bool = False
    """True if time ran out before the pod was tried, or tried again."""
    skipped: bool = False
    """True if the scheduler ignores the pod: it has finished, is terminating, was not chosen or belongs to another
    scheduler.
    """

    refused: bool = False
    """True if the API server rejects the pod that a controller wants to create. `message` is its reason."""

    @property
    def outcome(self) -> PodOutcome:
        """The outcome: Refused, Bound, Skipped, Waiting (for binding), Undecided, Unschedulable, Error or Gated."""
        if self.refused:
            return "Refused"
        if self.node:
            return "Bound"
        if self.ran_out:
            return "Undecided"
        if self.skipped:
            return "Skipped"
        if self.on_its_way:
            return "Waiting"
        if self.reason == "SchedulerError":
            return "Error"
        return "Unschedulable" if self.reason else "Gated"

    def skip(self, why: str) -> None:
        """Record that the scheduler ignores the pod."""
        self.skipped, self.waiting = True, why

    def cut_short(self) -> None:
        """Record that time ran out before the scheduler could try the pod, or try it again."""
        self.ran_out = True
        self.waiting = f"the time ran out before it was tried{' again' if self.attempts else ''}"

    def wait(self, message: str, plugin: str = "") -> None:
        """Record that a node is reserved for the pod and that the plugin delays the binding."""
        self.waiting, self.held_by, self.on_its_way = message, plugin, True

    def fail(self, message: str, *, with_error: bool) -> None:
        """Record an attempt that found no node for the pod."""
        self.node, self.message, self.waiting, self.on_its_way = "", message, "", False
        self.reason = "SchedulerError" if with_error else "Unschedulable"

    def bind(self, node: str) -> None:
        """Record that the pod is bound to the node."""
        self.node, self.message, self.reason = node, "", ""
        self.nominated, self.waiting, self.on_its_way = "", "", False


class PodRecords:
    """The records of all pods by UID, in the order in which the scheduler first saw the pods.

    Only records returned by `of` may be changed.
    """

    def __init__(self) -> None:
        self.by_uid: dict[str, PodRecord] = {}
        self._own: set[str] | None = None
        """The pods whose records were made since the cluster was forked; None if it was not."""

    def forked(self) -> None:
        """Keep the current records unchanged. Later changes are made to copies."""
        self._own = set()

    def forget(self, uids: Iterable[str]) -> None:
        """Remove the records of these pods."""
        for uid in uids:
            self.by_uid.pop(uid, None)

    def of(self, pod: Pod) -> PodRecord:
        """Return the record of the pod, which is created if there is none."""
        uid = pod_uid(pod)
        found = self.by_uid.get(uid)
        if found is None:
            found = self.by_uid[uid] = PodRecord(pod)
        elif self._own is not None and uid not in self._own:
            found = self.by_uid[uid] = replace(found)
        else:
            return found
        if self._own is not None:
            self._own.add(uid)
        return found
