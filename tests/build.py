"""Manifests in few words, as a user would write them: every test that needs Kubernetes objects makes them here.

Each function makes one object, or one part of it, as plain data. A default is what most tests do not care about: the
namespace `default`, the driver and class `gpu.example.com`, one device in the request `r`. The name comes first, the
parts follow it, fields that have no parameter of their own go into the spec by keyword, and a field given as None is
left out: `pod("p", cpu=None)`, `claim("c", uid=None)`. What reads answers is beside the tests of each command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

GPU = "gpu.example.com"
CSI = "csi.example.com"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WAIT = "WaitForFirstConsumer"
STARTED = "2026-01-01T00:00:00Z"

API_VERSIONS = {
    "apps/v1": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "batch/v1": ("CronJob", "Job"),
    "node.k8s.io/v1": ("RuntimeClass",),
    "policy/v1": ("PodDisruptionBudget",),
    "resource.k8s.io/v1": ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
    "resource.k8s.io/v1beta2": ("DeviceTaintRule",),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "scheduling.k8s.io/v1alpha2": ("PodGroup",),
    "storage.k8s.io/v1": ("CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment"),
}
DEVICE_FIELDS = {
    *("attributes", "capacity", "consumesCounters", "taints", "allowMultipleAllocations"),
    *("nodeName", "nodeSelector", "allNodes", "bindsToNode", "bindingConditions", "bindingFailureConditions"),
    *("nodeAllocatableResources", "nodeAllocatableResourceMappings"),
}
PLACES = {"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"}


def manifest(
    kind: str,
    name: str,
    *,
    version: str = "",
    namespace: str | None = None,
    metadata: Object | None = None,
    **rest: Any,
) -> Object:
    """An object of any kind. `version` is another version of the kind's group, or a whole apiVersion."""
    api = next((api for api, kinds in API_VERSIONS.items() if kind in kinds), "v1")
    if version:
        api = version if "/" in version else f"{api.rpartition('/')[0]}/{version}".lstrip("/")
    named = known({"name": name, "namespace": namespace, **(metadata or {})})
    return {"apiVersion": api, "kind": kind, "metadata": named, **known(rest)}


def known(fields: Mapping[str, Any]) -> Object:
    """The fields without those that are None."""
    return {key: value for key, value in fields.items() if value is not None}


# -- nodes and pods ------------------------------------------------------------------------------------------------


def node(
    name: str = "n1",
    *,
    labels: Mapping[str, str] | None = None,
    spec: Object | None = None,
    metadata: Object | None = None,
    **amounts: str,
) -> Object:
    """A node with room for a few pods; `amounts` of other resources have `_` where their names have `-`."""
    allocatable = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    allocatable |= {key.replace("_", "-"): value for key, value in amounts.items()}
    metadata = {"labels": {HOST: name, **(labels or {})}, **(metadata or {})}
    return manifest("Node", name, metadata=metadata, spec=spec or {}, status={"allocatable": allocatable})


def pod(
    name: str = "p",
    *entries: Object,
    cpu: str | None = "1",
    memory: str | None = "1Gi",
    requests: Mapping[str, str] | None = None,
    claims: Mapping[str, str] | None = None,
    templates: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    namespace: str | None = "default",
    uid: str | None = "",
    metadata: Object | None = None,
    status: Object | None = None,
    **spec: Any,
) -> Object:
    """A pod of one container. `claims` and `templates` map the pod's own names to those of claims and templates."""
    used = [*entries, *claimed(claims or {}), *claimed(templates or {}, "resourceClaimTemplateName")]
    amounts = known({"cpu": cpu, "memory": memory, **(requests or {})})
    container = {"name": "c", "image": "app", **({"resources": {"requests": amounts}} if amounts else {})}
    metadata = {"uid": f"u-{name}" if uid == "" else uid, "labels": labels or {}, **(metadata or {})}
    spec = {"containers": [container], "resourceClaims": used or None, **spec}
    return manifest("Pod", name, namespace=namespace, metadata=metadata, spec=known(spec), status=status or None)


def bare_pod(name: str = "p", *entries: Object, **options: Any) -> Object:
    """A pod that requests neither cpu nor memory, so that nothing but its devices decides."""
    return pod(name, *entries, cpu=None, memory=None, **options)


def claimed(names: Mapping[str, str], field: str = "resourceClaimName") -> list[Object]:
    return [{"name": own, field: name} for own, name in names.items()]


def placed(name: str, where: str, *, phase: str = "Running", **options: Any) -> Object:
    """A pod that is on a node."""
    return pod(name, nodeName=where, status={"phase": phase, "startTime": STARTED}, **options)


def running(name: str, where: str, generated_claim: str | None = None, **options: Any) -> Object:
    """A pod on a node, whose status names the claim that was made for its entry `gpu`."""
    made = placed(name, where, **options)
    if generated_claim:
        made["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": generated_claim}]
    return made


def owned(kind: str, name: str, *, uid: str = "") -> Object:
    """The metadata of what has this controller."""
    owner = {**manifest(kind, name), "name": name, "uid": uid or f"u-{name}", "controller": True}
    del owner["metadata"]
    return {"ownerReferences": [owner]}


def owned_by(made: Object, kind: str, name: str) -> Object:
    """The object with this controller."""
    return {**made, "metadata": {**made["metadata"], **owned(kind, name)}}


def workload(kind: str, name: str = "w", shape: Object | None = None, *, uid: str | None = "", **spec: Any) -> Object:
    """A Deployment, Job or other controller, with pods of that shape."""
    shape = shape or pod()
    labels = shape["metadata"].get("labels") or None
    body = {"template": known({"metadata": known({"labels": labels}) or None, "spec": shape["spec"]}), **spec}
    if kind == "CronJob":
        body = {"jobTemplate": {"spec": body}}
    uid = f"u-{name}" if uid == "" else uid
    return manifest(kind, name, namespace="default", metadata={"uid": uid}, spec=body)


def deployment(name: str, shape: Object, replicas: int = 1, **spec: Any) -> Object:
    return workload("Deployment", name, shape, replicas=replicas, **spec)


def pod_group(name: str = "g", least: int = 2, **spec: Any) -> Object:
    """A gang of at least so many pods; with 0, a group whose pods do not wait for each other."""
    policy = {"gang": {"minCount": least}} if least else {"basic": {}}
    metadata = {"uid": f"u-{name}"}
    spec = {"schedulingPolicy": policy, **spec}
    return manifest("PodGroup", name, namespace="default", metadata=metadata, spec=spec)


def member(name: str, of: str = "g", **options: Any) -> Object:
    return pod(name, schedulingGroup={"podGroupName": of}, **options)


def disruption_budget(name: str, allowed: int, **labels: str) -> Object:
    """A budget that lets `allowed` of the pods with these labels go."""
    selector = {"matchLabels": labels} if labels else {}
    status = {"disruptionsAllowed": allowed}
    return manifest("PodDisruptionBudget", name, namespace="default", spec={"selector": selector}, status=status)


def priority_class(name: str, value: int, **rest: Any) -> Object:
    return manifest("PriorityClass", name, value=value, **rest)


# -- devices -------------------------------------------------------------------------------------------------------


def device(
    name: str = "gpu-0",
    *,
    capacity: Mapping[str, Any] | None = None,
    consumes: Mapping[str, Mapping[str, str]] | None = None,
    **rest: Any,
) -> Object:
    """A device. Keywords that are no field of a device are attributes; `consumes` has the counters of each set."""
    fields = {key: value for key, value in rest.items() if key in DEVICE_FIELDS}
    attributes = {**fields.pop("attributes", {}), **{key: rest[key] for key in rest if key not in DEVICE_FIELDS}}
    made = {
        "name": name,
        "attributes": {key: typed(value) for key, value in attributes.items()} or None,
        "capacity": {key: amount(value) for key, value in (capacity or {}).items()} or None,
        "consumesCounters": [
            {"counterSet": counter_set, "counters": {key: amount(value) for key, value in counters.items()}}
            for counter_set, counters in (consumes or {}).items()
        ]
        or None,
    }
    return known({**made, **fields})


def typed(value: Any) -> Object:
    """An attribute's value with its type, as a slice has it."""
    if isinstance(value, dict):
        return value
    return {"bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string": value}


def amount(value: Any) -> Object:
    return value if isinstance(value, dict) else {"value": value}


def slice_(
    pool: str = "n1",
    *devices: Object | str,
    driver: str = GPU,
    name: str = "",
    number: int | None = None,
    of: int = 1,
    generation: int = 1,
    version: str = "",
    **spec: Any,
) -> Object:
    """One of the `of` slices of a pool, on the node of the pool's name unless `spec` says where."""
    where = {} if PLACES & set(spec) else {"nodeName": pool}
    identity = {"name": pool, "generation": generation, "resourceSliceCount": of}
    listed = [device(each) if isinstance(each, str) else each for each in devices]
    spec = known({"driver": driver, "pool": identity, **where, "devices": listed, **spec})
    name = name or (f"{pool}-{driver}" if number is None else f"{pool}-{driver}-{number}")
    return manifest("ResourceSlice", name, version=version, spec=spec)


def counters(pool: str, sets: Mapping[str, Mapping[str, str]], *, number: int = 1, of: int = 2, **spec: Any) -> Object:
    """The slice of a pool that has its counter sets."""
    written = [
        {"name": name, "counters": {key: amount(value) for key, value in values.items()}}
        for name, values in sets.items()
    ]
    return slice_(pool, number=number, of=of, devices=None, sharedCounters=written, **spec)


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Object:
    return known({"key": key, "effect": effect, "value": value or None})


def taint_rule(
    name: str = "rule", of: Object | None = None, *, version: str = "", status: Object | None = None, **selector: str
) -> Object:
    """A rule that puts the taint on the devices that the selector names, or on all."""
    spec = known({"taint": of or taint("k"), "deviceSelector": selector or None})
    return manifest("DeviceTaintRule", name, version=version, spec=spec, status=status)


def device_class(name: str = GPU, *expressions: str, driver: str = "", version: str = "", **spec: Any) -> Object:
    """A class of the devices of its driver, which has the same name, or of those that the expressions select."""
    texts = expressions or (f'device.driver == "{driver or name}"',)
    return manifest("DeviceClass", name, version=version, spec=known({"selectors": selectors(*texts), **spec}))


def gpus(*nodes: str, each: int = 2) -> list[Object]:
    """Nodes with that many devices each, and their class."""
    made = [device_class()]
    for name in nodes:
        made += [node(name), slice_(name, *(f"gpu-{index}" for index in range(each)))]
    return made


# -- claims --------------------------------------------------------------------------------------------------------


def request(name: str = "r", *expressions: str, of: str = GPU, count: int | None = None, **rest: Any) -> Object:
    """A request for one device or `count`, which the expressions select."""
    if count is None and "allocationMode" not in rest:
        count = 1
    chosen = {"selectors": selectors(*expressions)} if expressions else {}
    return {"name": name, "exactly": known({"deviceClassName": of, "count": count, **chosen, **rest})}


def first_of(name: str, *options: Object) -> Object:
    """A request with alternatives, each as `request` makes it."""
    return {"name": name, "firstAvailable": [{"name": option["name"], **option["exactly"]} for option in options]}


def selectors(*expressions: str) -> list[Object]:
    return [{"cel": {"expression": text}} for text in expressions]


def match(attribute: str, *requests: str) -> Object:
    return {"matchAttribute": attribute, "requests": list(requests)}


def distinct(attribute: str, *requests: str) -> Object:
    return {"distinctAttribute": attribute, "requests": list(requests)}


def claim(
    name: str = "c",
    *requests: Object,
    namespace: str | None = "default",
    uid: str | None = "",
    version: str = "",
    metadata: Object | None = None,
    status: Object | None = None,
    **devices: Any,
) -> Object:
    """A claim for one device, or for these requests; `devices` are the constraints and the configuration."""
    metadata = {"uid": f"u-{name}" if uid == "" else uid, **(metadata or {})}
    spec = {"devices": known({"requests": list(requests) or [request()], **devices})}
    return manifest(
        "ResourceClaim", name, version=version, namespace=namespace, metadata=metadata, spec=spec, status=status
    )


def template(
    name: str = "t", *requests: Object, namespace: str | None = "default", version: str = "", **devices: Any
) -> Object:
    """A template of such claims."""
    spec = {"spec": claim(name, *requests, **devices)["spec"]}
    return manifest("ResourceClaimTemplate", name, version=version, namespace=namespace, spec=spec)


def allocation(where: str, device: str, *, on: str | None = None, **result: Any) -> Object:
    """One device of the pool, for the request `r`, which only the node `on` reaches: by default, that of its name."""
    made = {"request": "r", "driver": GPU, "pool": where, "device": device, **result}
    return {"devices": {"results": [made]}, "nodeSelector": {"nodeSelectorTerms": [on_node(on or where)]}}


def on_node(name: str) -> Object:
    """The term of a node selector that only the node of that name meets."""
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}


def reserved(*pods: str) -> list[Object]:
    """The users of a claim."""
    return [{"resource": "pods", "name": name, "uid": f"u-{name}"} for name in pods]


def used(where: str, device: str, *pods: str) -> Object:
    """The status of a claim that has the device, for these pods."""
    return {"allocation": allocation(where, device), "reservedFor": reserved(*pods)}


def allocated(
    name: str, *devices: str, pod: str = "", on: str = "", asked: str = "r", driver: str = GPU, **result: Any
) -> Object:
    """A claim that has the devices POOL/DEVICE, for the pod."""
    places = [text.rpartition("/") for text in devices]
    results = [{"request": asked, "driver": driver, "pool": p, "device": d, **result} for p, _, d in places]
    terms = {"nodeSelectorTerms": [on_node(on)]} if on else None
    given = known({"devices": {"results": results}, "nodeSelector": terms})
    status = known({"allocation": given, "reservedFor": reserved(pod) if pod else None})
    return claim(name, request(asked), status=status)


def generated(pod_name: str, entry: str, where: str, device: str) -> Object:
    """The claim that was made for a running pod."""
    metadata = {
        "generateName": f"{pod_name}-{entry}-",
        "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
        **owned("Pod", pod_name),
    }
    return claim(f"{pod_name}-{entry}-x7k2p", metadata=metadata, status=used(where, device, pod_name))


# -- volumes -------------------------------------------------------------------------------------------------------


def storage_class(name: str = "wait", provisioner: str = CSI, mode: str = WAIT, *terms: Object) -> Object:
    """`terms` are the allowed topologies: each maps a label to its values."""
    topologies = [{"matchLabelExpressions": [{"key": k, "values": v} for k, v in term.items()]} for term in terms]
    rest = {"allowedTopologies": topologies} if topologies else {}
    return manifest("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode, **rest)


def volume(name: str, size: str = "10Gi", *, of: str = "wait", phase: str = "Available", **spec: Any) -> Object:
    """A volume; `on` names the hosts and `zone` the zones that its affinity requires."""
    labels, terms = spec.pop("labels", {}), spec.pop("terms", [])
    for key, values in ((HOST, spec.pop("on", None)), (ZONE, spec.pop("zone", None))):
        if values:
            terms = [*terms, {"matchExpressions": [{"key": key, "operator": "In", "values": values.split()}]}]
    metadata: Object = {"labels": labels, **spec.pop("metadata", {})}
    if terms:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": of, **spec}
    return manifest("PersistentVolume", name, metadata=metadata, spec=spec, status={"phase": phase})


def on_csi(name: str, size: str = "10Gi", *, driver: str = CSI, **options: Any) -> Object:
    """A volume of a CSI driver, whose handle is its name."""
    return volume(name, size, csi={"driver": driver, "volumeHandle": f"h-{name}"}, **options)


def volume_claim(name: str, size: str | None = "5Gi", *, of: str | None = "wait", **options: Any) -> Object:
    """A claim; `bound` names the volume that it has."""
    metadata = {"namespace": "default", "uid": f"u-{name}", **options.pop("metadata", {})}
    spec: Object = {"accessModes": ["ReadWriteOnce"], **options.pop("spec", {})}
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
    return manifest("PersistentVolumeClaim", name, metadata=metadata, spec=spec, status={"phase": phase})


def csi_node(name: str, limits: dict[str, int | None] | None = None, *keys: str, **metadata: Any) -> Object:
    """Drivers with their counts, None for no limit, and the topology keys that each of them has."""
    drivers = [
        {
            "name": d,
            "nodeID": f"id-{name}",
            "topologyKeys": list(keys),
            **({"allocatable": {"count": c}} if c is not None else {}),
        }
        for d, c in ({CSI: None} if limits is None else limits).items()
    ]
    return manifest("CSINode", name, metadata=metadata, spec={"drivers": drivers})


def csi_driver(name: str = CSI, *, capacity: bool = True) -> Object:
    return manifest("CSIDriver", name, spec={"storageCapacity": capacity})


def storage_capacity(
    name: str, size: str | None, *, of: str = "wait", topology: Object | None = None, most: str | None = None
) -> Object:
    rest = {"capacity": size, "maximumVolumeSize": most, "nodeTopology": topology}
    return manifest("CSIStorageCapacity", name, namespace="kube-system", storageClassName=of, **rest)


def attachment(name: str, where: str, pv: str, *, attacher: str = CSI) -> Object:
    spec = {"attacher": attacher, "nodeName": where, "source": {"persistentVolumeName": pv}}
    return manifest("VolumeAttachment", name, spec=spec, status={"attached": False})


def mounts(*claims: str, ephemeral: tuple[str, ...] = ()) -> list[Object]:
    """The volumes of a pod that has these claims."""
    named = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)]
    return [*named, *({"name": name, "ephemeral": {"volumeClaimTemplate": {}}} for name in ephemeral)]
