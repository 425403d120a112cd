"""What the program leaves out: filters that look at other pods and at volumes, asked when the placement is known.

A placement passes if there is an order in which each pod is let in by these filters, with the pods before it in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import FilterPlugin, PreFilterPlugin, ReservePlugin
from dra_plan.scheduler.framework.status import CycleState, Status, failed, is_skip, left_out

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
        inside = (*NODE_AND_POD, plugin_names.DYNAMIC_RESOURCES)
        self._plugins = [
            plugin
            for plugin in ground.framework.points["filter"]
            if plugin.name not in inside and isinstance(plugin, FilterPlugin)
        ]

    def refusals(self, placed: Sequence[tuple[PodToPlace, str]]) -> list[LateRefusal]:
        """Those who can't be let in, in whichever order the others go; none if all can. Nothing is left behind."""
        with self.inside() as inside:
            return inside.let_in(placed)

    @contextmanager
    def inside(self) -> Iterator[PodsInside]:
        """The cluster with pods that are let in, which are gone again at the end."""
        inside = PodsInside(self)
        try:
            yield inside
        finally:
            while inside.done:
                inside.take_back()

    def assume(self, candidate: PodToPlace, name: str, state: CycleState) -> Status | None:
        """The pod is on the node, or who refuses that."""
        cluster = self._ground.cluster
        status = self._refusal(candidate, cluster.nodes[name], state)
        if status is None:
            cluster.assume(candidate.info, name)
        return status

    def forget(self, candidate: PodToPlace, name: str, state: CycleState) -> None:
        """The pod is gone from the node."""
        self._unreserve(candidate, name, state)
        self._ground.cluster.forget(candidate.info, name)

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
                    return left_out(plugin.name)
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


class PodsInside:
    """Pods that were let in, one after the other; `done` are they, the last one last."""

    def __init__(self, afterwards: Afterwards) -> None:
        self._afterwards = afterwards
        self.done: list[tuple[PodToPlace, str, CycleState]] = []

    def add(self, candidate: PodToPlace, name: str) -> Status | None:
        """Lets a pod in on a node, beside those before it, or says who refuses."""
        state = CycleState()
        status = self._afterwards.assume(candidate, name, state)
        if status is None:
            self.done.append((candidate, name, state))
        return status

    def take_back(self) -> None:
        """The last one is out again."""
        self._afterwards.forget(*self.done.pop())

    def let_in(self, placed: Sequence[tuple[PodToPlace, str]]) -> list[LateRefusal]:
        """Lets in all who can be, in whichever order, and returns the others."""
        waiting, refused = list(placed), list[LateRefusal]()
        while waiting:
            answers = [(candidate, name, self.add(candidate, name)) for candidate, name in waiting]
            refused = [LateRefusal(candidate, name, why) for candidate, name, why in answers if why is not None]
            if len(refused) == len(waiting):
                break
            waiting = [(each.candidate, each.node) for each in refused]
        return refused
