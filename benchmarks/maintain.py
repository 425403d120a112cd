"""`maintain` on a fleet in use: every node drained in turn, under budgets, until all of them have been given back.

    python benchmarks/maintain.py                      200 nodes with 1,000 running pods, alone and 10 at once
    python benchmarks/maintain.py NODES PODS [AT_ONCE] other sizes

Whole processes, one run each, processor time. Nodes have eight devices; pods of 20 Deployments hold one each, and a
budget lets two pods of a Deployment be away. Pods are spread unevenly, as draws of chance are. Target: 60 s for the
first sizes, one node at a time.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoscale import DRIVER, node
from fleet import cost

DEPLOYMENTS = 20
DEVICES = 8
Manifest = dict[str, Any]


def workload(name: str, replicas: int) -> list[Manifest]:
    """A Deployment, its ReplicaSet and its budget."""
    labels = {"app": name}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": _pod_spec()},
    }
    up = {"kind": "Deployment", "apiVersion": "apps/v1", "name": name, "uid": name, "controller": True}
    own = {"name": name, "namespace": "ml", "uid": name}
    down = {"name": f"{name}-1", "namespace": "ml", "uid": f"{name}-1", "ownerReferences": [up]}
    counts = {"replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas}
    budget = {"maxUnavailable": 2, "selector": {"matchLabels": labels}}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": own, "spec": spec, "status": counts},
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": down, "spec": spec, "status": counts},
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "ml"},
            "spec": budget,
        },
    ]


def _pod_spec() -> Manifest:
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": "4", "memory": "16Gi"}}}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    return {"containers": [container], "resourceClaims": claims}


def pod(name: str, owner: str, on: str, device: str) -> list[Manifest]:
    """A running pod with its claim and device."""
    controller = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{owner}-1", "uid": f"{owner}-1"}
    itself = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True}
    claim = f"{name}-gpu"
    here = [{"key": "metadata.name", "operator": "In", "values": [on]}]
    allocation = {
        "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": on, "device": device}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": here}]},
    }
    status = {
        "phase": "Running",
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}],
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}],
    }
    labels = {"app": owner, "pod-template-hash": "1"}
    metadata = {"name": name, "namespace": "ml", "uid": name, "labels": labels}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata | {"ownerReferences": [controller | {"controller": True}]},
            "spec": _pod_spec() | {"nodeName": on},
            "status": status,
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": claim, "namespace": "ml", "uid": claim, "ownerReferences": [itself]},
            "spec": {"devices": {"requests": [_request()]}},
            "status": {
                "allocation": allocation,
                "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
            },
        },
    ]


def _request() -> Manifest:
    return {"name": "r", "exactly": {"deviceClassName": DRIVER}}


def fleet(nodes: int, pods: int, seed: int = 1) -> Iterator[Manifest]:
    """The objects of the cluster."""
    draw = random.Random(seed)
    names = [f"node-{i:03}" for i in range(nodes)]
    yield {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {}}
    spec = {"spec": {"devices": {"requests": [_request()]}}}
    template = {"name": "gpu", "namespace": "ml"}
    yield {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": template,
        "spec": spec,
    }
    for name in names:
        yield from node(name, DEVICES, {"kubernetes.io/os": "linux"})
    places = draw.sample([(name, f"gpu-{i}") for name in names for i in range(DEVICES)], pods)
    for at in range(DEPLOYMENTS):
        owner = f"serve-{at}"
        own = places[at::DEPLOYMENTS]
        yield from workload(owner, len(own))
        for number, (on, device) in enumerate(own):
            yield from pod(f"{owner}-1-{number}", owner, on, device)


def main() -> None:
    """Prints a row for each number of nodes at once."""
    sizes = [int(each) for each in sys.argv[1:]] or [200, 1000]
    print("| nodes | pods | at once | waves | moves | time | memory |\n|---:|---:|---:|---:|---:|---:|---:|")
    for at_once in sizes[2:] or (1, 10):
        with tempfile.TemporaryDirectory() as folder:
            cluster, answer = Path(folder, "cluster.json"), Path(folder, "answer.json")
            items = list(fleet(*sizes[:2]))
            cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
            options = ("--at-once", str(at_once), "-o", "json")
            measured = cost("-m", "dra_plan", "maintain", str(cluster), *options, output=answer)
            waves = json.loads(answer.read_text(encoding="utf-8"))["waves"]
        moves = sum(len(wave["moved"]) for wave in waves)
        row = (*sizes[:2], at_once, len(waves), moves, f"{measured.seconds:.1f} s", f"{measured.megabytes:.0f} MB")
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
