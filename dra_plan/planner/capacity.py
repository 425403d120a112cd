"""`capacity`: how many copies of a pod there is room for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType, structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.workloads import AnyWorkload, CustomWorkload, pod_template
from dra_plan.claims.index import Index, missing_templates
from dra_plan.claims.owners import is_over, is_waiting, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.capacity import (
    CapacityDocument,
    CopiedOwner,
    MixCapacity,
    MixedShare,
    OwnerCapacity,
    PossibleCopies,
)
from dra_plan.documents.fleet import FleetFigures
from dra_plan.errors import UsageError
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.coverage import of_scheduler
from dra_plan.scheduler.refusals import Copies
from dra_plan.scheduler.simulation import Simulation

from . import completeness, notices
from .answer import PrintedAnswer, counted
from .capacity_count import Counting
from .capacity_fleet import Fleet
from .capacity_owners import OwnPods
from .capacity_possible import Share, possible
from .newfields import of_new_fields
from .nodes import with_nodes
from .ownernames import CLAIM, Known, find
from .question import Question

_Seeker = Callable[[Sequence[Share], tuple[Simulation, Sequence[Copies]]], PossibleCopies | None]
"""Asked for the best placement of copies, of which the scheduler bound so many."""

USUAL_LIMIT = 10_000
"""So many copies of a pod are tried at most, unless the user says otherwise."""


@dataclass(frozen=True)
class Copied:
    """A pod that is copied, and whose it is."""

    owner: CopiedOwner
    pod: Pod
    workload: AnyWorkload | None = None
    """What makes the pod; none for a pod by itself."""

    @classmethod
    def of_pod(cls, pod: Pod) -> Copied:
        """A pod, whatever has become of it: its copies are new."""
        return cls(CopiedOwner(kind="Pod", namespace=pod.metadata.namespace, name=pod.metadata.name), pod)

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
        part = workload.part if isinstance(workload, CustomWorkload) else ""
        return cls(
            CopiedOwner(kind=workload.kind, namespace=metadata.namespace, name=metadata.name, part=part), pod, workload
        )


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
    mix: MixCapacity | UnsetType = UNSET

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
            mix=self.mix,
            fleet=self.fleet,
            warnings=warnings(self.notices),
        )


def _shares(index: Index, copied: Sequence[Copied]) -> list[Share]:
    """The owners with the pods that are copied, under names of their own, and how many of them make a set."""
    names, found = set[tuple[str, str]](), []
    for each in copied:
        pod, maker = each.pod, each.workload
        while (pod.metadata.namespace, pod.metadata.name) in names:
            metadata = structs.replace(pod.metadata, name=f"{pod.metadata.name}-{each.owner.kind.lower()}")
            pod = structs.replace(pod, metadata=metadata)
        names.add((pod.metadata.namespace, pod.metadata.name))
        share = wanted(maker, list(index.dependent_pods.of(maker))).number if maker is not None else 1
        found.append((each.owner, pod, max(1, share)))
    least = math.gcd(*(share for _, _, share in found))
    return [(owner, pod, share // least) for owner, pod, share in found]


def count_copies(
    inventory: Inventory,
    target: Target,
    copied: Sequence[Copied],
    question: Question,
    *,
    limit: int = USUAL_LIMIT,
    mix: bool = False,
    seeks: bool | None = None,
) -> CapacityPlan:
    """Counts the copies of each pod on its own, beside the pods that are on nodes; those that wait stay aside.

    With `mix` all pods are counted together, in the proportion of their owners' replicas. Where it `seeks` what is
    possible at best, that is done thoroughly; by itself in a few seconds, and not for a mix.

    Raises InputError for an input without nodes, UsageError for a limit below 1.
    """
    if limit < 1:
        raise UsageError(f"limit: {limit} is no number of copies: at least 1")
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    view = View.of(inventory, target)
    fleet = Fleet(view, inventory.nodes)
    index = Index(inventory)
    own = OwnPods(index)
    counting = Counting(inventory, view, fleet, question.max_steps, limit)

    def seek(shares: Sequence[Share], scheduled: tuple[Simulation, Sequence[Copies]]) -> PossibleCopies | None:
        if seeks is False or (seeks is None and mix):
            return None
        sets = max(1, limit // sum(share for _, _, share in shares))
        thorough = seeks is True or question.max_steps is not None
        return possible(inventory, view, shares, scheduled, sets, question.max_steps, thorough=thorough)

    together: MixCapacity | UnsetType = UNSET
    if mix and copied:
        items, together = _mixed(counting, seek, _shares(index, copied), own)
    else:
        items = [_alone(counting, seek, each.owner, each.pod, own) for each in copied]
    told = (
        *notices.of_target(target, inventory.nodes),
        *(told for each in copied for told in of_scheduler(target, inventory, [PodRecord(each.pod, attempts=1)])),
        *inventory.notices,
        *inferred,
        *of_new_fields(inventory, target),
        *completeness.of_devices(inventory),
        *missing_templates(((Owner(e.owner.kind, e.owner.namespace, e.owner.name), e.pod) for e in copied), index),
        *completeness.of_preemption(inventory, evicts=False),
    )
    return CapacityPlan(target, limit, tuple(items), fleet.figures(), told, together)


def _mixed(
    counting: Counting, seeker: _Seeker, shares: Sequence[Share], own: OwnPods
) -> tuple[list[OwnerCapacity], MixCapacity]:
    claims = own.claims([owner for owner, _, _ in shares])
    simulation, counts = counting.mixed([(pod, share) for _, pod, share in shares], claims)
    items = [
        OwnerCapacity(
            owner=owner, replicas=own.replicas(owner), scheduled=scheduled, possible=None, next_copy=following
        )
        for (owner, _, _), (_, scheduled, following) in zip(shares, counts, strict=True)
    ]
    evicts = any(item.scheduled.evicted for item in items)
    return items, MixCapacity(
        shares=[MixedShare(owner=owner, copies=share) for owner, _, share in shares],
        sets=min(item.scheduled.copies // share for item, (_, _, share) in zip(items, shares, strict=True)),
        possible=None if evicts else seeker(shares, (simulation, [copies for copies, _, _ in counts])),
    )


def _alone(counting: Counting, seeker: _Seeker, owner: CopiedOwner, pod: Pod, own: OwnPods) -> OwnerCapacity:
    simulation, (copies, scheduled, following) = counting.alone(pod, own.claims([owner]))
    best = None if scheduled.evicted else seeker([(owner, pod, 1)], (simulation, [copies]))
    return OwnerCapacity(
        owner=owner, replicas=own.replicas(owner), scheduled=scheduled, possible=best, next_copy=following
    )
