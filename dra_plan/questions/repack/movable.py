"""The running pods that may move and the price of moving each, and why other pods stay.

Prices come from a list of rules, each with pod labels, a minimum priority and a price. The first matching rule applies.
If no rule matches, a move costs 1, so without rules the cheapest moves are the fewest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.selectors import labels_match, parse_selector
from dra_plan.api.well_known import MIRROR_POD
from dra_plan.arguments import yaml_of
from dra_plan.claims.budgets import counted, covers
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.errors import InputError, UsageError
from dra_plan.placement.leaving import LeavingPod
from dra_plan.planner.waves import PodKey, pod_key
from dra_plan.questions.repack.document import AloneReason, PodsKept
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.whatif.edits import belongs_to_node, comes_back, generated_claims, pod_name

MOST_EXAMPLES = 5
MOST_PRICE = 1_000_000
"""The highest price of a move."""
MOST_BYTES = 1 << 20
"""The maximum size of a price file, in bytes."""
MOST_RULES = 1_000

_ORDER: tuple[AloneReason, ...] = (
    *("NoController", "HigherPriority", "DisruptionBudget", "SharedClaim", "SharedDevices", "PodGroup"),
    *("OtherScheduler", "DaemonSet", "Static", "Leaving"),
)


# -- prices ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PriceRule:
    """The price of moving a pod that has these labels and at least this priority."""

    price: int
    selector: LabelSelector | None = None
    priority: int | None = None

    def holds(self, pod: Pod, priority: int) -> bool:
        """Return whether the rule applies to the pod."""
        if self.selector is not None and not labels_match(self.selector, pod.metadata.labels):
            return False
        return self.priority is None or priority >= self.priority


def read_prices(path: str) -> tuple[PriceRule, ...]:
    """Return the price rules in a file. Raises InputError for a file that cannot be read or is invalid."""
    value = yaml_of(path, "--prices", MOST_BYTES)
    return prices_of(value, f"--prices {path}")


def prices_of(value: Any, origin: str = "prices") -> tuple[PriceRule, ...]:
    """Return the price rules in a list of dicts. Raises InputError with the number of the rule and the field."""
    if not isinstance(value, list) or len(value) > MOST_RULES:
        raise InputError(f"{origin}: expected a list of at most {MOST_RULES:,} rules")
    return tuple(_rule(each, f"{origin}: rule {number}") for number, each in enumerate(value, 1))


def _rule(value: Any, origin: str) -> PriceRule:
    if not isinstance(value, Mapping) or not set(value) <= {"price", "selector", "priority"}:
        raise InputError(f"{origin}: expected a map of price, selector and priority")
    price, priority, selector = value.get("price"), value.get("priority"), value.get("selector")
    if isinstance(price, bool) or not isinstance(price, int) or not 1 <= price <= MOST_PRICE:
        raise InputError(f"{origin}: price: expected a whole number from 1 to {MOST_PRICE:,}")
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        raise InputError(f"{origin}: priority: expected a whole number")
    if selector is not None and not isinstance(selector, str):
        raise InputError(f"{origin}: selector: expected labels, as in app=train,team in (a,b)")
    try:
        return PriceRule(price, parse_selector(selector), priority)
    except UsageError as error:
        raise InputError(f"{origin}: selector: {error}") from error


# -- who may move ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MoveRules:
    """Which pods may move (whether bare pods, and up to which priority), and at which price."""

    bare: bool = False
    priority: int | None = None
    prices: tuple[PriceRule, ...] = ()

    def price(self, pod: Pod, priority: int) -> int:
        """Return the price of moving the pod."""
        return next((rule.price for rule in self.prices if rule.holds(pod, priority)), 1)


@dataclass(frozen=True)
class Movability:
    """The running pods that may move, and those that stay, grouped by the reason."""

    pods: tuple[LeavingPod, ...]
    alone: Mapping[AloneReason, Sequence[Pod]]

    @classmethod
    def of(cls, cluster: SimulatedCluster, index: Index, rules: MoveRules, profiles: Collection[str]) -> Movability:
        """Return the running pods that may move and those that stay.

        `profiles` are the names of the known schedulers.
        """
        told, held = _Holdings(index), dict[AloneReason, list[Pod]]()
        protected = _protected(index)
        pods = []
        for pod in index.inventory.pods:
            if not pod.spec.node_name or ended(pod):
                continue
            info = cluster.info(pod)
            priority = info.priority
            claims = told.of(pod)
            reason: AloneReason | None = _reason(pod, priority, rules)
            if reason is None and protected(pod):
                reason = "DisruptionBudget"
            if reason is None and info.profile not in profiles:
                reason = "OtherScheduler"
            if reason is None and info.group is not None:
                reason = "PodGroup"
            if reason is None and claims is None:
                reason = "SharedClaim"
            if reason is None and told.reaches_others(claims or ()):
                reason = "SharedDevices"
            if reason is not None:
                held.setdefault(reason, []).append(pod)
            else:
                pods.append(LeavingPod(pod, rules.price(pod, priority), claims or ()))
        return cls(tuple(pods), held)

    def left_alone(self) -> list[PodsKept]:
        """Return the entries for a document about the pods that stay on their nodes."""
        return [
            PodsKept(reason=reason, pods=len(pods), examples=[pod_name(pod) for pod in pods[:MOST_EXAMPLES]])
            for reason in _ORDER
            if (pods := self.alone.get(reason))
        ]


def _reason(pod: Pod, priority: int, rules: MoveRules) -> AloneReason | None:
    controller = pod.metadata.controller
    if pod.metadata.deletion_timestamp is not None:
        return "Leaving"
    if MIRROR_POD in (pod.metadata.annotations or {}) or (controller is not None and controller.kind == "Node"):
        return "Static"
    if belongs_to_node(pod):
        return "DaemonSet"
    if not comes_back(pod) and not rules.bare:
        return "NoController"
    return "HigherPriority" if rules.priority is not None and priority > rules.priority else None


def _protected(index: Index) -> Callable[[Pod], bool]:
    """Return a function that says whether budgets never allow an eviction: with none left, or several per pod."""
    budgets = [counted(each, index) for each in index.inventory.disruption_budgets]

    def is_protected(pod: Pod) -> bool:
        over = [each for each in budgets if covers(each, pod)]
        return len(over) > 1 or any(each.status.disruptions_allowed < 1 for each in over)

    return is_protected


class _Holdings:
    """The claims of pods, and whether other pods use them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        inventory = index.inventory
        self._by_name = {
            (c.metadata.namespace, c.metadata.name): c for c in inventory.claims if c.allocation is not None
        }
        self._users: dict[PodKey, list[ResourceClaim]] = {}
        for claim in self._by_name.values():
            for user in claim.reserved_for:
                if user.resource == "pods":
                    self._users.setdefault((claim.metadata.namespace, user.name), []).append(claim)
        self._elsewhere = _reached_by_several(inventory)

    def of(self, pod: Pod) -> tuple[ResourceClaim, ...] | None:
        """Return the allocated claims that only this pod uses, or None if the pod shares a claim."""
        own = generated_claims(self._index, [pod])
        found = {claim.key: claim for claim in self._users.get(pod_key(pod), ())}
        found |= {self._by_name[name].key: self._by_name[name] for name in own if name in self._by_name}
        for claim in found.values():
            status = claim.status
            if (claim.metadata.namespace, claim.metadata.name) not in own and (
                status is None or len(status.reserved_for) != 1
            ):
                return None
        return tuple(found.values())

    def reaches_others(self, claims: Iterable[ResourceClaim]) -> bool:
        """Return whether several nodes reach one of the claims' devices."""
        return any(
            (result.driver, result.pool) in self._elsewhere
            for claim in claims
            if claim.allocation is not None
            for result in claim.allocation.devices.results
        )


def _reached_by_several(inventory: Inventory) -> set[tuple[str, str]]:
    return {
        (each.spec.driver, each.spec.pool.name)
        for each in inventory.slices
        if not each.spec.node_name and each.spec.devices
    }
