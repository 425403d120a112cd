"""`explain`: what a pod waits for: conditions of its devices, new claims, volumes that other nodes use, a queue."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim
from dra_plan.api.well_known import KUEUE_QUEUE, OUT_OF_SERVICE, UNREACHABLE
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index, only_nodes
from dra_plan.claims.owners import ended
from dra_plan.claims.pod_claims import is_unmade, named_claims
from dra_plan.documents.base import DeviceName
from dra_plan.documents.verdict_parts import AwaitedCondition, ClaimOfLostNode, LeavingClaim
from dra_plan.documents.volume_needs import VolumeElsewhere
from dra_plan.near import the_nearest
from dra_plan.planner.nodes import is_of_cluster
from dra_plan.scheduler.cluster.pod_volumes import pod_volumes

MANY_NODES = ("ReadWriteMany", "ReadOnlyMany")
"""Access modes with which several nodes may use a volume."""


def awaited_conditions(inventory: Inventory, pod: Pod) -> list[AwaitedCondition]:
    """Return the binding conditions of the pod's devices that are not True.

    Failure conditions that are True are returned as well.
    """
    return [condition for claim, result in _results(inventory, pod) for condition in _of_device(claim, result)]


def leaving_claims(inventory: Inventory, pod: Pod) -> list[LeavingClaim]:
    """Return the pod's claims that are being deleted."""
    named = {entry.resource_claim_name for entry in pod.spec.resource_claims}
    return [
        LeavingClaim(
            name=claim.metadata.name,
            pods=[name for name in _users(claim) if name != pod.metadata.name],
            generated=claim.metadata.name not in named,
        )
        for claim in inventory.claims
        if claim.metadata.deletion_timestamp and claim.metadata.namespace == pod.metadata.namespace
        if _is_of(claim, pod)
    ]


def devices_of(inventory: Inventory, pod: Pod) -> list[DeviceRequestAllocationResult]:
    """Return the devices that are allocated to the pod's claims."""
    return [result for _, result in _results(inventory, pod)]


def _results(inventory: Inventory, pod: Pod) -> Iterator[tuple[ResourceClaim, DeviceRequestAllocationResult]]:
    for claim in inventory.claims:
        if claim.metadata.namespace == pod.metadata.namespace and claim.allocation is not None and _is_of(claim, pod):
            yield from ((claim, result) for result in claim.allocation.devices.results)


def users_of(inventory: Inventory, namespace: str, claims: Sequence[str]) -> set[str]:
    """Return the pods for which at least one of the claims is reserved."""
    own = [one for one in inventory.claims if one.metadata.namespace == namespace and one.metadata.name in claims]
    return {name for claim in own for name in _users(claim)}


def _users(claim: ResourceClaim) -> list[str]:
    """Return the pods for which the claim is reserved."""
    return [one.name for one in claim.reserved_for if one.resource == "pods"]


def _is_of(claim: ResourceClaim, pod: Pod) -> bool:
    made = [one.resource_claim_name for one in pod.status.resource_claim_statuses]
    named = [one.resource_claim_name for one in pod.spec.resource_claims]
    return pod.metadata.name in _users(claim) or claim.metadata.name in (*made, *named)


def _of_device(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> Iterator[AwaitedCondition]:
    reports = claim.status.devices if claim.status is not None else []
    own = (result.driver, result.pool, result.device)
    report = next((one for one in reports if (one.driver, one.pool, one.device) == own), AllocatedDeviceStatus())
    there = {one.type: one for one in report.conditions}
    failed = [kind for kind in result.binding_failure_conditions if kind in there and there[kind].status == "True"]
    for kind in failed or [one for one in result.binding_conditions if one not in there or there[one].status != "True"]:
        found = there.get(kind)
        yield AwaitedCondition(
            claim=claim.metadata.name,
            device=DeviceName(driver=result.driver, pool=result.pool, device=result.device),
            condition=kind,
            failed=bool(failed),
            status=found.status if found is not None else "",
            reason=found.reason if found is not None else "",
            message=found.message if found is not None else "",
        )


def volumes_elsewhere(inventory: Inventory, pod: Pod) -> list[VolumeElsewhere]:
    """Return the bound pod's volume claims that are in use on another node although only one node may use them."""
    namespace, node = pod.metadata.namespace, pod.spec.node_name
    modes = {
        one.metadata.name: one.spec.access_modes
        for one in inventory.volume_claims
        if one.metadata.namespace == namespace
    }
    own = [use.name for use in pod_volumes(pod).claims]
    single = [name for name in own if modes.get(name) and not set(MANY_NODES) & set(modes[name])]
    others = [
        one
        for one in (inventory.pods if single else ())
        if one.metadata.namespace == namespace and one.spec.node_name not in ("", node) and not ended(one)
    ]
    nodes = {one.metadata.name: one for one in inventory.nodes}
    return [
        VolumeElsewhere(
            claim=name,
            pod=other.metadata.name,
            node_name=other.spec.node_name,
            deleted=bool(other.metadata.deletion_timestamp),
            unreachable=is_unreachable(nodes.get(other.spec.node_name)),
        )
        for other in others
        for name in single
        if name in (use.name for use in pod_volumes(other).claims)
    ]


def claims_of_lost_nodes(inventory: Inventory, pod: Pod, nodes: Container[str]) -> list[ClaimOfLostNode]:
    """Return the pod's claims whose devices can be used only on nodes that are missing from `nodes`."""
    pods = {one.metadata.name: one for one in inventory.pods if one.metadata.namespace == pod.metadata.namespace}
    found = []
    for claim in _claims_of(inventory, pod):
        lost = list(only_nodes(claim.allocation.node_selector)) if claim.allocation is not None else []
        if lost and not any(name in nodes for name in lost):
            users = [pods[name] for name in _users(claim) if name in pods and name != pod.metadata.name]
            made = ClaimOfLostNode(
                claim=claim.metadata.name,
                node_name=lost[0],
                pods=[one.metadata.name for one in users],
                deleted=bool(users) and all(one.metadata.deletion_timestamp for one in users),
                finalizers=list(dict.fromkeys(name for one in users for name in one.metadata.finalizers or ())),
            )
            found.append(made)
    return found


def _claims_of(inventory: Inventory, pod: Pod) -> list[ResourceClaim]:
    names, namespace = named_claims(pod), pod.metadata.namespace
    return [one for one in inventory.claims if one.metadata.namespace == namespace and one.metadata.name in names]


def queue_of(inventory: Inventory, of: Pod | AnyWorkload) -> dict[str, Any]:
    """Return the queue that the Kueue label names, and Kueue's message, as fields of documents.

    If the input has no queue with this name, the fields name the queues that exist.
    """
    queue, namespace = (of.metadata.labels or {}).get(KUEUE_QUEUE, ""), of.metadata.namespace
    controller = of.metadata.controller
    keys = [(of.kind, namespace, of.metadata.name)]
    keys += [(controller.kind, namespace, controller.name)] if controller is not None else []
    said = next((inventory.queued[key] for key in keys if key in inventory.queued), "")
    if not queue or not inventory.queues or (namespace, queue) in inventory.queues:
        return {"queue": queue, "queue_exists": bool(queue and inventory.queues), "queue_message": said}
    here = sorted(name for space, name in inventory.queues if space == namespace)
    elsewhere = sorted(f"{space}/{name}" for space, name in inventory.queues if space != namespace)
    return {"queue": queue, "queues": here or elsewhere, "near_queue": the_nearest(queue, here) or ""}


def is_unreachable(node: Node | None) -> bool:
    """Return whether the node's kubelet does not report. If it does not, no pod on the node can end.

    `node` is None if the node does not exist.
    """
    return node is None or any(one.key in _UNREACHABLE for one in node.spec.taints)


_UNREACHABLE = (UNREACHABLE, OUT_OF_SERVICE)


def uncreated_claims(index: Index, pod: Pod) -> list[str]:
    """Return the templates from which claims of the pod have not been created.

    Only pods that were read from an API server have some. kube-controller-manager creates their claims, and the
    scheduler waits for them. Without claims and templates of a cluster, the claims may just be missing from the input.
    """
    entries = [entry for entry in pod.spec.resource_claims if is_unmade(pod, entry)]
    if not (entries and is_of_cluster(pod.metadata)):
        return []
    if not index.inventory.claims and not any(one.metadata.uid for one in index.inventory.templates):
        return []
    return [
        entry.resource_claim_template_name or ""
        for entry in entries
        if index.generated_claims.of(pod, entry.name) is None
    ]
