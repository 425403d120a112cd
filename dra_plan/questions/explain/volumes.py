"""`explain`: the requirements of a pod's PersistentVolumeClaims, if volumes exclude nodes.

The scheduler only says that a node does not fit; users need to know which volume it is, where it can be used, or which
StorageClass will provision it (PersistentVolume spec.nodeAffinity, StorageClass allowedTopologies and
volumeBindingMode).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.api.core import NodeSelector, NodeSelectorTerm, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from dra_plan.documents.verdicts import VolumeClaimNeeds
from dra_plan.near import nearest, the_nearest
from dra_plan.scheduler.cluster.volumes import WAITS, Claim, VolumeReach, migrated_source, pod_volumes

MOST_VALUES = 4
"""The number of label values that are named."""


def needs_of(inventory: Inventory, pod: Pod) -> list[VolumeClaimNeeds]:
    """Return the requirements of each PersistentVolumeClaim that the pod names, in the pod's order.

    A claim that is not in the input is omitted if no claim of its namespace is: they may not have been listed.
    """
    namespace = pod.metadata.namespace
    claims = {one.metadata.name: one for one in inventory.volume_claims if one.metadata.namespace == namespace}
    uses = pod_volumes(pod).claims if claims else ()
    return [
        _needs(inventory, claims[use.name])
        if use.name in claims
        else VolumeClaimNeeds(name=use.name, missing=True, near=nearest(use.name, claims) or "")
        for use in uses
    ]


def _needs(inventory: Inventory, pvc: PersistentVolumeClaim) -> VolumeClaimNeeds:
    claim = Claim(pvc)
    made = VolumeClaimNeeds(name=pvc.metadata.name, volume=claim.volume_name, storage_class=claim.class_name)
    if claim.volume_name:
        volume = next((one for one in inventory.volumes if one.metadata.name == claim.volume_name), None)
        reach = volume.spec.node_affinity.required if volume is not None and volume.spec.node_affinity else None
        labels = list(_of_terms(reach.node_selector_terms if reach is not None else ()))
        return _with(made, labels=labels, nowhere=volume is not None and _is_nowhere(inventory, volume, reach))
    classes = {one.metadata.name: one for one in inventory.storage_classes}
    found = classes.get(claim.class_name)
    if found is None:
        missing = bool(claim.class_name and classes)
        if not missing:
            return made
        return _with(made, class_missing=True, near=the_nearest(claim.class_name, classes) or "", classes=[*classes])
    return _with(made, waits=found.volume_binding_mode == WAITS, labels=list(_of_class(found)))


def _is_nowhere(inventory: Inventory, volume: PersistentVolume, reach: NodeSelector | None) -> bool:
    """Return whether no node can use the volume; a migrated one has other labels on each node, so it is unknown."""
    able = VolumeReach(reach)
    nodes = (node.metadata.labels or {} for node in inventory.nodes)
    return migrated_source(volume) is None and not any(map(able.matches, nodes))


def _with(made: VolumeClaimNeeds, **fields: object) -> VolumeClaimNeeds:
    from msgspec import structs

    return structs.replace(made, **fields)


def _of_terms(terms: Iterable[NodeSelectorTerm]) -> Iterator[str]:
    """Yield `KEY=VALUE`, `KEY in (A, B)` of each requirement that names values."""
    for term in terms:
        for one in (*term.match_expressions, *term.match_fields):
            if one.operator == "In":
                yield _text(one.key, one.values)


def _of_class(storage_class: StorageClass) -> Iterator[str]:
    for term in storage_class.allowed_topologies:
        yield from (_text(one.key, one.values) for one in term.match_label_expressions)


def _text(key: str, values: list[str]) -> str:
    if len(values) == 1:
        return f"{key}={values[0]}"
    more = ", ..." if len(values) > MOST_VALUES else ""
    return f"{key} in ({', '.join(values[:MOST_VALUES])}{more})"
