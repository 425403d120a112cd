"""All reasons that exclude a pod from each node at the moment of a failed attempt.

A cycle stops at the first plugin that rejects a node, and the message counts the reasons of that one alone. To explain
the attempt, the others are needed too, from the same cycle: this module finds them, as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework.interface import Diagnosis, FilterPlugin
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import CycleState, Obstacle, Reason, Status


class NodeRefusal(NamedTuple):
    """A plugin's rejection of a node: its reasons, and their subjects."""

    plugin: str
    reasons: tuple[Reason, ...]
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeRefusals:
    """The rejections of a pod by each node, by name.

    The first rejection of a node is the one that the message counts.

    `of_all`: the pod was rejected before any node was examined, so each node has that one reason.
    """

    of_nodes: Mapping[str, tuple[NodeRefusal, ...]]
    of_all: bool = False


Explain = Callable[[Framework, CycleState, Pod, Diagnosis], NodeRefusals | None]
"""A function called at the end of an attempt that found no node; None for pods that need no explanation."""


def refusals_of(framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> NodeRefusals:
    """Return the rejections of the pod by each node, in the cycle that has just failed.

    The cluster must not have changed since then.
    """
    if diagnosis.pre_filter:
        found = {name: (_refusal(status, ()),) for name, status in diagnosis.statuses.items()}
        return NodeRefusals(found, of_all=True)
    plugins = framework.filters(state)
    nodes = framework.handle.cluster.nodes
    with _as_if_not_asked(plugins, pod):
        return NodeRefusals(
            {
                name: tuple(_of_node(framework, plugins, state, pod, nodes[name], status))
                for name, status in diagnosis.statuses.items()
                if name in nodes
            }
        )


@contextmanager
def _as_if_not_asked(plugins: Sequence[FilterPlugin], pod: Pod) -> Iterator[None]:
    """Return a context in which the filters do not change the record of the pod's searches that were cut short."""
    asked = [plugin for plugin in plugins if isinstance(plugin, DynamicResources)]
    before = [plugin.undecided.get(pod.key) for plugin in asked]
    kept = [None if nodes is None else list(nodes) for nodes in before]
    yield
    for plugin, known in zip(asked, kept, strict=True):
        plugin.undecided.pop(pod.key, None)
        if known is not None:
            plugin.undecided[pod.key] = known


def _of_node(
    framework: Framework, plugins: list[FilterPlugin], state: CycleState, pod: Pod, node: NodeInfo, first: Status
) -> Iterator[NodeRefusal]:
    known = next((plugin for plugin in plugins if plugin.name == first.plugin), None)
    yield _refusal(first, () if known is None else known.obstacles(state, pod, node))
    for plugin in plugins:
        if plugin is not known:
            status = framework.ask_filter(plugin, state, pod, node)
            if status is not None and status.rejected:
                yield _refusal(status, plugin.obstacles(state, pod, node))


def _refusal(status: Status, obstacles: Sequence[Obstacle]) -> NodeRefusal:
    about = [reason.about for reason in status.reasons if reason.about is not None]
    return NodeRefusal(status.plugin, status.reasons, (*about, *obstacles))
