"""Claims to be placed on one node, as a value that can be changed in part to run the allocator again.

The allocator's `View` contains everything else that decides. Other modules find reasons, blocking sets and suggestions.
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
"""The number of requests below which all search steps take about the same time."""
LOOKS_PER_STEP = 2_000
"""The pairs of a request and a device that a search examines in the time of a usual step, if it has many of both."""


class Budget:
    """The number of search steps that may still be taken.

    The limit is a number of steps, so that results do not depend on the speed of the machine. In a search with hundreds
    of requests and devices, one step can take a hundred times as long as a usual step. Each step of a large search
    therefore counts as several steps (`Placement.step_weight`), and a budget takes about the same time for all
    searches.
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
    """A node, the claims that are to be placed on the node, and the cluster around it.

    Placements are immutable. Methods such as `with_node` return new placements.
    """

    node: Node
    claims: tuple[ResourceClaim, ...]
    view: View
    alike: tuple[int, ...] = ()
    """For each claim, the index of the first that is created from the same template: an edit of one applies to all."""
    own: frozenset[str] = frozenset()
    """The allocated claims, by NAMESPACE/NAME, that belong to the claim set itself: releasing them is no remedy."""
    max_steps: int = DEFAULT_MAX_STEPS
    deadline: float | None = None
    """The monotonic time at which searches end as Undecided."""

    def ask(self, budget: Budget | None = None, probe: Probe | None = None) -> NodeOutcome:
        """Return the allocator's result for the placement.

        If a budget is given, the steps of the search are taken from the budget, and the search may end early as
        Undecided.
        """
        steps = self.max_steps if budget is None else self.steps_of(budget)
        answer = Allocator(self.claims, self.view, max_steps=steps, deadline=self.deadline).allocate(self.node, probe)
        return answer if budget is None else self.charged(answer, budget)

    def steps_of(self, budget: Budget) -> int:
        """Return the number of steps that one search may take with this budget."""
        return max(1, min(self.max_steps, budget.each, budget.left // self.step_weight))

    def charged(self, answer: NodeOutcome, budget: Budget) -> NodeOutcome:
        """Return the result of a search after its steps have been taken from the budget."""
        budget.left -= (answer.steps + 1) * self.step_weight
        return answer

    def fits(self, budget: Budget) -> bool | None:
        """Return whether all claims fit, or None if the budget was not large enough to decide.

        An error counts as not fitting.
        """
        if budget.spent:
            return None
        outcome = self.ask(budget).outcome
        return None if outcome is Outcome.UNDECIDED else outcome is Outcome.FITS

    # Derived values

    @cached_property
    def requests(self) -> list[ClaimRequests]:
        """The claims in the form that the search uses."""
        return self.view.requests(self.claims)

    @cached_property
    def like_devices(self) -> LikeDevices:
        """The known reasons for devices, by kind of device."""
        return LikeDevices(self.view, self.requests)

    def wants(self) -> list[Want]:
        """Return all requests of the claims, and all alternatives of these requests."""
        return [want for ready in self.requests for wants in ready.requests for want in wants]

    @cached_property
    def step_weight(self) -> int:
        """The number of usual steps that one step of the search for these claims on this node counts as."""
        requests = sum(len(wants) for ready in self.requests for wants in ready.requests)
        if requests < FEW_REQUESTS:
            return 1
        devices = sum(len(slice_.spec.devices) for slice_ in self.slices())
        return max(1, requests * devices // LOOKS_PER_STEP)

    @cached_property
    def gathered(self) -> tuple[list[Pool], list[Pool]]:
        """The node's pools and the node's obsolete pools. Raises AllocationError if a node selector can't be read."""
        obsolete: list[Pool] = []
        return self.view.gatherer.gather(self.node, obsolete=obsolete), obsolete

    def pool_ids(self) -> list[PoolID]:
        """Return the pools of which the node sees at least one part. Pools that can't be used are included."""
        try:
            pools, obsolete = self.gathered
        except AllocationError:
            return []
        return [pool.id for pool in (*pools, *obsolete)]

    def slices(self) -> list[ResourceSlice]:
        """Return all slices of the pools of which the node sees at least one part."""
        return [slice_.object for pool in self.pool_ids() for slice_ in self.view.gatherer.slices[pool]]

    @cached_property
    def allocated(self) -> tuple[ResourceClaim, ...]:
        """The allocated claims that have devices in one of the node's pools. Other claims do not matter here."""
        found: dict[str, ResourceClaim] = {}
        for pool in self.pool_ids():
            found.update((claim.key, claim) for claim in self.view.holders.get(pool, ()))
        return tuple(found.values())

    # Other placements

    def first_alike(self, claim: int) -> int:
        """Return the index of the first claim that was created from the same template as the claim at index `claim`.

        If no other claim was created from the template, return `claim`.
        """
        return self.alike[claim] if claim < len(self.alike) else claim

    def number_alike(self, claim: int) -> int:
        """Return the number of claims that an edit of the claim at index `claim` applies to."""
        first = self.first_alike(claim)
        return sum(self.first_alike(at) == first for at in range(len(self.claims)))

    def with_claims(self, claims: Iterable[ResourceClaim]) -> Placement:
        """Return the placement of other claims on the same node."""
        return replace(self, claims=tuple(claims))

    def with_classes(self, classes: Mapping[str, DeviceClass]) -> Placement:
        """Return the placement with other device classes."""
        return self._in(self.view.with_classes(classes))

    def with_node(self, node: Node) -> Placement:
        """Return the placement with the node replaced by `node`, which has the same name but other labels."""
        return replace(self, node=node)

    def without_allocated(self, keys: Iterable[str]) -> Placement:
        """Return the placement after the claims with these names (NAMESPACE/NAME) have released their devices."""
        gone = set(keys)
        kept = [claim for claim in self.allocated if claim.key not in gone]
        return self if len(kept) == len(self.allocated) else self._in(self.view.with_claims(kept))

    def without_rule(self, name: str) -> Placement:
        """Return the placement without the device taint rule that has this name."""
        return self._in(self.view.with_rules([rule for rule in self.view.given_rules if rule.metadata.name != name]))

    def with_slices(self, slices: Iterable[ResourceSlice]) -> Placement:
        """Return the placement with only these slices."""
        return self._in(self.view.with_slices(tuple(slices)))

    def repaired(self, *quirks: Quirk) -> Placement:
        """Return the placement without the named defects.

        If no names are given, return the placement without any defects.

        The cluster in the new placement contains only what the node sees.
        """
        return self._in(self.view.with_slices(self.slices()).repaired(*quirks))

    def with_gate(self, gate: str) -> Placement:
        """Return the placement with a feature gate turned on."""
        old = self.view.target
        target = releases.target(old.version, {**old.gates, gate: True}, old.quirk_mode).with_quirks(old.quirks)
        return self._in(self.view.at(target))

    def _in(self, view: View) -> Placement:
        return replace(self, view=view)


class Placements:
    """Creates the placements of the same claims on the nodes of a cluster.

    `sources` are the objects that the claims come from; without them, claims that share a spec come from one template.
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
        """Return the placement of the claims on this node, in the current cluster."""
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
