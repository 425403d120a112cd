"""What a simulated API server has already examined, so that only later changes are examined again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dra_plan.api.core import Node, Pod
from dra_plan.api.resource import ResourceSlice
from dra_plan.claims.owners import ended
from dra_plan.claims.pod_claims import is_unmade

from .node_eviction import is_troubled


class Looked:
    """A record of what has been examined."""

    def __init__(self) -> None:
        self.to_release: dict[str, None] = {}
        """The UIDs of the pods that may have changed since claims were last freed."""
        self.to_generate: dict[str, None] = {}
        """The UIDs of the pods that may lack claims."""
        self.created: set[str] = set()
        """The UIDs of the pods created since the start."""
        self._slices: Sequence[ResourceSlice] | None = None
        self._tainted = False
        self._nodes: Sequence[Node] | None = None
        self._troubled = False

    def note(self, changed: dict[str, None]) -> None:
        """Record that the pods with these UIDs have changed, and empty `changed`."""
        if changed:
            self.to_release.update(changed)
            self.to_generate.update(changed)
            changed.clear()

    def lacking(self, pods: Mapping[str, Pod]) -> list[str]:
        """Return the UIDs of the pods that lack claims. Other pods are not examined again until they change."""
        if not self.to_generate:
            return []
        found = [uid for uid in self.to_generate if uid in pods and _lacks_claims(pods[uid])]
        self.to_generate = dict.fromkeys(found)
        return found

    def is_device_tainted(self, slices: Sequence[ResourceSlice]) -> bool:
        """Return whether any published device has a taint."""
        if self._slices is not slices:
            self._slices = slices
            self._tainted = any(device.taints for each in slices for device in each.spec.devices)
        return self._tainted

    def is_node_troubled(self, nodes: Sequence[Node]) -> bool:
        """Return whether any node evicts pods or is not ready."""
        if self._nodes is not nodes:
            self._nodes = nodes
            self._troubled = any(map(is_troubled, nodes))
        return self._troubled


def _lacks_claims(pod: Pod) -> bool:
    if pod.spec.node_name or pod.metadata.deletion_timestamp is not None or ended(pod):
        return False
    return any(is_unmade(pod, entry) for entry in pod.spec.resource_claims)
