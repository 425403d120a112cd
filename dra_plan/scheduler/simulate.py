"""The whole simulation: an input goes in, bindings, allocations and messages come out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.documents.schedule import ScheduledVolume
from dra_plan.releases import Target
from dra_plan.scheduler.groups.summary import GroupSummary, summaries
from dra_plan.scheduler.plugins.defaultpreemption import DefaultPreemption

from . import notices
from .failedattempts import FailedAttempt
from .keys import pod_uid
from .laterstate import advance
from .pluginnames import NOT_EVALUATED
from .podrecord import PodRecord
from .simulation import Simulation
from .trace import Tracer
from .volumestore import Decision, VolumeStore


@dataclass(frozen=True)
class Eviction:
    """A pod that has to go for another one."""

    victim: str
    preemptor: str
    node: str


@dataclass
class SimulationResult:
    """What became of every pod and claim. `pods` are in the order in which the scheduler saw them."""

    target: Target
    api_server: str
    pods: list[PodRecord]
    groups: list[GroupSummary]
    claims: list[ResourceClaim]
    volumes: list[ScheduledVolume] = field(default_factory=list)
    """The claims on volumes that had none in the input."""
    evictions: list[Eviction] = field(default_factory=list)
    not_evaluated: tuple[str, ...] = NOT_EVALUATED
    undecided: dict[str, list[str]] = field(default_factory=dict)
    """Pod to the nodes on which the step budget ran out."""
    notices: list[Notice] = field(default_factory=list)
    tracer: Tracer | None = None
    failed_attempts: list[FailedAttempt] = field(default_factory=list)
    """Of the pods without a node whose last attempts failed for their claims, if they were kept."""

    @property
    def unbound(self) -> list[PodRecord]:
        """The pods without a node."""
        return [record for record in self.pods if not record.node]

    def is_undecided(self, record: PodRecord) -> bool:
        """Whether the pod has no node, and a search for one was cut short."""
        return not record.node and (record.ran_out or bool(self.undecided.get(record.pod.key)))


def simulate(simulation: Simulation, then: Iterable[Inventory] = ()) -> SimulationResult:
    """Schedule everything, then again after each later state of the cluster, until nothing moves any more."""
    simulation.start()
    before = simulation.inventory
    for after in then:
        advance(simulation, before, after)
        simulation.run()
        before = after
    return result_of(simulation)


def evictions_of(simulation: Simulation) -> list[Eviction]:
    """The pods that had to go for others, each for the first one, in the order of the decisions."""
    evictions = [
        Eviction(victim.key, preemptor.key, node)
        for plugin in simulation.plugins_of(DefaultPreemption)
        for preemptor, victim, node in plugin.evictions
    ]
    evictions += [
        Eviction(victim, f"podgroup/{group}", node) for group, victim, node in simulation.scheduler.groups.evictions
    ]
    first: dict[str, Eviction] = {}
    for each in evictions:
        first.setdefault(each.victim, each)
    return list(first.values())


def result_of(simulation: Simulation) -> SimulationResult:
    """What has become of every pod and claim by now."""
    evictions = evictions_of(simulation)
    gates = {item.uid: item for item in simulation.scheduler.queue.gated}
    for uid, record in simulation.scheduler.records.by_uid.items():
        if uid in gates and not record.message:
            record.waiting = gates[uid].gate_message
        if record.node and uid in simulation.cluster.pods:
            record.node_allocatable = simulation.cluster.info(simulation.cluster.pods[uid]).claimed
    records = [record for uid, record in simulation.scheduler.records.by_uid.items() if uid in simulation.cluster.pods]
    return SimulationResult(
        target=simulation.target,
        api_server=simulation.api_server,
        pods=records,
        groups=summaries(simulation.cluster, simulation.scheduler.groups.records, gates),
        claims=list(simulation.cluster.claims),
        volumes=_volumes(simulation.cluster.volumes),
        evictions=evictions,
        undecided={pod: nodes for plugin in simulation.dynamic_resources for pod, nodes in plugin.undecided.items()},
        notices=notices.collect(simulation, records, [each.victim for each in evictions]),
        tracer=simulation.tracer,
        failed_attempts=_failed_attempts(simulation, records),
    )


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
