"""The autoscaler's model of a cluster, in which pods can be placed, removed and tested.

A test runs kube-scheduler's own PreFilter, Filter and Reserve plugins, without scores, preemption or PostFilter.
Devices for extended resources are checked but never allocated, because Reserve runs only for pods with `resourceClaims`
(kubernetes/autoscaler#8742).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim, ResourceClaimStatus, ResourceSlice
from dra_plan.claims.index import Index
from dra_plan.releases import AutoscalerQuirks, Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.dra.binding import MOST_CONSUMERS
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import Code, CycleState, Status, not_satisfied, succeeded
from dra_plan.scheduler.simulation import Simulation

DEFAULT_SCHEDULER = "default-scheduler"
FITS = "fits"


class TooManyUsersError(Exception):
    """The error raised if a claim would be reserved for too many pods, which is an internal error in the autoscaler."""

    def __init__(self, pod: Pod, claim: ResourceClaim) -> None:
        self.pod, self.claim = pod, claim
        super().__init__(
            f"can't schedule pod {pod.key}: unexpected error: couldn't add pod {pod.key} reservations to claims, this"
            f" shouldn't happen: claim {claim.key} already has max number of reservations set, can't add more"
        )


@dataclass(frozen=True, slots=True)
class Added:
    """A future node with its slices, and with the pods and claims that it starts with."""

    node: Node
    slices: tuple[ResourceSlice, ...] = ()
    pods: tuple[Pod, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    starting: tuple[Pod, ...] = ()
    """Pods that get devices of the node before all others. They are placed when the node is added."""


class _Trial(NamedTuple):
    """A node on which a pod fits, with the state of the plugins."""

    framework: Framework
    state: CycleState
    allowed: frozenset[str] | None
    """The nodes that PreFilter leaves; None for all."""
    restricting: tuple[str, ...]


class ClusterSnapshot:
    """A cluster that can be modified."""

    def __init__(self, inventory: Inventory, target: Target, common: Common, quirks: AutoscalerQuirks) -> None:
        self._target, self._common, self.quirks = target, common, quirks
        rules = [] if quirks.taint_rules_unread else inventory.taint_rules
        self.inventory = replace(inventory, pods=list(map(_nominated, inventory.pods)), taint_rules=rules)
        self._simulation = Simulation(self.inventory, target=self._target, common=self._common, makes=False)
        self._cluster = self._simulation.cluster
        self._slices = self.inventory.slices
        self._announced: dict[str, Added] = {}
        self.placed: dict[str, str] = {}
        """The node of each pod placed here, by key."""

    def forked(self) -> ClusterSnapshot:
        """Return an independent copy."""
        return ClusterSnapshot(self.content(), self._target, self._common, self.quirks)

    def content(self) -> Inventory:
        """Return all objects as they are now."""
        given = {pod_uid(pod) for pod in self.inventory.pods}
        pods = [self._cluster.pods[pod_uid(pod)] for pod in self.inventory.pods if pod_uid(pod) in self._cluster.pods]
        pods += [pod for uid, pod in self._cluster.pods.items() if uid not in given]
        return replace(self.inventory, pods=pods, claims=list(self._cluster.claims))

    def announce(self, nodes: Iterable[Added]) -> None:
        """Prepare to add these nodes later, which makes adding them cheaper.

        Their slices are loaded at once. This changes no result, because no other node can access their devices.
        """
        self._announced |= {one.node.metadata.name: one for one in nodes}
        ahead = (piece for one in self._announced.values() for piece in one.slices)
        self._cluster.set_slices([*self._slices, *ahead])

    def add(self, added: Added) -> None:
        """Add a new node, with its slices, pods and claims."""
        if added.slices and added.node.metadata.name not in self._announced:
            self.announce([added])
        self.inventory = _with(self.inventory, [added])
        for claim in added.claims:
            self._cluster.put_claim(claim)
        self._cluster.append_node(added.node)
        for pod in added.pods:
            self._cluster.add_pod(pod)
        for pod in added.starting:
            self._cluster.add_pod(pod)
            self.put(pod, added.node.metadata.name)

    @property
    def nodes(self) -> list[str]:
        """Return the names of the nodes in input order, followed by those of the new nodes."""
        return [node.metadata.name for node in self.inventory.nodes]

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods on a node, in input order."""
        found = self._cluster.nodes[node].pods if node in self._cluster.nodes else {}
        return [self._cluster.pods[uid] for uid in found if uid in self._cluster.pods]

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """Return the claim as it is now, or None if it does not exist."""
        return self._cluster.claims.get(namespace, name)

    def priority(self, pod: Pod) -> int:
        """Return the pod's priority."""
        return self._cluster.info(pod).priority

    def requested(self, pod: Pod, resource: str) -> int:
        """Return how much of a resource the pod requests, in the scheduler's units."""
        return self._cluster.info(pod).requests.get(resource, 0)

    def claim_names(self, pod: Pod) -> list[str]:
        """Return the names of the pod's claims, as far as they are known."""
        made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
        names = (entry.resource_claim_name or made.get(entry.name) for entry in pod.spec.resource_claims)
        return [name for name in names if name]

    def devices(self, pod: Pod) -> int:
        """Return the number of devices that the pod's claims request.

        A request for all devices counts as one device. Of several alternatives, only the first counts.
        """
        requests = [each for claim in self._claims_of(pod) if claim is not None for each in claim.spec.devices.requests]
        exact = [each.exactly or next(iter(each.first_available), None) for each in requests]
        return sum((each.count or 1) for each in exact if each is not None)

    # Tests and placements

    def why_not(self, pod: Pod, node: str) -> str:
        """Return why the pod does not fit on the node, in kube-scheduler's words, or FITS if it does."""
        trial = self._trial(pod)
        return (self._refusal(trial, pod, node) or FITS) if isinstance(trial, _Trial) else trial

    def put(self, pod: Pod, node: str) -> bool:
        """If the pod fits on the node, place it there and allocate its devices. Return whether it fits.

        Raises TooManyUsersError.
        """
        return self.put_on_any(pod, (node,)) is not None

    def put_on_any(self, pod: Pod, nodes: Iterable[str]) -> str | None:
        """Place the pod on the first node on which it fits, and return the node's name, or None if it fits on none.

        Raises TooManyUsersError.
        """
        trial = self._trial(pod)
        if not isinstance(trial, _Trial):
            return None
        for node in nodes:
            if not self._refusal(trial, pod, node):
                self._take(pod, node, trial)
                return node
        return None

    def _trial(self, pod: Pod) -> _Trial | str:
        """Return the result of PreFilter for the pod, for all nodes; or the reason for its rejection."""
        missing = self._missing(pod)
        if missing:
            return f"claim {pod.metadata.namespace}/{missing} not found"
        if not self.quirks.full_claim_ends_loop and (full := self._full_claim(pod)) is not None:
            return f"claim {full.key} is reserved for {MOST_CONSUMERS} pods"
        framework, state = self._simulation.frameworks[DEFAULT_SCHEDULER], CycleState()
        allowed, status, restricting = framework.run_pre_filter(state, pod, self._cluster.in_order)
        if status is not None and not succeeded(status):
            return _said(status)
        return _Trial(framework, state, allowed.node_names, tuple(restricting))

    def _missing(self, pod: Pod) -> str:
        """Return the first named claim of the pod that does not exist: the snapshot checks this before any plugin."""
        made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
        names = (entry.resource_claim_name or made.get(entry.name) for entry in pod.spec.resource_claims)
        return next((name for name in names if name and self.claim(pod.metadata.namespace, name) is None), "")

    def _refusal(self, trial: _Trial, pod: Pod, node: str) -> str:
        if trial.allowed is not None and node not in trial.allowed:
            return not_satisfied(trial.restricting)
        status = trial.framework.filter(trial.state, pod, self._cluster.nodes[node])
        return "" if status is None or succeeded(status) else _said(status)

    def _take(self, pod: Pod, node: str, trial: _Trial) -> None:
        cluster = self._cluster
        if (full := self._full_claim(pod)) is not None:
            raise TooManyUsersError(pod, full)
        cluster.assume(cluster.info(pod), node)
        if pod.spec.resource_claims or not self.quirks.extended_devices_free:
            trial.framework.run_reserve(trial.state, pod, node)
            trial.framework.run_pre_bind(trial.state, pod, node, set())
        cluster.bind(pod, node)
        self.placed[pod.key] = node

    def _full_claim(self, pod: Pod) -> ResourceClaim | None:
        """Return a claim of the pod that is already reserved for the maximum number of other pods."""
        for claim in self._claims_of(pod):
            users = claim.reserved_for if claim is not None else []
            if len(users) >= MOST_CONSUMERS and all(user.uid != pod_uid(pod) for user in users):
                return claim
        return None

    def free_idle_claims(self, pod: Pod) -> bool:
        """Deallocate the pod's claims that are not in use, as kube-scheduler does. Return whether there were any."""
        idle = [
            claim
            for claim in self._claims_of(pod)
            if claim is not None and claim.allocation is not None and claim.status and not claim.status.reserved_for
        ]
        for claim in idle:
            self._cluster.put_claim(structs.replace(claim, status=ResourceClaimStatus()))
        return bool(idle)

    def _claims_of(self, pod: Pod) -> Iterator[ResourceClaim | None]:
        made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
        for entry in pod.spec.resource_claims:
            name = entry.resource_claim_name or made.get(entry.name)
            yield self.claim(pod.metadata.namespace, name) if name else None

    def take_off(self, pod: Pod) -> Pod:
        """Remove the pod from its node, deallocate claims that nothing else uses, and return it as a pending pod."""
        waiting = structs.replace(pod, spec=structs.replace(pod.spec, node_name=""))
        self._cluster.delete_pod(pod)
        for claim in self._claims_of(pod):
            if claim is None or claim.status is None:
                continue
            users = [user for user in claim.status.reserved_for if user.uid != pod_uid(pod)]
            status = structs.replace(claim.status, reserved_for=users) if users else ResourceClaimStatus()
            self._cluster.put_claim(structs.replace(claim, status=status))
        self._cluster.add_pod(waiting)
        return waiting


def _with(inventory: Inventory, added: list[Added]) -> Inventory:
    if not added:
        return inventory
    return replace(
        inventory,
        nodes=[*inventory.nodes, *(one.node for one in added)],
        slices=[*inventory.slices, *(piece for one in added for piece in one.slices)],
        pods=[*inventory.pods, *(pod for one in added for pod in one.pods)],
        claims=[*inventory.claims, *(claim for one in added for claim in one.claims)],
    )


def _nominated(pod: Pod) -> Pod:
    """Return the pod on its nominated node: the autoscaler counts it there, without devices."""
    node = pod.status.nominated_node_name
    if pod.spec.node_name or not node:
        return pod
    return structs.replace(pod, spec=structs.replace(pod.spec, node_name=node))


def _said(status: Status) -> str:
    """Return a rejection's reasons, or an error's message."""
    if status.code is Code.ERROR:
        return status.message
    return ", ".join(reason.text for reason in status.reasons) or status.message


def missing_claims(inventory: Inventory) -> str:
    """Return why the autoscaler's loop ends immediately, or "" if it does not.

    It ends if a claim of a bound or nominated pod is missing.
    """
    index = Index(inventory)
    for pod in inventory.pods:
        if not (pod.spec.node_name or pod.status.nominated_node_name) or pod.status.phase in ("Succeeded", "Failed"):
            continue
        made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
        for entry in pod.spec.resource_claims:
            if entry.resource_claim_name is None and entry.name not in made:
                return _claims_error(pod, entry.name, "couldn't determine ResourceClaim name")
            name = entry.resource_claim_name or made.get(entry.name)
            if name and index.claim(pod.metadata.namespace, name) is None:
                return _claims_error(pod, entry.name, "couldn't find ResourceClaim in the snapshot")
    return ""


def _claims_error(pod: Pod, entry: str, why: str) -> str:
    return (
        f"loop aborted: failed to initialize ClusterSnapshot: couldn't obtain pod {pod.key} claims: error while"
        f" obtaining ResourceClaim {entry} for pod {pod.key}: {why}"
    )
