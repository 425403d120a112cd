"""All reasons that exclude a pod from each node in a failed attempt.

A cycle stops at the first plugin that rejects a node, and the scheduler's message counts only that plugin's reasons.
This module also finds the reasons of the other plugins, as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from msgspec import Struct, field

from dra_plan.api.core import Pod
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework.interface import Diagnosis, FilterPlugin
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.runtime import PluginPanicError
from dra_plan.scheduler.framework.status import CycleState, Obstacle, Reason, StateNotFoundError, Status


class NodeRefusal(NamedTuple):
    """The rejection of a node by a plugin, with its reasons and the obstacles that they describe."""

    plugin: str
    reasons: tuple[Reason, ...]
    obstacles: tuple[Obstacle, ...] = ()


class NodeRefusals(Struct, frozen=True):
    """The reasons why a pod is rejected on each node, by node name.

    The scheduler's message counts only the first rejection of each node. If `of_all` is set, the pod was rejected
    before any node was examined, and each node has only that rejection. `besides` then has, for each node, the other
    plugins that were called and would also reject it.
    """

    of_nodes: Mapping[str, tuple[NodeRefusal, ...]]
    of_all: bool = False
    besides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def plugins(self, node: str) -> list[str]:
        """Return the plugins that reject the node."""
        return [*(each.plugin for each in self.of_nodes[node]), *self.besides.get(node, ())]


Explain = Callable[[Framework, CycleState, Pod, Diagnosis], NodeRefusals | None]
"""A function that is called after an attempt that found no node. It returns None if no explanation is needed."""


def refusals_of(
    framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis, *, besides: bool = False
) -> NodeRefusals:
    """Return why the pod was rejected on each node. Call this right after the failed cycle.

    The cluster must not have changed since then. If `besides` is set, the other plugins are called even if one plugin
    rejected all nodes.
    """
    plugins = framework.filters(state)
    if diagnosis.pre_filter:
        found = {name: (_refusal(status, ()),) for name, status in diagnosis.statuses.items()}
        others = dict(_besides(framework, plugins, state, pod, diagnosis)) if besides else {}
        return NodeRefusals(found, of_all=True, besides=others)
    with _as_if_not_asked(plugins, pod):
        return NodeRefusals(_of_nodes(framework, plugins, state, pod, diagnosis.statuses))


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


def _of_nodes(
    framework: Framework, plugins: list[FilterPlugin], state: CycleState, pod: Pod, first: Mapping[str, Status]
) -> dict[str, tuple[NodeRefusal, ...]]:
    """Return the rejections of each node: the `first` one, then those of the other plugins, in their order.

    Nodes with the same rejections share one object.
    """
    known_nodes, first = framework.handle.cluster.nodes, dict(first)
    nodes = {name: node for name in first if (node := known_nodes.get(name)) is not None}
    by_name = {plugin.name: plugin for plugin in plugins}
    found: dict[str, list[NodeRefusal]] = {}
    made: dict[tuple[int, tuple[Obstacle, ...]], tuple[NodeRefusal, Status]] = {}

    def refusal(status: Status, plugin: FilterPlugin | None, node: NodeInfo) -> NodeRefusal:
        obstacles = () if plugin is None else tuple(plugin.obstacles(state, pod, node))
        key = id(status), obstacles
        if key not in made:
            made[key] = _refusal(status, obstacles), status  # which keeps its identity
        return made[key][0]

    for name, node in nodes.items():
        found[name] = [refusal(first[name], by_name.get(first[name].plugin), node)]
    everywhere, came_first = list(nodes.values()), {status.plugin for status in first.values()}
    for plugin in plugins:
        others = everywhere
        if plugin.name in came_first:
            others = [node for name, node in nodes.items() if first[name].plugin != plugin.name]
        for node, status in zip(others, framework.ask_filter_each(plugin, state, pod, others), strict=True):
            if status is not None and status.rejected:
                found[node.name].append(refusal(status, plugin, node))
    shared: dict[tuple[int, ...], tuple[NodeRefusal, ...]] = {}
    return {name: shared.setdefault(tuple(map(id, each)), tuple(each)) for name, each in found.items()}


def _besides(
    framework: Framework, plugins: Sequence[FilterPlugin], state: CycleState, pod: Pod, diagnosis: Diagnosis
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the nodes with the plugins that reject them, of those that come before the one that rejected all."""
    order = [plugin.name for plugin in plugins]
    for name, status in diagnosis.statuses.items():
        node = framework.handle.cluster.nodes.get(name)
        if node is None or status.plugin not in order:
            continue
        before = plugins[: order.index(status.plugin)]
        yield name, tuple(plugin.name for plugin in before if _rejects(framework, plugin, state, pod, node))


def _rejects(framework: Framework, plugin: FilterPlugin, state: CycleState, pod: Pod, node: NodeInfo) -> bool:
    try:
        status = framework.ask_filter(plugin, state, pod, node)
    except PluginPanicError as panic:
        if isinstance(panic.__cause__, StateNotFoundError):
            return False  # this plugin also rejected all nodes at once, and prepared nothing
        raise
    return status is not None and status.rejected


def _refusal(status: Status, obstacles: Sequence[Obstacle]) -> NodeRefusal:
    about = [reason.about for reason in status.reasons if reason.about is not None]
    return NodeRefusal(status.plugin, status.reasons, (*about, *obstacles))
