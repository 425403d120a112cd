"""Kinds of objects that can reject, delay or terminate pods but are not simulated; only their names are listed.

Only API groups that the server reports are read. Only the namespace and name of each object are kept, and neither the
addresses of webhooks nor the content of policies. A descheduler has no objects to list.
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
    """Return an object that has only the namespace and name of this object."""
    metadata = value["metadata"]
    return {"metadata": {key: metadata[key] for key in ("namespace", "name") if key in metadata}}
