"""Small clusters for the autoscaler: pods that kube-scheduler has rejected, and groups of nodes with devices."""

from __future__ import annotations

from typing import Any

from tests.build import Object, claim, device_class, node, owned, pod, request, slice_, template, workload

REFUSED = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def waiting(pods: int, *, each: int = 1, start: int = 0) -> list[Object]:
    """A class, and rejected pods of one ReplicaSet with generated claims for so many devices."""
    made = [device_class(), template("t", request(count=each)), workload("ReplicaSet")]
    for number in range(start, start + pods):
        made += waiting_pod(f"p{number}", each=each, owner=owned("ReplicaSet", "w"))
    return made


def waiting_pod(name: str, *, each: int = 1, owner: Object | None = None) -> list[Object]:
    """A rejected pod with its generated claim."""
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}], **REFUSED}
    own = claim(f"{name}-gpu", request(count=each), metadata=owned("Pod", name))
    return [pod(name, templates={"gpu": "t"}, metadata=owner, status=made), own]


def ready_node(name: str, **options: Any) -> Object:
    """A node that has said so."""
    made = node(name, **options)
    amounts = made["status"]["allocatable"]
    return {**made, "status": {"allocatable": amounts, "capacity": amounts, **READY}}


def of_template(name: str, *, each: int = 1, **options: Any) -> Object:
    """A template of a node with so many devices."""
    made = ready_node(name, **options)
    return {"node": made, "slices": [slice_(name, *(f"gpu-{i}" for i in range(each)))] if each else []}


def group(name: str = "pool", most: int = 10, *nodes: str, each: int = 1, **fields: Any) -> Object:
    """A group with a template."""
    return {
        "name": name,
        "max": most,
        "nodes": list(nodes),
        "template": of_template(f"{name}-new", each=each),
        **fields,
    }


def grouped(most: int, **options: Any) -> Object:
    """The file of groups with one of them."""
    return {"nodeGroups": [group("pool", most, **options)]}
