"""Objects of every kind and version that is read, each valid, with most fields in use."""

from __future__ import annotations

from typing import Any

from .objects import claim, dra, pod, template, workload

Plain = dict[str, Any]

REQUESTS: list[Plain] = [
    {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": "true"}}],
                              "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5}]}},
    {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "gpu", "capacity": {"requests": {"mem": "1Gi"}}},
                                     {"name": "z", "deviceClassName": "nic", "allocationMode": "All"}]},
]  # fmt: skip
FLAT: list[Plain] = [
    {"name": "a", "deviceClassName": "gpu", "adminAccess": True},
    {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "gpu"}]},
]
STATUS: Plain = {
    "allocation": {
        "devices": {
            "results": [{"request": "a", "driver": "d", "pool": "p", "device": "g", "shareID": "1",
                         "consumedCapacity": {"mem": "1Gi"}}],
            "config": [{"source": "FromClass", "opaque": {"driver": "d", "parameters": {"x": [1, None]}}}],
        },
        "nodeSelector": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node"]}]}]},
    },
    "reservedFor": [{"resource": "pods", "name": "q", "uid": "7"}],
    "devices": [{"driver": "d", "pool": "p", "device": "g", "data": {"x": 1.5},
                 "conditions": [{"type": "Ready", "status": "True"}]}],
}  # fmt: skip
PAYLOAD: Plain = {
    "attributes": {"model": {"string": "a"}, "index": {"int": 3}, "ok": {"bool": True}, "v": {"version": "1.2.3"}},
    "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": 2}}}],
    "taints": [{"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}],
}
CAPACITY: Plain = {
    "mem": {"value": "8Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}
}
POOL: Plain = {"name": "p", "generation": 1, "resourceSliceCount": 1}


def slice_of(version: str, name: str, device: Plain) -> Plain:
    counters = [{"name": "s", "counters": {"c": {"value": "40"}}}]
    spec = {"driver": "d", "pool": POOL, "nodeName": "node", "devices": [device], "sharedCounters": counters}
    return dra("ResourceSlice", name, version, spec=spec)


NODE: Plain = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node", "labels": {"zone": "a"}},
    "spec": {"taints": [{"key": "t", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "8", "memory": "1Ti", "pods": 110}, "nodeInfo": {"kubeletVersion": "v1.36.2"}},
}
POD_SPEC: Plain = {
    "containers": [{"name": "c", "image": "i",
                    "resources": {"limits": {"cpu": 1, "memory": "1Gi"}, "claims": [{"name": "a"}]},
                    "ports": [{"containerPort": 80, "hostPort": 80}]}],
    "nodeSelector": {"zone": "a"},
    "tolerations": [{"key": "t", "operator": "Exists"}],
    "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "w"}}}]}},
}  # fmt: skip
ENTRY: Plain = {"name": "a", "resourceClaimTemplateName": "t"}
GROUP: Plain = {
    "schedulingPolicy": {"gang": {"minCount": 2}},
    "schedulingConstraints": {"topology": [{"key": "zone"}]},
    "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}],
    "disruptionMode": "PodGroup",
    "priority": 100,
}

SAMPLES: list[Plain] = [
    NODE,
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "skipped"}, "data": {"a": "b"}},
    dra("DeviceClass", "gpu", spec={"selectors": [{"cel": {"expression": "true"}}], "extendedResourceName": "a.b/c"}),
    dra("DeviceClass", "nic", "v1alpha3", spec={"config": [{"opaque": {"driver": "d", "parameters": {"z": None}}}]}),
    slice_of("v1", "s1", {"name": "g", **PAYLOAD, "capacity": CAPACITY}),
    slice_of("v1beta2", "s2", {"name": "g", **PAYLOAD, "capacity": CAPACITY, "allowMultipleAllocations": True}),
    slice_of("v1beta1", "s3", {"name": "g", "basic": {**PAYLOAD, "capacity": CAPACITY}}),
    slice_of("v1alpha3", "s4", {"name": "g", "basic": {**PAYLOAD, "capacity": {"mem": "8Gi"}}}),
    dra("DeviceTaintRule", "r", "v1beta2", spec={"deviceSelector": {"driver": "d"}, "taint": {"key": "k"}}),
    claim("c1", *REQUESTS, status=STATUS),
    claim("c2", *REQUESTS, version="v1beta2", namespace="other"),
    claim("c3", *FLAT, version="v1beta1"),
    claim("c4", *FLAT, version="v1alpha3"),
    template("t", *REQUESTS),
    template("t2", *FLAT, version="v1beta1"),
    pod("p", ENTRY, {"name": "b", "source": {"resourceClaimName": "c3"}}, **POD_SPEC),
    workload("Deployment", "w", ENTRY, **POD_SPEC),
    workload("CronJob", "w", ENTRY, **POD_SPEC),
    {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": GROUP,
     "status": {"conditions": [{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled"}],
                "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "g-c-abcde"}]}},
    {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "Workload", "metadata": {"name": "w"},
     "spec": {"podGroupTemplates": [{"name": "t", **GROUP}]}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
     "spec": {"selector": {"matchLabels": {"app": "w"}}}, "status": {"disruptionsAllowed": 1}},
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v", "labels": {"zone": "a"}},
     "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "s",
              "volumeMode": "Filesystem", "csi": {"driver": "d", "volumeHandle": "h"},
              "claimRef": {"namespace": "default", "name": "w", "uid": "7"},
              "nodeAffinity": {"required": {"nodeSelectorTerms": [
                  {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}},
     "status": {"phase": "Bound"}},
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "old"},
     "spec": {"capacity": {"storage": 1024}, "volumeMode": "Block", "gcePersistentDisk": {"pdName": "p"}}},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "w", "namespace": "default"},
     "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v",
              "selector": {"matchLabels": {"zone": "a"}}, "storageClassName": ""}, "status": {"phase": "Bound"}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "d"},
    {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "node"},
     "spec": {"drivers": [{"name": "d", "nodeID": "node-1", "topologyKeys": ["zone"], "allocatable": {"count": 8}}]}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"},
     "spec": {"storageCapacity": True}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "c"},
     "storageClassName": "s", "capacity": "10Gi", "nodeTopology": {"matchLabels": {"zone": "a"}}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "a"},
     "spec": {"attacher": "d", "nodeName": "node", "source": {"persistentVolumeName": "v"}}},
]  # fmt: skip
