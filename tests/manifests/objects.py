"""Short ways to write the objects that tests of loading and claim sets need.

They are apart from `tests.build`, for decoding is tested with what is missing and with nulls: nothing is filled in
here, and None is written down.
"""

from __future__ import annotations

from typing import Any

Plain = dict[str, Any]


def dra(kind: str, name: str, version: str = "v1", *, namespace: str = "", **fields: Any) -> Plain:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": metadata, **fields}


def claim(name: str, *requests: Plain, version: str = "v1", **fields: Any) -> Plain:
    return dra("ResourceClaim", name, version, spec={"devices": {"requests": list(requests)}}, **fields)


def template(name: str, *requests: Plain, version: str = "v1", **fields: Any) -> Plain:
    spec = {"spec": {"devices": {"requests": list(requests)}}, **fields.pop("spec", {})}
    return dra("ResourceClaimTemplate", name, version, spec=spec, **fields)


def pod(name: str, *claims: Plain, metadata: Plain | None = None, status: Plain | None = None, **spec: Any) -> Plain:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": [{"name": "main"}], "resourceClaims": list(claims), **spec},
        **({"status": status} if status else {}),
    }


def workload(kind: str, name: str, *claims: Plain, metadata: Plain | None = None, **pod_spec: Any) -> Plain:
    spec = {"containers": [{"name": "main"}], "resourceClaims": list(claims), **pod_spec}
    body: Plain = {"template": {"metadata": {"labels": {"app": name}}, "spec": spec}}
    if kind == "CronJob":
        body = {"jobTemplate": {"spec": body}}
    group = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, **(metadata or {})}, "spec": body}
