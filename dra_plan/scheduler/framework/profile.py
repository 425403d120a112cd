"""The scoring plugins of a profile, and the framework, which holds all of a profile's plugins.

The other extension points are in `framework/runtime.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count, repeat
from operator import eq, itemgetter
from typing import Any, TypeVar

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError, UsageError
from dra_plan.scheduler.cluster.memo import NodeAnswers
from dra_plan.scheduler.cluster.nodes import NodeInfo, PassedNodes
from dra_plan.scheduler.events import Event, Interest, wakes

from .interface import MAX_NODE_SCORE, MIN_NODE_SCORE, Handle, Plugin, QueueSortPlugin, ScorePlugin
from .node_filter import FilterAnswers, NodeFilter
from .runtime import BindPhase, FilterPhase, Guard, PluginPanicError, ProfilePlugins, add_up, is_level
from .status import CycleState, Status, error, failed, is_skip
from .trace import Tracer
from .types import QueuedPod

# -- PreScore and Score ------------------------------------------------------------------------------------------------
# The nodes that fit get weighted scores, with Kubernetes' error texts.

UNSCORED = -1
"""A placeholder for a sum of scores that is not known yet."""

_Value = TypeVar("_Value")


class ScorePhase(ProfilePlugins):
    """The runs of the plugins that rank nodes.

    `weights` are the weights of the profile, and `scores` are the cached scores. `scores_of_objects` are the scores of
    plugins that read only the Node object. `sums` are the weighted scores of several plugins together, or `UNSCORED`.
    """

    weights: Mapping[str, int]
    scores: NodeAnswers[int | None]
    scores_of_objects: NodeAnswers[int | None]
    sums: NodeAnswers[int]

    def run_pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Run the PreScore plugins, and return an Error if one fails. Plugins that return Skip do not score nodes."""
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
        """Return the weighted scores of each plugin in the order of the nodes, or an Error.

        There must be at least one node.
        """
        return self._table(self._scoring(state), state, pod, _Scored(nodes))

    def run_totals(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: dict[str, list[int]] | None = None
    ) -> list[int] | Status:
        """Return the sums of the weighted scores in the order of the nodes, or an Error.

        There must be at least one node. Scores that are the same for all nodes are left out of the sums. Plugins that
        cache their scores and do not normalize them share a cached sum for each node. If `scores` is passed, no sums
        are shared, and the weighted scores of each plugin are added to it.
        """
        row, plugins = _Scored(nodes), self._scoring(state)
        keys: dict[ScorePlugin, Hashable] = {}
        for plugin in plugins if scores is None else ():
            key = plugin.score_memo(state, pod) if type(plugin).normalize is ScorePlugin.normalize else None
            if key is not None:
                keys[plugin] = key
        sums = self._sums(keys, state, pod, row) if keys else None
        if sums is not None:
            plugins = [plugin for plugin in plugins if plugin not in keys]
        table = self._table(plugins, state, pod, row)
        if isinstance(table, Status):
            return table
        if scores is not None:
            scores.update(table)
        return add_up([*table.values(), *([] if sums is None else [sums])], len(nodes))

    def _scoring(self, state: CycleState) -> list[ScorePlugin]:
        return [plugin for plugin in self._at_score if plugin.name not in state.skip_score]

    def _sums(
        self, keys: Mapping[ScorePlugin, Hashable], state: CycleState, pod: Pod, row: _Scored
    ) -> Sequence[int] | None:
        """Return the sums of the plugins' weighted scores; None if one is not a valid score."""
        known = self.sums.of(tuple([(plugin.name, key) for plugin, key in keys.items()])).answers
        remembered = row.of(known)
        if UNSCORED not in remembered:
            return remembered
        sums = list(remembered)
        missing = [*places_of(sums, UNSCORED)]
        totals = [0] * len(missing)
        nodes = row.nodes_at(missing)
        with Guard("Score", pod) as guard:
            for plugin in guard.each(keys):
                weight = self.weights.get(plugin.name, 1)
                for at, score in enumerate(plugin.score_each(state, pod, nodes)):
                    if isinstance(score, Status) or not MIN_NODE_SCORE <= score <= MAX_NODE_SCORE:
                        return None
                    totals[at] += score * weight
        for index, total in zip(missing, totals, strict=True):
            sums[index] = known[row.where[index]] = total
        return sums

    def _table(
        self, plugins: Sequence[ScorePlugin], state: CycleState, pod: Pod, row: _Scored
    ) -> dict[str, list[int]] | Status:
        """Return the weighted scores of these plugins, or an Error."""
        table: dict[str, list[int]] = {}
        for plugin in plugins:
            raw = self._raw_scores(plugin, state, pod, row)
            if isinstance(raw, Status):
                return error(f'running Score plugins: plugin "{plugin.name}" failed with: {raw.message}').by(
                    plugin.name
                )
            table[plugin.name] = raw
        with Guard("NormalizeScore", pod) as guard:
            for plugin in guard.each(plugins):
                status = plugin.normalize(state, pod, row.nodes, table[plugin.name])
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

    def _raw_scores(self, plugin: ScorePlugin, state: CycleState, pod: Pod, row: _Scored) -> list[int] | Status:
        """Return the plugin's scores before normalizing."""
        nodes = row.nodes
        everywhere = plugin.score_everywhere(state, pod)
        if everywhere is not None:
            return [everywhere] * len(nodes)
        key = plugin.score_memo(state, pod)
        remembered = self.scores_of_objects if plugin.looks_at_object_alone else self.scores
        shape = None if key is None else remembered.of((plugin.name, key))
        if shape is not None and shape.common is not None:
            return [shape.common] * len(nodes)
        scores: list[Any] = [None] * len(nodes) if shape is None else list(row.of(shape.answers))
        with Guard("Score", pod, plugin):
            for index in places_of(scores, None) if None in scores else ():
                score = plugin.score(state, pod, nodes[index])
                if isinstance(score, Status):
                    return score
                scores[index] = score
                if shape is not None:
                    shape.answers[row.where[index]] = score
        if shape is not None and plugin.looks_at_object_alone:
            shape.find_common()
        return scores


class _Scored:
    """The nodes that are scored in one cycle, and their positions in lists with an entry for each node."""

    __slots__ = ("_read", "nodes", "where")

    def __init__(self, nodes: Sequence[NodeInfo]) -> None:
        self.nodes = nodes
        where = nodes.positions if isinstance(nodes, PassedNodes) else [node.position for node in nodes]
        self.where = where
        self._read: Callable[[Sequence[Any]], tuple[Any, ...]] | None = itemgetter(*where) if len(where) > 1 else None

    def nodes_at(self, indices: Iterable[int]) -> list[NodeInfo]:
        """Return the nodes at these indices."""
        nodes, where = self.nodes, self.where
        if isinstance(nodes, PassedNodes):
            return [nodes.all[where[index]] for index in indices]
        return [nodes[index] for index in indices]

    def of(self, known: Sequence[_Value]) -> tuple[_Value, ...]:
        """Return the entries for these nodes."""
        return (known[self.where[0]],) if self._read is None else self._read(known)


def places_of(scores: Sequence[object], missing: object) -> Iterator[int]:
    """Yield the positions of missing scores, of which there should be few.

    Scores may be added while the positions are being yielded.
    """
    return compress(count(), map(eq, scores, repeat(missing)))


# -- the framework of a profile ----------------------------------------------------------------------------------------


class Framework(FilterPhase, ScorePhase, BindPhase):
    """The plugins of a profile.

    `weights` are the weights of the Score plugins. `queue_sort` is the plugin that orders the active queue.
    """

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
        self.sums = NodeAnswers(handle.cluster, UNSCORED)
        self._statuses = FilterAnswers(handle.cluster)

    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """Return the QueueSort plugin's key for the pod."""
        with Guard("QueueSort", item.pod, self.queue_sort):
            return self.queue_sort.sort_key(item)

    def wants(self, plugin: Plugin, interests: Sequence[Interest], event: Event, pod: Pod) -> bool:
        """Return whether the plugin would retry the pod after the event."""
        try:  # does the same as `Guard`, which takes longer than most hints
            for interest in interests:
                if wakes(interest, event, pod):
                    return True
        except DraPlanError:
            raise
        except Exception as cause:
            raise PluginPanicError(plugin.name, "QueueingHint", pod.key, cause) from cause
        return False

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status | None:
        """Return the first rejection, with the name of its plugin. The plugin named `first` is called first."""
        with Guard("PreEnqueue", pod) as guard:
            plugins = sorted(self._at_pre_enqueue, key=lambda p: p.name != first) if first else self._at_pre_enqueue
            for plugin in guard.each(plugins):
                status = plugin.pre_enqueue(pod)
                if failed(status):
                    return status.by(plugin.name)
        return None

    def filter_nodes(self, state: CycleState, pod: Pod) -> NodeFilter:
        """Return the filters for one pod, which can be applied to many nodes."""
        return NodeFilter(self, state, pod, self._statuses)
