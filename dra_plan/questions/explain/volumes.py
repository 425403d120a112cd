"""`explain`: the requirements of a pod's PersistentVolumeClaims, if volumes exclude nodes.

The scheduler only reports that a node does not fit. Users need to know which volume is the reason, where it can be
used, or which StorageClass will provision it (PersistentVolume spec.nodeAffinity, StorageClass allowedTopologies and
volumeBindingMode).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from dra_plan.api.core import NodeSelectorTerm, Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from dra_plan.api.well_known import CLASS_ANNOTATION
from dra_plan.api.workloads import Workload
from dra_plan.documents.volume_needs import UnmatchedVolume, VolumeClaimNeeds
from dra_plan.explanation.driver_pods import DriverPods
from dra_plan.near import nearest, the_nearest
from dra_plan.planner.nodes import omits_volume_claims
from dra_plan.scheduler.cluster.pod_volumes import pod_volumes
from dra_plan.scheduler.cluster.volumes import WAITS, Claim, Volume, provisioner_driver
from dra_plan.scheduler.plugins.volume_binding import allows, unavailable, unsuited

MOST_VALUES = 4
"""The maximum number of label values that are named."""

MOST_VOLUMES = 2
"""The maximum number of volumes for which the text says why a claim does not get them."""


def needs_of(inventory: Inventory, pod: Pod, drivers: DriverPods) -> list[VolumeClaimNeeds]:
    """Return the requirements of each of the pod's PersistentVolumeClaims, in the pod's order.

    Missing claims are left out if the input has no claims in their namespace and may not have listed them.
    """
    namespace = pod.metadata.namespace
    claims = {one.metadata.name: one for one in inventory.volume_claims if one.metadata.namespace == namespace}
    are_known = claims or not (inventory.volume_claims or omits_volume_claims(inventory))
    uses = pod_volumes(pod).claims if are_known else ()
    return [
        _of_template(
            inventory,
            pod,
            _needs(inventory, claims[use.name], drivers)
            if use.name in claims
            else VolumeClaimNeeds(name=use.name, missing=True, near=nearest(use.name, claims) or ""),
        )
        for use in uses
    ]


def awaited_by(inventory: Inventory, pod: Pod, drivers: DriverPods) -> list[VolumeClaimNeeds]:
    """Return the claims whose volumes a pod has to wait for once it has a node.

    If the scheduler has already given up waiting (PreBind of VolumeBinding), these are all claims without a volume.
    """
    gave_up = _could_not_bind(pod)
    needs = [replace(one, given_up=gave_up and one.is_open) for one in needs_of(inventory, pod, drivers)]
    return [one for one in needs if one.is_awaited]


def _could_not_bind(pod: Pod) -> bool:
    """Return whether the last message about the pod is that its volumes were not bound (RunPreBindPlugins)."""
    said = (one.message for one in pod.status.conditions if one.type == "PodScheduled" and one.status == "False")
    return any(one.startswith('running PreBind plugin "VolumeBinding":') for one in said)


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


def _needs(inventory: Inventory, pvc: PersistentVolumeClaim, drivers: DriverPods) -> VolumeClaimNeeds:
    claim = Claim(pvc)
    made = VolumeClaimNeeds(
        name=pvc.metadata.name,
        volume=claim.volume_name,
        storage_class=claim.class_name,
        size=str(pvc.spec.resources.requests.get("storage", "")),
    )
    if claim.volume_name:
        return _with_its_volume(inventory, claim, made)
    selected = claim.selected_node or ""
    is_gone = bool(selected) and all(one.metadata.name != selected for one in inventory.nodes)
    made = _with(made, selected_node=selected, nowhere=is_gone)
    classes = {one.metadata.name: one for one in inventory.storage_classes}
    found = classes.get(claim.class_name)
    made = _with(made, volumes=list(_offered(inventory, claim)))
    if found is not None:
        waits, provisions = found.volume_binding_mode == WAITS, found.provisions
        made = _with(made, waits=waits, labels=list(_of_class(found)), provisions=provisions)
        driver = provisioner_driver(found.provisioner) if provisions else ""
        if not driver:
            return made
        unready, podless = drivers.unready_provisioners(driver), drivers.podless_provisioner(driver)
        return _with(made, provisioner=driver, provisioner_pods=unready, provisioner_workload=podless)
    if claim.class_name and classes and all(one.faults for one in made.volumes):
        return _with(made, class_missing=True, near=the_nearest(claim.class_name, classes) or "", classes=[*classes])
    is_classless = pvc.spec.storage_class_name is None and not claim.class_name
    return _with(made, classless=is_classless, default_class=_default(inventory.storage_classes), classes=[*classes])


def _with_its_volume(inventory: Inventory, claim: Claim, made: VolumeClaimNeeds) -> VolumeClaimNeeds:
    """Return the requirements of a claim that names its volume, and why the claim is not bound to it, if it is not."""
    found = next((one for one in inventory.volumes if one.metadata.name == claim.volume_name), None)
    if found is None:
        is_missing = bool(inventory.volumes)
        again, free = _again(inventory, claim) if is_missing else ("", "")
        return _with(made, volume_missing=is_missing, pending=not claim.is_bound, again=again, free=free)
    volume = Volume(found)
    nowhere = _is_nowhere(inventory, volume)
    again, free = _again(inventory, claim) if nowhere else ("", "")
    made = _with(made, labels=_labels(found), nowhere=nowhere, again=again, free=free)
    if claim.is_bound:
        return made
    return _with(made, pending=True, volumes=[_unmatched(volume, claim, list(_named_faults(volume, claim)))])


def _named_faults(volume: Volume, claim: Claim) -> Iterator[str]:
    """Yield why the volume controller does not bind the claim to the volume that it names.

    The class and the access modes must agree, unlike labels and phase (upstream: `checkVolumeSatisfyClaim` in the
    volume controller's `syncUnboundClaim`). A volume that is reserved for the claim is bound in any case.
    """
    if volume.is_for(claim):
        return
    yield from unsuited(volume, claim)
    if volume.class_name != claim.class_name:
        yield "class"
    yield from (one for one in unavailable(volume, claim) if one == "access-modes")


def _again(inventory: Inventory, claim: Claim) -> tuple[str, str]:
    """Return whether an equal claim, created again, would get a volume that a node can use, and a free volume for it.

    A class creates volumes on nodes in its allowed topologies (StorageClass provisioner, allowedTopologies).
    """
    pvc = claim.object
    metadata = replace(pvc.metadata, uid="again", annotations={CLASS_ANNOTATION: claim.class_name})
    new = Claim(replace(pvc, metadata=metadata, spec=replace(pvc.spec, volume_name="")))
    for volume in sorted(map(Volume, inventory.volumes), key=lambda one: (one.size.nano, one.name)):
        unfit = volume.class_name != new.class_name or any((*unsuited(volume, new), *unavailable(volume, new)))
        if not unfit and volume.object.spec.claim_ref is None and not _is_nowhere(inventory, volume):
            return "free-volume", volume.name
    classes = {one.metadata.name: one for one in inventory.storage_classes}
    found = classes.get(new.class_name)
    if found is None:
        return "no-volume" if not new.class_name else "class-missing" if classes else "unknown", ""
    if not found.provisions:
        return "no-volume", ""
    able = any(allows(found, node.metadata.labels or {}) for node in inventory.nodes)
    return "provisioned" if able else "no-node", ""


def _default(classes: Sequence[StorageClass]) -> str:
    """Return the class that claims without one get: of several defaults, the newest; "" if there is none.

    As in the API server's admission plugin DefaultStorageClass, which the volume controller repeats for old claims.
    """
    marked = [one for one in classes if any((one.metadata.annotations or {}).get(key) == "true" for key in _DEFAULTS)]
    newest = max((one.metadata.creation_timestamp or "" for one in marked), default="")
    return min((one.metadata.name for one in marked if (one.metadata.creation_timestamp or "") == newest), default="")


def with_default_class(inventory: Inventory, namespace: str, needs: Iterable[VolumeClaimNeeds]) -> Inventory | None:
    """Return the input after the volume controller has given claims without a class the default one, if it will.

    The controller sets spec.storageClassName of every claim that has none and no volume (KEP-3333). Return None if none
    of the `needs` is such a claim.
    """
    given = {(namespace, one.name): one.default_class for one in needs if one.awaits_default}

    def one(of: PersistentVolumeClaim) -> PersistentVolumeClaim:
        name = given.get((of.metadata.namespace, of.metadata.name))
        return of if name is None else replace(of, spec=replace(of.spec, storage_class_name=name))

    return dataclasses.replace(inventory, volume_claims=list(map(one, inventory.volume_claims))) if given else None


_DEFAULTS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _offered(inventory: Inventory, claim: Claim) -> Iterator[UnmatchedVolume]:
    """Yield the volume of the claim's class that is bound to it, if there is one, and a few others.

    Without one, these are the volumes that match best; of those that are only too small, the largest. Beside one, which
    the pod may not be able to use, they are those that nothing else has.
    """
    found = []
    for volume in map(Volume, inventory.volumes):
        if volume.class_name != claim.class_name and not volume.is_for(claim):
            continue
        faults = [*unsuited(volume, claim), *(() if volume.is_for(claim) else unavailable(volume, claim))]
        size = -volume.size.nano if "small" in faults else volume.size.nano
        found.append((len(faults), size, volume.name, _unmatched(volume, claim, faults)))
    found.sort(key=lambda each: each[:3])
    told = [each[-1] for each in found]
    matching = [one for one in told if not one.faults][:1]
    yield from matching
    others = [one for one in told if one.faults and (not matching or _is_free(one))]
    yield from others[:MOST_VOLUMES]


def _is_free(of: UnmatchedVolume) -> bool:
    """Return whether a claim that requests something else could have the volume."""
    return {"held", "deleted", "phase"}.isdisjoint(of.faults)


def _unmatched(volume: Volume, claim: Claim, faults: Sequence[str]) -> UnmatchedVolume:
    pv, key = volume.object, claim.key
    holder = pv.spec.claim_ref
    return UnmatchedVolume(
        name=volume.name,
        faults=list(faults),
        phase=pv.status.phase,
        size=str(pv.spec.capacity.get("storage", "")),
        holder=f"{holder.namespace}/{holder.name}" if holder is not None and "held" in faults else "",
        uid=holder.uid if holder is not None and "held" in faults and (holder.namespace, holder.name) == key else "",
        storage_class=volume.class_name if "class" in faults else "",
        labels=_labels(pv),
    )


def _is_nowhere(inventory: Inventory, volume: Volume) -> bool:
    """Return whether no node can use the volume; a migrated one has other labels on each node, so it is unknown."""
    nodes = (node.metadata.labels or {} for node in inventory.nodes)
    return not volume.is_migrated and not any(map(volume.affinity.matches, nodes))


def _with(made: VolumeClaimNeeds, **fields: object) -> VolumeClaimNeeds:
    return replace(made, **fields)


def _labels(pv: PersistentVolume) -> list[str]:
    reach = pv.spec.node_affinity.required if pv.spec.node_affinity is not None else None
    return list(_of_terms(reach.node_selector_terms if reach is not None else ()))


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
