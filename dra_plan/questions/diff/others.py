"""Which other pods made a pod lose or get its node, found by scheduling one of the states without some pods.

Pods that lost or got a node are examined before pods that only move. Of several equal pods, only one is examined. The
total cost is limited to a few runs of the scheduler.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence

import msgspec
from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.documents.base import ObjectName
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.settling import simulation_of
from dra_plan.questions.diff.differences import PodKey
from dra_plan.questions.diff.document import ChangedPod, ComparedPod
from dra_plan.questions.schedule.answer import SchedulePlan, choice
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.simulation import Simulation

Place = tuple[str | None, list[str]]
"""A pod's node, and its devices as DRIVER/POOL/DEVICE in sorted order."""


CYCLE = 10
"""The cost of scheduling one pod, in a unit in which each existing node and pod costs 1."""


class AskedState:
    """One of the two states, which can be scheduled again without some of its pending pods.

    `spent` is the total cost so far.
    """

    def __init__(self, inventory: Inventory, view: View, plan: SchedulePlan, question: Question) -> None:
        self._inventory, self._view, self._question = inventory, view, question
        self._index = Index(inventory)
        self._common = Common()
        self._pods = {_key(record.pod): record.pod for record in plan.outcome.pods}
        waiting = [record.pod for record in plan.outcome.pods if record.attempts]
        self._waiting = len(waiting)
        self._highest = max((pod.spec.priority or 0 for pod in waiting), default=0)
        self._in_groups = bool(plan.outcome.groups)
        self._size = len(inventory.nodes) + len(self._pods)
        self._kinds: dict[PodKey, Hashable] = {}
        self._alone: dict[Hashable, Place | None] = {}
        self.spent = 0

    @property
    def cost(self) -> int:
        """Return the cost of scheduling this state once."""
        return self._size + CYCLE * self._waiting

    def kind(self, key: PodKey) -> Hashable:
        """Return a key that is equal for pods that would get the same result if each were the only pending pod."""
        if key not in self._kinds:
            pod = self._pods.get(key)
            self._kinds[key] = key if pod is None else self._kind_of(pod)
        return self._kinds[key]

    def _kind_of(self, pod: Pod) -> Hashable:
        metadata, spec = pod.metadata, structs.replace(pod.spec, node_name="")
        made = [self._index.generated_claims.of(pod, entry.name) for entry in spec.resource_claims]
        claims = [(claim.spec, claim.allocation) for claim in made if claim is not None]
        volumes = [{name: value for name, value in each.items() if name != "name"} for each in spec.volumes]
        plain = (metadata.labels, structs.replace(spec, volumes=volumes), claims, pod.status.nominated_node_name)
        return metadata.namespace, msgspec.json.encode(plain, order="sorted")

    def alone(self, key: PodKey) -> Place | None:
        """Return the node and devices that the pod gets if no other pod is pending."""
        kind = self.kind(key)
        if kind not in self._alone:
            self._alone[kind] = self._asked(key, lambda pod: _key(pod) == key, 1)
        return self._alone[kind]

    def without(self, key: PodKey, others: Collection[PodKey]) -> Place | None:
        """Return the node and devices that the pod gets if the pods in `others` are not pending."""
        chosen = choice(self._inventory, self._view.target, self._question)
        return self._asked(key, lambda pod: chosen(pod) and _key(pod) not in others, self._waiting)

    def _asked(self, key: PodKey, chosen: Chosen, pods: int) -> Place | None:
        self.spent += self._size + CYCLE * pods
        target = self._view.target
        simulation = simulation_of(self._inventory, target, self._question, chosen, self._common, self._view)
        found = next((pod for pod in simulation.pods if _key(pod) == key), None)
        if found is None:
            return None
        record = simulation.scheduler.records.of(found)
        if not self._in_groups and (found.spec.priority or 0) >= self._highest:
            simulation.scheduler.enough = lambda: bool(record.node)  # no remaining pod could evict it
        simulation.start()
        return record.node or None, _devices(simulation, found)


def _key(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name


def _devices(simulation: Simulation, pod: Pod) -> list[str]:
    claims = simulation.cluster.claims.used_by([pod_uid(pod)])
    results = [result for each in claims if each.allocation is not None for result in each.allocation.devices.results]
    return sorted(f"{each.driver}/{each.pool}/{each.device}" for each in results)


MOST_SPENT = 5_000
"""A cost limit, in the unit of `CYCLE`."""


MOST_PASSES = 2
"""A cost limit, in runs of the scheduler. The larger of the two limits applies."""


def because_of_others(changed: Iterable[ChangedPod], before: AskedState, after: AskedState) -> list[ChangedPod]:
    """Return the changed pods, each with the other pods that caused its change.

    Another pod is a cause if it has the changed pod's devices in the other state, and if without it (or without all
    such pods) the changed pod gets the same result in both states. For each lost pod, the result also says whether it
    would be bound if no other pod were pending. Pods that end or are gated are not examined, because their reason is
    known. If several pods are equal, it is not explained which of them gets a node.
    """
    found = list(changed)
    most = max(MOST_SPENT, MOST_PASSES * (before.cost + after.cost))
    for at in sorted(range(len(found)), key=lambda at: found[at].change not in ("Lost", "Gained")):
        pod = found[at]
        takers, givers, alone = [], [], None
        if _is_open(pod) and before.spent + after.spent < most:
            if pod.change == "Lost" or pod.taken_by:
                alone = after.alone((pod.namespace, pod.name))
            takers = _reasons(pod, pod.taken_by, pod.before, after)
            givers = _reasons(pod, pod.freed_by, pod.after, before)
        fits_alone = pod.change == "Lost" and alone is not None and alone[0] is not None
        found[at] = structs.replace(pod, fits_alone=fits_alone, taken_by=takers, freed_by=givers)
    return found


def _is_open(pod: ChangedPod) -> bool:
    """Return whether other pods may be the reason."""
    ends = any(state is not None and state.ended is not None for state in (pod.before, pod.after))
    return not ends and (pod.after is None or pod.after.outcome not in ("Gated", "OverQuota", "Refused"))


def _reasons(
    pod: ChangedPod, others: Sequence[ObjectName], wanted: ComparedPod | None, state: AskedState
) -> list[ObjectName]:
    """Return the others if, without them or without all, the pod gets what it has in the other state."""
    if not others or wanted is None:
        return []
    key, names = (pod.namespace, pod.name), [(one.namespace, one.name) for one in others]
    place = wanted.node_name, sorted(wanted.devices)
    if state.alone(key) == place:
        return [*others]
    goes = pod.change in ("OtherNode", "OtherDevices")
    if goes and all(state.kind(name) == state.kind(key) for name in names):
        return []
    return [*others] if state.without(key, names) == place else []
