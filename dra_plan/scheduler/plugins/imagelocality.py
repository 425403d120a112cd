"""ImageLocality: prefers nodes that hold the pod's images already."""

from __future__ import annotations

from collections.abc import Hashable

from dra_plan.api.core import Pod
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.framework import MAX_NODE_SCORE, ScorePlugin
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.status import Status

_MEBIBYTE = 1024 * 1024
_LEAST = 23 * _MEBIBYTE
_MOST_PER_CONTAINER = 1000 * _MEBIBYTE


def normalized(image: str) -> str:
    """The image name with `:latest` where neither tag nor digest is given."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


class ImageLocality(ScorePlugin):
    """Sizes of the images present, each scaled by the share of nodes that have it."""

    name = pluginnames.IMAGE_LOCALITY
    looks_at_object_alone = True

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._seen = -1
        self._holders: dict[str, int] = {}
        self._sizes: dict[str, int] = {}

    def _spread(self) -> dict[str, int]:
        """Image name to the number of nodes that have it, counted anew when the nodes change.

        An image is as large as the first node by name says; upstream keeps the size that it heard of first.
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
        """The images, and which nodes there are."""
        holders = self._spread()
        images = tuple(self._images(pod)) if holders else ()
        return images, len(pod.spec.init_containers) + len(pod.spec.containers), self._seen if holders else -1

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """0 below 23 MiB, 100 from 1000 MiB per container on."""
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
