"""`explain`: the removal of a running pod that uses resources or a host port, so that a pending pod fits.

Pods that belong to their node, are being deleted or have a higher priority are not removed. Of the others, those with
the smallest requests are tried first. The pod that its controller creates instead is part of the trial.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.documents.cluster_changes import ClaimReleased, PodsGone
from dra_plan.documents.node_obstacles import NodeObstacle, RefusingNodes
from dra_plan.documents.suggestions import SuggestedChange, TriedChanges
from dra_plan.explanation.suggest import patches
from dra_plan.questions.explain.editing import Remedy
from dra_plan.questions.explain.staying import why_it_stays
from dra_plan.scheduler.cluster.nodes import PodInfo
from dra_plan.scheduler.cluster.pod_requests import Amounts, amounts, pod_requests

MOST_GROUPS = 4
"""The maximum number of kinds of nodes on which pods to remove are searched for."""

MOST_REMOVED = 2
"""The maximum number of pods whose removal is tried, each separately. They have different controllers."""

MOST_RESTARTS = 8
"""The number of claims that could be released for which the deletion of their pods is tried."""

_PODS = "pods"

Port = tuple[str, int]
"""The protocol and number of a host port."""


class _ToFree(NamedTuple):
    """What a pod on a node has to give up: the place of the node's kind, its other obstacles, amounts and ports."""

    at: int
    others: int
    lack: Amounts
    ports: frozenset[Port]

    def is_given_by(self, pod: Pod) -> bool:
        """Return whether the pod has all of it."""
        requests = pod_requests(pod) if self.lack else {}
        if requests is None or any(requests.get(name, 0) < number for name, number in self.lack.items()):
            return False
        return not self.ports or self.ports <= {(protocol, port) for protocol, _, port in PodInfo(pod).ports}

    def amounts_of(self, pod: Pod) -> list[tuple[str, int]]:
        """Return what the pod requests of the short resources."""
        requests = pod_requests(pod) or {}
        return [(name, requests.get(name, 0)) for name in sorted(self.lack)]


def removals(
    index: Index,
    groups: Sequence[tuple[RefusingNodes, list[NodeObstacle]]],
    priority: int,
    siblings: Collection[str],
) -> Iterator[tuple[int, Remedy]]:
    """Yield the removal of a pod, with the index of its node's group. The pod is deleted or moves to another node.

    `groups` are kinds of nodes with their obstacles. Removals that leave no other obstacle come first, and then pods
    with the smallest requests. Pods of the same workload (`siblings`, as NAMESPACE/NAME) come last.
    """
    wanted: dict[str, _ToFree] = {}
    short = [at for at, (_, obstacles) in enumerate(groups) if any(map(is_of_pods, obstacles))]
    for at in short[:MOST_GROUPS]:
        group, obstacles = groups[at]
        given = [one for one in obstacles if is_of_pods(one)]
        ports = frozenset((one.protocol, one.port) for one in given if one.kind == "Port")
        amount = _lack([one for one in given if one.kind == "Resource"])
        wanted |= dict.fromkeys(group.nodes, _ToFree(at, len(obstacles) - len(given), amount, ports))
    if not wanted:
        return
    inventory = index.inventory
    classes = {one.metadata.name: one.value for one in inventory.priority_classes}
    found = [
        (pod.key in siblings, needs.others, needs.amounts_of(pod), pod.key, needs.at, pod)
        for pod in inventory.pods
        if (needs := wanted.get(pod.spec.node_name)) is not None
        and _may_go(pod)
        and priority_of(pod, classes) <= priority
        and needs.is_given_by(pod)
    ]
    first: dict[object, tuple[int, Pod]] = {}
    for *_, at, pod in sorted(found, key=lambda each: each[:4]):
        maker = pod.metadata.controller
        first.setdefault(
            (at, pod.metadata.namespace, maker.kind, maker.name) if maker is not None else pod.key, (at, pod)
        )
    for at, pod in islice(first.values(), MOST_REMOVED):
        yield at, _gone(pod, index)


def priority_of(pod: Pod, classes: dict[str, int]) -> int:
    """Return the pod's priority.

    It comes from the PriorityClass if the API server has not set it.
    """
    return pod.spec.priority if pod.spec.priority is not None else classes.get(pod.spec.priority_class_name, 0)


def is_of_pods(one: NodeObstacle) -> bool:
    """Return whether fewer pods on the nodes would remove the obstacle, which is a resource or a host port."""
    return one.kind == "Port" or (one.kind == "Resource" and not one.never and one.resource != _PODS)


def _lack(short: Sequence[NodeObstacle]) -> Amounts:
    """Return what the node with the most left lacks."""
    need = amounts({one.resource: one.need for one in short})
    left = amounts({one.resource: one.left or "0" for one in short})
    return {name: need[name] - left[name] for name in need}


def _may_go(pod: Pod) -> bool:
    return not ended(pod) and why_it_stays(pod) in (None, "NoController")


def _gone(pod: Pod, index: Index) -> Remedy:
    stays = "NoController" if why_it_stays(pod) == "NoController" else ""
    told = PodsGone(code="remove-pods", pods=[pod.key], on=pod.spec.node_name, stays=stays)
    return _replaced([pod], told, index)


def _replaced(pods: Sequence[Pod], told: PodsGone, index: Index) -> Remedy:
    """Return the deletion of the pods, and of the claims that the API server deletes with them."""
    from dra_plan.whatif.edits import generated_claims, replaced  # few inputs have such pods: start-up time matters

    def apply(of: Inventory) -> Inventory:
        return replaced(of, pods, index if index.inventory is of else Index(of)).inventory

    claims = patches.claim_deletions(sorted(generated_claims(index, pods)))
    return Remedy((told,), apply, patches=(*patches.deletions(told.pods), *claims))


# -- claims that are released ------------------------------------------------------------------------------------------


def restarted(changes: Sequence[SuggestedChange], index: Index) -> Remedy | None:
    """Return the deletion of the pods that use a claim, if its release is the only change, and all are recreated."""
    released = changes[0] if len(changes) == 1 else None
    if not isinstance(released, ClaimReleased) or not released.pods:
        return None
    names = {f"{released.release.namespace}/{name}" for name in released.pods}
    pods = [pod for pod in index.inventory.pods if pod.key in names]
    nodes = {pod.spec.node_name for pod in pods}
    if len(pods) < len(names) or len(nodes) != 1 or "" in nodes or any(map(why_it_stays, pods)):
        return None
    told = PodsGone(code="remove-pods", pods=[pod.key for pod in pods], on=nodes.pop())
    return _replaced(pods, told, index)


def with_restart(release: TriedChanges, tried: TriedChanges) -> TriedChanges:
    """Return the result for the pods of a claim: all are restarted, or the release says that one would have no node."""
    [gone], [released] = tried.changes, release.changes
    if isinstance(gone, PodsGone) and isinstance(released, ClaimReleased):
        if gone.code == "restart-pods":
            return tried
        if gone.stays == "WithoutPlace":
            return structs.replace(release, changes=[structs.replace(released, stays=gone.stays)])
    return release
