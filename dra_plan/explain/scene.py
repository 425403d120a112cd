"""Everything that an answer for one node depends on, as a value: change a part of it and ask the allocator again.

The planner's cluster enters as a `World`; nothing here knows how it was made. Finding reasons, blocking sets and
suggestions is other files' work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dra_plan import releases
from dra_plan.allocator import (
    AllocatedState,
    AllocationError,
    Allocator,
    NodeOutcome,
    Outcome,
    Pool,
    PoolGatherer,
    PoolID,
    Probe,
    View,
)
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.allocator.requests import ClaimRequests
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from dra_plan.releases import Quirk, Target


class World(Protocol):
    """A cluster as one target sees it, with the objects that no allocator looks at."""

    @property
    def inventory(self) -> Inventory:
        """All objects."""

    @property
    def target(self) -> Target:
        """The release and its gates."""

    @property
    def view(self) -> View:
        """What the allocator looks at."""

    def repaired(self, *quirks: Quirk) -> World:
        """The same cluster without the named defects; without any name, without all."""

    def retargeted(self, target: Target) -> World:
        """The same input as another target sees it."""


class Budget:
    """Search steps that may still be spent. Counted in steps, so that answers do not depend on the machine."""

    __slots__ = ("each", "left")

    def __init__(self, total: int, each: int) -> None:
        self.left = total
        self.each = each

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0


@dataclass(slots=True, kw_only=True)
class Scene:
    """One node, the claims to place on it, and all that decides about them. Never changed; `with_...` make others."""

    node: Node
    claims: tuple[ResourceClaim, ...]
    world: World
    allocated: tuple[ResourceClaim, ...]
    """The allocated claims that matter here: those that have devices in a pool of this node."""
    own: frozenset[str]
    """Those of them, by NAMESPACE/NAME, that belong to the claim set itself: releasing them is no remedy."""
    view: View
    """The world, with what has been changed."""
    max_steps: int = DEFAULT_MAX_STEPS
    deadline: float | None = None
    """Monotonic time at which searches end as Undecided."""
    _ready: list[ClaimRequests] = field(default_factory=list)
    """Filled when first asked for; shared by scenes that differ in the node alone."""
    _pools: tuple[list[Pool], list[Pool]] | None = None

    @property
    def classes(self) -> Mapping[str, DeviceClass]:
        """The device classes by name."""
        return self.view.classes

    @property
    def gatherer(self) -> PoolGatherer:
        """Finds the pools of nodes."""
        return self.view.gatherer

    @property
    def target(self) -> Target:
        """The release and its gates."""
        return self.view.target

    @property
    def state(self) -> AllocatedState:
        """The devices in use."""
        return self.view.state

    def ask(self, budget: Budget | None = None, probe: Probe | None = None) -> NodeOutcome:
        """The allocator's answer. With a budget, its steps are paid from it and it may end as Undecided sooner."""
        steps = self.max_steps if budget is None else max(1, min(self.max_steps, budget.each, budget.left))
        allocator = Allocator(self.claims, self.view, max_steps=steps, deadline=self.deadline)
        answer = allocator.allocate(self.node, probe)
        if budget is not None:
            budget.left -= answer.steps + 1
        return answer

    def fits(self, budget: Budget) -> bool | None:
        """Whether all claims fit; None if the budget ended first. An error of any kind is no fit."""
        if budget.spent:
            return None
        outcome = self.ask(budget).outcome
        return None if outcome is Outcome.UNDECIDED else outcome is Outcome.FITS

    def ready(self) -> list[ClaimRequests]:
        """The claims as the search sees them."""
        if not self._ready:
            self._ready += self.view.requests(self.claims)
        return self._ready

    def gathered(self) -> tuple[list[Pool], list[Pool]]:
        """The node's pools, and those that are obsolete for it. Raises AllocationError for a node selector unread."""
        if self._pools is None:
            obsolete: list[Pool] = []
            self._pools = self.gatherer.gather(self.node, obsolete=obsolete), obsolete
        return self._pools

    def slices(self) -> list[ResourceSlice]:
        """The slices of every pool that the node sees anything of."""
        return [slice_.object for pool in self.pool_ids() for slice_ in self.gatherer.slices[pool]]

    def pool_ids(self) -> list[PoolID]:
        """The pools that the node sees anything of, usable or not."""
        try:
            pools, obsolete = self.gathered()
        except AllocationError:
            return []
        return [pool.id for pool in (*pools, *obsolete)]

    def _changed(self, **parts: object) -> Scene:
        values = {name: getattr(self, name) for name in (*_PARTS, "max_steps", "deadline")}
        return Scene(**{**values, **parts})

    def with_claims(self, claims: Iterable[ResourceClaim]) -> Scene:
        """Other claims to place."""
        return self._changed(claims=tuple(claims))

    def with_classes(self, classes: Mapping[str, DeviceClass]) -> Scene:
        """Other device classes."""
        return self._changed(view=self.view.with_classes(classes))

    def with_node(self, node: Node) -> Scene:
        """The node with other labels; its name must be the same."""
        return self._changed(node=node)

    def with_steps(self, max_steps: int) -> Scene:
        """Another limit for each search."""
        return self._changed(max_steps=max_steps)

    def without_allocated(self, keys: Iterable[str]) -> Scene:
        """The claims of those names (NAMESPACE/NAME) give their devices back."""
        gone = set(keys)
        kept = tuple(claim for claim in self.allocated if claim.key not in gone)
        return self._changed(allocated=kept, view=self.view.with_claims(kept))

    def with_slices(self, slices: Iterable[ResourceSlice]) -> Scene:
        """Other slices: these are all that exist."""
        return self._changed(view=self.view.with_slices(tuple(slices)))

    def repaired(self, *quirks: Quirk) -> Scene:
        """The same without the named defects; without any name, without all."""
        view = self.view.with_slices(self.slices()).repaired(*quirks)
        return self._changed(world=self.world.repaired(*quirks), view=view)

    def with_gate(self, gate: str) -> Scene:
        """The same release with a feature gate switched on."""
        old = self.target
        target = releases.target(old.version, {**old.gates, gate: True}, old.quirk_mode).with_quirks(old.quirks)
        return self._changed(world=self.world.retargeted(target), view=self.view.at(target))


_PARTS = ("node", "claims", "world", "allocated", "own", "view")


class Stage:
    """Sets scenes: the same world and claims on any node."""

    def __init__(
        self,
        world: World,
        claims: Sequence[ResourceClaim],
        max_steps: int | None = None,
        own: Iterable[ResourceClaim] = (),
        deadline: float | None = None,
    ) -> None:
        self.world, self.claims = world, tuple(claims)
        self._deadline = deadline
        self._own = frozenset(claim.key for claim in own)
        self._max_steps = DEFAULT_MAX_STEPS if max_steps is None else max_steps
        self._ready: list[ClaimRequests] = []

    def scene(self, node: Node) -> Scene:
        """The claims on this node, in the world as it is."""
        world = self.world
        scene = Scene(
            node=node,
            claims=self.claims,
            world=world,
            allocated=(),
            own=self._own,
            view=world.view,
            max_steps=self._max_steps,
            deadline=self._deadline,
            _ready=self._ready,
        )
        holders: dict[str, ResourceClaim] = {}
        for pool in scene.pool_ids():
            holders.update(self.holders(pool))
        scene.allocated = tuple(holders.values())
        return scene

    def holders(self, pool: PoolID) -> Mapping[str, ResourceClaim]:
        """The allocated claims that have devices in a pool, by NAMESPACE/NAME."""
        return self.world.view.holders.get(pool, {})
