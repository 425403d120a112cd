"""TaintToleration: taints that the pod does not tolerate reject a node, or make it less attractive."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dra_plan.api.core import Node, Pod, Taint, Toleration
from dra_plan.api.selectors import BLOCKING, tolerates
from dra_plan.releases import Target
from dra_plan.scheduler import pluginnames
from dra_plan.scheduler.cyclestate import CycleState
from dra_plan.scheduler.events import Action, Hint, Interest, Resource
from dra_plan.scheduler.framework import EnqueueExtensions, FilterPlugin, PreScorePlugin, ScorePlugin
from dra_plan.scheduler.nodeinfo import NodeInfo
from dra_plan.scheduler.scoring import normalize
from dra_plan.scheduler.status import Status, unresolvable


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether any toleration matches."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    """The first blocking taint that is not tolerated, or None."""
    for taint in taints:
        if taint.effect in BLOCKING and not tolerated(taint, tolerations):
            return taint
    return None


def shape(pod: Pod) -> Hashable:
    """What is looked at of a pod: its tolerations."""
    return tuple((t.key, t.operator, t.value, t.effect) for t in pod.spec.tolerations)


class TaintToleration(FilterPlugin, PreScorePlugin, ScorePlugin, EnqueueExtensions):
    """Filters by NoSchedule and NoExecute, scores by PreferNoSchedule."""

    name = pluginnames.TAINT_TOLERATION
    looks_at_object_alone = True

    def __init__(self, target: Target) -> None:
        self._names_taint = target.rules.names_untolerated_taint

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Reject nodes with an untolerated blocking taint."""
        taint = untolerated(node.node.spec.taints, pod.spec.tolerations)
        if taint is None:
            return None
        if self._names_taint:
            return unresolvable(f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}")
        return unresolvable("node(s) had untolerated taint(s)")

    def filter_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The tolerations."""
        return shape(pod)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Keep the tolerations that count for PreferNoSchedule."""
        state.write(self.name, [t for t in pod.spec.tolerations if t.effect in ("", "PreferNoSchedule")])
        return None

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """The number of untolerated PreferNoSchedule taints."""
        taints = node.node.spec.taints
        if not taints:
            return 0
        tolerations = state.read(self.name)
        return sum(taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations) for taint in taints)

    def normalize(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], scores: list[int]) -> Status | None:
        """Fewest taints score 100."""
        normalize(scores, reverse=True)
        return None

    def score_memo(self, state: CycleState, pod: Pod) -> Hashable | None:
        """The tolerations."""
        return shape(pod)

    def events_to_register(self) -> Sequence[Interest]:
        """Nodes that lose taints, pods that gain tolerations."""
        return [
            Interest(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, self._became_tolerable),
            Interest(Resource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATION),
        ]

    def _became_tolerable(self, pod: Pod, old: Node | None, new: Node | None) -> Hint:
        def fine(node: Node | None) -> bool:
            return node is not None and untolerated(node.spec.taints, pod.spec.tolerations) is None

        return Hint.QUEUE if fine(new) and not fine(old) else Hint.SKIP
