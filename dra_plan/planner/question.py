"""What is asked about a cluster: the chosen claims and pods, the nodes, the release, and the limits of the search."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct, structs
from msgspec.structs import replace

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
"""A callback that receives the number of node queries completed, and their total."""


Chosen = Callable[[Pod], bool]
"""A function that returns whether to schedule a pod."""


class Question(Struct, frozen=True, kw_only=True):
    """What a method of `Cluster` is asked. A field that is None does not restrict the query."""

    owners: Sequence[str] = ()
    """The pods, workloads or claims to plan, named as in kubectl (`ownernames`)."""
    names_groups: bool = False
    """True if pod groups are named. Claim sets are then planned only if other owners are named too."""
    nodes: Sequence[str] = ()
    """The names of the nodes to examine; if empty, all nodes are examined."""
    namespace: str | None = None
    selector: LabelSelector | None = None
    together: bool = False
    """Whether to treat all planned claims as one set."""
    devices_only: bool = False
    """Whether to skip the filters that depend only on the node and the pod."""
    infer_nodes: bool = False
    """Whether to create nodes from the slices if the input has none."""
    max_steps: int | None = None
    """The maximum number of steps of one search."""
    timeout: float | None = None
    """The time limit for the whole run, in seconds. Anything not decided by then is Undecided."""
    progress: Progress | None = None
    runtime_config: RuntimeConfig | None = None
    """The API versions that the API server serves: `{}` for its defaults, None for all that the release has."""
    probe: Probe | None = None
    """The probe of the search. If it is set, there may be only one search, for one claim set on one node."""

    def chooses(self, metadata: ObjectMeta) -> bool:
        """Return whether the options `-n` and `-l` select the object."""
        if self.namespace is not None and metadata.namespace != self.namespace:
            return False
        return self.selector is None or labels_match(self.selector, metadata.labels)

    def deadline(self) -> float | None:
        """Return the monotonic time at which searches have to end if the query starts now."""
        return None if self.timeout is None else time.monotonic() + self.timeout


class AskedRelease(Struct, frozen=True):
    """The choices that make up a target: the version, the changed feature gates and the quirks.

    If `version` is None, it is the version of the input's cluster. `strict_version` rejects versions without recorded
    data. `reported` are the scheduler's own feature gates, which override those of the API server in a snapshot.
    `runtime_config` is the API server's --runtime-config: `{}` for the defaults, or None for all API versions that the
    release can serve. `served` are feature gates that must be on, because the cluster has objects that need them.
    """

    version: str | None = None
    gates: Mapping[str, bool] | None = None
    quirks: str = "upstream"
    strict_version: bool = False
    reported: Mapping[str, bool] | None = None
    runtime_config: Mapping[str, bool] | None = None
    served: tuple[str, ...] = ()

    def target(self, inventory: Inventory) -> Target:
        """Return the target for the input. Raises UsageError, as `releases.target` does."""
        version = self.version if self.version is not None else version_of(inventory) or releases.NEWEST
        gates = {**_gates_of(inventory, version, self.reported), **(self.gates or {})}
        for gate in self.served:
            needed = releases.switched_on_with(gate, version)
            if all((self.gates or {}).get(name, True) for name in needed):
                gates |= dict.fromkeys(needed, True)
        found = releases.target(version, gates, self.quirks, strict_version=self.strict_version)
        why = _of_kubelets(inventory) if self.version is None and not _of_server(inventory) else ""
        return structs.replace(found, why=why) if why and found.version != releases.NEWEST else found

    def serving(self, gate: str) -> AskedRelease:
        """Return this release with a feature gate turned on because objects in the cluster need it.

        The gates that it depends on are turned on too, but gates that the user has set do not change.
        """
        return replace(self, served=(*self.served, gate))


def version_of(inventory: Inventory) -> str:
    """Return the Kubernetes version of the input's cluster, or "" if it is unknown."""
    minors = {kubelet_minor(node.status.node_info.kubelet_version) for node in inventory.nodes}
    return _of_server(inventory) or (minors.pop() if len(minors) == 1 else "")


def _of_server(inventory: Inventory) -> str:
    """Return the API server's version, if the input has it."""
    info = inventory.cluster_info
    # A cluster that emulates an older release has the older release's gates and defaults.
    versions = (info.emulation_version, info.server_version) if info is not None else ()
    return next((version for version in versions if _is_version(version)), "")


def _of_kubelets(inventory: Inventory) -> str:
    """Return that the nodes' kubelets have the same minor version, which the release follows; "" if they do not."""
    versions = {node.status.node_info.kubelet_version for node in inventory.nodes}
    minors = {kubelet_minor(version) for version in versions}
    if len(minors) != 1 or "" in minors:
        return ""
    [minor] = minors
    version = find_release(versions.pop()).asked if len(versions) == 1 else minor
    return f"the nodes' kubelets run {version}"


@lru_cache(maxsize=64)  # thousands of nodes share a few versions
def kubelet_minor(version: str) -> str:
    """Return the minor version of a kubelet, such as 1.36, or "" if the text is not a version."""
    return ".".join(find_release(version).asked.split(".")[:2]) if _is_version(version) else ""


def _gates_of(inventory: Inventory, version: str, reported: Mapping[str, bool] | None) -> dict[str, bool]:
    """Return the gates of the input's cluster that the release knows.

    The gates apply if the result is for the cluster's own minor version.
    """
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
