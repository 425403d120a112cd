"""Node taint eviction (tainteviction), taints that follow a node's conditions (nodelifecycle), and pod garbage.

All of them ignore PodDisruptionBudgets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dra_plan.api.core import Node, Pod, Taint, Toleration
from dra_plan.api.selectors import tolerates
from dra_plan.api.well_known import NODE_NOT_READY, UNREACHABLE
from dra_plan.scheduler.clock import format_time, parse_time
from dra_plan.scheduler.cluster.keys import pod_uid

from .state import Action, ClusterState, DeletePod, EndCause, WriteNode

_NO_EXECUTE = "NoExecute"
_OF_READY = {"False": NODE_NOT_READY, "Unknown": UNREACHABLE}
DEFAULT_TOLERATION_SECONDS = 300
"""How many seconds every pod tolerates nodes that are not ready or unreachable (DefaultTolerationSeconds)."""
NODE_MONITOR_SECONDS = 2.5
"""Half of the node monitor's period in seconds: how long it takes, on average, to notice a change of a condition."""
GARBAGE_SECONDS = 50.0
"""How long pods stay after their node is deleted, in seconds, on average.

The actual time is 40 to 60 seconds: a quarantine of 40, and then a check every 20 seconds.
"""

CAUSE = EndCause(
    by="node taint",
    reason="DeletionByTaintManager",
    message="Taint manager: deleting due to NoExecute taint",
    event="TaintManagerEviction",
    marks="Marking for deletion Pod {pod}",
    cancels="Cancelling deletion of Pod {pod}",
    is_disruption=True,
)
GARBAGE = EndCause(
    by="node gone",
    reason="DeletionByPodGC",
    message="PodGC: node no longer exists",
    is_disruption=True,
)


def step(state: ClusterState) -> list[Action]:
    """Return the actions of the node controllers.

    They evict pods because of taints, delete pods whose node was deleted, and taint nodes that are not ready.
    """
    tainted = {
        name: taints
        for name, node in state.nodes.items()
        if (taints := [taint for taint in node.spec.taints if taint.effect == _NO_EXECUTE])
    }
    actions: list[Action] = list(_lifecycle(state))
    if not tainted and not state.lost_nodes:
        return actions
    for pod in state.running:
        node = pod.spec.node_name
        if node in tainted:
            moment = eviction_time(state, pod, tainted[node])
            if moment < math.inf:
                actions.append(DeletePod(pod, CAUSE, moment))
        elif node in state.lost_nodes and node not in state.nodes:
            actions.append(DeletePod(pod, GARBAGE, state.lost_nodes[node] + GARBAGE_SECONDS))
    return actions


def is_troubled(node: Node) -> bool:
    """Return whether the node evicts pods, is not ready, or has a taint that says that it is not ready."""
    return any(taint.effect == _NO_EXECUTE or taint.key in _OF_READY.values() for taint in node.spec.taints) or any(
        each.type == "Ready" and each.status in _OF_READY for each in node.status.conditions
    )


def eviction_time(state: ClusterState, pod: Pod, taints: Sequence[Taint]) -> float:
    """Return the time at which the taints evict the pod, or infinity if they do not."""
    return deciding_taint(state, pod, taints)[0]


def deciding_taint(state: ClusterState, pod: Pod, taints: Sequence[Taint]) -> tuple[float, Taint | None]:
    """Return the time at which the taints evict the pod, or infinity, and the taint that decides it.

    A taint that the pod does not tolerate evicts it immediately. For every other taint, the first toleration that
    matches applies, even if a later one has fewer seconds (recorded in nt-06). If several taints exist together, the
    lowest number of seconds decides. The seconds are counted from the time of the taints or of the pod. Once set, the
    time of the eviction changes only when no taints are left or all are tolerated forever (tainteviction,
    processPodOnNode).
    """
    tolerated: list[tuple[float, int, Taint]] = []
    for taint in taints:
        first = next((each for each in _tolerations(pod, taint) if tolerates(each, taint)), None)
        if first is None:
            return _added(state, pod, taint), taint
        if first.toleration_seconds is not None:
            tolerated.append((_added(state, pod, taint), max(0, first.toleration_seconds), taint))
    if not tolerated:
        return math.inf, None
    began = min(added for added, _, _ in tolerated)
    seconds, decides = min(((each[1], each[2]) for each in tolerated if each[0] == began), key=lambda each: each[0])
    return state.evicted_at.get(pod_uid(pod), began + seconds), decides


def _added(state: ClusterState, pod: Pod, taint: Taint) -> float:
    """Return the time at which the taint first affected the pod, either when it was added or when the pod arrived."""
    added, came = parse_time(taint.time_added), parse_time(pod.status.start_time)
    since = added if added is not None else state.since("Node", pod.spec.node_name)
    return max(since, came) if came is not None and came <= state.now else since


def _tolerations(pod: Pod, taint: Taint) -> Iterator[Toleration]:
    """Yield the pod's tolerations, and the toleration that admission adds if none of them is for the taint's key."""
    yield from pod.spec.tolerations
    if taint.key in (NODE_NOT_READY, UNREACHABLE):
        yield Toleration(
            key=taint.key,
            operator="Exists",
            effect=_NO_EXECUTE,
            toleration_seconds=DEFAULT_TOLERATION_SECONDS,
        )


def _lifecycle(state: ClusterState) -> Iterator[WriteNode]:
    """Yield nodes with the taints for their Ready condition, with both effects, or without them when ready again."""
    for node in state.inventory.nodes:
        ready = next((each.status for each in node.status.conditions if each.type == "Ready"), None)
        if ready is None:
            continue
        wanted = _OF_READY.get(ready)
        has = {taint.key for taint in node.spec.taints if taint.key in _OF_READY.values()}
        if has == ({wanted} if wanted else set()):
            continue
        moment = state.since("Node", node.metadata.name) + NODE_MONITOR_SECONDS
        yield WriteNode(_with_taint(node, wanted, moment), moment)


def _with_taint(node: Node, key: str | None, moment: float) -> Node:
    taints = [taint for taint in node.spec.taints if taint.key not in _OF_READY.values()]
    if key is not None:
        added = format_time(moment)
        taints += [Taint(key=key, effect=effect, time_added=added) for effect in ("NoSchedule", _NO_EXECUTE)]
    return replace(node, spec=replace(node.spec, taints=taints))
