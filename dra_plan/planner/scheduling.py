"""`schedule`: all pods of the input through the scheduling cycle, in which they compete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, structs

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.selectors import labels_match
from dra_plan.documents.schedule import ExplainedAttempt, ScheduleDocument, ScheduledPod
from dra_plan.releases import Target
from dra_plan.scheduler.admission import ARRIVAL
from dra_plan.scheduler.cluster.common import Common
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.coverage import of_scheduler
from dra_plan.scheduler.document import schedule_document
from dra_plan.scheduler.simulate import SimulationResult, result_of, simulate
from dra_plan.scheduler.simulation import REAL, Simulation

from . import attempts, completeness, notices
from .answer import PrintedAnswer, counted
from .newfields import of_new_fields
from .nodes import with_nodes
from .owners import PodChoice, chosen_pods
from .question import Question

if TYPE_CHECKING:
    from dra_plan.controllers.events import EventStep
    from dra_plan.controllers.settle import Settled
    from dra_plan.scheduler.framework.extender import Extender
    from dra_plan.scheduler.framework.interface import Registry


Chosen = Callable[[Pod], bool]
"""Whether a pod is scheduled."""


@dataclass(frozen=True, repr=False)
class SchedulePlan(PrintedAnswer[ScheduleDocument]):
    """The answer of `schedule`: the pods as the document has them, which `for` goes through."""

    outcome: SimulationResult
    explanations: tuple[ExplainedAttempt, ...] | None = None
    """Why pods without a node were refused devices, if that was asked."""
    settled: Settled | None = None
    """How the cluster settled, if that was asked."""
    outlook: tuple[str, ...] = ()
    """What settling would change, if that was not asked."""

    def __iter__(self) -> Iterator[ScheduledPod]:
        return iter(self.document.pods)

    def __len__(self) -> int:
        return len(self.outcome.pods)

    def __repr__(self) -> str:
        pods, waiting = counted(len(self), "pod"), len(self.outcome.unbound)
        return f"<SchedulePlan for {self.outcome.target.version}: {pods}, {waiting} without a node>"

    @property
    def unexplained(self) -> ScheduleDocument:
        """The document without explanations: they may be wanted for a page alone."""
        return structs.replace(self.document, explanations=UNSET)

    def _document(self) -> ScheduleDocument:
        document = schedule_document(self.outcome, UNSET if self.explanations is None else list(self.explanations))
        if self.settled is None:
            return structs.replace(document, outlook=list(self.outlook)) if self.outlook else document
        from dra_plan.controllers.document import settled_document

        messages = {pod_uid(record.pod): record.message for record in self.outcome.pods}
        return structs.replace(document, settled=settled_document(self.settled, messages))


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
    settle: bool = False,
    events: Sequence[EventStep] = (),
    never_ready: Sequence[str] = (),
) -> SchedulePlan:
    """Schedules the pods of an input.

    `extenders` stand for those of the configuration. The question's `owners` name the pods, and workloads whose pods,
    are scheduled and told; or its `namespace` and `selector` choose which pending ones are. The others stay as they
    are. Raises InputError with `requires_nodes` for an input without nodes; otherwise it is scheduled as a cluster
    without nodes. With `settle` what controllers do follows, and the `events`, until nothing changes any more;
    `never_ready` pods (NAMESPACE/NAME) start and do not become ready. UsageError for what can't be chosen.
    """
    inferred: list[Notice] = []
    if requires_nodes or question.infer_nodes:
        inventory, inferred = with_nodes(inventory, infer=question.infer_nodes)

    named = chosen_pods(inventory, target, question)
    simulation = Simulation(
        inventory,
        target=target,
        config=config,
        extenders=extenders,
        plugins=plugins,
        trace=trace,
        explain=explain,
        max_steps=question.max_steps,
        deadline=question.deadline(),
        api_server=api_server or REAL,
        order=order or ARRIVAL,
        chosen=_chosen(named, question),
        makes=not (settle and (inventory.quotas or inventory.limit_ranges)),
        ordered=True,
    )
    settled = _settled(simulation, events, never_ready) if settle else None
    outcome = simulate(simulation, then) if settled is None else result_of(simulation)
    if named is not None:
        outcome.pods = [record for record in outcome.pods if named(record.pod)]
    later = [notice for state in then for notice in state.notices]
    outcome.notices = [*notices_about(inventory, target, outcome, [*later, *inferred]), *outcome.notices]
    if settled is not None:
        outcome.notices = [*notices.of_lost_rules(target, settled.lost_rules), *outcome.notices]
    told = attempts.explained(outcome.failed_attempts, inventory, question.max_steps) if explain else None
    next_ = _outlook(simulation, outcome) if settled is None else ()
    return SchedulePlan(outcome, tuple(told) if told is not None else None, settled, next_)


def _outlook(simulation: Simulation, outcome: SimulationResult) -> tuple[str, ...]:
    """What settling would change: most inputs have nothing that could, and are asked no more."""
    inventory = simulation.inventory
    if not (
        outcome.evictions
        or inventory.quotas
        or inventory.limit_ranges
        or inventory.taint_rules
        or any(node.spec.taints for node in inventory.nodes)
        or any(device.taints for each in inventory.slices for device in each.spec.devices)
    ):
        return ()
    from dra_plan.controllers.settle import outlook

    return tuple(outlook(simulation, outcome))


def _settled(simulation: Simulation, events: Sequence[EventStep], never_ready: Sequence[str]) -> Settled:
    from dra_plan.controllers.settle import Settling

    return Settling(simulation, never_ready).run(events)


def schedule_chosen(
    inventory: Inventory,
    target: Target,
    question: Question,
    chosen: Chosen,
    common: Common | None = None,
    view: View | None = None,
    *,
    explain: bool = False,
) -> SimulationResult:
    """What becomes of the chosen pods, for answers that ask the scheduler more than once. The others stay as they are.

    Of the question only the budgets count. The notices are those of the simulation alone. `common` is shared with
    other questions, `view` is what the target sees of the inventory; with `explain` failed attempts are kept.
    """
    simulation = Simulation(
        inventory,
        target=target,
        max_steps=question.max_steps,
        deadline=question.deadline(),
        chosen=chosen,
        common=common,
        view=view,
        explain=explain,
    )
    return simulate(simulation)


def choice(inventory: Inventory, target: Target, question: Question) -> Chosen:
    """Which pods the question is about. Raises UsageError for owners that nothing has."""
    return _chosen(chosen_pods(inventory, target, question), question)


def _chosen(named: PodChoice | None, question: Question) -> Chosen:
    def chosen(pod: Pod) -> bool:
        if question.namespace is not None and pod.metadata.namespace != question.namespace:
            return False
        return question.selector is None or labels_match(question.selector, pod.metadata.labels)

    return chosen if named is None else named


def notices_about(
    inventory: Inventory, target: Target, outcome: SimulationResult, others: Iterable[Notice] = ()
) -> list[Notice]:
    """What a reader should know beside what became of the pods; `others` stand after those of the input."""
    return [
        *notices.of_target(target, inventory.nodes),
        *of_scheduler(target, inventory, outcome.pods),
        *inventory.notices,
        *others,
        *completeness.of_devices(inventory),
        *completeness.of_templates(inventory, (record.pod for record in outcome.pods if not record.skipped)),
        *completeness.of_preemption(inventory, evicts=bool(outcome.evictions)),
        *completeness.of_volumes(inventory, (record.pod for record in outcome.pods if record.attempts)),
        *notices.of_taint_rules(inventory, target),
        *of_new_fields(inventory, target),
    ]
