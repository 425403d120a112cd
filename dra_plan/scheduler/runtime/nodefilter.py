"""The filters of a profile at work on many nodes for one pod, with remembered answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_plan.api.core import Pod
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.framework import FilterPlugin
from dra_plan.scheduler.memo import NodeAnswers
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.status import Code, Status

from .filtering import FilterPhase

UNKNOWN = Status(Code.ERROR, "not asked yet")
"""Stands for an answer that nobody has given."""


class NodeFilter:
    """The filters of a profile for one pod, with remembered answers where plugins allow it.

    Neighbouring plugins with a memo key share one list of answers, so that a node is asked about once.
    """

    def __init__(self, phase: FilterPhase, state: CycleState, pod: Pod, remembered: NodeAnswers[Status | None]) -> None:
        self._phase = phase
        self._state = state
        self._pod = pod
        info = phase.handle.cluster.info(pod)
        self._uid, self._priority = info.uid, info.priority
        self._nominator = phase.handle.nominator
        self._positions = phase.handle.cluster.positions
        self._runs: list[tuple[list[FilterPlugin], list[Status | None] | None]] = []
        self._group(remembered)

    def _group(self, remembered: NodeAnswers[Status | None]) -> None:
        members: list[FilterPlugin] = []
        keys: list[Hashable] = []

        def close() -> None:
            if members:
                self._runs.append((list(members), remembered.of(tuple(keys))))
                members.clear()
                keys.clear()

        for plugin in self._phase.filters(self._state):
            # a trace wants every plugin's answer, so nothing is remembered then
            key = None if self._phase.tracer else plugin.filter_memo(self._state, self._pod)
            if key is None:
                close()
                self._runs.append(([plugin], None))
            else:
                members.append(plugin)
                keys.append((plugin.name, key))
        close()

    @property
    def remembers(self) -> bool:
        """Whether all answers are remembered, so that `scan` can be used."""
        return len(self._runs) == 1 and self._runs[0][1] is not None

    def scan(self, nodes: Sequence[NodeInfo], start: int, enough: int, refused: dict[str, Status]) -> list[NodeInfo]:
        """The nodes that pass, from `start` on and round again, until there are enough.

        `nodes` are all nodes in scheduling order. Answers that are not success go to `refused`.
        """
        [(plugins, known)] = self._runs
        assert known is not None
        crowded = {
            self._positions[name]
            for name in self._nominator.nodes
            if name in self._positions and self._nominator.at_least(name, self._priority, self._uid)
        }
        order = (*range(start, len(nodes)), *range(start))
        passed: list[NodeInfo] = []
        done = 0
        while done < len(order) and len(passed) < enough:
            # so many are looked at in any case, even if all of them pass
            part = order[done : done + enough - len(passed)]
            done += len(part)
            answers = [known[position] for position in part]
            ask = [index for index, status in enumerate(answers) if status is UNKNOWN]
            if crowded:
                ask = sorted({*ask, *(index for index, position in enumerate(part) if position in crowded)})
            for index in ask:
                position = part[index]
                node = nodes[position]
                if position in crowded:
                    answers[index] = self(node)
                else:
                    answers[index] = self._first_answer(plugins, node, known, position)
            passed += [nodes[position] for position, status in zip(part, answers, strict=True) if status is None]
            refused.update(
                (nodes[position].name, status)
                for position, status in zip(part, answers, strict=True)
                if status is not None
            )
        return passed

    def __call__(self, node: NodeInfo) -> Status | None:
        """None if the pod fits the node, otherwise the first plugin's answer that is not success."""
        if self._nominator.at_least(node.name, self._priority, self._uid):
            return self._phase.filter_with_nominated(self._state, self._pod, node)
        position = node.position
        for plugins, known in self._runs:
            if known is None:
                status = self._ask(plugins, node)
            else:
                status = known[position]
                if status is UNKNOWN:
                    status = self._first_answer(plugins, node, known, position)
            if status is not None:
                return status
        return None

    def _first_answer(
        self, plugins: Sequence[FilterPlugin], node: NodeInfo, known: list[Status | None], position: int
    ) -> Status | None:
        """The plugins' answer, remembered unless it is an error: its text may name what only this pod has."""
        status = self._ask(plugins, node)
        if status is None or status.code is not Code.ERROR:
            known[position] = status
        return status

    def _ask(self, plugins: Sequence[FilterPlugin], node: NodeInfo) -> Status | None:
        for plugin in plugins:
            status = self._phase.ask_filter(plugin, self._state, self._pod, node)
            if status is not None:
                return status
        return None
