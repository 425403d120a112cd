"""Find out which pods fit on a node once some of its pods have left, with the filters and the allocator.

`Vacancies` decides whether pods fit in addition to the pods that stay, and which pods must leave. Nodes with the same
devices, used in the same way, share results. If a result is undecided, or depends on the order of pods because of a
defect, the pods count as fitting. This is safe, because plans are carried out before they are reported, and bounds only
become weaker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import msgspec

from dra_plan.allocator import AllocatedState, AllocationError, Outcome
from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo

from .amounts import Amounts, NodeAmounts
from .exchanges import AlikeResidents, NodeRoom, ShapeNeeds
from .gangs import PodShapes
from .move_program import ClaimUsers
from .node_capacity import BY_ORDER, Combination
from .node_kinds import PlacementCluster, PodKind, PodToPlace, encoded, kinds_of

PodKey = tuple[str, str]
"""The namespace and name of a pod."""

MOST_SUBSETS = 8
"""All subsets of the pods that need not leave a node are tried, up to this number of pods."""
MOST_CLAIMS = 4
"""All subsets of the shared claims on a node are freed, up to this number of claims."""


@dataclass(frozen=True, eq=False)
class Resident:
    """A running pod that may leave its node, with its replacement and the claims that it frees.

    A claim that several pods share becomes free when all of them have left. A pod with a `loss` needs no other node,
    and `loss` is an additional price for its leaving. `budgets` are the positions of the disruption budgets that
    protect it.
    """

    candidate: PodToPlace
    node: str
    shape: int
    price: int
    claims: tuple[ResourceClaim, ...]
    loss: int | None = None
    budgets: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The namespace and name of the pod."""
        metadata = self.candidate.pod.metadata
        return metadata.namespace, metadata.name


@dataclass(frozen=True)
class _Coming:
    """The shapes of pods that arrive, and their needs in total, by sort."""

    shapes: tuple[int, ...]
    needs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Leavings:
    """The sets of pods on a node that can leave to make room for other pods.

    Pods are given by position. A set that is not listed costs at least `least`, which is None if no set makes enough
    room.
    """

    sets: tuple[tuple[int, ...], ...]
    least: int | None
    complete: bool = True
    """True if all such sets are listed."""


@dataclass(frozen=True)
class LeavingPod:
    """A running pod that may leave its node. `Resident` describes the fields."""

    pod: Pod
    price: int
    claims: tuple[ResourceClaim, ...]
    loss: int | None = None
    budgets: tuple[int, ...] = ()


class Vacancies:
    """The nodes with the pods that may leave them. `ground` is the cluster without these pods."""

    def __init__(self, ground: PlacementCluster, shapes: Sequence[PodKind], residents: Iterable[Resident]) -> None:
        self._ground, self.shapes = ground, shapes
        self._shared_keys = frozenset[str]().union(*(kind.shared for kind in shapes))
        self.residents: dict[str, list[Resident]] = {node.name: [] for node in ground.nodes}
        for resident in residents:
            self.residents[resident.node].append(resident)
        self._full: dict[str, NodeInfo] = {}
        self._layouts: dict[str, _DeviceLayout] = {}
        self._taking: dict[str, tuple[object, ...]] = {}
        self._answers: dict[Hashable, bool] = {}
        self._searched: dict[Hashable, bool] = {}
        """The allocator's results, by everything that the allocator can see."""
        self._refused: dict[tuple[int, Hashable], bool] = {}
        self._within: dict[tuple[int, Amounts], tuple[int, ...]] = {}
        self._empty_fits: dict[tuple[int, Combination], bool] = {}
        self._comings: dict[Combination, _Coming] = {}
        self.apart = any(pod.info.terms.required_anti for kind in shapes for pod in kind.members) or any(
            info.terms.required_anti for node in ground.nodes for info in node.pods.values()
        )
        """True if a pod has a required anti-affinity term."""
        self.asked = 0
        """The number of calls to the allocator."""
        self.shared = tuple(self._users_of_claims())
        """The claims that several of the pods share."""

    def _users_of_claims(self) -> Iterator[ClaimUsers]:
        shapes: dict[str, set[int]] = {}
        for shape, kind in enumerate(self.shapes):
            for key in kind.shared:
                shapes.setdefault(key, set()).add(shape)
        users: dict[str, dict[str, set[int]]] = {}
        for node, here in self.residents.items():
            for position, resident in enumerate(here):
                for claim in resident.claims:
                    if claim.key in shapes:
                        users.setdefault(claim.key, {}).setdefault(node, set()).add(position)
        for key, where in users.items():
            if len(where) == 1:  # devices that several nodes reach hold nobody on a node
                [(node, positions)] = where.items()
                yield ClaimUsers(node, frozenset(positions), frozenset(shapes[key]))

    def together(self, node: str, leaves: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield these pods, and then these pods with all users of some of the claims that they share."""
        here = [users for users in self.shared if users.node == node and users.positions & set(leaves)]
        for number in range(len(here) + 1 if len(here) <= MOST_CLAIMS else 1):
            for some in combinations(here, number):
                yield tuple(sorted({*leaves, *(each for users in some for each in users.positions)}))

    @classmethod
    def of(
        cls, ground: PlacementCluster, leaving: Sequence[LeavingPod], rooms: Sequence[PodKey]
    ) -> tuple[Vacancies, Combination]:
        """Return the vacancies if the pods in `leaving` may leave, and the number of pods of each shape in `rooms`.

        `rooms` are the pods that need room. In `ground`, each pod that may leave has a pending replacement of the same
        name.
        """
        there = {_key(pod): pod for pod in ground.cluster.pods.values()}
        keys = [_key(each.pod) for each in leaving]
        ready: dict[PodKey, PodToPlace] = {key: ground.ready(there[key]) for key in [*keys, *rooms]}
        if any(map(_looks_around, there.values())):
            for each in ready.values():
                each.key = likeness(each)
        kinds = kinds_of(ready.values())
        shapes = PodShapes.of(kinds, {})
        shape_of = {id(member): shapes.of_kinds[index] for index, kind in enumerate(kinds) for member in kind.members}
        residents = [
            Resident(
                ready[key], each.pod.spec.node_name, shape_of[id(ready[key])], each.price, each.claims, each.loss,
                each.budgets,
            )
            for key, each in zip(keys, leaving, strict=True)
            if each.pod.spec.node_name in ground.cluster.nodes
        ]  # fmt: skip
        wanted = Counter(shape_of[id(ready[key])] for key in rooms)
        return cls(ground, shapes.kinds, residents), tuple(wanted[shape] for shape in range(len(shapes.kinds)))

    @cached_property
    def needed(self) -> ShapeNeeds:
        """The amounts that a pod of each shape needs."""
        return ShapeNeeds(self._amounts.needs, self._amounts.parts)

    @cached_property
    def _amounts(self) -> NodeAmounts:
        return NodeAmounts(self._ground, [kind.first for kind in self.shapes], self._shared_keys)

    @cached_property
    def rooms(self) -> list[NodeRoom]:
        """Each node with its free amounts and the pods that may leave it."""
        return [self._room(node) for node in self.residents]

    @cached_property
    def rooms_by_name(self) -> dict[str, NodeRoom]:
        """The entries of `rooms`, by node name."""
        return {room.name: room for room in self.rooms}

    def _room(self, name: str) -> NodeRoom:
        node, here, amounts = self._ground.cluster.nodes[name], self.residents[name], self._amounts
        layout = self._layout(node)
        stays = layout.held if layout is not None else ()
        total = amounts.free(node, stays)
        claims = list(_each_once(here))
        held = [amounts.held(each.candidate, own) for each, own in zip(here, claims, strict=True)]
        free = tuple(have - sum(each[sort] for each in held) for sort, have in enumerate(total))
        devices = amounts.devices(node, [*stays, *(claim for own in claims for claim in own)])
        places = {device: place for place, device in enumerate(devices)}
        takes = [tuple(amounts.places(own, places)) for own in claims]
        users = Counter(place for taken in takes for place, _ in taken)
        groups: dict[Hashable, list[int]] = {}
        for position, each in enumerate(here):
            is_alone = all(users[place] == 1 for place, _ in takes[position])
            key = held[position], each.shape, each.price, None if is_alone else position
            groups.setdefault(key, []).append(position)
        return NodeRoom(
            name=name,
            free=free,
            total=total,
            groups=tuple(
                AlikeResidents(tuple(own), held[own[0]], here[own[0]].shape, here[own[0]].price)
                for own in groups.values()
            ),
            shapes=self._shapes_within(total, name),
            devices=tuple((capacity, amount) for (_, capacity), amount in devices.items()),
            held=tuple(held),
            takes=tuple(takes),
        )

    def _shapes_within(self, total: Amounts, node: str) -> tuple[int, ...]:
        """Return the shapes that the node does not reject and that need no more than its total."""
        key = self.empty_kinds[node], total
        if key not in self._within:
            self._within[key] = tuple(
                shape
                for shape, needs in enumerate(self._amounts.needs)
                if all(need <= have for need, have in zip(needs, total, strict=True) if need)
                and not self._is_refused(shape, node)
            )
        return self._within[key]

    def most_of(self, node: str, shape: int, most: int) -> int:
        """Return how many pods of the shape, at most `most`, fit on the node once the pods that may leave have left."""
        number = 0
        while number < most and self.fits(node, (), self._only(shape, number + 1)):
            number += 1
        return number

    def _only(self, shape: int, number: int) -> Combination:
        return tuple(number if i == shape else 0 for i in range(len(self.shapes)))

    def fits(self, node: str, stay: Sequence[int], comes: Combination) -> bool:
        """Return whether these pods fit on the node if only the pods at the positions in `stay` stay."""
        if stay:
            return self._fits(node, stay, comes)
        key = self.empty_kinds[node], comes
        if key not in self._empty_fits:
            self._empty_fits[key] = self._fits(node, (), comes)
        return self._empty_fits[key]

    @cached_property
    def empty_kinds(self) -> dict[str, int]:
        """A number for each node.

        Nodes with the same number can hold the same pods once the pods that may leave have left.
        """
        numbers: dict[Hashable, int] = {}
        return {n.name: numbers.setdefault(self._empty_kind(n), len(numbers)) for n in self._ground.nodes}

    def _empty_kind(self, node: NodeInfo) -> Hashable:
        layout = self._layout(node)
        if layout is None or self.apart or not all(self._compares_amounts):
            return node.name
        return self._looks[node.name], layout.key, tuple(sorted(self._taken(layout, claim) for claim in layout.held))

    def _fits(self, node: str, stay: Sequence[int], comes: Combination) -> bool:
        coming = self._coming(comes)
        for shape in coming.shapes:
            if self._is_refused(shape, node):
                return False
        if coming.shapes and not self._is_in_numbers(node, stay, comes):
            return False
        pods = [pod for shape in coming.shapes for pod in self.shapes[shape].take(comes[shape])]
        here = self.residents[node]
        trial = self._standing(node, stay)
        if pods and self._ground.lack(pods[0], trial) is not None:
            return False
        if len(trial.pods) + len(pods) > trial.allowed_pods:
            return False
        if len(pods) > 1 and self._ground.counted(pods, trial)[1] is not None:
            return False
        if self.apart and self._shun(trial, [pod.info for pod in pods]):
            return False
        held = {claim.key: claim for position in stay for claim in here[position].claims}
        present = self._shared_keys & held.keys()
        claims = [claim for claim in self._ground.joint_claims(pods, trial) if claim.key not in present]
        return not claims or self._has_devices(trial, held.values(), claims)

    def _is_in_numbers(self, node: str, stay: Sequence[int], comes: Combination) -> bool:
        """Return whether these pods, with those that stay, need no more than the node has in total."""
        return self.rooms_by_name[node].has(self._coming(comes).needs, stay)

    def _coming(self, comes: Combination) -> _Coming:
        if comes not in self._comings:
            shapes = tuple(shape for shape, number in enumerate(comes) if number)
            needs: Counter[int] = Counter()
            for shape in shapes:
                for sort, need in enumerate(self.needed.needs[shape]):
                    needs[sort] += comes[shape] * need
            self._comings[comes] = _Coming(shapes, tuple((sort, need) for sort, need in needs.items() if need))
        return self._comings[comes]

    def _standing(self, node: str, stay: Sequence[int]) -> NodeInfo:
        """Return the node with the residents that stay, which must not be changed."""
        here, empty = self.residents[node], self._ground.cluster.nodes[node]
        if not stay:
            return empty
        if node not in self._full:
            self._full[node] = empty.clone()
            for resident in here:
                self._full[node].add(resident.candidate.info)
        if len(stay) == len(here):
            return self._full[node]
        if 2 * len(stay) > len(here):
            trial, staying = self._full[node].clone(), set(stay)
            for position, resident in enumerate(here):
                if position not in staying:
                    trial.remove(resident.candidate.info.uid)
            return trial
        trial = empty.clone()
        for position in stay:
            trial.add(here[position].candidate.info)
        return trial

    def _is_refused(self, shape: int, node: str) -> bool:
        """Return whether the shape does not fit on the node without its residents, ignoring devices."""
        key = shape, self._looks[node] if self._compares_amounts[shape] else node
        if key not in self._refused:
            ground = self._ground
            self._refused[key] = ground.refusal(self.shapes[shape].first, ground.cluster.nodes[node]) is not None
        return self._refused[key]

    @cached_property
    def _compares_amounts(self) -> list[bool]:
        return [self._ground.compares_amounts(kind.first) for kind in self.shapes]

    @cached_property
    def _looks(self) -> dict[str, Hashable]:
        return {node.name: self._ground.look(node) for node in self._ground.nodes}

    def _shun(self, node: NodeInfo, coming: Sequence[PodInfo]) -> bool:
        """Return whether a required term separates one of the new pods from another one, or from one on the node."""
        present = list(node.pods.values())
        for info in coming:
            if any(self._may_not_meet(node, info, other) for other in present if other is not info):
                return True
            present.append(info)
        return False

    def _may_not_meet(self, node: NodeInfo, one: PodInfo, other: PodInfo) -> bool:
        names = self._ground.cluster.namespace_labels
        return any(
            term.topology_key in node.labels and term.matches(against.pod, names)
            for info, against in ((one, other), (other, one))
            for term in info.terms.required_anti
        )

    def _has_devices(self, node: NodeInfo, staying: Iterable[ResourceClaim], claims: Sequence[ResourceClaim]) -> bool:
        layout = self._layout(node)
        if layout is None:
            return True
        held = [*layout.held, *staying]
        key = (layout.key, tuple(sorted(self._taken(layout, claim) for claim in held)), tuple(sorted(encoded(claims))))
        if key not in self._answers:
            self.asked += 1
            self._answers[key] = self._allocates(node, held, claims)
        return self._answers[key]

    def _taken(self, layout: _DeviceLayout, claim: ResourceClaim) -> tuple[object, ...]:
        if claim.key not in self._taking:
            self._taking[claim.key] = layout.shape_of(claim)
        return self._taking[claim.key]

    def _allocates(self, node: NodeInfo, held: Sequence[ResourceClaim], claims: Sequence[ResourceClaim]) -> bool:
        ground = self._ground
        state = AllocatedState.of(held, consumable_capacity=ground.target.features.consumable_capacity)
        view = ground.joint.with_state(state)
        key = ground.signature(node, claims, view)
        if key in self._searched:
            return self._searched[key]
        outcome = ground.allocate(claims, node, view)
        if outcome.outcome not in (Outcome.FITS, Outcome.UNDECIDED, Outcome.DOES_NOT_FIT):
            promised = ground.allocate(claims, node, ground.promised.with_state(state)).outcome
            return promised in (Outcome.FITS, Outcome.UNDECIDED)
        fits = outcome.outcome is not Outcome.DOES_NOT_FIT
        fits = fits or bool(BY_ORDER.intersection(ground.target.quirks.among(outcome.sighted)))
        if key is not None:
            self._searched[key] = fits
        return fits

    def _layout(self, node: NodeInfo) -> _DeviceLayout | None:
        if node.name not in self._layouts:
            try:
                self._layouts[node.name] = _DeviceLayout.of(self._ground, node)
            except AllocationError:
                return None
        return self._layouts[node.name]

    # Pods that have to leave

    def leavings(self, node: str, comes: Combination) -> Leavings:
        """Return the sets of pods that can leave the node to make room for these pods."""
        here = self.residents[node]
        everybody = range(len(here))
        if not self.fits(node, (), comes):
            return Leavings((), None)
        if self.fits(node, everybody, comes):
            return Leavings(((),), 0)
        needed = [each for each in everybody if not self.fits(node, (each,), comes)]
        others = [each for each in everybody if each not in needed]
        if self.fits(node, others, comes):
            return Leavings((tuple(needed),), self._price(node, needed))
        if len(others) <= MOST_SUBSETS:
            sets = tuple(self._smallest(node, comes, needed, others))
            return Leavings(sets, min(self._price(node, each) for each in sets))
        one = self._reduced(node, comes, needed, others)
        least = self._price(node, needed) + min(here[each].price for each in others)
        return Leavings((one,), least, complete=self._price(node, one) == least)

    def _price(self, node: str, who: Iterable[int]) -> int:
        here = self.residents[node]
        return sum(here[each].price for each in who)

    def _smallest(
        self, node: str, comes: Combination, needed: Sequence[int], others: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        """Yield all sets that are enough and in which every pod has to leave."""
        found: list[set[int]] = []
        for number in range(1, len(others) + 1):
            for more in combinations(others, number):
                if any(each <= set(more) for each in found):
                    continue
                if self.fits(node, [each for each in others if each not in more], comes):
                    found.append(set(more))
                    yield tuple(sorted((*needed, *more)))

    def _reduced(self, node: str, comes: Combination, needed: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
        """Return one such set; the most expensive pods stay first, as long as the rest are still enough."""
        here = self.residents[node]
        going = sorted(others, key=lambda each: (-here[each].price, -len(here[each].claims), each))
        for each in list(going):
            left = [other for other in going if other != each]
            if self.fits(node, [other for other in others if other not in left], comes):
                going = left
        return tuple(sorted((*needed, *going)))


def _key(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name


def _looks_around(pod: Pod) -> bool:
    """Return whether filters read properties of the pod that do not depend on a single node and the pod alone."""
    affinity = pod.spec.affinity
    by_pods = affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)
    return by_pods or bool(pod.spec.topology_spread_constraints or pod.spec.volumes)


def likeness(candidate: PodToPlace) -> Hashable:
    """Return a key that is equal for pods that are alike even if pods affect each other.

    It contains the requirements for a node, labels, affinity, spread constraints and volumes. It is None if no pod is
    like this one.
    """
    metadata, spec = candidate.pod.metadata, candidate.pod.spec
    told = msgspec.json.encode((spec.affinity, spec.topology_spread_constraints, spec.volumes))
    labels = tuple(sorted((metadata.labels or {}).items()))
    return None if candidate.key is None else (candidate.key, metadata.namespace, labels, told)


def _each_once(residents: Iterable[Resident]) -> Iterator[list[ResourceClaim]]:
    """Yield the claims of each resident; those that it shares with an earlier one are that one's."""
    seen: set[str] = set()
    for resident in residents:
        yield [claim for claim in resident.claims if claim.key not in seen]
        seen.update(claim.key for claim in resident.claims)


@dataclass(frozen=True)
class _DeviceLayout:
    """A node's devices, and the claims on them by pods that stay in any case."""

    key: Hashable
    held: tuple[ResourceClaim, ...]
    places: Mapping[tuple[str, str], int]
    """The pools' positions, by which devices on nodes that are alike count as the same."""

    @classmethod
    def of(cls, ground: PlacementCluster, node: NodeInfo) -> _DeviceLayout:
        """Create the layout. Raises AllocationError if gathering does."""
        pools = ground.view.gatherer.gather(node.node)
        held = tuple(ground.holding(node.name))
        places = {(pool.id.driver, pool.id.pool): index for index, pool in enumerate(pools)}
        slices = [slice_.object for pool in pools for slice_ in (*pool.slices, *pool.counter_slices, *pool.elsewhere)]
        is_own = all(each.spec.node_name for each in slices) and not ground.simulation.inventory.taint_rules
        is_sound = not any(pool.incomplete or pool.problem is not None for pool in pools)
        if not is_own or not is_sound or ground.target.features.node_allocatable:
            return cls(node.name, held, places)
        parts = tuple(
            (each.spec.driver, msgspec.json.encode((each.spec.devices, each.spec.shared_counters))) for each in slices
        )
        return cls(parts, held, places)

    def shape_of(self, claim: ResourceClaim) -> tuple[object, ...]:
        """Return a key for the claim's devices.

        Claims that take the same devices from similar nodes have equal keys.
        """
        results = claim.allocation.devices.results if claim.allocation is not None else ()
        return tuple(
            sorted(
                (
                    self.places.get((each.driver, each.pool), -1),
                    each.driver,
                    each.pool if (each.driver, each.pool) not in self.places else "",
                    each.device,
                    bool(each.admin_access),
                    each.share_id is not None,
                    msgspec.json.encode(each.consumed_capacity),
                )
                for each in results
            )
        )
