"""One wave of a maintenance: nodes are cordoned, their pods evicted as budgets allow, and the nodes given back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.budgets import counted, covers
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended, is_ready
from dra_plan.planner.question import Question
from dra_plan.planner.settling import settle_chosen
from dra_plan.questions.maintain.document import MovedPod, Stop, StopReason
from dra_plan.questions.maintain.given_back import GivenBack
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.simulate import SimulationResult
from dra_plan.whatif.edits import belongs_to_node, cordoned, replaced

NOT_PLACED = "kube-scheduler leaves it alone"
"""What is said of a pod that another scheduler would have to place."""


Key = tuple[str, str]
"""Namespace and name of a pod."""


@dataclass(frozen=True)
class DrainRules:
    """What stays the same over all waves."""

    target: Target
    question: Question
    allows: Callable[[Index, Sequence[Pod]], tuple[list[Pod], str]]
    """Of the pods that have to go, those that budgets let go now, and the budget that keeps the first of the others."""
    back: GivenBack = field(default_factory=GivenBack)


@dataclass(frozen=True)
class Done:
    """The cluster after a wave."""

    inventory: Inventory
    moved: tuple[MovedPod, ...]


def let_go(index: Index, leaving: Sequence[Pod]) -> tuple[list[Pod], str]:
    """The pods that the eviction API lets go now, one after the other, and the budget that keeps the first that stays.

    A pod under several budgets never goes. One that is not ready counts for no budget.
    """
    budgets = [counted(budget, index) for budget in index.inventory.disruption_budgets]
    left = {(each.metadata.namespace, each.metadata.name): each.status.disruptions_allowed for each in budgets}
    going, kept = [], ""
    for pod in leaving:
        over = [(each.metadata.namespace, each.metadata.name) for each in budgets if covers(each, pod)]
        if len(over) > 1 or any(left[key] <= 0 for key in over):
            kept = kept or "/".join(over[0])
            continue
        for key in over:
            left[key] -= is_ready(pod)
        going.append(pod)
    return going, kept


def wave(given: DrainRules, inventory: Inventory, names: Sequence[str]) -> Done | Stop:
    """The cluster with these nodes drained and given back, or where that stops.

    Every round evicts what budgets allow of the pods that were there, and lets the scheduler place what comes back
    before the next; a pod that comes back to the node, as it tolerates the cordon, stays, as with kubectl.
    """
    wanted = set(names)
    nodes = [cordoned(node) if node.metadata.name in wanted else node for node in inventory.nodes]
    now, moved = replace(inventory, nodes=nodes), list[MovedPod]()
    waiting = {_key(pod) for pod in _leaving(inventory, wanted)}
    while waiting:
        leaving = [pod for pod in _leaving(now, wanted) if _key(pod) in waiting]
        if not leaving:
            break
        index = Index(now)
        going, budget = given.allows(index, leaving)
        if not going:
            return Stop(node=leaving[0].spec.node_name, done=[], pod=leaving[0].key, reason="Budget", budget=budget)
        after = _placed(given, replaced(now, going, index).inventory)
        lost = next(_without_place(now, after), None)
        if lost is not None:
            pod, reason, message = lost
            return Stop(node=going[0].spec.node_name, done=[], pod=pod, reason=reason, message=message)
        moved += _moves(going, after)
        waiting.difference_update(map(_key, going))
        now = after.inventory
    return Done(given.back.after(replace(now, nodes=inventory.nodes), names), tuple(moved))


def _leaving(inventory: Inventory, names: set[str]) -> Iterator[Pod]:
    for pod in inventory.pods:
        if pod.spec.node_name in names and not ended(pod) and not belongs_to_node(pod):
            yield pod


@dataclass(frozen=True)
class _Placed:
    """The cluster at rest, and what became of the pods that were there, be it that of another name in their place."""

    inventory: Inventory
    records: Mapping[Key, PodRecord]


def _placed(given: DrainRules, inventory: Inventory) -> _Placed:
    """The cluster after scheduler and controllers have come to rest."""
    outcome = settle_chosen(inventory, given.target, given.question, lambda _pod: True, ordered=True)
    if outcome.settled is None:
        return _Placed(_bound(inventory, outcome.result), outcome.records())
    at_rest = outcome.settled.state.inventory
    return _Placed(replace(inventory, pods=list(at_rest.pods), claims=list(at_rest.claims)), outcome.records())


def _bound(inventory: Inventory, result: SimulationResult) -> Inventory:
    """The cluster with what the scheduler has bound; a kubelet starts it at once."""
    nodes = {_key(one.pod): one for one in result.pods if one.node}
    pods = []
    for pod in inventory.pods:
        record = nodes.get(_key(pod))
        if record is None or pod.spec.node_name:
            pods.append(pod)
            continue
        spec = structs.replace(pod.spec, node_name=record.node)
        pods.append(structs.replace(record.pod, spec=spec, status=structs.replace(record.pod.status, phase="Running")))
    return replace(inventory, pods=pods, claims=list(result.claims))


def _without_place(before: Inventory, after: _Placed) -> Iterator[tuple[str, StopReason, str]]:
    """The pods that ran before and have no node after, with what the scheduler says."""
    for pod in before.pods:
        if pod.spec.node_name and not ended(pod):
            record = after.records.get(_key(pod))
            if record is None:
                yield pod.key, "NotMadeAnew", ""
            elif not record.node:
                yield pod.key, "NoPlace", record.message or record.waiting or NOT_PLACED


def _moves(going: Sequence[Pod], after: _Placed) -> Iterator[MovedPod]:
    devices: dict[Key, list[str]] = {}
    for claim in after.inventory.claims:
        if claim.allocation is not None and claim.status is not None:
            names = [f"{one.driver}/{one.pool}/{one.device}" for one in claim.allocation.devices.results]
            for user in claim.status.reserved_for:
                devices.setdefault((claim.metadata.namespace, user.name), []).extend(names)
    for pod in going:
        record = after.records[_key(pod)]
        yield MovedPod(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            from_node=pod.spec.node_name,
            to_node=record.node,
            devices=devices.get(_key(record.pod), []),
        )


def _key(pod: Pod) -> Key:
    return pod.metadata.namespace, pod.metadata.name
