"""Settle a cluster: run the scheduler and the controllers in simulated time until nothing changes any more.

The other modules of this package implement the controllers. `foreseen` predicts their next actions without running
them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaimTemplate
from dra_plan.claims.index import Index
from dra_plan.claims.pod_claims import PodClaimError, claim_name
from dra_plan.documents.refusals import OverQuota
from dra_plan.documents.scheduling import BY_CHANCE
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.forks import Forks
from dra_plan.scheduler.queue import MOST_BACKOFF
from dra_plan.scheduler.simulation import Simulation

from . import absent_owners, device_eviction, node_eviction, resource_claims, workloads
from .apiserver import ApiServer
from .device_eviction import RuleCondition
from .endings import NOBODY, Ending, PodKey, endings, followed, heirs, maker
from .events import Events, EventStep, RefusedCreate
from .foreseen import newest_time
from .later import go_to
from .quota import Quotas
from .repeats import ENDLESS, Repeats
from .state import (
    Action,
    ClusterState,
    CreateClaim,
    CreatePod,
    DeleteClaim,
    DeletePod,
    EndCause,
    EndedPod,
    ReportFailure,
    WriteClaim,
    WriteNode,
)

MOST_ROUNDS = 10_000
"""The maximum number of rounds of scheduler and controllers after each step of the events."""
MOST_VICTIMS = 50_000
"""The maximum number of preempted pods that end one after another. Beyond it, preemption is considered endless."""
PATIENCE_SECONDS = 120.0
"""How long nothing must happen before a cluster has settled, in seconds. Later actions are listed as pending."""
SHARERS_AT_ONCE = 2
"""How many pods that share a claim end before the scheduler tries the replacement of the first one.

Evictions, replacements and the claim controller race. In recordings, the claim is freed if one or two pods in a
Deployment share it (dt-68, dt-69). If three pods do, the replacements join before the last pod has left, and this never
ends (dt-08).
"""

FAILED_CREATE = "FailedCreate"


@dataclass(frozen=True)
class Happening:
    """An event that a controller writes about an object, and its time."""

    kind: str
    namespace: str
    name: str
    reason: str
    message: str
    moment: float
    refusal: str = ""
    """The API server's message if it rejected an object."""


@dataclass
class Settled:
    """The final state of a simulated cluster. Times are in seconds on the clock of `start`."""

    server: ApiServer
    state: ClusterState
    refused: list[RefusedCreate]
    happenings: list[Happening]
    pending: list[DeletePod]
    """The evictions that are due only after the cluster has settled."""
    rounds: int
    conditions: list[RuleCondition]
    unsettled: str
    """The reason why the cluster never settles, or ""."""
    lost_rules: list[str] = field(default_factory=list)
    """The device taint rules created after the start, which a scheduler with quirk E3 never receives."""
    waiting: list[Pod] = field(default_factory=list)
    """The pods that are retried indefinitely and fail with an error each time."""
    repeats_after: int | None = None
    """The number of pods that had ended when the last endless repetition began, or None if nothing repeats."""
    not_made: list[tuple[Pod, str]] = field(default_factory=list)
    """The pods that workloads lack because the API server rejects them, with its messages."""
    over_at_creation: Mapping[PodKey, list[OverQuota]] = field(default_factory=dict)
    """The exceeded quota amounts that prevented the creation of pods in the input."""
    why_not_made: Mapping[PodKey, str] = field(default_factory=dict)
    """Why pods are not created, without the generated pod names."""

    @cached_property
    def endings(self) -> list[Ending]:
        """The pods that ended although no event requested it, each with the pods that its owner has created since."""
        return endings(self.server.ended, self.state.inventory.pods, self.server.made)

    @cached_property
    def places(self) -> Mapping[PodKey, tuple[EndedPod, Pod | None]]:
        """How each pod that existed at the start ended, and the pod that replaces it, if any."""
        return followed(self.endings, self.server.made)

    @cached_property
    def refused_heirs(self) -> Mapping[PodKey, Pod]:
        """The replacements that the API server rejected, by the namespace and name of the pod to be replaced.

        Only pods that existed at the start are considered.
        """
        gone = (each.pod for each, heir in self.places.values() if heir is None)
        return heirs(gone, [pod for pod, _ in self.not_made])

    @cached_property
    def evicted_endlessly(self) -> list[PodKey]:
        """The pods that existed at the start and whose replacements are evicted endlessly."""
        if self.repeats_after is None:
            return []
        makers = {maker(each.pod.metadata) for each in self.server.ended[self.repeats_after :]} - {NOBODY}
        made = self.server.made
        return [
            key
            for key, (each, heir) in self.places.items()
            if maker(each.pod.metadata) in makers and (heir is None or made[pod_uid(heir)] > self.repeats_after)
        ]

    @cached_property
    def claims_refused(self) -> Mapping[PodKey, str]:
        """The controller's message about claims that could not be created, by the pod that lacks them."""
        return {(each.namespace, each.name): each.message for each in self._failed_claims}

    @property
    def over_quota(self) -> Mapping[PodKey, list[OverQuota]]:
        """The exceeded quota amounts that prevented the creation of pods or their claims, by pod."""
        exceeded = self.server.quotas.exceeded
        claims = {(each.namespace, each.name): exceeded.get(each.refusal, []) for each in self._failed_claims}
        pods = {(pod.metadata.namespace, pod.metadata.name): exceeded.get(said, []) for pod, said in self.not_made}
        return {**self.over_at_creation, **claims, **pods}

    @property
    def _failed_claims(self) -> list[Happening]:
        return [each for each in self.happenings if each.reason == resource_claims.FAILED]


class Settling:
    """A simulation of a cluster over time. It carries out steps, and the cluster settles after each of them."""

    def __init__(
        self,
        simulation: Simulation,
        never_ready: Collection[str] = (),
        patience: float = PATIENCE_SECONDS,
        uncharged: Callable[[Pod], bool] = lambda _pod: False,
    ) -> None:
        """Start at the newest time in the input. Pods for which `uncharged` is true do not count towards quotas."""
        self._simulation, self._patience = simulation, patience
        simulation.clock.advance_to(newest_time(simulation.inventory))
        self._server = ApiServer(simulation, Quotas(simulation.inventory), never_ready, uncharged)
        self._events = Events(self._server)
        self._happenings: dict[tuple[str, str, str, str, str], Happening] = {}
        self._marked: dict[str, DeletePod] = {}
        """The UIDs of pods that will be evicted later, as of the last check."""
        self._rounds = 0
        self._unsettled = ""
        self._repeats_after: int | None = None
        self.before_time_passes: Callable[[float], None] = lambda _until: None
        """A callback that runs after everything that happens at one time, before the clock advances."""
        self._stopped: set[str] = set()
        """The pods for which a claim was rejected in this round. No more claims are created for them."""
        self.forks = Forks(self)
        """The changes that can be undone."""

    not_kept = ("forks",)

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        return self._simulation, self._server, self._events

    def start(self) -> None:
        """Create the pods in the input and schedule them once, as `schedule` does."""
        self._simulation.admit_all()
        if self._server.quotas.exist:
            self._make()
        self._schedule()

    def run(self, steps: Sequence[EventStep], then: Sequence[Inventory] = ()) -> Settled:
        """Let the cluster settle, apply the later inputs in `then`, carry out the steps, and return the final state.

        The cluster also settles after each input and after the last step.
        """
        self.start()
        self.settle()
        before = self._simulation.inventory
        for after in then:
            go_to(self._simulation, self._server, before, after)
            self.settle()
            before = after
        if steps:
            self._pass(self._server.now + MOST_BACKOFF)
            self._server.start = self._server.now
        for step in steps:
            if step.time is not None:
                self._until(self._server.start + step.time)
            if step.verb == "wait":
                self._until(self._server.now + float(step.value))
            elif step.verb == "settle":
                self.settle()
            else:
                self._events.carry_out(step)
        if steps:
            self.settle()
        return self._outcome()

    def follow(self, steps: Iterable[EventStep]) -> Settled:
        """Carry out each step at its time after the start. Return the final state once nothing further happens."""
        self.start()
        self._server.start = self._server.now
        self._until(self._server.now)
        for step in steps:
            if self._simulation.scheduler.is_late():
                break
            moment = self._server.start + step.time if step.time is not None else self._server.now
            if step.verb == "wait":
                moment = max(moment, self._server.now) + float(step.value)
            if moment > self._server.now:
                self._until(moment)
            self._events.carry_out(step)
        self._patience = math.inf
        self.settle()
        return self._outcome()

    @property
    def server(self) -> ApiServer:
        """The API server that all components write to."""
        return self._server

    @property
    def unsettled(self) -> str:
        """The reason why the cluster never settles, or "" if it does."""
        return self._unsettled

    def template(self, namespace: str, name: str) -> ResourceClaimTemplate | None:
        """Return the claim template with this name, or None."""
        return self._index.template(namespace, name)

    @cached_property
    def _index(self) -> Index:
        return Index(self._simulation.inventory)

    # Rounds

    def settle(self) -> None:
        """Let everything happen that needs no further step."""
        self._until(None)

    def go_on(self) -> None:
        """Schedule the pods that were created. Controllers act only if pods are preempted."""
        self._run_scheduler()
        if self._server.victims():
            self.settle()

    def _until(self, end: float | None) -> None:
        """Continue to the time `end`, or until nothing will happen soon.

        Events that follow each other immediately are all applied before any component reacts to the first.
        """
        self._simulation.scheduler.until = math.inf if end is None else end
        self._unsettled, self._repeats_after = "", None
        self._schedule()
        repeats = Repeats(self._server, self._simulation.cluster)
        evicted = self._server.evicted
        for _ in range(MOST_ROUNDS):
            if self._repeats_after is not None:
                self._unsettled = ENDLESS
                return
            if self._simulation.scheduler.is_late():
                self._unsettled = "the time ran out (--timeout)"
                return
            if self._round():
                if self._repeats_after is None and self._server.evicted > evicted:
                    evicted = self._server.evicted
                    self._repeats_after = repeats.repeats_after()
                continue
            due = self._next()
            limit = self._server.now + self._patience if end is None else end
            if due is None or due > limit:
                break
            self._pass(due)
        else:
            self._unsettled = f"still going on after {MOST_ROUNDS:,} rounds"
        if end is not None:
            self._pass(end)

    def _round(self) -> bool:
        """Run one turn of all components; return False if none had anything to do.

        Devices that become free are offered to waiting pods before successors arrive, because successors need a claim
        first.
        """
        acted = self._server.end_due()
        if self._server.may_evict():
            due = [each for step in _EVICTORS for each in self._due(step)]
            acted |= self._carry_out(self._staggered(due))
        acted |= self._release()
        if acted:
            self._schedule()
        made = self._make()
        if made:
            self._schedule()
        if acted or made:
            self._rounds += 1
            self._server.count_budgets()
        return acted or made

    def _schedule(self) -> None:
        """Run the scheduler until it is idle.

        Preempted pods then end, one after the other.

        The preemptor is tried as soon as its victim is gone, which is before the victim's claims are free. The claims
        are free when the first pod has been rejected, because the scheduler writes the rejection to the pod's status
        before it tries the next pod.

        Victims whose successors preempt others, or are preempted again, can make this endless. More pods than the
        cluster has must have ended before that is looked for.
        """
        repeats = Repeats(self._server, self._simulation.cluster, unwatched=len(self._simulation.cluster.pods))
        self._run_scheduler()
        for _ in range(MOST_VICTIMS):
            if self._repeats_after is not None or not self._server.victims():
                return
            if self._make():
                self._run_scheduler()
            victim, text = self._server.end_victim()
            self._note("Pod", victim.metadata.namespace, victim.metadata.name, "Preempted", text)
            self._run_scheduler(to_refusal=True)
            self._release()
            self._run_scheduler()
            self._repeats_after = repeats.repeats_after()
        self._repeats_after = len(self._server.ended)

    def _run_scheduler(self, *, to_refusal: bool = False) -> None:
        if self._server.crashed:
            self._unsettled = f"kube-scheduler {self._simulation.target.release} crashed on a device taint rule (E3)"
            return
        self._simulation.scheduler.run(to_refusal=to_refusal)
        self._server.observe()

    def _make(self) -> bool:
        """Create the pods that workloads lack, with their claims; return whether there was anything to create."""
        made = False
        if self._server.may_make():
            for step in _MAKERS:
                made |= self._carry_out(self._due(step))
        made |= self._release()
        self._stopped.clear()
        generating = self._server.generating()
        if generating is not None:
            made |= self._carry_out(self._due(resource_claims.generate, generating))
        self._server.show_made()
        return made

    def _release(self) -> bool:
        """Free and delete the claims that pods no longer need; return whether there are any."""
        releasing = self._server.releasing()
        return releasing is not None and self._carry_out(self._due(resource_claims.release, releasing))

    def _due(self, step: Callable[[ClusterState], Iterable[Action]], state: ClusterState | None = None) -> list[Action]:
        """Return a controller's actions that are due now.

        Failures are recorded; later actions are requested again when they are due.

        The `state` need only contain what the controller reads.
        """
        now = self._server.now
        due: list[Action] = []
        for action in step(self._server.state() if state is None else state):
            if isinstance(action, ReportFailure):
                self._note(action.kind, action.namespace, action.name, action.reason, action.message)
            elif action.at <= now:
                due.append(action)
            elif isinstance(action, DeletePod):
                self._marked[pod_uid(action.pod)] = action
                if action.cause is node_eviction.CAUSE:
                    self._server.evicted_at.setdefault(pod_uid(action.pod), action.at)
        return due

    def _cancel(self, state: ClusterState) -> None:
        """Record the pods that were going to be evicted but now stay."""
        if not self._marked:
            return
        evictions = _evictions(state)
        wanted = {pod_uid(each.pod) for each in evictions}
        by_nodes = {pod_uid(each.pod) for each in evictions if each.cause is node_eviction.CAUSE}
        for uid in self._server.evicted_at.keys() - by_nodes:
            del self._server.evicted_at[uid]
        for uid, action in list(self._marked.items()):
            if uid not in wanted:
                del self._marked[uid]
                if uid in state.pods_by_uid:
                    self._tell(action.pod, action.cause, action.cause.cancels)

    def _tell(self, pod: Pod, cause: EndCause, text: str) -> None:
        """Write an evicting controller's event about a pod."""
        if text:
            message = text.format(pod=pod.key)
            self._note("Pod", pod.metadata.namespace, pod.metadata.name, cause.event, message)

    def _staggered(self, actions: Sequence[Action]) -> list[Action]:
        """Return at most `SHARERS_AT_ONCE` of the evictions of pods that share a claim."""
        sharers: Counter[tuple[str, str]] = Counter()
        done: list[Action] = []
        for action in actions:
            if isinstance(action, DeletePod):
                shared = self._shared_claims(action.pod)
                if any(sharers[key] >= SHARERS_AT_ONCE for key in shared):
                    continue
                sharers.update(shared)
            done.append(action)
        return done

    def _shared_claims(self, pod: Pod) -> list[tuple[str, str]]:
        found = []
        for entry in pod.spec.resource_claims:
            try:
                name = claim_name(pod, entry)
            except PodClaimError:
                continue
            claim = self._simulation.cluster.claims.get(pod.metadata.namespace, name or "")
            if claim is not None and len(claim.reserved_for) > 1:
                found.append((pod.metadata.namespace, claim.metadata.name))
        return found

    def _next(self) -> float | None:
        """Return the time at which something next happens without an event, or None."""
        server = self._server
        steps: list[Callable[[ClusterState], Iterable[Action]]] = []
        steps += _EVICTORS if server.may_evict() else ()
        steps += _MAKERS if server.may_make() else ()
        now, found = server.now, server.next_end()
        moments = [] if found is None else [found]
        if steps or self._marked:
            state = server.state()
            actions = chain.from_iterable(step(state) for step in steps)
            self._cancel(state)
            moments += [each.at for each in actions if each.at > now]
        return min(moments, default=None)

    def _pass(self, moment: float) -> None:
        if moment > self._server.now:
            self.before_time_passes(moment)
        self._simulation.clock.advance_to(moment)

    # Actions

    def _carry_out(self, actions: Iterable[Action]) -> bool:
        """Carry out the controllers' actions; return whether anything changed."""
        acted = False
        for action in actions:
            acted |= self._do(action)
        return acted

    def _do(self, action: Action) -> bool:
        server = self._server
        if isinstance(action, DeletePod):
            server.delete_pod(action.pod, action.cause, action.rules, action.taint)
            self._tell(action.pod, action.cause, action.cause.marks)
        elif isinstance(action, CreatePod):
            refusal = server.create_pod(action.pod, made=True)
            if refusal:
                self._failed_create(action, refusal)
            return not refusal
        elif isinstance(action, CreateClaim):
            if pod_uid(action.pod) in self._stopped:
                return False
            refusal = server.create_claim(action.claim, action.pod, action.entry)
            if refusal:
                self._failed_claim(action, refusal)
            return not refusal
        elif isinstance(action, WriteClaim):
            server.write_claim(action.claim)
        elif isinstance(action, DeleteClaim):
            server.delete_claim(action.claim)
        elif isinstance(action, WriteNode):
            server.write_node(action.node)
        return True

    def _failed_create(self, action: CreatePod, refusal: str) -> None:
        kind, name = action.owner
        message = f"Error creating: {refusal}"
        if kind == "StatefulSet":
            message = f"Create Pod {action.pod.metadata.name} in StatefulSet {name} failed error: {refusal}"
        self._note(kind, action.pod.metadata.namespace, name, FAILED_CREATE, message, refusal)

    def _failed_claim(self, action: CreateClaim, refusal: str) -> None:
        message = claim_failure(action.entry, refusal)
        metadata = action.pod.metadata
        self._stopped.add(pod_uid(action.pod))
        self._note("Pod", metadata.namespace, metadata.name, resource_claims.FAILED, message, refusal)

    def _note(self, kind: str, namespace: str, name: str, reason: str, message: str, refusal: str = "") -> None:
        key = (kind, namespace, name, reason, message)
        self._happenings.setdefault(key, Happening(*key, self._server.now, refusal))

    # The outcome

    def _outcome(self) -> Settled:
        state = self._server.state()
        now = state.now
        pending = [each for each in _evictions(state) if each.at > now]
        given = {rule.metadata.name for rule in self._simulation.inventory.taint_rules}
        erring = [item.pod for item in self._simulation.scheduler.queue.erring]
        unsettled = self._unsettled
        chances = self._chances(state)
        if chances and unsettled == ENDLESS:
            unsettled = f"{BY_CHANCE} {' or '.join(chances)}, with the same score and no tainted devices"
        if not unsettled and erring:
            unsettled = "scheduling is retried indefinitely and always fails with the same error"
        return Settled(
            server=self._server,
            state=state,
            refused=self._events.refused,
            happenings=list(self._happenings.values()),
            pending=pending,
            rounds=self._rounds,
            conditions=device_eviction.rule_conditions(state, pending),
            unsettled=unsettled,
            lost_rules=[rule.metadata.name for rule in state.inventory.taint_rules if rule.metadata.name not in given],
            waiting=erring,
            repeats_after=self._repeats_after,
            not_made=self._not_made(state),
        )

    def _chances(self, state: ClusterState) -> list[str]:
        """Return the nodes without tainted devices whose score for the endlessly evicted pods was as high.

        No nodes are returned if one of the controllers has no such node, or if a pod is evicted for another reason.
        """
        if self._repeats_after is None:
            return []
        records = self._simulation.scheduler.records.by_uid
        best: dict[object, set[str]] = {}
        for each in self._server.ended[self._repeats_after :]:
            record = records.get(pod_uid(each.pod))
            if record is None or each.cause.by != device_eviction.BY_DEVICE_TAINT:
                return []
            best.setdefault(maker(each.pod.metadata), set()).update(record.best)
        tainted = device_eviction.nodes_with_taints(state)
        if tainted is None:
            return []
        clean = [nodes - tainted for nodes in best.values()]
        return sorted(set[str]().union(*clean)) if all(clean) else []

    def _not_made(self, state: ClusterState) -> list[tuple[Pod, str]]:
        if not self._server.quotas.exist:
            return []
        wanted = (each for step in _MAKERS for each in step(state) if isinstance(each, CreatePod))
        found = ((each.pod, self._server.refusal(each.pod)) for each in wanted if each.at <= state.now)
        return [(pod, refusal) for pod, refusal in found if refusal]


def claim_failure(entry: str, refusal: str) -> str:
    """Return the claim controller's message about an entry whose claim the API server rejected."""
    return f"PodResourceClaim {entry}: create ResourceClaim : {refusal}"


_EVICTORS = (device_eviction.step, node_eviction.step)
_MAKERS: tuple[Callable[[ClusterState], Iterator[Action]], ...] = (workloads.step, absent_owners.step)


def _evictions(state: ClusterState) -> list[DeletePod]:
    """Return the pods that taints evict, now or later."""
    return [each for step in _EVICTORS for each in step(state) if isinstance(each, DeletePod)]
