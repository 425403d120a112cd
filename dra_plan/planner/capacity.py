"""`capacity`: how many copies of a pod there is room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.notice import Notice
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.claimsets.index import Index
from dra_plan.claimsets.podstate import is_waiting
from dra_plan.claimsets.replicas import is_over
from dra_plan.documents.base import ObjectName, answer_target, warnings
from dra_plan.documents.capacity import CapacityDocument, NodeCopies, OwnerCapacity, ScheduledCopies
from dra_plan.documents.fleet import FleetFigures
from dra_plan.errors import UsageError
from dra_plan.planner import completeness, notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.capacity_fleet import Fleet
from dra_plan.planner.capacity_obstacles import next_copy
from dra_plan.planner.newfields import of_new_fields
from dra_plan.planner.nodes import with_nodes
from dra_plan.planner.ownernames import CLAIM, Known, find
from dra_plan.planner.question import Question
from dra_plan.releases import Target
from dra_plan.scheduler.copies import Copies, create
from dra_plan.scheduler.coverage import of_scheduler
from dra_plan.scheduler.plugins.defaultpreemption import DefaultPreemption
from dra_plan.scheduler.podrecord import PodRecord
from dra_plan.scheduler.refusals import refusals
from dra_plan.scheduler.simulation import Simulation

USUAL_LIMIT = 10_000
"""So many copies of a pod are tried at most, unless the user says otherwise."""


@dataclass(frozen=True)
class Copied:
    """A pod that is copied, and whose it is."""

    owner: ObjectName
    pod: Pod

    @classmethod
    def of_pod(cls, pod: Pod) -> Copied:
        """A pod, whatever has become of it: its copies are new."""
        return cls(ObjectName(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name), pod)

    @classmethod
    def of_workload(cls, workload: AnyWorkload) -> Copied:
        """A pod as the workload makes them."""
        metadata, template = workload.metadata, pod_template(workload)
        pod = Pod(
            metadata=ObjectMeta(
                name=metadata.name,
                namespace=metadata.namespace,
                labels=template.metadata.labels,
                annotations=template.metadata.annotations,
            ),
            spec=template.spec,
        )
        return cls(ObjectName(kind=workload.kind, namespace=metadata.namespace, name=metadata.name), pod)


def choose_copied(inventory: Inventory, names: Sequence[str], namespace: str | None) -> list[Copied]:
    """The pods and workloads that the names mean, in the order of the input.

    Without names these are the pods that wait for a node, and the workloads, neither controlled by another object of
    the input. Raises UsageError for a name that nothing has, and for a claim.
    """
    index = Index(inventory)
    named = set(find(names, Known(inventory), namespace)) if names else None
    if named is not None and any(kind == CLAIM for kind, _, _ in named):
        raise UsageError("copies are made of pods and workloads: a claim alone takes no place on a node")

    def is_meant(found: Pod | AnyWorkload, *, waits: bool) -> bool:
        metadata = found.metadata
        if named is not None:
            return (found.kind, metadata.namespace, metadata.name) in named
        return waits and namespace in (None, metadata.namespace) and index.controllers.of(metadata) is None

    pods = (pod for pod in inventory.pods if is_meant(pod, waits=is_waiting(pod)))
    workloads = (each for each in inventory.workloads if is_meant(each, waits=not is_over(each)))
    return [*map(Copied.of_pod, pods), *map(Copied.of_workload, workloads)]


@dataclass(frozen=True, repr=False)
class CapacityPlan(PrintedAnswer[CapacityDocument]):
    """The answer of `capacity`: an item for each owner, which `for` goes through."""

    target: Target
    limit: int
    items: tuple[OwnerCapacity, ...]
    fleet: FleetFigures
    notices: tuple[Notice, ...] = ()

    def __iter__(self) -> Iterator[OwnerCapacity]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"<CapacityPlan for {self.target.version}: {counted(len(self), 'owner')}>"

    def _document(self) -> CapacityDocument:
        return CapacityDocument(
            target=answer_target(self.target),
            limit=self.limit,
            items=list(self.items),
            fleet=self.fleet,
            warnings=warnings(self.notices),
        )


def count_copies(
    inventory: Inventory, target: Target, copied: Sequence[Copied], question: Question, *, limit: int = USUAL_LIMIT
) -> CapacityPlan:
    """Counts the copies of each pod on its own, beside the pods that are on nodes; those that wait stay aside.

    Raises InputError for an input without nodes, UsageError for a limit below 1.
    """
    if limit < 1:
        raise UsageError(f"limit: {limit} is no number of copies: at least 1")
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    view = View.of(inventory, target)
    fleet = Fleet(view, inventory.nodes)
    items = tuple(_of_owner(inventory, target, each, question.max_steps, limit, fleet) for each in copied)
    told = (
        *notices.of_target(target, inventory.nodes),
        *(told for each in copied for told in of_scheduler(target, inventory, [PodRecord(each.pod, attempts=1)])),
        *inventory.notices,
        *inferred,
        *of_new_fields(inventory, target),
        *completeness.of_devices(inventory),
        *completeness.of_preemption(inventory, evicts=False),
    )
    return CapacityPlan(target, limit, items, fleet.figures(), told)


def _of_owner(
    inventory: Inventory, target: Target, copied: Copied, max_steps: int | None, limit: int, fleet: Fleet
) -> OwnerCapacity:
    simulation = Simulation(inventory, target=target, max_steps=max_steps, chosen=lambda _pod: False)
    simulation.start()
    copies = create(simulation, copied.pod, limit)
    scheduled = _told(copies, simulation)
    if copies.refused is None or scheduled.ended != "Unschedulable":
        if scheduled.ended in ("Limit", "Undecided"):
            fleet.cut_short()
        return OwnerCapacity(owner=copied.owner, scheduled=scheduled, next_copy=None)
    found = refusals(simulation, copies.refused.pod)
    fleet.ended(simulation.cluster.claims.state, found)
    numbers = {node.name: node.copies for node in scheduled.nodes}
    return OwnerCapacity(
        owner=copied.owner,
        scheduled=scheduled,
        next_copy=next_copy(simulation, copies.refused, found, numbers, max_steps),
    )


def _told(copies: Copies, simulation: Simulation) -> ScheduledCopies:
    numbers = Counter(record.node for record in copies.bound)
    nodes = [node.metadata.name for node in simulation.inventory.nodes if node.metadata.name in numbers]
    refused = copies.refused
    tried = [record.pod.key for record in copies.bound] + ([refused.pod.key] if refused is not None else [])
    unclear = {
        node for plugin in simulation.dynamic_resources for key in tried for node in plugin.undecided.get(key, ())
    }
    return ScheduledCopies(
        copies=len(copies.bound),
        nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
        ended="Undecided" if unclear and refused is not None else _end(copies),
        message=refused.message or refused.waiting or None if refused is not None else None,
        undecided_nodes=sorted(unclear),
        evicted=[
            ObjectName(kind="Pod", namespace=victim.metadata.namespace, name=victim.metadata.name)
            for plugin in simulation.plugins_of(DefaultPreemption)
            for _, victim, _ in plugin.evictions
        ],
    )


def _end(copies: Copies) -> str:
    if copies.refused is None:
        return "Limit"
    return "SchedulerError" if copies.refused.outcome == "Error" else copies.refused.outcome
