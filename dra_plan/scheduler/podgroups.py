"""The pod groups of a cluster, and which pods of each the scheduler has seen, and where they are."""

from __future__ import annotations

from collections.abc import Collection

from dra_plan.api.core import Pod
from dra_plan.api.scheduling import PodGroup

from .keys import GroupKey, group_key
from .nodeinfo import PodInfo


class PodGroups:
    """PodGroups by namespace and name, and their pods by uid. A group's pods may be there before the group is."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, PodGroup] = {}
        self._waiting: dict[GroupKey, dict[str, None]] = {}
        self._placed: dict[GroupKey, dict[str, PodInfo]] = {}
        self._nodes: dict[str, str] = {}
        self.preempting: set[GroupKey] = set()
        """The groups for which other pods are being evicted."""

    def put(self, group: PodGroup) -> None:
        """Create a group or write a new version of it."""
        self._groups[group.metadata.namespace, group.metadata.name] = group

    def remove(self, key: GroupKey) -> None:
        """The group is gone; its pods stay."""
        self._groups.pop(key, None)

    def get(self, key: GroupKey | None) -> PodGroup | None:
        """The group, or None."""
        return self._groups.get(key) if key is not None else None

    def of(self, pod: Pod) -> PodGroup | None:
        """The group that the pod is scheduled with; None for a lone pod, and where the group is not there."""
        return self.get(group_key(pod))

    def all(self) -> Collection[PodGroup]:
        """All groups, in order of arrival."""
        return self._groups.values()

    # Pods

    def saw(self, info: PodInfo) -> None:
        """A pod that one of our profiles schedules is waiting for a node."""
        if info.group is not None:
            self._waiting.setdefault(info.group, {})[info.uid] = None

    def placed(self, info: PodInfo, node: str) -> None:
        """A pod of a group was assumed on a node, or bound."""
        if info.group is not None:
            self._placed.setdefault(info.group, {})[info.uid] = info
            self._nodes[info.uid] = node

    def displaced(self, info: PodInfo) -> None:
        """A pod of a group is no longer on its node."""
        if info.group is not None:
            self._placed.get(info.group, {}).pop(info.uid, None)
            self._nodes.pop(info.uid, None)

    def gone(self, info: PodInfo) -> None:
        """The pod was deleted."""
        if info.group is not None:
            self._waiting.get(info.group, {}).pop(info.uid, None)

    def seen(self, key: GroupKey) -> Collection[str]:
        """The uids of the pods that were waiting for a node once, in order of arrival; some may be bound by now."""
        return self._waiting.get(key, {})

    def on_nodes(self, key: GroupKey) -> Collection[PodInfo]:
        """The group's pods that are assumed on a node or bound."""
        return self._placed.get(key, {}).values()

    def bound(self, key: GroupKey) -> int:
        """How many pods of the group are bound, and not only assumed on a node."""
        return sum(bool(info.pod.spec.node_name) for info in self.on_nodes(key))

    def node_of(self, uid: str) -> str:
        """The node of a group's pod, "" if it has none."""
        return self._nodes.get(uid, "")

    def count(self, key: GroupKey) -> int:
        """How many pods of the group the scheduler knows, wherever they are."""
        return len(self._waiting.get(key, {}).keys() | self._placed.get(key, {}).keys())
