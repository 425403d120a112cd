"""What the state of a pod means for planning: it has finished, waits for a node, or counts as one of its workload's."""

from __future__ import annotations

from dra_plan.api.core import Pod

_ENDED = ("Succeeded", "Failed")
_REPLACED_AT_ONCE = ("Deployment", "ReplicaSet", "ReplicationController")
"""Controllers that make a new pod as soon as one is being deleted; the others wait until it is gone."""


def ended(pod: Pod) -> bool:
    """Whether the pod has finished. A real API server does not show such pods to the scheduler."""
    return pod.status.phase in _ENDED


def is_waiting(pod: Pod) -> bool:
    """Whether the scheduler has yet to find a node for the pod."""
    return not (pod.spec.node_name or pod.metadata.deletion_timestamp or ended(pod))


def counts_for(pod: Pod, kind: str) -> bool:
    """Whether a controller of this kind counts the pod as one of those that it wants."""
    return not ended(pod) and not (kind in _REPLACED_AT_ONCE and pod.metadata.deletion_timestamp)


def is_ready(pod: Pod) -> bool:
    """Whether the pod serves: it has a node, its containers run, and no Ready condition says otherwise."""
    if not pod.spec.node_name or pod.metadata.deletion_timestamp is not None or pod.status.phase not in ("Running", ""):
        return False
    return all(each.status != "False" for each in pod.status.conditions if each.type == "Ready")
