"""The API server of a simulation. It creates, changes and deletes objects, and notifies the scheduler.

Pods and claims are kept in the simulation, and all other objects in an inventory that is never changed in place. The
kubelet is assumed to make a bound pod Running and Ready at once, and to remove a deleted pod at once.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import is_
from typing import Any

from msgspec import structs

from dra_plan.api.core import Node, Pod, PodResourceClaimStatus
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.well_known import POD_CLAIM_ANNOTATION
from dra_plan.api.workloads import AnyWorkload, pod_template
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended
from dra_plan.scheduler.admission import NAME
from dra_plan.scheduler.clock import format_time
from dra_plan.scheduler.cluster.claims import users
from dra_plan.scheduler.cluster.keys import claim_key, pod_uid
from dra_plan.scheduler.events import Action, Event, Resource
from dra_plan.scheduler.preemption import REASON, is_victim, preemption_message
from dra_plan.scheduler.simulate import LaterState, decided_evictions, eviction_count, pod_change
from dra_plan.scheduler.simulation import Simulation

from .absent_owners import absent_owners, unlisted_templates
from .disruption import budgets
from .endings import EXPECTED, FINISHED
from .looked import Looked
from .quota import BESIDE_PODS, QuotaLedger, Quotas
from .state import ClusterState, DeviceWithTaint, EndCause, EndedPod, needs_none
from .workloads import given_revisions, revision


class ApiServer:
    """The API server that controllers and events write to.

    Methods that may be rejected return the message for the client.
    """

    def __init__(
        self,
        simulation: Simulation,
        quotas: Quotas,
        never_ready: Collection[str] = (),
        uncharged: Callable[[Pod], bool] = lambda _pod: False,
    ) -> None:
        """Create the server. `never_ready` are the keys (NAMESPACE/NAME) of pods that start but never become ready.

        Pods for which `uncharged` is true do not count towards quotas, and neither do their claims.
        """
        self._never_ready = frozenset(never_ready)
        self._uncharged = uncharged
        self._simulation = simulation
        self._cluster = simulation.cluster
        self.inventory = replace(simulation.inventory)
        if simulation.order == NAME:
            self.inventory.workloads = sorted(self.inventory.workloads, key=_name)
        self._templates = Index(self.inventory)
        """The index in which claim templates are looked up until they change."""
        self.start = simulation.clock.now
        self.quotas, self.ledger = quotas, QuotaLedger(quotas)
        self._has_special_claims = False
        """True if the scheduler has created claims, which are added and removed independently."""
        self.ended: list[EndedPod] = []
        self._rules_are_lost = simulation.target.quirks.taint_rule_crashes
        self.crashed = False
        """True if the scheduler has crashed on a device taint rule (quirk E3) and no longer runs."""
        self.made: dict[str, int] = {}
        """For each pod created by a controller, by UID, how many pods had ended or were ending at that time."""
        self._revisions: dict[str, object] = {}
        self._lost_nodes: dict[str, float] = {}
        self.evicted_at: dict[str, float] = {}
        """The times that are already set for evictions by node taints, by the UID of the pod."""
        self._changed: dict[tuple[str, str, str], float] = {}
        self._last: ClusterState | None = None
        self._last_of: tuple[Inventory, int, int] = (self.inventory, 0, 0)
        """The other objects in the last state, with the numbers of ended pods and of objects changed by events."""
        self._homeless: dict[str, int] = {}
        """The UIDs of the pods that had no node at the last check, numbered in order of arrival."""
        self._numbers = itertools.count()
        self._evictions_seen = -1
        """The number of preemptions when no victims were left; -1 if there was no check since pods arrived."""
        self._unseen: dict[str, None] = {}
        """The UIDs of pods that controllers have created and the scheduler has not yet seen, in order."""
        self.runs: dict[tuple[str, str, str], float] = {}
        """How many seconds pods run before they end, by kind, namespace and name of the object that creates them."""
        self._ends: list[tuple[float, str]] = []
        """A heap of the times at which pods end, with the pods' UIDs."""
        self.arrived: dict[str, float] = {}
        """The time at which each pod without a node arrived, by UID. For pods in the input, this is the start."""
        self.started: dict[str, float] = {}
        """The time at which each pod was scheduled, by UID. Pods that had a node at the start are left out."""
        self.evicted = 0
        """The number of pods that ended although no event requested it."""
        self._ended_uids: dict[str, EndedPod] = {}
        self._looked_at = Looked()
        self._has_orphans = any(
            each.metadata.controller is None and POD_CLAIM_ANNOTATION in (each.metadata.annotations or {})
            for each in simulation.inventory.claims
        )
        """True if some claims that were created for pods no longer say for which pods."""
        self._generations: Counter[str] = Counter()
        self._names = {pod.key: uid for uid, pod in self._cluster.pods.items()}
        """The UIDs of present and former pods; the last pod for each namespace and name."""
        quotas.watch(lambda: self.inventory.classes, self._charged)
        simulation.handle.refuses_claim = self._refuses_special
        simulation.handle.victims_linger = True
        given = {pod_uid(pod): pod for pod in simulation.inventory.pods}
        self._revisions.update(given_revisions(simulation.inventory))
        self._absent_owners = absent_owners(simulation.inventory)
        self._unlisted_templates = unlisted_templates(simulation.inventory)
        for uid, pod in self._cluster.pods.items():
            if uid not in given:
                self._note_made(pod)
            if not pod.spec.node_name:
                self._homeless[uid] = next(self._numbers)
                if not ended(pod):
                    self.arrived[uid] = self.start

    def parts(self) -> Iterable[object]:
        """Return the parts of the API server that a fork of the simulation has to save."""
        return self.quotas, self.ledger, self._looked_at

    @property
    def waiting(self) -> int:
        """The number of pods without a node."""
        pods = self._cluster.pods
        return sum(uid in pods and not pods[uid].spec.node_name and not ended(pods[uid]) for uid in self._homeless)

    @property
    def now(self) -> float:
        """The simulated time, in seconds since the epoch."""
        return self._simulation.clock.now

    def state(self) -> ClusterState:
        """Return the current state. The same object is returned until something changes."""
        pods, claims = list(self._cluster.pods.values()), list(self._cluster.claims)
        last = self._last
        if last is not None and self._is_as_in(last, pods, claims):
            return last
        inventory = self.inventory.holding(pods, claims)
        self._last_of = (self.inventory, len(self.ended), len(self._changed))
        self._last = self._made_state(inventory, self.ended)
        return self._last

    def _is_as_in(self, last: ClusterState, pods: Sequence[Pod], claims: Sequence[ResourceClaim]) -> bool:
        known, ended_before, changed_before = self._last_of
        return (
            known is self.inventory
            and (last.now, ended_before, changed_before) == (self.now, len(self.ended), len(self._changed))
            and _same(last.inventory.pods, pods)
            and _same(last.inventory.claims, claims)
        )

    def _made_state(self, inventory: Inventory, ended: Sequence[EndedPod]) -> ClusterState:
        return ClusterState(
            now=self.now,
            start=self.start,
            inventory=inventory,
            target=self._simulation.target,
            ended=ended,
            made=self.made.keys(),
            revisions=self._revisions,
            lost_nodes=self._lost_nodes,
            changed=self._changed,
            evicted_at=self.evicted_at,
            absent_owners=self._absent_owners,
            unlisted_templates=self._unlisted_templates if self.ended or self.inventory.returning else {},
            has_device_taints=self._looked_at.is_device_tainted(inventory.slices),
            known=self._index_of_templates(),
        )

    def _index_of_templates(self) -> Index:
        if self._templates.inventory.templates is not self.inventory.templates:
            self._templates = Index(self.inventory)
        return self._templates

    # Controllers with work to do

    def may_evict(self) -> bool:
        """Return whether any taint or node condition could evict pods."""
        inventory = self.inventory
        return (
            bool(inventory.taint_rules)
            or self._looked_at.is_device_tainted(inventory.slices)
            or self._looked_at.is_node_troubled(inventory.nodes)
            or (bool(self._lost_nodes) and self._cluster.has_lost_pods())
        )

    def may_make(self) -> bool:
        """Return whether there are controllers that create pods."""
        return bool(self.inventory.workloads or self._absent_owners)

    def releasing(self) -> ClusterState | None:
        """Return the part of the state that decides which claims are freed now, or None if there is nothing to check.

        It contains the claims that changed, the claims of pods that changed, and the pods that use these claims.
        """
        claims, looked = self._cluster.claims, self._looked_at
        looked.note(self._cluster.changed_pods)
        if not looked.to_release and not claims.written:
            return None
        found = claims.listed([*claims.written, *claims.keys_used_by(looked.to_release)])
        uids = dict.fromkeys([*looked.to_release, *(uid for claim in found for uid in users(claim))])
        looked.to_release.clear()
        claims.written.clear()
        # a claim to be deleted is removed once it has no users, which does not change the claim
        claims.written.update((claim_key(each), None) for each in found if each.metadata.deletion_timestamp is not None)
        ended = [self._ended_uids[uid] for uid in uids if uid in self._ended_uids]
        pods = self._cluster.pods
        if not found or not (self.ended or any(uid in pods and needs_none(pods[uid]) for uid in uids)):
            return None
        return self._part([*uids], found, ended or self.ended[-1:])

    def generating(self) -> ClusterState | None:
        """Return the part of the state that decides which claims are created now, or None if no pod lacks a claim.

        It contains the pods that may lack claims.
        """
        pods, looked = self._cluster.pods, self._looked_at
        looked.note(self._cluster.changed_pods)
        lacking = looked.lacking(pods)
        if not lacking:
            return None
        named = [*lacking, *(pods[uid].key for uid in lacking)]
        # a claim in the input may belong to a pod whose status does not mention it
        is_given = self._has_orphans or any(uid not in looked.created for uid in lacking)
        claims = list(self._cluster.claims) if is_given else self._cluster.claims.used_by(named)
        return self._part(lacking, claims, self.ended[-1:])

    def _part(self, uids: Sequence[str], claims: list[ResourceClaim], ended: Sequence[EndedPod]) -> ClusterState:
        pods = [self._cluster.pods[uid] for uid in uids if uid in self._cluster.pods]
        return self._made_state(self.inventory.holding(pods, claims), ended)

    def next_end(self) -> float | None:
        """Return the time at which the next pod with a fixed run time ends, or None if there is none."""
        while self._ends and self._ends[0][1] not in self._cluster.pods:
            heapq.heappop(self._ends)
        return self._ends[0][0] if self._ends else None

    def end_due(self) -> bool:
        """End the pods whose run time is over. Return whether there were any.

        Pods of Jobs are not removed, because the Job counts them.
        """
        found = False
        while (moment := self.next_end()) is not None and moment <= self.now:
            _, uid = heapq.heappop(self._ends)
            pod, found = self._cluster.pods[uid], True
            owner = pod.metadata.controller
            if owner is None or owner.kind != "Job":
                self.delete_pod(pod, FINISHED)
            elif not ended(pod):
                self.update_pod(pod, structs.replace(pod, status=structs.replace(pod.status, phase="Succeeded")))
        return found

    def pod(self, namespace: str, name: str) -> Pod | None:
        """Return the pod with this name, or None."""
        return self._cluster.pods.get(self._names.get(f"{namespace}/{name}", ""))

    def is_gone(self, namespace: str, name: str) -> bool:
        """Return whether a pod with this name existed but no longer does."""
        uid = self._names.get(f"{namespace}/{name}")
        return uid is not None and uid not in self._cluster.pods

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """Return the claim with this name, or None."""
        return self._cluster.claims.get(namespace, name)

    def _charged(self, namespace: str) -> Iterator[Any]:
        """Yield the objects in a namespace that quotas may count."""
        free = set()
        for pod in self._cluster.pods.values():
            if pod.metadata.namespace == namespace:
                if self._uncharged(pod):
                    free.add(pod.metadata.name)
                else:
                    yield pod
        for claim in self._cluster.claims:
            owner = claim.metadata.controller
            is_free = owner is not None and owner.kind == "Pod" and owner.name in free
            if claim.metadata.namespace == namespace and not is_free:
                yield claim
        for holder in BESIDE_PODS:
            yield from (each for each in getattr(self.inventory, holder) if each.metadata.namespace == namespace)

    # The scheduler's actions

    def observe(self) -> None:
        """Let kubelets start the pods that the scheduler has bound since the last call."""
        if self._has_special_claims:
            self.ledger.forget()
        pods, homeless, moved = self._cluster.pods, self._homeless, self._cluster.moved_pods
        if not moved:
            return
        for uid in sorted((uid for uid in moved if uid in homeless), key=homeless.__getitem__):
            now_there = pods.get(uid)
            if now_there is None:
                del homeless[uid]
            elif now_there.spec.node_name:
                del homeless[uid]
                self.started[uid] = self.now
                self._run(now_there)
        moved.clear()

    def victims(self) -> dict[str, Pod]:
        """Return the preempted pods that have not ended yet, by NAMESPACE/NAME."""
        count = eviction_count(self._simulation)
        if count == self._evictions_seen:
            return {}
        found = {pod.key: pod for pod in self._cluster.pods.values() if is_victim(pod)}
        if not found:
            self._evictions_seen = count
        return found

    def end_victim(self) -> tuple[Pod, str]:
        """Remove the pod that was preempted first. Return it with the message of the scheduler's event."""
        victims = self.victims()
        decided = next((each for each in decided_evictions(self._simulation) if each.victim in victims), None)
        by = decided.preemptor if decided is not None else "another pod"
        victim = victims[decided.victim] if decided is not None else next(iter(victims.values()))
        message = preemption_message(victim)
        self.delete_pod(victim, EndCause(by=f"preemption by {by}", reason=REASON, message=message, is_disruption=True))
        uids = (pod.metadata.uid for pod in self._cluster.pods.values() if pod.key == by)
        return victim, f"Preempted by pod {next(uids, by)} on node {victim.spec.node_name}"

    def _run(self, pod: Pod) -> None:
        """Start the pod, which is immediately ready, unless it is one of those that never are."""
        phase = "Pending" if pod.key in self._never_ready else "Running"
        seconds = self.runs.get(("Pod", pod.metadata.namespace, pod.metadata.name)) if self.runs else None
        owner = pod.metadata.controller
        if seconds is None and owner is not None:
            seconds = self.runs.get((owner.kind, pod.metadata.namespace, owner.name))
        if seconds is not None:
            heapq.heappush(self._ends, (self.now + seconds, pod_uid(pod)))
        status = structs.replace(pod.status, phase=phase, start_time=format_time(self.now))
        self._cluster.restate_pod(structs.replace(pod, status=status))

    # Pods

    def create_pod(self, pod: Pod, *, made: bool) -> str:
        """Create the pod and return "", or return the API server's message if it rejects the pod.

        `made` says whether a controller creates the pod, rather than an event. The scheduler then sees the pod only
        after `show_made`, when its claims exist.
        """
        if self._names.get(pod.key) in self._cluster.pods:
            return f'pods "{pod.metadata.name}" already exists'
        self._generations[pod.key] += 1
        if not pod.metadata.uid:
            uid = f"pod:{pod.key}:{self._generations[pod.key]}" if pod.key in self._names else f"pod:{pod.key}"
            pod = structs.replace(pod, metadata=structs.replace(pod.metadata, uid=uid))
        pod = self._simulation.admitted(self.quotas.limited(pod))
        refusal = self.ledger.refuses(pod)
        if refusal:
            return refusal
        stamped = structs.replace(pod.metadata, creation_timestamp=format_time(self.now))
        pod = structs.replace(pod, metadata=stamped, status=structs.replace(pod.status, phase="Pending"))
        self._cluster.add_pod(pod)
        self._looked_at.created.add(pod_uid(pod))
        self._names[pod.key] = pod_uid(pod)
        if made and not pod.spec.node_name:
            self._unseen[pod_uid(pod)] = None
        else:
            self._simulation.admit(pod)
        if made:
            self._note_made(pod)
        if pod.spec.node_name:
            self._run(pod)
        else:
            self._homeless[pod_uid(pod)] = next(self._numbers)
            self.arrived[pod_uid(pod)] = self.now
        return ""

    def put_pod(self, pod: Pod) -> None:
        """Add a pod from the input, unchanged."""
        self._names[pod.key] = pod_uid(pod)
        self._evictions_seen = -1
        self.ledger.forget()
        self._cluster.add_pod(pod)
        self._simulation.admit(pod)
        if not pod.spec.node_name:
            self._homeless[pod_uid(pod)] = next(self._numbers)

    def show_made(self) -> None:
        """Show the scheduler the pods that controllers have created, in the order of their creation."""
        for uid in self._unseen:
            pod = self._cluster.pods.get(uid)
            if pod is not None:
                self._simulation.admit(pod)
        self._unseen.clear()

    def _refuses_special(self, claim: ResourceClaim) -> str:
        """Return the message if the scheduler may not create a claim for extended resources, or "" if it may."""
        self._has_special_claims = True
        self.ledger.forget()
        return self.quotas.refuses(claim)

    def refusal(self, pod: Pod) -> str:
        """Return the API server's reason for rejecting the pod, or "" if it would accept the pod."""
        return self.quotas.refuses(self._simulation.admitted(self.quotas.limited(pod)))

    def _note_made(self, pod: Pod) -> None:
        uid = pod_uid(pod)
        going = len(self.victims()) if eviction_count(self._simulation) else 0
        self.made[uid] = len(self.ended) + going
        owner = pod.metadata.controller
        workload = self._cluster.workloads.get((owner.kind, pod.metadata.namespace, owner.name)) if owner else None
        if workload is not None:
            self._revisions[uid] = revision(pod_template(workload))

    def delete_pod(
        self, pod: Pod, cause: EndCause, rules: tuple[str, ...] = (), taint: DeviceWithTaint | None = None
    ) -> None:
        """Delete the pod, but not its claims, which are left to the claim controller."""
        uid = pod_uid(pod)
        current = self._cluster.pods.get(uid)
        if current is None:
            return
        self._simulation.scheduler.queue.done(uid)
        self._simulation.handle.nominator.clear(uid)
        self._cluster.delete_pod(current)
        self._homeless.pop(uid, None)
        self.ledger.forget()
        self.evicted += cause not in EXPECTED
        self.ended.append(EndedPod(current, self.now, cause, rules, taint))
        self._ended_uids[uid] = self.ended[-1]

    # Claims

    def create_claim(self, claim: ResourceClaim, pod: Pod, entry: str) -> str:
        """Create the claim, record its name in the pod's status, and return "".

        If the API server rejects the claim, return its message instead.
        """
        namespace, name = claim.metadata.namespace, claim.metadata.name
        known = self._cluster.claims.get(namespace, name)
        if known is None or known.metadata.controller is None or known.metadata.controller.uid != pod.metadata.uid:
            claim = self._named(claim)
            refusal = self.ledger.refuses(claim)
            if refusal:
                return refusal
            self._cluster.put_claim(claim)
        current = self._cluster.pods[pod_uid(pod)]
        status = PodResourceClaimStatus(name=entry, resource_claim_name=claim.metadata.name)
        listed = [*current.status.resource_claim_statuses, status]
        now = structs.replace(current, status=structs.replace(current.status, resource_claim_statuses=listed))
        self._update_waiting(current, now, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return ""

    def _named(self, claim: ResourceClaim) -> ResourceClaim:
        """Return the claim under a name that no other claim has, with a UID."""
        metadata = claim.metadata
        name, number = metadata.name, 1
        while self._cluster.claims.get(metadata.namespace, name) is not None:
            number += 1
            name = f"{metadata.name}-{number}"
        uid = f"claim:{metadata.namespace}/{name}:{format_time(self.now)}"
        return structs.replace(claim, metadata=structs.replace(metadata, name=name, uid=metadata.uid or uid))

    def write_claim(self, claim: ResourceClaim) -> None:
        """Create or update the claim."""
        self.ledger.forget()
        if not claim.metadata.uid:
            claim = structs.replace(claim, metadata=structs.replace(claim.metadata, uid=f"claim:{claim.key}"))
        self._cluster.put_claim(claim)

    def delete_claim(self, claim: ResourceClaim) -> None:
        """Delete the claim. An allocated claim is deallocated first, which is a separate event."""
        self.ledger.forget()
        if claim.status is not None and claim.status.allocation is not None:
            self._cluster.put_claim(structs.replace(claim, status=None))
        self._cluster.delete_claim(claim)

    def ask_to_delete_claim(self, claim: ResourceClaim) -> None:
        """Delete the claim, or mark it for deletion if pods use it. A finalizer then keeps it until these pods end."""
        if not any(user.uid in self._cluster.pods for user in claim.reserved_for):
            self.delete_claim(claim)
        elif claim.metadata.deletion_timestamp is None:
            metadata = structs.replace(claim.metadata, deletion_timestamp=format_time(self.now))
            self._cluster.put_claim(structs.replace(claim, metadata=metadata))

    def _update_waiting(self, was: Pod, now: Pod, action: Action) -> None:
        self._cluster.update_pod(now)
        if pod_uid(now) in self._unseen:
            return
        self._simulation.scheduler.records.of(now).pod = now
        event = Event(Resource.UNSCHEDULED_POD, action, was, now)
        self._simulation.scheduler.queue.update(self._cluster.info(now), event)

    # Other objects

    def update_pod(self, was: Pod, now: Pod) -> None:
        """Update a pod after an event or after a change to its status."""
        self._evictions_seen = -1
        self.ledger.forget()
        if was.spec.node_name:
            self._cluster.replace_pod(was, now, Action.UPDATE_OTHER)
        elif ended(now):
            self._simulation.scheduler.queue.done(pod_uid(now))
            self._cluster.update_pod(now)
        else:
            self._update_waiting(was, now, Action.UPDATE_OTHER | pod_change(was, now, was))

    def write_node(self, node: Node) -> None:
        """Replace the node that has the same name."""
        nodes = [node if each.metadata.name == node.metadata.name else each for each in self.inventory.nodes]
        self.replace_objects("nodes", nodes)

    def replace_objects(self, holder: str, objects: list[Any]) -> None:
        """Replace all objects of a kind other than pods and claims. The scheduler gets an event for each change."""
        self.ledger.forget()
        before = self.inventory
        self.inventory = after = replace(before, **{holder: objects})  # type: ignore[arg-type]
        later = LaterState(self._simulation, self._seen(before), self._seen(after))
        if holder in ("slices", "classes") and self._rules_are_lost and after.taint_rules:
            self.crashed = True
        later.nodes()
        later.devices()
        later.volumes()
        self._cluster.set_lookups(after)
        if holder == "nodes":
            names = {node.metadata.name for node in objects}
            gone = {node.metadata.name for node in before.nodes} - names
            self._lost_nodes = {
                **{name: at for name, at in self._lost_nodes.items() if name not in names},
                **dict.fromkeys(gone, self.now),
            }
        if holder in ("quotas", "limit_ranges"):
            self.quotas.renew(after)

    def _seen(self, inventory: Inventory) -> Inventory:
        """Return the objects as the scheduler sees them; with E3, it never receives rules that are created later."""
        if not self._rules_are_lost:
            return inventory
        return replace(inventory, taint_rules=self._simulation.inventory.taint_rules)

    def note_change(self, kind: str, namespace: str, name: str) -> None:
        """Record that an event has changed the object at the current time."""
        self._changed[kind, namespace, name] = self.now

    def count_budgets(self) -> None:
        """Recompute how many evictions each PodDisruptionBudget allows."""
        if self.inventory.disruption_budgets:
            counted = budgets(self.state())
            self.inventory = replace(self.inventory, disruption_budgets=counted)
            self._cluster.budgets = counted

    def objects(self, holder: str) -> Iterable[Any]:
        """Return all current objects of a kind. `holder` is the kind's field in Inventory."""
        if holder == "pods":
            return list(self._cluster.pods.values())
        if holder == "claims":
            return list(self._cluster.claims)
        objects: list[Any] = getattr(self.inventory, holder)
        return objects


def _name(workload: AnyWorkload) -> tuple[str, str, str]:
    return workload.metadata.namespace, workload.metadata.name, workload.kind


def _same(one: Sequence[object], other: Sequence[object]) -> bool:
    """Return whether these are the identical objects in the same order."""
    return len(one) == len(other) and all(map(is_, one, other))
