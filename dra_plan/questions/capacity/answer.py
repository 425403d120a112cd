"""`capacity`: how many more copies of each owner the scheduler binds, what stops it, and what is possible at best."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from msgspec import UNSET, UnsetType, structs

from dra_plan import allotted
from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import AllocationResult
from dra_plan.api.workloads import AnyWorkload, CronJob, CustomWorkload, pod_template
from dra_plan.claims.index import Index, missing_templates
from dra_plan.claims.owners import is_over, is_waiting, missing, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.base import DeviceName, ObjectName, answer_target, warnings
from dra_plan.documents.obstacles import NextCopy
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.errors import UsageError
from dra_plan.placement.limits import StepBudget
from dra_plan.placement.node_kinds import UnverifiedPlacementError
from dra_plan.placement.search import seek_copies
from dra_plan.placement.solver import SolverMissingError
from dra_plan.planner import notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.bystanders import of_bystanders
from dra_plan.planner.carried_out import carried_out
from dra_plan.planner.creation import has_quotas
from dra_plan.planner.nodes import of_devices, of_preemption, with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.obstacles import next_copy
from dra_plan.planner.owners import CLAIM, Known, find
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.refused import OwnerRefusals, RefusedOwner, entries
from dra_plan.planner.settling import outlook_of
from dra_plan.planner.twice import of_devices_twice
from dra_plan.questions.capacity.document import (
    CapacityDocument,
    CopiedOwner,
    FleetFigures,
    MixCapacity,
    MixedShare,
    NodeCopies,
    OwnerCapacity,
    OwnerReplicas,
    PlacedCopy,
    PossibleCopies,
    ScheduledCopies,
)
from dra_plan.questions.capacity.fleet import Fleet
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.coverage import of_scheduler
from dra_plan.scheduler.new_pods import new_pods
from dra_plan.scheduler.plugins.default_preemption import DefaultPreemption
from dra_plan.scheduler.refusals import Copies, copy_of, create_in_proportion, refusals
from dra_plan.scheduler.simulate import result_of
from dra_plan.scheduler.simulation import Simulation


class OwnPods:
    """The pods that owners have in the input."""

    def __init__(self, index: Index) -> None:
        self._index = index
        inventory = index.inventory
        self._workloads: dict[tuple[str, str, str], list[AnyWorkload]] = defaultdict(list)
        for each in inventory.workloads:
            self._workloads[each.kind, each.metadata.namespace, each.metadata.name].append(each)
        self._pods = {(pod.metadata.namespace, pod.metadata.name): pod for pod in inventory.pods}

    def of(self, owner: CopiedOwner) -> list[Pod]:
        """Its pods; those of a pod are all of the workload that it belongs to."""
        workload = self._workload(owner)
        pod = self._pods.get((owner.namespace, owner.name)) if owner.kind == "Pod" else None
        if pod is not None:
            workload = self._index.top_of(pod)
        return self._index.pods_of(workload) if workload is not None else [pod] if pod is not None else []

    def _workload(self, owner: CopiedOwner) -> AnyWorkload | None:
        found = self._workloads.get((owner.kind, owner.namespace, owner.name), ())
        return next((each for each in found if getattr(each, "part", "") == owner.part), None)

    def claims(self, owners: Iterable[CopiedOwner]) -> frozenset[str]:
        """The keys of the claims that pods of the owners have: one of them given back is a copy less."""
        pods = (pod for owner in owners for pod in self.of(owner))
        return frozenset(claim for pod in pods for claim in self._claims[pod.metadata.namespace, pod.metadata.name])

    def waiting(self, owners: Iterable[CopiedOwner]) -> frozenset[tuple[str, str]]:
        """Namespace and name of the owners' pods that wait for a node: copies stand in their place."""
        pods = (pod for owner in owners for pod in self.of(owner))
        return frozenset((pod.metadata.namespace, pod.metadata.name) for pod in pods if is_waiting(pod))

    @cached_property
    def _claims(self) -> dict[tuple[str, str], list[str]]:
        """The keys of claims by namespace and name of the pods that use them."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key, users in self._index.used_claims.items():
            for user in (user for user in users if user.kind == "Pod"):
                found[user.namespace, user.name].append("/".join(key))
        return found

    def replicas(self, owner: CopiedOwner) -> OwnerReplicas | None:
        """How many pods a workload is to have, and how many of them have no node; None for what has no such number.

        Of pods of an object with several templates nobody can tell of which they were made: None if there are any.
        """
        workload = self._workload(owner)
        if workload is None or isinstance(workload, CronJob) or workload.kind == "DaemonSet":
            return None
        pods = self._index.pods_of(workload)
        if owner.part and pods:
            return None
        number = wanted(workload, pods).number
        return OwnerReplicas(wanted=number, missing=min(number, missing(workload, pods)))


class OwnedAlready(NamedTuple):
    """What owners that are copied have: the keys of their claims, and namespace and name of their pods that wait."""

    claims: Set[str]
    waiting: Set[tuple[str, str]]


Count = tuple[Copies, ScheduledCopies, NextCopy | None]


MOST_COUNTED_AGAIN = 200
"""Where there are more copies they are not counted again with a change made."""


class Counting:
    """Counts copies on a cluster, and tells the fleet how each count ended."""

    def __init__(self, inventory: Inventory, view: View, fleet: Fleet, max_steps: int | None, limit: int) -> None:
        self._inventory, self._view, self._fleet = inventory, view, fleet
        self._max_steps, self._limit = max_steps, limit

    def alone(self, pod: Pod, own: OwnedAlready) -> tuple[Simulation, Count]:
        """Copies of one pod, beside what its owner has already."""
        simulation, [copies] = self._created([(pod, 1)], own)
        copied, scheduled, following = self._count(simulation, copies, [copies], own.claims)
        if following is not None:
            helps = [each for each in following.suggestions if self._raises(each, pod, own, len(copies.bound))]
            following = structs.replace(following, suggestions=helps)
        return simulation, (copied, scheduled, following)

    def _raises(self, tried: TriedChanges, pod: Pod, own: OwnedAlready, bound: int) -> bool:
        """Whether there are more copies with the changes made; where that would take long, or is not known, they stay.

        A change is tried for one more copy beside the others, but all copies are made from the template that it is in.
        """
        if bound >= MOST_COUNTED_AGAIN or tried.feature_gates:
            return True
        changed = carried_out(self._inventory, tried.patches)
        if changed is None:
            return True
        view = View.of(changed, self._view.target)
        again = Counting(changed, view, self._fleet, self._max_steps, bound + 1)
        _, [copies] = again._created([(pod, 1)], own)
        return len(copies.bound) > bound

    def mixed(self, pods: Sequence[tuple[Pod, int]], own: OwnedAlready) -> tuple[Simulation, list[Count]]:
        """Copies of several pods, so many of each to a set, beside what their owners have already."""
        simulation, everyone = self._created(pods, own)
        return simulation, [self._count(simulation, copies, everyone, own.claims) for copies in everyone]

    def daemons(self, workload: AnyWorkload, present: Sequence[Pod], own: OwnedAlready) -> Count:
        """One pod for each node that may have one and has none: a DaemonSet makes no more."""
        simulation = self._simulation(lambda _pod: False)
        simulation.start()
        copies = Copies()
        for pod in islice(new_pods(workload, present, self._inventory.nodes), self._limit):
            record = simulation.arrive(copy_of(pod, 0))
            simulation.scheduler.run()
            if record.node:
                copies.bound.append(record)
            else:
                copies.refused = copies.refused or record
        copied, scheduled, following = self._count(simulation, copies, [copies], own.claims)
        if copies.refused is None:
            scheduled = structs.replace(scheduled, ended="EveryNode")
        return copied, scheduled, following

    def _created(self, pods: Sequence[tuple[Pod, int]], own: OwnedAlready) -> tuple[Simulation, list[Copies]]:
        """The copies, in a cluster that settles where pods have to go, or quotas count what is created."""
        if not has_quotas(self._inventory):
            simulation = self._simulation(lambda _pod: False)
            simulation.start()
            if not outlook_of(simulation, result_of(simulation)):
                everyone = create_in_proportion(simulation, pods, self._limit)
                if not _evictions(simulation):
                    return simulation, everyone
        from dra_plan.controllers.copies import settled_copies

        given: set[str] = set()
        simulation = self._simulation(lambda pod: pod_uid(pod) not in given)
        given.update(map(pod_uid, simulation.pods))
        there = {(pod.metadata.namespace, pod.metadata.name) for pod in self._inventory.pods} - own.waiting

        def is_aside(pod: Pod) -> bool:
            """A pod of the owners that waits, or one that controllers have yet to make."""
            return pod_uid(pod) in given and (pod.metadata.namespace, pod.metadata.name) not in there

        return simulation, settled_copies(simulation, pods, self._limit, is_aside)

    def _simulation(self, chosen: Chosen) -> Simulation:
        return Simulation(
            self._inventory,
            target=self._view.target,
            max_steps=self._max_steps,
            chosen=chosen,
            view=self._view,
        )

    def _count(self, simulation: Simulation, copies: Copies, everyone: Sequence[Copies], own: Set[str]) -> Count:
        scheduled = _told(copies, simulation, everyone)
        if scheduled.ended in ("Limit", "Undecided"):
            self._fleet.cut_short()
        if copies.refused is None or scheduled.ended != "Unschedulable":
            return copies, scheduled, None
        found = refusals(simulation, copies.refused.pod)
        self._fleet.ended(simulation.cluster.claims.state, found)
        numbers = Counter(record.node for each in everyone for record in each.bound)
        following = next_copy(simulation, copies.refused, found, numbers, self._max_steps, own)
        return copies, scheduled, following


def _told(copies: Copies, simulation: Simulation, everyone: Sequence[Copies]) -> ScheduledCopies:
    numbers = Counter(record.node for record in copies.bound)
    nodes = [node.metadata.name for node in simulation.inventory.nodes if node.metadata.name in numbers]
    refused = copies.refused
    return ScheduledCopies(
        copies=len(copies.bound),
        nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
        ended=_end(copies, simulation, everyone),
        message=refused.message or refused.waiting or None if refused is not None else None,
        undecided_nodes=sorted(_unclear(copies, simulation)),
        evicted=[
            ObjectName(kind="Pod", namespace=victim.metadata.namespace, name=victim.metadata.name)
            for victim in _evictions(simulation)
        ],
    )


def _evictions(simulation: Simulation) -> list[Pod]:
    """The pods that had to go for others, each once."""
    plugins: list[DefaultPreemption] = simulation.plugins_of(DefaultPreemption)
    victims = (victim for plugin in plugins for _, victim, _ in plugin.evictions)
    return list({victim.key: victim for victim in victims}.values())


def _unclear(copies: Copies, simulation: Simulation) -> set[str]:
    """The nodes on which the step budget ran out for one of the copies."""
    tried = [record.pod.key for record in copies.bound]
    tried += [copies.refused.pod.key] if copies.refused is not None else []
    return {node for plugin in simulation.dynamic_resources for key in tried for node in plugin.undecided.get(key, ())}


def _end(copies: Copies, simulation: Simulation, everyone: Sequence[Copies]) -> str:
    """Why the count ended. That of several owners ends for all with the copy that is refused."""
    refused = [each for each in everyone if each.refused is not None]
    if any(_unclear(each, simulation) for each in ([copies] if copies.refused is not None else refused)):
        return "Undecided"
    if copies.refused is None:
        return "OtherRefused" if refused else "Limit"
    return "SchedulerError" if copies.refused.outcome == "Error" else copies.refused.outcome


MOST_PLACED = 1_000
"""A placement of more copies than these is carried out only where somebody asks for it."""


Share = tuple[CopiedOwner, Pod, int]
"""An owner, a pod that is copied for it, and how many of them make a set."""


def possible(
    inventory: Inventory,
    view: View,
    shares: Sequence[Share],
    scheduled: tuple[Simulation, Sequence[Copies]],
    limit: int,
    max_steps: int | None,
    *,
    thorough: bool,
) -> PossibleCopies:
    """The most sets of copies beside what runs, at least as many as were `scheduled`, for which nobody had to go.

    Where it is not `thorough` this takes a few seconds at most: searches share a budget of steps, and a placement of
    many pods is not carried out; then the bounds are further apart than they need be.
    """
    simulation, copies = scheduled
    known = min(len(each.bound) // share for each, (_, _, share) in zip(copies, shares, strict=True))
    if known >= limit:  # more is not asked for
        return _made(known, None, _as_scheduled(simulation, shares, copies), inventory, [], brief=False)
    in_all = sum(share for _, _, share in shares)

    def is_worth(pods: int) -> bool:
        return pods > known * in_all and (thorough or pods <= MOST_PLACED)

    try:
        best = seek_copies(
            inventory,
            view.target,
            [(pod, share) for _, pod, share in shares],
            limit,
            max_steps=max_steps,
            budget=None if thorough else StepBudget(),
            worth=is_worth,
            view=view,
        )
    except (SolverMissingError, UnverifiedPlacementError):
        return _made(known, None, _as_scheduled(simulation, shares, copies), inventory, [], brief=not thorough)
    late = {id(refusal.candidate) for refusal in best.late}
    placed = [each for each in best.placed if id(each.candidate) not in late]
    owners = _owners(shares)
    numbers = Counter(_owner_of(each.candidate.pod, owners) for each in placed)
    sets = min((numbers[index] // share for index, (_, _, share) in enumerate(shares)), default=0)
    bound = best.bounds[0] if best.bounds[0] < limit else None  # the limit proves nothing
    besides = sorted({refusal.status.plugin for refusal in best.late})
    if sets < known:
        scheduler = _as_scheduled(simulation, shares, copies)
        return _made(known, _at_least(bound, known), scheduler, inventory, besides, brief=not thorough)
    found = [
        PlacedCopy(
            owner=shares[_owner_of(each.candidate.pod, owners)][0],
            node=each.node,
            devices=_devices(claim.allocation for claim in each.claims),
        )
        for each in placed
    ]
    return _made(sets, _at_least(bound, sets), found, inventory, besides, brief=not thorough)


def _at_least(bound: int | None, sets: int) -> int | None:
    return None if bound is None else max(bound, sets)


def _owners(shares: Sequence[Share]) -> dict[tuple[str, str], int]:
    """The position of an owner by namespace and name of the pod that is copied."""
    return {(pod.metadata.namespace, pod.metadata.name): index for index, (_, pod, _) in enumerate(shares)}


def _owner_of(pod: Pod, owners: dict[tuple[str, str], int]) -> int:
    """Copies are called as the pod, with a number behind."""
    return owners[pod.metadata.namespace, pod.metadata.name.rpartition("-")[0]]


def _as_scheduled(simulation: Simulation, shares: Sequence[Share], copies: Sequence[Copies]) -> list[PlacedCopy]:
    """What the scheduler did, as a placement."""
    held: dict[str, list[AllocationResult | None]] = {}
    for claim in simulation.cluster.claims:
        for user in claim.status.reserved_for if claim.status is not None else ():
            held.setdefault(user.uid, []).append(claim.allocation)
    return [
        PlacedCopy(owner=owner, node=record.node, devices=_devices(held.get(record.pod.metadata.uid, ())))
        for each, (owner, _, _) in zip(copies, shares, strict=True)
        for record in each.bound
    ]


def _devices(allocations: Iterable[AllocationResult | None]) -> list[DeviceName]:
    return [
        DeviceName(driver=result.driver, pool=result.pool, device=result.device)
        for allocation in allocations
        if allocation is not None
        for result in allocation.devices.results
    ]


def _made(
    sets: int,
    at_most: int | None,
    placement: list[PlacedCopy],
    inventory: Inventory,
    besides: list[str],
    *,
    brief: bool,
) -> PossibleCopies:
    numbers = Counter(each.node for each in placement)
    nodes = [node.metadata.name for node in inventory.nodes if node.metadata.name in numbers]
    return PossibleCopies(
        copies=sets,
        at_most=at_most,
        nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
        placement=placement,
        brief=brief,
        besides=besides,
    )


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
        raise UsageError("only pods and workloads can be copied; a claim alone takes no room on a node")

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
    refused: tuple[RefusedOwner, ...] = ()
    """Owners that the API server does not let be: there is room for none of them."""

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
            refusals=entries(self.refused),
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
        raise UsageError(f"limit: {limit} is not a number of copies: it must be at least 1")
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

    refused = _refused(OwnerRefusals(inventory, target, question.runtime_config), copied)
    together: MixCapacity | UnsetType = UNSET
    if mix and copied and not any(refused):
        items, together = _mixed(counting, seek, _shares(index, copied), own)
    elif mix and copied:
        items = [
            _none(each.owner, own, "Refused" if why else "OtherRefused")
            for each, why in zip(copied, refused, strict=True)
        ]
        together = _no_sets(_shares(index, copied))
    else:
        made = (
            _none(each.owner, own, "Refused") if why else _alone(counting, seek, each, own)
            for each, why in zip(copied, refused, strict=True)
        )
        items = list(allotted.steps(made, len(copied)))
    told = (
        *notices.of_target(target, inventory.nodes),
        *(told for each in copied for told in of_scheduler(target, inventory, [PodRecord(each.pod, attempts=1)])),
        *inventory.notices,
        *inferred,
        *of_new_fields(inventory, target),
        *of_devices(inventory),
        *of_devices_twice(inventory),
        *missing_templates(((Owner(e.owner.kind, e.owner.namespace, e.owner.name), e.pod) for e in copied), index),
        *of_preemption(inventory, evicts=False),
        *of_bystanders(inventory, [each.pod for each in copied], creates=True, settles=False),
    )
    told_refused = tuple(one for one in refused if one is not None)
    return CapacityPlan(target, limit, tuple(items), fleet.figures(), told, together, refused=told_refused)


def _refused(rules: OwnerRefusals, copied: Sequence[Copied]) -> list[RefusedOwner | None]:
    """Of each owner that the API server refuses, or whose pods, why."""
    found: list[RefusedOwner | None] = []
    for each in copied:
        asked = each.workload if each.workload is not None else each.pod
        findings = rules.of(asked)
        found.append(RefusedOwner.of(asked, findings) if findings else None)
    return found


def _none(owner: CopiedOwner, own: OwnPods, ended: str) -> OwnerCapacity:
    scheduled = ScheduledCopies(copies=0, nodes=[], ended=ended, message=None)
    return OwnerCapacity(owner=owner, replicas=own.replicas(owner), scheduled=scheduled, possible=None, next_copy=None)


def _no_sets(shares: Sequence[Share]) -> MixCapacity:
    told = [MixedShare(owner=owner, copies=share) for owner, _, share in shares]
    return MixCapacity(shares=told, sets=0, possible=None)


def _mixed(
    counting: Counting, seeker: _Seeker, shares: Sequence[Share], own: OwnPods
) -> tuple[list[OwnerCapacity], MixCapacity]:
    already = _already(own, [owner for owner, _, _ in shares])
    simulation, counts = counting.mixed([(pod, share) for _, pod, share in shares], already)
    items = [
        OwnerCapacity(
            owner=owner, replicas=own.replicas(owner), scheduled=scheduled, possible=None, next_copy=following
        )
        for (owner, _, _), (_, scheduled, following) in zip(shares, counts, strict=True)
    ]
    bounded = any(item.scheduled.evicted or item.scheduled.ended == "Refused" for item in items)
    return items, MixCapacity(
        shares=[MixedShare(owner=owner, copies=share) for owner, _, share in shares],
        sets=min(item.scheduled.copies // share for item, (_, _, share) in zip(items, shares, strict=True)),
        possible=None if bounded else seeker(shares, (simulation, [copies for copies, _, _ in counts])),
    )


def _alone(counting: Counting, seeker: _Seeker, copied: Copied, own: OwnPods) -> OwnerCapacity:
    owner, pod, workload = copied.owner, copied.pod, copied.workload
    if workload is not None and workload.kind == "DaemonSet":
        present = [each for each in own.of(owner) if not is_waiting(each)]
        _, scheduled, following = counting.daemons(workload, present, _already(own, [owner]))
        return OwnerCapacity(owner=owner, replicas=None, scheduled=scheduled, possible=None, next_copy=following)
    simulation, (copies, scheduled, following) = counting.alone(pod, _already(own, [owner]))
    best = (
        None if scheduled.evicted or scheduled.ended == "Refused" else seeker([(owner, pod, 1)], (simulation, [copies]))
    )
    return OwnerCapacity(
        owner=owner, replicas=own.replicas(owner), scheduled=scheduled, possible=best, next_copy=following
    )


def _already(own: OwnPods, owners: Sequence[CopiedOwner]) -> OwnedAlready:
    return OwnedAlready(own.claims(owners), own.waiting(owners))
