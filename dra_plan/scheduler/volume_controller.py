"""What happens to volumes outside the scheduler: they are bound to claims, and new ones are created.

The volume controller acts when nothing else changes, like a provisioner that is slower than the scheduler. Like the
recorded provisioner, it creates volumes that can be used on all nodes with the same values for the driver's topology
keys.
"""

from __future__ import annotations

from msgspec.structs import replace

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.storage import (
    CSIPersistentVolumeSource,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from dra_plan.api.well_known import BIND_COMPLETED, BOUND_BY_CONTROLLER, PROVISIONED_BY
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.volumes import Claim, provisioner_driver


def settle_volumes(cluster: SimulatedCluster) -> bool:
    """Bind every claim for which a volume or a node has been chosen. Return whether there were any."""
    store = cluster.volumes
    pairs = []
    for key, decision in store.decisions.items():
        claim = store.claim(*key)
        if claim is None or claim.is_bound:
            continue
        known = store.volume(decision.volume) if decision.volume else None
        if decision.volume and known is None:
            continue
        volume = _bound(known.object) if known is not None else _made(cluster, claim, decision.node)
        pairs.append((with_volume(claim.object, volume.metadata.name), volume))
    store.bind(pairs)
    return bool(pairs)


def _bound(volume: PersistentVolume) -> PersistentVolume:
    return replace(volume, status=PersistentVolumeStatus(phase="Bound"))


def with_volume(claim: PersistentVolumeClaim, volume: str) -> PersistentVolumeClaim:
    """Return the claim as the volume controller leaves it after binding it to the volume of this name."""
    annotations = {**(claim.metadata.annotations or {}), BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )


def _made(cluster: SimulatedCluster, claim: Claim, node: str) -> PersistentVolume:
    storage_class = cluster.volumes.class_of(claim)
    driver = provisioner_driver(storage_class.provisioner if storage_class is not None else "")
    spec = claim.object.spec
    name = f"pvc-{claim.uid}"
    namespace, claim_name = claim.key
    return PersistentVolume(
        metadata=ObjectMeta(name=name, annotations={PROVISIONED_BY: driver}),
        spec=PersistentVolumeSpec(
            capacity=spec.resources.requests,
            access_modes=spec.access_modes,
            claim_ref=ObjectReference(namespace=namespace, name=claim_name, uid=claim.uid),
            storage_class_name=claim.class_name,
            volume_mode=spec.volume_mode,
            node_affinity=_affinity(cluster, driver, node),
            volume_attributes_class_name=spec.volume_attributes_class_name,
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
        status=PersistentVolumeStatus(phase="Bound"),
    )


def _affinity(cluster: SimulatedCluster, driver: str, node: str) -> VolumeNodeAffinity | None:
    """Return the node's values for the driver's topology keys; None if the driver has no topology keys on the node."""
    csi_node = cluster.volumes.csi_node(node)
    labels = cluster.nodes[node].labels if node in cluster.nodes else {}
    keys = (
        [key for found in csi_node.spec.drivers if found.name == driver for key in found.topology_keys]
        if csi_node
        else []
    )
    expressions = [
        NodeSelectorRequirement(key=key, operator="In", values=[labels[key]]) for key in keys if key in labels
    ]
    if not expressions:
        return None
    return VolumeNodeAffinity(
        required=NodeSelector(node_selector_terms=[NodeSelectorTerm(match_expressions=expressions)])
    )
