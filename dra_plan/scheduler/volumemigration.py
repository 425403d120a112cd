"""Disks of providers that were once part of Kubernetes: the CSI driver that each has become, and its topology key.

Upstream: csi-translation-lib.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from dra_plan.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dra_plan.api.storage import CSINode, PersistentVolume, VolumeNodeAffinity
from dra_plan.api.well_known import BETA_ZONE, MIGRATED_PLUGINS, ZONE

ZONE_SEPARATOR = "__"


class Migrated(NamedTuple):
    """The CSI driver that a plugin of the tree has become; `zone_key` is the node label that says zones for it."""

    plugin: str
    driver: str
    zone_key: str = ""


_GCE = Migrated("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
_EBS = Migrated("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone")
_AZURE = Migrated("kubernetes.io/azure-disk", "disk.csi.azure.com", "topology.disk.csi.azure.com/zone")
_CINDER = Migrated("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone")
_PORTWORX = Migrated("kubernetes.io/portworx-volume", "pxd.portworx.com")

_BY_PLUGIN = {entry.plugin: entry for entry in (_GCE, _EBS, _AZURE, _CINDER, _PORTWORX)}

INLINE_DISKS = {
    "gcePersistentDisk": (_GCE.driver, "pdName"),
    "awsElasticBlockStore": (_EBS.driver, "volumeID"),
    "azureDisk": (_AZURE.driver, "diskURI"),
    "cinder": (_CINDER.driver, "volumeID"),
    "portworxVolume": (_PORTWORX.driver, "volumeID"),
}
"""Field of a pod's volume to its driver and the field that identifies the disk."""


def migrated_source(volume: PersistentVolume) -> tuple[Migrated, str] | None:
    """The driver of a volume of the tree, and its handle there; None for all other volumes."""
    spec = volume.spec
    if spec.gce_persistent_disk is not None:
        # names of disks are those of a zone
        return _GCE, "/".join([*_labelled_zones(volume), spec.gce_persistent_disk.pd_name])
    if spec.aws_elastic_block_store is not None:
        # aws://ZONE/ID is the same as ID
        return _EBS, spec.aws_elastic_block_store.volume_id.rpartition("/")[2]
    if spec.azure_disk is not None:
        return _AZURE, spec.azure_disk.disk_uri
    if spec.cinder is not None:
        return _CINDER, spec.cinder.volume_id
    if spec.portworx_volume is not None:
        return _PORTWORX, spec.portworx_volume.volume_id
    return None


def provisioner_driver(provisioner: str) -> str:
    """The CSI driver that makes volumes for a provisioner: itself, or what one of the tree has become."""
    known = _BY_PLUGIN.get(provisioner)
    return known.driver if known is not None else provisioner


def translated(volume: PersistentVolume, node: CSINode | None) -> PersistentVolume:
    """The volume as its CSI driver would describe it, if the node says that the plugin was migrated there.

    Its zone, in its affinity or else in its label, becomes the driver's own topology key.
    """
    found = migrated_source(volume)
    if found is None or node is None or found[0].plugin not in _plugins(node):
        return volume
    key = found[0].zone_key
    if not key:
        return volume
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else []
    zone = next((k for k in (ZONE, BETA_ZONE) if any(_names(term, k) for term in terms)), None)
    if zone is not None:
        changed = [_renamed(term, zone, key) for term in terms]
    else:
        changed = _with_zones(terms, key, _labelled_zones(volume))
    if changed == terms:
        return volume
    required = NodeSelector(node_selector_terms=changed)
    return replace(volume, spec=replace(volume.spec, node_affinity=VolumeNodeAffinity(required=required)))


def _plugins(node: CSINode) -> list[str]:
    return (node.metadata.annotations or {}).get(MIGRATED_PLUGINS, "").split(",")


def _names(term: NodeSelectorTerm, key: str) -> bool:
    return any(requirement.key == key for requirement in term.match_expressions)


def _renamed(term: NodeSelectorTerm, old: str, new: str) -> NodeSelectorTerm:
    expressions = [replace(each, key=new) if each.key == old else each for each in term.match_expressions]
    return replace(term, match_expressions=expressions)


def _labelled_zones(volume: PersistentVolume) -> list[str]:
    labels = volume.metadata.labels or {}
    text = labels.get(ZONE, labels.get(BETA_ZONE, ""))
    return [zone for zone in text.split(ZONE_SEPARATOR) if zone]


def _with_zones(terms: list[NodeSelectorTerm], key: str, zones: list[str]) -> list[NodeSelectorTerm]:
    if not zones:
        return terms
    wanted = NodeSelectorRequirement(key=key, operator="In", values=zones)
    return [
        replace(term, match_expressions=[*term.match_expressions, wanted]) for term in terms or [NodeSelectorTerm()]
    ]
