"""Whether a pod could fit a node if some pods had left it: what has to be true of every set of pods that helps.

It is asked before a set is tried in earnest (`trial`), and only rules sets out: where the pods that left would go is
not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dra_plan.allocator import AllocatedState, AllocationError, Outcome
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.index import Index
from dra_plan.placement.node_kinds import Ground, PodToPlace
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.whatif.edits import generated_claims

from .movable import MovablePod

PodKey = tuple[str, str]


def key_of(movable: MovablePod) -> PodKey:
    """Namespace and name of the pod."""
    return movable.pod.metadata.namespace, movable.pod.metadata.name


class Vacating:
    """A pod that waits, the nodes, and the pods that may leave them. `asked` counts the questions."""

    def __init__(self, ground: Ground, index: Index, wanting: PodToPlace, movables: Sequence[MovablePod]) -> None:
        self._ground, self._wanting = ground, wanting
        self._held: dict[PodKey, list[ResourceClaim]] = {}
        self._own: dict[PodKey, set[str]] = {}
        self._users: dict[str, set[PodKey | None]] = {}
        self._read_claims(index, movables)
        self._by_node: dict[str, list[MovablePod]] = {}
        for movable in movables:
            self._by_node.setdefault(movable.node, []).append(movable)
        self._afar = self._with_devices_afar(movables)
        self._known: dict[tuple[str, frozenset[PodKey]], bool] = {}
        self.asked = 0

    def _read_claims(self, index: Index, movables: Sequence[MovablePod]) -> None:
        keys = list(dict.fromkeys(key_of(movable) for movable in movables))
        by_name: dict[tuple[str, str], ResourceClaim] = {}
        for claim in index.inventory.claims:
            if claim.allocation is None:
                continue
            by_name[claim.metadata.namespace, claim.metadata.name] = claim
            users = claim.status.reserved_for if claim.status is not None else []
            for user in users:
                key = (claim.metadata.namespace, user.name) if user.resource == "pods" else None
                self._users.setdefault(claim.key, set()).add(key)
                if key is not None and key in keys:
                    self._held.setdefault(key, []).append(claim)
        given = {(pod.metadata.namespace, pod.metadata.name): pod for pod in index.inventory.pods}
        for key in keys:
            made = generated_claims(index, [given[key]]) if key in given else set()
            self._own[key] = {by_name[name].key for name in made if name in by_name}
            known = {claim.key for claim in self._held.get(key, ())}
            more = [by_name[name] for name in sorted(made) if name in by_name and by_name[name].key not in known]
            self._held.setdefault(key, []).extend(more)

    def _with_devices_afar(self, movables: Sequence[MovablePod]) -> list[MovablePod]:
        """Pods that hold devices which more than one node may reach."""
        view = self._ground.view
        shared = {
            (slice_.object.spec.driver, slice_.object.spec.pool.name)
            for slices in view.gatherer.slices.values()
            for slice_ in slices
            if not slice_.object.spec.node_name
        }
        return [
            movable
            for movable in movables
            if any(
                (result.driver, result.pool) in shared
                for claim in self._held.get(key_of(movable), ())
                if claim.allocation is not None
                for result in claim.allocation.devices.results
            )
        ]

    def near(self, node: str) -> list[MovablePod]:
        """The pods that could make room on the node: those that run there, or hold devices that other nodes reach."""
        here = self._by_node.get(node, [])
        return [*here, *(movable for movable in self._afar if movable.node != node)]

    def nodes(self) -> list[str]:
        """The nodes on which the pod could fit if all of these left, but does not as things are."""
        return [node.name for node in self._ground.nodes if self.could_fit(node.name, self.near(node.name))]

    def could_fit(self, name: str, gone: Collection[MovablePod]) -> bool:
        """Whether the pod could fit the node without these pods; where that stays open, it could."""
        key = (name, frozenset(key_of(movable) for movable in gone))
        if key not in self._known:
            self.asked += 1
            self._known[key] = self._ask(self._ground.cluster.nodes[name], gone, key[1])
        return self._known[key]

    def _ask(self, node: NodeInfo, gone: Iterable[MovablePod], keys: Collection[PodKey]) -> bool:
        trial = node.clone()
        for movable in gone:
            if movable.node == node.name:
                trial.remove(pod_uid(movable.pod))
        freed = self._freed(keys)
        if any(claim.key in freed for claim in self._wanting.settled):
            return True
        if self._ground.refusal(self._wanting, trial) is not None:
            return False
        claims = self._ground.claims_on(self._wanting, trial)
        if not claims:
            return True
        try:
            held = [claim for claim in self._ground.holding(node.name) if claim.key not in freed]
        except AllocationError:
            return True
        features = self._ground.target.features
        state = AllocatedState.of(held, consumable_capacity=features.consumable_capacity)
        views = (self._ground.joint, self._ground.promised)
        answers = (self._ground.allocate(claims, trial, view.with_state(state)).outcome for view in views)
        return any(answer in (Outcome.FITS, Outcome.UNDECIDED) for answer in answers)

    def _freed(self, gone: Collection[PodKey]) -> set[str]:
        """The claims whose devices are free when these pods have left."""
        return {
            claim.key
            for pod in gone
            for claim in self._held.get(pod, ())
            if claim.key in self._own.get(pod, ()) or self._users.get(claim.key, {None}) <= set(gone)
        }
