"""The cluster that pods are placed on, and the questions about one node that the scheduler's own parts answer.

Nothing is scheduled here: the simulation only keeps nodes, pods and claims, and lends its plugins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

import msgspec

from dra_plan.allocator import Allocator, NodeOutcome, PoolID, View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.sets import is_in_reach
from dra_plan.releases import Quirk, Target
from dra_plan.scheduler.cluster.claims import usable
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.nodes import DEFAULT_SCHEDULER, NodeInfo
from dra_plan.scheduler.dra.filter import UNAVAILABLE
from dra_plan.scheduler.dra.plugin import DEFAULT_BINDING_TIMEOUT, DynamicResources
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import FilterPlugin, PreFilterPlugin
from dra_plan.scheduler.framework.status import CycleState, Status, failed, is_skip
from dra_plan.scheduler.plugins.node_affinity import MISMATCH
from dra_plan.scheduler.simulation import Simulation

from .budget import StepBudget
from .candidates import PodToPlace

NODE_AND_POD = (
    plugin_names.NODE_UNSCHEDULABLE,
    plugin_names.NODE_NAME,
    plugin_names.TAINT_TOLERATION,
    plugin_names.NODE_AFFINITY,
    plugin_names.NODE_PORTS,
    plugin_names.FIT,
)
"""The filters that are part of the program: they look at a node, the pods on it and the pod alone."""
COUNTING = (plugin_names.NODE_PORTS, plugin_names.FIT)
"""Those of them whose answer changes with the pods on the node."""
IN_ONE_SEARCH: tuple[Quirk, ...] = (
    "admin_take_blocks",
    "late_all_failure_leaks",
    "rejection_leaks_counters",
    "shared_undo_keeps_counters",
)
"""Defects that end with the search: they make it miss what pods asking one after the other would get."""
_NOT_NAMED = MISMATCH.by(plugin_names.NODE_AFFINITY)


class Ground:
    """Nodes with the pods that run on them, and claims. `view` is what the allocator sees of it, in-use devices too."""

    def __init__(
        self,
        inventory: Inventory,
        target: Target,
        max_steps: int | None = None,
        common: Common | None = None,
        view: View | None = None,
    ) -> None:
        """`common` is shared with grounds of related inventories; the `view`, if it is given, is the inventory's."""
        self.simulation = Simulation(
            inventory, target=target, max_steps=max_steps, chosen=lambda _pod: False, common=common, view=view
        )
        self.simulation.start()
        self.target, self.max_steps = target, max_steps
        self.cluster = self.simulation.cluster
        self.framework = self.simulation.frameworks[DEFAULT_SCHEDULER]
        self._filters = [plugin for plugin in self.framework.points["filter"] if plugin.name in NODE_AND_POD]
        self._devices = next((p for p in self.simulation.dynamic_resources), None)

    @cached_property
    def view(self) -> View:
        """The cluster as the allocator sees it, before anything is placed."""
        return self.cluster.view.with_state(self.cluster.claims.state)

    @cached_property
    def joint(self) -> View:
        """The same for questions about several pods: what one search spoils for itself, the next pod does not see."""
        return self.cluster.view.repaired(*IN_ONE_SEARCH).with_state(self.view.state)

    @cached_property
    def promised(self) -> View:
        """The same without the known defects of the release."""
        return self.cluster.view.repaired().with_state(self.view.state)

    @cached_property
    def nodes(self) -> list[NodeInfo]:
        """The nodes, by the order of the input."""
        return [self.cluster.nodes[node.metadata.name] for node in self.simulation.inventory.nodes]

    def holding(self, node: str) -> list[ResourceClaim]:
        """The claims that have devices in pools of the node."""
        pools = self.view.gatherer.gather(self.cluster.nodes[node].node)
        return list({claim.metadata.uid: claim for pool in pools for claim in self._holders.get(pool.id, ())}.values())

    @cached_property
    def _holders(self) -> Mapping[PoolID, list[ResourceClaim]]:
        """The claims that have devices in a pool."""
        found: dict[PoolID, dict[str, ResourceClaim]] = {}
        for claim in self.cluster.claims.seen():
            if claim.allocation is not None:
                for result in claim.allocation.devices.results:
                    found.setdefault(PoolID(result.driver, result.pool), {})[claim.metadata.uid] = claim
        return {pool: list(claims.values()) for pool, claims in found.items()}

    # Pods

    def add(self, pod: Pod) -> Pod:
        """A pod that is created now, with its claims; it is placed nowhere. Returns it as it was admitted."""
        return self.simulation.arrive(pod).pod

    def ready(self, pod: Pod) -> PodToPlace:
        """The pod after PreFilter of the plugins that count here."""
        info, state, nodes = self.cluster.info(pod), CycleState(), self.nodes
        made = PodToPlace(info, state)
        filters: list[FilterPlugin] = []
        for plugin in self._filters:
            if isinstance(plugin, PreFilterPlugin):
                result, status = plugin.pre_filter(state, pod, nodes)
                if is_skip(status):
                    continue
                if failed(status):
                    made.refusal = status.by(plugin.name)
                elif result is not None and result.node_names is not None:
                    made.only = result.node_names if made.only is None else made.only & result.node_names
            assert isinstance(plugin, FilterPlugin)
            filters.append(plugin)
        made.filters = tuple(filters)
        self._read_claims(made)
        made.key = self._key(made)
        return made

    def _read_claims(self, made: PodToPlace) -> None:
        plugin = self._devices
        if plugin is None:
            return
        _, status = plugin.pre_filter(made.state, made.pod, self.nodes)
        if failed(status) and not is_skip(status):
            made.refusal = made.refusal or status.by(plugin.name)
        made.devices = made.state.get(DynamicResources.name)

    def _key(self, made: PodToPlace) -> object:
        """What all answers about the pod depend on; None if that can't be said in a key."""
        kept = made.devices
        if kept is not None and not kept.empty and kept.key is None:
            return None
        memos = tuple((plugin.name, plugin.filter_memo(made.state, made.pod)) for plugin in made.filters)
        requests = tuple(sorted(made.info.requests.items()))
        pods_claims = kept.key if kept is not None and not kept.empty else None
        named = tuple(sorted(made.only)) if made.only is not None else None
        refusal = made.refusal.message if made.refusal is not None else None
        return memos, requests, tuple(made.info.ports), pods_claims, named, refusal

    @contextmanager
    def holding_pods(self, placed: Iterable[tuple[PodToPlace, str, Sequence[ResourceClaim]]]) -> Iterator[Simulation]:
        """The simulation with pods on nodes and their claims in flight, as long as this lasts."""
        placed = list(placed)
        for candidate, node, claims in placed:
            self.cluster.assume(candidate.info, node)
            for claim in claims:
                self.cluster.signal_pending_allocation(claim)
        try:
            yield self.simulation
        finally:
            for candidate, node, claims in placed:
                self.cluster.forget(candidate.info, node)
                for claim in claims:
                    self.cluster.remove_pending_allocation(claim.metadata.uid)

    # One node

    def refusal(self, candidate: PodToPlace, node: NodeInfo) -> Status | None:
        """What keeps the pod off the node as it is, devices apart; None if nothing does."""
        if candidate.refusal is not None:
            return candidate.refusal
        if candidate.only is not None and node.name not in candidate.only:
            return _NOT_NAMED
        for plugin in candidate.filters:
            status = plugin.filter(candidate.state, candidate.pod, node)
            if failed(status):
                return status.by(plugin.name)
        return None if all(self._in_reach(claim, node) for claim in candidate.settled) else UNAVAILABLE

    def _in_reach(self, claim: ResourceClaim, node: NodeInfo) -> bool:
        if not is_in_reach(claim, node.name, node.labels):
            return False
        if not self.target.features.binding_conditions:
            return True
        return usable(claim, DEFAULT_BINDING_TIMEOUT, self.simulation.clock.now)

    def counted(self, candidates: Sequence[PodToPlace], node: NodeInfo) -> tuple[NodeInfo, Status | None]:
        """The node with as many of these pods as have room, one after the other, and what refuses the next."""
        trial = node.clone()
        for candidate in candidates:
            for plugin in candidate.filters:
                if plugin.name in COUNTING:
                    status = plugin.filter(candidate.state, candidate.pod, trial)
                    if failed(status):
                        return trial, status.by(plugin.name)
            trial.add(candidate.info)
        return trial, None

    def claims_on(self, candidate: PodToPlace, node: NodeInfo) -> list[ResourceClaim]:
        """The claims for which the pod needs devices if it goes to the node."""
        kept = candidate.devices
        if self._devices is None or kept is None or kept.empty:
            return []
        asked = self._devices.claims_asked_for(kept, candidate.pod, node)
        return [claim for claim in asked if claim.allocation is None and claim.spec.devices.requests]

    def joint_claims(self, candidates: Iterable[PodToPlace], node: NodeInfo) -> list[ResourceClaim]:
        """The claims of all these pods on the node, each once."""
        found = {claim.metadata.uid: claim for each in candidates for claim in self.claims_on(each, node)}
        return list(found.values())

    def allocate(
        self, claims: Sequence[ResourceClaim], node: NodeInfo, view: View, budget: StepBudget | None = None
    ) -> NodeOutcome:
        """What the allocator says to all these claims together, with as many steps as the budget has for it."""
        steps = self.max_steps if budget is None else budget.next
        outcome = Allocator(claims, view, max_steps=steps, shares_answers=False).allocate(node.node)
        if budget is not None:
            budget.spend(outcome.steps, len(claims))
        return outcome


def encoded(claims: Iterable[ResourceClaim]) -> tuple[bytes, ...]:
    """What the claims ask for, as a key."""
    return tuple(msgspec.json.encode(claim.spec) for claim in claims)
