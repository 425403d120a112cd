"""PreFilter, Filter and PostFilter of a profile: which nodes fit, with Kubernetes' error texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.framework import FilterPlugin, NominatingInfo, PreFilterResult
from dra_plan.scheduler.handle import TrialFilter
from dra_plan.scheduler.nodeinfo import NodeInfo, PodInfo
from dra_plan.scheduler.status import (
    Code,
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

from .plugins import Guard, PluginPanicError, ProfilePlugins


class FilterPhase(ProfilePlugins, TrialFilter):
    """Runs the plugins that say where a pod fits, and those that make room when it fits nowhere."""

    quiet = False
    """Nothing is traced: what is tried while making room is not the pod's own cycle."""

    def run_pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult, Status | None, list[str]]:
        """The nodes left to examine, a rejection or error for all, and the plugins that restricted the nodes."""
        names: frozenset[str] | None = None
        restricting: list[str] = []
        skipped: set[str] = set()
        refusal: Status | None = None
        for plugin in self._at_pre_filter:
            with Guard(plugin, "PreFilter", pod):
                result, status = plugin.pre_filter(state, pod, nodes)
            if self.tracer and not self.quiet:
                self.tracer.pre_filter(plugin.name, status, result)
            if is_skip(status):
                skipped.add(plugin.name)
                continue
            if failed(status):
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
        return [p for p in self._at_filter if p.name not in state.skip_filter]

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """The first answer that is not success, asked anew."""
        for plugin in self.filters(state):
            status = self.ask_filter(plugin, state, pod, node)
            if status is not None:
                return status
        return None

    def ask_filter(self, plugin: FilterPlugin, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """One plugin's answer; None for success. Anything that is neither success nor rejection is an Error."""
        try:  # as `Guard`, which costs more than most plugins here
            status = plugin.filter(state, pod, node)
        except DraPlanError:
            raise
        except Exception as cause:
            raise PluginPanicError(plugin.name, "Filter", pod.key, cause) from cause
        if self.tracer and not self.quiet:
            self.tracer.filter(plugin.name, node.name, status)
        if status is None or status.code is Code.SUCCESS:
            return None
        if not status.rejected:
            return error(f'running "{plugin.name}" filter plugin: {status.message}').by(plugin.name)
        return status.by(plugin.name)

    def filter_with_nominated(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """The filters with the node's nominated pods of the same or higher priority added, then without them."""
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
        """Tell the PreFilter plugins that a pod was added on trial; an Error if one fails."""
        return self._extend(state, pod, added, node, "AddPod")

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        """Tell the PreFilter plugins that a pod was removed on trial; an Error if one fails."""
        return self._extend(state, pod, removed, node, "RemovePod")

    def _extend(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo, what: str) -> Status | None:
        for plugin in self._at_pre_filter:
            extensions = plugin.pre_filter_extensions()
            if extensions is None or plugin.name in state.skip_filter:
                continue
            change = extensions.add_pod if what == "AddPod" else extensions.remove_pod
            with Guard(plugin, what, pod):
                status = change(state, pod, other, node)
            if failed(status):
                return error(f'running {what} on PreFilter plugin "{plugin.name}": {status.message}').by(plugin.name)
        return None

    def run_post_filter(
        self, state: CycleState, pod: Pod, statuses: Mapping[str, Status]
    ) -> tuple[NominatingInfo | None, Status | None]:
        """The nomination, and the status whose text goes into the message."""
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
        for plugin in self._at_post_filter:
            with Guard(plugin, "PostFilter", pod):
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


def _none_left(plugins: Sequence[str]) -> Status:
    """No node is left after the restrictions of these plugins."""
    if len(plugins) == 1:
        return left_out(plugins[0])
    return unresolvable(f"{not_satisfied(plugins)} simultaneously").by(plugins[-1])
