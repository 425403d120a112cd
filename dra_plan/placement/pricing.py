"""The most valuable combination of pods on a node, which the solver proposes and the allocator confirms.

The solver works with what is known about a node: how many pods of each shape fit alone, the limits by CPU, memory and
number of pods, the number of devices of each sort, and the combinations that were rejected. If a proposed combination
does not fit, its smallest part that does not fit is excluded, and the solver proposes the next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from dra_plan.allocator import Outcome
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)

from .generation import Priced
from .limits import StepBudget
from .node_capacity import BY_ORDER, Combination, FitAnswer, NodeQuestions
from .node_kinds import AlikeNodes, PlacementCluster, PodKind
from .solver import Model, solve

MOST_NAMED = 25
"""The maximum number of combinations examined for one price of a node. After that, the best so far is used."""
_UNITS = 100_000
"""The resolution of the solver's whole numbers; the value of pods is rounded up to this part of a pod."""
_MOST_DEVICES = 128
"""The largest number of needed devices of a sort for which the available number is determined."""


class NodePricer:
    """Searches for the most valuable combination of pods on a node of any kind."""

    def __init__(
        self,
        ground: PlacementCluster,
        shapes: Sequence[PodKind],
        node_kinds: Sequence[AlikeNodes],
        questions: Sequence[NodeQuestions],
    ) -> None:
        self._nodes = [
            _NodePricer(ground, shapes, node_kind, asked)
            for node_kind, asked in zip(node_kinds, questions, strict=True)
        ]

    def best(self, node_kind: int, worth: Sequence[float], price: float) -> Priced:
        """Return the most valuable combination on a node of this kind.

        If no combination is worth more than the price, the result has only a bound that proves this.
        """
        return self._nodes[node_kind].best(worth, price)


class _NodePricer:
    def __init__(
        self, ground: PlacementCluster, shapes: Sequence[PodKind], node_kind: AlikeNodes, questions: NodeQuestions
    ) -> None:
        self._ground, self._shapes, self._node, self._questions = ground, shapes, node_kind.first, questions
        self._budget = StepBudget()
        self._refused: list[Combination] = []
        self._open: list[Combination] = []
        self._fitting: dict[Combination, None] = {}

    def best(self, worth: Sequence[float], price: float) -> Priced:
        units = [math.ceil(each * _UNITS) for each in worth]
        best = self._best_known(units)
        bound = sum(unit * most for unit, most in zip(units, self._questions.most_of, strict=True))
        for _ in range(MOST_NAMED):
            if self._ground.time.is_over:
                break
            named, bound = self._named(units, [*self._refused, *self._open])
            if named is None or bound <= max(_value(units, best), price * _UNITS):
                break
            answer = self._questions.answer(named)
            if answer is FitAnswer.YES:
                self._fitting[named] = None
                best = named
                break
            part = self._smallest_part(named, answer)
            (self._refused if answer is FitAnswer.NO else self._open).append(part)
        if self._open and not self._ground.time.is_over:
            _, bound = self._named(units, self._refused)
        return Priced(best, max(bound, _value(units, best)) / _UNITS)

    def _best_known(self, units: Sequence[int]) -> Combination:
        nothing = tuple([0] * len(units))
        return max(self._fitting, key=lambda known: _value(units, known), default=nothing)

    def _smallest_part(self, named: Combination, answer: FitAnswer) -> Combination:
        """Return a part of the combination with the same answer, whose smaller parts all have a different one."""
        part = list(named)
        for index in sorted(range(len(part)), key=lambda i: -part[i]):
            low, high = 0, part[index]
            while low < high:
                middle = (low + high) // 2
                trial = (*part[:index], middle, *part[index + 1 :])
                if self._questions.answer(trial) is answer:
                    high = middle
                else:
                    low = middle + 1
            part[index] = high
        return tuple(part)

    # The known facts as a program

    def _named(self, units: Sequence[int], without: Sequence[Combination]) -> tuple[Combination | None, int]:
        """Return the best combination that is not excluded, and an upper bound on the value of all."""
        most_of = self._questions.most_of
        used = [index for index, most in enumerate(most_of) if most and units[index]]
        if not used:
            return None, 0
        model = Model([most_of[index] for index in used])
        places = {index: place for place, index in enumerate(used)}
        for needs, limit in self._limits:
            model.at_most({places[i]: need for i, need in needs.items() if i in places}, limit)
        switches: dict[tuple[int, int], int] = {}
        for refused in without:
            parts = [(index, number) for index, number in enumerate(refused) if number]
            if all(index in places for index, _ in parts):
                own = [self._switch(model, switches, places, each) for each in parts]
                model.at_most(dict.fromkeys(own, 1), len(own) - 1)
        goal = {places[index]: units[index] for index in used}
        found = solve(model, goal, model.keeps)
        if found.values is None:
            return None, found.bound
        holds = [0] * len(units)
        for index, place in places.items():
            holds[index] = found.values[place]
        return tuple(holds), found.bound

    def _switch(
        self, model: Model, switches: dict[tuple[int, int], int], places: dict[int, int], part: tuple[int, int]
    ) -> int:
        """Return a variable that is 1 if there are at least this many pods with a shape."""
        if part not in switches:
            index, number = part
            switches[part] = len(model.upper)
            model.upper.append(1)
            most = self._questions.most_of[index]
            model.at_most({places[index]: 1, switches[part]: -(most - number + 1)}, number - 1)
        return switches[part]

    @cached_property
    def _limits(self) -> list[tuple[dict[int, int], int]]:
        """Return sums over all pods in a combination, and their bounds. The bounds save queries, and decide nothing."""
        most_of = self._questions.most_of
        here = {index: self._shapes[index] for index, most in enumerate(most_of) if most}
        found = [(dict.fromkeys(here, 1), self._node.allowed_pods - len(self._node.pods))]
        for name in _AMOUNTS:
            needs = {index: shape.first.info.requests.get(name, 0) for index, shape in here.items()}
            found.append((needs, self._node.allocatable.get(name, 0) - self._node.requested.get(name, 0)))
        for sort in self._sorts(here):
            needs = {index: sort.devices(shape) for index, shape in here.items()}
            wanted = sum(need * most_of[index] for index, need in needs.items())
            most = self._most_devices(sort, wanted) if wanted <= _MOST_DEVICES else None
            if most is not None:
                found.append((needs, most))
        return [({i: need for i, need in needs.items() if need}, max(0, limit)) for needs, limit in found]

    def _sorts(self, here: dict[int, PodKind]) -> list[_Sort]:
        """Return the sorts of devices that requests require with their selectors, and with their class alone."""
        found: dict[_Sort, None] = {}
        for shape in here.values():
            for request in _requests(shape):
                found[_Sort(request)] = None
                found[_Sort(replace(request, selectors=[]))] = None
        return list(found)

    def _most_devices(self, sort: _Sort, wanted: int) -> int | None:
        """Return how many devices of the sort the node can give at the same time.

        Return None if the number is unknown, or enough for all.
        """
        low, high, step = 0, wanted + 1, 1  # `low` fit, and `high` do not
        while low + 1 < high:
            middle = (low + high) // 2 if high <= wanted else min(low + step, wanted)
            claims = list(sort.claims(middle))
            outcome = self._ground.allocate(claims, self._node, self._ground.joint, self._budget)
            by_order = BY_ORDER.intersection(self._ground.target.quirks.among(outcome.sighted))
            if outcome.outcome is Outcome.FITS:
                low, step = middle, step * 2
            elif outcome.outcome is Outcome.DOES_NOT_FIT and not by_order:
                high = middle
            else:
                return None
        return low if high <= wanted else None


_AMOUNTS = ("cpu", "memory", "ephemeral-storage")


class _Sort:
    """Devices in a class that match selectors and whose taints are tolerated, as a request for them."""

    def __init__(self, request: ExactDeviceRequest) -> None:
        self._request = request
        self._selectors = _selectors(request)
        self._rest = request.device_class_name, msgspec.json.encode(request.tolerations)

    def __hash__(self) -> int:
        return hash((self._selectors, self._rest))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sort) and (self._selectors, self._rest) == (other._selectors, other._rest)

    def devices(self, shape: PodKind) -> int:
        """Return how many devices of the sort a pod with the shape certainly takes."""
        return sum(
            request.count
            for request in _requests(shape)
            if self._selectors <= _selectors(request) and self._rest == _Sort(request)._rest
        )

    def claims(self, number: int) -> Iterator[ResourceClaim]:
        """Yield this many claims, each for one device without further requirements.

        Several claims are needed, because the requests of one claim cannot share a device.
        """
        exact = replace(self._request, count=1)
        spec = ResourceClaimSpec(devices=DeviceClaim(requests=[DeviceRequest(name="r", exactly=exact)]))
        for index in range(number):
            yield ResourceClaim(metadata=ObjectMeta(name=f"device-{index}", uid=f"device-{index}"), spec=spec)


def _requests(shape: PodKind) -> Iterator[ExactDeviceRequest]:
    """Yield a pod's requests that take devices exclusively, each as often as it takes devices."""
    for claim in shape.first.pending:
        for request in claim.spec.devices.requests:
            exact = request.exactly
            if exact is None or exact.allocation_mode == "All" or exact.admin_access:
                continue
            if not exact.capacity and not exact.derived_attributes:
                yield exact


def _selectors(request: ExactDeviceRequest) -> frozenset[str]:
    return frozenset(each.cel.expression for each in request.selectors if each.cel is not None)


def _value(units: Sequence[int], combination: Combination) -> int:
    return sum(unit * number for unit, number in zip(units, combination, strict=True))
