"""The fields that planning reads of volumes, claims on them and storage.k8s.io, as JSON Schemas.

Used by `shapes`, which knows the other kinds.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_QUANTITY: Schema = {"type": ["string", "number"]}
_AMOUNTS: Schema = {"type": "object", "additionalProperties": _QUANTITY}
_STRINGS: Schema = {"type": "array", "items": _STRING}
LABEL_SELECTOR: Schema = {"$ref": "#/$defs/apimachinery.pkg.apis.meta.v1.LabelSelector"}
_NODES: Schema = {"$ref": "#/$defs/api.core.v1.NodeSelector"}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_IDENTIFIED = _object(volumeID=_STRING)

STORAGE: dict[str, dict[str, Schema]] = {
    "PersistentVolume": {
        "spec": _object(
            capacity=_AMOUNTS,
            accessModes=_STRINGS,
            claimRef=_object(namespace=_STRING, name=_STRING, uid=_STRING),
            storageClassName=_STRING,
            volumeMode=_STRING,
            nodeAffinity=_object(required=_NODES),
            volumeAttributesClassName=_STRING,
            csi=_object(driver=_STRING, volumeHandle=_STRING),
            gcePersistentDisk=_object(pdName=_STRING),
            awsElasticBlockStore=_IDENTIFIED,
            azureDisk=_object(diskURI=_STRING),
            cinder=_IDENTIFIED,
            portworxVolume=_IDENTIFIED,
        ),
        "status": _object(phase=_STRING),
    },
    "PersistentVolumeClaim": {
        "spec": _object(
            accessModes=_STRINGS,
            selector=LABEL_SELECTOR,
            resources=_object(requests=_AMOUNTS),
            volumeName=_STRING,
            storageClassName=_STRING,
            volumeMode=_STRING,
            volumeAttributesClassName=_STRING,
        ),
        "status": _object(phase=_STRING),
    },
    "StorageClass": {
        "provisioner": _STRING,
        "volumeBindingMode": _STRING,
        "allowedTopologies": _list(_object(matchLabelExpressions=_list(_object(key=_STRING, values=_STRINGS)))),
    },
    "CSINode": {
        "spec": _object(
            drivers=_list(_object(name=_STRING, topologyKeys=_STRINGS, allocatable=_object(count={"type": "integer"}))),
        ),
    },
    "CSIDriver": {"spec": _object(storageCapacity=_BOOLEAN)},
    "CSIStorageCapacity": {
        "nodeTopology": LABEL_SELECTOR,
        "storageClassName": _STRING,
        "capacity": _QUANTITY,
        "maximumVolumeSize": _QUANTITY,
    },
    "VolumeAttachment": {
        "spec": _object(attacher=_STRING, nodeName=_STRING, source=_object(persistentVolumeName=_STRING)),
    },
}
