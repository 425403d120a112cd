"""A simulation, which connects an input, the cluster built from it, and the scheduler with its profiles.

The first part is the scheduler, which takes pods from the queue, runs their cycles and binds them. The second part is
the simulation, which builds the profiles and passes pods to the scheduler. `scheduler/simulate.py` runs later states.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from dra_plan import allotted
from dra_plan.allocator import View
from dra_plan.allocator.allocator import DEFAULT_MAX_STEPS
from dra_plan.allocator.search import DeviceOrder
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.api.scheduling import PodGroup
from dra_plan.api.workloads import AnyWorkload
from dra_plan.claims.owners import Dependents, ended, is_ready
from dra_plan.errors import UsageError
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.claims import ClaimStore
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.volumes import TABLES
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework.extender import Extender
from dra_plan.scheduler.framework.interface import Handle, Plugin, Registry
from dra_plan.scheduler.framework.plugin_names import FIT
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import CycleState
from dra_plan.scheduler.framework.trace import Tracer
from dra_plan.scheduler.framework.types import Nominator, QueuedPod
from dra_plan.scheduler.groups.admission import comes_after
from dra_plan.scheduler.groups.scheduling import GroupScheduling

from . import config as configuration
from .admission import ARRIVAL, ORDERS, Admission
from .attempts import FailedAttempts, PodRecord, PodRecords
from .binding import Binding, BindingCycle, FailureHandler
from .chance import USUAL, Chance
from .clock import Clock, latest
from .cycle import Cycle
from .events import Action, Event, Resource
from .forks import Forks
from .framework import plugin_names
from .new_pods import new_pods
from .queue import SchedulingQueue
from .volume_controller import settle_volumes

# -- the scheduler at work ---------------------------------------------------------------------------------------------
# Upstream's parallel work happens here in a fixed order. Work that a cycle leaves behind (binding, evicting) is carried
# out at the end of the next cycle that examines nodes, so the pod tried directly afterwards does not yet see it. Cycles
# that end before they examine nodes take almost no time, except for the time that a real API server needs to write
# their rejections.

REFUSALS_PER_BINDING = 3
"""How many pods are rejected while another pod is being bound.

A rejection is written to the pod's status before the next pod is tried. A binding writes its claim twice and its pod
once.
"""
MOST_ATTEMPTS = 10_000
"""The maximum number of attempts for a pod in a simulation. Upstream has no limit."""


class _Later(Struct):
    """An action to carry out while the next pod is tried."""

    cycle: int
    what: str
    do: Callable[[], None]


class Scheduler:
    """The scheduler of one simulation."""

    def __init__(
        self,
        handle: Handle,
        frameworks: Mapping[str, Framework],
        queue: SchedulingQueue,
        cycle: Cycle,
        percentages: Mapping[str, int],
        tracer: Tracer | None = None,
    ) -> None:
        self.handle = handle
        self.frameworks = frameworks
        self.queue = queue
        self.records = PodRecords()
        self.cycle = cycle
        self._failures = FailureHandler(handle, queue, self.records)
        self.bindings = BindingCycle(handle, queue, self.records, self._failures)
        self.groups = GroupScheduling(
            handle, frameworks, queue, cycle, percentages, self.records, self.bindings, self._failures
        )
        self._percentages = percentages
        self._tracer = tracer
        self.failed_attempts: FailedAttempts | None = None
        """The records of failed attempts, if they are needed for an explanation."""
        self.enough: Callable[[], bool] = lambda: False
        """A function that returns whether the results are enough. If so, the simulation ends as at the deadline."""
        self.until = math.inf
        """The time until which the clock may advance while pods wait. Anything due later is left for the next run."""
        self.attempts = 0
        """The number of attempts for a pod or a group of pods."""
        self.refusals = 0
        """How many times a pod that was tried alone was not scheduled."""
        self._later: list[_Later] = []
        self._refused_meanwhile = 0
        """The number of pods rejected while work of earlier cycles was waiting."""
        handle.later = self._postpone
        handle.activate = lambda pod: queue.activate(handle.cluster.info(pod).uid)
        handle.cluster.listener = queue.handle

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        recorded = () if self.failed_attempts is None else (self.failed_attempts,)
        return self.queue, self.records, self.cycle, self._failures, self.bindings, self.groups, *recorded

    def enqueue(self, pod: Pod) -> None:
        """Queue a pod that needs a node. A pod that names another scheduler is ignored."""
        info = self.handle.cluster.info(pod)
        record = self.records.of(pod)
        if info.profile not in self.frameworks:
            record.skip(f"scheduler {info.profile} is not configured")
            return
        if pod.status.nominated_node_name:
            self.handle.nominator.nominate(info, pod.status.nominated_node_name)
        if info.group is not None:
            self.handle.cluster.groups.saw(info)
        item = self.queue.add(info)
        # as long as a gang is too small for the arriving pod, it is too small for the pods that wait
        if info.group is not None and item.gated_by != plugin_names.GANG_SCHEDULING:
            event = Event(Resource.UNSCHEDULED_POD, Action.ADD, None, pod)
            self.queue.member_came(event, self.handle.cluster.groups.seen(info.group))

    def run(self, *, to_refusal: bool = False) -> None:
        """Schedule pods until nothing changes any more, the results are enough, or the time limit is reached.

        If `to_refusal` is set, stop at the first pod that is not scheduled. The next run continues from there.
        """
        refusals = self.refusals
        while not to_refusal or self.refusals == refusals:
            allotted.check()
            if self.is_late() or self.enough():
                self._cut_short()
                return
            item = self.queue.pop()
            if item is not None and item.info.group is not None:
                self._schedule_group(item)
            elif item is not None:
                self._schedule(item)
            elif not (
                self._flush(self.attempts + 1)
                or self._settle()
                or self.bindings.pass_time(self.until)
                or self._failures.retry(self.until)
            ):
                return

    def is_late(self) -> bool:
        """Return whether the simulation's time limit has passed."""
        deadline = self.handle.deadline
        return deadline is not None and time.monotonic() > deadline

    def _cut_short(self) -> None:
        """Carry out the decisions, and record the pods that another attempt would have decided."""
        self._flush(self.attempts + 1)
        for item in self.queue.to_be_tried:
            self.records.of(item.pod).cut_short()

    def _schedule(self, item: QueuedPod) -> None:
        if self._leaves(item):
            return
        pod = item.pod
        record = self.records.of(pod)
        self.attempts += 1
        record.attempts = item.attempts
        if self._tracer:
            self._tracer.begin(pod.key, item.attempts, self.handle.clock.now)
        state, framework = CycleState(), self.frameworks[item.profile]
        if self.failed_attempts is not None:
            self.failed_attempts.begin()
        result = self.cycle.run(framework, state, pod, self._percentages.get(item.profile, 0))
        record.best, record.fatal = result.best, result.fatal
        if self.failed_attempts is not None:
            self.failed_attempts.ended(item, framework, state, result)
        if result.node:
            binding = Binding(item, framework, state, result.node)
            self.bindings.add(binding)
            self._postpone(f"bind {pod.key}", lambda: self.bindings.run(binding))
        else:
            self.refusals += 1
            self._failures.handle(item, result)
        if self._tracer:
            self._tracer.current.node, self._tracer.current.message = result.node, result.message
        if result.filtered or self._takes_time(refused=not result.node):
            self._flush(self.attempts)

    def _takes_time(self, *, refused: bool) -> bool:
        """Return whether writing rejections has already taken as long as the work that cycles left behind."""
        if not self.handle.detects_conflicts or not refused or not self._later:
            self._refused_meanwhile = 0
            return False
        self._refused_meanwhile += 1
        return self._refused_meanwhile > REFUSALS_PER_BINDING

    def _settle(self) -> bool:
        """Complete the work outside the scheduler for which pods with a node wait; return False if there is none."""
        if not self.handle.settle():
            return False
        self.bindings.run_all()
        return True

    def _schedule_group(self, first: QueuedPod) -> None:
        assert first.info.group is not None
        items = [item for item in self.groups.members(first) if not self._leaves(item)]
        if not items:
            return
        self.attempts += 1
        if self.groups.run(first.info.group, items):
            self._flush(self.attempts)

    def _leaves(self, item: QueuedPod) -> bool:
        """Return whether the pod is not to be tried, because it is terminating or was tried too often.

        Such a pod is removed.
        """
        pod, record = item.pod, self.records.of(item.pod)
        if pod.metadata.deletion_timestamp is not None:
            record.skip(f"skip schedule deleting pod: {pod.key}")
        elif item.attempts > MOST_ATTEMPTS:
            record.fail(f"given up after {MOST_ATTEMPTS} attempts, the last of them: {record.message}", with_error=True)
        else:
            return False
        self.queue.done(item.uid)
        return True

    def _postpone(self, what: str, do: Callable[[], None]) -> None:
        self._later.append(_Later(self.attempts, what, do))

    def _flush(self, before: int) -> bool:
        """Carry out the work that cycles before the given one left behind; return False if there was none."""
        due = [later for later in self._later if later.cycle < before]
        if not due:
            return False
        self._later = [later for later in self._later if later.cycle >= before]
        self._refused_meanwhile = 0
        for later in due:
            later.do()
        return True


# -- the simulation ----------------------------------------------------------------------------------------------------

ENTRY_POINTS = "dra_plan.scheduler_plugins"

RECORDED = "recorded"
"""The API server of the recordings, which shows finished pods to the scheduler and keeps the last write."""
REAL = "real"
"""A real API server, which hides finished pods from the scheduler and rejects writes based on outdated reads."""
API_SERVERS = (RECORDED, REAL)


class Simulation:
    """A simulation of a cluster and its scheduler.

    The input is not changed, and the same input always has the same outcome.

    `config` is a decoded KubeSchedulerConfiguration. `plugins` are factories in addition to those of installed
    packages, and `extenders` replace those in the configuration. `api_server` is one of `API_SERVERS`. `order`, one of
    `admission.ORDERS`, is the order in which the input's pods arrive. Only `chosen` pods are scheduled. If `makes` is
    set, the pods of workloads and the claims of pods exist from the start; otherwise, other code creates them. If
    `ordered` is set, StatefulSets that create pods in order start with one pod. `common` is shared with simulations of
    related inputs, and `view` is the target's view of the input, if it exists. `chance` breaks ties and orders the
    nodes, and `device_order` orders the devices of a node. Raises UsageError for a configuration that cannot be used.
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
        chance: Chance = USUAL,
        device_order: DeviceOrder | None = None,
    ) -> None:
        self._chosen = chosen
        if api_server not in API_SERVERS:
            raise UsageError(f"unknown API server {api_server!r}: use one of {', '.join(API_SERVERS)}")
        if order not in ORDERS:
            raise UsageError(f"unknown order of pods {order!r}: use one of {', '.join(ORDERS)}")
        self.api_server, self.order = api_server, order
        real = api_server == REAL
        self.inventory = inventory
        self.ordered = ordered
        self.ordered_sets: Sequence[AnyWorkload] = ()
        """The StatefulSets that create their pods one by one."""
        self.made: set[str] = set()
        """The UIDs of pods that StatefulSets have created since the start."""
        self.target = target
        self.config = configuration.read(config)
        self.tracer = Tracer() if trace else None
        is_shared = common is not None
        common = Common() if common is None else common
        self._stored = common.stored
        self._admission = Admission(
            inventory, order, target.features, makes=makes, ordered=ordered, stored=common.stored
        )
        self.pods, claims = self._admission.claims(self._admission.pods())
        if is_shared:
            self.pods = [common.objects.admitted(pod) for pod in self.pods]
        self.groups = self._admission.groups
        self.ordered_sets = self._admission.ordered_sets
        view = (View.of(inventory, target) if view is None else view).ordered(device_order)
        consumable = target.features.consumable_capacity
        if is_shared:
            store = common.objects.claims(claims, view, consumable_capacity=consumable)
        else:
            store = ClaimStore(claims, consumable_capacity=consumable)
        self.cluster = SimulatedCluster(
            inventory,
            self.pods,
            store,
            target,
            shows_finished=not real,
            known=common.objects,
            view=view,
            arranged=chance.arranged,
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
        self._gated = configuration.gated(target.features)
        registry = _registry(self.config, plugins)
        self.frameworks = {p.scheduler_name: self._framework(p, registry) for p in self.config.profiles}
        self._plugins: dict[type[Plugin], list[Any]] = {}
        on_wake = self.tracer.wakes.append if self.tracer else lambda _wake: None
        queue = SchedulingQueue(self.clock, self.frameworks, on_wake)
        cycle = Cycle(self.handle, self.handle.extenders, chance.picker())
        percentages = configuration.percentages(self.config)
        self.scheduler = Scheduler(self.handle, self.frameworks, queue, cycle, percentages, self.tracer)
        if explain:
            self.scheduler.failed_attempts = FailedAttempts(self.handle)
        self.forks = Forks(self)
        """The changes that can be undone. While a fork is open, results read before it do not change."""

    not_kept = ("forks", "_plugins", "_stored")

    def parts(self) -> Iterable[object]:
        """Return the parts that a fork of the simulation has to save."""
        plugins = (plugin for framework in self.frameworks.values() for plugin in framework.all_plugins())
        handle = self.handle
        return (
            self.clock,
            self.cluster,
            handle,
            handle.nominator,
            handle.waiting,
            self.scheduler,
            self._admission,
            *plugins,
        )

    def _framework(self, profile: configuration.Profile, registry: Registry) -> Framework:
        arguments = configuration.arguments(profile)
        made: dict[str, Plugin] = {}
        ignored = [r.name for e in self.config.extenders for r in e.managed_resources if r.ignored_by_scheduler]
        for name in configuration.enabled_plugins(profile, self._gated):
            if name not in registry:
                raise UsageError(f"profile {profile.scheduler_name}: no plugin named {name} exists")
            args = arguments.get(name, {})
            if name == FIT:
                args = {**args, "ignoredResources": [*args.get("ignoredResources", ()), *ignored]}
            made[name] = registry[name](args, self.handle)
        points, weights = configuration.arrange(profile, made, self._gated)
        return Framework(profile.scheduler_name, points, weights, self.handle, self.tracer)

    # Other states of the input

    def stand_by(self) -> None:
        """Accept only the pods that have a node. Simulations of other states can then be forked from this one."""
        for pod in self.pods:
            if pod.spec.node_name:
                self.admit(pod)
        _ = self.cluster.claims.state  # found once, and changed by each fork

    def can_become(self, inventory: Inventory) -> bool:
        """Return whether another state of the input differs from this one only in objects that `become` replaces."""
        here = self.inventory
        return all(getattr(here, each) is getattr(inventory, each) for each in _FIXED)

    def become(self, inventory: Inventory, chosen: Callable[[Pod], bool]) -> None:
        """Turn this simulation into one of another state of the input, which is not started yet.

        This must be a fork of a simulation on which `stand_by` was called.
        """
        before, known = self._admission, {id(pod) for pod in self.inventory.pods}
        staying = {id(pod) for pod in inventory.pods}
        left = [pod for pod in self.inventory.pods if pod.spec.node_name and id(pod) not in staying]
        came = [pod for pod in inventory.pods if pod.spec.node_name and id(pod) not in known]
        gone = [uid for uid, pod in self.cluster.pods.items() if not pod.spec.node_name]
        gone += [pod_uid(before.admitted(pod)) for pod in left]
        self.scheduler.records.forget(gone)
        self.inventory, self._chosen = inventory, chosen
        features = self.target.features
        self._admission = Admission(inventory, self.order, features, ordered=self.ordered, stored=self._stored)
        self.pods, claims = self._admission.claims(self._admission.pods(without_node=True))
        self.groups, self.ordered_sets = self._admission.groups, self._admission.ordered_sets
        self.clock.now = latest(_times(inventory))
        self.cluster.set_lookups(inventory)
        self.cluster.set_nodes(inventory.nodes)
        placed = [self._admission.admitted(pod) for pod in self._admission.arranged(came)]
        self.cluster.exchange(gone, [*placed, *self.pods], claims)
        for pod in placed:
            self.admit(pod)
        self._arrange({pod.spec.node_name for pod in (*left, *came)})

    def _arrange(self, nodes: Collection[str]) -> None:
        """Put the pods on these nodes in scheduling order."""
        there: dict[str, list[Pod]] = {name: [] for name in nodes}
        for pod in self.inventory.pods if nodes else ():
            if pod.spec.node_name in there:
                there[pod.spec.node_name].append(pod)
        for name, pods in there.items():
            arranged = self._admission.arranged(pods)
            self.cluster.arrange(name, [pod_uid(self._admission.admitted(pod)) for pod in arranged])

    def start(self) -> None:
        """Pass all pods of the input to the scheduler, and schedule until nothing changes any more."""
        self.admit_all()
        self.run()

    def run(self) -> None:
        """Schedule until nothing changes any more, letting ordered StatefulSets create their next pods."""
        self.scheduler.run()
        if not self.ordered_sets:
            return
        found = Dependents(list(self.cluster.pods.values()))
        growing = [(each, [pod_uid(pod) for pod in found.of(each)]) for each in self.ordered_sets]
        while growing:
            growing = [each for each in growing if self._make_next(*each)]
            self.scheduler.run()

    def _make_next(self, workload: AnyWorkload, uids: list[str]) -> bool:
        """Create the next pod in the set that owns these pods, if they are all ready.

        Return False if no pod is created.
        """
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
        """Return whether the pod is ready; a pod that was bound here counts as ready."""
        return is_ready(pod) or bool(pod.spec.node_name and self.scheduler.records.of(pod).attempts)

    def yet_to_be_made(self) -> Iterator[tuple[Pod, AnyWorkload]]:
        """Yield the pods of the input that were removed and not recreated yet, each with its workload.

        Only pods of StatefulSets that create pods in order are included.
        """
        return self._admission.yet_to_be_made(self.cluster.pods.values())

    def admit_all(self) -> None:
        """Pass all pods of the input to the scheduler."""
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
        """Accept a new pod, whether it has a node, needs one, or is ignored by the scheduler."""
        if pod.spec.node_name:
            self.scheduler.records.of(pod).node = pod.spec.node_name
        elif ended(pod):
            self.scheduler.records.of(pod).skip(f"finished: {pod.status.phase}")
        elif not self._chosen(pod):
            self.scheduler.records.of(pod).skip("not chosen")
        else:
            self.scheduler.enqueue(pod)

    def admitted(self, pod: Pod) -> Pod:
        """Return the pod as the API server stores it, with its priority and preemption policy."""
        return self._admission.admitted(pod)

    def arrive(self, pod: Pod) -> PodRecord:
        """Create a pod and its claims now. Its record is complete once the scheduler has run."""
        pod, claims = self._admission.arriving(pod)
        for claim in claims:
            self.cluster.put_claim(claim)
        self.cluster.add_pod(pod)
        self.scheduler.enqueue(pod)
        return self.scheduler.records.of(pod)

    def arrive_group(self, group: PodGroup) -> None:
        """Create a pod group and its claims now."""
        group, claims = self._admission.arriving_group(group)
        for claim in claims:
            self.cluster.put_claim(claim)
        self.cluster.add_group(group)

    def plugins_of(self, kind: type[Plugin]) -> list[Any]:
        """Return all plugins of this class in all profiles."""
        known = self._plugins.get(kind)
        if known is None:
            found = (plugin for framework in self.frameworks.values() for plugin in framework.all_plugins())
            known = self._plugins[kind] = [plugin for plugin in found if isinstance(plugin, kind)]
        return known

    @property
    def dynamic_resources(self) -> list[DynamicResources]:
        """The DynamicResources plugins of all profiles."""
        return self.plugins_of(DynamicResources)


_FIXED = (
    "slices",
    "classes",
    "taint_rules",
    "namespaces",
    "services",
    "priority_classes",
    "runtime_classes",
    "quotas",
    "limit_ranges",
    "pod_groups",
    "group_workloads",
    *TABLES.values(),
)
"""The objects of an input that are the same in all of its states that one simulation can become."""


def _registry(config: configuration.Configuration, extra: Registry | None) -> Registry:
    """Return the in-tree plugins, the given plugins, and those from installed packages that the configuration names."""
    registry = configuration.registry()
    if extra:
        registry.merge(extra)
    wanted = {name for profile in config.profiles for name in configuration.enabled_plugins(profile)}
    if wanted - registry.keys():
        from importlib.metadata import entry_points

        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name in wanted and entry.name not in registry:
                registry.register(entry.name, entry.load())
    return registry


def _times(inventory: Inventory) -> set[str | None]:
    pods, claims = inventory.pods, inventory.claims
    created = (each.metadata.creation_timestamp for objects in (pods, claims) for each in objects)
    allocated = (made.allocation_timestamp for claim in claims if (made := claim.allocation) is not None)
    return {*created, *(pod.status.start_time for pod in pods), *allocated}
