"""A profile's plugins at work: one object with every run that the queue and the cycle ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.errors import UsageError
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Event, Interest, wakes
from dra_plan.scheduler.framework import Plugin, QueueSortPlugin
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.memo import NodeAnswers
from dra_plan.scheduler.queuedpod import QueuedPod
from dra_plan.scheduler.status import Status, failed
from dra_plan.scheduler.trace import Tracer

from .binding import BindPhase
from .filtering import FilterPhase
from .nodefilter import FilterAnswers, NodeFilter
from .plugins import Guard
from .scoring import ScorePhase


class Framework(FilterPhase, ScorePhase, BindPhase):
    """The plugins of one profile. `weights` are those of the score plugins, `queue_sort` orders the active queue."""

    def __init__(
        self,
        profile: str,
        plugins: Mapping[str, Sequence[Plugin]],
        weights: Mapping[str, int],
        handle: Handle,
        tracer: Tracer | None = None,
    ) -> None:
        super().__init__(profile, plugins, handle, tracer)
        self.weights = dict(weights)
        sorters = [plugin for plugin in self.points["queueSort"] if isinstance(plugin, QueueSortPlugin)]
        if len(sorters) != 1:
            raise UsageError(f"profile {profile}: exactly one queueSort plugin is needed")
        self.queue_sort = sorters[0]
        self.scores = NodeAnswers(handle.cluster, None)
        self.scores_of_objects = NodeAnswers(handle.cluster, None, of_objects=True)
        self._statuses = FilterAnswers(handle.cluster)

    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """The queue sort plugin's key for a pod."""
        with Guard(self.queue_sort, "QueueSort", item.pod):
            return self.queue_sort.sort_key(item)

    def wants(self, plugin: Plugin, interests: Sequence[Interest], event: Event, pod: Pod) -> bool:
        """Whether the event is, in the plugin's eyes, a reason to try the pod again."""
        with Guard(plugin, "QueueingHint", pod):
            return any(wakes(interest, event, pod) for interest in interests)

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status | None:
        """The first refusal, with its plugin; `first` names the plugin to ask before the others."""
        for plugin in sorted(self._at_pre_enqueue, key=lambda p: p.name != first):
            with Guard(plugin, "PreEnqueue", pod):
                status = plugin.pre_enqueue(pod)
            if failed(status):
                return status.by(plugin.name)
        return None

    def filter_nodes(self, state: CycleState, pod: Pod) -> NodeFilter:
        """The filters, ready to be asked about many nodes for one pod."""
        return NodeFilter(self, state, pod, self._statuses)
