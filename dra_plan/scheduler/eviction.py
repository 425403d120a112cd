"""What becomes of a pod that has to make room for another one."""

from __future__ import annotations

from .handle import Handle
from .nodeinfo import PodInfo


def remove_victim(handle: Handle, victim: PodInfo, plugin: str) -> None:
    """The pod is gone; one that waits at Permit is rejected there in the plugin's name instead."""
    waiting = handle.waiting.get(victim.uid)
    if waiting is not None:
        waiting.preempt(plugin, "preempted")
    else:
        handle.cluster.delete_pod(victim.pod)
