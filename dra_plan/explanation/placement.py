"""A node and the claims to be placed on it, as an immutable value.

Changed copies show what other inputs would lead to.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dra_plan import releases
from dra_plan.allocator import AllocationError, Allocator, NodeOutcome, Outcome, Pool, PoolID, Probe, View
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.allocator.requests import ClaimRequests, Want
from dra_plan.api.core import Node
from dra_plan.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from dra_plan.releases import Quirk

from .like_devices import LikeDevices

FEW_REQUESTS = 16
"""The number of requests from which on steps of a search may take longer than normal steps."""
LOOKS_PER_STEP = 2_000
"""The number of pairs of a request and a device that a large search examines in the time of a normal step."""


class Budget:
    """The number of search steps that are left.

    Steps are limited instead of time, so that results do not depend on the speed of the machine. With hundreds of
    requests and devices, a step can take a hundred times as long as a normal step. It then counts as several steps
    (`Placement.step_weight`).
    """

    __slots__ = ("each", "left")

    def __init__(self, total: int, each: int) -> None:
        self.left = total
        self.each = each

    @property
    def spent(self) -> bool:
        """Return whether no steps are left."""
        return self.left <= 0


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A node, the claims to be placed on it, and the cluster.

    A placement is immutable; its methods return changed copies.
    """

    node: Node
    claims: tuple[ResourceClaim, ...]
    view: View
    alike: tuple[int, ...] = ()
    """For each claim, the index of the first claim from the same template. Edits apply to all claims of a template."""
    own: frozenset[str] = frozenset()
    """The claim set's own allocated claims, as NAMESPACE/NAME. Suggestions do not release them."""
    max_steps: int = DEFAULT_MAX_STEPS
    deadline: float | None = None
    """The monotonic time at which searches end as Undecided."""

    def ask(self, budget: Budget | None = None, probe: Probe | None = None) -> NodeOutcome:
        """Return the allocator's result for the placement.

        If a budget is given, the search takes its steps from the budget, and is Undecided if the budget is too small.
        """
        steps = self.max_steps if budget is None else self.steps_of(budget)
        answer = Allocator(self.claims, self.view, max_steps=steps, deadline=self.deadline).allocate(self.node, probe)
        return answer if budget is None else self.charged(answer, budget)

    def steps_of(self, budget: Budget) -> int:
        """Return the maximum number of steps that one search may take with this budget."""
        return max(1, min(self.max_steps, budget.each, budget.left // self.step_weight))

    def charged(self, answer: NodeOutcome, budget: Budget) -> NodeOutcome:
        """Take the steps of a search from the budget, and return the result of the search."""
        budget.left -= (answer.steps + 1) * self.step_weight
        return answer

    def fits(self, budget: Budget) -> bool | None:
        """Return whether all claims fit, or None if the budget is too small to decide. Errors count as not fitting."""
        if budget.spent:
            return None
        outcome = self.ask(budget).outcome
        return None if outcome is Outcome.UNDECIDED else outcome is Outcome.FITS

    # Derived values

    @cached_property
    def requests(self) -> list[ClaimRequests]:
        """The requests of the claims, as the search uses them."""
        return self.view.requests(self.claims)

    @cached_property
    def like_devices(self) -> LikeDevices:
        """The known reasons for rejecting devices, by kind of device."""
        return LikeDevices(self.view, self.requests)

    def wants(self) -> list[Want]:
        """Return all requests of the claims, and all alternatives of requests."""
        return [want for ready in self.requests for wants in ready.requests for want in wants]

    @cached_property
    def step_weight(self) -> int:
        """The number of normal steps that one step of this search counts as."""
        requests = sum(len(wants) for ready in self.requests for wants in ready.requests)
        if requests < FEW_REQUESTS:
            return 1
        devices = sum(len(slice_.spec.devices) for slice_ in self.slices())
        return max(1, requests * devices // LOOKS_PER_STEP)

    @cached_property
    def gathered(self) -> tuple[list[Pool], list[Pool]]:
        """The node's pools, and its obsolete pools. Raises AllocationError if a node selector can't be read."""
        obsolete: list[Pool] = []
        return self.view.gatherer.gather(self.node, obsolete=obsolete), obsolete

    def pool_ids(self) -> list[PoolID]:
        """Return the pools of which the node sees at least a part, including unusable pools."""
        try:
            pools, obsolete = self.gathered
        except AllocationError:
            return []
        return [pool.id for pool in (*pools, *obsolete)]

    def slices(self) -> list[ResourceSlice]:
        """Return all slices of the pools of which the node sees at least a part."""
        return [slice_.object for pool in self.pool_ids() for slice_ in self.view.gatherer.slices[pool]]

    @cached_property
    def allocated(self) -> tuple[ResourceClaim, ...]:
        """The allocated claims that have devices in the node's pools."""
        found: dict[str, ResourceClaim] = {}
        for pool in self.pool_ids():
            found.update((claim.key, claim) for claim in self.view.holders.get(pool, ()))
        return tuple(found.values())

    # Other placements

    def first_alike(self, claim: int) -> int:
        """Return the index of the first claim from the same template as the claim at index `claim`."""
        return self.alike[claim] if claim < len(self.alike) else claim

    def number_alike(self, claim: int) -> int:
        """Return the number of claims that change together with the claim at index `claim`."""
        first = self.first_alike(claim)
        return sum(self.first_alike(at) == first for at in range(len(self.claims)))

    def with_claims(self, claims: Iterable[ResourceClaim]) -> Placement:
        """Return the placement of other claims on the same node."""
        return replace(self, claims=tuple(claims))

    def with_classes(self, classes: Mapping[str, DeviceClass]) -> Placement:
        """Return the placement with other device classes."""
        return self._in(self.view.with_classes(classes))

    def with_node(self, node: Node) -> Placement:
        """Return the placement with `node`, which differs from the current node only in its labels."""
        return replace(self, node=node)

    def without_allocated(self, keys: Iterable[str]) -> Placement:
        """Return the placement after these claims, given as NAMESPACE/NAME, have released their devices."""
        gone = set(keys)
        kept = [claim for claim in self.allocated if claim.key not in gone]
        return self if len(kept) == len(self.allocated) else self._in(self.view.with_claims(kept))

    def without_rule(self, name: str) -> Placement:
        """Return the placement without the DeviceTaintRule of this name."""
        return self._in(self.view.with_rules([rule for rule in self.view.given_rules if rule.metadata.name != name]))

    def with_slices(self, slices: Iterable[ResourceSlice]) -> Placement:
        """Return the placement with only these slices."""
        return self._in(self.view.with_slices(tuple(slices)))

    def repaired(self, *quirks: Quirk) -> Placement:
        """Return the placement without the named defects, or without any defects if none are named.

        The cluster of the new placement contains only what the node sees.
        """
        return self._in(self.view.with_slices(self.slices()).repaired(*quirks))

    def with_gate(self, gate: str) -> Placement:
        """Return the placement with a feature gate enabled."""
        old = self.view.target
        target = releases.target(old.version, {**old.gates, gate: True}, old.quirk_mode).with_quirks(old.quirks)
        return self._in(self.view.at(target))

    def _in(self, view: View) -> Placement:
        return replace(self, view=view)


class Placements:
    """Creates the placements of the same claims on different nodes of a cluster.

    `sources` are the objects that the claims come from. If they are not given, claims with the same spec are assumed to
    come from one template.
    """

    def __init__(
        self,
        view: View,
        claims: Sequence[ResourceClaim],
        max_steps: int | None = None,
        own: Iterable[ResourceClaim] = (),
        deadline: float | None = None,
        sources: Sequence[Hashable] = (),
    ) -> None:
        self._view, self._claims, self._deadline = view, tuple(claims), deadline
        firsts: dict[Hashable, int] = {}
        known = sources or [id(claim.spec) for claim in self._claims]
        self._alike = tuple(firsts.setdefault(key, at) for at, key in enumerate(known))
        self._own = frozenset(claim.key for claim in own)
        self._max_steps = DEFAULT_MAX_STEPS if max_steps is None else max_steps
        self._requests = view.requests(self._claims)
        self._like_devices = LikeDevices(view, self._requests)

    def on(self, node: Node) -> Placement:
        """Return the placement of the claims on this node."""
        placement = Placement(
            node=node,
            claims=self._claims,
            view=self._view,
            alike=self._alike,
            own=self._own,
            max_steps=self._max_steps,
            deadline=self._deadline,
        )
        placement.__dict__["requests"] = self._requests  # the same on all nodes
        placement.__dict__["like_devices"] = self._like_devices
        return placement
