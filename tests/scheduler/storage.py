"""Volumes, claims on them, and what is behind them, written short."""

from __future__ import annotations

from typing import Any

DRIVER = "csi.example.com"
WAIT = "WaitForFirstConsumer"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def _object(kind: str, name: str, *, api: str = "storage.k8s.io/v1", **rest: Any) -> dict:
    metadata = {"name": name, **rest.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def storage_class(name: str = "wait", provisioner: str = DRIVER, mode: str = WAIT, *terms: dict) -> dict:
    """`terms` are the allowed topologies: each maps a label to its values."""
    topologies = [{"matchLabelExpressions": [{"key": k, "values": v} for k, v in term.items()]} for term in terms]
    rest = {"allowedTopologies": topologies} if topologies else {}
    return _object("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode, **rest)


def volume(name: str, size: str = "10Gi", *, of: str = "wait", phase: str = "Available", **spec: Any) -> dict:
    """A volume; `on` names the hosts and `zone` the zones that its affinity requires."""
    labels, terms = spec.pop("labels", {}), spec.pop("terms", [])
    for key, values in ((HOST, spec.pop("on", None)), (ZONE, spec.pop("zone", None))):
        if values:
            terms = [*terms, {"matchExpressions": [{"key": key, "operator": "In", "values": values.split()}]}]
    metadata: dict[str, Any] = {"labels": labels, **spec.pop("metadata", {})}
    if terms:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": of, **spec}
    return _object("PersistentVolume", name, api="v1", metadata=metadata, spec=spec, status={"phase": phase})


def on_csi(name: str, size: str = "10Gi", *, driver: str = DRIVER, **options: Any) -> dict:
    """A volume of a CSI driver, whose handle is its name."""
    return volume(name, size, csi={"driver": driver, "volumeHandle": f"h-{name}"}, **options)


def volume_claim(name: str, size: str | None = "5Gi", *, of: str | None = "wait", **options: Any) -> dict:
    """A claim; `bound` names the volume that it has."""
    metadata = {"namespace": "default", "uid": f"u-{name}", **options.pop("metadata", {})}
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], **options.pop("spec", {})}
    if size is not None:
        spec["resources"] = {"requests": {"storage": size}}
    if of is not None:
        spec["storageClassName"] = of
    phase = options.pop("phase", "Pending")
    bound = options.pop("bound", None)
    if bound:
        spec["volumeName"], phase = bound, "Bound"
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes", **metadata.get("annotations", {})}
    assert not options, options
    return _object("PersistentVolumeClaim", name, api="v1", metadata=metadata, spec=spec, status={"phase": phase})


def csi_node(name: str, limits: dict[str, int | None] | None = None, *keys: str, **metadata: Any) -> dict:
    """Drivers with their counts, None for no limit, and the topology keys that each of them has."""
    drivers = [
        {
            "name": d,
            "nodeID": f"id-{name}",
            "topologyKeys": list(keys),
            **({"allocatable": {"count": c}} if c is not None else {}),
        }
        for d, c in ({DRIVER: None} if limits is None else limits).items()
    ]
    return _object("CSINode", name, metadata=metadata, spec={"drivers": drivers})


def csi_driver(name: str = DRIVER, *, capacity: bool = True) -> dict:
    return _object("CSIDriver", name, spec={"storageCapacity": capacity})


def capacity(
    name: str, size: str | None, *, of: str = "wait", topology: dict | None = None, most: str | None = None
) -> dict:
    rest = {"capacity": size, "maximumVolumeSize": most, "nodeTopology": topology}
    given = {key: value for key, value in rest.items() if value is not None}
    return _object("CSIStorageCapacity", name, metadata={"namespace": "kube-system"}, storageClassName=of, **given)


def attachment(name: str, where: str, pv: str, *, attacher: str = DRIVER) -> dict:
    spec = {"attacher": attacher, "nodeName": where, "source": {"persistentVolumeName": pv}}
    return _object("VolumeAttachment", name, spec=spec, status={"attached": False})


def mounts(*claims: str, ephemeral: tuple[str, ...] = ()) -> list[dict]:
    """The volumes of a pod that has these claims."""
    named = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)]
    return [*named, *({"name": name, "ephemeral": {"volumeClaimTemplate": {}}} for name in ephemeral)]


def volumes(document: dict[str, Any]) -> dict[str, str]:
    """What each claim gets: a volume, or @NODE for a new one made there."""
    return {
        entry["pvc"].removeprefix("default/"): entry.get("pv")
        or (f"@{entry['provision']}" if "provision" in entry else "")
        for entry in document["volumes"]
    }
