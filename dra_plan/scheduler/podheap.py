"""Pods in the order of fixed keys, from which any can be taken: the places of the scheduling queue."""

from __future__ import annotations

import heapq

from .queuedpod import QueuedPod


class PodHeap:
    """Pods by uid, the one with the smallest key first. Keys are fixed when a pod is put in."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[tuple[float, ...], QueuedPod]] = {}
        self._heap: list[tuple[tuple[float, ...], str]] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, uid: str) -> bool:
        return uid in self._items

    def values(self) -> list[QueuedPod]:
        """The pods, by key."""
        return [item for _, item in sorted(self._items.values(), key=lambda entry: entry[0])]

    def get(self, uid: str) -> QueuedPod | None:
        """The pod with this uid, or None."""
        entry = self._items.get(uid)
        return entry[1] if entry is not None else None

    def put(self, item: QueuedPod, key: tuple[float, ...]) -> None:
        """Add a pod."""
        self._items[item.uid] = (key, item)
        heapq.heappush(self._heap, (key, item.uid))

    def remove(self, uid: str) -> QueuedPod | None:
        """Take a pod out, wherever it is; its place in the heap is found empty later."""
        entry = self._items.pop(uid, None)
        return entry[1] if entry is not None else None

    def first(self) -> QueuedPod | None:
        """The pod with the smallest key, which stays; None if there is none."""
        while self._heap:
            key, uid = self._heap[0]
            entry = self._items.get(uid)
            if entry is not None and entry[0] == key:
                return entry[1]
            heapq.heappop(self._heap)
        return None
