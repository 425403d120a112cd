"""NodeResourcesFit and NodeResourcesBalancedAllocation: whether a pod fits on a node, and how full the node gets.

The first part computes and scores the usage of a node; the second part has the two plugins.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dra_plan.api.core import Node, Pod
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_requests import CPU, MEMORY, PODS, amounts, is_extended, is_scalar, pod_requests
from dra_plan.scheduler.dra.extended import Totals, is_served
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.status import SKIP, Code, CycleState, Reason, ResourceShort, Status, insufficient

# -- usage of a node, and scoring strategies ---------------------------------------------------------------------------

Usage = list[tuple[int, int, int, int]]
"""For each resource of a node: (used including the pod, allocatable, weight, used by the pod)."""

DEFAULT_RESOURCES = ((CPU, 1), (MEMORY, 1))
_MOST_RATIO_SCORE = 10
_FULL = 100


@dataclass(frozen=True)
class Strategy:
    """Which resources are scored, with their weights, and how their usage is scored."""

    kind: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = DEFAULT_RESOURCES
    shape: tuple[tuple[int, int], ...] = ()
    """The points of RequestedToCapacityRatio, as (utilization, score from 0 to 10)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scored resources."""
        return tuple(name for name, _ in self.resources)

    @cached_property
    def parts(self) -> tuple[tuple[str, int, bool], ...]:
        """The scored resources, each with its weight and whether it is a scalar resource."""
        return tuple((name, weight, is_scalar(name)) for name, weight in self.resources)

    def score(self, used: Usage) -> int:
        """Return the score for this usage, from 0 to 100."""
        if self.kind == "RequestedToCapacityRatio":
            return self._ratio(used)
        total = weights = 0
        most = self.kind != "LeastAllocated"
        for amount, capacity, weight, _ in used:
            amount = min(amount, capacity)
            total += (amount if most else capacity - amount) * MAX_NODE_SCORE // capacity * weight
            weights += weight
        return total // weights if weights else 0

    def _ratio(self, used: Usage) -> int:
        total = weights = 0
        for amount, capacity, weight, _ in used:
            utilization = amount * _FULL // capacity if amount <= capacity else _FULL
            score = self._at(utilization)
            if score > 0:
                total += score * weight
                weights += weight
        return math.floor(total / weights + 0.5) if weights else 0

    def _at(self, utilization: int) -> int:
        """Interpolate linearly between the points, with scores scaled to 100.

        As in Go, division truncates towards zero.
        """
        points = [(where, score * (MAX_NODE_SCORE // _MOST_RATIO_SCORE)) for where, score in self.shape]
        for index, (where, score) in enumerate(points):
            if utilization <= where:
                if index == 0:
                    return score
                before, start = points[index - 1]
                return start + _cut((score - start) * (utilization - before), where - before)
        return points[-1][1]


def _cut(numerator: int, denominator: int) -> int:
    quotient = abs(numerator) // denominator
    return quotient if numerator >= 0 else -quotient


def usages(
    nodes: Iterable[NodeInfo], strategy: Strategy, wanted: Sequence[int], *, scored: bool, devices: Totals | None = None
) -> Iterator[Usage]:
    """Yield the usage of each node.

    If `scored` is set, it includes defaults for pods without CPU or memory requests. `devices` counts the devices for
    an extended resource that the node itself does not have.
    """
    parts = zip(strategy.parts, wanted, strict=True)
    counted = [
        (name, weight, scalar, value, scored and name == CPU, scored and name == MEMORY)
        for (name, weight, scalar), value in parts
        if value or not scalar
    ]
    for node in nodes:
        found: Usage = []
        allocatable, requested = node.allocatable, node.requested
        for name, weight, scalar, value, scores_cpu, scores_memory in counted:
            capacity = allocatable.get(name, 0)
            if capacity <= 0:
                total, in_use = devices(name, node) if devices is not None and scalar else (0, 0)
                if total:
                    found.append((in_use + value, total, weight, value))
                continue
            if scores_cpu:
                base = node.scored_cpu
            elif scores_memory:
                base = node.scored_memory
            else:
                base = requested.get(name, 0)
            found.append((base + value, capacity, weight, value))
        yield found


# -- NodeResourcesFit --------------------------------------------------------------------------------------------------

_TOO_MANY = Reason("Too many pods", ResourceShort(PODS, 1, 0))


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """The plugin that compares a pod's requests with what is free of the node's allocatable resources."""

    name = plugin_names.FIT

    def __init__(
        self,
        handle: Handle,
        strategy: Strategy,
        ignored: Sequence[str] = (),
        ignored_groups: Sequence[str] = (),
        devices: Totals | None = None,
    ) -> None:
        self._handle = handle
        self._strategy = strategy
        self._ignored = frozenset(ignored)
        self._ignored_groups = frozenset(ignored_groups)
        self._devices = devices

    # Filter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Compute the pod's total request."""
        state.write(self.name, self._wanted(pod))
        return None, None

    def _wanted(self, pod: Pod) -> _FitRequest:
        requests = self._handle.cluster.info(pod).requests
        mapped = self._handle.cluster.extended_names()
        return _FitRequest(
            {
                name: (value, name in mapped)
                for name, value in requests.items()
                if value > 0 and not self._is_ignored(name)
            }
        )

    def _is_ignored(self, name: str) -> bool:
        return is_extended(name) and (name in self._ignored or name.split("/", 1)[0] in self._ignored_groups)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if too little of a resource is left, naming all such resources.

        Preemption cannot help if a request is larger than the capacity of the empty node.
        """
        return self.filter_each(state, pod, [node])[0]

    def filter_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[Status | None]:
        """Return the results of `filter` for these nodes."""
        wanted: _FitRequest = state.read(self.name)
        amounts = [(name, value) for name, (value, _) in wanted.requests.items()]
        found: list[Status | None] = []
        for node in nodes:
            requested, allocatable = node.requested, node.allocatable
            if len(node.pods) < node.allowed_pods:
                for name, value in amounts:
                    if value > allocatable.get(name, 0) - requested.get(name, 0):
                        break
                else:
                    found.append(None)
                    continue
            found.append(self._refusal(wanted, node))
        return found

    @staticmethod
    def _refusal(wanted: _FitRequest, node: NodeInfo) -> Status | None:
        reasons = [_TOO_MANY] if len(node.pods) + 1 > node.allowed_pods else []
        hopeless = False
        requested, allocatable = node.requested, node.allocatable
        for name, (value, mapped) in wanted.requests.items():
            room = allocatable.get(name, 0)
            left = room - requested.get(name, 0)
            if value <= left:
                continue
            if is_served(room, mapped=mapped):
                continue  # devices will serve this resource
            reasons.append(insufficient(name, value, left, room))
            hopeless = hopeless or value > room
        return _short(hopeless, *reasons) if reasons else None

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's total request as a key."""
        wanted: _FitRequest = state.read(self.name)
        return wanted.key

    # Score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Compute the pod's request for scoring.

        Unless quirk P12 is fixed, requests at the level of the pod are left out.
        """
        info = self._handle.cluster.info(pod)
        left_out = self._handle.target.quirks.fit_score_without_pod_level and pod.spec.resources is not None
        if left_out or info.claimed:
            counted = pod_requests(pod, pod_level=not left_out, defaults=True)
        else:
            counted = info.defaulted
        state.write(f"{self.name}/score", tuple(counted.get(name, 0) for name in self._strategy.names))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the strategy's score for the node."""
        return self.score_each(state, pod, [node])[0]

    def score_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[int | Status]:
        """Return the results of `score` for these nodes."""
        counted: tuple[int, ...] = state.read(f"{self.name}/score")
        used = usages(nodes, self._strategy, counted, scored=True, devices=self._devices)
        return [*map(self._strategy.score, used)]

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's request for scoring as a key."""
        counted: Hashable = state.read(f"{self.name}/score")
        return counted

    # Events

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        A pod may be removed or request less, a node may be added or have more resources, or a class may start to
        provide an extended resource.
        """
        return [
            Interest(Resource.ASSIGNED_POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN),
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, self._big_enough),
            Interest(Resource.CLASS, Action.ADD | Action.UPDATE_OTHER),
        ]

    def _big_enough(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        if new is None:
            return Hint.SKIP
        wanted = self._wanted(pod).requests
        now = amounts(new.status.allocatable or new.status.capacity)
        if any(value > now.get(name, 0) and not mapped for name, (value, mapped) in wanted.items()):
            return Hint.SKIP
        if old is None:
            return Hint.QUEUE
        before = amounts(old.status.allocatable or old.status.capacity)
        grown = any(now.get(name, 0) > before.get(name, 0) for name in (*wanted, "pods"))
        return Hint.QUEUE if grown else Hint.SKIP


@lru_cache(maxsize=4096)  # many nodes have the same amount left
def _short(hopeless: bool, *reasons: Reason) -> Status:
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE
    return Status(code, *reasons, plugin=plugin_names.FIT)


class _FitRequest:
    """The requests that count, as a map from name to (amount, whether a device class serves the name)."""

    __slots__ = ("key", "requests")

    def __init__(self, requests: dict[str, tuple[int, bool]]) -> None:
        self.requests = requests
        self.key: Hashable = tuple(sorted(requests.items()))


# -- NodeResourcesBalancedAllocation -----------------------------------------------------------------------------------
# The plugin prefers nodes on which the pod balances the use of resources.

_NEUTRAL = 50


def balance(shares: Sequence[float]) -> int:
    """Return how evenly resources are used: 100 if the same fraction of each is used, and less if they differ."""
    if len(shares) == 2:
        return _balance_of_two(*shares)
    if len(shares) > 2:
        shares = [share if share < 1.0 else 1.0 for share in shares]
        mean = sum(shares) / len(shares)
        apart = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    else:
        apart = 0.0
    return int((1 - apart) * MAX_NODE_SCORE)


def _balance_of_two(one: float, other: float) -> int:
    apart = abs((one if one < 1.0 else 1.0) - (other if other < 1.0 else 1.0)) / 2
    return int((1 - apart) * MAX_NODE_SCORE)


class BalancedAllocation(PreScorePlugin, ScorePlugin):
    """The plugin that compares how balanced a node is with and without the pod.

    A score of 75 means that the pod does not change the balance.
    """

    name = plugin_names.BALANCED_ALLOCATION

    def __init__(self, handle: Handle, strategy: Strategy, devices: Totals | None = None) -> None:
        self._handle = handle
        self._strategy = strategy
        self._devices = devices

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Return Skip if the pod requests none of the scored resources."""
        requests = self._handle.cluster.info(pod).requests
        wanted = tuple(requests.get(name, 0) for name in self._strategy.names)
        if not any(wanted):
            return SKIP
        state.write(self.name, wanted)
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return 50, plus half of the sum of 50 and the gain in balance."""
        return self.score_each(state, pod, [node])[0]

    def score_each(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Sequence[int | Status]:
        """Return the results of `score` for these nodes."""
        scores: list[int | Status] = []
        for with_pod in usages(nodes, self._strategy, state.read(self.name), scored=False, devices=self._devices):
            if len(with_pod) == 2:
                (used, capacity, _, own), (other_used, other_capacity, _, other_own) = with_pod
                then = _balance_of_two(used / capacity, other_used / other_capacity)
                before = _balance_of_two((used - own) / capacity, (other_used - other_own) / other_capacity)
            else:
                then = balance([used / capacity for used, capacity, _, _ in with_pod])
                before = balance([(used - own) / capacity for used, capacity, _, own in with_pod])
            gain = _NEUTRAL + then - before
            scores.append(_NEUTRAL + (gain // 2 if gain >= 0 else -(-gain // 2)))
        return scores

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's request as a key."""
        wanted: Hashable = state.read(self.name)
        return wanted
