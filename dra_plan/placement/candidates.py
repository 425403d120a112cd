"""The pods that are to be placed, made ready for questions about nodes, and which of them are alike.

What the questions are belongs to `ground`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from dra_plan.api.core import Pod
from dra_plan.api.resource import ResourceClaim
from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.dra.filter import PodState
from dra_plan.scheduler.framework.interface import FilterPlugin
from dra_plan.scheduler.framework.status import CycleState, Status


@dataclass(eq=False)
class PodToPlace:
    """A pod after PreFilter: what the filters keep of it, or why it is refused on all nodes.

    `filters` look at nothing but node and pod; `only` are the names of the nodes that may be asked, None for all.
    """

    info: PodInfo
    state: CycleState
    filters: Sequence[FilterPlugin] = ()
    only: frozenset[str] | None = None
    refusal: Status | None = None
    devices: PodState | None = None
    key: Hashable = None
    """Pods of one key get the same answers on every node."""

    @property
    def pod(self) -> Pod:
        """The pod, as it was admitted."""
        return self.info.pod

    @property
    def pending(self) -> list[ResourceClaim]:
        """The claims for which devices are to be found, the one for extended resources left out."""
        return [] if self.devices is None or self.devices.empty else self.devices.pending

    @property
    def settled(self) -> list[ResourceClaim]:
        """The claims that have their devices."""
        return [] if self.devices is None or self.devices.empty else self.devices.allocated


@dataclass(eq=False)
class PodKind:
    """Pods that are alike. `more` makes another one where a question is about copies; `count` is how many are wanted.

    `shared` are the keys of the pending claims that these pods share with pods of whatever kind.
    """

    members: list[PodToPlace]
    count: int
    more: Callable[[int], PodToPlace] | None = None
    shared: frozenset[str] = field(default_factory=frozenset)

    @property
    def first(self) -> PodToPlace:
        """The one that stands for all."""
        return self.members[0]

    @property
    def priority(self) -> int:
        """The priority, the same for all."""
        return self.first.info.priority

    def take(self, number: int, start: int = 0) -> list[PodToPlace]:
        """So many of them, in order, made as far as they are not there yet."""
        while self.more is not None and len(self.members) < start + number:
            self.members.append(self.more(len(self.members)))
        return self.members[start : start + number]


def kinds_of(candidates: Iterable[PodToPlace], groups: Collection[GroupKey] = ()) -> list[PodKind]:
    """The candidates by kind, in order of priority, highest first, then as they come.

    Pods of these `groups` are not of one kind with others.
    """
    candidates = list(candidates)
    users: dict[str, int] = {}
    for each in candidates:
        for claim in each.pending:
            users[claim.key] = users.get(claim.key, 0) + 1
    found: dict[Hashable, PodKind] = {}
    for each in candidates:
        shared = frozenset(claim.key for claim in each.pending if users[claim.key] > 1)
        group = each.info.group if each.info.group in groups else None
        key = (group, each.info.priority, each.key if each.key is not None else each.info.uid, shared)
        kind = found.setdefault(key, PodKind([], 0, shared=shared))
        kind.members.append(each)
        kind.count += 1
    return sorted(found.values(), key=lambda kind: -kind.priority)
