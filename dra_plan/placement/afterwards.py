"""What the program leaves out: filters that look at other pods and at volumes, asked when the placement is known.

A placement passes if there is an order in which each pod is let in by these filters, with the pods before it in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.framework import FilterPlugin, PreFilterPlugin, ReservePlugin
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.status import Status, failed, is_skip, unresolvable

from .candidates import PodToPlace
from .ground import NODE_AND_POD, Ground


@dataclass(frozen=True)
class LateRefusal:
    """A filter outside the program that does not let a pod in on its node."""

    candidate: PodToPlace
    node: str
    status: Status


class Afterwards:
    """Asks the filters that are not part of the program."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        inside = (*NODE_AND_POD, pluginnames.DYNAMIC_RESOURCES)
        self._plugins = [
            plugin
            for plugin in ground.framework.points["filter"]
            if plugin.name not in inside and isinstance(plugin, FilterPlugin)
        ]

    def refusals(self, placed: Sequence[tuple[PodToPlace, str]]) -> list[LateRefusal]:
        """Those who can't be let in, in whichever order the others go; none if all can. Nothing is left behind."""
        cluster, waiting = self._ground.cluster, list(placed)
        done: list[tuple[PodToPlace, str, CycleState]] = []
        refused: list[LateRefusal] = []
        while waiting:
            refused, left = [], []
            for candidate, name in waiting:
                state = CycleState()
                status = self._refusal(candidate, cluster.nodes[name], state)
                if status is None:
                    cluster.assume(candidate.info, name)
                    done.append((candidate, name, state))
                    continue
                refused.append(LateRefusal(candidate, name, status))
                left.append((candidate, name))
            if len(left) == len(waiting):
                break
            waiting = left
        for candidate, name, state in reversed(done):
            self._unreserve(candidate, name, state)
            cluster.forget(candidate.info, name)
        return refused

    def _refusal(self, candidate: PodToPlace, node: NodeInfo, state: CycleState) -> Status | None:
        pod, nodes = candidate.pod, self._ground.nodes
        for plugin in self._plugins:
            if isinstance(plugin, PreFilterPlugin):
                result, status = plugin.pre_filter(state, pod, nodes)
                if is_skip(status):
                    state.skip_filter |= {plugin.name}
                    continue
                if failed(status):
                    return status.by(plugin.name)
                if result is not None and result.node_names is not None and node.name not in result.node_names:
                    return unresolvable(f"node(s) didn't satisfy plugin {plugin.name}").by(plugin.name)
            status = plugin.filter(state, pod, node)
            if failed(status):
                return status.by(plugin.name)
        return self._reserve(candidate, node.name, state)

    def _reserve(self, candidate: PodToPlace, node: str, state: CycleState) -> Status | None:
        """What the pod takes beside devices, volumes that is, so that the next one does not get it."""
        for plugin in self._plugins:
            if isinstance(plugin, ReservePlugin) and plugin.name not in state.skip_filter:
                status = plugin.reserve(state, candidate.pod, node)
                if failed(status):
                    return status.by(plugin.name)
        return None

    def _unreserve(self, candidate: PodToPlace, node: str, state: CycleState) -> None:
        for plugin in self._plugins:
            if isinstance(plugin, ReservePlugin) and plugin.name not in state.skip_filter:
                plugin.unreserve(state, candidate.pod, node)
