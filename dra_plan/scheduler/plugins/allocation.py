"""How full a node would be with a pod on it, and the strategies that turn that into a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dra_plan.scheduler.dra.devicetotals import Totals
from dra_plan.scheduler.framework import MAX_NODE_SCORE
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.podrequest import CPU, MEMORY, is_scalar

Usage = list[tuple[int, int, int, int]]
"""(used with the pod, allocatable, weight, the pod's part) of each resource that the node has."""

DEFAULT_RESOURCES = ((CPU, 1), (MEMORY, 1))
_MOST_RATIO_SCORE = 10
_FULL = 100


@dataclass(frozen=True)
class Strategy:
    """Resources with their weights, and how their usage is scored."""

    kind: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = DEFAULT_RESOURCES
    shape: tuple[tuple[int, int], ...] = ()
    """(utilization, score 0 to 10) points of RequestedToCapacityRatio."""

    @property
    def names(self) -> tuple[str, ...]:
        """The resources' names."""
        return tuple(name for name, _ in self.resources)

    def score(self, used: Usage) -> int:
        """0 to 100."""
        if self.kind == "RequestedToCapacityRatio":
            return self._ratio(used)
        one = _least if self.kind == "LeastAllocated" else _most
        return _weighted(used, one)

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
        """The broken line through the points, scores scaled to 100; Go's division, which cuts off towards zero."""
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


def _weighted(used: Usage, one: Callable[[int, int], int]) -> int:
    total = weights = 0
    for amount, capacity, weight, _ in used:
        total += one(amount, capacity) * weight
        weights += weight
    return total // weights if weights else 0


def _least(used: int, capacity: int) -> int:
    return 0 if used > capacity else (capacity - used) * MAX_NODE_SCORE // capacity


def _most(used: int, capacity: int) -> int:
    return min(used, capacity) * MAX_NODE_SCORE // capacity


def usage(
    node: NodeInfo, strategy: Strategy, wanted: Sequence[int], *, scored: bool, devices: Totals | None = None
) -> Usage:
    """What would be used of each resource; `scored` counts defaults for pods that don't say (cpu and memory).

    `devices` counts what the node has of an extended resource that it does not offer itself.
    """
    found: Usage = []
    for (name, weight), value in zip(strategy.resources, wanted, strict=True):
        if value == 0 and is_scalar(name):
            continue
        capacity = node.allocatable.get(name, 0)
        if capacity <= 0:
            total, in_use = devices(name, node) if devices is not None and is_scalar(name) else (0, 0)
            if total:
                found.append((in_use + value, total, weight, value))
            continue
        if scored and name == CPU:
            base = node.scored_cpu
        elif scored and name == MEMORY:
            base = node.scored_memory
        else:
            base = node.requested.get(name, 0)
        found.append((base + value, capacity, weight, value))
    return found
