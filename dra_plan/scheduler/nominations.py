"""Which pods have a node nominated, after preemption or while being bound."""

from __future__ import annotations

from .nodeinfo import PodInfo


class Nominator:
    """Nominated pods by node."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, PodInfo]] = {}
        self._where: dict[str, str] = {}

    def __bool__(self) -> bool:
        """Whether any pod is nominated to any node."""
        return bool(self._nodes)

    def nominate(self, info: PodInfo, node: str) -> None:
        """The pod is to run on the node; an earlier nomination is forgotten."""
        self.clear(info.uid)
        self._where[info.uid] = node
        self._nodes.setdefault(node, {})[info.uid] = info

    def clear(self, uid: str) -> None:
        """Forget the pod's nomination."""
        node = self._where.pop(uid, None)
        if node is not None:
            pods = self._nodes[node]
            del pods[uid]
            if not pods:
                del self._nodes[node]

    def node_of(self, uid: str) -> str:
        """The nominated node, or ""."""
        return self._where.get(uid, "")

    def on(self, node: str) -> list[PodInfo]:
        """The pods nominated to the node."""
        return list(self._nodes.get(node, {}).values())

    def at_least(self, node: str, priority: int, but: str) -> list[PodInfo]:
        """The pods nominated to the node with at least this priority, without the pod with uid `but`."""
        pods = self._nodes.get(node)
        if not pods:
            return []
        return [info for uid, info in pods.items() if uid != but and info.priority >= priority]

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that pods are nominated to."""
        return frozenset(self._nodes)
