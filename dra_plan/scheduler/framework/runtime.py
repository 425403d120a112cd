"""The plugins of a profile by extension point, and the code that runs them until a pod is bound.

Contents: the lists of plugins and the reporting of failures; PreFilter, Filter and PostFilter; Reserve to PostBind; and
arithmetic for scores. PreScore, Score and the framework are in `framework/profile.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import TypeVar

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo

from .interface import (
    MAX_NODE_SCORE,
    MAX_PERMIT_SECONDS,
    POINTS,
    BindPlugin,
    FilterPlugin,
    Handle,
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
    ReservePlugin,
    ScorePlugin,
    TrialFilter,
)
from .status import (
    Code,
    CycleState,
    Reason,
    Status,
    error,
    failed,
    is_skip,
    left_out,
    not_satisfied,
    succeeded,
    unresolvable,
)
from .trace import Tracer
from .waiting import WaitingPod

_SomePlugin = TypeVar("_SomePlugin", bound=Plugin)


class PluginPanicError(DraPlanError):
    """The error raised if a plugin has raised an exception. It ends the simulation.

    In upstream, a panic ends the scheduler without releasing any reservations.
    """

    def __init__(self, plugin: str, point: str, pod: str, cause: BaseException) -> None:
        super().__init__(f"plugin {plugin} raised at {point} for pod {pod}: {type(cause).__name__}: {cause}")
        self.plugin = plugin
        self.point = point


class Guard:
    """A context that turns exceptions in plugins into PluginPanicError. Errors of dra-plan itself do not change."""

    __slots__ = ("_plugin", "_pod", "_point")

    def __init__(self, point: str, pod: Pod, plugin: Plugin | None = None) -> None:
        self._plugin, self._point, self._pod = plugin, point, pod

    def each(self, plugins: Iterable[_SomePlugin]) -> Iterator[_SomePlugin]:
        """Yield the plugins. An exception is attributed to the plugin that was yielded last."""
        for plugin in plugins:
            self._plugin = plugin
            yield plugin

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: object, cause: BaseException | None, trace: object) -> None:
        if self._plugin is not None and isinstance(cause, Exception) and not isinstance(cause, DraPlanError):
            raise PluginPanicError(self._plugin.name, self._point, self._pod.key, cause) from cause


class ProfilePlugins:
    """The plugins of a profile by extension point, and the trace."""

    def __init__(
        self, profile: str, plugins: Mapping[str, Sequence[Plugin]], handle: Handle, tracer: Tracer | None
    ) -> None:
        self.profile = profile
        self.handle = handle
        self.tracer = tracer
        self.points = {point: list(plugins.get(point, ())) for point in POINTS}
        # the same lists, typed, so that no cycle has to check the type of a plugin
        self._at_pre_enqueue = [p for p in self.points["preEnqueue"] if isinstance(p, PreEnqueuePlugin)]
        self._at_pre_filter = [p for p in self.points["preFilter"] if isinstance(p, PreFilterPlugin)]
        self._at_filter = [p for p in self.points["filter"] if isinstance(p, FilterPlugin)]
        self._at_post_filter = [p for p in self.points["postFilter"] if isinstance(p, PostFilterPlugin)]
        self._at_pre_score = [p for p in self.points["preScore"] if isinstance(p, PreScorePlugin)]
        self._at_score = [p for p in self.points["score"] if isinstance(p, ScorePlugin)]
        self._at_reserve = [p for p in self.points["reserve"] if isinstance(p, ReservePlugin)]
        self._at_permit = [p for p in self.points["permit"] if isinstance(p, PermitPlugin)]
        self._at_pre_bind = [p for p in self.points["preBind"] if isinstance(p, PreBindPlugin)]
        self._at_bind = [p for p in self.points["bind"] if isinstance(p, BindPlugin)]
        self._at_post_bind = [p for p in self.points["postBind"] if isinstance(p, PostBindPlugin)]

    def all_plugins(self) -> list[Plugin]:
        """Return every plugin once, in order of its first occurrence."""
        return list(dict.fromkeys(plugin for plugins in self.points.values() for plugin in plugins))

    @staticmethod
    def failure(point: str, plugin: Plugin, status: Status) -> Status:
        """Return the status if it is a rejection, or else an Error that names the plugin."""
        if status.rejected:
            return status.by(plugin.name)
        return error(f'running {point} plugin "{plugin.name}": {status.message}').by(plugin.name)


# -- PreFilter, Filter and PostFilter ----------------------------------------------------------------------------------
# The search for nodes that fit a pod, with Kubernetes' error texts.


class FilterPhase(ProfilePlugins, TrialFilter):
    """The runs of the plugins that find nodes for a pod, or preempt pods if no node fits."""

    quiet = False
    """True if nothing is traced, because attempts during preemption are not the pod's own cycle."""

    def run_pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult, Status | None, list[str]]:
        """Return the nodes to examine, a status for all nodes, and the plugins that excluded nodes.

        The status is a rejection, an Error, or None if PreFilter succeeded.
        """
        names: frozenset[str] | None = None
        restricting: list[str] = []
        skipped: set[str] = set()
        refusal: Status | None = None
        with Guard("PreFilter", pod) as guard:
            for plugin in guard.each(self._at_pre_filter):
                result, status = plugin.pre_filter(state, pod, nodes)
                if self.tracer and not self.quiet:
                    self.tracer.pre_filter(plugin.name, status, result)
                if is_skip(status):
                    skipped.add(plugin.name)
                    continue
                if failed(status):
                    if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                        state.skip_filter = frozenset(skipped)
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
        """Return the Filter plugins that did not return Skip in PreFilter."""
        return [p for p in self._at_filter if p.name not in state.skip_filter]

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return the first plugin result that is not success, or None. Cached results are not used."""
        for plugin in self.filters(state):
            status = self.ask_filter(plugin, state, pod, node)
            if status is not None:
                return status
        return None

    def ask_filter(self, plugin: FilterPlugin, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Return the plugin's result for the node, which is None for success.

        A status that is neither success nor a rejection becomes an Error.
        """
        try:  # does the same as `Guard`, which takes longer than most plugins here
            status = plugin.filter(state, pod, node)
        except DraPlanError:
            raise
        except Exception as cause:
            raise PluginPanicError(plugin.name, "Filter", pod.key, cause) from cause
        if self.tracer and not self.quiet:
            self.tracer.filter(plugin.name, node.name, status)
        return None if status is None else _reported(plugin, status)

    def ask_filter_each(
        self, plugin: FilterPlugin, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> Sequence[Status | None]:
        """Return the plugin's results for these nodes, as from `ask_filter`, without tracing them."""
        with Guard("Filter", pod, plugin):
            found = plugin.filter_each(state, pod, nodes)
        if not any(found):
            return found
        return [None if status is None else _reported(plugin, status) for status in found]

    def filter_with_nominated(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Run the filters with the pods nominated to the node, and again without them.

        Only nominated pods of the same or a higher priority count.
        """
        info = self.handle.cluster.info(pod)
        nominated = self.handle.nominator.at_least(node.name, info.priority, info.uid)
        nominated = [other for other in nominated if other.uid not in node.pods]
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
        """Notify the PreFilter plugins that a pod was added to a node in a trial. Return an Error if a plugin fails."""
        return self._extend(state, pod, added, node, "AddPod")

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Notify the PreFilter plugins that a pod was removed from a node in a trial.

        Return an Error if a plugin fails.
        """
        return self._extend(state, pod, removed, node, "RemovePod")

    def _extend(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo, what: str) -> Status | None:
        for plugin in self._at_pre_filter:
            extensions = plugin.pre_filter_extensions()
            if extensions is None or plugin.name in state.skip_filter:
                continue
            change = extensions.add_pod if what == "AddPod" else extensions.remove_pod
            with Guard(what, pod, plugin):
                status = change(state, pod, other, node)
            if failed(status):
                return error(f'running {what} on PreFilter plugin "{plugin.name}": {status.message}').by(plugin.name)
        return None

    def run_post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """Return the nomination, and the status whose text becomes part of the scheduler's message."""
        self.quiet, self.handle.trial = True, self
        try:
            return self._post_filter(state, pod, statuses)
        finally:
            self.quiet = False

    def _post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        reasons: list[Reason] = []
        rejected_by = ""
        nomination: NominatingInfo | None = None
        with Guard("PostFilter", pod) as guard:
            for plugin in guard.each(self._at_post_filter):
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


def _reported(plugin: FilterPlugin, status: Status) -> Status | None:
    """Return a filter's result with its name. Anything that is neither success nor rejection becomes an Error."""
    if status.code is Code.SUCCESS:
        return None
    if not status.rejected:
        return error(f'running "{plugin.name}" filter plugin: {status.message}').by(plugin.name)
    return status.by(plugin.name)


def _none_left(plugins: Sequence[str]) -> Status:
    """Return the status used if these plugins' restrictions leave no nodes."""
    if len(plugins) == 1:
        return left_out(plugins[0])
    return unresolvable(f"{not_satisfied(plugins)} simultaneously").by(plugins[-1])


# -- Reserve, Permit, PreBind, Bind and PostBind -----------------------------------------------------------------------
# The error texts are Kubernetes'.

ASKED_TO_WAIT = "one or more plugins asked to wait and no plugin rejected pod"


class BindPhase(ProfilePlugins):
    """The runs of the plugins from the reservation of a node until the pod is bound."""

    def run_reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return the first failure, or None. After a failure, the caller must call `run_unreserve`."""
        with Guard("Reserve", pod) as guard:
            for plugin in guard.each(self._at_reserve):
                status = plugin.reserve(state, pod, node)
                if failed(status):
                    return self.failure("Reserve", plugin, status)
        return None

    def run_unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Call Unreserve on every Reserve plugin, in reverse order."""
        with Guard("Unreserve", pod) as guard:
            for plugin in guard.each(reversed(self._at_reserve)):
                plugin.unreserve(state, pod, node)

    def run_permit(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return success, Wait, a rejection or an Error. After Wait, the pod is among the waiting pods."""
        refusal, waits = self.ask_permit(state, pod, node)
        if refusal is not None or not waits:
            return refusal
        uid = self.handle.cluster.info(pod).uid
        seconds = {plugin: most for plugin, (_, most) in waits.items()}
        self.handle.waiting.add(uid, WaitingPod(pod, node, self.handle.clock.now, seconds))
        return Status(Code.WAIT, f'{ASKED_TO_WAIT} "{pod.metadata.name}"')

    def ask_permit(
        self, state: CycleState, pod: Pod, node: str
    ) -> tuple[Status | None, dict[str, tuple[Status, float]]]:
        """Return a rejection, an Error or None, and the Wait status and timeout of each plugin that makes the pod wait.

        The pod is not added to the waiting pods.
        """
        waits: dict[str, tuple[Status, float]] = {}
        with Guard("Permit", pod) as guard:
            for plugin in guard.each(self._at_permit):
                status, seconds = plugin.permit(state, pod, node)
                if status is None or succeeded(status):
                    continue
                if status.code is not Code.WAIT:
                    return self.failure("Permit", plugin, status), {}
                waits[plugin.name] = (status, min(seconds, MAX_PERMIT_SECONDS))
        return None, waits

    def run_pre_bind_pre_flight(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return Skip if no plugin has anything to do before the pod is bound.

        PreBind does not call plugins that return Skip here.
        """
        idle = []
        with Guard("PreBindPreFlight", pod) as guard:
            for plugin in guard.each(self._at_pre_bind):
                status = plugin.pre_bind_pre_flight(state, pod, node)
                if is_skip(status):
                    idle.append(plugin.name)
                elif status is not None and status.code is Code.ERROR:
                    return error(f'running PreBindPreFlight "{plugin.name}": {status.message}').by(plugin.name)
                elif failed(status):
                    what = f'PreBindPreFlight {plugin.name} returned "{status.code.title}", which is unsupported'
                    return error(f"{what}. It is supposed to return Success, Skip, or Error status").by(plugin.name)
        state.skip_pre_bind = frozenset(idle)
        return Status(Code.SKIP) if len(idle) == len(self._at_pre_bind) else None

    def run_pre_bind(self, state: CycleState, pod: Pod, node: str, done: set[str]) -> Status | None:
        """Return the first failure or Wait, or None if all plugins succeed.

        Plugins in `done` are not called again. Plugins that succeed are added to it.
        """
        with Guard("PreBind", pod) as guard:
            for plugin in guard.each(self._at_pre_bind):
                if plugin.name in done or plugin.name in state.skip_pre_bind:
                    continue
                status = plugin.pre_bind(state, pod, node)
                if status is not None and status.code is Code.WAIT:
                    return status.by(plugin.name)
                if failed(status):
                    return self.failure("PreBind", plugin, status)
                done.add(plugin.name)
        return None

    def run_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        """Return success if a plugin has bound the pod, or else the failure."""
        with Guard("Bind", pod) as guard:
            for plugin in guard.each(self._at_bind):
                status = plugin.bind(state, pod, node)
                if is_skip(status):
                    continue
                if failed(status):
                    return self.failure("Bind", plugin, status)
                return None
        return Status(Code.SKIP)

    def run_post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Notify all PostBind plugins that the pod has been bound."""
        with Guard("PostBind", pod) as guard:
            for plugin in guard.each(self._at_post_bind):
                plugin.post_bind(state, pod, node)


# -- arithmetic of scores ----------------------------------------------------------------------------------------------
# Several plugins share these functions. All divisions are integer divisions, as in Go.


def is_level(scores: Sequence[int]) -> bool:
    """Return whether all scores are the same, so that no node is preferred. There must be at least one score."""
    return scores[0] == scores[-1] and scores.count(scores[0]) == len(scores)


def add_up(rows: Iterable[Sequence[int]], number: int) -> list[int]:
    """Return the sum of each of the `number` columns, leaving out rows in which all scores are the same.

    There must be at least one column. Leaving out such rows does not change which column has the highest sum.
    """
    totals: Sequence[int] | None = None
    for row in rows:
        if not is_level(row):
            totals = row if totals is None else list(map(add, totals, row))
    return [0] * number if totals is None else list(totals)


def normalize(scores: list[int], *, reverse: bool = False) -> None:
    """Scale the scores in the list to the range from 0 to 100, relative to the largest score.

    If `reverse` is set, the largest score becomes 0, and 0 becomes 100, even if all scores are 0.
    """
    most = max(scores, default=0)
    if most == 0:
        if reverse:
            scores[:] = [MAX_NODE_SCORE] * len(scores)
        return
    if is_level(scores):
        scores[:] = [0 if reverse else MAX_NODE_SCORE] * len(scores)
    elif reverse:
        scores[:] = [MAX_NODE_SCORE - MAX_NODE_SCORE * score // most for score in scores]
    else:
        scores[:] = [MAX_NODE_SCORE * score // most for score in scores]
