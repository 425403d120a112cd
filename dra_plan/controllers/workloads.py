"""The workload controllers: how they recreate, order, update and scale pods.

A Deployment and its ReplicaSets are treated as one controller, which owns the pods. A pod's revision is the template
that it was created from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from dra_plan.api.core import Node, Pod, PodTemplateSpec
from dra_plan.api.int_or_string import scaled
from dra_plan.api.inventory import Inventory
from dra_plan.api.well_known import TEMPLATE_HASH
from dra_plan.api.workloads import AnyWorkload, Job, UpdateStrategy, Workload, pod_template
from dra_plan.claims.index import Index
from dra_plan.claims.owners import controls, counts_for, ended, is_over, is_ready, wanted
from dra_plan.errors import InputError
from dra_plan.scheduler.admission import MOST_PODS_MADE
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.new_pods import daemon_may_run, daemon_node, is_ordered, new_pods

from .state import Action, ClusterState, CreatePod, DeletePod, EndCause

_REVISION_LABEL = "controller-revision-hash"
_QUARTER = "25%"
_MOST_DIGITS = 10
"""The maximum number of digits of an ordinal."""
DEFAULT_BACKOFF_LIMIT = 6
JOB_BACKOFF_SECONDS = 10.0
"""The delay before a Job's failed pod is replaced, in seconds. It doubles with each further failure."""
MOST_JOB_BACKOFF_SECONDS = 600.0

_IGNORE, _FAIL_JOB = "Ignore", "FailJob"
_FAILED_BY_POLICY = "PodFailurePolicy"
_DISRUPTED = ("DisruptionTarget", "True")

SCALED_DOWN = EndCause(by="scale down")
UPDATED = EndCause(by="rolling update")
NOT_ON_NODE = EndCause(by="DaemonSet")
BACKOFF_LIMIT = EndCause(by="Job", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")


def step(state: ClusterState) -> Iterator[Action]:
    """Yield the actions of all workloads' controllers, in input order."""
    names = _TakenNames(state)
    for workload in state.inventory.workloads:
        if is_over(workload) or state.index.is_planned_elsewhere(workload):
            continue
        pods = state.index.pods_of(workload)
        _check_number(workload, pods)
        if isinstance(workload, Job):
            actions = _job(state, workload, pods, names.taken(workload))
        elif isinstance(workload, Workload) and workload.kind == "Deployment":
            actions = _deployment(state, workload, pods, names.taken(workload))
        elif isinstance(workload, Workload) and workload.kind == "StatefulSet":
            actions = _stateful_set(state, workload, pods)
        elif workload.kind == "DaemonSet":
            actions = _daemon_set(state, workload, pods)
        else:
            actions = _replicas(state, workload, pods, names.taken(workload))
        for action in actions:
            if isinstance(action, CreatePod):
                names.made[workload.metadata.namespace].add(action.pod.metadata.name)
            yield action


class _TakenNames:
    """The present and former names of pods, looked up per namespace when a workload names its pods at random."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._taken: dict[str, set[str]] = {}
        self.made: dict[str, set[str]] = defaultdict(set)
        """The names of pods that are being created."""

    def taken(self, workload: AnyWorkload) -> set[str]:
        """Return the names in the workload's namespace."""
        namespace = workload.metadata.namespace
        if namespace not in self._taken:
            self._taken[namespace] = set(self._state.names.get(namespace, ()))
        self._taken[namespace] |= self.made[namespace]
        return self._taken[namespace]


def _check_number(workload: AnyWorkload, pods: Sequence[Pod]) -> None:
    """Raise InputError for a workload that wants more pods than a cluster can have."""
    field, count = wanted(workload, pods)
    if count > MOST_PODS_MADE:
        name = f"{workload.kind} {workload.metadata.namespace}/{workload.metadata.name}"
        raise InputError(f"{name}: {field}: {count} is too many: at most {MOST_PODS_MADE} pods are created")


def _create(workload: AnyWorkload, pods: Iterator[Pod], at: float = 0.0) -> Iterator[CreatePod]:
    owner = (workload.kind, workload.metadata.name)
    return (CreatePod(pod, owner, at) for pod in pods)


def _replicas(state: ClusterState, workload: AnyWorkload, pods: Sequence[Pod], taken: set[str]) -> Iterator[Action]:
    """Yield the actions of a ReplicaSet, a ReplicationController, or an unknown kind."""
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    surplus = len(living) - wanted(workload, pods).number
    yield from (DeletePod(pod, SCALED_DOWN) for pod in _least_wanted(living)[: max(0, surplus)])
    yield from _create(workload, new_pods(workload, pods, state.inventory.nodes, taken))


def _least_wanted(pods: Sequence[Pod]) -> list[Pod]:
    """Return the pods in a ReplicaSet's deletion order: those without a node, then those not ready, then the newest."""

    def key(pod: Pod) -> tuple[bool, bool, bool]:
        return bool(pod.spec.node_name), pod.status.phase != "Pending", is_ready(pod)

    newest_first = sorted(pods, key=lambda pod: pod.metadata.creation_timestamp or "~", reverse=True)
    return sorted(newest_first, key=key)


# Deployments


def _deployment(state: ClusterState, workload: Workload, pods: Sequence[Pod], taken: set[str]) -> Iterator[Action]:
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    new: list[Pod] = []
    old: list[Pod] = []
    for pod in living:
        (new if _is_current(state, workload, pod) else old).append(pod)
    if not old:
        yield from _replicas(state, workload, pods, taken)
        return
    if workload.spec.paused:
        return
    count = wanted(workload, pods).number
    strategy = workload.spec.strategy or UpdateStrategy()
    if strategy.type == "Recreate":
        # new pods are created when the old pods are gone, not when they are being deleted
        yield from (DeletePod(pod, UPDATED) for pod in old)
        return
    surge, unavailable = rollout_bounds(strategy, count)
    room = max(0, min(count + surge - len(living), count - len(new)))
    template = replace(workload, spec=replace(workload.spec, replicas=len(new) + room))
    yield from _create(template, new_pods(template, new, state.inventory.nodes, taken))
    yield from (DeletePod(pod, UPDATED) for pod in _scaled_down(old, new, count, unavailable))


def _scaled_down(old: Sequence[Pod], new: Sequence[Pod], count: int, unavailable: int) -> list[Pod]:
    """Return the old pods that may be deleted: unhealthy pods first, and as many ready pods as availability allows.

    As in the Deployment controller's reconcileOldReplicaSets, new pods that are not yet ready count as missing.
    """
    least = count - unavailable
    not_ready_new = sum(not is_ready(pod) for pod in new)
    most = len(old) + len(new) - least - not_ready_new
    if most <= 0:
        return []
    unhealthy = [pod for pod in _least_wanted(old) if not is_ready(pod)][:most]
    available = sum(map(is_ready, (*old, *new)))
    healthy = [pod for pod in _least_wanted(old) if is_ready(pod)]
    return [*unhealthy, *healthy[: max(0, available - least)]]


def rollout_bounds(strategy: UpdateStrategy, count: int) -> tuple[int, int]:
    """Return how many extra pods may exist during a rollout, and how many may be missing.

    Percentages are rounded up for the first number and down for the second.
    """
    rolling = strategy.rolling_update
    surge = _share(rolling.max_surge if rolling is not None else None, count, up=True)
    unavailable = _share(rolling.max_unavailable if rolling is not None else None, count, up=False)
    return surge, unavailable if surge or unavailable else 1


def _share(value: int | str | None, count: int, *, up: bool) -> int:
    return scaled(_QUARTER if value is None else value, count, up=up)


def _is_current(state: ClusterState, workload: Workload, pod: Pod) -> bool:
    """Return whether the pod was created from the workload's current template."""
    known = state.revisions.get(pod_uid(pod))
    if known is not None:
        return known == revision(pod_template(workload))
    owner = state.index.controllers.of(pod.metadata)
    if isinstance(owner, Workload) and owner.kind == "ReplicaSet":
        return revision(pod_template(owner)) == revision(pod_template(workload))
    return True


def given_revisions(inventory: Inventory) -> dict[str, object]:
    """Return the revision of each pod of a StatefulSet or DaemonSet, by UID, if the input shows it.

    A pod comes from an older template if its revision label differs from the revision in the set's status. Without
    either, the pod is assumed to come from the template in the input.
    """
    index = Index(inventory)
    found: dict[str, object] = {}
    for workload in inventory.workloads:
        if isinstance(workload, Workload) and workload.kind in ("StatefulSet", "DaemonSet"):
            now = revision(pod_template(workload))
            for pod in index.dependent_pods.of(workload):
                label = (pod.metadata.labels or {}).get(_REVISION_LABEL, "")
                newest = workload.status.update_revision
                is_old = bool(label and newest) and label != newest
                found[pod_uid(pod)] = label if is_old else now
    return found


def revision(template: PodTemplateSpec) -> PodTemplateSpec:
    """Return the template as in the ReplicaSets of a Deployment, but without the label that tells them apart."""
    labels = {key: value for key, value in (template.metadata.labels or {}).items() if key != TEMPLATE_HASH}
    return replace(template, metadata=replace(template.metadata, labels=labels or None))


# StatefulSets


def _stateful_set(state: ClusterState, workload: Workload, pods: Sequence[Pod]) -> Iterator[Action]:
    """Yield the actions of updateStatefulSet: create missing pods in order; scale down, then update, from the end.

    With OrderedReady, each step handles one pod at a time, and a pod that is not ready stops all later steps.
    """
    count, ordered = wanted(workload, pods).number, is_ordered(workload)
    over = [(ordinal, pod) for pod in pods if ended(pod) and (ordinal := _ordinal(workload, pod)) is not None]
    yield from (DeletePod(pod, EndCause(by="StatefulSet")) for _, pod in sorted(over))
    made = list(new_pods(workload, pods, state.inventory.nodes, is_ready=is_ready))
    yield from _create(workload, iter(made))
    if ordered and made:
        return
    by_ordinal = sorted((ordinal, pod) for pod in pods if (ordinal := _ordinal(workload, pod)) is not None)
    kept = [pod for ordinal, pod in by_ordinal if ordinal < count]
    if ordered and (len(kept) < count or not all(map(is_ready, kept))):
        return
    surplus = [pod for ordinal, pod in reversed(by_ordinal) if ordinal >= count]
    if surplus:
        yield from (DeletePod(pod, SCALED_DOWN) for pod in (surplus[:1] if ordered else surplus))
        if ordered:
            return
    yield from _update(state, workload, kept)


def _update(state: ClusterState, workload: Workload, pods: Sequence[Pod]) -> Iterator[Action]:
    """Yield the pods from an older template to delete, one after the other.

    The order is from the highest ordinal down to the partition.
    """
    strategy = workload.spec.update_strategy
    if strategy is not None and strategy.type == "OnDelete":
        return
    partition = strategy.rolling_update.partition if strategy is not None and strategy.rolling_update else 0
    for pod in reversed(pods):
        if (_ordinal(workload, pod) or 0) < partition:
            return
        if not _is_current(state, workload, pod):
            yield DeletePod(pod, UPDATED)
            return
        if not is_ready(pod):
            return


def _ordinal(workload: Workload, pod: Pod) -> int | None:
    prefix, _, number = pod.metadata.name.rpartition("-")
    is_number = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    return int(number) if prefix == workload.metadata.name and is_number else None


# DaemonSets


def _daemon_set(state: ClusterState, workload: AnyWorkload, pods: Sequence[Pod]) -> Iterator[Action]:
    """Yield a pod for each node that may run one; pods on nodes that evict them are deleted and not recreated."""
    for pod in pods:
        node = state.nodes.get(daemon_node(pod))
        if ended(pod):
            yield DeletePod(pod, EndCause(by="DaemonSet"))
        elif node is not None and counts_for(pod, workload.kind) and not _may_stay(workload, node):
            yield DeletePod(pod, NOT_ON_NODE)
    yield from _create(workload, new_pods(workload, pods, state.inventory.nodes))
    if isinstance(workload, Workload):
        yield from _update_daemons(state, workload, [pod for pod in pods if counts_for(pod, workload.kind)])


def _update_daemons(state: ClusterState, workload: Workload, pods: Sequence[Pod]) -> Iterator[Action]:
    """Yield the pods from an older template to delete, as many at a time as may be unavailable, unready pods first."""
    strategy = workload.spec.update_strategy
    if strategy is not None and strategy.type == "OnDelete":
        return
    old = [pod for pod in pods if not _is_current(state, workload, pod)]
    rolling = strategy.rolling_update if strategy is not None else None
    most = 1 if rolling is None or rolling.max_unavailable is None else rolling.max_unavailable
    room = max(1, scaled(most, len(pods), up=True)) - sum(not is_ready(pod) for pod in pods)
    broken = [pod for pod in old if not is_ready(pod)]
    whole = [pod for pod in old if is_ready(pod)]
    yield from (DeletePod(pod, UPDATED) for pod in (*broken, *whole[: max(0, room)]))


def _may_stay(workload: AnyWorkload, node: Node) -> bool:
    """Return whether a DaemonSet pod may stay on the node.

    A NoSchedule taint rejects new pods and leaves existing pods.
    """
    lasting = [taint for taint in node.spec.taints if taint.effect == "NoExecute"]
    return daemon_may_run(workload, replace(node, spec=replace(node.spec, taints=lasting)))


# Jobs


def _job(state: ClusterState, workload: Job, pods: Sequence[Pod], taken: set[str]) -> Iterator[Action]:
    """Yield the actions of a Job, for which a pod that ended early counts as failed.

    The pod's successor is created after a back-off, unless the limit is exceeded. The pod failure policy may make the
    whole job fail, or count the failure only for the back-off.
    """
    failures = _failures(state, workload, pods)
    counted = [each for each in failures if each.action != _IGNORE]
    limit = DEFAULT_BACKOFF_LIMIT if workload.spec.backoff_limit is None else workload.spec.backoff_limit
    living = [pod for pod in pods if counts_for(pod, workload.kind)]
    fatal = next((each for each in failures if each.action == _FAIL_JOB), None)
    if fatal is not None:
        cause = EndCause(by="Job", reason=_FAILED_BY_POLICY, message=fatal.message)
        yield from (DeletePod(pod, cause) for pod in living)
        return
    if len(counted) + workload.status.failed > limit:
        yield from (DeletePod(pod, BACKOFF_LIMIT) for pod in living)
        return
    surplus = len(living) - wanted(workload, pods).number
    if surplus > 0:
        yield from (DeletePod(pod, SCALED_DOWN) for pod in _least_wanted(living)[:surplus])
    at = 0.0
    if failures:
        seconds = JOB_BACKOFF_SECONDS * 2.0 ** (min(len(failures), 10) - 1)
        at = max(each.moment for each in failures) + min(seconds, MOST_JOB_BACKOFF_SECONDS)
    yield from _create(workload, new_pods(workload, pods, state.inventory.nodes, taken), at)


@dataclass(frozen=True)
class _Failure:
    """A Job's failed pod: the time, and the action in the Job's failure policy, or "" if there is none."""

    moment: float
    action: str = ""
    message: str = ""


def _failures(state: ClusterState, workload: Job, pods: Sequence[Pod]) -> list[_Failure]:
    """Return the Job's pods that have failed in this simulation, by an event or by ending before success.

    Earlier failures are in the Job's status.
    """
    found = []
    for pod in pods:
        moment = state.changed.get(("Pod", pod.metadata.namespace, pod.metadata.name))
        if pod.status.phase == "Failed" and moment is not None:
            found.append(_failure(workload, pod, moment))
    for each in state.ended:
        is_own = each.cause is BACKOFF_LIMIT or each.cause is SCALED_DOWN or each.cause.reason == _FAILED_BY_POLICY
        if each.pod.status.phase != "Succeeded" and not is_own and controls(workload, each.pod.metadata):
            found.append(_failure(workload, each.pod, each.moment, disrupted=each.cause.is_disruption))
    return found


def _failure(workload: Job, pod: Pod, moment: float, *, disrupted: bool = False) -> _Failure:
    """Return the pod's failure, with the action in the first rule that matches one of its conditions."""
    policy = workload.spec.pod_failure_policy
    has = {(each.type, each.status) for each in pod.status.conditions}
    if disrupted:
        has.add(_DISRUPTED)
    for index, rule in enumerate(policy.rules if policy is not None else ()):
        for pattern in rule.on_pod_conditions:
            if (pattern.type, pattern.status) in has:
                said = f"Pod {pod.key} has condition {pattern.type} matching {rule.action} rule at index {index}"
                return _Failure(moment, rule.action, said)
    return _Failure(moment)
