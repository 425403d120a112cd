"""What becomes of a pod that has to make room for another one."""

from __future__ import annotations

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodCondition

from .clock import format_time
from .events import Action
from .handle import Handle
from .nodeinfo import DEFAULT_SCHEDULER, PodInfo

REASON = "PreemptionByScheduler"
"""The reason of the condition DisruptionTarget of a pod that is preempted."""


def remove_victim(handle: Handle, victim: PodInfo, plugin: str) -> None:
    """The pod is gone, or going where something else ends it; at Permit it is rejected in the plugin's name instead."""
    waiting = handle.waiting.get(victim.uid)
    if waiting is not None:
        waiting.preempt(plugin, "preempted")
    elif handle.victims_linger:
        _mark(handle, victim.uid)
    else:
        handle.cluster.delete_pod(victim.pod)


def preemption_message(pod: Pod) -> str:
    """What the condition of a preempted pod says."""
    return f"{pod.spec.scheduler_name or DEFAULT_SCHEDULER}: preempting to accommodate a higher priority pod"


def is_victim(pod: Pod) -> bool:
    """Whether the pod was preempted and is on its way out."""
    return pod.metadata.deletion_timestamp is not None and any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == REASON
        for each in pod.status.conditions
    )


def _mark(handle: Handle, uid: str) -> None:
    """The pod is being deleted; it keeps its place until its kubelet has ended it."""
    pod = handle.cluster.pods.get(uid)
    if pod is None or is_victim(pod):
        return
    metadata = replace(pod.metadata, deletion_timestamp=format_time(handle.clock.now))
    condition = PodCondition(type="DisruptionTarget", status="True", reason=REASON, message=preemption_message(pod))
    status = replace(pod.status, conditions=[*pod.status.conditions, condition])
    handle.cluster.replace_pod(pod, replace(pod, metadata=metadata, status=status), Action.UPDATE_OTHER)
