"""Pods that wait because of a Permit plugin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dra_plan.api.core import Pod

from .status import Status, unschedulable


def duration(seconds: float) -> str:
    """Return a duration in Go's format, such as `10s`, `1m30s`, `15m0s` or `500ms`."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    whole, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(whole), 60)
    text = f"{rest:g}s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text


class WaitingPod:
    """A pod that waits for the permission of one or more plugins. Each plugin has its own deadline.

    The pod is decided when one plugin rejects it, or when all plugins have allowed it. The pod is also rejected at the
    earliest deadline.
    """

    def __init__(self, pod: Pod, node: str, now: float, waits: Mapping[str, float]) -> None:
        self.pod = pod
        self.node = node
        self._waits = dict(waits)
        self._deadlines = {plugin: now + seconds for plugin, seconds in waits.items()}
        self._verdict: Status | None = None

    @property
    def pending_plugins(self) -> list[str]:
        """The plugins that have not allowed the pod yet."""
        return sorted(self._deadlines)

    @property
    def deadline(self) -> float:
        """The time at which the pod is rejected, unless it is decided before this time."""
        return min(self._deadlines.values(), default=float("inf"))

    @property
    def decided(self) -> bool:
        """Whether the pod has been allowed or rejected."""
        return self._verdict is not None or not self._deadlines

    @property
    def verdict(self) -> Status | None:
        """None if the pod was allowed; otherwise, the rejection. Do not read the verdict before the pod is decided."""
        return self._verdict

    def allow(self, plugin: str) -> None:
        """Allow the pod on behalf of the plugin. This has no effect if the pod is already decided."""
        self._deadlines.pop(plugin, None)

    def reject(self, plugin: str, message: str) -> bool:
        """Reject the pod on behalf of the plugin. Return False if the pod was already decided."""
        if self.decided:
            return False
        self._verdict = unschedulable(message).by(plugin)
        return True

    def preempt(self, plugin: str, message: str) -> bool:
        """Reject the pod because a more important pod needs its resources.

        Return False if the pod was already decided.
        """
        return self.reject(plugin, message)

    def expire(self, now: float) -> None:
        """Reject the pod if one of its deadlines has passed.

        The reason comes from the plugin with the earliest deadline.
        """
        if self.decided or now < self.deadline:
            return
        plugin = min(self._deadlines, key=lambda name: (self._deadlines[name], name))
        self.reject(plugin, f"rejected due to timeout after waiting {duration(self._waits[plugin])} at plugin {plugin}")


class WaitingPods:
    """All waiting pods by UID, in the order in which they began to wait."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def __len__(self) -> int:
        return len(self._pods)

    def parts(self) -> Iterable[object]:
        """Return the waiting pods, which a fork of the simulation has to save."""
        return self._pods.values()

    def add(self, uid: str, pod: WaitingPod) -> None:
        """Add a pod that begins to wait."""
        self._pods[uid] = pod

    def get(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod with this UID, or None if no such pod waits."""
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        """Remove a pod that no longer waits."""
        self._pods.pop(uid, None)
