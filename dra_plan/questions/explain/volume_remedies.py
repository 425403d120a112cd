"""`explain`: volumes that are still reserved for deleted claims, and what becomes of a pod if its claims get them.

Removing spec.claimRef makes such a volume Available. The volume controller then binds it to a claim that names it or,
unless the claim waits for a pod, to one that it matches; the trial does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.inventory import Inventory
from dra_plan.api.storage import PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus
from dra_plan.documents.suggestions import ObjectPatch, PatchOperation, SuggestedChange, VolumeFreed
from dra_plan.documents.volume_needs import VolumeClaimNeeds
from dra_plan.explanation.suggest import patches
from dra_plan.scheduler.volume_controller import with_volume


class FreedVolumes(NamedTuple):
    """The changes that free volumes for claims of a pod, and the input after them."""

    told: list[SuggestedChange]
    patches: list[ObjectPatch]
    changed: Inventory


def freed_volumes(inventory: Inventory, namespace: str, needs: Sequence[VolumeClaimNeeds]) -> FreedVolumes | None:
    """Return the changes that give claims the volumes that are reserved for earlier claims of the same name, if any.

    The patches also do what the volume controller does after it: they set the phase, and bind the claim.
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
