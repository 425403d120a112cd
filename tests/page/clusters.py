"""Clusters that no fixture has: pods of a controller that run on devices."""

from collections.abc import Sequence

from dra_plan import Cluster
from tests.build import (
    GPU,
    Object,
    claim,
    device,
    device_class,
    node,
    owned,
    request,
    reserved,
    running,
    slice_,
    template,
)


def _pool(name: str, model: str, count: int) -> Object:
    return slice_(name, *(device(f"gpu-{at}", productName=model) for at in range(count)), name=name)


def _running(name: str, wanted: str, where: str, devices: list[str]) -> list[Object]:
    """A pod of a ReplicaSet on a node, and the claim that was made for it."""
    made, (class_, _, count) = f"{name}-gpu-abcde", wanted.partition("-")
    annotations = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    results = [{"request": "gpu", "driver": GPU, "pool": where, "device": each} for each in devices]
    return [
        running(
            name,
            where,
            made,
            cpu=None,
            memory=None,
            templates={"gpu": wanted},
            namespace="ml",
            metadata=owned("ReplicaSet", "rs"),
        ),
        claim(
            made,
            request("gpu", of=class_, count=int(count)),
            namespace="ml",
            metadata={"annotations": annotations, **owned("Pod", name)},
            status={"reservedFor": reserved(name), "allocation": {"devices": {"results": results}}},
        ),
    ]


def busy_cluster(more: Sequence[Object] = ()) -> Cluster:
    """Nodes with four H100 or two L40S. Without gpu-a a pod has no place, and another one moves."""
    wanted = [("h100", 2), ("h100", 1), ("any", 1)]
    return Cluster.of(
        [
            *(node(name, pods="9") for name in ("gpu-a", "gpu-b", "gpu-c")),
            _pool("gpu-a", "H100", 4),
            _pool("gpu-b", "H100", 4),
            _pool("gpu-c", "L40S", 2),
            device_class("h100", f"device.attributes['{GPU}'].productName == 'H100'"),
            device_class("any", selectors=None),
            *(template(f"{of}-{n}", request("gpu", of=of, count=n), namespace="ml") for of, n in wanted),
            *_running("train-0", "h100-2", "gpu-a", ["gpu-0", "gpu-1"]),
            *_running("train-1", "h100-2", "gpu-a", ["gpu-2", "gpu-3"]),
            *_running("serve-0", "h100-1", "gpu-b", ["gpu-0"]),
            *_running("batch-0", "any-1", "gpu-b", ["gpu-2"]),
            *_running("notebook", "any-1", "gpu-c", ["gpu-0"]),
            *more,
        ]
    )
