"""Pods that run only together: gangs of scheduling.k8s.io, and groups that have to stay in one domain.

First what is asked of each group, then goals (by priority the gangs that start, then pods), then what keeps a placement
that was carried out free of parts of a gang.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dra_plan.scheduler.cluster.keys import GroupKey
from dra_plan.scheduler.groups.cycle import PlacementError, placements

from .node_kinds import PlacementCluster, PodKind, PodToPlace
from .program import Gang, Goal

Domains = tuple[frozenset[str], ...]
"""The names of the nodes of each domain."""


@dataclass(frozen=True)
class GroupToPlace:
    """What a placement keeps to with the waiting pods of a group: `least` of them, or none; all in one of the domains.

    `pods` says how many wait, `priority` is the highest among them, at whose place the scheduler takes the group.
    """

    key: GroupKey
    least: int
    pods: int
    priority: int
    domains: Domains | None = None

    @property
    def is_gang(self) -> bool:
        """Whether the group has yet to start."""
        return self.least > 0

    @property
    def is_short(self) -> bool:
        """Whether too few of its pods are there for a start, wherever they would run."""
        return self.pods < self.least

    def inside(self, node: str) -> frozenset[str] | None:
        """The nodes that are left to the group when one of its pods is on the node; None for all."""
        if self.domains is None:
            return None
        return next((domain for domain in self.domains if node in domain), frozenset())


NO_GROUPS: Mapping[GroupKey, GroupToPlace] = {}


def groups_of(ground: PlacementCluster, candidates: Iterable[PodToPlace]) -> dict[GroupKey, GroupToPlace]:
    """The groups of the candidates that a placement has to keep to, gates of the release considered."""
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
    """All domains of the groups, each once: nodes inside and outside one of them are not alike."""
    return list(dict.fromkeys(domain for group in groups for domain in group.domains or ()))


def gang_of(group: GroupToPlace, kinds: Sequence[PodKind], node_kinds: Mapping[str, int]) -> Gang:
    """The group as the program has it; `node_kinds` are the positions of the nodes' kinds."""
    own = frozenset(i for i, kind in enumerate(kinds) if kind.first.info.group == group.key)
    domains = group.domains
    inside = None if domains is None else tuple(frozenset(node_kinds[name] for name in domain) for domain in domains)
    return Gang(own, max(1, group.least), inside)


def goals_of(
    kinds: Sequence[PodKind], groups: Sequence[GroupToPlace] = (), *, by_priority: bool = False
) -> tuple[Goal, ...]:
    """As many pods as possible; by priority, highest first, as many gangs that start, and then as many pods."""
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
    """Kinds of pods merged that take the same place on a node, and may go to the same nodes.

    `of_kinds` has the position of the shape of each kind.
    """

    kinds: tuple[PodKind, ...]
    of_kinds: tuple[int, ...]

    @classmethod
    def of(cls, kinds: Sequence[PodKind], groups: Mapping[GroupKey, GroupToPlace]) -> PodShapes:
        """Kinds that are copied are shapes of their own."""
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
    """The groups of a placement that is carried out: who may go where beside whom, and who has to go again."""

    def __init__(self, groups: Mapping[GroupKey, GroupToPlace]) -> None:
        self._groups = groups

    def may_be(self, placed: Iterable[tuple[PodToPlace, str]]) -> Callable[[PodToPlace, str], bool]:
        """Whether a pod may be added on a node: not of a gang that does not run by now, nor in another domain."""
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
        """The gangs of which enough pods are placed."""
        numbers = _numbers(placed)
        return {key for key, group in self._groups.items() if group.is_gang and numbers.get(key, 0) >= group.least}

    def parts(self, placed: Collection[PodToPlace]) -> list[PodToPlace]:
        """The pods of gangs of which some are placed, and too few."""
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
