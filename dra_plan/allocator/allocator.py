"""The entry point of the allocator: given the claims and the devices in use, find devices on each node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial

from dra_plan.api.core import Node
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.releases import Quirk

from .capacity import Counters
from .pools import KnownPools, Pool
from .pruning_rules import USUAL, Pruning
from .reasons import AllocationError, Cause, NodeAllocationError, StepsExhaustedError
from .requests import ClaimRequests
from .results import LateResults, ResultMaker, Take, can_be_late
from .search import NOTHING_SIGHTED, NodeOutcome, Outcome, Search
from .signature import Answer, Likeness, Signature
from .view import View
from .walk import Probe, SearchLimits

DEFAULT_MAX_STEPS = 250_000
"""The number of steps after which a search is undecided. It is fixed, so that results do not depend on the machine."""

INVALID_POOLS = Cause("invalid-pools", "invalid resource pools were encountered")


class Allocator:
    """Allocates devices to a set of claims, one node at a time. Allocators are thread-safe.

    A search ends without a result (Undecided) after `max_steps` steps (default: `DEFAULT_MAX_STEPS`), or when
    `time.monotonic` reaches `deadline`.
    """

    def __init__(
        self,
        claims: Iterable[ResourceClaim],
        view: View,
        *,
        max_steps: int | None = None,
        deadline: float | None = None,
        pruning: Pruning = USUAL,
        shares_answers: bool = True,
        likeness: Likeness | None = None,
        pools: KnownPools | None = None,
    ) -> None:
        """Create an allocator. Pass `likeness` and `pools` to reuse work from earlier allocators.

        `likeness` must come from an allocator with the same requests, slices and limits. If `pools` is passed,
        allocation results are built only when they are read.
        """
        self.claims_to_allocate = tuple(claims)
        self._view, self._target = view, view.target
        self._limits = SearchLimits(DEFAULT_MAX_STEPS if max_steps is None else max_steps, deadline)
        self._pruning = pruning
        self._counters = Counters(view.state, self._target, view.gatherer.slices, lambda: view.shared_counter_names)
        self._writes_late = pools is not None
        self._gather = view.gatherer.gather if pools is None else pools.gather
        self.likeness: Likeness | None = likeness
        """The results shared between nodes, or None if results are not shared."""
        if likeness is not None:
            likeness.go_on(view.state, self._counters)
        elif shares_answers:
            exact = view.device_order is not None  # an order may depend on the remaining capacity
            self.likeness = Likeness(
                self._claims, view.state, self._counters, self._target, view.device_kinds, exact=exact
            )

    @cached_property
    def _claims(self) -> list[ClaimRequests]:
        return self._view.requests(self.claims_to_allocate)

    def allocate(self, node: Node, probe: Probe | None = None) -> NodeOutcome:
        """Return whether the claims fit on the node, and with which devices. Nothing is allocated.

        Nodes that do not differ in anything relevant to the claims share one search, unless a `probe` is passed to
        observe the search. The outcome does not depend on other nodes, with one exception: kube-scheduler keeps
        counters by pool name (defect Q1 in docs/quirks.md).
        """
        name = node.metadata.name
        sighted: set[Quirk] = set()
        try:
            pools = self._gather(node, sighted=sighted)
        except AllocationError as error:
            return NodeOutcome(name, Outcome.ERROR, message=str(error), error=error)
        signature = self.likeness.signature(pools) if self.likeness is not None and probe is None else None
        answer = self.likeness.recall(signature) if self.likeness is not None and signature is not None else None
        if answer is not None and signature is not None:
            return self._recalled(answer, signature, name, sighted)
        return self._searched(self._search(node, pools, probe), signature, name, sighted)

    def _searched(self, search: Search, signature: Signature | None, name: str, sighted: set[Quirk]) -> NodeOutcome:
        maker = ResultMaker(name, self._target)
        outcome, allocations, message = Outcome.DOES_NOT_FIT, [], ""
        ended: AllocationError | NodeAllocationError | None = None
        try:
            found = search.run()
            self._remember(signature, search, found=found)
            if found:
                allocations = self._results(maker, search.ledger.results, search.chosen)
                outcome = Outcome.FITS
            else:
                _check_pools(search.pools, skips=self._target.rules.skips_unusable_pools)
        except AllocationError as error:
            outcome, message, ended = Outcome.ERROR, str(error), error
        except NodeAllocationError as error:
            outcome, message, ended = Outcome.NODE_ERROR, str(error), error
        except StepsExhaustedError as error:
            outcome, message = Outcome.UNDECIDED, str(error)
            if self._limits.deadline is None:
                self._remember(signature, search, found=False, gave_up=message)
        sighted |= search.sighted | maker.sighted
        known = frozenset(sighted) if sighted else NOTHING_SIGHTED
        return NodeOutcome(name, outcome, allocations, message, search.steps, known, ended)

    def _recalled(self, answer: Answer, signature: Signature, name: str, sighted: set[Quirk]) -> NodeOutcome:
        """Return the result of another node's search, rewritten for this node."""
        known = answer.sighted | sighted if sighted else answer.sighted
        if answer.takes is None:
            outcome = Outcome.UNDECIDED if answer.gave_up else Outcome.DOES_NOT_FIT
            return NodeOutcome(name, outcome, (), answer.gave_up, answer.steps, known)
        slices = [slice_ for slice_, _ in signature.slices]
        if self._writes_late and self.likeness is not None and can_be_late(self.likeness.claims, slices):
            takes = partial(answer.takes_at, signature)
            late = LateResults(name, self._target, self.likeness.claims, takes, answer.chosen)
            return NodeOutcome(name, Outcome.FITS, late, "", answer.steps, known)
        maker = ResultMaker(name, self._target)
        try:
            allocations = self._results(maker, answer.takes_at(signature), answer.chosen)
        except AllocationError as error:
            return NodeOutcome(name, Outcome.ERROR, (), str(error), answer.steps, known | maker.sighted, error)
        known = known | maker.sighted if maker.sighted else known
        return NodeOutcome(name, Outcome.FITS, allocations, "", answer.steps, known)

    def _remember(self, signature: Signature | None, search: Search, *, found: bool, gave_up: str = "") -> None:
        if self.likeness is not None and signature is not None:
            self.likeness.remember(signature, search, found=found, gave_up=gave_up)

    def effort(self, node: Node, answer: NodeOutcome) -> float:
        """Estimate the number of steps that a search without shortcuts takes to find `answer`.

        If `answer` has no allocations, estimate the number of steps to try every choice.
        """
        return self._search(node, self._view.gatherer.gather(node)).effort(answer.allocations)

    def _search(self, node: Node, pools: Sequence[Pool], probe: Probe | None = None) -> Search:
        target = self._target
        return Search(
            node,
            pools,
            self._claims,
            self._view.state,
            self._counters,
            target.features,
            target.rules,
            target.quirks,
            self._limits,
            probe,
            self._pruning,
            self._view.device_order,
        )

    def _results(
        self, maker: ResultMaker, takes: Sequence[list[Take]], chosen: Sequence[dict[int, int]]
    ) -> list[AllocationResult]:
        """Return the results of all claims, each built from its takes and its chosen alternatives."""
        return [maker.result(*each) for each in zip(self._claims, takes, chosen, strict=True)]


def _check_pools(pools: Sequence[Pool], *, skips: bool) -> None:
    """Raise this node's error if no devices were found and an invalid pool was skipped."""
    if skips and any(pool.problem for pool in pools):
        raise NodeAllocationError(INVALID_POOLS)
