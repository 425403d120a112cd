"""Which devices of the input selectors and tolerations leave over. Each answer is found once for all that ask alike.

The allocator's own functions decide what matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.requests import SelectorCondition, Want
from dra_plan.allocator.taints import first_untolerated
from dra_plan.api.resource import DeviceToleration
from dra_plan.releases import Target


@dataclass(frozen=True, eq=False)
class Offer:
    """Devices that a request may be given."""

    devices: Sequence[PoolDevice]

    @cached_property
    def on_one_node(self) -> int:
        """The most of the devices that any one node can reach, as far as node names tell."""
        nodes = Counter(device.slice.object.spec.node_name or device.device.node_name for device in self.devices)
        everywhere = nodes.pop(None, 0) + nodes.pop("", 0)
        return everywhere + max(nodes.values(), default=0)

    @cached_property
    def shared(self) -> bool:
        """Whether one of the devices can be given to several requests."""
        return any(device.device.allow_multiple_allocations for device in self.devices)


class _Outcome(NamedTuple):
    """What a condition gives on devices."""

    holds: list[PoolDevice]
    fails: list[tuple[PoolDevice, str]]


class Matches:
    """The devices, and which of them conditions and tolerations leave over."""

    def __init__(self, devices: Sequence[PoolDevice], target: Target) -> None:
        self.devices, self._target = devices, target
        self._outcomes: dict[tuple[str, ...], _Outcome] = {}
        self._offers: dict[tuple[tuple[str, ...], tuple[DeviceToleration, ...]], Offer] = {}

    def of(self, conditions: Sequence[SelectorCondition]) -> Sequence[PoolDevice]:
        """The devices for which all conditions hold."""
        return self._outcome(conditions).holds if conditions else self.devices

    def failing(self, conditions: Sequence[SelectorCondition]) -> Sequence[tuple[PoolDevice, str]]:
        """The devices on which the last condition fails, of those for which the others hold, and the errors."""
        return self._outcome(conditions).fails

    def fail(self, conditions: Sequence[SelectorCondition]) -> bool:
        """Whether one of the conditions ends in an error on a device that the ones before it let through."""
        return any(self.failing(conditions[: index + 1]) for index in range(len(conditions)))

    def offer(self, want: Want) -> Offer:
        """The devices that the request's selectors choose and whose taints it tolerates."""
        key = _key(want.conditions), tuple(want.tolerations)
        if key not in self._offers:
            devices = self.of(want.conditions)
            if self._target.features.device_taints:
                rules = self._target.rules
                devices = [d for d in devices if first_untolerated(d.taints, want.tolerations, rules) is None]
            self._offers[key] = Offer(devices)
        return self._offers[key]

    def _outcome(self, conditions: Sequence[SelectorCondition]) -> _Outcome:
        key = _key(conditions)
        if key not in self._outcomes:
            made = _Outcome([], [])
            for device in self.of(conditions[:-1]):
                try:
                    if conditions[-1].holds(device):
                        made.holds.append(device)
                except SelectorError as failure:
                    made.fails.append((device, failure.detail))
            self._outcomes[key] = made
        return self._outcomes[key]


def _key(conditions: Sequence[SelectorCondition]) -> tuple[str, ...]:
    return tuple(condition.expression for condition in conditions)
