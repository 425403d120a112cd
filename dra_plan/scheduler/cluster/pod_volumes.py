"""What a pod's volumes require: claims, disks that pods on a node cannot share, and disks that count towards a limit.

Everything is read from the plain objects in `spec.volumes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from dra_plan.api.core import Pod
from dra_plan.api.storage import PersistentVolumeClaimSpec

from .volumes import INLINE_DISKS


class ClaimUse(NamedTuple):
    """A volume that comes from a claim, and the name of the claim.

    The claim of an ephemeral volume is created for the pod and named after it.
    """

    name: str
    ephemeral: bool


class Disk(NamedTuple):
    """An inline disk. Two pods on a node can use the same disk only if both only read it."""

    kind: str
    identity: tuple[str, ...]
    read_only: bool
    monitors: frozenset[str] = frozenset()
    """The monitors of an rbd disk. Two such disks are the same if they have a monitor in common."""

    def conflicts(self, other: Disk) -> bool:
        """Return whether the two are the same disk and at least one of them is not read-only."""
        if self[:2] != other[:2] or (self.read_only and other.read_only):
            return False
        return self.kind != "rbd" or bool(self.monitors & other.monitors)


class PodVolumes(Struct, frozen=True):
    """The volumes of a pod, as far as scheduling needs them.

    `claims` are in the order of the volumes. `counted` are the inline disks as (CSI driver, handle).
    """

    claims: tuple[ClaimUse, ...] = ()
    disks: tuple[Disk, ...] = ()
    counted: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.claims or self.disks or self.counted)

    @property
    def named(self) -> list[str]:
        """The names of the claims in the pod's spec, with duplicates.

        Claims for ephemeral volumes are left out, because no other pod can use them.
        """
        return [use.name for use in self.claims if not use.ephemeral]

    def uses(self, name: str) -> bool:
        """Return whether the pod uses a claim with this name, which may be generated."""
        return any(use.name == name for use in self.claims)


NO_VOLUMES = PodVolumes()


def pod_volumes(pod: Pod) -> PodVolumes:
    """Return the volumes of the pod, as far as scheduling needs them, or `NO_VOLUMES` if there are none."""
    if not pod.spec.volumes:
        return NO_VOLUMES
    found = PodVolumes(
        claims=tuple(_claims(pod)),
        disks=tuple(disk for volume in pod.spec.volumes if (disk := _disk(volume)) is not None),
        counted=tuple(entry for volume in pod.spec.volumes for entry in _counted(volume)),
    )
    return found if found else NO_VOLUMES


def _claims(pod: Pod) -> Iterator[ClaimUse]:
    for volume in pod.spec.volumes:
        claim = _source(volume, "persistentVolumeClaim")
        if claim is not None:
            yield ClaimUse(_text(claim, "claimName"), False)
        elif _source(volume, "ephemeral") is not None:
            yield ClaimUse(f"{pod.metadata.name}-{_text(volume, 'name')}", True)


def ephemeral_claim(volume: Mapping[str, Any]) -> PersistentVolumeClaimSpec | None:
    """Return the spec of the claim that is created for an ephemeral volume, or None for other volumes."""
    ephemeral = _source(volume, "ephemeral")
    template = ephemeral.get("volumeClaimTemplate") if ephemeral is not None else None
    spec = template.get("spec") if isinstance(template, Mapping) else None
    if not isinstance(spec, Mapping):
        return None
    try:
        return msgspec.convert(spec, PersistentVolumeClaimSpec, strict=False)
    except msgspec.ValidationError:
        return None


def is_claim(volume: Mapping[str, Any]) -> bool:
    """Return whether a pod's volume comes from a claim, either an existing one or one created for the pod."""
    return any(_source(volume, kind) is not None for kind in ("persistentVolumeClaim", "ephemeral"))


def _source(volume: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    source = volume.get(kind)
    return source if isinstance(source, dict) else None


def _text(source: Mapping[str, Any], name: str) -> str:
    value = source.get(name)
    return value if isinstance(value, str) else ""


def _disk(volume: Mapping[str, Any]) -> Disk | None:
    for kind, fields in (
        ("gcePersistentDisk", ("pdName",)),
        ("awsElasticBlockStore", ("volumeID",)),
        ("iscsi", ("iqn",)),
        ("rbd", ("pool", "image")),
    ):
        source = _source(volume, kind)
        if source is None:
            continue
        # even a read-only EBS volume conflicts
        read_only = source.get("readOnly") is True and kind != "awsElasticBlockStore"
        identity = tuple(_text(source, name) or ("rbd" if name == "pool" else "") for name in fields)
        monitors = source.get("monitors") if kind == "rbd" else None
        return Disk(kind, identity, read_only, frozenset(monitors) if isinstance(monitors, list) else frozenset())
    return None


def _counted(volume: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, (driver, name) in INLINE_DISKS.items():
        source = _source(volume, kind)
        if source is not None:
            yield driver, _text(source, name)
