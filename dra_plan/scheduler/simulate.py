"""Run a simulation: from an input to bindings, allocations and messages.

The first part applies a later state of the cluster to a running simulation. The second part, `simulate`, runs one or
more states to the end and collects the result. `scheduler/simulation.py` assembles a simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim, ResourceClaimStatus
from dra_plan.api.scheduling import PodGroup
from dra_plan.documents.scheduling import ScheduledVolume
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.volumes import TABLES, Decision, VolumeStore
from dra_plan.scheduler.framework.plugin_names import NOT_EVALUATED
from dra_plan.scheduler.framework.trace import Tracer
from dra_plan.scheduler.plugins.default_preemption import DefaultPreemption

from . import notices
from .admission import Admission
from .attempts import IN_ORDER, FailedAttempt, PodRecord
from .clock import latest
from .events import Action, Event, Resource
from .notices import GroupSummary, summaries
from .queue import MOST_BACKOFF
from .simulation import Simulation

# -- later states of the cluster ---------------------------------------------------------------------------------------
# Changes become events, and events wake pods. A later state is given as manifests, like the first state. Only the
# differences between the two inputs are applied, so the simulation's own decisions since then (bindings, allocations)
# stay unless an object is changed or deleted. The controllers' work is also done here: claims are generated, and claims
# without users are freed.


class _WithMetadata(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


_Object = TypeVar("_Object", bound=_WithMetadata)


def _index(objects: Iterable[_Object]) -> dict[tuple[str, str], _Object]:
    return {(o.metadata.namespace, o.metadata.name): o for o in objects}


def advance(simulation: Simulation, before: Inventory, after: Inventory) -> None:
    """Apply the differences between two inputs to the simulation.

    The order is nodes, devices, volumes, claims, pod groups, pods.
    """
    later = LaterState(simulation, before, after)
    later.pass_time()
    later.nodes()
    later.devices()
    later.volumes()
    simulation.cluster.set_lookups(after)
    later.claims()
    later.pods()
    simulation.scheduler.bindings.run_all()


class LaterState:
    """The differences between two inputs. Each method applies one kind of difference to a simulation."""

    def __init__(self, simulation: Simulation, before: Inventory, after: Inventory) -> None:
        self._simulation = simulation
        self._cluster = simulation.cluster
        self._before, self._after = before, after

    def pass_time(self) -> None:
        """Advance the clock to the newest time in the later input, and at least until all backoffs have ended."""
        clock = self._simulation.clock
        times = [pod.metadata.creation_timestamp for pod in self._after.pods]
        times += [claim.metadata.creation_timestamp for claim in self._after.claims]
        times += [claim.allocation.allocation_timestamp for claim in self._after.claims if claim.allocation is not None]
        clock.advance_to(max(latest(times), clock.now + MOST_BACKOFF))

    # Nodes

    def nodes(self) -> None:
        """Add, change and remove nodes as in the later input."""
        old, new = _index(self._before.nodes), _index(self._after.nodes)
        if old == new:
            return
        self._cluster.set_nodes(self._after.nodes)
        for key, node in new.items():
            known = old.get(key)
            if known is None:
                self._cluster.emit(Resource.NODE, Action.ADD, None, node)
            elif known != node:
                self._cluster.emit(Resource.NODE, _node_change(known, node), known, node)
        for key, node in old.items():
            if key not in new:
                self._cluster.emit(Resource.NODE, Action.DELETE, node, None)

    # Devices

    def devices(self) -> None:
        """Change slices, classes and taint rules as in the later input.

        A changed rule counts as an update of the slices.
        """
        before, after, cluster = self._before, self._after, self._cluster
        changed = [
            before.slices != after.slices,
            before.classes != after.classes,
            before.taint_rules != after.taint_rules,
        ]
        if not any(changed):
            return
        cluster.set_devices(after)
        self._emit_all(Resource.CLASS, _index(before.classes), _index(after.classes))
        self._emit_all(Resource.SLICE, _index(before.slices), _index(after.slices))
        if changed[2]:
            for slice_ in after.slices:
                cluster.emit(Resource.SLICE, Action.UPDATE_OTHER, slice_, slice_)

    def _emit_all(
        self, kind: Resource, old: Mapping[tuple[str, str], object], new: Mapping[tuple[str, str], object]
    ) -> None:
        for key in (*old, *(key for key in new if key not in old)):
            if key not in new:
                self._cluster.emit(kind, Action.DELETE, old[key], None)
            elif key not in old:
                self._cluster.emit(kind, Action.ADD, None, new[key])
            elif old[key] != new[key]:
                self._cluster.emit(kind, Action.UPDATE_OTHER, old[key], new[key])

    # Volumes

    def volumes(self) -> None:
        """Change volumes, volume claims and the other storage objects as in the later input.

        An object that is equal in both inputs keeps its state in the simulation.
        """
        for kind, holder in TABLES.items():
            old, new = _index(getattr(self._before, holder)), _index(getattr(self._after, holder))
            for key in sorted(old.keys() | new.keys()):
                if old.get(key) != new.get(key):
                    self._cluster.volumes.change(kind, old.get(key), new.get(key))

    # Claims

    def claims(self) -> None:
        """Add, change and remove claims as in the later input.

        A claim whose status is equal in both inputs keeps its status in the simulation.
        """
        old, new = _index(self._before.claims), _index(self._after.claims)
        for key, claim in old.items():
            if key not in new:
                self._cluster.delete_claim(claim)
        for key, claim in new.items():
            known = old.get(key)
            if known is None or known != claim:
                self._cluster.put_claim(self._merged(known, claim))

    def _merged(self, before: ResourceClaim | None, after: ResourceClaim) -> ResourceClaim:
        stored = self._cluster.claims.get(after.metadata.namespace, after.metadata.name)
        uid = after.metadata.uid or (stored.metadata.uid if stored is not None else f"claim:{after.key}")
        claim = replace(after, metadata=replace(after.metadata, uid=uid))
        if stored is None or stored.status is None or before is None:
            return claim
        was, now = before.status or ResourceClaimStatus(), after.status or ResourceClaimStatus()
        if was.allocation == now.allocation and was.reserved_for == now.reserved_for:
            devices = now.devices if was.devices != now.devices else stored.status.devices
            return replace(claim, status=replace(stored.status, devices=devices))
        return claim

    # Pods

    def pods(self) -> None:
        """Remove, change and add pods as in the later input, with their generated claims."""
        order, features = self._simulation.order, self._simulation.target.features
        ordered = self._simulation.ordered
        admission = Admission(self._after, order, features, ordered=ordered)
        given, generated = admission.claims(admission.pods())
        self._simulation.ordered_sets = admission.ordered_sets
        for claim in generated:
            if self._cluster.claims.get(claim.metadata.namespace, claim.metadata.name) is None:
                self._cluster.put_claim(claim)
        self._groups(admission.groups)
        new = {pod_uid(pod): pod for pod in given}
        old = {pod_uid(pod): pod for pod in Admission(self._before, order, features, ordered=ordered).pods()}
        names = {pod.key for pod in given}
        for uid in [uid for uid in self._cluster.pods if uid in self._simulation.made]:
            if self._cluster.pods[uid].key in names and uid not in new:  # the cluster has created it in the meantime
                self._gone(self._cluster.pods[uid])
        for uid in old:
            if uid not in new and uid in self._cluster.pods:
                self._gone(self._cluster.pods[uid])
        for uid, pod in new.items():
            if uid not in old:
                self._arrived(pod)
            elif uid in self._cluster.pods:
                self.change_pod(old[uid], pod, self._cluster.pods[uid])

    def _groups(self, given: Iterable[PodGroup]) -> None:
        """Apply pod groups that are added, changed or removed; a group's status stays as simulated."""
        groups = {(group.metadata.namespace, group.metadata.name): group for group in given}
        for known in list(self._cluster.groups.all()):
            key = (known.metadata.namespace, known.metadata.name)
            if key not in groups:
                self._cluster.groups.remove(key)
        for key, group in groups.items():
            old = self._cluster.groups.get(key)
            if old is None or old.spec != group.spec:
                self._cluster.add_group(group)

    def _arrived(self, pod: Pod) -> None:
        self._cluster.add_pod(pod)
        self._simulation.admit(pod)

    def _gone(self, pod: Pod) -> None:
        """Delete the pod and its generated claims.

        Claims that only this pod used lose their devices first, which is an event.
        """
        uid = pod_uid(pod)
        self._simulation.scheduler.queue.done(uid)
        self._simulation.handle.nominator.clear(uid)
        self._cluster.delete_pod(pod)
        for claim in list(self._cluster.claims):
            self._release(claim, uid)
            owner = claim.metadata.controller
            if owner is not None and owner.kind == "Pod" and owner.uid == uid:
                self._cluster.delete_claim(claim)

    def _release(self, claim: ResourceClaim, uid: str) -> None:
        status = claim.status
        if status is None or all(user.uid != uid for user in status.reserved_for):
            return
        users = [user for user in status.reserved_for if user.uid != uid]
        freed = replace(status, reserved_for=users) if users else ResourceClaimStatus()
        self._cluster.put_claim(replace(claim, status=freed))

    def change_pod(self, was: Pod, now: Pod, current: Pod) -> None:
        """Change a pod as in the later input. A pod that got a node in the simulation keeps it."""
        if current.spec.node_name:
            self._changed_on_node(was, now, current)
            return
        if now.spec.node_name:
            self._gone_to(now)
            return
        action = pod_change(was, now, current)
        if was == now and not action:
            return
        self._cluster.update_pod(now)
        record = self._simulation.scheduler.records.of(now)
        record.pod = now
        event = Event(Resource.UNSCHEDULED_POD, action, current, now) if action else None
        self._simulation.scheduler.queue.update(self._cluster.info(now), event)

    def _gone_to(self, pod: Pod) -> None:
        """Record that another component bound the pod."""
        self._simulation.scheduler.queue.done(pod_uid(pod))
        self._cluster.add_pod(pod)
        record = self._simulation.scheduler.records.of(pod)
        record.pod, record.node, record.message, record.reason = pod, pod.spec.node_name, "", ""

    def _changed_on_node(self, was: Pod, now: Pod, current: Pod) -> None:
        if was == now:
            return
        node = current.spec.node_name
        placed = replace(now, spec=replace(now.spec, node_name=node))
        told = "node_allocatable_resource_claim_statuses"
        if getattr(was.status, told) == getattr(now.status, told):
            placed = replace(placed, status=replace(now.status, **{told: getattr(current.status, told)}))
        action = pod_change(was, now, current)
        self._cluster.replace_pod(current, placed, action)


def _node_change(old: Node, new: Node) -> Action:
    action = Action(0)
    if old.metadata.labels != new.metadata.labels:
        action |= Action.UPDATE_NODE_LABEL
    if old.status.allocatable != new.status.allocatable:
        action |= Action.UPDATE_NODE_ALLOCATABLE
    if old.spec.taints != new.spec.taints or old.spec.unschedulable != new.spec.unschedulable:
        action |= Action.UPDATE_NODE_TAINT
    return action or Action.UPDATE_OTHER


def pod_change(was: Pod, now: Pod, current: Pod) -> Action:
    """Return which changes of the pod may concern plugins, or 0 if there are none."""
    action = Action(0)
    if was.metadata.labels != now.metadata.labels:
        action |= Action.UPDATE_POD_LABEL
    if was.spec.tolerations != now.spec.tolerations:
        action |= Action.UPDATE_POD_TOLERATION
    if was.spec.scheduling_gates and not now.spec.scheduling_gates:
        action |= Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    if now.status.resource_claim_statuses != current.status.resource_claim_statuses:
        action |= Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM
    if was.spec.containers != now.spec.containers:
        action |= Action.UPDATE_POD_SCALE_DOWN
    return action


# -- running a simulation, and its result ------------------------------------------------------------------------------


class Eviction(Struct, frozen=True):
    """A pod that is evicted to make room for another."""

    victim: str
    preemptor: str
    node: str


class SimulationResult(Struct):
    """The outcome for every pod and claim. `pods` are in the order in which the scheduler first saw them."""

    target: Target
    api_server: str
    pods: list[PodRecord]
    groups: list[GroupSummary]
    claims: list[ResourceClaim]
    volumes: list[ScheduledVolume] = field(default_factory=list)
    """The volume claims that had no volume in the input."""
    evictions: list[Eviction] = field(default_factory=list)
    not_evaluated: tuple[str, ...] = NOT_EVALUATED
    undecided: dict[str, list[str]] = field(default_factory=dict)
    """For each pod, the nodes on which the search reached the step limit."""
    notices: list[Notice] = field(default_factory=list)
    tracer: Tracer | None = None
    failed_attempts: list[FailedAttempt] = field(default_factory=list)
    """The last attempts of pods without a node that failed because of claims, if they were recorded."""

    @property
    def unbound(self) -> list[PodRecord]:
        """The pods without a node."""
        return [record for record in self.pods if not record.node]

    def is_undecided(self, record: PodRecord) -> bool:
        """Return whether the pod has no node because the search for one was cut short."""
        return not record.node and (record.ran_out or bool(self.undecided.get(record.pod.key)))


def simulate(simulation: Simulation, then: Iterable[Inventory] = (), *, tells: bool = True) -> SimulationResult:
    """Schedule all pods until nothing changes any more, in the input and then in each later state.

    The result has notices only if `tells` is set.
    """
    simulation.start()
    before = simulation.inventory
    for after in then:
        advance(simulation, before, after)
        simulation.run()
        before = after
    return result_of(simulation, tells=tells)


def eviction_count(simulation: Simulation) -> int:
    """Return the number of preemptions. Pods of the same name that are preempted one after another all count."""
    plugins: list[DefaultPreemption] = simulation.plugins_of(DefaultPreemption)
    return sum(len(plugin.evictions) for plugin in plugins) + len(simulation.scheduler.groups.evictions)


def decided_evictions(simulation: Simulation) -> Iterator[Eviction]:
    """Yield all preemptions in the order in which they were decided. A name may occur again for another pod."""
    for plugin in simulation.plugins_of(DefaultPreemption):
        for preemptor, victim, node in plugin.evictions:
            yield Eviction(victim.key, preemptor.key, node)
    for group, victim, node in simulation.scheduler.groups.evictions:
        yield Eviction(victim, f"podgroup/{group}", node)


def evictions_of(simulation: Simulation) -> list[Eviction]:
    """Return the preempted pods, each with the first pod that preempted it, in the order of the decisions."""
    first: dict[str, Eviction] = {}
    for each in decided_evictions(simulation):
        first.setdefault(each.victim, each)
    return list(first.values())


def result_of(simulation: Simulation, *, tells: bool = True) -> SimulationResult:
    """Return the current outcome for every pod and claim. The result has notices only if `tells` is set."""
    evictions = evictions_of(simulation)
    gates = {item.uid: item for item in simulation.scheduler.queue.gated}
    kept = simulation.scheduler.records
    for item in gates.values():
        record = kept.of(item.pod)
        if not record.message:
            record.waiting, record.held_by = item.gate_message, item.gated_by
    if simulation.target.features.node_allocatable:
        for uid, pod in simulation.cluster.pods.items():
            known = kept.by_uid.get(uid)
            if known is not None and known.node and known.node_allocatable != simulation.cluster.info(pod).claimed:
                kept.of(pod).node_allocatable = simulation.cluster.info(pod).claimed
    records = [record for uid, record in kept.by_uid.items() if uid in simulation.cluster.pods]
    records += [_in_its_turn(pod, owner.metadata.name) for pod, owner in simulation.yet_to_be_made()]
    return SimulationResult(
        target=simulation.target,
        api_server=simulation.api_server,
        pods=records,
        groups=summaries(simulation.cluster, simulation.scheduler.groups.records, gates),
        claims=list(simulation.cluster.claims),
        volumes=_volumes(simulation.cluster.volumes),
        evictions=evictions,
        undecided={pod: nodes for plugin in simulation.dynamic_resources for pod, nodes in plugin.undecided.items()},
        notices=notices.collect(simulation, records, [each.victim for each in evictions]) if tells else [],
        tracer=simulation.tracer,
        failed_attempts=_failed_attempts(simulation, records),
    )


def in_order(owner: str) -> str:
    """Return the message for a pod that an ordered StatefulSet has not created yet."""
    return f"StatefulSet {owner} creates it once the pods before it are ready"


def _in_its_turn(pod: Pod, owner: str) -> PodRecord:
    """Return the record for a pod that its ordered StatefulSet creates later."""
    return PodRecord(pod, waiting=in_order(owner), held_by=IN_ORDER)


def _volumes(store: VolumeStore) -> list[ScheduledVolume]:
    return [
        ScheduledVolume(pvc="/".join(key), pv=decision.volume, provision=decision.node)
        for key in sorted(store.open)
        for decision in (store.decisions.get(key, Decision()),)
    ]


def _failed_attempts(simulation: Simulation, records: list[PodRecord]) -> list[FailedAttempt]:
    kept = simulation.scheduler.failed_attempts
    if kept is None:
        return []
    attempts = (kept.by_uid.get(pod_uid(record.pod)) for record in records if not record.node and record.message)
    return [attempt for attempt in attempts if attempt is not None]
