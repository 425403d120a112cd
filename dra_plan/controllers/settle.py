"""Settling a cluster: rounds of the scheduler and of controllers, in simulated time, until nothing changes any more.

At the end the outlook: what settling would change after one pass of the scheduler, in one line each. The controllers
themselves are the other modules of this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.pod_claims import PodClaimError, claim_name
from dra_plan.scheduler.clock import latest
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.queue import MOST_BACKOFF
from dra_plan.scheduler.simulate import SimulationResult
from dra_plan.scheduler.simulation import Simulation

from . import device_eviction, node_eviction, resource_claims, workloads
from .apiserver import ApiServer
from .device_eviction import RuleCondition, counted
from .events import Events, EventStep, RefusedCreate
from .quota import Quotas
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
"""So often scheduler and controllers take turns after one step of the events at most."""
MOST_REPEATS = 4
"""So often the cluster may come back to a state in which it was, with pods evicted meanwhile: then it never settles."""
PATIENCE_SECONDS = 120.0
"""A cluster has settled when nothing would happen for so long; what comes later is listed as such."""
SHARERS_AT_ONCE = 2
"""Of the pods that share a claim, so many are gone before the scheduler tries the successor of the first.

Evictions, successors and the claim controller race. Recorded: with one or two sharers in a Deployment the claim comes
free (dt-68, dt-69), with three the successors join before the last one has left, without end (dt-08).
"""

FAILED_CREATE = "FailedCreate"


@dataclass(frozen=True)
class Happening:
    """An event as a controller writes it about an object, with its time."""

    kind: str
    namespace: str
    name: str
    reason: str
    message: str
    moment: float
    refusal: str = ""
    """What the API server said, where it refused something."""


@dataclass
class Settled:
    """How everything ended. Moments are seconds since `start`'s clock."""

    server: ApiServer
    state: ClusterState
    refused: list[RefusedCreate]
    happenings: list[Happening]
    pending: list[DeletePod]
    """Evictions that come later than `PATIENCE_SECONDS` after everything else."""
    rounds: int
    conditions: list[RuleCondition]
    unsettled: str
    """Why the cluster never settles, or ""."""
    lost_rules: list[str] = field(default_factory=list)
    """The device taint rules that came after the start, of which a scheduler with E3 never hears."""
    waiting: list[Pod] = field(default_factory=list)
    """Pods that are tried again and again with an error."""


class Settling:
    """A cluster over time: give it steps, and settle it after each."""

    def __init__(self, simulation: Simulation, never_ready: Collection[str] = ()) -> None:
        self._simulation = simulation
        simulation.clock.advance_to(latest(_times(simulation.inventory)))
        self._server = ApiServer(simulation, Quotas(simulation.inventory), never_ready)
        self._events = Events(self._server)
        self._happenings: dict[tuple[str, str, str, str, str], Happening] = {}
        self._marked: dict[str, DeletePod] = {}
        """Uid of each pod that is going to be evicted later, as far as it was known when last looked."""
        self._rounds = 0
        self._unsettled = ""
        self._stopped: set[str] = set()
        """Pods of which a claim was refused in this round: their further claims are not made."""

    def start(self) -> None:
        """Create the pods of the input and schedule them once, as `schedule` does."""
        self._simulation.admit_all()
        if self._server.quotas.exist:
            self._make()
        self._schedule()

    def run(self, steps: Sequence[EventStep]) -> Settled:
        """Settle the cluster at the start, then after each step, until nothing changes."""
        self.start()
        self._settle()
        if steps:
            self._pass(self._server.now + MOST_BACKOFF)
            self._server.start = self._server.now
        for step in steps:
            if step.time is not None:
                self._until(self._server.start + step.time)
            if step.verb == "wait":
                self._until(self._server.now + float(step.value))
            elif step.verb == "settle":
                self._settle()
            else:
                self._events.carry_out(step)
        if steps:
            self._settle()
        return self._outcome()

    # Rounds

    def _settle(self) -> None:
        """Let everything happen that happens without new events."""
        self._until(None)

    def _until(self, end: float | None) -> None:
        """Go on to the moment `end`, or until nothing is going to happen soon.

        Events that follow each other at once are all there before anybody acts on the first.
        """
        self._schedule()
        self._unsettled = ""
        seen: Counter[object] = Counter()
        ended = len(self._server.ended)
        for _ in range(MOST_ROUNDS):
            if self._simulation.scheduler.is_late():
                self._unsettled = "the time ran out (--timeout)"
                return
            if self._round():
                if len(self._server.ended) > ended:
                    ended = len(self._server.ended)
                    key = self._fingerprint()
                    seen[key] += 1
                    if seen[key] > MOST_REPEATS:
                        self._unsettled = "pods are evicted and made again without end"
                        return
                continue
            due = self._next()
            limit = self._server.now + PATIENCE_SECONDS if end is None else end
            if due is None or due > limit:
                break
            self._pass(due)
        else:
            self._unsettled = f"still going on after {MOST_ROUNDS:,} rounds"
        if end is not None:
            self._pass(end)

    def _round(self) -> bool:
        """One turn of everybody; False if nobody had anything to do.

        Devices that become free are offered to pods that wait before successors come: these need a claim first.
        """
        due = [each for step in _EVICTORS for each in self._due(step)]
        acted = self._carry_out(self._staggered(due))
        acted |= self._carry_out(self._due(resource_claims.release))
        if acted:
            self._schedule()
        made = self._make()
        if made:
            self._schedule()
        if acted or made:
            self._rounds += 1
            self._server.count_budgets(self._server.state())
        return acted or made

    def _schedule(self) -> None:
        """The scheduler runs until it is idle. Preempted pods end then, one after the other.

        The preemptor is tried as soon as its victim has gone, which is before the claims of that one are free.
        """
        self._run_scheduler()
        while self._server.victims():
            if self._make():
                self._run_scheduler()
            victim, text = self._server.end_victim()
            self._note("Pod", victim.metadata.namespace, victim.metadata.name, "Preempted", text)
            self._run_scheduler()
            if self._carry_out(self._due(resource_claims.release)):
                self._run_scheduler()

    def _run_scheduler(self) -> None:
        if self._server.crashed:
            self._unsettled = f"kube-scheduler {self._simulation.target.release} crashed on a device taint rule (E3)"
            return
        self._simulation.scheduler.run()
        self._server.observe()

    def _make(self) -> bool:
        """Workloads make the pods that they lack, and these get their claims; whether there was anything to make."""
        made = self._carry_out(self._due(workloads.step))
        made |= self._carry_out(self._due(resource_claims.release))
        self._stopped.clear()
        return made | self._carry_out(self._due(resource_claims.generate))

    def _due(self, step: Callable[[ClusterState], Iterable[Action]]) -> list[Action]:
        """What a controller wants done now. Failures are noted; what comes later is asked again then."""
        now = self._server.now
        due: list[Action] = []
        for action in step(self._server.state()):
            if isinstance(action, ReportFailure):
                self._note(action.kind, action.namespace, action.name, action.reason, action.message)
            elif action.at <= now:
                due.append(action)
            elif isinstance(action, DeletePod):
                self._marked[pod_uid(action.pod)] = action
        return due

    def _cancel(self, state: ClusterState) -> None:
        """Say of pods that were going to be evicted, and are not any more, that they stay."""
        if not self._marked:
            return
        wanted = {pod_uid(each.pod) for each in _evictions(state)}
        for uid, action in list(self._marked.items()):
            if uid not in wanted:
                del self._marked[uid]
                if uid in state.pods_by_uid:
                    self._tell(action.pod, action.cause, action.cause.cancels)

    def _tell(self, pod: Pod, cause: EndCause, text: str) -> None:
        """The event that an evicting controller writes about a pod."""
        if text:
            message = text.format(pod=pod.key)
            self._note("Pod", pod.metadata.namespace, pod.metadata.name, cause.event, message)

    def _staggered(self, actions: Sequence[Action]) -> list[Action]:
        """Of evictions of pods that share a claim no more than `SHARERS_AT_ONCE`."""
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
            if claim is not None and claim.status is not None and len(claim.status.reserved_for) > 1:
                found.append((pod.metadata.namespace, claim.metadata.name))
        return found

    def _next(self) -> float | None:
        """When the next thing happens by itself, or None."""
        state = self._server.state()
        actions = chain.from_iterable(
            step(state) for step in (device_eviction.step, node_eviction.step, workloads.step)
        )
        self._cancel(state)
        now = self._server.now
        return min((each.at for each in actions if each.at > now), default=None)

    def _pass(self, moment: float) -> None:
        self._simulation.clock.advance_to(moment)

    def _fingerprint(self) -> object:
        """What the cluster looks like, names of pods and times left out."""
        pods = Counter((_root(pod), pod.spec.node_name) for pod in self._simulation.cluster.pods.values())
        devices = Counter(
            (result.driver, result.pool, result.device)
            for claim in self._simulation.cluster.claims
            if claim.allocation is not None
            for result in claim.allocation.devices.results
        )
        failed = sum(1 for each in self._server.ended if _of_job(each))
        return frozenset(pods.items()), frozenset(devices.items()), failed

    # Actions

    def _carry_out(self, actions: Iterable[Action]) -> bool:
        """Do what controllers want; whether anything came of it."""
        acted = False
        for action in actions:
            acted |= self._do(action)
        return acted

    def _do(self, action: Action) -> bool:
        server = self._server
        if isinstance(action, DeletePod):
            server.delete_pod(action.pod, action.cause, action.rules)
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
        message = f"PodResourceClaim {action.entry}: create ResourceClaim : {refusal}"
        metadata = action.pod.metadata
        self._stopped.add(pod_uid(action.pod))
        self._note("Pod", metadata.namespace, metadata.name, resource_claims.FAILED, message)

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
        if not unsettled and erring:
            unsettled = "pods are tried again and again with the same error"
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
        )


_EVICTORS = (device_eviction.step, node_eviction.step)


def _evictions(state: ClusterState) -> list[DeletePod]:
    """The pods that taints evict, now or later."""
    return [each for step in _EVICTORS for each in step(state) if isinstance(each, DeletePod)]


def _times(inventory: Inventory) -> Iterator[str | None]:
    """The times that the objects carry: the simulation begins when the newest of them was written."""
    for holder in ("nodes", "slices", "taint_rules", "workloads", "quotas"):
        for each in getattr(inventory, holder):
            yield each.metadata.creation_timestamp
    yield from (rule.spec.taint.time_added for rule in inventory.taint_rules)
    yield from (taint.time_added for node in inventory.nodes for taint in node.spec.taints)
    yield from (
        taint.time_added for each in inventory.slices for device in each.spec.devices for taint in device.taints
    )


def _root(pod: Pod) -> str:
    owner = pod.metadata.controller
    return f"{owner.kind}/{pod.metadata.namespace}/{owner.name}" if owner is not None else pod.key


def _of_job(each: EndedPod) -> bool:
    owner = each.pod.metadata.controller
    return owner is not None and owner.kind == "Job"


# -- outlook after one pass of the scheduler ---------------------------------------------------------------------------
# Found without going on.


def outlook(simulation: Simulation, outcome: SimulationResult) -> list[str]:
    """What controllers and admission would do next, a clause each; empty if they have nothing to do."""
    state = _state(simulation)
    found = []
    if outcome.evictions:
        found.append(f"the claims of {counted(len(outcome.evictions), 'preempted pod')} come free")
    for step, by in ((device_eviction.step, "device taints"), (node_eviction.step, "node taints")):
        pods = _evicted(state, step)
        if pods:
            found.append(f"{by} evict {counted(len(pods), 'pod')}")
    if simulation.inventory.quotas or simulation.inventory.limit_ranges:
        found.append("quotas and limits count")
    return found


def _evicted(state: ClusterState, step: Callable[[ClusterState], Iterable[Action]]) -> list[Pod]:
    return [each.pod for each in step(state) if isinstance(each, DeletePod)]


def _state(simulation: Simulation) -> ClusterState:
    now = simulation.clock.now
    pods, claims = list(simulation.cluster.pods.values()), list(simulation.cluster.claims)
    return ClusterState(
        now=now,
        start=now,
        inventory=replace(simulation.inventory, pods=pods, claims=claims),
        target=simulation.target,
        ended=(),
        made=frozenset(),
        revisions={},
        lost_nodes={},
        changed={},
    )
