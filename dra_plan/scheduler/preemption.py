"""Preemption for a single pod: the nodes on which evicting less important pods helps, and the eviction.

The first part searches for victims on each node (upstream: SelectVictimsOnNode, DryRunPreemption); the second part
evicts them. `framework/extender.py` chooses a candidate. Preemption for a pod group is in `groups/scheduling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dra_plan.api.core import Pod, PodCondition
from dra_plan.scheduler.cluster.nodes import DEFAULT_SCHEDULER, NodeInfo, PodInfo
from dra_plan.scheduler.framework.extender import Candidate, by_importance, split_by_budget
from dra_plan.scheduler.framework.interface import Handle
from dra_plan.scheduler.framework.status import CycleState, Status, error, succeeded, unresolvable

from .clock import format_time
from .events import Action

NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."


def no_victims(node: str) -> str:
    """Return the message for a node considered for preemption on which no pod can be evicted."""
    return f'expected at least one victim pod on node "{node}"'


def select_victims(handle: Handle, state: CycleState, pod: Pod, node: NodeInfo) -> Candidate | Status:
    """Return the fewest and least important pods whose removal makes room for the pod.

    `state` and `node` are modified.
    """
    trial = handle.trial
    priority = handle.cluster.info(pod).priority
    potential = [info for info in node.pods.values() if info.priority < priority]
    if not potential:
        return unresolvable(NO_VICTIMS)
    for info in potential:
        node.remove(info.uid)
        status = trial.remove_pod(state, pod, info, node)
        if not succeeded(status):
            return error(status.message if status else "")
    status = trial.filter_with_nominated(state, pod, node)
    if status is not None and not succeeded(status):
        return status
    violating, fine = split_by_budget(by_importance(potential), handle.cluster.budgets)
    victims: list[PodInfo] = []
    violations = 0
    for group in (violating, fine):
        for info in group:
            spared = _spare(handle, state, pod, node, info)
            if isinstance(spared, Status):
                return spared
            if not spared:
                victims.append(info)
                violations += group is violating
    if violating and fine:
        victims = by_importance(victims)
    return Candidate(node.name, tuple(victims), violations)


def _spare(handle: Handle, state: CycleState, pod: Pod, node: NodeInfo, info: PodInfo) -> bool | Status:
    """Put the victim back if the preemptor still fits with it on the node."""
    node.add(info)
    status = handle.trial.add_pod(state, pod, info, node)
    if not succeeded(status):
        return error(status.message if status else "")
    if succeeded(handle.trial.filter_with_nominated(state, pod, node)):
        return True
    node.remove(info.uid)
    status = handle.trial.remove_pod(state, pod, info, node)
    return False if succeeded(status) else error(status.message if status else "")


def dry_run(
    handle: Handle, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], wanted: int
) -> tuple[list[Candidate], dict[str, Status]]:
    """Return the candidates for preemption, and the rejections of the other nodes.

    The search ends once `wanted` candidates have been found, at least one of them without budget violations. It begins
    at the first node; upstream begins at a random node.
    """
    candidates: list[Candidate] = []
    statuses: dict[str, Status] = {}
    priority = handle.cluster.info(pod).priority
    for node in nodes:
        if all(info.priority >= priority for info in node.pods.values()):
            statuses[node.name] = unresolvable(NO_VICTIMS)
            continue
        found = select_victims(handle, state.clone(), pod, node.clone())
        if isinstance(found, Status):
            statuses[node.name] = found
            continue
        if not found.victims:
            statuses[node.name] = error(no_victims(node.name))
            continue
        candidates.append(found)
        if len(candidates) >= wanted and any(not c.violations for c in candidates):
            break
    return candidates, statuses


# -- evicting victims --------------------------------------------------------------------------------------------------

REASON = "PreemptionByScheduler"
"""The reason in the DisruptionTarget condition of a preempted pod."""


def remove_victim(handle: Handle, victim: PodInfo, plugin: str) -> None:
    """Delete the pod, or mark it as being deleted if its kubelet terminates it later.

    A pod that is waiting at Permit is rejected on behalf of the plugin instead.
    """
    waiting = handle.waiting.get(victim.uid)
    if waiting is not None:
        waiting.preempt(plugin, "preempted")
    elif handle.victims_linger:
        _mark(handle, victim.uid)
    else:
        handle.cluster.delete_pod(victim.pod)


def preemption_message(pod: Pod) -> str:
    """Return the message in the condition of a preempted pod."""
    return f"{pod.spec.scheduler_name or DEFAULT_SCHEDULER}: preempting to accommodate a higher priority pod"


def is_victim(pod: Pod) -> bool:
    """Return whether the pod was preempted and is being deleted."""
    return pod.metadata.deletion_timestamp is not None and any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == REASON
        for each in pod.status.conditions
    )


def _mark(handle: Handle, uid: str) -> None:
    """Mark the pod as terminating; it stays on its node until its kubelet has terminated it."""
    pod = handle.cluster.pods.get(uid)
    if pod is None or is_victim(pod):
        return
    metadata = replace(pod.metadata, deletion_timestamp=format_time(handle.clock.now))
    condition = PodCondition(type="DisruptionTarget", status="True", reason=REASON, message=preemption_message(pod))
    status = replace(pod.status, conditions=[*pod.status.conditions, condition])
    handle.cluster.replace_pod(pod, replace(pod, metadata=metadata, status=status), Action.UPDATE_OTHER)
