"""The scoring plugins of a profile, and the framework: all plugins of one profile in one object.

The framework has every run that the queue and the cycle need; the other extension points are in `framework/runtime.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress, count, repeat
from operator import is_, itemgetter
from typing import Any

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError, UsageError
from dra_plan.scheduler.cluster.memo import NodeAnswers
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.events import Event, Interest, wakes

from .interface import MAX_NODE_SCORE, MIN_NODE_SCORE, Handle, Plugin, QueueSortPlugin, ScorePlugin
from .node_filter import FilterAnswers, NodeFilter
from .runtime import BindPhase, FilterPhase, Guard, PluginPanicError, ProfilePlugins, is_level
from .status import CycleState, Status, error, failed, is_skip
from .trace import Tracer
from .types import QueuedPod

# -- PreScore and Score ------------------------------------------------------------------------------------------------
# Weighted scores of the nodes that fit, with Kubernetes' error texts.


class ScorePhase(ProfilePlugins):
    """The runs of the plugins that rank nodes.

    `weights` are the profile's, and `scores` are the remembered ones.

    `scores_of_objects` are the scores of plugins that read only the node's object.
    """

    weights: Mapping[str, int]
    scores: NodeAnswers[int | None]
    scores_of_objects: NodeAnswers[int | None]

    def run_pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Run the PreScore plugins; an Error if one fails. Plugins that answer Skip do not score."""
        skipped = set()
        with Guard("PreScore", pod) as guard:
            for plugin in guard.each(self._at_pre_score):
                status = plugin.pre_score(state, pod, nodes)
                if is_skip(status):
                    skipped.add(plugin.name)
                elif failed(status):
                    return error(f'running PreScore plugin "{plugin.name}": {status.message}').by(plugin.name)
        state.skip_score = frozenset(skipped)
        return None

    def run_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, list[int]] | Status:
        """Return the weighted scores of each plugin in the order of the nodes (at least one), or an Error."""
        plugins = [p for p in self._at_score if p.name not in state.skip_score]
        table: dict[str, list[int]] = {}
        where = [node.position for node in nodes]
        read = itemgetter(*where) if len(where) > 1 else lambda known: (known[where[0]],)
        for plugin in plugins:
            raw = self._raw_scores(plugin, state, pod, nodes, where, read)
            if isinstance(raw, Status):
                return error(f'running Score plugins: plugin "{plugin.name}" failed with: {raw.message}').by(
                    plugin.name
                )
            table[plugin.name] = raw
        with Guard("NormalizeScore", pod) as guard:
            for plugin in guard.each(plugins):
                status = plugin.normalize(state, pod, nodes, table[plugin.name])
                if failed(status):
                    text = f'running Normalize on Score plugins: plugin "{plugin.name}" failed with: {status.message}'
                    return error(text).by(plugin.name)
        for name, scores in table.items():
            level = is_level(scores)
            lowest, highest = (scores[0], scores[0]) if level else (min(scores), max(scores))
            if lowest < MIN_NODE_SCORE or highest > MAX_NODE_SCORE:
                wrong = next(s for s in scores if not MIN_NODE_SCORE <= s <= MAX_NODE_SCORE)
                limits = f"it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
                text = f'plugin "{name}" returns an invalid score {wrong}, {limits}'
                return error(f"applying score defaultWeights on Score plugins: {text}").by(name)
            weight = self.weights.get(name, 1)
            if weight != 1:
                table[name] = [lowest * weight] * len(scores) if level else [score * weight for score in scores]
        return table

    def _raw_scores(
        self,
        plugin: ScorePlugin,
        state: CycleState,
        pod: Pod,
        nodes: Sequence[NodeInfo],
        where: Sequence[int],
        read: Callable[[list[int | None]], tuple[int | None, ...]],
    ) -> list[int] | Status:
        """Return the plugin's scores before normalizing.

        `where` are the positions of the nodes in a list, which `read` selects.
        """
        key = plugin.score_memo(state, pod)
        remembered = self.scores_of_objects if plugin.looks_at_object_alone else self.scores
        known = None if key is None else remembered.of((plugin.name, key)).answers
        scores: list[Any] = [None] * len(nodes) if known is None else list(read(known))
        with Guard("Score", pod, plugin):
            for index in places_of_none(scores) if None in scores else ():
                score = plugin.score(state, pod, nodes[index])
                if isinstance(score, Status):
                    return score
                scores[index] = score
                if known is not None:
                    known[where[index]] = score
        return scores


def places_of_none(scores: Sequence[object]) -> Iterator[int]:
    """Return the positions of missing scores one by one, because they may be filled in meanwhile.

    Few scores are missing.
    """
    return compress(count(), map(is_, scores, repeat(None)))


# -- the framework of a profile ----------------------------------------------------------------------------------------


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
        """Return the queue sort plugin's key for a pod."""
        with Guard("QueueSort", item.pod, self.queue_sort):
            return self.queue_sort.sort_key(item)

    def wants(self, plugin: Plugin, interests: Sequence[Interest], event: Event, pod: Pod) -> bool:
        """Return whether the plugin considers the event a reason to retry the pod."""
        try:  # like `Guard`, which costs more than most hints
            for interest in interests:
                if wakes(interest, event, pod):
                    return True
        except DraPlanError:
            raise
        except Exception as cause:
            raise PluginPanicError(plugin.name, "QueueingHint", pod.key, cause) from cause
        return False

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status | None:
        """Return the first rejection, with its plugin; `first` names the plugin to call before the others."""
        with Guard("PreEnqueue", pod) as guard:
            for plugin in guard.each(sorted(self._at_pre_enqueue, key=lambda p: p.name != first)):
                status = plugin.pre_enqueue(pod)
                if failed(status):
                    return status.by(plugin.name)
        return None

    def filter_nodes(self, state: CycleState, pod: Pod) -> NodeFilter:
        """Return the filters, ready to be applied to many nodes for one pod."""
        return NodeFilter(self, state, pod, self._statuses)
