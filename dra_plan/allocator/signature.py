"""Share results between nodes that look the same to a set of claims.

Most nodes in a fleet have equal free devices in the same order. A node's signature describes everything that a search
reads; devices that no request can take are left out. Results are stored by signature, with the number of steps that
they took. If a signature cannot describe a node, the node is searched separately.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from operator import and_
from typing import NamedTuple

from dra_plan.releases import Quirk, Target

from .capacity import Counters, Steps, short
from .constraints import UNKNOWN, AttributeValue
from .kinds import KnownKinds, NodeStates
from .ledger import FREE, AllocatedState, DeviceUse
from .pools import Pool, PoolDevice, PoolSlice
from .reasons import SelectorError
from .requests import ClaimRequests, Want
from .results import Take, can_be_late
from .search import Search

# -- the signature of a node ------------------------------------------------------------------------------------------

Place = tuple[PoolSlice, int]
"""A device, as its slice and its index in the slice."""

_END_OF_SLICE, _NO_VALUE, _UNKNOWN_VALUE = -1, -2, -3


class _Row(NamedTuple):
    """A group of devices that differ only in the values that constraints compare.

    `number` is None if none is requested.
    """

    number: int | None
    values: tuple[Hashable, ...]
    """One entry per constraint: a marker if there is no value, the value itself if lists are compared, otherwise its
    number."""
    consumes: bool


_Rows = tuple[tuple[_Row, int], ...]
"""The devices of a slice that some request may take, with their indices."""


class _Look(NamedTuple):
    """A slice as a search sees it; slices that look the same share one object.

    `key` is the slice's part of each node's signature; it is None if that part depends on the node's other slices.
    """

    rows: _Rows
    key: Hashable | None


_SEARCHED = slice(2, 5)
"""The fields of a `DeviceFacts` that a search reads itself, in addition to selectors and constraints."""


class Signature(NamedTuple):
    """Everything that a search can see of a node, and the slices whose devices it can take.

    Nodes with equal keys have the same result.
    """

    key: Hashable
    slices: list[tuple[PoolSlice, _Rows]]

    @property
    def places(self) -> list[Place]:
        """The devices that a search can take on the node, in search order."""
        return [(slice_, index) for slice_, rows in self.slices for _, index in rows]


_NOTHING = object()
"""A placeholder for the capacity of a device that cannot give any to a request."""
_NOT_SEEN = _Row(None, (), consumes=False)
"""A placeholder for a row that does not exist yet; its parts are hashed only once."""


class Observer:
    """Creates the signatures of nodes for one set of claims.

    `is_able` is false if the claims rule out signatures. If `exact` is true, a signature contains the exact amounts
    left on shared devices; otherwise, it only says whether they are enough for one search.
    """

    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        state: AllocatedState,
        counters: Counters,
        target: Target,
        known: KnownKinds | None = None,
        *,
        exact: bool = True,
    ) -> None:
        """Create an observer. `known` are the device kinds that other observers have found in the same slices."""
        self._state, self._counters, self._target = state, counters, target
        self._features, self._rules = target.features, target.rules
        self._wants = [want for ready in claims for wants in ready.requests for want in wants]
        self._constraints = [constraint for ready in claims for constraint in ready.constraints]
        self._takes_one = (
            not exact
            and [len(ready.requests) for ready in claims] == [1]
            and not any(want.admin or want.takes_all or want.count != 1 for want in self._wants)
        )
        """True if a search takes only one device, the first suitable one."""
        self._minds_used = any(want.admin or want.takes_all for want in self._wants)
        """True if some request checks allocated devices; other requests skip these devices without a step."""
        self._lists = any(constraint.lists for constraint in self._constraints)
        self._rows: dict[tuple[int | None, DeviceUse], _Row | None] = {}
        """The rows, keyed by the number of the device's kind and by its use."""
        self._numbers: dict[Hashable, int] = {}
        self._values: dict[Hashable, int] = {}
        self._looks: dict[tuple[tuple[int | None, ...], Sequence[DeviceUse] | None], _Look | None] = {}
        """The looks of slices, keyed by the kinds of their devices and their use; the use is None if all are free."""
        self._like_looks: dict[_Rows, _Look] = {}
        self._by_state: dict[int, int | None] = {}
        """The number of a device's row, keyed by the number of its state; None if no request can take the device."""
        self._shared: dict[PoolSlice, _Look | None] = {}
        """The looks of slices that several nodes see."""
        # With C1, a device's position in the slice matters, including the devices that signatures omit.
        by_position = target.quirks.capacity_of_wrong_device and target.features.consumable_capacity
        self._kinds = None if by_position else (known or KnownKinds()).of(claims)
        self.is_able = self._kinds is not None

    @property
    def node_states(self) -> NodeStates | None:
        """The states of nodes, or None if they cannot be used. Nodes in the same state have equal signatures."""
        return None if self._kinds is None else self._kinds.states

    def key_of(self, state: int) -> Hashable | None:
        """Return the signature key of all nodes in this state, or None if their keys may differ."""
        states, known = self.node_states, self._by_state
        if states is None or self._constraints:
            return None
        key: list[Hashable] = []
        for devices in states.slices[state]:
            for device in devices:
                if device not in known:
                    row = self._row_of(*states.devices[device])
                    if row is None or row.consumes:
                        return None
                    known[device] = row.number
            numbers = tuple([number for number in map(known.__getitem__, devices) if number is not None])
            if numbers:
                key.append(numbers)
        return tuple(key)

    def _row_of(self, kind: int | None, use: DeviceUse, device: PoolDevice) -> _Row | None:
        """Return the row of a device with that kind and use.

        For a device that is skipped, the row that no request can take.
        """
        if use[0] and not self._minds_used:
            return _NOT_SEEN
        row = self._rows.get((kind, use), _NOT_SEEN)
        if row is _NOT_SEEN:
            row = self._rows[kind, use] = self._new_row(kind, use, device)
        return row

    def go_on(self, state: AllocatedState, counters: Counters) -> None:
        """Continue with other devices in use. Earlier signatures stay comparable with later ones."""
        self._state, self._counters = state, counters
        self._shared.clear()

    def signature(self, pools: Sequence[Pool]) -> Signature | None:
        """Return the signature of a node with these pools, or None if the node must be searched separately."""
        key: list[Hashable] = []
        slices: list[tuple[PoolSlice, _Rows]] = []
        seen: dict[Hashable, int] = {}
        for pool in pools:
            if not pool.usable:
                return None
            for slice_ in pool.slices:
                look = self._look_of(slice_)
                if look is None:
                    return None
                if not look.rows:
                    continue
                slices.append((slice_, look.rows))
                if look.key is not None:
                    key.append(look.key)
                    continue
                for (number, values, consumes), index in look.rows:
                    if consumes:
                        table = self._table(slice_.devices[index], pool)
                        if table is None:
                            return None
                        key.append(table)
                    key.append(number)
                    # Values only agree or differ, so they are numbered in the order in which they occur on the node.
                    key += values if self._lists else [seen.setdefault(v, len(seen)) if v >= 0 else v for v in values]  # type: ignore[operator]
                key.append(_END_OF_SLICE)
        return Signature(tuple(key), slices)

    def _value(self, constraint: int, value: AttributeValue | None) -> Hashable:
        """Return a stand-in for the value; lists can overlap and are returned unchanged."""
        if value is None:
            return _NO_VALUE
        if value is UNKNOWN:
            return _UNKNOWN_VALUE
        return value if self._lists else self._values.setdefault((constraint, value), len(self._values))

    def _table(self, device: PoolDevice, pool: Pool) -> Hashable | None:
        """Return the counter table that the device is charged to, if it is certain which one it is (Q1)."""
        if not self._rules.counter_slices:
            return None
        table = self._counters.foreseen(device, pool)
        return None if table is None else (table.pool == pool.id, tuple(table.left.items()))

    # -- devices -------------------------------------------------------------------------------------------------

    def _look_of(self, slice_: PoolSlice) -> _Look | None:
        """Return how a search sees a slice; None if a search is needed.

        Slices that several nodes see are examined once.
        """
        if slice_.object.spec.node_name:
            return self._look(slice_)
        if slice_ not in self._shared:
            self._shared[slice_] = self._look(slice_)
        return self._shared[slice_]

    def _look(self, slice_: PoolSlice) -> _Look | None:
        if slice_.object.spec.per_device_node_selection or self._kinds is None:
            return None
        pool, uses = slice_.pool_id, None
        if self._state.dedicated_in(pool) or self._state.shares_in(pool):
            uses = self._state.uses(pool, slice_, slice_.device_names)
        of = (self._kinds.of(slice_), uses)
        if of not in self._looks:
            rows = self._rows_among(slice_, *of)
            self._looks[of] = None if rows is None else self._like_looks.setdefault(rows, self._new_look(rows))
        return self._looks[of]

    def _new_look(self, rows: _Rows) -> _Look:
        depends = bool(self._constraints) or any(row.consumes for row, _ in rows)
        return _Look(rows, None if depends else tuple([row.number for row, _ in rows]))

    def _rows_among(
        self, slice_: PoolSlice, kinds: Sequence[int | None], uses: Sequence[DeviceUse] | None
    ) -> _Rows | None:
        """Return the devices that some request may take, with their indices; None if a device cannot be evaluated."""
        found: list[tuple[_Row, int]] = []
        known, keeps_used = self._rows, self._minds_used
        each_use: Iterable[DeviceUse] = repeat(FREE, len(kinds)) if uses is None else uses
        for index, raw in enumerate(zip(kinds, each_use, strict=True)):
            if raw[1][0] and not keeps_used:
                continue
            row = known.get(raw, _NOT_SEEN)
            if row is _NOT_SEEN:
                row = known[raw] = self._new_row(*raw, slice_.devices[index])
            if row is None:
                return None
            if row.number is not None:
                found.append((row, index))
        return tuple(found)

    def _new_row(self, kind: int | None, use: DeviceUse, device: PoolDevice) -> _Row | None:
        """Return the row of a device unlike all earlier ones, or None if it cannot be evaluated or a selector fails.

        Only a search can handle that.
        """
        if kind is None or self._kinds is None:
            return None
        is_used, shared = use
        try:
            wanted = tuple([self._is_wanted(want, device) for want in self._wants])
        except SelectorError:
            return None
        number = None
        left = self._left(wanted, device, shared)
        if any(wanted) and left is not _NOTHING:
            key = (wanted, is_used, left, self._kinds.kinds[kind][_SEARCHED])
            number = self._numbers.setdefault(key, len(self._numbers))
        values = tuple([self._value(at, each.value(device)) for at, each in enumerate(self._constraints)])
        consumes = bool(device.device.consumes_counters) and self._features.partitionable_devices
        return _Row(number, values, consumes)

    def _left(self, wanted: Sequence[bool], device: PoolDevice, shared: tuple[tuple[str, int], ...] | None) -> Hashable:
        """Return what a search can see of the remaining capacity; `_NOTHING` if no request can use the device.

        A search for a single device only checks, for each want, that enough is left.
        """
        if not self._takes_one or not self._features.consumable_capacity or device.device.consumes_counters:
            return shared
        if not device.device.allow_multiple_allocations:
            return shared
        steps, used = Steps.of(self._target), dict(shared or ())
        demands = [steps.demand(want.capacity, device) for want in self._wants]
        fits = tuple([each.refusal is None and short(each.portions, used, None) is None for each in demands])
        if any(each.problem or each.sighted for each in demands):
            return fits
        return fits if any(map(and_, fits, wanted)) else _NOTHING

    def _is_wanted(self, want: Want, device: PoolDevice) -> bool:
        if device.device.binding_conditions and not self._features.binding_conditions:
            return False
        return want.selector_refusal(device) is None


# -- results shared by nodes with one signature ------------------------------------------------------------------------
# The search on the first node with a signature finds out which devices are taken. On the other nodes, the devices at
# the same positions are taken, and their results are rewritten. Results whose text names a node or its devices are not
# shared.

PLAIN_NODES = 3
"""The number of nodes that are searched separately first, because a small cluster gains nothing from signatures."""


class Answer(NamedTuple):
    """The result of a search, valid for all nodes with the same signature.

    `takes` are the devices of each claim, as positions in the signature, or None if there is no solution. `gave_up`
    says why a search is undecided.
    """

    takes: list[list[tuple[Take, int]]] | None
    chosen: list[dict[int, int]]
    steps: int
    sighted: frozenset[Quirk]
    gave_up: str = ""

    def takes_at(self, signature: Signature) -> list[list[Take]]:
        """Return the devices of each claim on a node with this signature."""
        at = signature.places
        return [
            [take._replace(device=at[place][0].devices[at[place][1]]) for take, place in claim]
            for claim in self.takes or ()
        ]


class Likeness:
    """The results for one set of claims, by signature. Several allocators can use the store, one after the other."""

    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        state: AllocatedState,
        counters: Counters,
        target: Target,
        known: KnownKinds | None = None,
        *,
        exact: bool = False,
    ) -> None:
        """Create an empty store.

        If `exact` is true, signatures contain the exact amounts left on shared devices. `known` are the device kinds
        that earlier searches have found in the same slices.
        """
        self._made_of = (claims, state, counters, target)
        self._known = known
        self._exact = exact
        self._observer: Observer | None = None
        self._answers: dict[Hashable, Answer] = {}
        self._asked = 0

    def go_on(self, state: AllocatedState, counters: Counters) -> None:
        """Continue with another allocator for the same slices, with other devices in use.

        The stored results stay valid, because a signature describes the devices in use.
        """
        claims, _, _, target = self._made_of
        self._made_of = (claims, state, counters, target)
        if self._observer is not None:
            self._observer.go_on(state, counters)

    @property
    def claims(self) -> Sequence[ClaimRequests]:
        """The claims of the first allocator. Those of later allocators may differ in their names only."""
        return self._made_of[0]

    def signature(self, pools: Sequence[Pool]) -> Signature | None:
        """Return the signature of a node with these pools, or None if the node must be searched separately.

        The first `PLAIN_NODES` nodes are always searched separately.
        """
        self._asked += 1
        if self._asked <= PLAIN_NODES:
            return None
        observer = self._observer
        if observer is None:
            observer = self._observer = Observer(*self._made_of, self._known, exact=self._exact)
        return observer.signature(pools) if observer.is_able else None

    @property
    def node_states(self) -> NodeStates | None:
        """The states of nodes, or None if they are not known or cannot be used.

        Nodes in the same state have the same result, which is never an error.
        """
        observer = self._observer
        if observer is None or not can_be_late(self.claims, ()):
            return None
        return observer.node_states

    def fits_in(self, state: int) -> bool | None:
        """Return whether the claims fit on nodes in this state, or None if this is not known."""
        observer = self._observer
        key = observer.key_of(state) if observer is not None else None
        answer = self._answers.get(key) if key is not None else None
        return None if answer is None or answer.gave_up else answer.takes is not None

    def recall(self, signature: Signature) -> Answer | None:
        """Return the stored result for the signature, or None."""
        return self._answers.get(signature.key)

    def remember(self, signature: Signature, search: Search, *, found: bool, gave_up: str = "") -> None:
        """Store the result of a search on a node with this signature."""
        takes = None
        if found:
            positions = {slice_.devices[index]: place for place, (slice_, index) in enumerate(signature.places)}
            takes = [[(take, positions[take.device]) for take in claim] for claim in search.ledger.results]
        answer = Answer(takes, search.chosen, search.steps, frozenset(search.sighted), gave_up)
        self._answers.setdefault(signature.key, answer)
