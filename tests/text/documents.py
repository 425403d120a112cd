"""Documents made by hand, for tests of formats."""

from typing import Any

import msgspec

from dra_plan.api.inventory import Notice
from dra_plan.questions import schema as schemas

TARGET = {
    "kubernetesVersion": "1.36",
    "release": "1.36.2",
    "variant": "incubating",
    "featureGates": {"DRAAdminAccess": True, "DRAListTypeAttributes": False},
    "quirks": "upstream",
}


def typed(document: dict[str, Any]) -> Any:
    """The struct of a document, as formats take it."""
    return msgspec.convert(document, schemas.document_type(document["kind"]))


def result(request: str, device: str, **more: Any) -> dict[str, Any]:
    driver, pool, name = device.split("/")
    return {"request": request, "driver": driver, "pool": pool, "device": name, **more}


def claim(name: str, *results: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "allocation": {"devices": {"results": list(results)}}}


def node(
    name: str, *claims: dict[str, Any], outcome: str = "Fits", message: str = "", steps: int = 1
) -> dict[str, Any]:
    return {
        "name": name,
        "outcome": outcome,
        "message": message,
        "claims": list(claims),
        "reasons": [],
        "steps": steps,
    }


def refused(name: str, outcome: str = "DoesNotFit", message: str = "cannot allocate all claims") -> dict[str, Any]:
    return node(name, outcome=outcome, message=message, steps=7)


def claim_set(owner: str | None, outcome: str, *nodes: dict[str, Any], claims: tuple[str, ...] = ()) -> dict[str, Any]:
    names = claims or tuple(entry["name"] for entry in nodes[0]["claims"]) if nodes else claims
    made: dict[str, Any] = {"owner": None, "claims": [{"namespace": "default", "name": name} for name in names]}
    if owner:
        kind, namespace, name = owner.split("/")
        made["owner"] = {"kind": kind, "namespace": namespace, "name": name}
    fitting = [entry["name"] for entry in nodes if entry["outcome"] == "Fits"]
    return {**made, "outcome": outcome, "fittingNodes": fitting, "nodes": list(nodes)}


def plan(*claim_sets: dict[str, Any], warnings: tuple[dict[str, str], ...] = ()) -> dict[str, Any]:
    return {
        "apiVersion": "dra-plan/v1alpha1",
        "kind": "AllocationPlan",
        "target": TARGET,
        "claimSets": list(claim_sets),
        "warnings": list(warnings),
    }


def warning(code: str, message: str, about: str = "", source: str = "") -> dict[str, str]:
    return msgspec.to_builtins(Notice(code, message, about, source))


def small() -> dict[str, Any]:
    """Two sets on three nodes, one of which fits nowhere, with shares, admin access and a long message."""
    gpus = claim("train-gpus", *(result("gpus", f"gpu.example.com/node-a/gpu-{index}") for index in range(2)))
    nic = claim("train-nic", result("nic", "nic.example.com/node-a/eth0", consumedCapacity={"bandwidth": "10G"}))
    admin = claim(
        "watch", result("all/any", "gpu.example.com/fabric/blue/x".replace("/blue/x", "/gpu-9"), adminAccess=True)
    )
    long = (
        "class gpu.example.com: selector #0: CEL runtime error: no such key: memory; "
        "the expression reads an attribute that the device does not have"
    )
    return plan(
        claim_set("Pod/default/train", "Fits", node("node-a", gpus, nic), node("node-b", gpus, nic), refused("node-c")),
        claim_set(
            "Deployment/default/serve",
            "Error",
            refused("node-a", "Error", long),
            refused("node-b"),
            refused("node-c", "NodeError", "invalid resource pools were encountered"),
            claims=("serve-gpu",),
        ),
        claim_set(None, "Fits", node("node-b", admin)),
        warnings=(
            warning(
                "missing-template",
                "ResourceClaimTemplate default/t is not in the input",
                "Pod default/train",
                "a.yaml:3",
            ),
            warning("gate-locked", "DRAAdminAccess is locked"),
        ),
    )


def large(nodes: int = 5000) -> dict[str, Any]:
    """One set on many nodes: most reject for one reason, some for another."""
    entries = []
    for index in range(nodes):
        name = f"pool-{index % 7}-node-{index:04d}"
        if index % 3:
            entries.append(refused(name) if index % 5 else refused(name, "Undecided", "step budget of 1000 used up"))
        else:
            entries.append(node(name, claim("train-gpu", result("gpu", f"gpu.example.com/{name}/gpu-0"))))
    return plan(claim_set("Job/ml-platform/train", "Fits", *entries))


def pool(driver: str, name: str, **more: Any) -> dict[str, Any]:
    return {
        "driver": driver,
        "poolName": name,
        "generation": 1,
        "resourceSliceCount": 1,
        "observedResourceSliceCount": 1,
        "state": "Complete",
        "nodes": [name],
        "totalDevices": 2,
        "allocatedDevices": 1,
        "availableDevices": 0,
        "unavailableDevices": 1,
        "taintedDevices": 1,
        "counterSets": [],
        "devices": [
            {"name": "gpu-0", "state": "Allocated"},
            {
                "name": "gpu-1",
                "state": "Unavailable",
                "reason": "tainted",
                "taints": [{"key": "sick", "value": "yes", "effect": "NoExecute"}],
            },
        ],
        **more,
    }


def pool_list() -> dict[str, Any]:
    """A pool of one node, an invalid one with counters, and one with a shared device."""
    counters = [
        {"name": "gpu-0", "total": {"memory": "40Gi", "slices": "7"}, "left": {"memory": "20Gi", "slices": "3"}}
    ]
    shared = {"name": "eth0", "state": "Shared", "capacity": {"bandwidth": "40G", "functions": "3"}}
    return {
        "apiVersion": "dra-plan/v1alpha1",
        "kind": "PoolList",
        "target": TARGET,
        "pools": [
            pool("gpu.example.com", "node-a"),
            pool(
                "gpu.example.com", "node-b", state="Invalid", validationError="duplicate device name gpu-0", devices=[]
            ),
            pool("gpu.example.com", "node-c", counterSets=counters, observedResourceSliceCount=2, resourceSliceCount=2),
            pool("nic.example.com", "fabric/blue", nodes=["node-a", "node-b"], devices=[shared], totalDevices=1),
        ],
        "warnings": [],
    }
