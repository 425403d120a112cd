"""Plugins that compare a pod with one property of the node.

TaintToleration rejects nodes with taints that the pod does not tolerate, or prefers other nodes. NodeName and
NodeUnschedulable check a single field of the node. NodePorts rejects nodes where another pod has the same host port.
ImageLocality prefers nodes that have the pod's images.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dra_plan.api.core import Node, Pod, Taint, Toleration
from dra_plan.api.selectors import BLOCKING, tolerates
from dra_plan.api.well_known import UNSCHEDULABLE
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo, Port
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    Handle,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.framework.runtime import normalize
from dra_plan.scheduler.framework.status import (
    SKIP,
    CycleState,
    NodeCordoned,
    Obstacle,
    OtherNodeNamed,
    PortTaken,
    Status,
    UntoleratedTaint,
    unresolvable,
    unschedulable,
)

# -- TaintToleration ---------------------------------------------------------------------------------------------------


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any of the tolerations matches the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    """Return the first taint that blocks pods and is not tolerated, or None."""
    for taint in taints:
        if taint.effect in BLOCKING and not tolerated(taint, tolerations):
            return taint
    return None


def shape(pod: Pod) -> Hashable:
    """Return the pod's tolerations, which are all that TaintToleration reads."""
    return tuple((t.key, t.operator, t.value, t.effect) for t in pod.spec.tolerations)


class TaintToleration(FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """The plugin for taints. NoSchedule and NoExecute exclude nodes, and PreferNoSchedule lowers their scores."""

    name = plugin_names.TAINT_TOLERATION
    looks_at_object_alone = True

    _untolerated = unresolvable("node(s) had untolerated taint(s)").by(name)

    def __init__(self, target: Target) -> None:
        self._names_taint = target.rules.names_untolerated_taint

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it has a blocking taint that the pod does not tolerate."""
        taint = untolerated(node.node.spec.taints, pod.spec.tolerations)
        if taint is None:
            return None
        if self._names_taint:
            return unresolvable(f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}")
        return self._untolerated

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the first taint of the node that blocks the pod."""
        taint = untolerated(node.node.spec.taints, pod.spec.tolerations)
        return () if taint is None else (UntoleratedTaint(taint.key, taint.value, taint.effect),)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's tolerations as a key."""
        return shape(pod)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Store those of the pod's tolerations that apply to PreferNoSchedule."""
        state.write(self.name, [t for t in pod.spec.tolerations if t.effect in ("", "PreferNoSchedule")])
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the number of PreferNoSchedule taints of the node that the pod does not tolerate."""
        taints = node.node.spec.taints
        if not taints:
            return 0
        tolerations = state.read(self.name)
        return sum(taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations) for taint in taints)

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the scores so that nodes with the fewest untolerated taints get 100."""
        normalize(scores, reverse=True)
        return None

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's tolerations as a key."""
        return shape(pod)

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        A node may lose a taint, or the pod may gain a toleration.
        """
        return [
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, self._became_tolerable),
            Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION),
        ]

    def _became_tolerable(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        def fine(node: Node | None) -> bool:
            return node is not None and untolerated(node.spec.taints, pod.spec.tolerations) is None

        return Hint.QUEUE if fine(new) and not fine(old) else Hint.SKIP


# -- NodeName and NodeUnschedulable ------------------------------------------------------------------------------------


class NodeName(FilterPlugin, EnqueueExtensions):
    """The plugin for pods that name their node and fit on no other."""

    name = plugin_names.NODE_NAME
    looks_at_object_alone = True
    _wrong = unresolvable("node(s) didn't match the requested node name")

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if the pod names another node."""
        return self._wrong if pod.spec.node_name and pod.spec.node_name != node.name else None

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return the node that the pod names."""
        return (OtherNodeNamed(pod.spec.node_name),)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the node name in the pod's spec as a key."""
        return pod.spec.node_name

    def events_to_register(self) -> Sequence[Interest]:
        """Return the event after which a rejected pod may become schedulable: a node is added."""
        return [Interest(Resource.NODE, Action.ADD)]


class NodeUnschedulable(FilterPlugin, EnqueueExtensions):
    """The plugin for cordoned nodes, which accept only pods that tolerate the unschedulable taint."""

    name = plugin_names.NODE_UNSCHEDULABLE
    looks_at_object_alone = True
    _cordoned = unresolvable("node(s) were unschedulable")

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if it is cordoned, unless the pod tolerates cordoned nodes."""
        if not node.node.spec.unschedulable or tolerated(UNSCHEDULABLE, pod.spec.tolerations):
            return None
        return self._cordoned

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return `NodeCordoned`."""
        return (NodeCordoned(),)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return a key that says whether the pod tolerates cordoned nodes."""
        return tolerated(UNSCHEDULABLE, pod.spec.tolerations)

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable: a node is added or uncordoned."""
        return [
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, self._uncordoned),
            Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION),
        ]

    def _uncordoned(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        if new is None or new.spec.unschedulable:
            return Hint.SKIP
        return Hint.QUEUE if old is None or old.spec.unschedulable else Hint.SKIP


# -- NodePorts ---------------------------------------------------------------------------------------------------------

_ANY = "0.0.0.0"
_TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports")


def conflict(wanted: Sequence[Port], used: Iterable[Port]) -> bool:
    """Return whether a requested port is already in use. The wildcard address conflicts with every address."""
    return any(
        protocol == other and port == number and (_ANY in (address, where) or address == where)
        for other, where, number in used
        for protocol, address, port in wanted
    )


class NodePorts(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """The plugin for the host ports of containers and sidecars."""

    name = plugin_names.NODE_PORTS

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Return Skip if the pod has no host ports."""
        ports = PodInfo(pod).ports
        if not ports:
            return None, SKIP
        state.write(self.name, tuple(ports))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject the node if a pod on it uses one of the requested ports."""
        return _TAKEN if node.ports and conflict(state.read(self.name), node.ports) else None

    def obstacles(self, state: CycleState, pod: Pod, node: NodeInfo) -> Sequence[Obstacle]:
        """Return each requested port that is in use on the node, with the first pod that uses it."""
        found: dict[tuple[str, int], PortTaken] = {}
        for other in node.pods.values():
            for port in state.read(self.name):
                protocol, _, number = port
                if conflict((port,), other.ports):
                    found.setdefault((protocol, number), PortTaken(protocol, number, other.pod.key))
        return tuple(found.values())

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's host ports as a key."""
        ports: Hashable = state.read(self.name)
        return ports

    def events_to_register(self) -> Sequence[Interest]:
        """Return the events after which a rejected pod may become schedulable.

        A node may be added, or a pod that uses a requested port may be removed.
        """
        return [
            Interest(Resource.ASSIGNED_POD, Action.DELETE, self._freed),
            Interest(Resource.NODE, Action.ADD, self._open),
        ]

    def _freed(self, pod: Pod, old: Pod | None, new: Pod | None) -> Hint:
        if old is None:
            return Hint.SKIP
        return Hint.QUEUE if conflict(PodInfo(pod).ports, PodInfo(old).ports) else Hint.SKIP

    def _open(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        return Hint.QUEUE


# -- ImageLocality -----------------------------------------------------------------------------------------------------

_MEBIBYTE = 1024 * 1024
_LEAST = 23 * _MEBIBYTE
_MOST_PER_CONTAINER = 1000 * _MEBIBYTE


def normalized(image: str) -> str:
    """Return the image name, with `:latest` added if it has neither a tag nor a digest."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


class ImageLocality(ScorePlugin):
    """The plugin that scores a node by the sizes of the pod's images on it.

    Each size is multiplied by the fraction of nodes that have the image.
    """

    name = plugin_names.IMAGE_LOCALITY
    looks_at_object_alone = True

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._seen = -1
        self._holders: dict[str, int] = {}
        self._sizes: dict[str, int] = {}

    def _spread(self) -> dict[str, int]:
        """Return the number of nodes that have each image, which is counted again when the nodes change.

        An image's size is that on the first node by name; upstream keeps the size that it saw first.
        """
        cluster = self._handle.cluster
        if cluster.node_revision != self._seen:
            self._seen = cluster.node_revision
            self._holders, self._sizes = {}, {}
            for _, info in sorted(cluster.nodes.items()):
                sizes = {name: i.size_bytes for i in reversed(info.node.status.images) for name in i.names}
                for image, size in sizes.items():
                    self._holders[image] = self._holders.get(image, 0) + 1
                    self._sizes.setdefault(image, size)
        return self._holders

    @staticmethod
    def _images(pod: Pod) -> list[str]:
        containers = [c.image for c in (*pod.spec.init_containers, *pod.spec.containers)]
        volumes = [str((v.get("image") or {}).get("reference", "")) for v in pod.spec.volumes if v.get("image")]
        return [normalized(image) for image in (*containers, *volumes)]

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the pod's images and the current nodes as a key."""
        holders = self._spread()
        images = tuple(self._images(pod)) if holders else ()
        return images, len(pod.spec.init_containers) + len(pod.spec.containers), self._seen if holders else -1

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the score: 0 up to 23 MiB, and 100 from 1000 MiB for each container."""
        holders = self._holders
        if not holders:
            return 0
        there = {name for i in node.node.status.images for name in i.names}
        total = len(self._handle.snapshot)
        present = sum(
            int(float(self._sizes[image]) * (float(holders[image]) / float(total)))
            for image in self._images(pod)
            if image in there
        )
        containers = len(pod.spec.init_containers) + len(pod.spec.containers)
        most = _MOST_PER_CONTAINER * containers
        present = min(max(present, _LEAST), most)
        return MAX_NODE_SCORE * (present - _LEAST) // (most - _LEAST) if most > _LEAST else 0
