"""R5: states from which nothing was found, so that equal ones need not be searched again.

Two states are equal if the remaining requests can't tell them apart: as many free devices of each kind, the same
values in use, the same left of counters and of each shared device. Copies of a block may change places (see `shapes`).
"""

from __future__ import annotations

from collections.abc import Hashable

from dra_plan.allocator.ledger import Ledger
from dra_plan.allocator.pools import PoolDevice
from dra_plan.allocator.requests import RESULTS_LIMIT

from .facts import Facts
from .outlook import Moment
from .shapes import Block, Shapes, depends_on_order
from .values import Token, Values

_MOST_STATES = 100_000
"""States that are kept; enough for every search that ends within its steps, and a bound for memory."""


class Memory:
    """The failed states of one search.

    Safe: a state is stored only if the walk from it found nothing and stayed within the horizon, and what the walk
    does there depends on nothing but the state. Only failures are stored, so the first solution stays the first.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._failed: set[Hashable] = set()
        self._shapes: dict[tuple[int, int], Shapes] = {}
        self._numbers: dict[Hashable, int] = {}
        self._admin = [any(want.admin for wants in ready.requests for want in wants) for ready in facts.space.claims]
        self._counts_results = [facts.most(claim) > RESULTS_LIMIT for claim in range(len(facts.space.claims))]

    def shapes(self, start: int, end: int) -> Shapes:
        """The shapes of the devices for the requests from `start` up to `end`."""
        if (start, end) not in self._shapes:
            self._shapes[start, end] = Shapes(self._facts, start, end)
        return self._shapes[start, end]

    def key(self, moment: Moment, horizon: int) -> Hashable | None:
        """The state at a moment, or None where it can't be told: within a request whose order matters (Q2)."""
        option = moment.option
        if "R5" not in self._facts.rules:
            return None
        if option is not None and moment.slot and depends_on_order(option, self._facts):
            return None
        shapes = self.shapes(moment.request, horizon)
        claim = self._facts.requests[moment.request].claim
        ledger, free = moment.ledger, ~moment.taken
        candidates = moment.candidates & free
        used = _in_use(shapes, ledger)
        return (
            moment.request,
            horizon,
            option.want.option_index if option is not None else -1,
            moment.slot,
            len(ledger.results[claim]) if self._counts_results[claim] else 0,
            (moment.taken, moment.mine[claim]) if self._admin[claim] else None,
            tuple([((mask & candidates).bit_count(), (mask & free).bit_count()) for mask in shapes.loose]),
            tuple([_constraint_state(values, ledger) for values in shapes.values]),
            tuple(sorted([self._number(self._block_state(b, candidates, moment, used)) for b in shapes.blocks])),
        )

    def knows(self, key: Hashable) -> bool:
        """Whether nothing was found from that state before."""
        return key in self._failed

    def store(self, key: Hashable) -> None:
        """Nothing was found from that state."""
        if len(self._failed) < _MOST_STATES:
            self._failed.add(key)

    def _number(self, state: Hashable) -> int:
        """A number for each different state: numbers can be sorted, states can't."""
        return self._numbers.setdefault(state, len(self._numbers))

    def _block_state(self, block: Block, candidates: int, moment: Moment, used: set[tuple[Values, Token]]) -> Hashable:
        free, ledger = ~moment.taken, moment.ledger
        return (
            self._number(block.kind),
            tuple([((mask & candidates).bit_count(), (mask & free).bit_count()) for mask in block.classes]),
            tuple([self._left(device, key, ledger) for device, key in block.counters]),
            tuple([token in used for token in block.tokens]),
            tuple([self._facts.left(device, ledger) for device in block.shared]),
        )

    def _left(self, device: PoolDevice, key: tuple[Hashable, str, str], ledger: Ledger) -> int | None:
        """What is left of a counter; None where there is no such limit."""
        table = self._facts.taker.foreseen(device)
        total = table.left.get(key[1:]) if table is not None else None
        return None if total is None else total - ledger.counters.get(key, 0)


def _in_use(shapes: Shapes, ledger: Ledger) -> set[tuple[Values, Token]]:
    """The values that are pinned or remembered, by constraint."""
    used: set[tuple[Values, Token]] = set()
    for values in shapes.values:
        tokens = values.pinned(ledger) or () if values.is_match else values.remembered(ledger)
        used.update((values, token) for token in tokens)
    return used


def _constraint_state(values: Values, ledger: Ledger) -> Hashable:
    """What blocks don't tell of a constraint: lists as a whole, and whether any value is in use."""
    pinned = values.pinned(ledger) if values.is_match else tuple(values.remembered(ledger))
    if values.constraint.lists and pinned is not None:
        return tuple(sorted(pinned, key=repr))
    return pinned is not None if values.is_match else bool(ledger.remembered.get(values.constraint))
