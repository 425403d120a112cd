"""What a pod's volumes ask of the scheduler: claims on volumes, disks that don't share, disks that count on a node.

Read from the plain objects of `spec.volumes`; what the claims are is in `volumestore`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dra_plan.api.core import Pod

from .volumemigration import INLINE_DISKS


class ClaimUse(NamedTuple):
    """A volume that is a claim, by name; an ephemeral one is made for the pod and named after it."""

    name: str
    ephemeral: bool


class Disk(NamedTuple):
    """An in-line disk of which pods on one node can't both have it, unless both only read."""

    kind: str
    identity: tuple[str, ...]
    read_only: bool
    monitors: frozenset[str] = frozenset()
    """One in common makes two disks the same; none are needed for kinds without monitors."""

    def conflicts(self, other: Disk) -> bool:
        """Whether the two disks are the same, and not both only read."""
        if self[:2] != other[:2] or (self.read_only and other.read_only):
            return False
        return self.kind != "rbd" or bool(self.monitors & other.monitors)


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """`claims` in the order of the volumes; `counted` are in-line disks as (CSI driver, handle)."""

    claims: tuple[ClaimUse, ...] = ()
    disks: tuple[Disk, ...] = ()
    counted: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.claims or self.disks or self.counted)

    @property
    def named(self) -> list[str]:
        """The claims that the pod itself names, as often as it does; ephemeral ones are nobody else's."""
        return [use.name for use in self.claims if not use.ephemeral]

    def uses(self, name: str) -> bool:
        """Whether the claim of this name is one of the pod's, made for it or not."""
        return any(use.name == name for use in self.claims)


NO_VOLUMES = PodVolumes()


def pod_volumes(pod: Pod) -> PodVolumes:
    """What the pod's volumes ask; `NO_VOLUMES` where that is nothing."""
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
        # whether EBS is only read does not matter
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
