"""The filters that look at nothing but a node and a pod, asked outside a simulation: which nodes they exclude.

The rules are the plugins'. What depends on other pods or on what is in use is for `simulate`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from dra_plan.api.core import Node, Pod
from dra_plan.documents.allocation import NodeExclusion
from dra_plan.releases import Target
from dra_plan.scheduler.plugins.nodeaffinity import NodeAffinityPlugin
from dra_plan.scheduler.plugins.nodename import NodeName, NodeUnschedulable
from dra_plan.scheduler.plugins.tainttoleration import TaintToleration

from .cyclestate import CycleState
from .framework import FilterPlugin
from .nodeinfo import NodeInfo
from .status import Status, failed, is_skip


class NodeRules:
    """The nodes of a question, and what keeps pods away from them."""

    def __init__(self, nodes: Iterable[Node], target: Target) -> None:
        self._nodes = list(nodes)
        self._infos: dict[str, NodeInfo] = {}
        self._known: dict[Hashable, list[tuple[str, NodeExclusion]]] = {}
        """By what the plugins look at of a pod: pods that are alike to them are asked once."""
        self._joined: dict[tuple[Hashable, ...], dict[str, list[NodeExclusion]]] = {}
        """By the same of several pods."""
        self._affinity = NodeAffinityPlugin()
        self._plugins: tuple[FilterPlugin, ...] = (
            NodeUnschedulable(),
            NodeName(),
            TaintToleration(target),
            self._affinity,
        )

    def exclusions(self, pods: Iterable[Pod]) -> dict[str, list[NodeExclusion]]:
        """The nodes that are excluded for one of the pods, and by which plugins; most nodes take all pods.

        For pods that are alike to the plugins the very same dict.
        """
        pods = list(pods)
        keys = tuple(self._key(pod) for pod in pods)
        if keys not in self._joined:
            found: dict[str, dict[NodeExclusion, None]] = {}
            for key, pod in zip(keys, pods, strict=True):
                for name, exclusion in self._remembered(key, pod):
                    found.setdefault(name, {})[exclusion] = None
            self._joined[keys] = {name: list(exclusions) for name, exclusions in found.items()}
        return self._joined[keys]

    def _key(self, pod: Pod) -> Hashable:
        state = CycleState()
        return tuple(plugin.filter_memo(state, pod) for plugin in self._plugins)

    def _remembered(self, key: Hashable, pod: Pod) -> list[tuple[str, NodeExclusion]]:
        if key not in self._known:
            self._known[key] = list(self._of_pod(pod))
        return self._known[key]

    def _of_pod(self, pod: Pod) -> Iterator[tuple[str, NodeExclusion]]:
        spec = pod.spec
        anywhere = not (spec.node_name or spec.node_selector or spec.affinity)
        nodes = [node for node in self._nodes if node.spec.taints or node.spec.unschedulable or not anywhere]
        infos = [self._info(node) for node in nodes]
        if not infos:
            return
        state, plugins = CycleState(), list(self._plugins)
        _, status = self._affinity.pre_filter(state, pod, infos)
        if is_skip(status):
            plugins.remove(self._affinity)
        for info in infos:
            for plugin in plugins:
                refused = status if plugin is self._affinity and failed(status) else plugin.filter(state, pod, info)
                if failed(refused):
                    yield info.name, _exclusion(plugin, refused)

    def _info(self, node: Node) -> NodeInfo:
        name = node.metadata.name
        if name not in self._infos:
            self._infos[name] = NodeInfo(node)
        return self._infos[name]


def _exclusion(plugin: FilterPlugin, status: Status) -> NodeExclusion:
    return NodeExclusion(plugin=plugin.name, message=status.message)
