"""`explain`: why each claim set of the input fits or does not fit, and which changes would make it fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from dra_plan.allocator import Outcome, View
from dra_plan.allocator.identity import meant_device
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.scheduling import PodGroup
from dra_plan.claims.index import Index
from dra_plan.claims.owners import ended, is_waiting
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.base import answer_target, warnings
from dra_plan.documents.claim_sets import DeviceStory, ExcludedNodes, ExplainedClaimSet, NodeExclusion
from dra_plan.documents.verdicts import GOOD, OwnerVerdict
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.claim_sets import ClaimSetPlan, set_summary
from dra_plan.planner.nodes import choose_nodes, of_leaving, of_volumes, with_nodes
from dra_plan.planner.owners import tell_groups_apart
from dra_plan.planner.question import Question
from dra_plan.planner.refused import OwnerRefusals
from dra_plan.questions.allocate.answer import AllocationPlan, plan_claim_sets
from dra_plan.questions.explain.document import (
    AutoscaledPod,
    ExplainedPodGroup,
    ExplanationDocument,
    RoomForPod,
    TriedPod,
)
from dra_plan.questions.explain.left_over import left_over, named_holders
from dra_plan.releases import Target
from dra_plan.scheduler.attempts import PodRecord
from dra_plan.scheduler.notices import GroupSummary, gate_notices

if TYPE_CHECKING:
    from dra_plan.explanation.driver_pods import DriverPods


@dataclass(frozen=True, repr=False)
class Explanation(PrintedAnswer[ExplanationDocument]):
    """The result of `explain`, including checks of single devices.

    Iterating over the result yields the `ClaimSetPlan` of each claim set, with explanations.
    """

    plan: AllocationPlan
    devices: tuple[DeviceStory, ...] = ()
    pod_groups: tuple[ExplainedPodGroup, ...] = ()
    moves: tuple[RoomForPod, ...] | None = None
    """The moves that would make pending pods fit; None unless they were requested."""
    notices: tuple[Notice, ...] = ()
    """The notices about the moves."""
    autoscaler: tuple[AutoscaledPod, ...] | None = None
    """What the Cluster Autoscaler does for each pod; None if there are no node groups."""
    left_over: frozenset[tuple[str, str]] = frozenset()
    """The namespace and name of each claim that is reserved only for pods that the input lacks."""
    drivers: DriverPods | None = None
    """The pods of device drivers."""
    not_pending: int = 0
    """The number of pods with nodes that `-n` or `-l` select, if they select nothing else."""
    verdicts: tuple[OwnerVerdict, ...] | None = None
    """The verdict on each owner, with the reasons; None if only devices were requested."""

    def __iter__(self) -> Iterator[ClaimSetPlan]:
        return iter(self.plan)

    def __len__(self) -> int:
        return len(self.plan)

    def __repr__(self) -> str:
        return f"<Explanation for {self.plan.target.version} of {counted(len(self), 'claim set')}>"

    @property
    def verdict(self) -> str:
        """The verdict on the pod or workload, for example `Unschedulable`.

        Raises ValueError if there is no verdict, or more than one.
        """
        if len(self.verdicts or ()) != 1:
            raise ValueError(f"{len(self.verdicts or ())} verdicts; see `verdicts`")
        return (self.verdicts or ())[0].verdict

    def _is_told(self, notice: Notice) -> bool:
        """Return whether the verdicts take into account what the notice says is left out."""
        return self.verdicts is not None and notice.code == "extended-resources-not-evaluated"

    def _completed(self, of: OwnerVerdict, sets: Sequence[ExplainedClaimSet]) -> OwnerVerdict:
        """Return a good verdict with the kinds of which the input has only a part; others with claims left over.

        If the cluster has said that no node can take the pod, a yes of a part of it is doubted.
        """
        if self.left_over and of.verdict == "Unschedulable":
            own = next((one for one in sets if one.owner == of.object), None)
            named = {(one.namespace, one.name): one for one in named_holders(of, own)}
            return structs.replace(of, left_over=[one for key, one in named.items() if key in self.left_over])
        told = [one for one in self.plan.notices if one.is_partial and one.code not in self.ignored]
        if not told or of.verdict not in GOOD:
            return of
        of = structs.replace(of, partial=sorted({*of.partial, *(kind for one in told for kind in one.brings or ())}))
        last = of.last_message
        if last is None or last.same_today or last.reason != "Unschedulable":
            return of
        return structs.replace(of, doubted=True)

    def _document(self) -> ExplanationDocument:
        from dra_plan.explanation.document import SetParts

        parts = SetParts(self.drivers)
        sets = [
            ExplainedClaimSet(**set_summary(plan), **parts.of(plan.explanation), excluded=_excluded(plan))
            for plan in self.plan.claim_sets
            if plan.explanation is not None
        ]
        return ExplanationDocument(
            target=answer_target(self.plan.target),
            verdicts=UNSET if self.verdicts is None else [self._completed(one, sets) for one in self.verdicts],
            claim_sets=sets,
            unplanned=list(self.plan.unplanned) or UNSET,
            pod_groups=list(self.pod_groups) or UNSET,
            moves=UNSET if self.moves is None else list(self.moves),
            autoscaler=UNSET if self.autoscaler is None else list(self.autoscaler),
            devices=list(self.devices),
            not_pending=self.not_pending or UNSET,
            refusals=self.plan.refusals if self.verdicts is None else UNSET,  # verdicts include them
            warnings=warnings([*(one for one in (*self.plan.notices, *self.notices) if not self._is_told(one))]),
        )


def _excluded(plan: ClaimSetPlan) -> list[ExcludedNodes]:
    """Return the excluded nodes, grouped by equal exclusions; those with enough devices separately, and first."""
    fitting = {answer.node for answer in plan.nodes if answer.outcome is Outcome.FITS}
    groups: dict[tuple[bool, tuple[NodeExclusion, ...]], list[str]] = {}
    for node, exclusions in plan.excluded.items():
        groups.setdefault((node in fitting, tuple(exclusions)), []).append(node)
    found = [
        ExcludedNodes(nodes=nodes, excluded_by=list(exclusions), has_room=has_room)
        for (has_room, exclusions), nodes in groups.items()
    ]
    return sorted(found, key=lambda each: not each.has_room)


def explain_claim_sets(
    inventory: Inventory, view: View, question: Question, *, devices: Iterable[str] = (), moves: int | None = None
) -> Explanation:
    """Return explanations of the claim sets of an input. `view` must be the view of this input.

    `devices` are given as DRIVER/POOL/DEVICE. `moves` is the maximum number of running pods that may move to make a
    pending pod fit. Raises UsageError if no slice has one of the devices, and the same errors as `plan_claim_sets`.
    """
    from dra_plan.explanation.driver_pods import DriverPods

    groups, owners = tell_groups_apart(inventory, question.owners, question.namespace)
    question = structs.replace(question, owners=owners, names_groups=bool(groups))
    deadline = question.deadline()
    refusals = OwnerRefusals(inventory, view.target, question.runtime_config)
    plan = plan_claim_sets(inventory, view, question, explain=True, suggest=True, refusals=refusals)
    explained = explain_groups(inventory, view.target, groups, question)
    inventory, _ = with_nodes(inventory, infer=question.infer_nodes)
    room = None if moves is None else tuple(_rooms(inventory, view, question, moves))
    needed = any(one.outcome != "Fits" for one in room or ())
    lacking = of_leaving(Index(inventory), "a move") if needed else []
    nodes = choose_nodes(inventory.nodes, question.nodes)
    sets = [planned.claim_set for planned in plan]
    judged = _with_gates(inventory, view, question, _verdicts(inventory, view, question, plan, refusals, deadline))
    plan = _with_chosen_nodes(plan, judged or ())
    told = {(one.namespace, one.name) for one in judged or () if one.kind == "Pod"}
    waiting = [pod for pod in inventory.pods if (pod.metadata.namespace, pod.metadata.name) in told and is_waiting(pod)]
    limits = any(one.kind == "Pod" and one.verdict != "Unschedulable" for one in judged or ())
    return Explanation(
        plan,
        tuple(_device(view, nodes, sets, text) for text in devices),
        tuple(explained),
        room,
        (*gate_notices(inventory, view.target), *lacking, *of_volumes(inventory, waiting, limits=limits)),
        left_over=left_over(inventory),
        drivers=DriverPods(inventory),
        not_pending=0 if judged or sets or question.owners else _placed(inventory, question),
        verdicts=judged,
    )


def _placed(inventory: Inventory, question: Question) -> int:
    """Return the number of pods with nodes that `-n` or `-l` choose; 0 without these options."""
    if question.namespace is None and question.selector is None:
        return 0
    return sum(bool(pod.spec.node_name) and not ended(pod) and question.chooses(pod.metadata) for pod in inventory.pods)


def _with_chosen_nodes(plan: AllocationPlan, judged: Iterable[OwnerVerdict]) -> AllocationPlan:
    """Return the plan with the nodes that the scheduler chooses as the examples of nodes that fit."""
    from dra_plan.explanation.explainer import exemplified

    chosen = {(one.kind, one.namespace, one.name): one.node_name for one in judged if one.verdict == "WouldBind"}
    made = []
    for planned in plan.claim_sets:
        owner, told = planned.claim_set.owner, planned.explanation
        node = "" if owner is None else chosen.get((owner.kind, owner.namespace, owner.name), "")
        made.append(
            structs.replace(planned, explanation=exemplified(told, node)) if node and told is not None else planned
        )
    return replace(plan, claim_sets=tuple(made))


def _verdicts(
    inventory: Inventory,
    view: View,
    question: Question,
    plan: AllocationPlan,
    refusals: OwnerRefusals,
    deadline: float | None,
) -> tuple[OwnerVerdict, ...] | None:
    """Return the verdicts of the whole scheduler; None if all claims are one set, or only devices are requested."""
    if question.devices_only or question.together:
        return None
    from dra_plan.questions.explain.verdicts import verdicts

    return tuple(verdicts(inventory, view, question, plan, refusals, deadline))


def _with_gates(
    inventory: Inventory, view: View, question: Question, judged: tuple[OwnerVerdict, ...] | None
) -> tuple[OwnerVerdict, ...] | None:
    """Return the verdicts with what they are with gates that seem to be on in the cluster."""
    from dra_plan.questions.explain import assumed_gates

    gates = assumed_gates.seeming_gates(inventory, view.target)
    if not judged or not gates or len(judged) > assumed_gates.MOST_OWNERS:
        return judged
    target = assumed_gates.with_gates(view.target, gates)
    there = view.at(target)
    refusals = OwnerRefusals(inventory, target, question.runtime_config)
    plan = plan_claim_sets(inventory, there, question, refusals=refusals)
    others = _verdicts(inventory, there, question, plan, refusals, question.deadline())
    return tuple(assumed_gates.compared(judged, others or (), gates))


def _rooms(inventory: Inventory, view: View, question: Question, limit: int) -> list[RoomForPod]:
    from dra_plan.questions.explain.rooms import rooms
    from dra_plan.questions.schedule.answer import choice

    if question.names_groups and not question.owners:
        return []
    return rooms(inventory, view.target, question, choice(inventory, view.target, question), limit)


def _device(view: View, nodes: Sequence[Node], sets: Sequence[ClaimSet], text: str) -> DeviceStory:
    from dra_plan.explanation import device

    return device.explain_device(view, nodes, sets, meant_device(text, device.known_devices(view)))


def explain_groups(
    inventory: Inventory, target: Target, groups: Sequence[PodGroup], question: Question
) -> list[ExplainedPodGroup]:
    """Return why each of these pod groups starts or does not start.

    As in `schedule`, all pods of the input compete.
    """
    if not groups:
        return []
    from dra_plan.questions.schedule.answer import schedule_pods

    asked = Question(infer_nodes=question.infer_nodes, max_steps=question.max_steps, timeout=question.timeout)
    outcome = schedule_pods(inventory, target, asked).outcome
    known = {f"{each.namespace}/{each.name}": each for each in outcome.groups}
    return [_explained_group(group, known.get(group.key), outcome.pods) for group in groups]


def _explained_group(group: PodGroup, told: GroupSummary | None, records: Sequence[PodRecord]) -> ExplainedPodGroup:
    named = (group.metadata.namespace, group.metadata.name)
    policy = group.spec.scheduling_policy
    own = [record for record in records if _group_key(record) == named]
    condition = next((each for each in told.conditions if each.type == "PodGroupScheduled"), None) if told else None
    return ExplainedPodGroup(
        namespace=named[0],
        name=named[1],
        state=told.outcome if told is not None else "Alone",
        policy="gang" if policy.gang is not None else "basic" if policy.basic is not None else "",
        min_count=group.min_count,
        pods=told.pods if told is not None else 0,
        bound=told.bound if told is not None else 0,
        message=(condition.message if condition is not None else told.waiting) if told is not None else "",
        last_cycle=[TriedPod(pod=each.pod, node=each.node, message=each.message) for each in told.last] if told else [],
        waiting=[
            TriedPod(pod=record.pod.key, message=record.waiting)
            for record in own
            if record.outcome == "Gated" and record.waiting
        ],
    )


def _group_key(record: PodRecord) -> tuple[str, str] | None:
    group = record.pod.spec.scheduling_group
    return (record.pod.metadata.namespace, group.pod_group_name) if group is not None else None
