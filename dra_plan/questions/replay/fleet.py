"""Measurements of a simulated cluster: samples at given times, and the average use over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.meta import ObjectMeta
from dra_plan.api.resource import ResourceClaim, ResourceClaimSpec
from dra_plan.api.workloads import pod_template
from dra_plan.claims.index import Index
from dra_plan.claims.owners import counts_for, ended, wanted
from dra_plan.controllers.apiserver import ApiServer
from dra_plan.controllers.events import EventStep
from dra_plan.planner.pools import model
from dra_plan.questions.replay.document import FleetSample, ModelUse
from dra_plan.scheduler.cluster.pod_requests import pod_requests
from dra_plan.scheduler.fragmentation.measure import Measure, Shape
from dra_plan.scheduler.fragmentation.units import WHOLE
from dra_plan.scheduler.simulation import Simulation

Specs = dict[tuple[str, str], ResourceClaimSpec]


class PodMix:
    """The pending and future pods, against which the fragmentation of a cluster is measured.

    Pods that already have a node are used only if there are no others.
    """

    def __init__(self, inventory: Inventory, steps: Sequence[EventStep]) -> None:
        created = [obj for step in steps for _, obj in step.created]
        claims = [*inventory.claims, *(obj for obj in created if obj.kind == "ResourceClaim")]
        templates = [*inventory.templates, *(obj for obj in created if obj.kind == "ResourceClaimTemplate")]
        self._claims: Specs = {_key(each.metadata): each.spec for each in claims}
        self._templates: Specs = {_key(each.metadata): each.spec.spec for each in templates}
        given = [*inventory.pods, *(obj for obj in created if obj.kind == "Pod")]
        coming = [(pod, 1) for pod in given if not pod.spec.node_name and not ended(pod)]
        index = Index(inventory)
        made = [(each, index.pods_of(each)) for each in inventory.workloads]
        made += [(obj, []) for step in steps for kind, obj in step.created if kind.holder == "workloads"]
        for workload, pods in made:
            if workload.kind != "DaemonSet":
                named = ObjectMeta(name=workload.metadata.name, namespace=workload.metadata.namespace)
                count = wanted(workload, pods)[1] - sum(counts_for(pod, workload.kind) for pod in pods)
                coming.append((Pod(metadata=named, spec=pod_template(workload).spec), max(0, count)))
        self._pods = [each for each in coming if each[1]] or [(pod, 1) for pod in given]

    def __call__(self, measure: Measure) -> Iterable[Shape]:
        """Yield the shapes of the pods, each with its number of pods."""
        for pod, count in self._pods:
            yield from [measure.shape(pod_requests(pod), self._specs(pod))] * count

    def _specs(self, pod: Pod) -> Iterable[ResourceClaimSpec]:
        for entry in pod.spec.resource_claims:
            table = self._templates if entry.resource_claim_name is None else self._claims
            name = entry.resource_claim_template_name or entry.resource_claim_name or ""
            spec = table.get((pod.metadata.namespace, name))
            if spec is not None:
                yield spec


def _key(metadata: ObjectMeta) -> tuple[str, str]:
    return metadata.namespace, metadata.name


MOST_KEPT = 100
"""The maximum number of samples for which the objects of the cluster are kept. If there are more samples, the kept ones
are evenly spaced."""


@dataclass(frozen=True, slots=True)
class KeptMoment:
    """The state of the cluster at a sample: its nodes by name, and its claims."""

    sample: int
    nodes: frozenset[str]
    claims: tuple[ResourceClaim, ...]


class FleetWatch:
    """A recorder that takes samples of a simulated cluster. `note` must be called before the clock advances."""

    def __init__(
        self, simulation: Simulation, server: ApiServer, mix: PodMix, seconds: Sequence[float], *, keeps: bool = False
    ) -> None:
        """Take samples at these seconds, in ascending order; the mean begins now. `keeps` objects at `moments`."""
        self.moments: list[KeptMoment] = []
        self._every = -(-(len(seconds) + 1) // MOST_KEPT) if keeps else 0
        self._cluster, self._server = simulation.cluster, server
        self._measure = Measure(simulation.cluster)
        self._measure.mix(mix(self._measure))
        self._due = list(seconds)
        self.samples: list[FleetSample] = []
        self._moment = server.now
        self._area = self._room = 0.0
        self._idle: dict[str, int] = {}
        self._whole_idle = self._units = self._read = 0
        self._revision = -1
        self._view: View | None = None

    def note(self, until: float) -> None:
        """Record that the cluster does not change before `until`, the time to which the clock advances."""
        second = self._second
        idle, devices = self._totals()
        passed = until - self._moment
        self._area += (devices * WHOLE - idle) * passed
        self._room += devices * WHOLE * passed
        self._moment = until
        end = until - self._server.start
        sample: FleetSample | None = None
        while self._due and self._due[0] < end:
            at = self._due.pop(0)
            sample = self.sample() if sample is None else sample
            self._add(_at(sample, max(at, second)))

    def finish(self) -> None:
        """Take the remaining samples, which all show the present state. The last sample is always taken."""
        last = self.sample()
        for second in self._due:
            if second > last.second:
                self._add(_at(last, second))
        if not self.samples or self.samples[-1].second < last.second:
            self._add(last)
        if self._every and self.moments[-1].sample != len(self.samples) - 1:
            self._keep()

    def _add(self, sample: FleetSample) -> None:
        self.samples.append(sample)
        if self._every and not (len(self.samples) - 1) % self._every:
            self._keep()

    def _keep(self) -> None:
        claims = tuple(claim for claim in self._cluster.claims if claim.allocation is not None)
        self.moments.append(KeptMoment(len(self.samples) - 1, frozenset(self._cluster.nodes), claims))

    @property
    def _second(self) -> float:
        return self._server.now - self._server.start

    @property
    def used(self) -> float:
        """Return the average share of devices that have been allocated so far, from 0 to 1.

        If no time has passed, returns the present share.
        """
        if not self._room:
            idle, devices = self._totals()
            return 1 - idle / (devices * WHOLE) if devices else 0.0
        return self._area / self._room

    def _totals(self) -> tuple[int, int]:
        """Return the idle thousandths, and the number of units."""
        cluster, units = self._cluster, self._measure.units
        if self._revision == cluster.node_revision and self._view is cluster.view:
            changed = [cluster.nodes[name] for name in cluster.journal.since(self._read) if name in cluster.nodes]
        else:
            self._revision, self._view = cluster.node_revision, cluster.view
            self._idle.clear()
            self._whole_idle = 0
            self._units = sum(len(units.of(node)) for node in cluster.in_order)
            changed = [*cluster.in_order]
        self._read = cluster.journal.end()
        for node in changed:
            idle = sum([some for _, some in units.left(node)])
            self._whole_idle += idle - self._idle.get(node.name, 0)
            self._idle[node.name] = idle
        return self._whole_idle, self._units

    def sample(self) -> FleetSample:
        """Return the present state of the cluster."""
        server, cluster = self._server, self._cluster
        idle, devices = self._totals()
        lost = 0.0
        largest = whole_nodes = 0
        for node in cluster.in_order:
            left = self._measure.units.left(node)
            if left:
                lost += self._measure.node(node)
                whole = sum(some == WHOLE for _, some in left)
                largest = max(largest, whole)
                whole_nodes += whole == len(left)
        bound = sum(bool(pod.spec.node_name) and not ended(pod) for pod in cluster.pods.values())
        return FleetSample(
            second=self._second,
            arrived=len(server.arrived),
            bound=bound,
            waiting=server.waiting,
            ended=len(server.ended),
            evicted=server.evicted,
            devices=devices,
            allocated=devices - idle / WHOLE,
            fragmented=round(lost / WHOLE, 6),
            largest_whole_group=largest,
            whole_idle_nodes=whole_nodes,
        )

    def models(self) -> list[ModelUse]:
        """Return how many devices of each model are allocated now."""
        found: dict[str, list[int]] = {}
        for node in self._cluster.in_order:
            for unit, (_, some) in zip(self._measure.units.of(node), self._measure.units.left(node), strict=True):
                entry = found.setdefault(model(unit.devices[0]) or unit.devices[0].id.driver, [0, 0])
                entry[0] += 1
                entry[1] += WHOLE - some
        return [ModelUse(model=name, devices=n, allocated=used / WHOLE) for name, (n, used) in sorted(found.items())]


def _at(sample: FleetSample, second: float) -> FleetSample:
    return structs.replace(sample, second=second)
