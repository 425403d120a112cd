"""`schedule`: the result of scheduling all pods of the input, which compete for nodes and devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType, structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.index import Index
from dra_plan.claims.owners import is_new
from dra_plan.claims.sets import Owner
from dra_plan.documents.base import ObjectName, answer_target, claim_allocation, warnings
from dra_plan.documents.refusals import REFUSED
from dra_plan.documents.scheduling import (
    ContestedPods,
    EvictedPod,
    ExplainedAttempt,
    GroupCondition,
    NodeVerdicts,
    PodRejectedLater,
    ScheduledClaim,
    ScheduledPod,
    ScheduledPodGroup,
    SchedulingTrace,
    TaintEvictedPod,
    TracedAttempt,
    TracedWake,
)
from dra_plan.errors import UsageError
from dra_plan.planner import nodes, notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.bystanders import of_bystanders
from dra_plan.planner.certainty import keep_refusals
from dra_plan.planner.creation import NotCreated, as_created, has_quotas, not_created
from dra_plan.planner.failed_attempts import explained_attempts
from dra_plan.planner.nodes import with_nodes
from dra_plan.planner.notices import of_new_fields
from dra_plan.planner.owners import chosen_pods
from dra_plan.planner.question import Chosen, Question
from dra_plan.planner.refused import RefusedOwner, accepted, entries
from dra_plan.planner.rivals import OwnersOfPods, contested
from dra_plan.planner.settling import (
    SettledOutcome,
    lacking,
    outlook_of,
    settled_result,
    simulation_of,
    with_successors,
)
from dra_plan.planner.suspended import resumed
from dra_plan.planner.twice import of_devices_twice
from dra_plan.questions.schedule.document import ScheduleDocument, devices_by_pod
from dra_plan.releases import Target
from dra_plan.scheduler.admission import ARRIVAL
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.chance import USUAL, Chance
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.coverage import of_scheduler
from dra_plan.scheduler.framework.trace import Attempt, Tracer
from dra_plan.scheduler.notices import GroupSummary
from dra_plan.scheduler.simulate import SimulationResult, simulate
from dra_plan.scheduler.simulation import REAL, Simulation

if TYPE_CHECKING:
    from dra_plan.controllers.events import EventStep
    from dra_plan.controllers.foreseen import NextActions
    from dra_plan.controllers.settle import Settled
    from dra_plan.scheduler.framework.extender import Extender
    from dra_plan.scheduler.framework.interface import Registry


@dataclass(frozen=True, repr=False)
class SchedulePlan(PrintedAnswer[ScheduleDocument]):
    """The result of `schedule`. Iterating over the result yields an entry for every pod."""

    outcome: SimulationResult
    explanations: tuple[ExplainedAttempt, ...] | None = None
    """Why pods without a node got no devices; None unless explanations were requested."""
    settled: Settled | None = None
    """The settled cluster; None unless settling was requested."""
    outlook: NextActions | None = None
    """What would change if the cluster settled; None if settling was requested."""
    unknown: frozenset[tuple[str, str]] = frozenset()
    """The namespace and name of each rejected pod that may fit after all, because the input is incomplete."""
    refused: tuple[RefusedOwner, ...] = ()
    """The pods and workloads that are left out because the API server rejects them."""
    shown: Chosen | None = None
    """The pods to report after settling, or None for all pods."""
    contested: tuple[ContestedPods, ...] = ()
    """The pods that get no node, but would get one if no other pods were pending. Empty without explanations."""
    workloads: Mapping[tuple[str, str], Owner] = field(default_factory=dict)
    """The workloads of pods that do not exist yet, by namespace and name of the pod."""
    rejected_later: tuple[NotCreated, ...] = ()
    """The pods that quotas and limits keep from being created, if settling was not requested."""

    def __iter__(self) -> Iterator[ScheduledPod]:
        return iter(self.document.pods)

    def __len__(self) -> int:
        return len(self.document.pods)

    def devices(self, pod: ScheduledPod | str) -> list[str]:
        """Return the devices of a pod as DRIVER/POOL/DEVICE, or an empty list if it has none.

        `pod` is an entry of the document, or a string of the form NAMESPACE/NAME. Raises UsageError for a pod that is
        not in the result.
        """
        name = pod if isinstance(pod, str) else f"{pod.namespace}/{pod.name}"
        if all(name != f"{each.namespace}/{each.name}" for each in self):
            raise UsageError(f"unknown pod {name!r}: expected NAMESPACE/NAME of a pod in the result")
        return devices_by_pod(self.document).get(name, [])

    def __repr__(self) -> str:
        pods, waiting = counted(len(self), "pod"), sum(pod.node_name is None for pod in self)
        return f"<SchedulePlan for {self.outcome.target.version}: {pods}, {waiting} without a node>"

    @property
    def unexplained(self) -> ScheduleDocument:
        """Return the document without explanations, which are needed only for the HTML page."""
        return structs.replace(self.document, explanations=UNSET, contested=UNSET)

    def _document(self) -> ScheduleDocument:
        document = schedule_document(self.outcome, UNSET if self.explanations is None else list(self.explanations))
        if self.workloads:
            document = structs.replace(document, pods=[_of_workload(pod, self.workloads) for pod in document.pods])
        if self.contested:
            document = structs.replace(document, contested=list(self.contested))
        if self.unknown:
            document = structs.replace(document, pods=[_unknown(pod, self.unknown) for pod in document.pods])
        if self.refused:
            pods = [_refused_pod(each.owner) for each in self.refused if each.owner.kind == "Pod"]
            document = structs.replace(document, pods=[*document.pods, *pods], refusals=entries(self.refused))
        if self.settled is None:
            later = [_rejected_later(each) for each in self.rejected_later]
            document = structs.replace(document, rejected_later=later or UNSET)
            return _with_outlook(document, self.outlook) if self.outlook is not None else document
        from dra_plan.controllers.document import settled_document

        document = structs.replace(document, pods=self._with_quotas(document.pods, self.settled))
        messages = {pod_uid(record.pod): record.message for record in self.outcome.pods}
        return structs.replace(document, settled=settled_document(self.settled, messages, self.shown))

    def _with_quotas(self, pods: Sequence[ScheduledPod], settled: Settled) -> list[ScheduledPod]:
        """Return the pods; if a quota rejects the claim that a pod waits for, it is `OverQuota`, with the amounts."""
        over = settled.over_quota
        gated = {
            _key(each.pod): each for each in self.outcome.pods if not (each.pod.spec.scheduling_gates or each.node)
        }
        why = SettledOutcome(self.outcome, settled).why
        return [
            structs.replace(pod, outcome="OverQuota", waiting=why(gated[key]))
            if over.get(key) and key in gated and pod.outcome == "Gated"
            else pod
            for pod in pods
            for key in [(pod.namespace, pod.name)]
        ]


def _unknown(pod: ScheduledPod, unknown: frozenset[tuple[str, str]]) -> ScheduledPod:
    return structs.replace(pod, outcome="Unknown") if (pod.namespace, pod.name) in unknown else pod


def _of_workload(pod: ScheduledPod, workloads: Mapping[tuple[str, str], Owner]) -> ScheduledPod:
    owner = workloads.get((pod.namespace, pod.name))
    if owner is None:
        return pod
    return structs.replace(pod, workload=ObjectName(kind=owner.kind, namespace=owner.namespace, name=owner.name))


def _rejected_later(of: NotCreated) -> PodRejectedLater:
    metadata = of.pod.metadata
    return PodRejectedLater(namespace=metadata.namespace, name=metadata.name, message=of.why)


def _refused_pod(pod: ObjectName) -> ScheduledPod:
    return ScheduledPod(
        namespace=pod.namespace, name=pod.name, outcome="Refused", node_name=None, message=None, waiting=REFUSED
    )


def schedule_pods(
    inventory: Inventory,
    target: Target,
    question: Question,
    *,
    config: Mapping[str, Any] | None = None,
    extenders: Sequence[Extender] | None = None,
    then: Sequence[Inventory] = (),
    requires_nodes: bool = False,
    trace: bool = False,
    explain: bool = False,
    api_server: str | None = None,
    order: str | None = None,
    plugins: Registry | None = None,
    chance: Chance = USUAL,
    settle: bool = False,
    events: Sequence[EventStep] = (),
    never_ready: Sequence[str] = (),
    patience: float | None = None,
) -> SchedulePlan:
    """Schedule the pods of an input.

    The question's `owners` are the names of pods and workloads. Only these pods, and the pods of these workloads, are
    scheduled and reported. Without owners, all pending pods that match the question's `namespace` and `selector` are
    scheduled. `extenders` replace the extenders in the configuration. If `requires_nodes` is set, input without nodes
    raises InputError; otherwise, it is a cluster without nodes.

    If `settle` is set, all pods compete, and the question only selects which of them are reported. The `events` happen
    after the pods have been scheduled, and controllers act until nothing changes. `never_ready` pods (NAMESPACE/NAME)
    start but do not become ready. The simulation ends if nothing changes for `patience` seconds.

    Raises UsageError for invalid options.
    """
    inferred: list[Notice] = []
    if requires_nodes or question.infer_nodes:
        inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)

    inventory = resumed(inventory, question.owners, question.namespace)
    named: Chosen | None = chosen_pods(inventory, target, question)
    chosen, shown = _chosen(named, question), None
    if settle and named is None and not (question.namespace is None and question.selector is None):
        chosen, shown = _everything, with_successors(chosen, inventory.pods)
    taken = accepted(inventory, target, chosen, question.runtime_config)
    states = [accepted(state, target, chosen, question.runtime_config) for state in then]
    if settle:
        named = with_successors(named, inventory.pods) if named is not None else None
        chosen = with_successors(chosen, inventory.pods)
    given, beyond = as_created(taken.inventory, order or ARRIVAL) if settle else (taken.inventory, [])
    started = partial(
        Simulation,
        given,
        target=target,
        config=config,
        extenders=extenders,
        plugins=plugins,
        max_steps=question.max_steps,
        deadline=question.deadline(),
        api_server=api_server or REAL,
        order=order or ARRIVAL,
        makes=not (settle and has_quotas(inventory)),
        ordered=True,
        common=Common(),
        chance=chance,
    )
    simulation = started(trace=trace, explain=explain, chosen=chosen)
    keep_refusals(simulation)
    settled: Settled | None = None
    if settle:
        outcome, settled = settled_result(
            simulation, chosen, events, never_ready, patience, [state.inventory for state in states], beyond
        )
    else:
        outcome = simulate(simulation, [state.inventory for state in states])
    for only in filter(None, (named, shown)):
        outcome.pods = [record for record in outcome.pods if only(record.pod)]
    later = [notice for state in then for notice in state.notices]
    about = notices_about(inventory, target, outcome, [*later, *inferred], settled=settled is not None)
    outcome.notices = [*about, *outcome.notices]
    if settled is not None:
        outcome.notices = [*notices.of_lost_rules(target, settled.lost_rules), *outcome.notices]
    told = explained_attempts(outcome.failed_attempts, inventory, question.max_steps) if explain else None
    next_ = outlook_of(simulation, outcome) if settled is None else None
    refused = {each.owner: each for state in (taken, *states) for each in state.refused}
    if shown is not None and refused:
        asked_about = {each.owner for each in accepted(inventory, target, shown, question.runtime_config).refused}
        refused = {owner: each for owner, each in refused.items() if owner in asked_about}
    unknown = lacking(inventory, outcome, simulation)
    only_once = explain and not (settle or then or extenders)
    return SchedulePlan(
        outcome,
        tuple(told) if told is not None else None,
        settled,
        next_,
        unknown,
        tuple(refused.values()),
        shown,
        tuple(_contested(simulation, outcome, unknown, started, chosen)) if only_once else (),
        _workloads(inventory, outcome),
        tuple(_later_rejections(inventory, outcome)) if settled is None else (),
    )


def _later_rejections(inventory: Inventory, outcome: SimulationResult) -> list[NotCreated]:
    """Return the new pods that quotas and limits reject if all pods that were scheduled are created."""
    if not has_quotas(inventory):
        return []
    given = {pod.key for pod in inventory.pods if not is_new(inventory, pod)}
    return not_created(inventory, [one.pod for one in outcome.pods if not one.skipped and one.pod.key not in given])


def _workloads(inventory: Inventory, outcome: SimulationResult) -> dict[tuple[str, str], Owner]:
    """Return the workloads of the pods that are not in the input: controllers create them."""
    there, owners = {pod.key for pod in inventory.pods}, OwnersOfPods(Index(inventory))
    new = (each.pod for each in outcome.pods if each.pod.key not in there)
    found = {_key(pod): owners.highest(pod) for pod in new}
    return {key: owner for key, owner in found.items() if owner.kind != "Pod"}


def _contested(
    simulation: Simulation,
    outcome: SimulationResult,
    unknown: Set[tuple[str, str]],
    started: Callable[..., Simulation],
    chosen: Chosen,
) -> Iterator[ContestedPods]:
    """Yield the owners of rejected pods of which more pods would get a node if no other pods were pending."""

    def alone(own: Chosen) -> list[PodRecord]:
        result = simulate(started(chosen=lambda pod: chosen(pod) and own(pod)))
        return [each for each in result.pods if not result.is_undecided(each)]

    failed = [
        each
        for each in outcome.pods
        if each.outcome == "Unschedulable" and not outcome.is_undecided(each) and _key(each.pod) not in unknown
    ]
    if failed:
        owners = OwnersOfPods(Index(simulation.inventory))
        yield from contested(outcome.pods, failed, owners, alone, lambda pod: simulation.cluster.info(pod).priority)


def _key(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name


def _everything(_pod: Pod) -> bool:
    return True


def schedule_chosen(
    inventory: Inventory,
    target: Target,
    question: Question,
    chosen: Chosen,
    common: Common | None = None,
    view: View | None = None,
    *,
    explain: bool = False,
    enough: Callable[[], bool] | None = None,
) -> SimulationResult:
    """Return the scheduler's result for the selected pods. It includes no notices about the input.

    Other pods do not change. Only the limits of the question apply. `common` is shared with other questions, and `view`
    must be the view of the inventory at the target's release. If `explain` is set, failed attempts are recorded. The
    run ends early if `enough` returns true.
    """
    simulation = simulation_of(inventory, target, question, chosen, common, view, explain=explain)
    if enough is not None:
        simulation.scheduler.enough = enough
    return simulate(simulation)


def choice(inventory: Inventory, target: Target, question: Question) -> Chosen:
    """Return the pods that the question selects. Raises UsageError for unknown owners."""
    return _chosen(chosen_pods(inventory, target, question), question)


def _chosen(named: Chosen | None, question: Question) -> Chosen:
    return named if named is not None else lambda pod: question.chooses(pod.metadata)


def notices_about(
    inventory: Inventory,
    target: Target,
    outcome: SimulationResult,
    others: Iterable[Notice] = (),
    *,
    settled: bool = False,
) -> list[Notice]:
    """Return the notices to print with the results: those about the input, followed by `others`.

    If `settled` is set, notices about controllers are included.
    """
    planned = [record.pod for record in outcome.pods if not record.skipped and (record.attempts or not record.node)]
    there = {pod.key for pod in inventory.pods if pod.metadata.is_stored}
    creates = any(pod.key not in there for pod in planned)
    return [
        *notices.of_target(target, inventory),
        *of_scheduler(target, inventory, outcome.pods),
        *inventory.notices,
        *others,
        *nodes.of_devices(inventory),
        *of_devices_twice(inventory),
        *nodes.of_templates(inventory, (record.pod for record in outcome.pods if not record.skipped)),
        *nodes.of_preemption(inventory, evicts=bool(outcome.evictions)),
        *nodes.of_volumes(inventory, (record.pod for record in outcome.pods if record.attempts)),
        *notices.of_taint_rules(inventory, target),
        *of_new_fields(inventory, target),
        *of_bystanders(inventory, planned, creates=creates, settles=settled),
    ]


def schedule_document(
    outcome: SimulationResult, explanations: list[ExplainedAttempt] | UnsetType = UNSET
) -> ScheduleDocument:
    """Return the results for pods and claims. Allocations have no timestamps, because time is simulated."""
    return ScheduleDocument(
        target=answer_target(outcome.target),
        api_server=outcome.api_server,
        pods=[_pod(record, outcome) for record in outcome.pods],
        pod_groups=[_group(group) for group in outcome.groups],
        claims=[_claim(claim) for claim in outcome.claims],
        volumes=outcome.volumes,
        evictions=[EvictedPod(pod=e.victim, preemptor=e.preemptor, node=e.node) for e in outcome.evictions],
        not_evaluated=list(outcome.not_evaluated),
        warnings=warnings(outcome.notices),
        trace=_trace(outcome.tracer) if outcome.tracer is not None else UNSET,
        explanations=explanations,
    )


def _with_outlook(document: ScheduleDocument, outlook: NextActions) -> ScheduleDocument:
    evicted = [
        TaintEvictedPod(
            namespace=pod.metadata.namespace, name=pod.metadata.name, node_name=pod.spec.node_name or "", by=by
        )
        for by, pods in outlook.evicted_by.items()
        for pod in pods
    ]
    return structs.replace(document, outlook=list(outlook.said), taint_evictions=evicted or UNSET)


def _pod(record: PodRecord, result: SimulationResult) -> ScheduledPod:
    is_undecided = result.is_undecided(record)
    return ScheduledPod(
        namespace=record.pod.metadata.namespace,
        name=record.pod.metadata.name,
        outcome="Undecided" if is_undecided else record.outcome,
        node_name=record.node or None,
        message=record.message or None,
        reason=record.reason if record.message else "",
        nominated_node_name=record.nominated,
        waiting=record.waiting,
        best_nodes=list(record.best) if len(record.best) > 1 else [],
        errors=record.fatal,
        undecided_nodes=list(dict.fromkeys(result.undecided.get(record.pod.key, ()))) if is_undecided else [],
        attempts=record.attempts,
        node_allocatable=record.node_allocatable,
    )


def _group(group: GroupSummary) -> ScheduledPodGroup:
    return ScheduledPodGroup(
        namespace=group.namespace,
        name=group.name,
        outcome=group.outcome,
        policy=group.policy,
        min_count=group.min_count,
        pods=group.pods,
        bound=group.bound,
        waiting=group.waiting,
        conditions=[
            GroupCondition(type=each.type, status=each.status, reason=each.reason, message=each.message)
            for each in group.conditions
        ],
        attempts=group.attempts,
    )


def _claim(claim: ResourceClaim) -> ScheduledClaim:
    status = claim.status
    allocation = status.allocation if status is not None else None
    return ScheduledClaim(
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        allocation=claim_allocation(allocation, timestamp=False) if allocation is not None else None,
        reserved_for=list(status.reserved_for) if status is not None else [],
    )


def _trace(tracer: Tracer) -> SchedulingTrace:
    return SchedulingTrace(
        attempts=[_attempt(attempt) for attempt in tracer.attempts],
        wakes=[
            TracedWake(pod=wake.pod, event=wake.event, object=wake.object, plugin=wake.plugin, queue=wake.to)
            for wake in tracer.wakes
        ],
    )


def _attempt(attempt: Attempt) -> TracedAttempt:
    return TracedAttempt(
        pod=attempt.pod,
        attempt=attempt.number,
        pod_group=attempt.group,
        domain=attempt.domain,
        pre_filter=attempt.pre_filter,
        filter=[NodeVerdicts(node=node, verdicts=verdicts) for node, verdicts in attempt.filters.items()],
        post_filter=attempt.post_filter,
        score=attempt.scores,
        best=attempt.best,
        node=attempt.node,
        message=attempt.message,
    )
