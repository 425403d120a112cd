"""Pods that must run together: gangs (scheduling.k8s.io), and groups that must stay in one domain.

In order: the requirements of each group; the goals of a placement, by priority; and the removal of incomplete gangs
from a placement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.groups.cycle import PlacementError, placements

from .node_kinds import PlacementCluster, PodKind, PodToPlace
from .program import Gang, Goal

Domains = tuple[frozenset[str], ...]
"""The node names of each domain."""


@dataclass(frozen=True)
class GroupToPlace:
    """A group with pods that have no node yet.

    Either none of these pods or at least `least` are placed, all in the same domain. `pods` is their number. `priority`
    is their highest priority, which decides when the scheduler tries the group.
    """

    key: GroupKey
    least: int
    pods: int
    priority: int
    domains: Domains | None = None

    @property
    def is_gang(self) -> bool:
        """True if the group has not started, so that several of its pods need nodes at the same time."""
        return self.least > 0

    @property
    def is_short(self) -> bool:
        """True if the group has too few pods to start."""
        return self.pods < self.least

    def inside(self, node: str) -> frozenset[str] | None:
        """Return the nodes that the group can use if one of its pods is on this node, or None for all nodes."""
        if self.domains is None:
            return None
        return next((domain for domain in self.domains if node in domain), frozenset())


NO_GROUPS: Mapping[GroupKey, GroupToPlace] = {}


def groups_of(ground: PlacementCluster, candidates: Iterable[PodToPlace]) -> dict[GroupKey, GroupToPlace]:
    """Return the groups of these pods that restrict their placement, given the feature gates of the target."""
    waiting: dict[GroupKey, list[PodToPlace]] = {}
    for each in candidates:
        if each.info.group is not None:
            waiting.setdefault(each.info.group, []).append(each)
    found = {}
    for key, pods in waiting.items():
        group = ground.cluster.groups.get(key)
        if group is None:
            continue
        domains = _domains(ground, key)
        least = max(0, group.min_count - len(ground.cluster.groups.on_nodes(key)))
        if least or domains is not None:
            highest = max(each.info.priority for each in pods)
            found[key] = GroupToPlace(key, least, len(pods), highest, domains)
    return found


def _domains(ground: PlacementCluster, key: GroupKey) -> Domains | None:
    group = ground.cluster.groups.get(key)
    if group is None or not group.topology_key:
        return None
    try:
        return tuple(each.nodes or frozenset() for each in placements(ground.cluster, key, group))
    except PlacementError:
        return ()


def apart(groups: Iterable[GroupToPlace]) -> list[frozenset[str]]:
    """Return the domains of all groups, without duplicates. Nodes inside and outside a domain are not alike."""
    return list(dict.fromkeys(domain for group in groups for domain in group.domains or ()))


def gang_of(group: GroupToPlace, kinds: Sequence[PodKind], node_kinds: Mapping[str, int]) -> Gang:
    """Return the group as a gang of the integer program. `node_kinds` has the kind of each node, by name."""
    own = frozenset(i for i, kind in enumerate(kinds) if kind.first.info.group == group.key)
    domains = group.domains
    inside = None if domains is None else tuple(frozenset(node_kinds[name] for name in domain) for domain in domains)
    return Gang(own, max(1, group.least), inside)


def goals_of(
    kinds: Sequence[PodKind], groups: Sequence[GroupToPlace] = (), *, by_priority: bool = False
) -> tuple[Goal, ...]:
    """Return the goals of a placement: by default, to place as many pods as possible.

    With `by_priority`, there are two goals for each priority, the highest first: to start as many gangs as possible,
    and then to place as many pods as possible.
    """
    if not by_priority:
        return (Goal(kinds=tuple(range(len(kinds)))),)
    found = []
    for priority in sorted({kind.priority for kind in kinds}, reverse=True):
        starting = tuple(i for i, group in enumerate(groups) if group.is_gang and group.priority == priority)
        if starting:
            found.append(Goal(gangs=starting))
        found.append(Goal(kinds=tuple(i for i, kind in enumerate(kinds) if kind.priority == priority)))
    return tuple(found)


@dataclass(frozen=True)
class PodShapes:
    """The shapes of pods.

    Kinds of pods have the same shape if they have the same requirements and may run on the same nodes.

    `of_kinds` has the index of each kind's shape.
    """

    kinds: tuple[PodKind, ...]
    of_kinds: tuple[int, ...]

    @classmethod
    def of(cls, kinds: Sequence[PodKind], groups: Mapping[GroupKey, GroupToPlace]) -> PodShapes:
        """Return the shapes of these kinds. A kind that is copied from a template has a shape of its own."""
        positions: dict[Hashable, int] = {}
        merged: list[PodKind] = []
        found = []
        for index, kind in enumerate(kinds):
            group = groups.get(kind.first.info.group) if kind.first.info.group is not None else None
            own: Hashable = index if kind.shape is None else (kind.shape, group.domains if group is not None else None)
            position = positions.setdefault(own, len(merged))
            if position == len(merged):
                merged.append(replace(kind, members=[], count=0) if kind.more is None else kind)
            if kind.more is None:
                merged[position].members.extend(kind.members)
                merged[position].count += kind.count
            found.append(position)
        return cls(tuple(merged), tuple(found))


class WholeGroups:
    """The groups of a placement that is being carried out.

    They restrict the nodes that a pod may be added to, and decide which pods must be removed again.
    """

    def __init__(self, groups: Mapping[GroupKey, GroupToPlace]) -> None:
        self._groups = groups

    def may_be(self, placed: Iterable[tuple[PodToPlace, str]]) -> Callable[[PodToPlace, str], bool]:
        """Return a function that tells whether a pod may be added to a node.

        A pod may not be added if its gang does not run yet, or if the node is outside the domain of the gang.
        """
        first: dict[GroupKey, str] = {}
        for candidate, node in placed:
            if candidate.info.group is not None:
                first.setdefault(candidate.info.group, node)

        def allowed(candidate: PodToPlace, node: str) -> bool:
            group = self._groups.get(candidate.info.group) if candidate.info.group is not None else None
            if group is None:
                return True
            if group.key not in first:
                return group.least <= 1 and group.inside(node) != frozenset()
            inside = group.inside(first[group.key])
            return inside is None or node in inside

        return allowed

    def started(self, placed: Iterable[PodToPlace]) -> set[GroupKey]:
        """Return the gangs with enough placed pods to start."""
        numbers = _numbers(placed)
        return {key for key, group in self._groups.items() if group.is_gang and numbers.get(key, 0) >= group.least}

    def parts(self, placed: Collection[PodToPlace]) -> list[PodToPlace]:
        """Return the placed pods of gangs that do not have enough placed pods to start."""
        started = self.started(placed)
        return [each for each in placed if self._is_of_gang(each) and each.info.group not in started]

    def _is_of_gang(self, candidate: PodToPlace) -> bool:
        group = self._groups.get(candidate.info.group) if candidate.info.group is not None else None
        return group is not None and group.is_gang


def _numbers(placed: Iterable[PodToPlace]) -> dict[GroupKey, int]:
    numbers: dict[GroupKey, int] = {}
    for each in placed:
        if each.info.group is not None:
            numbers[each.info.group] = numbers.get(each.info.group, 0) + 1
    return numbers
