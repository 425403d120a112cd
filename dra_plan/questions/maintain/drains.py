"""One wave of a maintenance, in which nodes are cordoned, drained as far as budgets allow, and returned to service."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended, is_waiting
from dra_plan.planner.question import Question
from dra_plan.planner.waves import AtRest, come_to_rest, devices_of, pod_key, without_place
from dra_plan.questions.maintain.document import MovedPod, PodAndNode, Stop
from dra_plan.questions.maintain.given_back import GivenBack
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.whatif.edits import belongs_to_node, cordoned, replaced


@dataclass(frozen=True)
class DrainRules:
    """The settings that are the same for all waves, such as the target and the rules for evictions."""

    target: Target
    question: Question
    allows: Callable[[Index, Sequence[Pod]], tuple[list[Pod], str]]
    """Returns the pods that can be evicted now, and the budget that blocks the first of the remaining pods."""
    back: GivenBack = field(default_factory=GivenBack)
    common: Common = field(default_factory=Common)

    def at_rest(self, inventory: Inventory) -> AtRest:
        """Return the cluster after the scheduler and the controllers have settled."""
        return come_to_rest(inventory, self.target, self.question, common=self.common)


@dataclass(frozen=True)
class Done:
    """The cluster after a wave."""

    inventory: Inventory
    moved: tuple[MovedPod, ...]


def wave(given: DrainRules, inventory: Inventory, names: Sequence[str]) -> Done | Stop:
    """Return the cluster after these nodes have been drained and returned, or the point at which the drain stops.

    Pods are evicted in rounds, as budgets allow. After each round, the scheduler places the recreated pods. As with
    kubectl, a pod that tolerates the cordon and returns to the node may stay there.
    """
    wanted = set(names)
    nodes = [cordoned(node) if node.metadata.name in wanted else node for node in inventory.nodes]
    now, moved = replace(inventory, nodes=nodes), list[MovedPod]()
    waiting = {pod_key(pod) for pod in leaving(inventory, wanted)}
    while waiting:
        left = [pod for pod in leaving(now, wanted) if pod_key(pod) in waiting]
        if not left:
            break
        index = Index(now)
        going, budget = given.allows(index, left)
        if not going:
            return Stop(node=left[0].spec.node_name, done=[], pod=left[0].key, reason="Budget", budget=budget)
        after = given.at_rest(replaced(now, going, index).inventory)
        lost = next(without_place(now, after), None)
        if lost is not None:
            pod, reason, message = lost
            taken = started(now, after.inventory)
            node = going[0].spec.node_name
            placed_now = [each for each in going if after.records.get(pod_key(each)) is not None]
            gone = [*moved, *(one for one in _moves(placed_now, after) if one.to_node)]
            namespace, _, name = pod.partition("/")
            record = after.records.get((namespace, name))
            room = reason == "NoPlace" and record is not None and after.outcome.lacks_room(record)
            return Stop(
                node=node, done=[], pod=pod, reason=reason, message=message, lacks_room=room, started=taken, moved=gone
            )
        moved += _moves(going, after)
        waiting.difference_update(map(pod_key, going))
        now = after.inventory
    return _given_back(given, replace(now, nodes=inventory.nodes), names, moved)


def _given_back(given: DrainRules, drained: Inventory, names: Sequence[str], moved: list[MovedPod]) -> Done | Stop:
    """Return the cluster once the nodes have returned to service.

    A pod that stayed on its node (of a DaemonSet) is recreated there if some of its devices do not return.
    """
    now = given.back.after(drained, names)
    staying = list(_without_devices(drained, now, set(names)))
    if not staying:
        return Done(now, tuple(moved))
    after = given.at_rest(replaced(now, staying, Index(now)).inventory)
    for pod, reason, message in without_place(now, after):
        node = next((each.spec.node_name for each in staying if each.key == pod), names[0])
        stays = reason == "NoPlace" and any(each.key == pod for each in staying)
        return Stop(node=node, done=[], pod=pod, reason="NoNewDevices" if stays else reason, message=message)
    return Done(after.inventory, (*moved, *_moves(staying, after)))


def _without_devices(before: Inventory, now: Inventory, names: set[str]) -> Iterator[Pod]:
    """Yield the pods that stayed on these nodes and have a device that is no longer published."""
    if before.slices is now.slices:
        return
    gone = _published(before) - _published(now)
    devices = devices_of(before) if gone else {}
    for pod in now.pods:
        stays = pod.spec.node_name in names and not ended(pod) and belongs_to_node(pod)
        if stays and not gone.isdisjoint(devices.get(pod_key(pod), ())):
            yield pod


def _published(inventory: Inventory) -> set[str]:
    return {
        f"{each.spec.driver}/{each.spec.pool.name}/{device.name}"
        for each in inventory.slices
        for device in each.spec.devices
    }


def started(before: Inventory, after: Inventory) -> list[PodAndNode]:
    """Return the pods that are pending in `before` and have a node in `after`."""
    waited = {pod_key(pod) for pod in before.pods if is_waiting(pod)}
    return [placed(pod) for pod in after.pods if pod.spec.node_name and pod_key(pod) in waited]


def placed(pod: Pod) -> PodAndNode:
    """Return the document's entry for a pod and its node."""
    return PodAndNode(namespace=pod.metadata.namespace, name=pod.metadata.name, node=pod.spec.node_name)


def leaving(inventory: Inventory, names: set[str]) -> Iterator[Pod]:
    """Yield the pods that are terminated when these nodes are drained."""
    for pod in inventory.pods:
        if pod.spec.node_name in names and not ended(pod) and not belongs_to_node(pod):
            yield pod


def _moves(going: Sequence[Pod], after: AtRest) -> Iterator[MovedPod]:
    devices = devices_of(after.inventory)
    for pod in going:
        record = after.records[pod_key(pod)]
        yield MovedPod(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            from_node=pod.spec.node_name,
            to_node=record.node,
            devices=devices.get(pod_key(record.pod), []),
        )
