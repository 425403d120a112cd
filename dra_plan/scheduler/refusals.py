"""All that keeps a pod from each node: every filter is asked, where a cycle ends with the first that refuses.

What is to be said about it is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.dra.state import PodState

from .cyclestate import CycleState
from .nodeinfo import NodeInfo
from .runtime import Framework
from .simulation import Simulation
from .status import Status, left_out


@dataclass(frozen=True)
class Refusals:
    """What keeps a pod from the nodes, by their names in scheduling order; nothing for a node that would take it.

    `claims` are those of the pod that wait for devices, `allocated` those that have theirs.
    """

    of_nodes: dict[str, tuple[Status, ...]]
    claims: tuple[ResourceClaim, ...] = ()
    allocated: tuple[ResourceClaim, ...] = ()


def refusals(simulation: Simulation, pod: Pod) -> Refusals:
    """What keeps the pod from each node of the cluster as it is now; nothing is changed by asking."""
    cluster = simulation.cluster
    nodes = list(cluster.nodes.values())
    framework = simulation.frameworks.get(cluster.info(pod).profile)
    if framework is None:
        return Refusals({})
    state = CycleState()
    allowed, refused, restricting = framework.run_pre_filter(state, pod, nodes)
    if refused is not None:
        return Refusals({node.name: (refused,) for node in nodes})
    found: dict[str, tuple[Status, ...]] = {}
    for node in nodes:
        if allowed.node_names is not None and node.name not in allowed.node_names:
            found[node.name] = tuple(map(left_out, restricting))
        else:
            found[node.name] = _of_node(framework, state, pod, node)
    return Refusals(found, *_claims(framework, state, pod, nodes))


def _of_node(framework: Framework, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[Status, ...]:
    asked = (framework.ask_filter(plugin, state, pod, node) for plugin in framework.filters(state))
    return tuple(status for status in asked if status is not None)


def _claims(
    framework: Framework, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
) -> tuple[tuple[ResourceClaim, ...], tuple[ResourceClaim, ...]]:
    """The pod's claims that wait for devices, as they are asked for on the first node, and those that have theirs."""
    for plugin in framework.all_plugins():
        kept: PodState | None = state.get(plugin.name) if isinstance(plugin, DynamicResources) else None
        if isinstance(plugin, DynamicResources) and kept is not None and nodes:
            return tuple(plugin.claims_asked_for(kept, pod, nodes[0])), tuple(kept.allocated)
    return (), ()
