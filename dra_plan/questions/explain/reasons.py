"""`explain`: a run of the scheduler over all pending pods that can affect the explained ones.

Its results agree with those of `schedule`, because it is the same simulation. With very many pending pods, the run ends
once the answer is known. Its limits are numbers of attempts, so the answer does not depend on the speed of the machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field, structs

from dra_plan.allocator import View
from dra_plan.api.core import Node, Pod
from dra_plan.api.inventory import ClusterInfo, Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.api.workloads import AnyWorkload, Workload, WorkloadCondition
from dra_plan.claims.sets import ClaimSet, Owner, asked
from dra_plan.documents.base import ServedResource
from dra_plan.documents.reasons import BlockingRequest, CompetingRequest, NotTogether
from dra_plan.documents.verdict_parts import ChangedReason, LastMessage
from dra_plan.planner.certainty import may_lack
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.creation import not_created
from dra_plan.planner.rivals import OwnersOfPods
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.clock import parse_time
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.cluster.memo import MOST_SHAPES
from dra_plan.scheduler.cluster.nodes import NodeInfo, PodInfo
from dra_plan.scheduler.cycle import fit_error
from dra_plan.scheduler.dra.filter import PodState
from dra_plan.scheduler.dra.plugin import DynamicResources
from dra_plan.scheduler.framework import plugin_names
from dra_plan.scheduler.framework.interface import Diagnosis
from dra_plan.scheduler.framework.profile import Framework
from dra_plan.scheduler.framework.status import (
    Code,
    CycleState,
    Status,
)
from dra_plan.scheduler.node_refusals import NodeRefusal, NodeRefusals, refusals_of
from dra_plan.scheduler.plugins.volumes import IN_USE
from dra_plan.scheduler.simulate import Eviction, SimulationResult, simulate
from dra_plan.scheduler.simulation import Simulation

if TYPE_CHECKING:
    from dra_plan.explanation.explainer import KnownFindings

MOST_ATTEMPTS = 2_000
"""The maximum number of scheduling attempts. Later pods in the queue are not tried."""


MOST_AFTER = 200
"""The maximum number of attempts once all explained pods have been tried."""


_SAME_CLUSTER = ("slices", "classes", "given_rules", "target", "device_order")
"""The parts of a view that are the same objects if only claims differ."""


class ClusterFindings:
    """Findings about the devices of one cluster, by the requests of claims, so that each node is examined only once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._found: dict[Hashable, KnownFindings] = {}

    def of(self, view: View, claim_set: ClaimSet) -> KnownFindings:
        """Return the findings for the requests of this claim set, or no findings for a view of another cluster."""
        from dra_plan.explanation.explainer import KnownFindings  # pods without claims do not need it

        if any(getattr(view, part) is not getattr(self._view, part) for part in _SAME_CLUSTER):
            return KnownFindings()
        return self._found.setdefault(asked(claim_set), KnownFindings())


class RunQuestion(Struct, frozen=True):
    """The input of a run, the limits of its searches, and known findings about devices."""

    inventory: Inventory
    view: View
    max_steps: int | None
    deadline: float | None
    findings: ClusterFindings


class DeviceAttempt(Struct, frozen=True):
    """The claims of a pod that could not be scheduled, and the cluster at that time.

    `nodes` are the nodes that rejected the pod because of devices, and `claims` are the claims without devices.
    `has_more` means that one of them is for extended resources, and is therefore not in the pod's claim set.
    """

    nodes: tuple[Node, ...]
    claims: tuple[ResourceClaim, ...]
    allocated: tuple[ResourceClaim, ...]
    view: View
    has_more: bool
    served: Mapping[str, ServedResource] = field(default_factory=dict)
    """The extended resource behind each request of the claim for extended resources."""

    def resource_of(self, request: str) -> str:
        """Return the extended resource that the request is for, or the request's name if it is for none."""
        return self.served[request].resource if request in self.served else request

    def with_served(self, of: NotTogether) -> NotTogether:
        """Return what cannot be met together, with the extended resource of each request that is for one."""
        if not self.has_more:
            return of
        elements = [
            structs.replace(one, serves=self._serves(one)) if isinstance(one, BlockingRequest) else one
            for one in of.elements
        ]
        shortages = [
            structs.replace(short, needs=[structs.replace(one, serves=self._serves(one)) for one in short.needs])
            for short in of.shortages
        ]
        return structs.replace(of, elements=elements, shortages=shortages)

    def _serves(self, of: CompetingRequest) -> ServedResource | None:
        return self.served.get(of.request) if of.claim.name == self.claims[-1].metadata.name else None


def _served(plugin: DynamicResources, kept: PodState, pod: Pod, node: NodeInfo) -> dict[str, ServedResource]:
    """Return what the requests for extended resources are for that the pod has on the node."""
    requests, uses = plugin.served_on(kept, pod, node)
    return {
        one.name: ServedResource(
            resource=next(use.resource for use in uses if use.request == one.name),
            amount=one.exactly.count,
            containers=[use.container for use in uses if use.request == one.name],
            class_=one.exactly.device_class_name,
        )
        for one in requests
        if one.exactly is not None
    }


class VerdictRun:
    """A simulation that schedules all pods or selected ones, and its results by owner."""

    def __init__(
        self,
        about: RunQuestion,
        owners: OwnersOfPods,
        common: Common,
        explained: Callable[[Pod], bool],
        chosen: Callable[[Pod], bool] = lambda _pod: True,
        planned: Iterable[ClaimSetPlan] = (),
        then: Iterable[Inventory] = (),
    ) -> None:
        """Run the simulation. For `explained` pods, the reasons of each node are recorded.

        `planned` are claim sets of the same input: their answers are used for nodes that have not changed. Pods that
        quotas and limits keep from being created are never tried. The simulation goes on to the states in `then`.
        """
        self._explained, self._chosen = explained, chosen
        self._lacks = may_lack(about.inventory)
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
        """The pending pods that quotas and limits keep from being created."""
        self._kept_out = {each.pod.key for each in self.not_made}
        self._open = [pod_uid(pod) for pod in (*waiting, *later) if explained(pod)]
        self._last_of_them = 0
        self._start = self._state
        self.attempts: dict[str, DeviceAttempt | None] = {}
        """The requests at the last failed attempt of each explained pod, by uid."""
        self._seen_by: dict[str, tuple[int, int]] = {}
        """The state of the cluster at the last failed attempt of each pod, by uid."""
        self._take_over(planned)
        scheduler = self.simulation.scheduler
        scheduler.cycle.explain = self._kept
        scheduler.enough = self._is_enough
        self.result: SimulationResult = simulate(self.simulation, then, tells=False)
        self.is_late = scheduler.is_late()
        self.records: dict[Owner, list[PodRecord]] = {}
        for record in self.result.pods:
            for owner in dict.fromkeys(owners.of(record.pod)):
                self.records.setdefault(owner, []).append(record)
        self._victims: dict[str, list[Eviction]] = {}
        for eviction in self.result.evictions:
            self._victims.setdefault(eviction.preemptor, []).append(eviction)

    def _take_over(self, planned: Iterable[ClaimSetPlan]) -> None:
        """Give the allocator's answers for claim sets to the scheduler, if the same devices are in use."""
        cluster, frameworks = self.simulation.cluster, self.simulation.frameworks.values()
        sets = [plan for plan in planned if not plan.claim_set.allocated][:MOST_SHAPES]
        if not sets or not cluster.claims.is_allocated_like(cluster.view.claims):
            return
        plugins = [one for framework in frameworks for one in framework.all_plugins()]
        for plugin in (one for one in plugins if isinstance(one, DynamicResources)):
            for plan in sets:
                plugin.take_over(plan.claim_set.claims, plan.nodes)

    def is_made(self, pod: Pod) -> bool:
        """Return whether the pod is created, and not rejected because of a quota or limit."""
        return pod.key not in self._kept_out

    def _is_chosen(self, pod: Pod) -> bool:
        return self.is_made(pod) and self._chosen(pod)

    def _kept(self, framework: Framework, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> NodeRefusals | None:
        if not self._explained(pod):
            return None
        self._seen_by[pod_uid(pod)] = self._state
        found = refusals_of(framework, state, pod, diagnosis, besides=self._lacks)
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
        view, store = cluster.view, cluster.claims
        return DeviceAttempt(
            nodes=tuple(node.node for node in refused),
            claims=tuple(plugin.claims_asked_for(kept, pod, refused[0])),
            allocated=tuple(kept.allocated),
            view=view if store.is_allocated_like(view.claims) else view.with_claims(tuple(store.seen())),
            has_more=kept.special is not None,
            served=_served(plugin, kept, pod, refused[0]) if kept.special is not None else {},
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
        """Return the number of pods that were not tried because of the limit on attempts."""
        if self.is_late:
            return 0
        return sum(record.ran_out and not record.attempts for record in self.result.pods)

    @property
    def _state(self) -> tuple[int, int]:
        """Return a value that stays equal as long as nothing changes in the cluster."""
        cluster = self.simulation.cluster
        return cluster.revision, cluster.journal.end()

    def came_first(self, pod: Pod) -> bool:
        """Return whether the pod failed before anything changed in the cluster, so that no other pod is the reason."""
        return self._seen_by.get(pod_uid(pod)) == self._start

    def victims(self, pod: Pod) -> list[Eviction]:
        """Return the evictions that make room for the pod or its group."""
        group = pod.spec.scheduling_group
        named = f"podgroup/{pod.metadata.namespace}/{group.pod_group_name}" if group is not None else ""
        return [*self._victims.get(pod.key, ()), *(self._victims.get(named, ()) if named else ())]

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods that are on a node at the end of the run."""
        return [info.pod for info in self.infos_on(node)]

    def infos_on(self, node: str) -> Iterable[PodInfo]:
        """Return the pods that are on a node at the end of the run, with their requests."""
        return self.simulation.cluster.nodes[node].pods.values()

    def nominated(self, node: str, pod: Pod) -> list[PodInfo]:
        """Return the pods that are nominated to the node at the end of the run.

        Pods whose room the given pod may take are left out.
        """
        info = self.simulation.cluster.info(pod)
        found = self.simulation.handle.nominator.at_least(node, info.priority, info.uid)
        return [other for other in found if other.uid not in self.simulation.cluster.nodes[node].pods]

    def priority(self, pod: Pod) -> int:
        """Return the priority of the pod."""
        return self.simulation.cluster.info(pod).priority


def _is_about_devices(refusals: Sequence[NodeRefusal]) -> bool:
    return any(each.plugin == plugin_names.DYNAMIC_RESOURCES for each in refusals)


CONDITION = "PodScheduled"


def last_message(pod: Pod, record: PodRecord | None, info: ClusterInfo | None) -> LastMessage | None:
    """Return the PodScheduled condition of a pod without a node, or None if it has no message."""
    found = next((each for each in pod.status.conditions if each.type == CONDITION and each.status == "False"), None)
    if found is None or not found.message or (info is not None and info.anonymized):
        return None  # an anonymized input has a pseudonym for a text with names
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
"""kube-scheduler's message about a pod that no node accepts (FitError of its framework); PostFilter's message
follows.
"""


_COUNTED = re.compile(r"(?P<nodes>\d{1,9}) (?P<reason>.+)", re.DOTALL)


def _changed(said: str, refusals: NodeRefusals) -> list[ChangedReason]:
    """Return the reasons whose node count in the message differs from now; empty if it counts none."""
    before, now = _counted(said), _counted_now(refusals)
    if not before or refusals.of_all:
        return []
    changed = [reason for reason in (now | before) if now[reason] != before[reason]]
    return [ChangedReason(reason=one, nodes=now[one], before=before[one]) for one in changed]


def _counted_now(refusals: NodeRefusals) -> Counter[str]:
    first = (reason.text for found in refusals.of_nodes.values() for reason in found[0].reasons)
    return Counter(map(_of_any_release, first))


def reasons_in(said: LastMessage) -> Collection[str]:
    """Return the reasons that the message counts nodes for, in the scheduler's words."""
    return _counted(said.message)


def _counted(said: str) -> Counter[str]:
    """Return the number of nodes for each reason in the message; empty if it counts none."""
    counts = _COUNTS.fullmatch(said)
    told = [_COUNTED.fullmatch(part) for part in re.split(r", (?=\d+ )", counts["reasons"])] if counts else []
    before: Counter[str] = Counter()
    for each in told:
        if each is None:
            return Counter()
        before[_of_any_release(each["reason"])] += int(each["nodes"])
    return before


_NAMED_TAINT = re.compile(r"untolerated taint \{.*\}", re.DOTALL)


_OLDER_WORDING = {
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode": IN_USE,
}
"""The present wording of reasons that older releases word differently.

Source: the history of the plugins' reasons; the one about ReadWriteOncePod, from 1.22 on, was changed by
kubernetes/kubernetes pull request 129145.
"""


def _of_any_release(reason: str) -> str:
    """Return the reason in its present wording, and without the taint that older releases include."""
    return _OLDER_WORDING.get(reason) or _NAMED_TAINT.sub("untolerated taint(s)", reason)


def _is_gated(reason: str, record: PodRecord | None) -> bool:
    return reason == "SchedulingGated" and record is not None and record.held_by == plugin_names.SCHEDULING_GATES


def _is_same(said: str, today: str, refusals: NodeRefusals | None) -> bool:
    """Return whether the nodes have equal reasons, in the words of any release.

    The preemption result, which follows, may differ.
    """
    if said == today or refusals is None or not today:
        return said == today
    if said.startswith(_of_nodes(refusals)):
        return True
    before = _counted(said) if _NAMED_TAINT.search(said) is None and not refusals.of_all else None
    return bool(before) and before == _counted_now(refusals)


def _of_nodes(refusals: NodeRefusals) -> str:
    """Return the part of the message that counts the reasons of nodes."""
    first = {name: found[0] for name, found in refusals.of_nodes.items()}
    statuses = {name: Status(Code.UNSCHEDULABLE, *one.reasons) for name, one in first.items()}
    for_all = (
        ", ".join(reason.text for one in [*first.values()][:1] for reason in one.reasons) if refusals.of_all else ""
    )
    return fit_error(len(statuses), statuses, pre_filter=for_all)


def replica_failure(workload: AnyWorkload) -> WorkloadCondition | None:
    """Return the condition of a Deployment or ReplicaSet whose pods are rejected, or None."""
    conditions = workload.status.conditions if isinstance(workload, Workload) else []
    found = (each for each in conditions if each.type == "ReplicaFailure" and each.status == "True" and each.message)
    return next(found, None)


_QUOTA = re.compile(r"\b(?:failed|exceeded) quota: ([a-z0-9][-a-z0-9.]*)")


_CLASS = re.compile(r"\bno PriorityClass with name ([a-z0-9][-a-z0-9.]*) was found")


def class_named(text: str) -> str:
    """Return the PriorityClass that is missing according to the API server's message, or ""."""
    found = _CLASS.search(text)
    return found[1] if found is not None else ""


def quota_named(text: str) -> str:
    """Return the name of the ResourceQuota in the API server's message, or ""."""
    found = _QUOTA.search(text)
    return found[1] if found is not None else ""
