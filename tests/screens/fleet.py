"""A cluster with the names of managed ones: GKE's and EKS's nodes, devices named by UUID, pods with 8 GPUs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.build import (
    Object,
    allocated,
    deployment,
    device,
    device_class,
    disruption_budget,
    manifest,
    node,
    owned,
    pod,
    request,
    running,
    slice_,
    taint,
    taint_rule,
    template,
)

NVIDIA = "gpu.nvidia.com"
A100 = "NVIDIA A100-SXM4-80GB"
NIC = "dra.networking.k8s.aws"
GKE = ["gke-prod-a100-pool-1a2b3c4d-x9yz", "gke-prod-a100-pool-1a2b3c4d-k2pq", "gke-prod-a100-pool-1a2b3c4d-7t8v"]
EKS = ["ip-10-0-12-34.eu-west-1.compute.internal", "ip-10-0-140-217.eu-west-1.compute.internal"]
UUIDS = [f"5b2c{n}f1a-9d3e-4c7b-8a6f-0e1d2c3b4a{n}{n}" for n in range(8)]
POOL = {"cloud.google.com/gke-nodepool": "a100-pool"}
GROUP = {"eks.amazonaws.com/nodegroup": "p4d-training"}


def a100(name: str, number: int) -> Object:
    return device(
        name,
        productName=A100,
        uuid=f"GPU-{UUIDS[number]}",
        pcieRoot=f"pci0000:{number:02x}",
        capacity={"memory": "80Gi"},
    )


def mig(number: int) -> Object:
    return device(
        f"mig-{UUIDS[number]}",
        productName="NVIDIA A100-SXM4-40GB",
        profile="1g.10gb",
        uuid=f"MIG-{UUIDS[number]}",
        capacity={"memory": "9984Mi"},
    )


def machine(name: str, labels: dict[str, str]) -> Object:
    return node(name, labels=labels, cpu="96", memory="1360Gi")


def nodes() -> list[Object]:
    made: list[Object] = []
    for name in GKE:
        made += [machine(name, POOL), slice_(name, *(a100(f"gpu-{n}", n) for n in range(8)), driver=NVIDIA)]
    devices = [a100(f"gpu-{UUIDS[n]}", n) for n in range(2)]
    devices[1]["taints"] = [taint("nvidia.com/xid", "79", "NoExecute")]
    made += [machine(EKS[0], GROUP), slice_(EKS[0], *devices, driver=NVIDIA)]
    made += [machine(EKS[1], GROUP), slice_(EKS[1], *(mig(n) for n in range(4)), driver=NVIDIA)]
    made.append(slice_(EKS[1], "efa-0", "efa-1", driver=NIC))
    return made


def holder(name: str, where: str, *devices: str, app: str = "inference-gateway") -> list[Object]:
    """A running pod of a ReplicaSet, with its claim."""
    claim = f"{name}-gpu-x7k2p"
    metadata = {"uid": f"u-{name}", "labels": {"app": app}, **owned("ReplicaSet", f"{app}-6d5f8c7b9")}
    made = running(name, where, claim, templates={"gpu": "one-gpu"}, metadata=metadata)
    given = allocated(claim, *(f"{where}/{each}" for each in devices), pod=name, on=where, asked="gpu", driver=NVIDIA)
    given["metadata"] |= {
        "generateName": f"{name}-gpu-",
        "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
        **owned("Pod", name),
    }
    return [made, given]


def replica_set() -> Object:
    labels = {"app": "inference-gateway"}
    shape = pod(templates={"gpu": "one-gpu"}, labels=labels)
    body = {"metadata": {"labels": labels}, "spec": shape["spec"]}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": body}
    metadata = {"uid": "u-inference-gateway-6d5f8c7b9"}
    return manifest("ReplicaSet", "inference-gateway-6d5f8c7b9", namespace="default", metadata=metadata, spec=spec)


def objects() -> list[Object]:
    """The cluster as it is."""
    made = _objects()
    for each in made:
        spec = each.get("spec", {})
        spec = spec.get("template", {}).get("spec", spec)
        for container in spec.get("containers", []):
            claims = [{"name": entry["name"]} for entry in spec.get("resourceClaims", [])]
            container.setdefault("resources", {})["claims"] = claims
    return made


def _objects() -> list[Object]:
    mig_class = (f'device.driver == "{NVIDIA}" && device.attributes["{NVIDIA}"].profile == "1g.10gb"',)
    return [
        *nodes(),
        device_class(NVIDIA),
        device_class("mig-1g-10gb.nvidia.com", *mig_class),
        device_class("efa.networking.k8s.aws", driver=NIC),
        template("one-gpu", request("gpu", of=NVIDIA)),
        template("eight-gpus", request("gpus", of=NVIDIA, count=8)),
        template(
            "slice-and-nic", request("mig", of="mig-1g-10gb.nvidia.com"), request("nic", of="efa.networking.k8s.aws")
        ),
        template("h100", request("gpu", f'device.attributes["{NVIDIA}"].productName == "NVIDIA H100"', of=NVIDIA)),
        replica_set(),
        *holder("inference-gateway-6d5f8c7b9-2xk4m", GKE[2], "gpu-0"),
        *holder("inference-gateway-6d5f8c7b9-q8w7z", GKE[2], "gpu-1"),
        *holder("inference-gateway-6d5f8c7b9-v5n3t", EKS[0], f"gpu-{UUIDS[0]}"),
        disruption_budget("inference-gateway", 1, app="inference-gateway"),
        *(pod(f"llama-pretraining-run-42-worker-{n}", templates={"gpus": "eight-gpus"}) for n in range(3)),
        pod("feature-store-embedder-0", templates={"both": "slice-and-nic"}),
        pod("needs-h100", templates={"gpu": "h100"}),
        deployment("batch-image-captioning", pod(templates={"gpu": "one-gpu"}), 4),
    ]


NEVER = {"llama-pretraining-run-42-worker-2", "feature-store-embedder-0", "needs-h100"}
RULE = [taint_rule("xid-79", taint("nvidia.com/xid", "79", "NoExecute"), driver=NVIDIA, pool=GKE[2], device="gpu-0")]
GROUPS = {
    "nodeGroups": [
        {"name": "gke-prod-a100-pool-1a2b3c4d-grp", "min": 0, "max": 6, "current": 3, "nodes": GKE},
        {"name": "eks-p4d-training-node-group-b7c8d9e0", "min": 0, "max": 2, "current": 2, "nodes": EKS},
    ],
    "options": {"utilizationThreshold": 0.5},
}


def _text(items: list[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)


def write(folder: Path) -> None:
    """The files that the commands are given."""
    (folder / "cluster.json").write_text(_text(objects()))
    fits = [each for each in objects() if each["metadata"]["name"] not in NEVER]
    (folder / "possible.json").write_text(_text(fits))
    (folder / "rule.json").write_text(_text(RULE))
    event = {"time": 5, "create": pod("late-arrival-worker-0", templates={"gpu": "one-gpu"}), "runs": 60}
    (folder / "events.jsonl").write_text(json.dumps(event) + "\n")
    (folder / "groups.json").write_text(json.dumps(GROUPS))
