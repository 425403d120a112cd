"""`explain`: an obstacle on nodes with what the scheduler does not report: who has the room, and what is nearly right.

`OnNodes` has what is known of the nodes; `obstacle_on` completes an obstacle; then come the users of a resource. Only
the nodes that a line names are looked at, so that this costs little on many nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from msgspec import structs

from dra_plan.api import quantity
from dra_plan.api.core import LimitRange, Node, Pod
from dra_plan.api.selectors import BLOCKING, labels_match, near_toleration, parse_selector
from dra_plan.api.well_known import CONTROL_PLANE, NODE_NOT_READY, NOT_READY, UNSCHEDULABLE
from dra_plan.claims.index import POD
from dra_plan.documents.devices import TaintName
from dra_plan.documents.node_obstacles import NodeObstacle, NodeShare, ResourceUser
from dra_plan.documents.volume_needs import VolumeClaimNeeds
from dra_plan.explanation.driver_pods import DriverPods
from dra_plan.explanation.suggest.admissions import is_of_condition
from dra_plan.questions.explain.bindings import is_unreachable
from dra_plan.questions.explain.peaks import parts
from dra_plan.questions.explain.reasons import VerdictRun
from dra_plan.questions.explain.selected_pods import SelectedPods
from dra_plan.questions.explain.set_elsewhere import SetElsewhere
from dra_plan.questions.explain.staying import why_it_stays
from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.cluster.pod_requests import PODS, amount_text
from dra_plan.scheduler.framework.status import AffinityUnmet, Obstacle, PortTaken, ResourceShort, VolumeInUse
from dra_plan.scheduler.obstacles import node_obstacle
from dra_plan.scheduler.plugins.node_checks import tolerated, untolerated

MOST_USERS = 2
"""The number of pods that are named as users of a resource, if fewer than all of them would have to go."""


MOST_EACH = 4
"""The number of nodes of a kind up to which each is described, if they differ."""


class OnNodes(NamedTuple):
    """A rejected pod, the run in which it is rejected, and the parts of the input that describe the nodes.

    `limit_ranges` and `nodes` are those of the input.
    """

    pod: Pod
    run: VerdictRun
    limit_ranges: Sequence[LimitRange]
    finished: Mapping[str, Pod]
    """The pods of the input that have finished, by NAMESPACE/NAME."""
    leaving: Mapping[str, Pod]
    """The pods of the input that are being deleted, by NAMESPACE/NAME."""
    nodes: Mapping[str, Node]
    set_elsewhere: SetElsewhere
    selected: SelectedPods
    drivers: DriverPods
    volume_claims: Sequence[VolumeClaimNeeds] = ()
    """The requirements of the pod's claims for volumes."""

    def pods(self, node: str) -> list[Pod]:
        """Return the pods that are on the node at the end of the run."""
        return self.run.pods_on(node)

    def state_of(self, pod: str) -> str:
        """Return "Leaving" for a pod that is being deleted, "Stuck" if it cannot end, and "" for any other pod."""
        found = self.leaving.get(pod)
        if found is None:
            return ""
        return "Stuck" if is_unreachable(self.nodes.get(found.spec.node_name)) else "Leaving"

    def has_finished(self, pod: str) -> bool:
        """Return whether the pod, named NAMESPACE/NAME, has finished, so that it holds nothing."""
        return pod in self.finished

    def is_promised(self, short: ResourceShort, node: str) -> bool:
        """Return whether the node has enough of the resource without the pods that are nominated to the node."""
        promised = self.run.nominated(node, self.pod)
        return bool(promised) and short.asked <= _free(self.run, short, node)


def blocking_pod(of: Obstacle) -> str:
    """Return the only pod that causes the obstacle, as NAMESPACE/NAME. If there is no such pod, return ""."""
    return of.pod if isinstance(of, AffinityUnmet | PortTaken | VolumeInUse) else ""


def obstacle_on(same: Sequence[Obstacle], names: Sequence[str], there: OnNodes) -> NodeObstacle | None:
    """Return the obstacle that the nodes have in common, with more details, or None if the obstacle has no subject.

    The details depend on the obstacle. A resource has its users, or the amount that its device plugin lacks. If there
    are too many pods, the node's limit is added, because the scheduler reports only that there are too many. A taint
    has the toleration that the pod has instead, and the name of another node with the DaemonSet that requires the
    taint. For a pod, the result says whether the pod is being deleted.
    """
    of = node_obstacle(same, there.nodes)
    if of is None:
        return None
    match of.kind:
        case "Taint":
            return _with_taint(of, [there.nodes[name] for name in names], there)
        case "Label" if of.label == "metadata.name":
            maker = there.pod.metadata.controller
            pins = maker is not None and maker.kind == "DaemonSet"
            return structs.replace(of, near=f"DaemonSet {maker.name}" if maker is not None and pins else "")
        case "Label" if of.operator == "In" and len(of.values) == 1:
            return structs.replace(of, origin=there.set_elsewhere.origin_of(of.label, of.values[0]))
        case "Affinity" if of.term == "affinity":
            return _with_sources(of, there)
        case "Spread" if of.domain:
            of = structs.replace(of, tainted=_tainted(of, there)) if of.emptiest else of
            return _with_counted(of, there)
        case "Volume":
            return _with_labels(of, there)
        case "Resource":
            short = [one for one in same if isinstance(one, ResourceShort)]
            return _with_users(_with_parts(of, names, there), short, names, there)
    return structs.replace(of, state=there.state_of(of.pod)) if of.pod else of


def _with_sources(of: NodeObstacle, there: OnNodes) -> NodeObstacle:
    """Return what an affinity term lacks: finished pods do not count, and others may wait or not be created."""
    of = structs.replace(of, finished=_finished(of.selector, there)) if of.selector else of
    term = there.selected.term(of.topology_key, of.selector)
    if term is None or of.nowhere or not there.selected.is_nowhere(term):
        return of
    sources = there.selected.sources(term)
    near = there.selected.near(term) if not (sources or of.finished or of.elsewhere) else ""
    return structs.replace(of, absent=True, sources=sources, near=near)


def _with_counted(of: NodeObstacle, there: OnNodes) -> NodeObstacle:
    """Return whose pods a spread constraint of the pod counts in the domain, unless all are of the pod's workload."""
    constraint = there.selected.constraint(of.topology_key, of.selector)
    if constraint is None:
        return of
    counted = there.selected.counted(constraint, of.domain, of.pods)
    excludes_itself = not constraint.selects(there.pod, there.pod.metadata.namespace)
    return structs.replace(of, counted=counted, excludes_itself=excludes_itself)


def _with_labels(of: NodeObstacle, there: OnNodes) -> NodeObstacle:
    """Return what a volume requires of nodes, or the StorageClass that waits for the pod to make it."""
    for one in there.volume_claims:
        if one.name == of.claim and not one.nowhere and (one.volume or one.waits):
            return structs.replace(of, values=one.labels, storage_class="" if one.volume else one.storage_class)
    return of


def _with_taint(of: NodeObstacle, nodes: Sequence[Node], there: OnNodes) -> NodeObstacle:
    taint = of.taint
    if taint is None:
        return of
    of = structs.replace(of, more_taints=_more_taints(taint, nodes, there.pod))
    if taint.key == NODE_NOT_READY:
        messages = {_unready_message(node) for node in nodes}
        return structs.replace(of, message=messages.pop()) if len(messages) == 1 else of
    if taint.key.endswith(NOT_READY):
        return structs.replace(of, agent=there.drivers.agent_on(taint.key, nodes[0].metadata.name))
    if is_of_condition(taint.key):
        return of  # that every pod tolerates some of these for a while says nothing
    tolerations, keys = there.pod.spec.tolerations, CONTROL_PLANE if of.is_reserved else (taint.key,)
    near = (near_toleration(tolerations, key) for key in keys)
    return structs.replace(of, near=next(filter(None, near), ""))


def _more_taints(first: TaintName, nodes: Sequence[Node], pod: Pod) -> list[TaintName]:
    """Return the other taints of all these nodes that the pod does not tolerate.

    A cordon's taint is left out, and so are those that say the same about the state of the node as the first one.
    """
    alike = {UNSCHEDULABLE.key, *([first.key] if is_of_condition(first.key) else [])}
    keeping = [
        [
            TaintName(key=one.key, value=one.value, effect=one.effect)
            for one in node.spec.taints
            if one.effect in BLOCKING and one.key not in alike and not tolerated(one, pod.spec.tolerations)
        ]
        for node in nodes
    ]
    return [one for one in keeping[0] if one != first and all(one in each for each in keeping)]


def _with_parts(of: NodeObstacle, names: Sequence[str], there: OnNodes) -> NodeObstacle:
    """Return what is short with the parts of the request, and with what the device plugin of a node lacks."""
    nodes = [there.nodes[name] for name in names]
    if of.resource == PODS:
        limits = {(node.status.allocatable or node.status.capacity or {}).get(PODS, "") for node in nodes}
        of = structs.replace(of, room=limits.pop()) if len(limits) == 1 else of
        return structs.replace(of, finished=[*islice(_finished_on(names, there), 1)])
    asked = there.set_elsewhere.amount_of(of.resource)
    own = parts(there.pod, of.resource, there.limit_ranges)
    of = structs.replace(of, parts=[*own, *([asked] if asked else [])])
    has = (nodes[0].status.capacity or {}).get(of.resource, "0")
    if "/" not in of.resource or has == "0":
        return of
    is_less = len(nodes) == 1 and quantity.parse(has) > quantity.parse(of.room)
    return structs.replace(of, unhealthy=has) if of.room == "0" or is_less else of


def _unready_message(node: Node) -> str:
    """Return why the kubelet says that its node is not ready: of a chain of messages, the innermost."""
    ready = next((one for one in node.status.conditions if one.type == "Ready" and one.status == "False"), None)
    return _INNERMOST.sub("", ready.message).strip() if ready is not None else ""


_INNERMOST = re.compile(r".*\bmessage:", re.DOTALL)


def _tainted(of: NodeObstacle, there: OnNodes) -> int:
    """Return the number of nodes in the emptiest domain of a spread, if the pod tolerates none of them."""
    domain = [node for node in there.nodes.values() if (node.metadata.labels or {}).get(of.topology_key) == of.emptiest]
    tolerations = there.pod.spec.tolerations
    return len(domain) if all(untolerated(node.spec.taints, tolerations) for node in domain) else 0


def _finished(selector: str, there: OnNodes) -> list[str]:
    """Return the pods that the term would select if they had not finished."""
    wanted, namespace = parse_selector(selector), there.pod.metadata.namespace
    own = [pod for pod in there.finished.values() if pod.metadata.namespace == namespace]
    return [pod.key for pod in own if labels_match(wanted, pod.metadata.labels)]


def _finished_on(names: Sequence[str], there: OnNodes) -> Iterator[str]:
    """Yield the finished pods that were on these nodes, and that kubectl still lists."""
    nodes = {*names}
    return (key for key, pod in there.finished.items() if pod.spec.node_name in nodes)


def _asks(pod: Pod, resource: str) -> bool:
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return any(resource in one.resources.requests or resource in one.resources.limits for one in containers)


# -- users -------------------------------------------------------------------------------------------------------------


def _free(run: VerdictRun, short: ResourceShort, node: str) -> int:
    """Return what is free on the node without the pods that are nominated to it."""
    return short.room - sum(_asked(info, short.resource) for info in run.infos_on(node))


def _asked(info: PodInfo, resource: str) -> int:
    return 1 if resource == PODS else info.placed_requests.get(resource, 0)


def _with_users(of: NodeObstacle, same: Sequence[ResourceShort], names: Sequence[str], there: OnNodes) -> NodeObstacle:
    """Return the obstacle with the pods that have the resource on the node with the most left.

    If pods that come first are nominated to it, these are named and what is free without them. Otherwise, a few nodes
    that differ come with the users on each.
    """
    at = max(range(len(same)), key=lambda each: same[each].left)
    short, node = same[at], names[at]
    if short.room < short.asked:
        return of
    on = node if len(names) > 1 else ""
    promised = there.run.nominated(node, there.pod)
    free = _free(there.run, short, node)
    taken = sum(info.requests.get(short.resource, 0) for info in promised)
    if taken and max(0, free - taken) == short.left < free:
        users = [_user(info, info.requests.get(short.resource, 0), short.resource, there) for info in promised]
        return structs.replace(of, promised=users, free=amount_text(short.resource, free), on=on)
    of = structs.replace(of, **_taken(short, node, there), on=on)
    if len(names) > MOST_EACH or of.resource == PODS:
        return of
    shares = [
        NodeShare(node=name, left=amount_text(one.resource, one.left), **_taken(one, name, there))
        for one, name in sorted(zip(same, names, strict=True), key=lambda each: -each[0].left)
    ]
    return structs.replace(of, each=differing(shares))


def differing(shares: Iterable[NodeShare]) -> list[NodeShare]:
    """Return what the nodes have left, if they differ in more than their names and those of their devices."""
    shares = list(shares)
    alike = [
        structs.replace(one, node="", removed=[structs.replace(each, examples=[]) for each in one.removed])
        for one in shares
    ]
    return shares if any(one != alike[0] for one in alike) else []


def _taken(short: ResourceShort, node: str, there: OnNodes) -> dict[str, Any]:
    """Return the fields that name who has the resource of a node.

    Of an extended resource all users are named, and of other resources the one or two pods with the largest requests,
    if the pod would fit without them and they do not belong to the node.
    """
    if "/" in short.resource:
        pods = [info.pod for info in there.run.infos_on(node) if _asked(info, short.resource)]
        return {"holders": [pod.key for pod in pods], "holders_of": _workload_of(pods, there)}
    return {"users": [*_users(short, node, there)]}


def _workload_of(pods: Sequence[Pod], there: OnNodes) -> str:
    """Return the workload to which all of these pods belong, as NAMESPACE/NAME, or "" if there is no such workload."""
    owners = {(pod.metadata.namespace, *there.selected.owner(pod)) for pod in pods}
    if len(owners) != 1:
        return ""
    namespace, kind, name = owners.pop()
    return f"{namespace}/{name}" if kind != POD else ""


def _users(short: ResourceShort, node: str, there: OnNodes) -> Iterator[ResourceUser]:
    """Yield the largest users of the resource, as many as would have to go, or none if that is too many."""
    asked = [(_asked(info, short.resource), info) for info in there.run.infos_on(node)]
    movable = [each for each in asked if each[0] and why_it_stays(each[1].pod) not in ("DaemonSet", "Static")]
    largest = sorted(movable, key=lambda each: (-each[0], each[1].pod.key))[:MOST_USERS]
    missing, told = short.asked - short.left, list[ResourceUser]()
    for amount, info in largest:
        told.append(_user(info, amount, short.resource, there))
        missing -= amount
        if missing <= 0:
            yield from told
            return


def _user(info: PodInfo, amount: int, resource: str, there: OnNodes) -> ResourceUser:
    state, priority = there.state_of(info.pod.key), there.run.priority(info.pod)
    return ResourceUser(pod=info.pod.key, amount=amount_text(resource, amount), priority=priority, state=state)
