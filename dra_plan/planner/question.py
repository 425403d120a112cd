"""What is asked of a cluster: which of its claims and pods, on which nodes, at what effort.

How the answer is found, and what is made of it, does not belong here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from dra_plan import releases
from dra_plan.allocator import Probe
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import LabelSelector, ObjectMeta
from dra_plan.api.selectors import labels_match
from dra_plan.errors import UsageError
from dra_plan.releases import Target, find_release, gates_of

if TYPE_CHECKING:
    from dra_plan.validation.served import RuntimeConfig


Progress = Callable[[int, int], None]
"""Called with the number of node questions answered, and their total."""


Chosen = Callable[[Pod], bool]
"""Whether a pod is scheduled."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question that a method of `Cluster` answers. None stands for no choice or no limit."""

    owners: Sequence[str] = ()
    """Whose claim sets or pods: of pods, workloads or claims, named as kubectl does (`ownernames`)."""
    names_groups: bool = False
    """Whether pod groups are named, so that without other owners no claim set is asked about."""
    nodes: Sequence[str] = ()
    """The names of the nodes to look at; all of them without a name."""
    namespace: str | None = None
    selector: LabelSelector | None = None
    together: bool = False
    """Whether all claims that are planned are one set."""
    devices_only: bool = False
    """Whether the filters that look at the node and the pod alone are left out."""
    infer_nodes: bool = False
    """Whether nodes are made from what the slices say, when the input has none."""
    max_steps: int | None = None
    """The budget of one search."""
    timeout: float | None = None
    """Seconds for the whole run; what is not answered by then is Undecided."""
    progress: Progress | None = None
    runtime_config: RuntimeConfig | None = None
    """Which versions the API server serves, `{}` for its default; None: all that the release can."""
    probe: Probe | None = None
    """Hears the search, of which there may be one only: one claim set on one node."""

    def chooses(self, metadata: ObjectMeta) -> bool:
        """Whether `-n` and `-l` choose the object."""
        if self.namespace is not None and metadata.namespace != self.namespace:
            return False
        return self.selector is None or labels_match(self.selector, metadata.labels)

    def deadline(self) -> float | None:
        """The monotonic time at which searches end, if the run begins now."""
        return None if self.timeout is None else time.monotonic() + self.timeout


@dataclass(frozen=True, slots=True)
class AskedRelease:
    """What a target is made of: a version, or None for the input's; gates that differ from its defaults; the quirks.

    With `strict_version` a version that was not recorded is refused. `reported` are the gates of the scheduler itself,
    which go before those that a snapshot has of its API server. `runtime_config` is the API server's: which versions of
    its API it serves, `{}` for its default; None: all that the release can.
    """

    version: str | None = None
    gates: Mapping[str, bool] | None = None
    quirks: str = "upstream"
    strict_version: bool = False
    reported: Mapping[str, bool] | None = None
    runtime_config: Mapping[str, bool] | None = None

    def target(self, inventory: Inventory) -> Target:
        """The target for an input. Raises UsageError as `releases.target` does."""
        version = self.version if self.version is not None else version_of(inventory) or releases.NEWEST
        gates = {**_gates_of(inventory, version, self.reported), **(self.gates or {})}
        return releases.target(version, gates, self.quirks, strict_version=self.strict_version)

    def serving(self, gate: str) -> AskedRelease:
        """The same with a gate on of which objects of the cluster tell that it is on; a choice goes before that."""
        if gate in (self.gates or {}):
            return self
        return replace(self, gates={**(self.gates or {}), gate: True})


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
