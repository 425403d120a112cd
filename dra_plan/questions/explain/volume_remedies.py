"""`explain`: changes that give a pod's claims volumes that are reserved for deleted claims, or smaller volumes.

Without spec.claimRef, a reserved volume becomes Available. The volume controller then binds it to a claim that names it
or, unless the claim waits for a pod, to a claim that matches it. Trials do the same. The size of a claim cannot be
lowered, but the claim can be recreated, and so can the StatefulSet that creates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.inventory import Inventory, ObjectKey
from dra_plan.api.quantity import parse
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus
from dra_plan.api.workloads import Workload
from dra_plan.documents.cluster_changes import VolumeClaimShrunk, VolumeFreed
from dra_plan.documents.node_obstacles import NodeObstacle
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation, SuggestedChange
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.documents.volume_needs import VolumeClaimNeeds
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.editing import OwnedPods, Remedy
from dra_plan.scheduler.obstacles import STORAGE
from dra_plan.scheduler.volume_controller import with_volume

_MOST_TIMES_LESS = 3
"""How many times smaller a claim may be made at most."""


class FreedVolumes(NamedTuple):
    """Changes that free volumes for a pod's claims, and the input after these changes."""

    told: list[SuggestedChange]
    patches: list[ObjectPatch]
    changed: Inventory


def freed_volumes(inventory: Inventory, namespace: str, needs: Sequence[VolumeClaimNeeds]) -> FreedVolumes | None:
    """Return changes that give claims the volumes reserved for earlier claims of the same name, or None.

    The patches include what the volume controller does afterwards: it sets the phase and binds the claim.
    """
    free = {one.volumes[0].name: one for one in needs if _is_freed(one)}
    if not free:
        return None
    bound = {one.name: volume for volume, one in free.items() if not one.waits}
    volumes = [_freed(one, free.get(one.metadata.name)) for one in inventory.volumes]
    claims = [
        with_volume(one, bound[one.metadata.name])
        if one.metadata.namespace == namespace and one.metadata.name in bound
        else one
        for one in inventory.volume_claims
    ]
    changed = replace(inventory, volumes=volumes, volume_claims=claims)
    told: list[SuggestedChange] = [
        VolumeFreed(code="free-volume", volume=volume, namespace=namespace, for_=one.name)
        for volume, one in free.items()
    ]
    return FreedVolumes(told, list(_patches(inventory, changed)), changed)


def _is_freed(of: VolumeClaimNeeds) -> bool:
    """Return whether only the reservation of its best volume keeps the claim from it."""
    if not of.volumes or not of.volumes[0].uid:
        return False
    return set(of.volumes[0].faults) <= ({"held"} if of.volume else {"held", "phase"})


def _freed(volume: PersistentVolume, claim: VolumeClaimNeeds | None) -> PersistentVolume:
    if claim is None:
        return volume
    status = PersistentVolumeStatus(phase="Available" if claim.waits else "Bound")
    return structs.replace(volume, spec=structs.replace(volume.spec, claim_ref=None), status=status)


def _patches(before: Inventory, after: Inventory) -> Iterator[ObjectPatch]:
    for old, new in zip(before.volumes, after.volumes, strict=True):
        if old is not new:
            phase = PatchOperation(op="add", path=patches.pointer("status", "phase"), value=new.status.phase)
            yield _patch(old, [PatchOperation(op="remove", path=patches.pointer("spec", "claimRef")), phase])
    for claim, bound in zip(before.volume_claims, after.volume_claims, strict=True):
        if claim is not bound:
            annotations, name = bound.metadata.annotations, bound.spec.volume_name
            yield _patch(
                claim,
                [
                    PatchOperation(op="add", path=patches.pointer("metadata", "annotations"), value=annotations),
                    PatchOperation(op="add", path=patches.pointer("spec", "volumeName"), value=name),
                ],
            )


def _patch(of: PersistentVolume | PersistentVolumeClaim, operations: list[PatchOperation]) -> ObjectPatch:
    key = (of.kind, of.metadata.namespace, of.metadata.name)
    return patches.of_object(key, of.api_version, operations)


# -- smaller claims ----------------------------------------------------------------------------------------------------


def smaller_claim(pods: OwnedPods, verdict: OwnerVerdict, one: NodeObstacle) -> Iterator[Remedy]:
    """Yield a smaller claim that fits the largest free volume of its class, if the volume is only a little too small.

    The claim must wait for the pod, so that the scheduler chooses the volume.
    """
    need = next((each for each in verdict.volume_claims if each.name == one.claim and each.waits), None)
    small = [each for each in need.volumes if each.faults == ["small"]] if need is not None else []
    if need is None or need.volume or not small:
        return
    to = small[0].size  # the largest
    if parse(to).nano * _MOST_TIMES_LESS < parse(need.size).nano:
        return
    key = (PersistentVolumeClaim.__name__, verdict.namespace, need.name)
    maker, at = _template(pods, need.name)
    told = VolumeClaimShrunk(
        code="lower-claim-size",
        namespace=verdict.namespace,
        volume_claim=need.name,
        from_=need.size,
        to=to,
        stateful_set=maker.metadata.name if maker is not None else "",
    )

    def apply(of: Inventory) -> Inventory:
        claims = [_sized(each, to) if _key(each) == key else each for each in of.volume_claims]
        workloads = [_with_template(each, at, to) if each is maker else each for each in of.workloads]
        return replace(of, volume_claims=claims, workloads=workloads)

    size = patches.pointer("spec", "resources", "requests", STORAGE)
    made = [patches.of_object(key, "v1", [PatchOperation(op="replace", path=size, value=to)], recreate=True)]
    if maker is not None:
        path = f"/spec/volumeClaimTemplates/{at}{size}"
        operations = [PatchOperation(op="replace", path=path, value=to)]
        made.append(patches.of_object(_key(maker), maker.api_version, operations, recreate=True))
    yield Remedy((told,), apply, patches=tuple(made))


def _template(pods: OwnedPods, claim: str) -> tuple[Workload | None, int]:
    """Return the StatefulSet that creates the claim of one of the pods, and the index of its template."""
    maker = pods.workload
    if isinstance(maker, Workload) and maker.kind == "StatefulSet":
        for at, template in enumerate(maker.spec.volume_claim_templates):
            if claim.startswith(f"{template.metadata.name}-{maker.metadata.name}-"):
                return maker, at
    return None, 0


def _with_template(of: Workload, at: int, size: str) -> Workload:
    made = [_sized(each, size) if number == at else each for number, each in enumerate(of.spec.volume_claim_templates)]
    return structs.replace(of, spec=structs.replace(of.spec, volume_claim_templates=made))


def _sized(claim: PersistentVolumeClaim, size: str) -> PersistentVolumeClaim:
    asked = claim.spec.resources
    asked = structs.replace(asked, requests={**asked.requests, STORAGE: size})
    return structs.replace(claim, spec=structs.replace(claim.spec, resources=asked))


def _key(of: PersistentVolumeClaim | Workload) -> ObjectKey:
    return of.kind, of.metadata.namespace, of.metadata.name
