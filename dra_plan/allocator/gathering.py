"""The pools of a node, as GatherPools sees them (KEP-4381): which slices count, and what each pool is there.

Nothing here knows of claims. What holds for a pool whichever node looks is found once, in `generation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from dra_plan.api.core import Node
from dra_plan.api.resource import DeviceTaintRule, ResourceSlice
from dra_plan.releases import Features, Quirk, Target

from .generation import Generation
from .identity import PoolID
from .poolproblem import PoolProblem
from .pools import Pool, PoolSlice, PoolState, targets

_by_id = attrgetter("id")


class PoolGatherer:
    """Finds the pools of nodes. Made once for all nodes."""

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        target: Target,
        taint_rules: Sequence[DeviceTaintRule] = (),
    ) -> None:
        self._features, self._rules, self._quirks = target.features, target.rules, target.quirks
        self._local: dict[str, list[PoolSlice]] = {}
        self._shared: list[PoolSlice] = []
        self._by_pool: dict[PoolID, list[PoolSlice]] = {}
        self._generations: dict[tuple[PoolID, int], Generation] = {}
        self._made: dict[tuple[PoolSlice, ...], tuple[Pool, frozenset[Quirk]]] = {}
        for position, slice_ in enumerate(slices):
            if self._rules.ignores_compatibility_groups and _is_grouped(slice_, self._features):
                continue
            prepared = PoolSlice(slice_, position, taint_rules)
            self._by_pool.setdefault(prepared.pool_id, []).append(prepared)
            if not self._known(slice_):
                continue
            name = slice_.spec.node_name
            if name and not (slice_.spec.shared_counters and target.rules.counter_slices):
                self._local.setdefault(name, []).append(prepared)
            else:
                self._shared.append(prepared)

    @property
    def slices(self) -> dict[PoolID, list[PoolSlice]]:
        """All slices of the cluster by pool, in input order."""
        return self._by_pool

    @property
    def node_names(self) -> Iterable[str]:
        """The nodes that have slices of their own."""
        return self._local.keys()

    @property
    def shared_slices(self) -> Sequence[PoolSlice]:
        """The slices that are not one node's own."""
        return self._shared

    def local_slices(self, node: str) -> Sequence[PoolSlice]:
        """The slices that name the node."""
        return self._local.get(node, ())

    def _known(self, slice_: ResourceSlice) -> bool:
        """Without partitionable devices, slices that need them are passed over."""
        if self._features.partitionable_devices:
            return True
        spec = slice_.spec
        return spec.per_device_node_selection is None and not (self._rules.counter_slices and spec.shared_counters)

    def gather(
        self, node: Node, *, sighted: set[Quirk] | None = None, obsolete: list[Pool] | None = None
    ) -> list[Pool]:
        """The node's pools in the order in which they are searched.

        The quirks that shaped the answer are added to `sighted`, and pools that vanish because a newer generation
        exists to `obsolete`, where these are given.
        Raises AllocationError when a node selector can't be parsed, as upstream does.
        """
        if not self._shared and (lone := self._lone_pools(node)) is not None:
            return lone
        pools = []
        sighted = set() if sighted is None else sighted
        for slices in self._relevant(node).values():
            pool = self._pool(slices, sighted)
            if pool.state is PoolState.OBSOLETE:
                if obsolete is not None:
                    obsolete.append(pool)
            elif self._is_reachable(pool, slices, node, sighted):
                pools.append(pool)
        if self._rules.sorted:
            pools.sort(key=_by_id)
        if self._rules.bound_pools_last:
            pools.sort(key=self._is_bound)
        return pools

    def _lone_pools(self, node: Node) -> list[Pool] | None:
        """The node's pools where each is one slice of the node and nothing else, as most are; None where not so.

        Such pools are complete and valid, and on this node only, whatever the release.
        """
        pools = []
        for slice_ in self._local.get(node.metadata.name, ()):
            is_all = slice_.object.spec.pool.resource_slice_count == 1 == len(self._by_pool[slice_.pool_id])
            if not (is_all and slice_.is_plain):
                return None
            pools.append(Pool(slice_.pool_id, slice_.generation, expected=1, seen=1, slices=[slice_]))
        if self._rules.sorted and len(pools) > 1:
            pools.sort(key=_by_id)
        return pools

    def whole(self, pool_id: PoolID, generation: int) -> Pool:
        """A generation of a pool with all its slices, whichever nodes they are for."""
        whole = self.generation(pool_id, generation)
        pool = self._put_together(list(whole.slices), set())
        pool.superseded_by = whole.newest if whole.newest > generation else None
        return pool

    def generation(self, pool_id: PoolID, number: int) -> Generation:
        """One generation of a pool in the whole cluster."""
        slices = self._by_pool[pool_id]
        if len(slices) == 1:  # as most pools: nothing is worth keeping
            return Generation(slices, number)
        found = self._generations.get((pool_id, number))
        return found if found is not None else self._find_generations(pool_id)[number]

    def _find_generations(self, pool_id: PoolID) -> dict[int, Generation]:
        """All generations of a pool by number, kept for the next question."""
        by_number: dict[int, list[PoolSlice]] = {}
        for slice_ in self._by_pool[pool_id]:
            by_number.setdefault(slice_.generation, []).append(slice_)
        newest = max(by_number)
        found = {number: Generation(slices, newest) for number, slices in by_number.items()}
        self._generations.update({(pool_id, number): made for number, made in found.items()})
        return found

    def newest(self, pool_id: PoolID) -> Generation:
        """The newest generation of a pool in the whole cluster; older ones offer nothing."""
        first = self._by_pool[pool_id][0].generation
        return self.generation(pool_id, self.generation(pool_id, first).newest)

    def _is_bound(self, pool: Pool) -> bool:
        """Whether the pool goes behind the others; the slices of a pool that is passed over are not looked at."""
        seen = pool.usable or not self._rules.skips_unusable_pools
        return seen and any(slice_.binds for slice_ in pool.slices)

    def _relevant(self, node: Node) -> dict[PoolID, list[PoolSlice]]:
        """The slices of the newest generation that the node sees, by pool."""
        pools: dict[PoolID, list[PoolSlice]] = {}
        candidates = [*self._local.get(node.metadata.name, ()), *self._shared]
        if not self._rules.sorted:
            candidates.sort(key=lambda slice_: slice_.position)
        if self._rules.bound_slices_last:
            candidates.sort(key=lambda slice_: slice_.binds)
        for slice_ in candidates:
            if not self._is_relevant(slice_, node):
                continue
            gathered = pools.setdefault(slice_.pool_id, [])
            if gathered and slice_.generation < gathered[0].generation:
                continue
            if gathered and slice_.generation > gathered[0].generation:
                gathered.clear()
            gathered.append(slice_)
        return pools

    def _is_relevant(self, slice_: PoolSlice, node: Node) -> bool:
        if slice_.object.spec.shared_counters and self._rules.counter_slices:
            return True
        return targets(slice_, node)

    def _is_reachable(self, pool: Pool, slices: Sequence[PoolSlice], node: Node, sighted: set[Quirk]) -> bool:
        """Upstream keeps a pool with counter slices on every node (Q15); repaired, only where a slice reaches."""
        if any(not slice_.object.spec.shared_counters for slice_ in slices):
            return True
        if not self._rules.counter_slices or any(targets(slice_, node) for slice_ in slices):
            return True
        if self._quirks.counter_slices_everywhere:
            if not pool.usable:
                sighted.add("counter_slices_everywhere")
            return True
        return False

    def _pool(self, gathered: list[PoolSlice], sighted: set[Quirk]) -> Pool:
        """The pool that these slices make; the same object for all nodes that see the same slices for many nodes."""
        if gathered[0].object.spec.node_name or any(slice_.object.spec.node_name for slice_ in gathered):
            return self._put_together(gathered, sighted)
        key = tuple(gathered)
        if key not in self._made:
            own: set[Quirk] = set()
            self._made[key] = self._put_together(gathered, own), frozenset(own)
        pool, quirks = self._made[key]
        sighted |= quirks
        return pool

    def _put_together(self, gathered: list[PoolSlice], sighted: set[Quirk]) -> Pool:
        first = gathered[0]
        expected = first.object.spec.pool.resource_slice_count
        pool = Pool(first.pool_id, first.generation, expected, len(gathered), slices=gathered)
        generation = self.generation(pool.id, pool.generation)
        complete = self._is_complete(pool, generation, sighted)
        if pool.superseded_by is not None:
            return pool
        pool.incomplete = not complete
        if pool.incomplete and self._rules.skips_unusable_pools:
            return pool
        self._arrange(pool)
        pool.problem = self._problem(pool, generation)
        return pool

    def _is_complete(self, pool: Pool, generation: Generation, sighted: set[Quirk]) -> bool:
        """Whether the pool is complete, seen beside those of its slices that the node does not see.

        Finds also whether a newer generation makes it obsolete.
        """
        complete = pool.seen == pool.expected
        if generation.newest > pool.generation and (
            self._rules.counts_all_slices or not self._quirks.local_generation_only
        ):
            if not complete or not self._quirks.local_generation_only:
                pool.superseded_by = generation.newest
                return complete
            sighted.add("local_generation_only")
        if not complete and self._rules.counts_all_slices:
            pool.seen, pool.peers = len(generation.slices), generation.slices
            complete = pool.seen == pool.expected
        if not generation.agrees:
            if not self._quirks.first_slice_counts:
                return False
            sighted.add("first_slice_counts")
        return complete

    def _arrange(self, pool: Pool) -> None:
        """Sorts the slices and sets counter slices aside."""
        slices = list(pool.slices)
        if self._rules.sorted and len(slices) > 1:
            slices.sort(key=lambda slice_: slice_.name)
        if self._features.partitionable_devices and self._rules.counter_slices:
            pool.counter_slices = [slice_ for slice_ in slices if slice_.object.spec.shared_counters]
            slices = [slice_ for slice_ in slices if not slice_.object.spec.shared_counters]
        pool.slices = slices

    def _problem(self, pool: Pool, generation: Generation) -> PoolProblem | None:
        problem = generation.duplicate_device(pool.slices)
        if problem is None and self._features.partitionable_devices and self._rules.checks_counter_references:
            elsewhere = bool(pool.peers)
            problem = generation.counter_problem(pool.counter_slices, pool.slices, elsewhere=elsewhere)
        return problem


class KnownPools:
    """The pools of nodes that are asked about again and again: those of one gatherer, found once for each node."""

    def __init__(self, gatherer: PoolGatherer) -> None:
        self._gatherer = gatherer
        self._found: dict[str, tuple[Node, list[Pool], frozenset[Quirk]]] = {}

    def gather(self, node: Node, *, sighted: set[Quirk]) -> list[Pool]:
        """As `PoolGatherer.gather`."""
        known = self._found.get(node.metadata.name)
        if known is None or known[0] is not node:
            own: set[Quirk] = set()
            known = node, self._gatherer.gather(node, sighted=own), frozenset(own)
            self._found[node.metadata.name] = known
        sighted |= known[2]
        return known[1]


def _is_grouped(slice_: ResourceSlice, features: Features) -> bool:
    """Whether a device is in a compatibility group, without the gate: the slice does not exist, its pool lacks it."""
    return not features.compatibility_groups and any(
        taken.compatibility_groups for device in slice_.spec.devices for taken in device.consumes_counters
    )
