"""How objects are told apart inside the simulation."""

from __future__ import annotations

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim

ClaimKey = tuple[str, str]
"""(namespace, name) of a claim."""


GroupKey = tuple[str, str]
"""(namespace, name) of a pod group."""


def group_key(pod: Pod) -> GroupKey | None:
    """The group that the pod is scheduled with; None for a lone pod."""
    group = pod.spec.scheduling_group
    return (pod.metadata.namespace, group.pod_group_name) if group is not None else None


def claim_key(claim: ResourceClaim) -> ClaimKey:
    """The claim's namespace and name."""
    return claim.metadata.namespace, claim.metadata.name


def pod_uid(pod: Pod) -> str:
    """What identifies a pod: its uid, or its key if the manifest gives none."""
    return pod.metadata.uid or pod.key
