"""The largest combinations of pods that fit on a node of one kind, found with the allocator and the filters.

A combination is a number of pods of each kind. If it fits, every smaller combination fits too; if it does not, no
larger one does. Most results therefore follow from earlier ones.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dra_plan.allocator import NodeOutcome, Outcome
from dra_plan.api.resource import ResourceClaim
from dra_plan.releases import Quirk

from .limits import StepBudget
from .node_kinds import AlikeNodes, PlacementCluster, PodKind, PodToPlace
from .verify import CarriedOut

Combination = tuple[int, ...]

MOST_QUESTIONS = 2_000
MOST_VISITS = 20_000
"""The maximum number of combinations examined for a kind of node. The others are undecided."""
_MOST_SHARED_CLAIMS = 6
"""The number of shared claims above which only some of the sets on a node are examined."""

BY_ORDER: frozenset[Quirk] = frozenset(
    {"all_alternative_loses_index", "all_drops_exhausted", "capacity_of_wrong_device", "counters_by_pool_name"}
)
"""The defects that make results depend on the order of pods, or on nodes examined earlier."""


class FitAnswer(enum.Enum):
    """The result of a query: the combination of pods fits, does not fit, or is undecided."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True)
class NodeCapacity:
    """The combinations of pods that fit on a node of one kind.

    `inner` are the largest combinations that certainly fit. Every combination that may fit is part of one in `outer`.
    Both are equal if every result is certain.
    """

    inner: tuple[Combination, ...]
    outer: tuple[Combination, ...]
    complete: bool = True
    """False if the limit on queries was reached."""


class NodeQuestions:
    """Queries about the combinations of pods that fit on a node of one kind. Results are cached."""

    def __init__(
        self,
        ground: PlacementCluster,
        kinds: Sequence[PodKind],
        node_kind: AlikeNodes,
        budget: StepBudget | None = None,
    ) -> None:
        """Set up the queries. With a step budget, fewer of them are decided."""
        self._ground, self._kinds, self._node, self._budget = ground, kinds, node_kind.first, budget
        limit = max(0, self._node.allowed_pods - len(self._node.pods))
        self._allowed = [
            0 if refusal is not None else min(kind.count, limit)
            for kind, refusal in zip(kinds, node_kind.refusals, strict=True)
        ]
        self._fits: list[Combination] = []
        self._fails: list[Combination] = []
        self._open: set[Combination] = set()
        self._asked = self._visited = 0

    @property
    def _is_exhausted(self) -> bool:
        is_spent = self._budget is not None and self._budget.is_spent
        return is_spent or self._ground.time.is_over or self._asked > MOST_QUESTIONS or self._visited > MOST_VISITS

    @cached_property
    def most_of(self) -> list[int]:
        """The largest number of pods of each kind that may fit on the node."""
        nothing = [0] * len(self._allowed)
        return [
            self._most_beside(nothing, index, most, (FitAnswer.YES, FitAnswer.OPEN)) if most else 0
            for index, most in enumerate(self._allowed)
        ]

    @property
    def combinations(self) -> int:
        """An upper bound on the number of combinations."""
        return math.prod(most + 1 for most in self.most_of)

    def room(self) -> NodeCapacity:
        """Return the combinations that fit on the node, within the limit on queries."""
        inner: dict[Combination, None] = {}
        outer: dict[Combination, None] = {}
        complete = True
        for allowed in self._kinds_by_shared_claims():
            bounds = [most if index in allowed else 0 for index, most in enumerate(self.most_of)]
            inner.update(dict.fromkeys(self._candidates(bounds, (FitAnswer.YES,))))
            complete = complete and not self._is_exhausted
            if complete and not self._open:
                outer.update(inner)  # every result was yes or no
                continue
            possible = list(self._candidates(bounds, (FitAnswer.YES, FitAnswer.OPEN)))
            complete = complete and not self._is_exhausted
            # The candidates do not bound anything if the search was cut short.
            outer.update(dict.fromkeys([tuple(bounds)] if self._is_exhausted else possible))
        return NodeCapacity(self._largest(inner), self._largest(outer), complete)

    def _largest(self, candidates: Iterable[Combination]) -> tuple[Combination, ...]:
        """Return the combinations that are not below another one with the same shared claims.

        A claim can be on this node or on another node, so a combination without the claim is kept in addition to a
        larger one that uses it.
        """
        kept: dict[frozenset[str], list[Combination]] = {}
        for each in sorted(set(candidates), reverse=True):  # larger combinations come first
            others = kept.setdefault(claims_of(self._kinds, each), [])
            if not any(_is_below(each, other) for other in others):
                others.append(each)
        return tuple(each for others in kept.values() for each in others)

    def _kinds_by_shared_claims(self) -> list[frozenset[int]]:
        """Return the sets of kinds that may be on a node together, one for each set of shared claims that may be there.

        If there are more than `_MOST_SHARED_CLAIMS` claims, only subsets of the first claims and the set of all claims
        are used.
        """
        sharing = [i for i, kind in enumerate(self._kinds) if kind.shared and self.most_of[i]]
        plain = frozenset(i for i, kind in enumerate(self._kinds) if not kind.shared)
        found = {plain: None}
        claims = sorted({claim for i in sharing for claim in self._kinds[i].shared})
        for number in range(1, 2 ** min(len(claims), _MOST_SHARED_CLAIMS)):  # the bits are the claims
            here = {claim for bit, claim in enumerate(claims) if number >> bit & 1}
            found[plain | {i for i in sharing if self._kinds[i].shared <= here}] = None
        if len(claims) > _MOST_SHARED_CLAIMS:
            found[plain | set(sharing)] = None
        return list(found)

    def _candidates(self, bounds: Sequence[int], answers: tuple[FitAnswer, ...]) -> Iterator[Combination]:
        """Yield combinations within the bounds that have one of these results, including all of the largest."""
        used = [index for index, bound in enumerate(bounds) if bound]
        if not used:
            yield tuple([0] * len(bounds))
            return
        yield from self._completed([0] * len(bounds), used, bounds, answers)

    def _completed(
        self, chosen: list[int], left: Sequence[int], bounds: Sequence[int], answers: tuple[FitAnswer, ...]
    ) -> Iterator[Combination]:
        """Yield, for each number of every remaining kind but the last, the combination with as many of the last as fit.

        A largest combination has as many pods of its last kind as fit in addition to the others, so it is among these.
        `chosen` is changed in place, and restored at the end.
        """
        self._visited += 1
        index, *others = left
        most = self._most_beside(chosen, index, bounds[index], answers)
        if not others:
            chosen[index] = most
            yield tuple(chosen)
            chosen[index] = 0
            return
        for number in range(most, -1, -1):  # the largest first: their answers settle most of the smaller ones
            chosen[index] = number
            yield from self._completed(chosen, others, bounds, answers)
            if self._is_exhausted:
                break
        chosen[index] = 0

    def _most_beside(self, chosen: Sequence[int], index: int, bound: int, answers: tuple[FitAnswer, ...]) -> int:
        """Return how many pods of a kind fit in addition to the chosen ones.

        Steps double until one fails, and then the remaining range is halved, because few pods fit on most nodes,
        whatever the bound is, and a query about many pods costs more than a query about few.
        """

        def fits(number: int) -> bool:
            return self.answer((*chosen[:index], number, *chosen[index + 1 :])) in answers

        low, high, step = 0, bound, 1
        while low < high:  # `low` pods fit, and more than `high` do not
            probe = min(low + step, high)
            if not fits(probe):
                high = probe - 1
                break
            low, step = probe, step * 2
        while low < high:
            probe = (low + high + 1) // 2
            if fits(probe):
                low = probe
            else:
                high = probe - 1
        return low

    # One combination

    def answer(self, wanted: Combination) -> FitAnswer:
        """Return whether the combination fits on the node."""
        if not any(wanted) or any(_is_below(wanted, known) for known in self._fits):
            return FitAnswer.YES
        if any(_is_below(known, wanted) for known in self._fails):
            return FitAnswer.NO
        if wanted in self._open or self._is_exhausted:
            return FitAnswer.OPEN
        self._asked += 1
        answer = self._ask(wanted)
        if answer is FitAnswer.YES:
            self._fits.append(wanted)
        elif answer is FitAnswer.NO:
            self._fails.append(wanted)
        else:
            self._open.add(wanted)
        return answer

    def _ask(self, wanted: Combination) -> FitAnswer:
        ground, node = self._ground, self._node
        pods = pods_of(self._kinds, wanted)
        _, refused = ground.counted(pods, node)
        if refused is not None:
            return FitAnswer.NO
        claims = ground.joint_claims(pods, node)
        if not claims:
            return FitAnswer.YES
        outcome = ground.allocate(claims, node, ground.joint, self._budget)
        if outcome.outcome is Outcome.UNDECIDED:
            return FitAnswer.OPEN
        if outcome.outcome is Outcome.FITS:
            return self._tried(pods, outcome) if self._is_doubtful(claims, outcome) else FitAnswer.YES
        if outcome.outcome is Outcome.DOES_NOT_FIT or len(pods) == 1:
            has = self._ground.target.quirks.among(outcome.sighted)
            return FitAnswer.OPEN if BY_ORDER.intersection(has) else FitAnswer.NO
        return self._without_defects(pods)

    def _is_doubtful(self, claims: Sequence[ResourceClaim], found: NodeOutcome) -> bool:
        """Return whether a defect in the release may prevent this result for pods that arrive one after the other."""
        has = set(self._ground.target.quirks.among(found.sighted))
        if "admin_take_blocks" in has and not any(map(_is_privileged, claims)):
            has.remove("admin_take_blocks")
        return bool(has)

    def _without_defects(self, pods: Sequence[PodToPlace]) -> FitAnswer:
        """Return the result if an error ended the search for several pods, because a single pod may avoid the error."""
        claims = self._ground.joint_claims(pods, self._node)
        promised = self._ground.allocate(claims, self._node, self._ground.promised, self._budget)
        if promised.outcome is Outcome.FITS:
            return self._tried(pods, promised)
        return FitAnswer.OPEN

    def _tried(self, pods: Sequence[PodToPlace], outcome: NodeOutcome) -> FitAnswer:
        """Return whether the release accepts the pods one after the other, each with the devices found for the pod."""
        claims = self._ground.joint_claims(pods, self._node)
        hint = {claim.metadata.uid: got for claim, got in zip(claims, outcome.allocations, strict=True)}
        trial = CarriedOut(self._ground, self._node.name)
        return FitAnswer.OPEN if any(trial.place(pod, self._node.name, hint) for pod in pods) else FitAnswer.YES


def _is_privileged(claim: ResourceClaim) -> bool:
    """Return whether a request in the claim asks for admin access."""
    return any(request.exactly is not None and request.exactly.admin_access for request in claim.spec.devices.requests)


def pods_of(kinds: Sequence[PodKind], wanted: Combination) -> list[PodToPlace]:
    """Return as many pods of each kind as the combination has."""
    return [pod for kind, number in zip(kinds, wanted, strict=True) for pod in kind.take(number)]


def claims_of(kinds: Sequence[PodKind], combination: Combination) -> frozenset[str]:
    """Return the keys of the shared claims that the pods of a combination use."""
    return frozenset(claim for kind, number in zip(kinds, combination, strict=True) if number for claim in kind.shared)


def _is_below(small: Combination, large: Combination) -> bool:
    return all(one <= other for one, other in zip(small, large, strict=True))
