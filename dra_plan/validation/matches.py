"""The devices in the input that match selectors and whose taints are tolerated, by the allocator's own rules.

Devices with equal published values are evaluated only once, and the total cost of all evaluations is limited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from dra_plan.allocator import PoolDevice, SelectorError
from dra_plan.allocator.requests import SelectorCondition, Want
from dra_plan.allocator.taints import first_untolerated
from dra_plan.api.resource import DeviceToleration
from dra_plan.cel import Selector
from dra_plan.cel.cost import COST_LIMIT
from dra_plan.cel.lexer import CelError, CelRuntimeError
from dra_plan.explanation.hints import SelectorHint, of_devices
from dra_plan.explanation.selectors import Publications
from dra_plan.releases import Target

BUDGET = 1_000_000
"""The maximum total cost in one run, in the API server's cost units. Cheap evaluations are not counted."""
CHEAP = 1_000
"""The maximum cost of a cheap evaluation. Typical selectors cost about ten units."""


@dataclass(frozen=True, eq=False)
class ChosenDevices:
    """Some of the devices in the input, in groups with equal published values.

    Selectors cannot distinguish the devices of a group. Groups are in the order of their first devices, and the devices
    of each group are in input order.
    """

    kinds: Sequence[Sequence[PoolDevice]]

    @cached_property
    def count(self) -> int:
        """The number of devices."""
        return sum(map(len, self.kinds))

    @property
    def first(self) -> PoolDevice:
        """The device that comes first in the input."""
        return self.kinds[0][0]

    @cached_property
    def examples(self) -> list[PoolDevice]:
        """The first device of each group."""
        return [kind[0] for kind in self.kinds]

    @cached_property
    def publications(self) -> Publications:
        """The values that the devices publish."""
        return Publications(self.examples)

    def __bool__(self) -> bool:
        return bool(self.kinds)


@dataclass(frozen=True, eq=False)
class Offer:
    """The devices that a request can get."""

    devices: Sequence[PoolDevice]

    @cached_property
    def on_one_node(self) -> int:
        """The largest number of these devices on any node.

        Devices without a node name are counted for every node.
        """
        nodes = Counter(device.slice.object.spec.node_name or device.device.node_name for device in self.devices)
        everywhere = nodes.pop(None, 0) + nodes.pop("", 0)
        return everywhere + max(nodes.values(), default=0)

    @cached_property
    def shared(self) -> bool:
        """Whether any of the devices can be allocated to several requests."""
        return any(device.device.allow_multiple_allocations for device in self.devices)


class ConditionOutcome(NamedTuple):
    """The devices on which a condition was evaluated, those for which it is true, and those on which it fails."""

    asked: ChosenDevices
    holds: ChosenDevices
    fails: ChosenDevices
    text: str
    """The error on the first device on which the condition fails."""


class Matches:
    """The results of evaluating conditions and tolerations on devices.

    A result is None if a condition does not compile, if the API server rejects a condition because of its cost, or if
    the budget is used up. `untried` counts the results that are None because the budget is used up.
    """

    def __init__(self, devices: Sequence[PoolDevice], target: Target) -> None:
        self._target = target
        self._all = ChosenDevices(_kinds(devices))
        self._outcomes: dict[tuple[str, ...], ConditionOutcome | None] = {}
        self._offers: dict[tuple[tuple[str, ...], tuple[DeviceToleration, ...]], Offer | None] = {}
        self._hints: dict[tuple[str, ...], SelectorHint | None] = {}
        self._left = BUDGET
        self.untried = 0

    @property
    def published(self) -> Publications:
        """The values that all devices publish."""
        return self._all.publications

    def hint(self, conditions: Sequence[SelectorCondition]) -> SelectorHint | None:
        """Return what the last condition was probably meant to be, or None if it is true for any of the devices."""
        outcome = self.outcome(conditions)
        if outcome is None or outcome.holds or not outcome.asked or self._left < 0:
            return None
        key = self.key(conditions)
        if key not in self._hints:
            last = conditions[-1]
            self._hints[key] = of_devices(last.expression, outcome.asked.kinds, last.compile, self.published)
        return self._hints[key]

    def key(self, conditions: Sequence[SelectorCondition]) -> tuple[str, ...]:
        """Return a key that is equal for lists of conditions that give the same result."""
        return tuple(condition.expression for condition in conditions)

    def of(self, conditions: Sequence[SelectorCondition]) -> ChosenDevices | None:
        """Return the devices for which all conditions are true, or None if they are unknown."""
        if not conditions:
            return self._all
        outcome = self.outcome(conditions)
        return None if outcome is None else outcome.holds

    def fail(self, conditions: Sequence[SelectorCondition]) -> bool:
        """Return whether any condition fails with an error on a device that passes the earlier conditions."""
        outcomes = (self.outcome(conditions[: index + 1]) for index in range(len(conditions)))
        return any(outcome is not None and outcome.fails for outcome in outcomes)

    def offer(self, want: Want) -> Offer | None:
        """Return the devices that match the request's selectors and tolerations, or None if they are unknown."""
        key = self.key(want.conditions), tuple(want.tolerations)
        if key not in self._offers:
            chosen = self.of(want.conditions)
            self._offers[key] = None if chosen is None else Offer(self._tolerated(chosen, want.tolerations))
        return self._offers[key]

    def outcome(self, conditions: Sequence[SelectorCondition]) -> ConditionOutcome | None:
        """Return the result of the last condition on the devices for which the earlier conditions are true."""
        key = self.key(conditions)
        if key not in self._outcomes:
            asked, selector = self.of(conditions[:-1]), _tried(conditions[-1])
            self._outcomes[key] = None if asked is None or selector is None else self._evaluated(selector, asked)
        return self._outcomes[key]

    def first_failing(self, condition: SelectorCondition, devices: ChosenDevices) -> PoolDevice | None:
        """Return the first device on which the condition fails, or None if there is none.

        The condition is assumed to fail on devices for which the result is unknown.
        """
        for device in devices.examples:
            if self._left < 0:
                return device
            try:
                self._pay(condition.compiled().evaluate(device.device, driver=device.id.driver).cost)
            except SelectorError:
                return device
            except CelRuntimeError as error:
                self._pay(error.cost)
                return device
        return None

    def _tolerated(self, chosen: ChosenDevices, tolerations: Sequence[DeviceToleration]) -> list[PoolDevice]:
        devices = [device for kind in chosen.kinds for device in kind]
        if not self._target.features.device_taints:
            return devices
        rules = self._target.rules
        return [device for device in devices if first_untolerated(device.taints, tolerations, rules) is None]

    def _evaluated(self, selector: Selector, asked: ChosenDevices) -> ConditionOutcome | None:
        """Return the results of the selector, or None if the budget is used up."""
        holds, fails, text = list[Sequence[PoolDevice]](), list[Sequence[PoolDevice]](), ""
        for kind in asked.kinds:
            if self._left < 0:
                self.untried += 1
                return None
            device = kind[0]
            try:
                evaluation = selector.evaluate(device.device, driver=device.id.driver)
            except CelRuntimeError as error:
                self._pay(error.cost)
                text = text or str(error)
                fails.append(kind)
            else:
                self._pay(evaluation.cost)
                if evaluation.match:
                    holds.append(kind)
        return ConditionOutcome(asked, ChosenDevices(holds), ChosenDevices(fails), text)

    def _pay(self, cost: int) -> None:
        if cost > CHEAP:
            self._left -= cost


def _kinds(devices: Sequence[PoolDevice]) -> list[list[PoolDevice]]:
    """Return the devices grouped by everything that a selector can see of them."""
    kinds: dict[bytes | int, list[PoolDevice]] = {}
    encode = msgspec.json.Encoder().encode
    for device in devices:
        seen = device.device
        shares = bool(seen.allow_multiple_allocations)
        try:
            key: bytes | int = encode((device.id.driver, shares, seen.attributes, seen.capacity))
        except (OverflowError, UnicodeError):
            key = len(kinds)  # numbers and texts that JSON cannot represent equal nothing
        kinds.setdefault(key, []).append(device)
    return list(kinds.values())


def _tried(condition: SelectorCondition) -> Selector | None:
    """Return the selector.

    Return None if it does not compile or is too costly for the API server, which other rules report.
    """
    try:
        selector = condition.compiled()
        return selector if selector.max_cost <= COST_LIMIT else None
    except (SelectorError, CelError):
        return None
