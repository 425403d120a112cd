"""Pods that are waiting because of a Permit plugin."""

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
    """A pod that is waiting for the permission of one or more plugins, each with its own deadline.

    It is decided when a plugin rejects it, when all plugins have allowed it, or at the earliest deadline, which rejects
    it.
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
        """The time at which the pod is rejected if it is not decided earlier."""
        return min(self._deadlines.values(), default=float("inf"))

    @property
    def decided(self) -> bool:
        """Whether the pod has been allowed or rejected."""
        return self._verdict is not None or not self._deadlines

    @property
    def verdict(self) -> Status | None:
        """The rejection, or None if the pod was allowed. It is valid only once the pod is decided."""
        return self._verdict

    def allow(self, plugin: str) -> None:
        """Allow the pod on behalf of the plugin. A decided pod does not change."""
        self._deadlines.pop(plugin, None)

    def reject(self, plugin: str, message: str) -> bool:
        """Reject the pod on behalf of the plugin. Return False if the pod was already decided."""
        if self.decided:
            return False
        self._verdict = unschedulable(message).by(plugin)
        return True

    def preempt(self, plugin: str, message: str) -> bool:
        """Reject the pod because a more important pod needs its resources. Return False if it was already decided."""
        return self.reject(plugin, message)

    def expire(self, now: float) -> None:
        """Reject the pod if a deadline has passed. The reason names the plugin with the earliest one."""
        if self.decided or now < self.deadline:
            return
        plugin = min(self._deadlines, key=lambda name: (self._deadlines[name], name))
        self.reject(plugin, f"rejected due to timeout after waiting {duration(self._waits[plugin])} at plugin {plugin}")


class WaitingPods:
    """All waiting pods by UID, in the order in which they started waiting."""

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
        """Add a pod that starts waiting."""
        self._pods[uid] = pod

    def get(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod with this UID, or None."""
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        """Remove a pod that is no longer waiting."""
        self._pods.pop(uid, None)
