"""`explain`: the scheduler at work over all that waits in the input, as far as it can matter to who is explained.

The verdict on a pod is what `schedule` says of it, so it is asked of the same simulation. Where very many pods wait, it
ends once enough is known: budgets are attempts, so that an answer does not depend on the machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from dra_plan.allocator import Allocator, Outcome, View
from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import ClusterInfo, Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.well_known import CONTROL_PLANE, IMPLICIT_PREFIX, UNSCHEDULABLE
from dra_plan.claims.index import Index, owner_of
from dra_plan.claims.owners import DEPLOYMENT, deployment_of
from dra_plan.claims.sets import ClaimSet, Owner
from dra_plan.documents.devices import RemovedDevices
from dra_plan.documents.reasons import LeadingReason
from dra_plan.documents.verdicts import (
    ChangedReason,
    LastMessage,
    NodeObstacle,
    NodeRefusalReason,
    RefusingNodes,
)
from dra_plan.explanation.suggest.admissions import CONDITIONS
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.creation import not_created
from dra_plan.questions.explain.peaks import parts
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.clock import parse_time
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cycle import fit_error
from dra_plan.scheduler.dra.filter import PodState
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import Diagnosis
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import (
    AffinityUnmet,
    Code,
    CycleState,
    LabelUnmet,
    Obstacle,
    PortTaken,
    ResourceShort,
    SpreadUneven,
    Status,
    VolumeInUse,
    VolumesFull,
)
from dra_plan.scheduler.node_refusals import NodeRefusal, NodeRefusals, refusals_of
from dra_plan.scheduler.obstacles import node_obstacle
from dra_plan.scheduler.simulate import Eviction, SimulationResult, simulate
from dra_plan.scheduler.simulation import Simulation

if TYPE_CHECKING:
    from dra_plan.explanation.funnel import Funnel, NodeOffer
    from dra_plan.explanation.groups import NodeGroup


MOST_ATTEMPTS = 2_000
"""So often pods are tried at most: those that come later in the queue are not."""


MOST_AFTER = 200
"""So often pods are tried at most once all that are explained were tried."""


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """What a run is about: the input, and the budgets of its searches."""

    inventory: Inventory
    view: View
    max_steps: int | None
    deadline: float | None


@dataclass(frozen=True, slots=True)
class DeviceAttempt:
    """The claims of a pod that failed, and the cluster as it was then.

    `nodes` are those that refuse the pod for devices, `claims` those that waited for devices; `has_more` says that one
    of them is for extended resources, which the pod's claim set does not have.
    """

    nodes: tuple[Node, ...]
    claims: tuple[ResourceClaim, ...]
    allocated: tuple[ResourceClaim, ...]
    all_claims: tuple[ResourceClaim, ...]
    cluster: View
    has_more: bool
    resources: Mapping[str, str] = field(default_factory=dict)
    """Class to the extended resource that it serves: requests for these are named by the scheduler."""

    def resource_of(self, request: str) -> str:
        """The extended resource that a request of the scheduler's own claim stands for, else its name."""
        for claim in self.claims if self.has_more else ():
            for each in claim.spec.devices.requests:
                if each.name == request and each.exactly is not None and _OF_SCHEDULER.fullmatch(request):
                    return self.resources.get(each.exactly.device_class_name, request)
        return request


_OF_SCHEDULER = re.compile(r"container-\d+-request-\d+")
"""The names that the scheduler gives requests for extended resources."""


def _resources(inventory: Inventory) -> Mapping[str, str]:
    return {
        one.metadata.name: one.spec.extended_resource_name or IMPLICIT_PREFIX + one.metadata.name
        for one in inventory.classes
    }


class OwnersOfPods:
    """Whose pod a pod is: its own, its controllers', and its Deployment's."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def of(self, pod: Pod) -> Iterator[Owner]:
        """The owners, the pod itself first."""
        yield owner_of(pod)
        for above in (pod, *self._index.owners.above(pod.metadata)):
            yield owner_of(above)
            deployment = deployment_of(above.metadata)
            if deployment:
                yield Owner(DEPLOYMENT, above.metadata.namespace, deployment)


class VerdictRun:
    """A simulation of all pods, or of those that are chosen, and what became of whose pods."""

    def __init__(
        self,
        about: RunQuestion,
        owners: OwnersOfPods,
        common: Common,
        explained: Callable[[Pod], bool],
        chosen: Callable[[Pod], bool] = lambda _pod: True,
    ) -> None:
        """The run ends before this returns. Of `explained` pods it is kept why each node refused them.

        Pods that quotas and limits keep from being made are never tried.
        """
        self._explained, self._chosen = explained, chosen
        self.simulation = Simulation(
            about.inventory,
            target=about.view.target,
            max_steps=about.max_steps,
            deadline=about.deadline,
            chosen=self._is_chosen,
            ordered=True,
            common=common,
            view=about.view,
        )
        later = [pod for pod, _ in self.simulation.yet_to_be_made()]
        waiting = [pod for pod in self.simulation.pods if not pod.spec.node_name]
        self.not_made = not_created(about.inventory, waiting)
        """The pods that quotas and limits keep from being made, of those that wait."""
        self._kept_out = {each.pod.key for each in self.not_made}
        self._open = [pod_uid(pod) for pod in (*waiting, *later) if explained(pod)]
        self._last_of_them = 0
        self._start = self._state
        self.attempts: dict[str, DeviceAttempt | None] = {}
        """Uid of an explained pod to what it asked for when it failed last."""
        self._seen_by: dict[str, tuple[int, int]] = {}
        """Uid of a pod to the state of the cluster when it failed last."""
        scheduler = self.simulation.scheduler
        scheduler.cycle.explain = self._kept
        scheduler.enough = self._is_enough
        self.result: SimulationResult = simulate(self.simulation)
        self.is_late = scheduler.is_late()
        self.records: dict[Owner, list[PodRecord]] = {}
        for record in self.result.pods:
            for owner in dict.fromkeys(owners.of(record.pod)):
                self.records.setdefault(owner, []).append(record)
        self._victims: dict[str, list[Eviction]] = {}
        for eviction in self.result.evictions:
            self._victims.setdefault(eviction.preemptor, []).append(eviction)

    def is_made(self, pod: Pod) -> bool:
        """Whether no quota and no limit keeps the pod from being made."""
        return pod.key not in self._kept_out

    def _is_chosen(self, pod: Pod) -> bool:
        return self.is_made(pod) and self._chosen(pod)

    def _kept(self, framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> NodeRefusals | None:
        if not self._explained(pod):
            return None
        self._seen_by[pod_uid(pod)] = self._state
        found = refusals_of(framework, state, pod, diagnosis)
        self.attempts[pod_uid(pod)] = self._devices_asked_for(framework, state, pod, found)
        return found

    def _devices_asked_for(
        self, framework: Framework, state: CycleState, pod: Pod, found: NodeRefusals
    ) -> DeviceAttempt | None:
        cluster = self.simulation.cluster
        refused = [cluster.nodes[name] for name, refusals in found.of_nodes.items() if _is_about_devices(refusals)]
        plugin = next((one for one in framework.all_plugins() if isinstance(one, DynamicResources)), None)
        kept: PodState | None = state.get(plugin.name) if plugin is not None else None
        if plugin is None or kept is None or kept.empty or not refused or found.of_all:
            return None
        return DeviceAttempt(
            nodes=tuple(node.node for node in refused),
            claims=tuple(plugin.claims_asked_for(kept, pod, refused[0])),
            allocated=tuple(kept.allocated),
            all_claims=tuple(cluster.claims.seen()),
            cluster=cluster.view,
            has_more=kept.special is not None,
            resources=_resources(self.simulation.inventory) if kept.special is not None else {},
        )

    def _is_enough(self) -> bool:
        scheduler = self.simulation.scheduler
        while self._open and self._is_tried(self._open[-1]):
            self._open.pop()
            self._last_of_them = scheduler.attempts
        if scheduler.attempts >= MOST_ATTEMPTS:
            return True
        return not self._open and scheduler.attempts >= self._last_of_them + MOST_AFTER

    def _is_tried(self, uid: str) -> bool:
        record = self.simulation.scheduler.records.by_uid.get(uid)
        return record is not None and (record.attempts > 0 or record.skipped)

    @property
    def not_tried(self) -> int:
        """How many pods were left for want of attempts."""
        if self.is_late:
            return 0
        return sum(record.ran_out and not record.attempts for record in self.result.pods)

    @property
    def _state(self) -> tuple[int, int]:
        """Equal as long as nothing changes in the cluster."""
        cluster = self.simulation.cluster
        return cluster.revision, cluster.journal.end()

    def came_first(self, pod: Pod) -> bool:
        """Whether nothing had changed in the cluster when the pod failed last: then no other pod is in its way."""
        return self._seen_by.get(pod_uid(pod)) == self._start

    def victims(self, pod: Pod) -> list[Eviction]:
        """The evictions for the pod, or for its group."""
        group = pod.spec.scheduling_group
        named = f"podgroup/{pod.metadata.namespace}/{group.pod_group_name}" if group is not None else ""
        return [*self._victims.get(pod.key, ()), *(self._victims.get(named, ()) if named else ())]

    def pods_on(self, node: str) -> list[Pod]:
        """The pods that are on a node in the end."""
        return [info.pod for info in self.simulation.cluster.nodes[node].pods.values()]

    def priority(self, pod: Pod) -> int:
        """The pod's priority."""
        return self.simulation.cluster.info(pod).priority


def _is_about_devices(refusals: Sequence[NodeRefusal]) -> bool:
    return any(each.plugin == plugin_names.DYNAMIC_RESOURCES for each in refusals)


CONDITION = "PodScheduled"


def last_message(pod: Pod, record: PodRecord | None, info: ClusterInfo | None) -> LastMessage | None:
    """What the condition PodScheduled says of a pod without a node; None where it says nothing."""
    found = next((each for each in pod.status.conditions if each.type == CONDITION and each.status == "False"), None)
    if found is None or not found.message or (info is not None and info.anonymized):
        return None  # of a text that may hold names, a pseudonym stands in an anonymized input
    began, taken = parse_time(found.last_transition_time), parse_time(info.time) if info is not None else None
    today = record.message or record.waiting if record is not None else ""
    refusals = record.refusals if record is not None else None
    same = _is_gated(found.reason, record) or _is_same(found.message, today, refusals)
    return LastMessage(
        reason=found.reason,
        message=found.message,
        time=found.last_transition_time or "",
        seconds_ago=max(0, int(taken - began)) if began is not None and taken is not None else None,
        same_today=same,
        changed=_changed(found.message, refusals) if not same and refusals is not None else [],
    )


_COUNTS = re.compile(r"0/\d+ nodes are available: (?P<reasons>.+?)(?:\.|\. .*)?", re.DOTALL)
"""kube-scheduler's message on a pod that no node takes (FitError of its framework); behind it what PostFilter says."""


_COUNTED = re.compile(r"(?P<nodes>\d{1,9}) (?P<reason>.+)", re.DOTALL)


def _changed(said: str, refusals: NodeRefusals) -> list[ChangedReason]:
    """The reasons that a message counts on other nodes than there are now; empty where it counts none."""
    counts = _COUNTS.fullmatch(said)
    told = [_COUNTED.fullmatch(part) for part in re.split(r", (?=\d+ )", counts["reasons"])] if counts else []
    if not told or None in told or refusals.of_all:
        return []
    before = Counter({each["reason"]: int(each["nodes"]) for each in told if each})
    now = Counter(reason.text for found in refusals.of_nodes.values() for reason in found[0].reasons)
    changed = [reason for reason in (now | before) if now[reason] != before[reason]]
    return [ChangedReason(reason=one, nodes=now[one], before=before[one]) for one in changed]


def _is_gated(reason: str, record: PodRecord | None) -> bool:
    return reason == "SchedulingGated" and record is not None and record.held_by == plugin_names.SCHEDULING_GATES


def _is_same(said: str, today: str, refusals: NodeRefusals | None) -> bool:
    """Whether the nodes have the same against the pod: what comes of preemption, told after that, may differ."""
    return said == today or (refusals is not None and bool(today) and said.startswith(_of_nodes(refusals)))


def _of_nodes(refusals: NodeRefusals) -> str:
    """The part of the message that counts the reasons of nodes."""
    first = {name: found[0] for name, found in refusals.of_nodes.items()}
    statuses = {name: Status(Code.UNSCHEDULABLE, *one.reasons) for name, one in first.items()}
    for_all = (
        ", ".join(reason.text for one in [*first.values()][:1] for reason in one.reasons) if refusals.of_all else ""
    )
    return fit_error(len(statuses), statuses, pre_filter=for_all)


MANY = 1_000_000
"""Stands for a number of devices that is not known."""


MOST_NODES = 50
"""Nodes of one attempt that are looked at closely."""

_KINDS = ("selector", "pool")
"""Checks that take away devices of another kind, or that are not known."""


class DeviceReason(NamedTuple):
    """What is in the way on a node.

    `taken_before`: the claims would fit, but pods that come first take the room. `most` is how many devices the
    request that fails could have at most, if nobody else had any. `request` is its own name, `offer` what the node has.
    """

    leading: LeadingReason
    taken_before: bool
    most: int
    request: str = ""
    offer: NodeOffer | None = None

    def removed(self) -> list[RemovedDevices]:
        """The devices that the failing request could have, if they were not taken, or refused for what they lack."""
        from dra_plan.explanation.parts import removal

        offer, request = self.offer, self.request
        if offer is None or self.leading.need is None:
            return []
        found = (each for each in offer.funnels if each.want.full_name == request)
        made = [removal(offer, funnel, each) for funnel in found for each in funnel.removals if each.step not in _KINDS]
        return [each for each in made if each.wanted != 0]


class DeviceReasons:
    """What is in the way of the claims of one pod, node by node."""

    def __init__(
        self, plan: ClaimSetPlan | None, attempt: DeviceAttempt | None, inventory: Inventory, max_steps: int | None
    ) -> None:
        self._inventory, self._max_steps = inventory, max_steps
        self._found: dict[str, DeviceReason] = {}
        self._attempt = attempt
        if plan is not None and plan.explanation is not None and not (attempt is not None and attempt.has_more):
            self._add(plan.explanation.groups, frozenset())
        if attempt is not None:
            self._look_at(attempt, _fitting(plan) if not attempt.has_more else frozenset())

    def of(self, node: str) -> DeviceReason | None:
        """What is in the way on the node, if it was found out."""
        found = self._found.get(node)
        if found is None or self._attempt is None or found.leading.request is None:
            return found
        name = self._attempt.resource_of(found.leading.request)
        return found._replace(leading=structs.replace(found.leading, request=name), request=found.leading.request)

    def _add(self, groups: Iterable[NodeGroup], fitting: frozenset[str]) -> None:
        from dra_plan.explanation.document import leading_reasons

        for group in groups:
            most = _most(group)
            for reason in leading_reasons([group]):
                for node, offer in zip(group.nodes, group.offers, strict=True):
                    name = node.metadata.name
                    found = DeviceReason(reason, name in fitting, most.get(reason.request, MANY), reason.request, offer)
                    self._found.setdefault(name, found)

    def _look_at(self, attempt: DeviceAttempt, fitting: frozenset[str]) -> None:
        nodes = [node for node in attempt.nodes if node.metadata.name not in self._found]
        step = -(-len(nodes) // MOST_NODES) or 1
        if nodes:
            self._add(self._explained(attempt, nodes[::step]), fitting)

    def _explained(self, attempt: DeviceAttempt, nodes: Sequence[Node]) -> list[NodeGroup]:
        from dra_plan.explanation import explainer

        view = attempt.cluster.with_claims(attempt.all_claims)
        allocator = Allocator(attempt.claims, view, max_steps=self._max_steps)
        claim_set = ClaimSet(claims=attempt.claims, allocated=attempt.allocated)
        answers = [allocator.allocate(node) for node in nodes]
        refused = [
            (node, answer)
            for node, answer in zip(nodes, answers, strict=True)
            if answer.outcome is not Outcome.FITS or claim_set.out_of_reach(node)
        ]
        told = explainer.explain(
            view,
            self._inventory,
            claim_set,
            [node for node, _ in refused],
            [answer for _, answer in refused],
            max_steps=self._max_steps,
            suggests=False,
        )
        return told.groups


def _most(group: NodeGroup) -> dict[str, int]:
    """By failing request, at most so many devices of a node pass its selectors; nothing where that is not known."""
    if group.offer is None or group.error is not None:
        return {}
    found: dict[str, int] = {}
    for position, funnel in enumerate(group.offer.funnels):
        passing = [_passing(each) for each in group.funnels(position)]
        found[funnel.want.full_name] = max(passing, default=MANY)
    return found


def _passing(funnel: Funnel) -> int:
    if any(removal.step == "pool" for removal in funnel.removals):
        return MANY
    return funnel.devices - sum(len(one.devices) for one in funnel.removals if one.step == "selector")


def _fitting(plan: ClaimSetPlan | None) -> frozenset[str]:
    answers = plan.nodes if plan is not None else ()
    return frozenset(answer.node for answer in answers if answer.outcome is Outcome.FITS)


PODS = "pods"


@dataclass(slots=True)
class _AlikeNodes:
    nodes: list[str] = field(default_factory=list)
    refusals: list[tuple[NodeRefusal, ...]] = field(default_factory=list)


class OnNodes(NamedTuple):
    """The pod that nodes refuse, and the pods that are on a node in the end."""

    pod: Pod
    pods: Callable[[str], Iterable[Pod]]


def refusing_nodes(
    found: NodeRefusals, nodes: Mapping[str, Node], of_devices: DeviceReasons, there: OnNodes
) -> list[RefusingNodes]:
    """The groups, those nearest to taking the pod first: with the fewest reasons, then of the most nodes.

    Nodes that are kept for the control plane, or that are not ready, come last.
    """
    groups: dict[Any, _AlikeNodes] = {}
    place = {name: at for at, name in enumerate(nodes)}
    for name in sorted(found.of_nodes, key=place.__getitem__):
        refusals = found.of_nodes[name]
        leading = _leading(refusals, name, of_devices)
        key = tuple((each.plugin, _texts(each), _keys(each.obstacles)) for each in refusals), _key_of(leading)
        group = groups.setdefault(key, _AlikeNodes())
        group.nodes.append(name)
        group.refusals.append(refusals)
    told = [
        RefusingNodes(nodes=group.nodes, reasons=list(_reasons(group, nodes, of_devices, there)))
        for group in groups.values()
    ]
    return sorted(told, key=lambda one: (_is_kept_free(one), len(one.reasons), -len(one.nodes)))


def _is_kept_free(of: RefusingNodes) -> bool:
    taints = [one.taint.key for reason in of.reasons for one in reason.about if one.taint is not None]
    return any(key in CONTROL_PLANE or (key.startswith(CONDITIONS) and key != UNSCHEDULABLE.key) for key in taints)


def _texts(refusal: NodeRefusal) -> tuple[str, ...]:
    return tuple(reason.text for reason in refusal.reasons)


def _leading(refusals: Iterable[NodeRefusal], node: str, of_devices: DeviceReasons) -> DeviceReason | None:
    is_about_devices = any(each.plugin == plugin_names.DYNAMIC_RESOURCES for each in refusals)
    return of_devices.of(node) if is_about_devices else None


def _key_of(found: DeviceReason | None) -> Any:
    if found is None:
        return None
    leading = found.leading
    return leading.code, leading.class_, leading.name, leading.request, leading.need, found.taken_before


def _keys(obstacles: Iterable[Obstacle]) -> tuple[Any, ...]:
    return tuple(map(_key, obstacles))


def _key(of: Obstacle) -> Any:
    """What is the same of an obstacle on nodes that are told together."""
    match of:
        case ResourceShort(resource, asked, _, room):
            return resource, asked, room < asked, room == 0
        case LabelUnmet(key, operator, values):
            return key, operator, values
        case PortTaken(protocol, port):
            return protocol, port
        case AffinityUnmet():
            return of.kind, of.topology_key, of.selector
        case SpreadUneven(topology_key, domain):
            return topology_key, domain is None
        case VolumeInUse(claim, disk):
            return claim, disk
        case VolumesFull(driver, asked):
            return driver, asked
    return of


# -- one group ---------------------------------------------------------------------------------------------------------


def _reasons(
    group: _AlikeNodes, nodes: Mapping[str, Node], of_devices: DeviceReasons, there: OnNodes
) -> Iterator[NodeRefusalReason]:
    for place, refusal in enumerate(group.refusals[0]):
        same = [refusals[place] for refusals in group.refusals]
        own = [reason for reason in refusal.reasons if reason.about is not None]
        others = list(_of_plugin(refusal, same, len(own), nodes))
        if refusal.plugin == plugin_names.DYNAMIC_RESOURCES:
            others += _devices(group.nodes, of_devices)
        for number, reason in enumerate(refusal.reasons):
            about = []
            if reason.about is not None:
                at = own.index(reason)
                made = node_obstacle([each.obstacles[at] for each in same], nodes)
                about = [] if made is None else [_of_nodes_there(made, [nodes[name] for name in group.nodes], there)]
            about += others if number == 0 else []
            yield NodeRefusalReason(plugin=refusal.plugin, message=reason.text, counted=place == 0, about=about)


def _of_nodes_there(of: NodeObstacle, nodes: Sequence[Node], there: OnNodes) -> NodeObstacle:
    """The obstacle; of pods, of which the scheduler only says that there are too many, with how many a node takes.

    Of an extended resource with who has it, or with what its device plugin does not offer.
    """
    if of.kind != "Resource":
        return of
    if of.resource == PODS:
        limits = {(node.status.allocatable or node.status.capacity or {}).get(PODS, "") for node in nodes}
        return structs.replace(of, room=limits.pop()) if len(limits) == 1 else of
    of = structs.replace(of, parts=parts(there.pod.spec, of.resource))
    if "/" not in of.resource:
        return of
    has = (nodes[0].status.capacity or {}).get(of.resource, "0")
    if of.room == "0":
        return structs.replace(of, unhealthy=has) if has != "0" else of
    holders = [pod.key for pod in there.pods(nodes[0].metadata.name) if _asks(pod, of.resource)]
    return structs.replace(of, holders=holders, varies=len(nodes) > 1)


def _asks(pod: Pod, resource: str) -> bool:
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return any(resource in one.resources.requests or resource in one.resources.limits for one in containers)


def _of_plugin(
    refusal: NodeRefusal, same: Sequence[NodeRefusal], own: int, nodes: Mapping[str, Node]
) -> Iterator[NodeObstacle]:
    """What the plugin says beside its reasons."""
    for at in range(own, len(refusal.obstacles)):
        made = node_obstacle([each.obstacles[at] for each in same], nodes)
        if made is not None:
            yield made


def _devices(names: Sequence[str], of_devices: DeviceReasons) -> Iterator[NodeObstacle]:
    """What is in the way of the claims, with the range of numbers over the nodes."""
    known = [reason for name in names if (reason := of_devices.of(name)) is not None]
    found = [reason.leading for reason in known]
    if not found:
        return
    best = max(found, key=lambda reason: reason.left or 0)
    lefts = [left for reason in found for left in (reason.left, reason.left_from) if left is not None]
    least = min(lefts, default=None)
    spread = least if least != best.left else None
    told = structs.replace(best, nodes=len(names), left_from=spread)
    most = max(reason.most for reason in known)
    short = best.need is not None and most < best.need
    never = not known[0].taken_before and (short or best.code == "no-devices")
    yield NodeObstacle(
        kind="Devices",
        devices=told,
        taken_before=known[0].taken_before,
        removed=known[0].removed() if not never else [],
        room=str(most) if short and never else "",
        never=never,
    )
