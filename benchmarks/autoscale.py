"""`autoscale` on a large cluster: 5 groups of one machine type, pods that each want all devices of a node.

    python benchmarks/autoscale.py                     1,000 nodes, 2,000 pending pods, room for 200 nodes a group
    python benchmarks/autoscale.py NODES PODS ROOM     other sizes

A whole process, one run, processor time. Half of the nodes are free: the first pods are placed there, the others are
packed on new nodes of each group. Target: 30 s for the first sizes.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from fleet import cost

GROUPS = 5
DEVICES = 4
DRIVER = "gpu.example.com"
Manifest = dict[str, Any]


def node(name: str, devices: int, labels: dict[str, str]) -> list[Manifest]:
    """A node, and its slice of devices."""
    labels = {"kubernetes.io/hostname": name, **labels}
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    status = {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    spec = {
        "driver": DRIVER,
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{i}"} for i in range(devices)],
    }
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec},
    ]


def pod(name: str, owner: str, on: str = "") -> list[Manifest]:
    """A pod of a ReplicaSet with its generated claim; it waits, or is on a node."""
    controller = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
    claim: Manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": f"{name}-gpus",
            "namespace": "ml",
            "uid": f"{name}-gpus",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}],
        },
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": DRIVER, "count": DEVICES}}]}},
    }
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    status: Manifest = {"resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": f"{name}-gpus"}]}
    status |= {"phase": "Running"} if on else {"phase": "Pending", "conditions": [refused]}
    if on:
        results = [{"request": "r", "driver": DRIVER, "pool": on, "device": f"gpu-{i}"} for i in range(DEVICES)]
        here = [{"key": "metadata.name", "operator": "In", "values": [on]}]
        claim["status"] = {
            "allocation": {
                "devices": {"results": results},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": here}]},
            },
            "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
        }
    spec: Manifest = {
        "containers": [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "4", "memory": "8Gi"}}}],
        "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
    }
    metadata = {"name": name, "namespace": "ml", "uid": name, "labels": {"app": owner}, "ownerReferences": [controller]}
    placed = {"nodeName": on} if on else {}
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec | placed, "status": status}, claim]


def write(folder: Path, nodes: int, pods: int, room: int) -> tuple[Path, Path]:
    """The cluster and its groups, as files."""
    items: list[Manifest] = [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {}}
    ]
    groups: list[Manifest] = []
    for group in range(GROUPS):
        names = [f"node-{group}-{i}" for i in range(nodes // GROUPS)]
        for at, name in enumerate(names):
            items += node(name, DEVICES, {"pool": f"pool-{group}"})
            items += pod(f"running-{name}", "running", name) if at % 2 else []
        copied, piece = node(f"template-{group}", DEVICES, {"pool": f"pool-{group}"})
        groups.append(
            {
                "name": f"pool-{group}",
                "max": len(names) + room,
                "current": len(names),
                "nodes": names,
                "template": {"node": copied, "slices": [piece]},
            }
        )
    for number in range(pods):
        items += pod(f"train-{number}", f"train-{number % 10}")
    cluster, file = folder / "cluster.json", folder / "groups.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    file.write_text(json.dumps({"nodeGroups": groups}), encoding="utf-8")
    return cluster, file


def main() -> None:
    """Prints one row."""
    sizes = [int(each) for each in sys.argv[1:]] or [1000, 2000, 200]
    with tempfile.TemporaryDirectory() as folder:
        cluster, file = write(Path(folder), *sizes)
        measured = cost("-m", "dra_plan", "autoscale", str(cluster), "--groups", str(file), "-o", "json")
    print("| nodes | pending pods | room a group | time | memory |\n|---:|---:|---:|---:|---:|")
    print(f"| {' | '.join(map(str, sizes))} | {measured.seconds:.1f} s | {measured.megabytes:.0f} MB |")


if __name__ == "__main__":
    main()
