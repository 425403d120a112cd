"""`capacity`: how many copies of each owner's pod the scheduler binds, and how many fit with the best choices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from msgspec import UNSET, UnsetType, structs

from dra_plan import allotted
from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.index import Index, missing_templates
from dra_plan.claims.owners import is_waiting, wanted
from dra_plan.claims.sets import Owner
from dra_plan.documents.base import ObjectName, answer_target, warnings
from dra_plan.documents.cluster_changes import ClaimReleased, PodsGone
from dra_plan.documents.obstacles import NextCopy
from dra_plan.documents.suggestions import TriedChanges
from dra_plan.errors import UsageError
from dra_plan.explanation.suggest import patches
from dra_plan.planner import notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.bystanders import of_bystanders
from dra_plan.planner.carried_out import carried_out
from dra_plan.planner.creation import has_quotas
from dra_plan.planner.nodes import of_devices, of_preemption, with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.obstacles import holder_on, next_copy
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.refused import OwnerRefusals, RefusedOwner, entries
from dra_plan.planner.settling import outlook_of
from dra_plan.planner.twice import of_devices_twice
from dra_plan.questions.capacity.copied import Copied, OwnPods, choose_copied, with_gangs
from dra_plan.questions.capacity.document import (
    MOST_GAINED,
    CapacityDocument,
    CopiedGang,
    CopiedOwner,
    FleetFigures,
    MixCapacity,
    MixedShare,
    NodeCopies,
    OwnerCapacity,
    OwnerDevices,
    PossibleCopies,
    ScheduledCopies,
    pending_copies,
)
from dra_plan.questions.capacity.fleet import Fleet
from dra_plan.questions.capacity.possible import ScheduledSets, Seeking
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.coverage import of_scheduler
from dra_plan.scheduler.new_pods import new_pods
from dra_plan.scheduler.plugins.default_preemption import DefaultPreemption
from dra_plan.scheduler.refusals import (
    Copies,
    CopyTemplate,
    copy_of,
    create_in_proportion,
    refusals,
    without_its_gang,
)
from dra_plan.scheduler.simulate import result_of
from dra_plan.scheduler.simulation import Simulation
from dra_plan.whatif.edits import belongs_to_node, depart

__all__ = ["USUAL_LIMIT", "CapacityPlan", "Copied", "choose_copied", "count_copies"]


class OwnedAlready(NamedTuple):
    """What the copied owners already have: the keys of their claims and pods, and the names of their pending pods.

    A pending pod is given as its namespace and name.
    """

    claims: Set[str]
    pods: Set[str]
    waiting: Set[tuple[str, str]]


class Count(NamedTuple):
    """The number of copies of an owner that fit.

    If only a part of one more gang fits, `fitting` is the number of its pods that fit.
    """

    copies: Copies
    scheduled: ScheduledCopies
    following: NextCopy | None = None
    fitting: int | None = None
    devices: Sequence[OwnerDevices] = ()


MOST_COUNTED_AGAIN = 200
"""The maximum number of copies that are counted again after a change."""

MOST_REMOVED = 3
"""The maximum number of running pods whose removal is tried."""


class Gain(NamedTuple):
    """How many more copies fit after a change, and the first node that gets more of them."""

    more: int
    node: str


_CountedAgain = Callable[[Inventory], Gain | None]
"""The copies that a changed input takes in addition; None if they are not counted."""


class Counting:
    """A counter of copies on a cluster, which reports the remaining devices to the fleet after each count."""

    def __init__(self, inventory: Inventory, view: View, fleet: Fleet, max_steps: int | None, limit: int) -> None:
        self._inventory, self._view, self._fleet = inventory, view, fleet
        self._max_steps, self.limit = max_steps, limit

    def counted(self, parts: Sequence[tuple[Copied, int]], own: OwnedAlready) -> tuple[Simulation, list[Count]]:
        """Count how many copies of the owners fit in addition to the existing pods.

        Copies are created in sets. Each part is an owner and the number of its copies per set.
        """
        templates = [(each.template, number) for each, number in parts]
        simulation, everyone = self._created(templates, own)
        found = []
        for (each, _), copies in zip(parts, everyone, strict=True):
            count = self._count(simulation, each.template, copies, everyone, own.claims)
            following = count.following
            if following is not None:
                again = partial(self._gained, templates=templates, own=own, everyone=everyone)
                helps = [*self._removals(following, again, own), *self._helpful(following, again, everyone)]
                if len(parts) > 1:
                    helps = [structs.replace(one, more=0) for one in helps]  # the gain is that of all owners
                count = count._replace(following=structs.replace(following, suggestions=helps))
            found.append(count)
        return simulation, found

    def _helpful(self, following: NextCopy, again: _CountedAgain, everyone: Sequence[Copies]) -> Iterator[TriedChanges]:
        """Yield the changes with which more copies fit; of those that are not counted again, unless one is a gang.

        A change is tried for one more pod next to the others, but all copies are created from the template that has it.
        For gangs, an impossible change is dropped: what helps one pod may not help all of them.
        """
        for tried in following.suggestions:
            changed = carried_out(self._inventory, tried.patches) if not tried.feature_gates else None
            gain = again(_without_users(changed, tried)) if changed is not None else None
            if gain is not None and gain.more:
                yield structs.replace(tried, more=gain.more)
            elif gain is None and all(copies.size == 1 for copies in everyone):
                yield tried

    def _removals(self, following: NextCopy, again: _CountedAgain, own: OwnedAlready) -> Iterator[TriedChanges]:
        """Yield the pods whose requests leave too little of a resource, if more copies fit without them."""
        there = {pod.key: pod for pod in self._inventory.pods}
        named = list(dict.fromkeys(one.pod for one in following.obstacles if one.pod))
        for pod in [there[name] for name in named if name in there][:MOST_REMOVED]:
            if belongs_to_node(pod) or pod.key in own.pods:
                continue
            gain = again(depart(self._inventory, [pod]).inventory)
            if gain is not None and gain.more:
                yield TriedChanges(
                    changes=[PodsGone(code="remove-pods", pods=[pod.key], on=pod.spec.node_name or "")],
                    node=gain.node,
                    more=gain.more,
                    patches=[*patches.deletions([pod.key])],
                )

    def _gained(
        self,
        changed: Inventory,
        templates: Sequence[tuple[CopyTemplate, int]],
        own: OwnedAlready,
        everyone: Sequence[Copies],
    ) -> Gain | None:
        """Return how many more copies fit in the changed input; None if counting them again would take long."""
        bound = sum(copies.number for copies in everyone)
        if bound >= MOST_COUNTED_AGAIN:
            return None
        view = View.of(changed, self._view.target)
        counting = Counting(changed, view, self._fleet, self._max_steps, bound + MOST_GAINED)
        _, found = counting._created(templates, own)
        before, after = [Counter(record.node for each in all_ for record in each.bound) for all_ in (everyone, found)]
        node = next((node for node in after if after[node] > before[node]), "")
        return Gain(max(0, sum(copies.number for copies in found) - bound), node)

    def daemons(self, workload: AnyWorkload, present: Sequence[Pod], own: OwnedAlready) -> Count:
        """Count the nodes that have no pod of the DaemonSet but could run one."""
        simulation = self._simulation(lambda _pod: False)
        simulation.start()
        copies = Copies()
        for pod in islice(new_pods(workload, present, self._inventory.nodes), self.limit):
            record = simulation.arrive(copy_of(pod, 0))
            simulation.scheduler.run()
            if record.node:
                copies.bound.append(record)
            else:
                copies.refused = copies.refused or record
        template = CopyTemplate((copy_of(Copied.of_workload(workload).pod, 0),))
        return self._count(simulation, template, copies, [copies], own.claims, every_node=True)

    def _created(
        self, templates: Sequence[tuple[CopyTemplate, int]], own: OwnedAlready
    ) -> tuple[Simulation, list[Copies]]:
        """Return the copies, in a cluster that settles if pods have to be evicted, or quotas count created objects."""
        if not has_quotas(self._inventory):
            simulation = self._simulation(lambda _pod: False)
            simulation.start()
            if not outlook_of(simulation, result_of(simulation)):
                everyone = create_in_proportion(simulation, templates, self.limit)
                if not _evictions(simulation):
                    return simulation, everyone
        from dra_plan.controllers.copies import settled_copies

        given: set[str] = set()
        simulation = self._simulation(lambda pod: pod_uid(pod) not in given)
        given.update(map(pod_uid, simulation.pods))
        there = {(pod.metadata.namespace, pod.metadata.name) for pod in self._inventory.pods} - own.waiting

        def is_aside(pod: Pod) -> bool:
            """Return whether the pod is a pending pod of the owners, or a pod that controllers still have to create."""
            return pod_uid(pod) in given and (pod.metadata.namespace, pod.metadata.name) not in there

        return simulation, settled_copies(simulation, templates, self.limit, is_aside)

    def _simulation(self, chosen: Chosen) -> Simulation:
        return Simulation(
            self._inventory,
            target=self._view.target,
            max_steps=self._max_steps,
            chosen=chosen,
            view=self._view,
        )

    def _count(
        self,
        simulation: Simulation,
        template: CopyTemplate,
        copies: Copies,
        everyone: Sequence[Copies],
        own: Set[str],
        *,
        every_node: bool = False,
    ) -> Count:
        scheduled = _told(copies, simulation, everyone)
        if every_node and copies.refused is None:
            return Count(copies, structs.replace(scheduled, ended="EveryNode"))
        if scheduled.ended in ("Limit", "Undecided"):
            self._fleet.cut_short()
        refused = copies.refused
        if refused is None or scheduled.ended != "Unschedulable":
            return Count(copies, scheduled)
        state, fitting = simulation.cluster.claims.state, None
        numbers = Counter(record.node for each in everyone for record in each.bound)
        if template.group is not None:
            state = self._view.with_claims(tuple(simulation.cluster.claims.seen())).state
            gone = len(_evictions(simulation))
            alone = without_its_gang(simulation, template, copies.number)
            refused, fitting = alone[-1], len(alone) - 1
            if refused.node or len(_evictions(simulation)) > gone:
                self._fleet.cut_short()
                return Count(copies, scheduled)
        found = refusals(simulation, refused.pod)
        devices = self._fleet.ended(state, found, partial(holder_on, simulation))
        following = next_copy(simulation, refused, found, numbers, self._max_steps, own)
        return Count(copies, scheduled, following, fitting, devices)


def _without_users(changed: Inventory, tried: TriedChanges) -> Inventory:
    """Return the input without the pods whose claims are released: a claim is in use as long as they run."""
    users = {
        f"{one.release.namespace}/{name}"
        for one in tried.changes
        if isinstance(one, ClaimReleased)
        for name in one.pods
    }
    return depart(changed, [pod for pod in changed.pods if pod.key in users]).inventory


def _told(copies: Copies, simulation: Simulation, everyone: Sequence[Copies]) -> ScheduledCopies:
    numbers = Counter(record.node for record in copies.bound)
    nodes = [node.metadata.name for node in simulation.inventory.nodes if node.metadata.name in numbers]
    refused = copies.refused
    return ScheduledCopies(
        copies=copies.number,
        nodes=[NodeCopies(name=name, copies=numbers[name]) for name in nodes],
        ended=_end(copies, simulation, everyone),
        message=_said(simulation, refused) or None if refused is not None else None,
        undecided_nodes=sorted(_unclear(copies, simulation)),
        evicted=[
            ObjectName(kind="Pod", namespace=victim.metadata.namespace, name=victim.metadata.name)
            for victim in _evictions(simulation)
        ],
    )


def _said(simulation: Simulation, refused: PodRecord) -> str:
    """Return the scheduler's message about the rejected copy, or why it is held back."""
    gates = (item.gate_message for item in simulation.scheduler.queue.gated if item.uid == pod_uid(refused.pod))
    return refused.message or refused.waiting or next(gates, "")


def _evictions(simulation: Simulation) -> list[Pod]:
    """Return the pods evicted for others, without duplicates."""
    plugins: list[DefaultPreemption] = simulation.plugins_of(DefaultPreemption)
    victims = (victim for plugin in plugins for _, victim, _ in plugin.evictions)
    return list({victim.key: victim for victim in victims}.values())


def _unclear(copies: Copies, simulation: Simulation) -> set[str]:
    """Return the nodes on which the step limit was reached for one of the copies."""
    tried = [record.pod.key for record in copies.bound]
    tried += [copies.refused.pod.key] if copies.refused is not None else []
    return {node for plugin in simulation.dynamic_resources for key in tried for node in plugin.undecided.get(key, ())}


def _end(copies: Copies, simulation: Simulation, everyone: Sequence[Copies]) -> str:
    """Return why the count ended. A count of several owners ends with the first rejected copy."""
    refused = [each for each in everyone if each.refused is not None]
    if any(_unclear(each, simulation) for each in ([copies] if copies.refused is not None else refused)):
        return "Undecided"
    if copies.refused is None:
        return "OtherRefused" if refused else "Limit"
    return "SchedulerError" if copies.refused.outcome == "Error" else copies.refused.outcome


USUAL_LIMIT = 10_000
"""The default maximum number of copies of a pod."""


@dataclass(frozen=True, repr=False)
class CapacityPlan(PrintedAnswer[CapacityDocument]):
    """The result of `capacity`. Iterating over the result yields an `OwnerCapacity` for each owner."""

    target: Target
    limit: int
    items: tuple[OwnerCapacity, ...]
    fleet: FleetFigures
    notices: tuple[Notice, ...] = ()
    mix: MixCapacity | UnsetType = UNSET
    refused: tuple[RefusedOwner, ...] = ()
    """The owners that the API server rejects, of which no copies fit."""

    def __iter__(self) -> Iterator[OwnerCapacity]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def without_full_daemons(self) -> CapacityPlan:
        """Return the plan without DaemonSets that have a pod on every node.

        A plan with no other owners is returned unchanged.
        """
        others = tuple(each for each in self.items if each.scheduled.ended != "EveryNode" or each.scheduled.copies)
        return replace(self, items=others) if others else self

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


def _in_proportion(index: Index, copied: Sequence[Copied]) -> list[tuple[Copied, int]]:
    """Return the owners, with pods of distinct names, and the number of copies of each in a set; a gang is one copy."""
    names, found = set[tuple[str, str]](), []
    for each in copied:
        pod, maker = each.pod, each.workload
        while (pod.metadata.namespace, pod.metadata.name) in names:
            metadata = structs.replace(pod.metadata, name=f"{pod.metadata.name}-{each.owner.kind.lower()}")
            pod = structs.replace(pod, metadata=metadata)
        names.add((pod.metadata.namespace, pod.metadata.name))
        share = wanted(maker, list(index.dependent_pods.of(maker))).number if maker is not None else 1
        found.append((replace(each, pod=pod), max(1, share if each.gang is None else 1)))
    least = math.gcd(*(share for _, share in found))
    return [(each, share // least) for each, share in found]


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
    """Count the copies of each pod that fit in addition to the bound pods. Pending pods are ignored.

    Owners are counted one at a time or, if `mix` is set, together, in proportion to their replicas. `seeks` controls
    the search for the largest possible number: True for a thorough search, False for none, and None for a search of a
    few seconds, which is skipped for a mix. Raises InputError for input without nodes, and UsageError for a limit below
    1.
    """
    if limit < 1:
        raise UsageError(f"limit: {limit} is not a number of copies: it must be at least 1")
    inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)
    view = View.of(inventory, target)
    fleet = Fleet(view, inventory.nodes)
    index = Index(inventory)
    own = OwnPods(index)
    counting = Counting(inventory, view, fleet, question.max_steps, limit)

    copied = with_gangs(copied, index, target)
    seeking: Seeking | None = None
    if seeks or (seeks is None and not mix):
        thorough = seeks is True or question.max_steps is not None
        seeking = Seeking(inventory, view, question.max_steps, thorough=thorough)
    refused = _refused(OwnerRefusals(inventory, target, question.runtime_config), copied)
    together: MixCapacity | UnsetType = UNSET
    if mix and copied and not any(refused):
        items, together = _mixed(counting, seeking, _in_proportion(index, copied), own)
    elif mix and copied:
        items = [
            _none(each, own, "Refused" if why else "OtherRefused") for each, why in zip(copied, refused, strict=True)
        ]
        together = _no_sets(_in_proportion(index, copied))
    else:
        made = (
            _none(each, own, "Refused") if why else _alone(counting, seeking, each, own)
            for each, why in zip(copied, refused, strict=True)
        )
        items = list(allotted.steps(made, len(copied)))
    told = (
        *notices.of_target(target, inventory),
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
    """Return why the API server rejects each owner or its pods, if it does."""
    found: list[RefusedOwner | None] = []
    for each in copied:
        asked = each.workload if each.workload is not None else each.pod
        findings = rules.of(asked)
        found.append(RefusedOwner.of(asked, findings) if findings else None)
    return found


def _none(copied: Copied, own: OwnPods, ended: str) -> OwnerCapacity:
    scheduled = ScheduledCopies(copies=0, nodes=[], ended=ended, message=None)
    return _item(copied, own, Count(Copies(), scheduled))


def _item(copied: Copied, own: OwnPods, count: Count, possible: PossibleCopies | None = None) -> OwnerCapacity:
    is_daemon = copied.workload is not None and copied.workload.kind == "DaemonSet"
    replicas = own.replicas(copied.owner) if not is_daemon else None
    gang: CopiedGang | None = None
    if copied.gang is not None and copied.gang.group is not None:
        group = copied.gang.group
        gang = CopiedGang(
            pod_group=group.metadata.name,
            pods=len(copied.gang.pods),
            min_count=group.min_count,
            topology_key=group.topology_key,
            waiting=replicas.missing if replicas is not None else len(own.waiting([copied.owner])),
            fitting=count.fitting,
        )
    replicas = replicas if gang is None else None
    return OwnerCapacity(
        owner=copied.owner,
        gang=gang,
        replicas=replicas,
        more=max(0, count.scheduled.copies - pending_copies(gang, replicas)),
        scheduled=count.scheduled,
        possible=possible,
        next_copy=count.following,
        devices=list(count.devices),
    )


def _no_sets(parts: Sequence[tuple[Copied, int]]) -> MixCapacity:
    told = [MixedShare(owner=each.owner, copies=share) for each, share in parts]
    return MixCapacity(shares=told, sets=0, more=0, possible=None)


def _mixed(
    counting: Counting, seeking: Seeking | None, parts: Sequence[tuple[Copied, int]], own: OwnPods
) -> tuple[list[OwnerCapacity], MixCapacity]:
    simulation, counts = counting.counted(parts, _already(own, [each.owner for each, _ in parts]))
    alike = [count._replace(devices=()) for count in counts]  # all of them are used by all owners together
    items = [_item(each, own, count) for (each, _), count in zip(parts, alike, strict=True)]
    bounded = any(item.scheduled.evicted or item.scheduled.ended == "Refused" for item in items)
    sets = min(item.scheduled.copies // share for item, (_, share) in zip(items, parts, strict=True))
    more = min(item.more // share for item, (_, share) in zip(items, parts, strict=True))
    copies = [(each.owner, count.copies) for (each, _), count in zip(parts, counts, strict=True)]
    best: PossibleCopies | None = None
    if seeking is not None and not bounded:
        best = seeking.possible(parts, ScheduledSets(simulation, copies, sets), counting.limit)
    shares = [MixedShare(owner=each.owner, copies=share) for each, share in parts]
    return items, MixCapacity(shares=shares, sets=sets, more=more, possible=best)


def _alone(counting: Counting, seeking: Seeking | None, copied: Copied, own: OwnPods) -> OwnerCapacity:
    owner, workload = copied.owner, copied.workload
    if workload is not None and workload.kind == "DaemonSet":
        present = [each for each in own.of(owner) if not is_waiting(each)]
        return _item(copied, own, counting.daemons(workload, present, _already(own, [owner])))
    simulation, [count] = counting.counted([(copied, 1)], _already(own, [owner]))
    best: PossibleCopies | None = None
    if seeking is not None and not count.scheduled.evicted and count.scheduled.ended != "Refused":
        sets = ScheduledSets(simulation, [(owner, count.copies)], count.copies.number)
        best = seeking.possible([(copied, 1)], sets, counting.limit)
    return _item(copied, own, count, best)


def _already(own: OwnPods, owners: Sequence[CopiedOwner]) -> OwnedAlready:
    pods = frozenset(pod.key for owner in owners for pod in own.of(owner))
    return OwnedAlready(own.claims(owners), pods, own.waiting(owners))
