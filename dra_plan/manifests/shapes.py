"""JSON schemas for the kinds that planning reads, which are used to find the faults in a document.

Most schemas are files in `dra_plan/schemas`. This module adds the others: volumes and storage.k8s.io, workloads, and
v1alpha3.
"""

from __future__ import annotations

import functools
import json
import pkgutil
from typing import Any

from dra_plan.api.meta import FieldPath

from .kinds import Kind

# -- volumes, volume claims and storage.k8s.io -------------------------------------------------------------------------
# These contain only the fields that planning reads.

Schema = dict[str, Any]

_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_STORAGE_QUANTITY: Schema = {"type": ["string", "number"]}
_AMOUNTS: Schema = {"type": "object", "additionalProperties": _STORAGE_QUANTITY}
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
        "capacity": _STORAGE_QUANTITY,
        "maximumVolumeSize": _STORAGE_QUANTITY,
    },
    "VolumeAttachment": {
        "spec": _object(attacher=_STRING, nodeName=_STRING, source=_object(persistentVolumeName=_STRING)),
    },
}


# -- all other kinds ---------------------------------------------------------------------------------------------------

QUANTITY = ["string", "number"]
"""The `type` of quantities in the schemas."""
_INTEGER: Schema = {"type": "integer"}
_QUANTITY: Schema = {"type": QUANTITY}
_NUMBER_OR_SHARE: Schema = {"type": ["integer", "string"]}
_QUANTITIES: Schema = {"type": "object", "additionalProperties": _QUANTITY}
_STRING_MAP: Schema = {"type": "object", "additionalProperties": _STRING}
_TOLERATION: Schema = {"$ref": "#/$defs/api.core.v1.Toleration"}
_META: Schema = {"$ref": "#/$defs/apimachinery.pkg.apis.meta.v1.ObjectMeta"}
_POD_SPEC: Schema = {"$ref": "#/$defs/api.core.v1.PodSpec"}


_POD_TEMPLATE = _object(metadata=_META, spec=_POD_SPEC)
_STRATEGY = _object(
    type=_STRING,
    rollingUpdate=_object(maxSurge=_NUMBER_OR_SHARE, maxUnavailable=_NUMBER_OR_SHARE, partition=_INTEGER),
)
_WORKLOAD = _object(
    replicas=_INTEGER,
    selector=LABEL_SELECTOR,
    template=_POD_TEMPLATE,
    strategy=_STRATEGY,
    updateStrategy=_STRATEGY,
    podManagementPolicy=_STRING,
    paused=_BOOLEAN,
)
_WORKLOAD_STATUS = _object(updateRevision=_STRING)
_FAILURE_RULE = _object(action=_STRING, onPodConditions=_list(_object(type=_STRING, status=_STRING)))
_JOB = _object(
    parallelism=_INTEGER,
    completions=_INTEGER,
    selector=LABEL_SELECTOR,
    template=_POD_TEMPLATE,
    suspend=_BOOLEAN,
    backoffLimit=_INTEGER,
    podFailurePolicy=_object(rules=_list(_FAILURE_RULE)),
)
_JOB_STATUS = _object(conditions=_list(_object(type=_STRING, status=_STRING)), succeeded=_INTEGER, failed=_INTEGER)
_SCOPE = _object(scopeName=_STRING, operator=_STRING, values=_list(_STRING))
_LIMITS = _object(
    type=_STRING,
    max=_QUANTITIES,
    min=_QUANTITIES,
    default=_QUANTITIES,
    defaultRequest=_QUANTITIES,
    maxLimitRequestRatio=_QUANTITIES,
)
_POLICY = _object(basic={"type": "object"}, gang=_object(minCount=_INTEGER))
_GROUP_CLAIM = _object(name=_STRING, resourceClaimName=_STRING, resourceClaimTemplateName=_STRING)
_GROUP: dict[str, Schema] = {
    "schedulingPolicy": _POLICY,
    "schedulingConstraints": _object(topology=_list(_object(key=_STRING))),
    "resourceClaims": _list(_GROUP_CLAIM),
    "disruptionMode": {"type": ["string", "object"]},
    "priorityClassName": _STRING,
    "priority": _INTEGER,
}
_GROUP_STATUS = _object(
    conditions=_list(_object(type=_STRING, status=_STRING, reason=_STRING, message=_STRING)),
    resourceClaimStatuses=_list(_object(name=_STRING, resourceClaimName=_STRING)),
)
_SPECS: dict[str, dict[str, Schema]] = {
    "Deployment": {"spec": _WORKLOAD, "status": _WORKLOAD_STATUS},
    "StatefulSet": {"spec": _WORKLOAD, "status": _WORKLOAD_STATUS},
    "ReplicaSet": {"spec": _WORKLOAD, "status": _WORKLOAD_STATUS},
    "DaemonSet": {"spec": _WORKLOAD, "status": _WORKLOAD_STATUS},
    "ReplicationController": {"spec": _object(replicas=_INTEGER, selector=_STRING_MAP, template=_POD_TEMPLATE)},
    "Job": {
        "spec": _JOB,
        "status": _JOB_STATUS,
    },
    "CronJob": {"spec": _object(jobTemplate=_object(metadata=_META, spec=_JOB), suspend=_BOOLEAN)},
    "Namespace": {},
    "Service": {"spec": _object(selector=_STRING_MAP)},
    "PriorityClass": {"value": _INTEGER, "globalDefault": _BOOLEAN, "preemptionPolicy": _STRING},
    "RuntimeClass": {
        "overhead": _object(podFixed=_QUANTITIES),
        "scheduling": _object(nodeSelector=_STRING_MAP, tolerations=_list(_TOLERATION)),
    },
    "PodGroup": {"spec": _object(**_GROUP), "status": _GROUP_STATUS},
    "Workload": {"spec": _object(podGroupTemplates=_list(_object(name=_STRING, **_GROUP)))},
    **STORAGE,
    "PodDisruptionBudget": {
        "spec": _object(selector=LABEL_SELECTOR, minAvailable=_NUMBER_OR_SHARE, maxUnavailable=_NUMBER_OR_SHARE),
        "status": _object(disruptionsAllowed=_INTEGER, disruptedPods=_STRING_MAP),
    },
    "ResourceQuota": {
        "spec": _object(
            hard=_QUANTITIES,
            scopes=_list(_STRING),
            scopeSelector=_object(matchExpressions=_list(_SCOPE)),
        )
    },
    "LimitRange": {"spec": _object(limits=_list(_LIMITS))},
}
"""The fields that planning reads, in addition to metadata, in kinds without a published schema."""

_SAME = {("DeviceTaintRule", "v1"): "v1beta2"}
"""Versions without a published schema here, and the version that has the same fields."""

_ALPHA_FIELDS: dict[str, dict[str, Schema]] = {
    "BasicDevice": {"capacity": {"type": "object", "additionalProperties": _QUANTITY}},
    "ResourceClaimSpec": {"controller": _STRING},
    "ResourceClaimStatus": {"deallocationRequested": _BOOLEAN},
    "AllocationResult": {"controller": _STRING},
    "DeviceClassSpec": {"suitableNodes": {"type": "object"}},
}
"""Fields in which v1alpha3 differs from v1beta1, per type."""


_NEW_FIELDS: dict[str, dict[str, Schema]] = {
    "DeviceCounterConsumption": {"compatibilityGroups": _list(_STRING)},
    "Device": {
        "nodeAllocatableResources": {
            "type": "object",
            "additionalProperties": _object(mapping={"type": "object"}, overhead={"type": "object"}),
        }
    },
    "ResourceSliceSpec": {"skipNodeOperations": _list(_STRING), "partitionTypeAttribute": _STRING},
    "ExactDeviceRequest": {"derivedAttributes": _list(_object(name=_STRING, expression=_STRING))},
    "DeviceSubRequest": {"derivedAttributes": _list(_object(name=_STRING, expression=_STRING))},
    "DeviceRequestAllocationResult": {"skipNodeOperations": _list(_STRING)},
}
"""Fields in v1 in 1.37 that the published schemas, which are from 1.36, lack."""


def may_be_empty(schema: Schema) -> bool:
    """Return whether a required field with this schema may be omitted.

    Lists and maps may, because the API server treats a missing list or map as empty.
    """
    return schema.get("type") == "array" or "additionalProperties" in schema


@functools.cache
def schema_of(kind: Kind, version: str) -> Schema:
    """Return the schema of a kind in a version. Each `$ref` refers to the `$defs` of the same schema."""
    if kind.name in _SPECS:
        pod = _read("v1_Pod")
        properties = {"apiVersion": _STRING, "kind": _STRING, "metadata": _META, **_SPECS[kind.name]}
        return {"$defs": pod["$defs"], "type": "object", "properties": properties}
    if kind.group == "resource.k8s.io" and version == "v1alpha3" and kind.name != "DeviceTaintRule":
        return _with_fields(_read(f"{kind.group}_v1beta1_{kind.name}"), "v1beta1", _ALPHA_FIELDS)
    version = _SAME.get((kind.name, version), version)
    if kind.group == "resource.k8s.io" and version == "v1":
        return _with_fields(_read(f"{kind.group}_v1_{kind.name}"), "v1", _NEW_FIELDS)
    prefix = f"{kind.group}_" if kind.group else ""
    return _read(f"{prefix}{version}_{kind.name}")


@functools.cache
def _read(name: str) -> Schema:
    text = pkgutil.get_data("dra_plan", f"schemas/{name}.json")
    assert text is not None, "a schema of the package"
    schema: Schema = json.loads(text)
    return schema


def _with_fields(schema: Schema, version: str, fields: dict[str, dict[str, Schema]]) -> Schema:
    """Return the schema with additional or replaced fields in some of its types."""
    definitions = dict(schema["$defs"])
    for name, properties in fields.items():
        key = f"api.resource.{version}.{name}"
        if key in definitions:
            definitions[key] = {**definitions[key], "properties": {**definitions[key]["properties"], **properties}}
    return {**schema, "$defs": definitions}


def schema_at(kind: Kind, version: str, path: FieldPath) -> Schema | None:
    """Return the schema of the field at a path, with references resolved, or None if the version has no such field."""
    whole = schema_of(kind, version)
    found = _resolved(whole, whole)
    for step in path:
        inner = found.get("items") if isinstance(step, int) else _property(found, step)
        if not isinstance(inner, dict):
            return None
        found = _resolved(inner, whole)
    return found


def _resolved(schema: Schema, whole: Schema) -> Schema:
    while "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def _property(schema: Schema, name: str) -> Any:
    return schema.get("properties", {}).get(name) or schema.get("additionalProperties")
