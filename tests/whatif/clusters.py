"""A cluster in mid-life: pods with controllers, bare ones, a daemon, claims of their own and shared ones."""

from __future__ import annotations

from typing import Any

from tests.scheduler.build import GPU, allocation, claim, device_class, gpus, node, placed, pod, slices, template


def owned(kind: str, name: str) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"u-{name}", "controller": True}
    return {"ownerReferences": [reference]}


def generated(pod_name: str, entry: str, where: str, device: str) -> dict[str, Any]:
    """The claim that was made for a running pod."""
    made = claim(f"{pod_name}-{entry}-x7k2p")
    reference = {"apiVersion": "v1", "kind": "Pod", "name": pod_name, "uid": f"u-{pod_name}", "controller": True}
    made["metadata"] |= {
        "generateName": f"{pod_name}-{entry}-",
        "annotations": {"resource.kubernetes.io/pod-claim-name": entry},
        "ownerReferences": [reference],
    }
    made["status"] = used(where, device, pod_name)
    return made


def used(where: str, device: str, *pods: str) -> dict[str, Any]:
    users = [{"resource": "pods", "name": name, "uid": f"u-{name}"} for name in pods]
    return {"allocation": allocation(where, device), "reservedFor": users}


def running(name: str, where: str, entry_claim: str | None = None, **options: Any) -> dict[str, Any]:
    made = placed(name, where, **options)
    if entry_claim:
        made["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": entry_claim}]
    return made


def mid_life() -> list[dict[str, Any]]:
    """Node a is full, b has one device free, c has no pods at all."""
    return [
        *gpus("a", "b", "c"),
        template("one"),
        running("served", "a", "served-gpu-x7k2p", templates={"gpu": "one"}, metadata=owned("ReplicaSet", "serve")),
        generated("served", "gpu", "a", "gpu-0"),
        running("notebook", "a", claims={"gpu": "own"}),
        claim("own", status=used("a", "gpu-1", "notebook")),
        running("agent", "a", metadata=owned("DaemonSet", "agents")),
        running("reader", "b", claims={"gpu": "both"}, metadata=owned("ReplicaSet", "readers")),
        running("writer", "b", claims={"gpu": "both"}),
        claim("both", status=used("b", "gpu-0", "reader", "writer")),
    ]


__all__ = ["GPU", "device_class", "generated", "mid_life", "node", "owned", "pod", "running", "slices", "used"]
