"""`--engine karpenter`: the NodeClaims that Karpenter creates for pending pods with claims.

Behaves as recorded from Karpenter's main branch of 2026-08-20, with ignore-dra-requests=false. Pods are sorted by cpu
and memory. Each is tried on existing nodes, then on the NodeClaims of this run (those with the fewest pods first), and
then on a new NodeClaim of the first NodePool that fits. A NodeClaim keeps the set of instance types on which all of its
pods fit. A claim stays with its first NodeClaim. The slices of templates have no taints, and extended resources are
never provided by devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from dra_plan.api.core import Pod, Taint
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import OwnerReference
from dra_plan.api.resource import ResourceSlice
from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.questions.autoscale.document import WhyNoNode
from dra_plan.questions.autoscale.groups import GroupsFile, ScalingGroup
from dra_plan.questions.autoscale.scale_up import is_unschedulable
from dra_plan.questions.autoscale.snapshot import Added, ClusterSnapshot, TooManyUsersError
from dra_plan.questions.autoscale.templates import NotCopiedError, copied
from dra_plan.releases import AUTOSCALER, Target
from dra_plan.scheduler.cluster.common import Common

MOST_TRIALS = 200_000
"""The maximum number of times that a run tries a pod on an instance type. Pods that come later have no result."""

BEYOND = f"more than {MOST_TRIALS:,} pairs of a pod and an instance type"
TOPOLOGY = "topology spread and pod affinity are not simulated for Karpenter"


@dataclass(slots=True)
class NodeClaim:
    """A future node of a NodePool, and the instance types on which all of its pods fit."""

    pool: str
    types: dict[str, ClusterSnapshot]
    pods: list[str] = field(default_factory=list)


@dataclass(slots=True)
class KarpenterRun:
    """The result of a run of Karpenter. Pods are given as NAMESPACE/NAME."""

    claims: list[NodeClaim] = field(default_factory=list)
    on_nodes: dict[str, str] = field(default_factory=dict)
    errors: dict[str, WhyNoNode] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    """Pods that Karpenter ignores because a claim is missing."""
    unknown: dict[str, str] = field(default_factory=dict)
    """Why there is no result for a pod, by pod."""


def provision(inventory: Inventory, target: Target, file: GroupsFile) -> KarpenterRun:
    """Return Karpenter's result for the pods that kube-scheduler has marked unschedulable."""
    return _Provisioner(inventory, target, file).run()


class _Provisioner:
    def __init__(self, inventory: Inventory, target: Target, file: GroupsFile) -> None:
        self._target, self._file = target, file
        self._base = ClusterSnapshot(_owned(inventory), target, Common(), AUTOSCALER)
        self._classes = {each.spec.extended_resource_name for each in inventory.classes}
        self._pools = _pools(file.groups)
        self._bound: dict[tuple[str, str], NodeClaim | None] = {}
        """The NodeClaim that each claim belongs to; None for an existing node."""
        self._trials = 0
        self._number = 0
        self.found = KarpenterRun()

    def run(self) -> KarpenterRun:
        pods = [pod for pod in self._base.inventory.pods if is_unschedulable(pod)]
        for pod in sorted(pods, key=self._order):
            if _has_topology(pod):
                self.found.unknown[pod.key] = TOPOLOGY
            elif self._trials > MOST_TRIALS:
                self.found.unknown[pod.key] = BEYOND
            else:
                self._place(pod)
        if any(_has_topology(pod) for pod in pods):
            # They would have taken capacity from the others.
            self._leave_open()
        return self.found

    def _leave_open(self) -> None:
        for claim in self.found.claims:
            self.found.unknown |= dict.fromkeys(claim.pods, TOPOLOGY)
        self.found.claims = []

    def _order(self, pod: Pod) -> tuple[int, int, str, str]:
        requested = self._base.requested
        return (
            -requested(pod, "cpu"),
            -requested(pod, "memory"),
            pod.metadata.creation_timestamp or "",
            pod.metadata.uid,
        )

    def _place(self, pod: Pod) -> None:
        key = pod.key
        if self._wants_class(pod):
            self.found.errors[key] = "NotEnoughResources"
            return
        names = self._base.claim_names(pod)
        if any(self._base.claim(pod.metadata.namespace, name) is None for name in names):
            self.found.ignored.append(key)
            return
        claims = [(pod.metadata.namespace, name) for name in names]
        if not any(self._bound.get(claim) for claim in claims):
            node = self._on_node(pod)
            if node is not None:
                self.found.on_nodes[key] = node
                self._bound |= dict.fromkeys(claims)
                return
        self.found.claims.sort(key=lambda each: len(each.pods))  # for equal numbers, in the previous order
        for one in self.found.claims:
            if all(self._bound.get(claim, one) is one for claim in claims) and self._fits(pod, one):
                self._bound |= dict.fromkeys(claims, one)
                return
        if any(claim in self._bound for claim in claims):
            self.found.errors[key] = "BoundElsewhere"
            return
        for pool, groups in self._pools.items():
            made = self._new(pool, groups)
            if self._fits(pod, made):
                self.found.claims.append(made)
                self._bound |= dict.fromkeys(claims, made)
                return
        self.found.errors[key] = "NoInstanceType" if names else "NotEnoughResources"

    def _wants_class(self, pod: Pod) -> bool:
        asked = {name for container in pod.spec.containers for name in container.resources.requests}
        return any(name in self._classes or name.startswith(IMPLICIT_PREFIX) for name in asked if name)

    def _on_node(self, pod: Pod) -> str | None:
        self._trials += len(self._base.nodes)
        try:
            return self._base.put_on_any(pod, self._base.nodes)
        except TooManyUsersError:
            return None

    def _new(self, pool: str, groups: Sequence[ScalingGroup]) -> NodeClaim:
        """Return a NodeClaim without pods: each instance type is a cluster of its own with one more node."""
        types = {}
        for group in groups:
            if group.template is None:
                continue
            self._number += 1
            try:
                added = _plain(copied(group.template, f"{group.name}-{self._number}"), _taints(groups))
            except NotCopiedError:
                continue
            snapshot = self._base.forked()
            snapshot.add(added)
            types[group.name] = snapshot
        return NodeClaim(pool, types)

    def _fits(self, pod: Pod, claim: NodeClaim) -> bool:
        """Add the pod to the NodeClaim if any instance type fits, drop the other types, and return whether it fits."""
        self._trials += len(claim.types)
        left = {}
        for name, snapshot in claim.types.items():
            try:
                if snapshot.put(pod, snapshot.nodes[-1]):
                    left[name] = snapshot
            except TooManyUsersError:
                continue
        if left:
            claim.types = left
            claim.pods.append(pod.key)
        return bool(left)


def _pools(groups: Iterable[ScalingGroup]) -> Mapping[str, list[ScalingGroup]]:
    """Return the NodePools by weight, highest first and otherwise in the given order, each with its instance types."""
    found: dict[str, list[ScalingGroup]] = {}
    for group in groups:
        found.setdefault(group.node_pool or group.name, []).append(group)
    return dict(sorted(found.items(), key=lambda each: -max(group.weight for group in each[1])))


def _taints(groups: Sequence[ScalingGroup]) -> list[Taint]:
    """Return the taints of a NodePool: those that the nodes of all its instance types share."""
    nodes = [group.template.node for group in groups if group.template is not None]
    return [taint for taint in nodes[0].spec.taints if all(taint in node.spec.taints for node in nodes)]


def _plain(added: Added, taints: list[Taint]) -> Added:
    """Return the node with the NodePool's taints, and its slices as in Karpenter: without taints and conditions."""
    node = structs.replace(added.node, spec=structs.replace(added.node.spec, taints=taints))
    return replace(added, node=node, slices=tuple(map(_without_taints, added.slices)))


def _without_taints(piece: ResourceSlice) -> ResourceSlice:
    devices = [
        structs.replace(each, taints=[], binding_conditions=[], binding_failure_conditions=[])
        for each in piece.spec.devices
    ]
    return structs.replace(piece, spec=structs.replace(piece.spec, devices=devices))


def _owned(inventory: Inventory) -> Inventory:
    """Return the input with claims owned by the pods whose status names them: ownership is not checked."""
    named = {
        (pod.metadata.namespace, status.resource_claim_name): pod
        for pod in inventory.pods
        if is_unschedulable(pod)
        for status in pod.status.resource_claim_statuses
    }
    claims = []
    for claim in inventory.claims:
        pod = named.get((claim.metadata.namespace, claim.metadata.name))
        if pod is not None:
            owner = OwnerReference(
                api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True
            )
            claim = structs.replace(claim, metadata=structs.replace(claim.metadata, owner_references=[owner]))
        claims.append(claim)
    return replace(inventory, claims=claims)


def _has_topology(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    near = affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)
    return bool(pod.spec.topology_spread_constraints) or near
