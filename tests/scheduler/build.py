"""Small clusters, written short."""

from __future__ import annotations

from typing import Any

from dra_plan import schedule
from dra_plan.manifests.decode import from_dicts
from dra_plan.releases import target
from dra_plan.scheduler.simulation import Simulation

GPU = "gpu.example.com"


def node(
    name: str, *, labels: dict[str, str] | None = None, spec: dict[str, Any] | None = None, **amounts: str
) -> dict:
    allocatable = {"cpu": "8", "memory": "16Gi", "pods": "110", **{k.replace("_", "-"): v for k, v in amounts.items()}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec or {},
        "status": {"allocatable": allocatable},
    }


def pod(
    name: str,
    *,
    cpu: str = "1",
    memory: str = "1Gi",
    labels: dict[str, str] | None = None,
    namespace: str = "default",
    claims: dict[str, str] | None = None,
    templates: dict[str, str] | None = None,
    requests: dict[str, str] | None = None,
    status: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> dict:
    entries = [{"name": entry, "resourceClaimName": claim} for entry, claim in (claims or {}).items()]
    entries += [{"name": entry, "resourceClaimTemplateName": t} for entry, t in (templates or {}).items()]
    container = {
        "name": "c",
        "image": "app",
        "resources": {"requests": {"cpu": cpu, "memory": memory, **(requests or {})}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"u-{name}",
            "labels": labels or {},
            **(metadata or {}),
        },
        "spec": {"containers": [container], **({"resourceClaims": entries} if entries else {}), **spec},
        **({"status": status} if status else {}),
    }


def placed(name: str, where: str, **options: Any) -> dict:
    phase = options.pop("phase", "Running")
    return pod(name, nodeName=where, status={"phase": phase, "startTime": "2026-01-01T00:00:00Z"}, **options)


def device_class(name: str = GPU, **spec: Any) -> dict:
    expression = f'device.driver == "{name}"'
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


def slices(where: str, *devices: str, driver: str = GPU, **extra: Any) -> dict:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{where}-{driver}"},
        "spec": {
            "driver": driver,
            "nodeName": where,
            "pool": {"name": where, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": device, **extra} for device in devices],
        },
    }


def request(name: str = "r", *, count: int = 1, of: str = GPU, **extra: Any) -> dict:
    return {"name": name, "exactly": {"deviceClassName": of, "count": count, **extra}}


def claim(name: str, *requests: dict, namespace: str = "default", **extra: Any) -> dict:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"u-{name}"},
        "spec": {"devices": {"requests": list(requests) or [request()]}},
        **extra,
    }


def template(name: str, *requests: dict) -> dict:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": list(requests) or [request()]}}},
    }


def allocation(where: str, device: str, *, on: str | None = None, **extra: Any) -> dict:
    named = {"key": "metadata.name", "operator": "In", "values": [on or where]}
    return {
        "devices": {"results": [{"request": "r", "driver": GPU, "pool": where, "device": device, **extra}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [named]}]},
    }


def gpus(*nodes: str, each: int = 2) -> list[dict]:
    """Nodes with that many devices each, and their class."""
    made = [device_class()]
    for name in nodes:
        made += [node(name), slices(name, *(f"gpu-{index}" for index in range(each)))]
    return made


def plan(objects: list[dict], **options: Any) -> dict[str, Any]:
    return schedule(objects, **options).to_dict()


def outcome(document: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [entry for entry in document["pods"] if entry["name"] == name]
    return found


def where(document: dict[str, Any]) -> dict[str, str | None]:
    return {entry["name"]: entry["nodeName"] for entry in document["pods"]}


def message(document: dict[str, Any], name: str) -> str:
    found = outcome(document, name)["message"]
    assert found is not None
    return found


def claim_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [entry for entry in document["claims"] if entry["name"] == name]
    return found


def users(document: dict[str, Any], name: str) -> list[str]:
    return [user["name"] for user in claim_of(document, name)["reservedFor"]]


def devices(document: dict[str, Any], name: str) -> list[str]:
    given = claim_of(document, name)["allocation"]
    return [f"{r['pool']}/{r['device']}" for r in given["devices"]["results"]] if given else []


def codes(document: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in document["warnings"]}


def simulation(objects: list[dict], *, quirks: str = "upstream", gates: dict[str, bool] | None = None, **options: Any):
    return Simulation(from_dicts(objects), target=target("1.36", gates, quirks), **options)
