"""The template for the new nodes of each group: a copy of a ready node or, if there is none, the cloud's template.

A copy has its own name, pools named after it, and only DaemonSet and mirror pods with their claims. If a claim has
devices from another node's pools, the node cannot be copied. This ends the loop for all groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from dra_plan.api.core import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from dra_plan.api.well_known import (
    AUTOSCALER_CANDIDATE,
    AUTOSCALER_DELETES,
    HOSTNAME,
    MIRROR_POD,
    NODE_NOT_READY,
    UNREACHABLE,
    UNSCHEDULABLE,
)
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.claims.index import Index
from dra_plan.claims.pod_claims import make_claim
from dra_plan.questions.autoscale.groups import NodeTemplate, ScalingGroup
from dra_plan.questions.autoscale.snapshot import Added
from dra_plan.releases import AUTOSCALER, AutoscalerQuirks
from dra_plan.scheduler.new_pods import daemon_may_run, pod_of

_LEAVING = (AUTOSCALER_DELETES, AUTOSCALER_CANDIDATE)
"""The taints that the autoscaler puts on nodes, which are not copied."""
_STARTUP = (NODE_NOT_READY, UNREACHABLE, UNSCHEDULABLE.key)
NAME_FIELD = "metadata.name"


class LoopAbortedError(Exception):
    """The error raised if the autoscaler fails in a way that ends the loop for all groups."""


class NotCopiedError(Exception):
    """The error raised if a node cannot be copied."""


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of the groups that have one.

    `starting` has the DaemonSets whose pods use devices of every new node of a group, and `claims` the templates of
    their claims.
    """

    by_group: Mapping[str, NodeTemplate]
    starting: Mapping[str, Sequence[AnyWorkload]] = field(default_factory=dict)
    claims: Mapping[tuple[str, str], ResourceClaimTemplate] = field(default_factory=dict)

    def of(self, group: ScalingGroup, number: int) -> Added | None:
        """Return a new node of the group, with its own name, or None if the group has no template."""
        template = self.by_group.get(group.name)
        if template is None:
            return None
        added = copied(template, f"{template.node.metadata.name}-{number}")
        made = [self._started(each, added.node.metadata.name) for each in self.starting.get(group.name, ())]
        claims = (*added.claims, *(claim for _, own in made for claim in own))
        return replace(added, claims=claims, starting=tuple(pod for pod, _ in made)) if made else added

    def _started(self, workload: AnyWorkload, node: str) -> tuple[Pod, list[ResourceClaim]]:
        """Return the DaemonSet's pod for a new node, with its claims."""
        pod = _daemon(workload, node)
        pod = structs.replace(pod, spec=structs.replace(pod.spec, node_name=""))
        claims, statuses = [], []
        for entry in pod.spec.resource_claims:
            template = self.claims.get((pod.metadata.namespace, entry.resource_claim_template_name or ""))
            if template is not None:
                claim = make_claim(template, pod, entry.name)
                metadata = structs.replace(claim.metadata, uid=f"{pod.metadata.uid}:{entry.name}")
                claims.append(structs.replace(claim, metadata=metadata))
                statuses.append(PodResourceClaimStatus(name=entry.name, resource_claim_name=claim.metadata.name))
        status = structs.replace(pod.status, resource_claim_statuses=statuses)
        return structs.replace(pod, status=status), claims


def templates(
    inventory: Inventory, groups: Sequence[ScalingGroup], unready: frozenset[str], quirks: AutoscalerQuirks
) -> Templates:
    """Return the templates of the groups. Raises LoopAbortedError if a real node cannot be copied."""
    found: dict[str, NodeTemplate] = {}
    starting: dict[str, Sequence[AnyWorkload]] = {}
    for group in groups:
        made = _made(inventory, group, unready, quirks)
        if made is None:
            continue
        absent = list(_absent_daemons(inventory, made))
        with_claims = [each for each in absent if pod_template(each).spec.resource_claims]
        if not quirks.daemon_devices_free:
            starting[group.name] = with_claims
            absent = [each for each in absent if each not in with_claims]
        found[group.name] = _with_daemons(made, absent)
    known = {(each.metadata.namespace, each.metadata.name): each for each in inventory.templates}
    return Templates(found, starting, known)


def _made(
    inventory: Inventory, group: ScalingGroup, unready: frozenset[str], quirks: AutoscalerQuirks
) -> NodeTemplate | None:
    """Return the template without the DaemonSets that have no pod on it."""
    nodes = _nodes_of(inventory, group)
    real = next((node for node in nodes if _may_be_copied(node, unready)), None)
    if real is not None:
        try:
            return _of_node(inventory, group, real, quirks)
        except NotCopiedError as error:
            raise LoopAbortedError(f"loop aborted: failed to recompute template node infos: {error}") from error
    if group.template is None:
        return None
    try:
        added = copied(group.template, f"template-node-for-{group.name}", quirks)
    except NotCopiedError:
        return None
    return NodeTemplate(added.node, added.slices, added.pods, added.claims)


def _nodes_of(inventory: Inventory, group: ScalingGroup) -> list[Node]:
    known = {node.metadata.name: node for node in inventory.nodes}
    return [known[name] for name in group.nodes if name in known]


def _may_be_copied(node: Node, unready: frozenset[str]) -> bool:
    return node.metadata.name not in unready and not node.spec.unschedulable


def _of_node(inventory: Inventory, group: ScalingGroup, node: Node, quirks: AutoscalerQuirks) -> NodeTemplate:
    name = node.metadata.name
    index = Index(inventory)
    pods = [pod for pod in inventory.pods if pod.spec.node_name == name and _stays(pod)]
    own = [claim for pod in pods for claim in _own_claims(index, pod)]
    slices = tuple(one for one in inventory.slices if one.spec.node_name == name)
    whole = NodeTemplate(node, slices, tuple(pods), tuple(own))
    added = copied(whole, f"template-node-for-{group.name}", quirks)
    return NodeTemplate(added.node, added.slices, added.pods, added.claims)


def _stays(pod: Pod) -> bool:
    """Return whether a copy of the node has the pod too."""
    if MIRROR_POD in (pod.metadata.annotations or {}):
        return True
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def _own_claims(index: Index, pod: Pod) -> Iterable[ResourceClaim]:
    made = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        name = made.get(entry.name) if entry.resource_claim_name is None else None
        claim = index.claim(pod.metadata.namespace, name) if name else None
        if claim is not None:
            yield claim


def _absent_daemons(inventory: Inventory, template: NodeTemplate) -> Iterable[AnyWorkload]:
    """Yield the DaemonSets that run on such a node and have no pod on this one."""
    there = {one.metadata.controller.uid for one in template.pods if one.metadata.controller is not None}
    for workload in inventory.workloads:
        if (
            workload.kind == "DaemonSet"
            and workload.metadata.uid not in there
            and daemon_may_run(workload, template.node)
        ):
            yield workload


def _with_daemons(template: NodeTemplate, workloads: Iterable[AnyWorkload]) -> NodeTemplate:
    """Return the template with pods of these DaemonSets, without their claims: their devices look free."""
    made = [_daemon(workload, template.node.metadata.name) for workload in workloads]
    more = [structs.replace(pod, spec=structs.replace(pod.spec, resource_claims=[])) for pod in made]
    return NodeTemplate(template.node, template.slices, (*template.pods, *more), template.claims)


def _daemon(workload: AnyWorkload, node: str) -> Pod:
    """Return the DaemonSet's pod on a node."""
    made = pod_of(workload, pod_template(workload), f"{workload.metadata.name}-{node}")
    metadata = structs.replace(made.metadata, uid=f"daemon:{workload.metadata.uid}:{node}")
    return structs.replace(made, metadata=metadata, spec=structs.replace(made.spec, node_name=node))


# -- copies ------------------------------------------------------------------------------------------------------------


def copied(template: NodeTemplate, name: str, quirks: AutoscalerQuirks = AUTOSCALER) -> Added:
    """Return a copy of the template with a new name.

    Raises NotCopiedError for slices and devices that do not belong only to this node.
    """
    old = template.node.metadata.name
    pools = {}
    slices = []
    for piece in template.slices:
        if piece.spec.node_name != old:
            raise NotCopiedError(f"can't sanitize slice {piece.metadata.name} because it isn't node-local")
        pools[piece.spec.driver, piece.spec.pool.name] = f"{piece.spec.pool.name}-{name}"
        slices.append(_slice(piece, name, pools[piece.spec.driver, piece.spec.pool.name]))
    uids = {pod.metadata.uid: f"{pod.metadata.uid}-{name}" for pod in template.pods}
    own = [claim for claim in template.claims if quirks.daemon_claim_ends_loop or _is_local(claim, pools)]
    claims = {claim.key: _claim(claim, old, name, pools, uids) for claim in own}
    lost = {claim.key for claim in template.claims} - claims.keys()
    return Added(
        _node(template.node, name),
        tuple(slices),
        tuple(_pod(_without(pod, lost), name, uids, claims) for pod in template.pods),
        tuple(claims.values()),
    )


def _is_local(claim: ResourceClaim, pools: Mapping[tuple[str, str], str]) -> bool:
    results = claim.allocation.devices.results if claim.allocation is not None else []
    return all(result.admin_access or (result.driver, result.pool) in pools for result in results)


def _without(pod: Pod, lost: set[str]) -> Pod:
    """Return the pod without the entries whose claims are lost."""
    gone = {
        each.name
        for each in pod.status.resource_claim_statuses
        if f"{pod.metadata.namespace}/{each.resource_claim_name}" in lost
    }
    if not gone:
        return pod
    entries = [entry for entry in pod.spec.resource_claims if entry.name not in gone]
    return structs.replace(pod, spec=structs.replace(pod.spec, resource_claims=entries))


def _node(node: Node, name: str) -> Node:
    labels = {**(node.metadata.labels or {}), HOSTNAME: name}
    taints = [taint for taint in node.spec.taints if taint.key not in (*_LEAVING, *_STARTUP)]
    metadata = structs.replace(node.metadata, name=name, uid=f"{node.metadata.uid}-{name}", labels=labels)
    return structs.replace(node, metadata=metadata, spec=structs.replace(node.spec, taints=taints))


def _slice(piece: ResourceSlice, node: str, pool: str) -> ResourceSlice:
    metadata = structs.replace(piece.metadata, name=f"{piece.metadata.name}-{node}", uid=f"{piece.metadata.uid}-{node}")
    spec = structs.replace(piece.spec, node_name=node, pool=structs.replace(piece.spec.pool, name=pool))
    return structs.replace(piece, metadata=metadata, spec=spec)


def _claim(
    claim: ResourceClaim,
    old: str,
    name: str,
    pools: Mapping[tuple[str, str], str],
    uids: Mapping[str, str],
) -> ResourceClaim:
    metadata = structs.replace(claim.metadata, name=f"{claim.metadata.name}-{name}", uid=f"{claim.metadata.uid}-{name}")
    if claim.allocation is None or claim.status is None:
        return structs.replace(claim, metadata=metadata)
    results = []
    for result in claim.allocation.devices.results:
        pool = pools.get((result.driver, result.pool))
        if pool is None and not result.admin_access:
            raise NotCopiedError(
                f"claim {claim.key} has an allocation {result.request}, from a pool that isn't node-local on {old} -"
                " can't be sanitized"
            )
        results.append(structs.replace(result, pool=pool or result.pool))
    here = NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=[name])
    allocation = structs.replace(
        claim.allocation,
        devices=structs.replace(claim.allocation.devices, results=results),
        node_selector=NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[here])]),
    )
    users = [structs.replace(user, uid=uids.get(user.uid, user.uid)) for user in claim.status.reserved_for]
    return structs.replace(
        claim, metadata=metadata, status=structs.replace(claim.status, allocation=allocation, reserved_for=users)
    )


def _pod(pod: Pod, name: str, uids: Mapping[str, str], claims: Mapping[str, ResourceClaim]) -> Pod:
    metadata = structs.replace(pod.metadata, name=f"{pod.metadata.name}-{name}", uid=uids[pod.metadata.uid])
    made = [
        structs.replace(status, resource_claim_name=found.metadata.name)
        if (found := claims.get(f"{pod.metadata.namespace}/{status.resource_claim_name}")) is not None
        else status
        for status in pod.status.resource_claim_statuses
    ]
    spec = structs.replace(pod.spec, node_name=name)
    return structs.replace(
        pod, metadata=metadata, spec=spec, status=structs.replace(pod.status, resource_claim_statuses=made)
    )
