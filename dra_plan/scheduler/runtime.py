"""A profile's plugins at work: runs each extension point over its plugins, in order, with Kubernetes' error texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError, UsageError

from .cyclestate import CycleState
from .events import Event, Interest, wakes
from .framework import (
    MAX_NODE_SCORE,
    MAX_PERMIT_SECONDS,
    MIN_NODE_SCORE,
    POINTS,
    BindPlugin,
    FilterPlugin,
    NominatingInfo,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from .handle import Handle, TrialFilter
from .memo import Lanes
from .nodefilter import UNKNOWN, NodeFilter
from .nodeinfo import NodeInfo, PodInfo
from .status import Code, Status, error, is_skip, succeeded, unresolvable
from .trace import Tracer
from .waiting import WaitingPod

if TYPE_CHECKING:
    from .queue import QueuedPod


class PluginPanicError(DraPlanError):
    """A plugin raised. Upstream a panic ends the scheduler, so nothing is unreserved; here it ends the simulation."""

    def __init__(self, plugin: str, point: str, pod: str, cause: BaseException) -> None:
        super().__init__(f"plugin {plugin} raised at {point} for pod {pod}: {type(cause).__name__}: {cause}")
        self.plugin = plugin
        self.point = point


@contextmanager
def _guard(plugin: Plugin, point: str, pod: Pod) -> Iterator[None]:
    try:
        yield
    except DraPlanError:
        raise
    except Exception as cause:
        raise PluginPanicError(plugin.name, point, pod.key, cause) from cause


class Framework(TrialFilter):
    """The plugins of one profile. `weights` are those of the score plugins, `queue_sort` orders the active queue."""

    def __init__(
        self,
        profile: str,
        plugins: Mapping[str, Sequence[Plugin]],
        weights: Mapping[str, int],
        handle: Handle,
        tracer: Tracer | None = None,
    ) -> None:
        self.profile = profile
        self.weights = dict(weights)
        self.handle = handle
        self.tracer = tracer
        self.quiet = False
        self.points = {point: list(plugins.get(point, ())) for point in POINTS}
        sorters = [plugin for plugin in self.points["queueSort"] if isinstance(plugin, QueueSortPlugin)]
        if len(sorters) != 1:
            raise UsageError(f"profile {profile}: exactly one queueSort plugin is needed")
        self.queue_sort = sorters[0]
        self._filter_lanes: Lanes[Status | None] = Lanes(handle.cluster, UNKNOWN)
        self._score_lanes: Lanes[int | None] = Lanes(handle.cluster, None)

    def _of(self, point: str) -> list[Plugin]:
        return self.points[point]

    def all_plugins(self) -> list[Plugin]:
        """Every plugin once, in the order in which it first appears."""
        return list(dict.fromkeys(plugin for plugins in self.points.values() for plugin in plugins))

    # Before the cycle

    def sort_key(self, item: QueuedPod) -> tuple[float, ...]:
        """The queue sort plugin's key for a pod."""
        with _guard(self.queue_sort, "QueueSort", item.pod):
            return self.queue_sort.sort_key(item)

    def wants(self, plugin: Plugin, interests: Sequence[Interest], event: Event, pod: Pod) -> bool:
        """Whether the event is, in the plugin's eyes, a reason to try the pod again."""
        with _guard(plugin, "QueueingHint", pod):
            return any(wakes(interest, event, pod) for interest in interests)

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status | None:
        """The first refusal, with its plugin; `first` names the plugin to ask before the others."""
        for plugin in sorted(self._of("preEnqueue"), key=lambda p: p.name != first):
            assert isinstance(plugin, PreEnqueuePlugin)
            with _guard(plugin, "PreEnqueue", pod):
                status = plugin.pre_enqueue(pod)
            if not succeeded(status):
                assert status is not None
                return status.by(plugin.name)
        return None

    # Filtering

    def run_pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult, Status | None, list[str]]:
        """The nodes left to examine, a rejection or error for all, and the plugins that restricted the nodes."""
        names: frozenset[str] | None = None
        restricting: list[str] = []
        skipped: set[str] = set()
        refusal: Status | None = None
        for plugin in self._of("preFilter"):
            assert isinstance(plugin, PreFilterPlugin)
            with _guard(plugin, "PreFilter", pod):
                result, status = plugin.pre_filter(state, pod, nodes)
            if self.tracer and not self.quiet:
                self.tracer.pre_filter(plugin.name, status, result)
            if is_skip(status):
                skipped.add(plugin.name)
                continue
            if status is not None and not succeeded(status):
                if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    return PreFilterResult(), status.by(plugin.name), restricting
                if status.rejected:
                    refusal = status.by(plugin.name)
                    continue
                failure = error(f'running PreFilter plugin "{plugin.name}": {status.message}')
                return PreFilterResult(), failure.by(plugin.name), restricting
            if result is not None and result.node_names is not None:
                restricting.append(plugin.name)
                names = result.node_names if names is None else names & result.node_names
                if not names:
                    return PreFilterResult(names), _none_left(restricting), restricting
        state.skip_filter = frozenset(skipped)
        return PreFilterResult(names), refusal, restricting

    def filters(self, state: CycleState) -> list[FilterPlugin]:
        """The filter plugins that have something to do."""
        return [p for p in self._of("filter") if isinstance(p, FilterPlugin) and p.name not in state.skip_filter]

    def filter_nodes(self, state: CycleState, pod: Pod) -> NodeFilter:
        """The filters, ready to be asked about many nodes for one pod."""
        return NodeFilter(self, state, pod, self._filter_lanes)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """The first answer that is not success, asked anew."""
        for plugin in self.filters(state):
            status = self.ask_filter(plugin, state, pod, node)
            if status is not None:
                return status
        return None

    def ask_filter(self, plugin: FilterPlugin, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """One plugin's answer; None for success. Anything that is neither success nor rejection is an Error."""
        with _guard(plugin, "Filter", pod):
            status = plugin.filter(state, pod, node)
        if self.tracer and not self.quiet:
            self.tracer.filter(plugin.name, node.name, status)
        if status is None or succeeded(status):
            return None
        if not status.rejected:
            return error(f'running "{plugin.name}" filter plugin: {status.message}').by(plugin.name)
        return status.by(plugin.name)

    def filter_with_nominated(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """The filters with the node's nominated pods of the same or higher priority added, then without them."""
        info = self.handle.cluster.info(pod)
        nominated = self.handle.nominator.at_least(node.name, info.priority, info.uid)
        if nominated:
            trial, crowded = state.clone(), node.clone()
            for other in nominated:
                crowded.add(other)
                status = self.add_pod(trial, pod, other, crowded)
                if not succeeded(status):
                    return status
            status = self.filter(trial, pod, crowded)
            if not succeeded(status):
                return status
        return self.filter(state, pod, node)

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        """Tell the PreFilter plugins that a pod was added on trial; an Error if one fails."""
        return self._extend(state, pod, added, node, "AddPod")

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Tell the PreFilter plugins that a pod was removed on trial; an Error if one fails."""
        return self._extend(state, pod, removed, node, "RemovePod")

    def _extend(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo, what: str) -> Status | None:
        for plugin in self._of("preFilter"):
            assert isinstance(plugin, PreFilterPlugin)
            extensions = plugin.pre_filter_extensions()
            if extensions is None or plugin.name in state.skip_filter:
                continue
            change = extensions.add_pod if what == "AddPod" else extensions.remove_pod
            with _guard(plugin, what, pod):
                status = change(state, pod, other, node)
            if status is not None and not succeeded(status):
                return error(f'running {what} on PreFilter plugin "{plugin.name}": {status.message}').by(plugin.name)
        return None

    def run_post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """The nomination, and the status whose text goes into the message."""
        self.quiet = True  # what is tried while making room is not the pod's own cycle
        try:
            return self._post_filter(state, pod, statuses)
        finally:
            self.quiet = False

    def _post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        reasons: list[str] = []
        rejected_by = ""
        nomination: NominatingInfo | None = None
        for plugin in self._of("postFilter"):
            assert isinstance(plugin, PostFilterPlugin)
            with _guard(plugin, "PostFilter", pod):
                result, status = plugin.post_filter(state, pod, statuses)
            if self.tracer:
                self.tracer.post_filter(plugin.name, status, result)
            if status is None or succeeded(status):
                return result, None
            if not status.rejected:
                return None, status.by(plugin.name)
            if result is not None:
                nomination = result
            reasons += status.reasons
            rejected_by = rejected_by or plugin.name
        return nomination, Status(Code.UNSCHEDULABLE, *reasons, plugin=rejected_by)

    # Scoring

    def run_pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """An Error if a plugin fails; plugins that answer Skip do not score."""
        skipped = set()
        for plugin in self._of("preScore"):
            assert isinstance(plugin, PreScorePlugin)
            with _guard(plugin, "PreScore", pod):
                status = plugin.pre_score(state, pod, nodes)
            if is_skip(status):
                skipped.add(plugin.name)
            elif status is not None and not succeeded(status):
                return error(f'running PreScore plugin "{plugin.name}": {status.message}').by(plugin.name)
        state.skip_score = frozenset(skipped)
        return None

    def run_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, list[int]] | Status:
        """Per plugin the weighted scores in the order of the nodes, or an Error."""
        plugins = [p for p in self._of("score") if isinstance(p, ScorePlugin) and p.name not in state.skip_score]
        table: dict[str, list[int]] = {}
        where = [node.position for node in nodes]
        for plugin in plugins:
            raw = self._raw_scores(plugin, state, pod, nodes, where)
            if isinstance(raw, Status):
                return error(f'running Score plugins: plugin "{plugin.name}" failed with: {raw.message}').by(
                    plugin.name
                )
            table[plugin.name] = raw
        for plugin in plugins:
            with _guard(plugin, "NormalizeScore", pod):
                status = plugin.normalize(state, pod, nodes, table[plugin.name])
            if status is not None and not succeeded(status):
                text = f'running Normalize on Score plugins: plugin "{plugin.name}" failed with: {status.message}'
                return error(text).by(plugin.name)
        for name, scores in table.items():
            if scores and (min(scores) < MIN_NODE_SCORE or max(scores) > MAX_NODE_SCORE):
                wrong = next(s for s in scores if not MIN_NODE_SCORE <= s <= MAX_NODE_SCORE)
                limits = f"it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
                text = f'plugin "{name}" returns an invalid score {wrong}, {limits}'
                return error(f"applying score defaultWeights on Score plugins: {text}").by(name)
            weight = self.weights.get(name, 1)
            if weight != 1:
                table[name] = [score * weight for score in scores]
        return table

    def _raw_scores(
        self, plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], where: Sequence[int]
    ) -> list[int] | Status:
        """The plugin's scores before normalizing; `where` are the nodes' places in scheduling order."""
        key = plugin.score_memo(state, pod)
        lane = None if key is None else self._score_lanes.answers((plugin.name, key))
        scores: list[Any] = [None] * len(nodes) if lane is None else list(map(lane.__getitem__, where))
        with _guard(plugin, "Score", pod):
            for index in [index for index, score in enumerate(scores) if score is None]:
                score = plugin.score(state, pod, nodes[index])
                if isinstance(score, Status):
                    return score
                scores[index] = score
                if lane is not None:
                    lane[where[index]] = score
        return scores

    # Binding

    def run_reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """The first failure; the caller then unreserves."""
        for plugin in self._of("reserve"):
            assert isinstance(plugin, ReservePlugin)
            with _guard(plugin, "Reserve", pod):
                status = plugin.reserve(state, pod, node)
            if status is not None and not succeeded(status):
                return self._failed("Reserve", plugin, status)
        return None

    def run_unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Every reserve plugin takes back, last first."""
        for plugin in reversed(self._of("reserve")):
            assert isinstance(plugin, ReservePlugin)
            with _guard(plugin, "Unreserve", pod):
                plugin.unreserve(state, pod, node)

    def run_permit(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success, Wait (the pod is then among the waiting pods), a rejection or an Error."""
        waits: dict[str, float] = {}
        for plugin in self._of("permit"):
            assert isinstance(plugin, PermitPlugin)
            with _guard(plugin, "Permit", pod):
                status, seconds = plugin.permit(state, pod, node)
            if status is None or succeeded(status):
                continue
            if status.code is not Code.WAIT:
                return self._failed("Permit", plugin, status)
            waits[plugin.name] = min(seconds, MAX_PERMIT_SECONDS)
        if not waits:
            return None
        uid = self.handle.cluster.info(pod).uid
        self.handle.waiting.add(uid, WaitingPod(pod, node, self.handle.clock.now, waits))
        return Status(Code.WAIT, f'one or more plugins asked to wait and no plugin rejected pod "{pod.metadata.name}"')

    def run_pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Skip if no plugin has anything to do before binding; those that answer Skip are then left out of PreBind."""
        idle = []
        for plugin in self._of("preBind"):
            assert isinstance(plugin, PreBindPlugin)
            with _guard(plugin, "PreBindPreFlight", pod):
                status = plugin.pre_bind_pre_flight(state, pod, node)
            if is_skip(status):
                idle.append(plugin.name)
            elif status is not None and status.code is Code.ERROR:
                return error(f'running PreBindPreFlight "{plugin.name}": {status.message}').by(plugin.name)
            elif status is not None and not succeeded(status):
                what = f'PreBindPreFlight {plugin.name} returned "{status.code.title}", which is unsupported'
                return error(f"{what}. It is supposed to return Success, Skip, or Error status").by(plugin.name)
        state.skip_pre_bind = frozenset(idle)
        return Status(Code.SKIP) if len(idle) == len(self._of("preBind")) else None

    def run_pre_bind(self, state: CycleState, pod: Pod, node: str, done: set[str]) -> Status | None:
        """The first failure, or Wait; plugins in `done` are not asked again, and those that succeed are added."""
        for plugin in self._of("preBind"):
            assert isinstance(plugin, PreBindPlugin)
            if plugin.name in done or plugin.name in state.skip_pre_bind:
                continue
            with _guard(plugin, "PreBind", pod):
                status = plugin.pre_bind(state, pod, node)
            if status is not None and status.code is Code.WAIT:
                return status.by(plugin.name)
            if status is not None and not succeeded(status):
                return self._failed("PreBind", plugin, status)
            done.add(plugin.name)
        return None

    def run_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Success when a plugin has bound the pod."""
        for plugin in self._of("bind"):
            assert isinstance(plugin, BindPlugin)
            with _guard(plugin, "Bind", pod):
                status = plugin.bind(state, pod, node)
            if is_skip(status):
                continue
            if status is not None and not succeeded(status):
                return self._failed("Bind", plugin, status)
            return None
        return Status(Code.SKIP)

    def run_post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Tell everybody."""
        for plugin in self._of("postBind"):
            assert isinstance(plugin, PostBindPlugin)
            with _guard(plugin, "PostBind", pod):
                plugin.post_bind(state, pod, node)

    @staticmethod
    def _failed(point: str, plugin: Plugin, status: Status) -> Status:
        """A rejection as it is; everything else as an Error that names the plugin."""
        if status.rejected:
            return status.by(plugin.name)
        return error(f'running {point} plugin "{plugin.name}": {status.message}').by(plugin.name)


def _none_left(plugins: Sequence[str]) -> Status:
    """No node is left after the restrictions of these plugins."""
    if len(plugins) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {plugins[0]}").by(plugins[0])
    text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously"
    return unresolvable(text).by(plugins[-1])
