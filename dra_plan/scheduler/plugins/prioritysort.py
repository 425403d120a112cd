"""PrioritySort: higher priority first, then whoever has waited longer."""

from __future__ import annotations

from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.framework import QueueSortPlugin
from dra_plan.scheduler.queuedpod import QueuedPod


class PrioritySort(QueueSortPlugin):
    """Orders the active queue; the queue itself breaks ties by time."""

    name = pluginnames.PRIORITY_SORT

    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """Descending priority."""
        return (-item.info.priority,)
