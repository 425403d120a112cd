"""NodeResourcesFit: does the node have room, and how much of it is left."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dra_plan.api.core import Node, Pod
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.dra.devicetotals import Totals
from dra_plan.scheduler.dra.extended import is_served
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from dra_plan.scheduler.handle import Handle
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.obstacles import ResourceShort
from dra_plan.scheduler.podrequest import PODS, amounts, is_extended, pod_requests
from dra_plan.scheduler.status import Code, Reason, Status, insufficient

from .allocation import Strategy, usage

_TOO_MANY = Reason("Too many pods", ResourceShort(PODS, 1, 0))


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Requests against what is left of the node's allocatable."""

    name = pluginnames.FIT

    def __init__(
        self,
        handle: Handle,
        strategy: Strategy,
        ignored: Sequence[str] = (),
        ignored_groups: Sequence[str] = (),
        devices: Totals | None = None,
    ) -> None:
        self._handle = handle
        self._strategy = strategy
        self._ignored = frozenset(ignored)
        self._ignored_groups = frozenset(ignored_groups)
        self._devices = devices

    # Filter

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        """Compute the pod's request."""
        state.write(self.name, self._wanted(pod))
        return None, None

    def _wanted(self, pod: Pod) -> _FitRequest:
        requests = self._handle.cluster.info(pod).requests
        mapped = self._handle.cluster.extended_names()
        return _FitRequest(
            {
                name: (value, name in mapped)
                for name, value in requests.items()
                if value > 0 and not self._is_ignored(name)
            }
        )

    def _is_ignored(self, name: str) -> bool:
        return is_extended(name) and (name in self._ignored or name.split("/", 1)[0] in self._ignored_groups)

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Name everything that is short; it is beyond help if a request alone exceeds the node."""
        wanted: _FitRequest = state.read(self.name)
        reasons = [_TOO_MANY] if len(node.pods) + 1 > node.allowed_pods else []
        hopeless = False
        requested, allocatable = node.requested, node.allocatable
        for name, (value, mapped) in wanted.requests.items():
            room = allocatable.get(name, 0)
            left = room - requested.get(name, 0)
            if value <= left:
                continue
            if is_served(room, mapped=mapped):
                continue  # devices will serve it
            reasons.append(insufficient(name, value, left))
            hopeless = hopeless or value > room
        if not reasons:
            return None
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE, *reasons)

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The request."""
        wanted: _FitRequest = state.read(self.name)
        return wanted.key

    # Score

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Compute what the pod counts for. Pod-level requests are left out (P12) unless repaired."""
        left_out = self._handle.target.quirks.fit_score_without_pod_level
        counted = pod_requests(pod, pod_level=not left_out, defaults=True)
        state.write(f"{self.name}/score", tuple(counted.get(name, 0) for name in self._strategy.names))
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """As the strategy says."""
        counted: tuple[int, ...] = state.read(f"{self.name}/score")
        return self._strategy.score(usage(node, self._strategy, counted, scored=True, devices=self._devices))

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """What the pod counts for."""
        counted: Hashable = state.read(f"{self.name}/score")
        return counted

    # Events

    def events_to_register(self) -> Sequence[Interest]:
        """Pods that leave or shrink, nodes that come or grow, classes that take over an extended resource."""
        return [
            Interest(Resource.ASSIGNED_POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN),
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, self._big_enough),
            Interest(Resource.CLASS, Action.ADD | Action.UPDATE_OTHER),
        ]

    def _big_enough(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        if new is None:
            return Hint.SKIP
        wanted = self._wanted(pod).requests
        now = amounts(new.status.allocatable or new.status.capacity)
        if any(value > now.get(name, 0) and not mapped for name, (value, mapped) in wanted.items()):
            return Hint.SKIP
        if old is None:
            return Hint.QUEUE
        before = amounts(old.status.allocatable or old.status.capacity)
        grown = any(now.get(name, 0) > before.get(name, 0) for name in (*wanted, "pods"))
        return Hint.QUEUE if grown else Hint.SKIP


class _FitRequest:
    """Requests that matter: name to (amount, whether a device class serves the name)."""

    __slots__ = ("key", "requests")

    def __init__(self, requests: dict[str, tuple[int, bool]]) -> None:
        self.requests = requests
        self.key: Hashable = tuple(sorted(requests.items()))
