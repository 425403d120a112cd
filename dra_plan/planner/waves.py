"""Evict pods within their disruption budgets, and find the nodes of their replacements.

The first part chooses the pods to evict; the second part settles the cluster after the evictions. The callers decide
which pods have to leave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.budgets import counted, covers
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended, is_ready
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.simulate import SimulationResult

from .question import Chosen, Question
from .settling import SettledOutcome, settle_chosen

if TYPE_CHECKING:
    from dra_plan.controllers.settle import Settled

NOT_PLACED = "kube-scheduler leaves it alone"
"""The text for a pod that another scheduler would have to schedule."""


PodKey = tuple[str, str]
"""The namespace and name of a pod."""


def pod_key(pod: Pod) -> PodKey:
    """Return the namespace and name of the pod."""
    return pod.metadata.namespace, pod.metadata.name


def let_go(index: Index, leaving: Sequence[Pod]) -> tuple[list[Pod], str]:
    """Return the pods that the eviction API would evict now, one after another, and the first budget that blocks one.

    A pod that several budgets cover is never evicted. A pod that is not ready does not use up a budget.
    """
    budgets, left = index.inventory.disruption_budgets, dict[str, int]()
    going, kept = [], ""
    for pod in leaving:
        over = [each for each in budgets if covers(each, pod)]
        keys = [f"{each.metadata.namespace}/{each.metadata.name}" for each in over]
        for key, each in zip(keys, over, strict=True):
            if key not in left:
                left[key] = counted(each, index).status.disruptions_allowed
        if len(over) > 1 or any(left[key] <= 0 for key in keys):
            kept = kept or keys[0]
            continue
        for key in keys:
            left[key] -= is_ready(pod)
        going.append(pod)
    return going, kept


@dataclass(frozen=True)
class AtRest:
    """The settled cluster, and the records of the pods that existed before.

    The record of a replaced pod is that of its replacement.
    """

    inventory: Inventory
    records: Mapping[PodKey, PodRecord]
    outcome: SettledOutcome

    @property
    def evicts(self) -> bool:
        """Whether the scheduler preempted pods."""
        return bool(self.outcome.result.evictions)


def come_to_rest(
    inventory: Inventory,
    target: Target,
    question: Question,
    chosen: Chosen = lambda _pod: True,
    common: Common | None = None,
) -> AtRest:
    """Return the cluster after the scheduler and the controllers have settled.

    Only the chosen pods are scheduled; all other waiting pods keep waiting.
    """
    outcome = settle_chosen(inventory, target, question, chosen, common, ordered=True)
    after = _bound(inventory, outcome.result) if outcome.settled is None else _settled(inventory, outcome.settled)
    return AtRest(after, outcome.records(), outcome)


def _settled(inventory: Inventory, settled: Settled) -> Inventory:
    at_rest = settled.state.inventory
    return replace(inventory, pods=list(at_rest.pods), claims=list(at_rest.claims))


def _bound(inventory: Inventory, result: SimulationResult) -> Inventory:
    """Return the cluster with the scheduler's bindings; kubelets start the pods immediately."""
    nodes = {pod_key(one.pod): one for one in result.pods if one.node}
    pods = []
    for pod in inventory.pods:
        record = nodes.get(pod_key(pod))
        if record is None or pod.spec.node_name:
            pods.append(pod)
            continue
        spec = structs.replace(pod.spec, node_name=record.node)
        pods.append(structs.replace(record.pod, spec=spec, status=structs.replace(record.pod.status, phase="Running")))
    return replace(inventory, pods=pods, claims=list(result.claims))


LossReason = Literal["NoPlace", "NotMadeAnew", "NotKnown"]
"""Why a pod that had a node before has none now. NoPlace means that the replacement fits on no node, NotMadeAnew that
there is no replacement, and NotKnown that the replacement may fit, because a search was cut short or the deciding
objects are missing from the input.
"""


def without_place(before: Inventory, after: AtRest) -> Iterator[tuple[str, LossReason, str]]:
    """Yield the pods that ran before but are unscheduled afterwards, each with the reason and a message."""
    for pod in before.pods:
        if pod.spec.node_name and not ended(pod):
            record = after.records.get(pod_key(pod))
            if record is None:
                yield pod.key, "NotMadeAnew", ""
            elif not record.node:
                reason: LossReason = "NotKnown" if after.outcome.is_undecided(record) else "NoPlace"
                yield pod.key, reason, after.outcome.why(record) or NOT_PLACED


def devices_of(inventory: Inventory, pods: Collection[PodKey] | None = None) -> Mapping[PodKey, list[str]]:
    """Return the devices of each pod as DRIVER/POOL/DEVICE, optionally only for the given pods."""
    found: dict[PodKey, list[str]] = {}
    for claim in inventory.claims:
        for user in claim.reserved_for:
            key = claim.metadata.namespace, user.name
            if claim.allocation is not None and (pods is None or key in pods):
                names = [f"{one.driver}/{one.pool}/{one.device}" for one in claim.allocation.devices.results]
                found.setdefault(key, []).extend(names)
    return found
