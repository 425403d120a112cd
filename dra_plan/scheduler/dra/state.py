"""What DynamicResources keeps during one cycle of one pod."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dra_plan.allocator import Allocator
from dra_plan.api.core import NodeAllocatableResourceClaimStatus
from dra_plan.api.resource import AllocationResult, ResourceClaim
from dra_plan.api.scheduling import PodGroup
from dra_plan.scheduler.status import Status

from .extended import Use

Allocations = Sequence[AllocationResult]


class NodeAnswer(NamedTuple):
    """Why a node is rejected, or what would be allocated there: None if no claim waits for devices."""

    status: Status | None
    allocations: Allocations | None = None
    only_this_pod: bool = False
    """Whether it is no answer for another pod: the status names a claim of the pod, or the search was cut short."""
    claimed: Sequence[NodeAllocatableResourceClaimStatus] = ()
    """What the devices would take from the node itself."""


@dataclass
class PodState:
    """The pod's claims as PreFilter read them; empty if PreFilter rejected the pod.

    `special` is the claim for extended resources, `names` those that it may have to serve. `answers` are those of
    nodes, by name and with the node's version, where `key` can't say for which pods they hold. `chosen` are the results
    for the reserved node, for the pending claims in order, the special one last, and `uses` says which containers use
    the special one's requests.
    """

    claims: list[ResourceClaim] = field(default_factory=list)
    special: ResourceClaim | None = None
    names: list[str] = field(default_factory=list)
    key: Hashable = None
    allocators: dict[tuple[str, ...], Allocator] = field(default_factory=dict)
    answers: dict[str, tuple[int, NodeAnswer]] = field(default_factory=dict)
    chosen: Allocations | None = None
    uses: list[Use] = field(default_factory=list)
    reserved: list[str] = field(default_factory=list)
    """Uids of the claims that this pod put in flight."""
    shared: dict[str, AllocationResult] = field(default_factory=dict)
    """Uid to allocation of the claims that another pod of the group has put in flight in the same cycle."""
    group: PodGroup | None = None
    for_group: frozenset[str] = frozenset()
    """Uids of the claims that are reserved for the group instead of the pod."""
    taken_from: str = ""
    """The reserved node, if the pod's status says that devices take something from it."""

    @property
    def waiting(self) -> list[ResourceClaim]:
        """The user's claims without devices in the API server, whoever finds some for them."""
        return [claim for claim in self.claims if claim.allocation is None]

    @property
    def pending(self) -> list[ResourceClaim]:
        """Those of them for which this pod has to find devices."""
        return [claim for claim in self.waiting if claim.metadata.uid not in self.shared]

    def for_waiting(self, found: Sequence[AllocationResult], *, mixed_up: bool) -> list[AllocationResult]:
        """The allocations of the waiting claims in their order, of which `found` are those that this pod found.

        `mixed_up`: upstream puts those of shared claims behind the new ones, and then goes by the order of the claims.
        """
        if not self.shared:
            return list(found)
        if mixed_up:
            known = (self.shared.get(claim.metadata.uid) for claim in self.waiting)
            return [*found[: len(self.pending)], *(each for each in known if each is not None)]
        new = iter(found)
        return [self.shared.get(claim.metadata.uid) or next(new) for claim in self.waiting]

    @property
    def allocated(self) -> list[ResourceClaim]:
        """The user's claims that have their devices."""
        return [claim for claim in self.claims if claim.allocation is not None]

    @property
    def special_pending(self) -> bool:
        """Whether there is a special claim without devices."""
        return self.special is not None and self.special.allocation is None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.claims and self.special is None
