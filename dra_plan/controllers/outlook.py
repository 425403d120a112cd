"""What settling would change after one pass of the scheduler: told in a line, found without going on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from dra_plan.api.core import Pod
from dra_plan.scheduler.simulate import SimulationResult
from dra_plan.scheduler.simulation import Simulation

from . import deviceeviction, nodeeviction
from .deviceeviction import counted
from .state import Action, ClusterState, DeletePod


def outlook(simulation: Simulation, outcome: SimulationResult) -> list[str]:
    """What controllers and admission would do next, a clause each; empty where they have nothing to do."""
    state = _state(simulation)
    found = []
    if outcome.evictions:
        found.append(f"the claims of {counted(len(outcome.evictions), 'preempted pod')} come free")
    for step, by in ((deviceeviction.step, "device taints"), (nodeeviction.step, "node taints")):
        pods = _evicted(state, step)
        if pods:
            found.append(f"{by} evict {counted(len(pods), 'pod')}")
    if simulation.inventory.quotas or simulation.inventory.limit_ranges:
        found.append("quotas and limits count")
    return found


def _evicted(state: ClusterState, step: Callable[[ClusterState], Iterable[Action]]) -> list[Pod]:
    return [each.pod for each in step(state) if isinstance(each, DeletePod)]


def _state(simulation: Simulation) -> ClusterState:
    now = simulation.clock.now
    pods, claims = list(simulation.cluster.pods.values()), list(simulation.cluster.claims)
    return ClusterState(
        now=now,
        start=now,
        inventory=replace(simulation.inventory, pods=pods, claims=claims),
        target=simulation.target,
        ended=(),
        made=frozenset(),
        revisions={},
        lost_nodes={},
        changed={},
    )
