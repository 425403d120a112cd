"""For which release an input is answered where nobody names one: the input's own, as far as it tells.

A snapshot knows the version and the gates of its API server; Nodes know that of their kubelets, and where it is one
minor version on all of them, it stands for the cluster's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from dra_plan import releases
from dra_plan.api.inventory import Inventory
from dra_plan.errors import UsageError
from dra_plan.releases import Target, find_release, gates_of


@dataclass(frozen=True, slots=True)
class AskedRelease:
    """What a target is made of: a version, or None for the input's; gates that differ from its defaults; the quirks.

    With `strict_version` a version that was not recorded is refused. `reported` are the gates of the scheduler itself,
    which go before those that a snapshot has of its API server.
    """

    version: str | None = None
    gates: Mapping[str, bool] | None = None
    quirks: str = "upstream"
    strict_version: bool = False
    reported: Mapping[str, bool] | None = None

    def target(self, inventory: Inventory) -> Target:
        """The target for an input. Raises UsageError as `releases.target` does."""
        version = self.version if self.version is not None else version_of(inventory) or releases.NEWEST
        gates = {**_gates_of(inventory, version, self.reported), **(self.gates or {})}
        return releases.target(version, gates, self.quirks, strict_version=self.strict_version)

    def serving(self, inventory: Inventory, gate: str) -> Target:
        """The target with a gate on of which objects of the cluster tell that it is on; a choice goes before that."""
        if gate in (self.gates or {}):
            return self.target(inventory)
        return replace(self, gates={**(self.gates or {}), gate: True}).target(inventory)


def version_of(inventory: Inventory) -> str:
    """The version of the input's cluster; "" where nothing tells it."""
    info = inventory.cluster_info
    if info is not None:
        # What emulates an older release has its gates and its defaults.
        for version in (info.emulation_version, info.server_version):
            if _is_version(version):
                return version
    minors = {kubelet_minor(node.status.node_info.kubelet_version) for node in inventory.nodes}
    return minors.pop() if len(minors) == 1 else ""


@lru_cache(maxsize=64)  # thousands of nodes have a few versions between them
def kubelet_minor(version: str) -> str:
    """The minor version of a kubelet, such as 1.36; "" for a text that is no version."""
    return ".".join(find_release(version).asked.split(".")[:2]) if _is_version(version) else ""


def _gates_of(inventory: Inventory, version: str, reported: Mapping[str, bool] | None) -> dict[str, bool]:
    """The gates of the input's cluster that the release knows, if the answer is for the cluster's own minor version."""
    info = inventory.cluster_info
    gates = reported if reported is not None else info.feature_gates if info is not None else {}
    if not gates:
        return {}
    own = version_of(inventory)
    minor = find_release(version).minor
    if (own and find_release(own).minor != minor) or (not own and reported is None):
        return {}
    known = gates_of(minor)
    return {name: on for name, on in gates.items() if name in known and on is not known[name].default}


def _is_version(text: str) -> bool:
    try:
        find_release(text)
    except UsageError:
        return False
    return True
