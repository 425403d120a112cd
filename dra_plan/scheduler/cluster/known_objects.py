"""Nodes and pods as they are before scheduling, created once and shared by several simulations.

A node has the same version in all simulations in which it has the same pods and the same devices in use, so results for
the node are valid in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import is_

from dra_plan.allocator import View
from dra_plan.api.core import Node, Pod
from dra_plan.api.resource import AllocationResult, ResourceClaim

from .claims import ClaimStore
from .keys import ClaimKey, claim_key, pod_uid, pool_reach
from .nodes import Journal, NodeInfo, PodInfo


class KnownObjects:
    """The nodes and pods of the first simulation, which later simulations reuse.

    The stored objects never change. Each simulation gets its own copies of the nodes.
    """

    def __init__(self) -> None:
        self._view: View | None = None
        self._pods: dict[int, PodInfo] = {}
        """The derived pods by the `id` of the pod, which is kept alive."""
        self._admitted: dict[str, Pod] = {}
        self._nodes: dict[str, NodeInfo] = {}
        self._claims: ClaimStore | None = None
        self._given: Sequence[ResourceClaim] = ()
        self._changed: set[str] | None = set()
        """The nodes that reach devices whose claims have changed; None stands for all nodes."""
        self._first = False

    def begin(self, view: View, claims: Iterable[ResourceClaim]) -> None:
        """Start a simulation of the cluster in the view, with these claims."""
        self._first = self._view is None
        if self._view is None:
            self._view, self._given = view, list(claims)
        else:
            self._changed = self._touched(self._view, view, list(claims))

    def claims(self, claims: Sequence[ResourceClaim], view: View, *, consumable_capacity: bool) -> ClaimStore:
        """Return a store of these claims, which are those of the view.

        If only a few differ from the claims of the first simulation, its store is copied.
        """
        if self._claims is None:
            self._claims = ClaimStore(claims, consumable_capacity=consumable_capacity)
            self._claims.take_over(view)
        return self._claims.copy(claims) or ClaimStore(claims, consumable_capacity=consumable_capacity)

    @cached_property
    def _in_use(self) -> Mapping[ClaimKey, AllocationResult]:
        return _in_use(self._given)

    @cached_property
    def _reach(self) -> Mapping[str, Mapping[str, None] | None]:
        return pool_reach(self._view.slices) if self._view is not None else {}

    def _touched(self, old: View, new: View, claims: Sequence[ResourceClaim]) -> set[str] | None:
        same = old.slices is new.slices and old.given_rules is new.given_rules and old.classes == new.classes
        if not same or old.target != new.target:
            return None
        if _have_same_allocations(self._given, claims):
            return set()
        before, in_use = self._in_use, _in_use(claims)
        changed = [before[key] for key in before if in_use.get(key) is not before[key]]
        changed += [in_use[key] for key in in_use if before.get(key) is not in_use[key]]
        names: set[str] = set()
        for pool in {result.pool for allocation in changed for result in allocation.devices.results}:
            reached = self._reach.get(pool, {})
            if reached is None:
                return None
            names.update(reached)
        return names

    def admitted(self, pod: Pod) -> Pod:
        """Return the first simulation's object for the pod if the two are equal, or else the pod itself.

        Pods without a UID or priority in the input are created again for each simulation.
        """
        return pod if (known := self._admitted.setdefault(pod_uid(pod), pod)) != pod else known

    def pod(self, pod: Pod, *, devices_count: bool) -> PodInfo:
        """Return the pod with everything derived from it."""
        known = self._pods.get(id(pod))
        if known is None:
            known = PodInfo(pod, devices_count=devices_count)
            if self._first:
                self._pods[id(pod)] = known
        return known

    def node(self, node: Node, pods: Mapping[str, PodInfo], journal: Journal) -> NodeInfo:
        """Return the node with these pods on it. Its changes are recorded in the journal."""
        known = self._nodes.get(node.metadata.name)
        if known is not None and known.node is node and _same(known.pods, pods):
            copy = known.copy(journal)
            if self._changed is None or known.name in self._changed:
                copy.touch()
            return copy
        made = NodeInfo(node, journal)
        for info in pods.values():
            made.add(info)
        if self._first:
            self._nodes[made.name] = made.copy(None)
        return made


def _in_use(claims: Iterable[ResourceClaim]) -> dict[ClaimKey, AllocationResult]:
    return {claim_key(claim): claim.allocation for claim in claims if claim.allocation is not None}


def _have_same_allocations(some: Sequence[ResourceClaim], others: Sequence[ResourceClaim]) -> bool:
    if len(some) != len(others):
        return False
    return all(a is b or a.allocation is b.allocation for a, b in zip(some, others, strict=True))


def _same(known: Mapping[str, PodInfo], pods: Mapping[str, PodInfo]) -> bool:
    return len(known) == len(pods) and (not known or all(map(is_, known.values(), pods.values())))
