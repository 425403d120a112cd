"""Kinds that are not simulated although their objects can reject, delay or terminate pods.

A snapshot contains only the names and namespaces of such objects, not the addresses of webhooks or the content of
policies. Only API groups that the server reports are read. A descheduler is not found, because it has no objects.
"""

from __future__ import annotations

from typing import Any

from dra_plan.api.inventory import ADMISSION
from dra_plan.api.meta import Object
from dra_plan.manifests.kinds import Kind

_KUEUE = "kueue.x-k8s.io"


def _kind(group: str, name: str, *versions: str) -> Kind:
    return Kind(group, name, Object, dict.fromkeys(versions), "")


BESIDE = (
    _kind(ADMISSION, "ValidatingWebhookConfiguration", "v1"),
    _kind(ADMISSION, "MutatingWebhookConfiguration", "v1"),
    _kind(ADMISSION, "ValidatingAdmissionPolicy", "v1", "v1beta1"),
    _kind(ADMISSION, "ValidatingAdmissionPolicyBinding", "v1", "v1beta1"),
    _kind(_KUEUE, "ClusterQueue", "v1beta2", "v1beta1"),
    _kind(_KUEUE, "LocalQueue", "v1beta2", "v1beta1"),
)


def name_only(value: Any) -> Any:
    """Return the object reduced to its name and namespace."""
    metadata = value["metadata"]
    return {"metadata": {key: metadata[key] for key in ("namespace", "name") if key in metadata}}
