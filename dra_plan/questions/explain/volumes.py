"""`explain`: the requirements of a pod's PersistentVolumeClaims, if volumes exclude nodes.

The scheduler only says that a node does not fit; users need to know which volume it is, where it can be used, or which
StorageClass will provision it (PersistentVolume spec.nodeAffinity, StorageClass allowedTopologies and
volumeBindingMode).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dra_plan.api.core import NodeSelector, NodeSelectorTerm, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from dra_plan.api.workloads import Workload
from dra_plan.documents.volume_needs import UnmatchedVolume, VolumeClaimNeeds
from dra_plan.near import nearest, the_nearest
from dra_plan.planner.nodes import omits_volume_claims
from dra_plan.scheduler.cluster.pod_volumes import pod_volumes
from dra_plan.scheduler.cluster.volumes import WAITS, Claim, Volume, VolumeReach, migrated_source
from dra_plan.scheduler.plugins.volume_binding import unavailable, unsuited

MOST_VALUES = 4
"""The number of label values that are named."""

MOST_VOLUMES = 2
"""The number of volumes that are named with the reasons why a claim does not get them."""


def needs_of(inventory: Inventory, pod: Pod) -> list[VolumeClaimNeeds]:
    """Return the requirements of each PersistentVolumeClaim that the pod names, in the pod's order.

    Claims that are missing from the input are left out if the input has no claims of their namespace at all and these
    claims may not have been listed.
    """
    namespace = pod.metadata.namespace
    claims = {one.metadata.name: one for one in inventory.volume_claims if one.metadata.namespace == namespace}
    are_known = claims or not (inventory.volume_claims or omits_volume_claims(inventory))
    uses = pod_volumes(pod).claims if are_known else ()
    return [
        _of_template(
            inventory,
            pod,
            _needs(inventory, claims[use.name])
            if use.name in claims
            else VolumeClaimNeeds(name=use.name, missing=True, near=nearest(use.name, claims) or ""),
        )
        for use in uses
    ]


def _of_template(inventory: Inventory, pod: Pod, made: VolumeClaimNeeds) -> VolumeClaimNeeds:
    """Return the requirements with the StatefulSet that creates the claim, which no similar name can replace."""
    owner = pod.metadata.controller
    if owner is None or owner.kind != "StatefulSet" or not (made.missing or made.class_missing):
        return made
    named = (owner.kind, pod.metadata.namespace, owner.name)
    workloads = (one for one in inventory.workloads if isinstance(one, Workload))
    found = next((one for one in workloads if (one.kind, one.metadata.namespace, one.metadata.name) == named), None)
    templates = found.spec.volume_claim_templates if found is not None else []
    for template in templates:
        if made.name == f"{template.metadata.name}-{pod.metadata.name}":
            classes = {one.metadata.name for one in inventory.storage_classes}
            name = Claim(template).class_name
            lacks = bool(name and classes) and name not in classes
            near = "" if made.missing else made.near
            return _with(made, stateful_set=owner.name, template_class=name if lacks else "", near=near)
    return made


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
    made = _with(
        made, size=str(pvc.spec.resources.requests.get("storage", "")), volumes=list(_offered(inventory, claim))
    )
    if found is not None:
        waits, provisions = found.volume_binding_mode == WAITS, found.provisions
        return _with(made, waits=waits, labels=list(_of_class(found)), provisions=provisions)
    if claim.class_name and classes and all(one.faults for one in made.volumes):
        return _with(made, class_missing=True, near=the_nearest(claim.class_name, classes) or "", classes=[*classes])
    is_classless = pvc.spec.storage_class_name is None and not claim.class_name
    return _with(made, classless=is_classless, default_class=_default(inventory.storage_classes), classes=[*classes])


def _default(classes: Sequence[StorageClass]) -> str:
    """Return the class that claims without one get: of several defaults, the newest; "" if there is none.

    As in the API server's admission plugin DefaultStorageClass, which the volume controller repeats for old claims.
    """
    marked = [one for one in classes if any((one.metadata.annotations or {}).get(key) == "true" for key in _DEFAULTS)]
    newest = max((one.metadata.creation_timestamp or "" for one in marked), default="")
    return min((one.metadata.name for one in marked if (one.metadata.creation_timestamp or "") == newest), default="")


_DEFAULTS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _offered(inventory: Inventory, claim: Claim) -> Iterator[UnmatchedVolume]:
    """Yield the volumes of the claim's class that match it best: the one that is bound to it, or a few that are not."""
    found = []
    for volume in map(Volume, inventory.volumes):
        if volume.class_name != claim.class_name and not volume.is_for(claim):
            continue
        faults = [*unsuited(volume, claim), *(() if volume.is_for(claim) else unavailable(volume, claim))]
        found.append((len(faults), volume.size.nano, volume.name, _unmatched(volume, faults)))
    found.sort(key=lambda each: each[:3])
    yield from (each[-1] for each in found[: 1 if found and not found[0][0] else MOST_VOLUMES])


def _unmatched(volume: Volume, faults: Sequence[str]) -> UnmatchedVolume:
    pv = volume.object
    holder = pv.spec.claim_ref
    return UnmatchedVolume(
        name=volume.name,
        faults=list(faults),
        phase=pv.status.phase,
        size=str(pv.spec.capacity.get("storage", "")),
        holder=f"{holder.namespace}/{holder.name}" if holder is not None and "held" in faults else "",
    )


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
