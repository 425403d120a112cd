"""Scores that depend on free devices: how many stay free, and how useful they are to the pods expected later."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from dra_plan.api.core import Pod
from dra_plan.claims.pod_claims import PodClaimError, pod_claims
from dra_plan.scheduler.cluster.nodes import NodeInfo
from dra_plan.scheduler.cluster.pod_requests import CPU, MEMORY
from dra_plan.scheduler.fragmentation.measure import Measure, Shape
from dra_plan.scheduler.fragmentation.units import WHOLE, Left
from dra_plan.scheduler.framework.interface import MAX_NODE_SCORE, Handle, PreScorePlugin, ScorePlugin
from dra_plan.scheduler.framework.status import CycleState, Status

Mix = Callable[[Measure], Iterable[Shape]]
"""A function that returns the expected pods as shapes of a measure."""


class PodOnNode(NamedTuple):
    """A pod on a node: what the pod requests, and the node's free units before and after the pod is placed."""

    shape: Shape
    node: NodeInfo
    left: Left
    after: Left


class PolicyScore(PreScorePlugin, ScorePlugin):
    """Scores of nodes by the resources that would be free after the pod is placed.

    `_prefers` returns a higher number for a better node, on any scale.
    """

    name: ClassVar[str] = ""
    fullest_first: ClassVar[bool] = True

    def __init__(self, handle: Handle, mix: Mix) -> None:
        self._handle = handle
        self._mix = mix
        self._made: Measure | None = None

    @property
    def measure(self) -> Measure:
        """The fragmentation measure of the cluster, created when the first pod is scored."""
        if self._made is None:
            self._made = Measure(self._handle.cluster)
            self._made.mix(self._mix(self._made))
        return self._made

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Read the pod's requests."""
        state.write(self.name, shape_of(self.measure, self._handle, pod))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the policy's rating of the node, which `normalize` turns into a score."""
        shape: Shape = state.read(self.name)
        left = self.measure.units.left(node)
        after = self.measure.placed(shape, left, fullest_first=self.fullest_first)
        return round(self._prefers(PodOnNode(shape, node, left, left if after is None else after)))

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """Return the requests of the pod as a key."""
        shape: Hashable = state.read(self.name)
        return shape

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Scale the ratings so that the best nodes get 100 and all others less."""
        least, most = min(scores), max(scores)
        span = most - least
        scores[:] = [MAX_NODE_SCORE if not span else (each - least) * MAX_NODE_SCORE // span for each in scores]
        return None

    def _prefers(self, to: PodOnNode) -> float:
        raise NotImplementedError


def shape_of(measure: Measure, handle: Handle, pod: Pod) -> Shape:
    """Return the shape of a pod. Of its claims, only those without devices count."""
    try:
        claims = pod_claims(pod, handle.cluster.claims.get)
    except PodClaimError:
        claims = []
    specs = [claim.spec for claim in claims if claim.allocation is None]
    return measure.shape(handle.cluster.info(pod).requests, specs)


_FINE = 1_000_000
"""The number of steps between nothing and a whole node that scores distinguish."""


class BestFit(PolicyScore):
    """The policy that prefers the node with the least resources left after the pod is placed.

    Devices, CPU and memory are counted together.
    """

    name = "BestFit"

    def _prefers(self, to: PodOnNode) -> float:
        units = self.measure.units
        most = max(self._largest(), 1)
        rest = sum(some for _, some in to.after) / (most * WHOLE) if units.of(to.node) else 0.0
        taken = dict(to.shape.requests)
        shares = [
            (to.node.allocatable[name] - to.node.requested.get(name, 0) - taken.get(name, 0)) / self._room[name]
            for name in (CPU, MEMORY)
            if taken.get(name) and self._room.get(name) and to.node.allocatable.get(name)
        ]
        return -_FINE * (rest + sum(shares))

    def _largest(self) -> int:
        """Return the largest number of units on a node, and record the largest nodes' CPU and memory."""
        cluster = self._handle.cluster
        if getattr(self, "_revision", None) != cluster.node_revision:
            self._revision = cluster.node_revision
            nodes = list(cluster.nodes.values())
            self._most = max((len(self.measure.units.of(node)) for node in nodes), default=0)
            self._room = {
                name: max((node.allocatable.get(name, 0) for node in nodes), default=0) for name in (CPU, MEMORY)
            }
        return self._most

    _most = 0
    _room: Mapping[str, int] = {}


class FragmentationGradientDescent(PolicyScore):
    """The policy that prefers the node whose fragmentation, measured for a mix of pods, increases least."""

    name = "FragmentationGradientDescent"

    def _prefers(self, to: PodOnNode) -> float:
        measure = self.measure
        free = measure.free(to.node)
        return _FINE / WHOLE * (measure.state(to.left, free) - measure.state(to.after, measure.without(free, to.shape)))


class WholeNodes(PolicyScore):
    """The policy that prefers nodes in use and, among these, the one with the fewest whole devices left."""

    name = "WholeNodes"

    def _prefers(self, to: PodOnNode) -> float:
        before, then = _whole(to.left), _whole(to.after)
        breaks = bool(to.left) and before == len(to.left) and then < before
        if not to.shape.asks:
            return -_FINE * (before == len(to.left) and bool(to.left)) - before
        return -_FINE * breaks - _FINE // 100 * (before - then) - then


def _whole(left: Left) -> int:
    return sum(some == WHOLE for _, some in left)


class Balanced(PolicyScore):
    """The policy that prefers the node whose devices, CPU and memory are used most evenly after the pod is placed."""

    name = "Balanced"

    def _prefers(self, to: PodOnNode) -> float:
        taken = dict(to.shape.requests)
        shares = [1 - sum(some for _, some in to.after) / (WHOLE * len(to.after))] if to.after else []
        for name in (CPU, MEMORY):
            room = to.node.allocatable.get(name, 0)
            if room and taken.get(name):
                shares.append((to.node.requested.get(name, 0) + taken[name]) / room)
        return -_FINE * (max(shares) - min(shares)) if shares else 0.0
