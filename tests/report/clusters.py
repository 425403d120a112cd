"""Clusters that no fixture has: pods of a controller that run on devices."""

from typing import Any

from dra_plan import Cluster

DRIVER = "gpu.example.com"


def _object(kind: str, name: str, api: str = "resource.k8s.io/v1", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ml", **more.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def _pool(node: str, model: str, count: int) -> dict[str, Any]:
    devices = [{"name": f"gpu-{at}", "attributes": {"productName": {"string": model}}} for at in range(count)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return _object("ResourceSlice", node, spec={"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices})


def _running(name: str, wanted: str, node: str, devices: list[str]) -> list[dict[str, Any]]:
    claim, (class_, _, count) = f"{name}-gpu-abcde", wanted.partition("-")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
    user = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}
    results = [{"request": "gpu", "driver": DRIVER, "pool": node, "device": device} for device in devices]
    exactly = {"deviceClassName": class_, "count": int(count)}
    return [
        _object(
            "Pod",
            name,
            "v1",
            metadata={"uid": name, "ownerReferences": [owner]},
            spec={
                "nodeName": node,
                "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": wanted}],
            },
            status={"phase": "Running", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}]},
        ),
        _object(
            "ResourceClaim",
            claim,
            metadata={
                "uid": claim,
                "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
                "ownerReferences": [user],
            },
            spec={"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
            status={
                "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
                "allocation": {"devices": {"results": results}},
            },
        ),
    ]


def running() -> Cluster:
    """Nodes with four H100 or two L40S. Without gpu-a a pod has no place, and another one moves."""
    h100 = f"device.attributes['{DRIVER}'].productName == 'H100'"
    wanted = [("h100", 2), ("h100", 1), ("any", 1)]
    return Cluster.of(
        [
            *(
                _object("Node", name, "v1", status={"allocatable": {"pods": "9"}})
                for name in ("gpu-a", "gpu-b", "gpu-c")
            ),
            _pool("gpu-a", "H100", 4),
            _pool("gpu-b", "H100", 4),
            _pool("gpu-c", "L40S", 2),
            _object("DeviceClass", "h100", spec={"selectors": [{"cel": {"expression": h100}}]}),
            _object("DeviceClass", "any", spec={}),
            *(
                _object(
                    "ResourceClaimTemplate",
                    f"{class_}-{count}",
                    spec={
                        "spec": {
                            "devices": {
                                "requests": [{"name": "gpu", "exactly": {"deviceClassName": class_, "count": count}}]
                            }
                        }
                    },
                )
                for class_, count in wanted
            ),
            *_running("train-0", "h100-2", "gpu-a", ["gpu-0", "gpu-1"]),
            *_running("train-1", "h100-2", "gpu-a", ["gpu-2", "gpu-3"]),
            *_running("serve-0", "h100-1", "gpu-b", ["gpu-0"]),
            *_running("batch-0", "any-1", "gpu-b", ["gpu-2"]),
            *_running("notebook", "any-1", "gpu-c", ["gpu-0"]),
        ]
    )
