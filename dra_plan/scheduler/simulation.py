"""One simulation: an input, the cluster made of it, and the scheduler with its profiles, wired together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dra_plan.allocator import View
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.owners import Dependents, ended, is_ready
from dra_plan.errors import UsageError
from dra_plan.releases import Target
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.groups.admission import comes_after

from . import config as configuration
from . import defaults
from .admission import ARRIVAL, ORDERS, Admission
from .claimstore import ClaimStore
from .clock import Clock, latest
from .cluster import SimulatedCluster
from .common import Common
from .cycle import Cycle
from .extenders import Extender
from .failedattempts import FailedAttempts
from .framework import Plugin
from .handle import Handle
from .keys import pod_uid
from .newpods import new_pods
from .nominations import Nominator
from .pluginnames import FIT
from .podrecord import PodRecord
from .queue import SchedulingQueue
from .registry import Registry
from .runtime import Framework
from .scheduler import Scheduler
from .trace import Tracer
from .volumecontroller import settle_volumes

ENTRY_POINTS = "dra_plan.scheduler_plugins"

RECORDED = "recorded"
"""The in-memory API of the recorded outcomes: shows finished pods to the scheduler, and keeps the last write."""
REAL = "real"
"""A real API server: hides finished pods from the scheduler, and refuses writes based on outdated reads."""
API_SERVERS = (RECORDED, REAL)


class Simulation:
    """The parts of one simulation. The input is not changed, and the same input gives the same outcome.

    `config` is a decoded KubeSchedulerConfiguration, `plugins` are factories beside those of installed packages,
    `extenders` stand for those of the configuration. `api_server` is one of `API_SERVERS`, `order` (that in which
    the pods of the input come) one of `admission.ORDERS`. Pods that are not `chosen` are not scheduled.
    Pods of workloads, and claims of pods, are there from the start unless somebody else `makes` them; `ordered`
    StatefulSets start with one pod. `common` is shared with simulations of related inputs, `view` is what the target
    sees of the input, if somebody has it already.
    UsageError for what can't be configured.
    """

    def __init__(
        self,
        inventory: Inventory,
        *,
        target: Target,
        config: Mapping[str, Any] | None = None,
        extenders: Sequence[Extender] | None = None,
        plugins: Registry | None = None,
        trace: bool = False,
        explain: bool = False,
        max_steps: int | None = None,
        deadline: float | None = None,
        api_server: str = REAL,
        order: str = ARRIVAL,
        chosen: Callable[[Pod], bool] = lambda _pod: True,
        makes: bool = True,
        ordered: bool = False,
        common: Common | None = None,
        view: View | None = None,
    ) -> None:
        self._chosen = chosen
        common = Common() if common is None else common
        if api_server not in API_SERVERS:
            raise UsageError(f"unknown API server {api_server!r}: use one of {', '.join(API_SERVERS)}")
        if order not in ORDERS:
            raise UsageError(f"unknown order of pods {order!r}: use one of {', '.join(ORDERS)}")
        self.api_server, self.order = api_server, order
        real = api_server == REAL
        self.inventory = inventory
        self.ordered = ordered
        self.ordered_sets: Sequence[AnyWorkload] = ()
        """The StatefulSets that make one pod after the other."""
        self.made: set[str] = set()
        """The uids of pods that StatefulSets have made meanwhile."""
        self.target = target
        self.config = configuration.read(config)
        self.tracer = Tracer() if trace else None
        self._admission = Admission(inventory, order, target.features, makes=makes, ordered=ordered)
        self.pods, claims = self._admission.claims(self._admission.pods())
        self.groups = self._admission.groups
        self.ordered_sets = self._admission.ordered_sets
        store = ClaimStore(claims, consumable_capacity=target.features.consumable_capacity)
        self.cluster = SimulatedCluster(
            inventory, self.pods, store, target, shows_finished=not real, known=common.objects, view=view
        )
        self.clock = Clock(latest(_times(inventory)))
        self.handle = Handle(
            self.cluster,
            self.clock,
            target,
            Nominator(),
            DEFAULT_MAX_STEPS if max_steps is None else max_steps,
            deadline,
            detects_conflicts=real,
            extenders=extenders or (),
            answers=common.answers,
        )
        self.handle.settle = lambda: settle_volumes(self.cluster)
        if self.config.extenders and extenders is None:
            raise UsageError("the configuration has extenders; they are contacted only with --allow-extenders")
        self._gated = defaults.gated(target.features)
        registry = _registry(self.config, plugins)
        self.frameworks = {p.scheduler_name: self._framework(p, registry) for p in self.config.profiles}
        on_wake = self.tracer.wakes.append if self.tracer else lambda _wake: None
        queue = SchedulingQueue(self.clock, self.frameworks, on_wake)
        cycle = Cycle(self.handle, self.handle.extenders)
        percentages = configuration.percentages(self.config)
        self.scheduler = Scheduler(self.handle, self.frameworks, queue, cycle, percentages, self.tracer)
        if explain:
            self.scheduler.failed_attempts = FailedAttempts(self.handle)

    def _framework(self, profile: configuration.Profile, registry: Registry) -> Framework:
        arguments = configuration.arguments(profile)
        made: dict[str, Plugin] = {}
        ignored = [r.name for e in self.config.extenders for r in e.managed_resources if r.ignored_by_scheduler]
        for name in configuration.plugin_names(profile, self._gated):
            if name not in registry:
                raise UsageError(f"profile {profile.scheduler_name}: no plugin named {name} exists")
            args = arguments.get(name, {})
            if name == FIT:
                args = {**args, "ignoredResources": [*args.get("ignoredResources", ()), *ignored]}
            made[name] = registry[name](args, self.handle)
        points, weights = configuration.arrange(profile, made, self._gated)
        return Framework(profile.scheduler_name, points, weights, self.handle, self.tracer)

    def start(self) -> None:
        """Give every pod of the input to the scheduler, and schedule until nothing moves any more."""
        self.admit_all()
        self.run()

    def run(self) -> None:
        """Schedule until nothing moves any more; `ordered` StatefulSets make their next pods meanwhile."""
        self.scheduler.run()
        if not self.ordered_sets:
            return
        found = Dependents(list(self.cluster.pods.values()))
        growing = [(each, [pod_uid(pod) for pod in found.of(each)]) for each in self.ordered_sets]
        while growing:
            growing = [each for each in growing if self._make_next(*each)]
            self.scheduler.run()

    def _make_next(self, workload: AnyWorkload, uids: list[str]) -> bool:
        """The set, whose pods these are, makes its next one if they are all ready; False if it does not."""
        pods = [self.cluster.pods[uid] for uid in uids if uid in self.cluster.pods]
        made = list(new_pods(workload, pods, (), is_ready=self._is_ready))
        for pod in made:
            pod, claims = self._admission.arriving(pod)
            for claim in claims:
                self.cluster.put_claim(claim)
            self.cluster.add_pod(pod)
            self.admit(pod)
            self.made.add(pod_uid(pod))
            uids.append(pod_uid(pod))
        return bool(made)

    def _is_ready(self, pod: Pod) -> bool:
        """A pod that was bound here is taken for ready."""
        return is_ready(pod) or bool(pod.spec.node_name and self.scheduler.records.of(pod).attempts)

    def admit_all(self) -> None:
        """Give every pod of the input to the scheduler."""
        late = [group for group in self.groups if any(comes_after(group, pod) for pod in self.pods)]
        for group in self.groups:
            if group not in late:
                self.cluster.add_group(group)
        for pod in self.pods:
            for group in [group for group in late if not comes_after(group, pod)]:
                late.remove(group)
                self.cluster.add_group(group)
            self.admit(pod)
        for group in late:
            self.cluster.add_group(group)

    def admit(self, pod: Pod) -> None:
        """A pod seen for the first time: it is on a node, or wants one, or is none of the scheduler's business."""
        if pod.spec.node_name:
            self.scheduler.records.of(pod).node = pod.spec.node_name
        elif ended(pod):
            self.scheduler.records.of(pod).skip(f"finished: {pod.status.phase}")
        elif not self._chosen(pod):
            self.scheduler.records.of(pod).skip("not chosen")
        else:
            self.scheduler.enqueue(pod)

    def admitted(self, pod: Pod) -> Pod:
        """The pod as the API server stores it: with its priority and preemption policy."""
        return self._admission.admitted(pod)

    def arrive(self, pod: Pod) -> PodRecord:
        """A pod is created now, with its claims; the scheduler has its record as soon as it has run."""
        pod, claims = self._admission.arriving(pod)
        for claim in claims:
            self.cluster.put_claim(claim)
        self.cluster.add_pod(pod)
        self.scheduler.enqueue(pod)
        return self.scheduler.records.of(pod)

    def plugins_of(self, kind: type[Plugin]) -> list[Any]:
        """All plugins of a class, over the profiles."""
        found = (plugin for framework in self.frameworks.values() for plugin in framework.all_plugins())
        return [plugin for plugin in found if isinstance(plugin, kind)]

    @property
    def dynamic_resources(self) -> list[DynamicResources]:
        """The DynamicResources plugin of each profile that has it."""
        return self.plugins_of(DynamicResources)


def _registry(config: configuration.Configuration, extra: Registry | None) -> Registry:
    """The plugins of the tree, those given, and those of installed packages that the configuration names."""
    registry = defaults.registry()
    if extra:
        registry.merge(extra)
    wanted = {name for profile in config.profiles for name in configuration.plugin_names(profile)}
    if wanted - registry.keys():
        from importlib.metadata import entry_points

        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name in wanted and entry.name not in registry:
                registry.register(entry.name, entry.load())
    return registry


def _times(inventory: Inventory) -> Iterable[str | None]:
    for pod in inventory.pods:
        yield pod.metadata.creation_timestamp
        yield pod.status.start_time
    for claim in inventory.claims:
        yield claim.metadata.creation_timestamp
        if claim.allocation is not None:
            yield claim.allocation.allocation_timestamp
