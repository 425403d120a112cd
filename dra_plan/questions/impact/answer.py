"""`impact`: what happens to pods, claims and devices when objects are applied."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType, structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.owners import wanted
from dra_plan.documents.base import AnswerTarget, AppliedEdit, answer_target, warnings
from dra_plan.documents.refusals import ApiServerRefusal, Refusals
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.question import Question
from dra_plan.planner.refused import accepted, entries
from dra_plan.questions.diff.answer import ClusterDiff, State, compare
from dra_plan.questions.diff.document import ChangedPod
from dra_plan.questions.impact.devices import broken_pools, of_rules, rule_taints
from dra_plan.questions.impact.document import (
    AffectedPod,
    BrokenPool,
    ImpactDocument,
    LaterPods,
    PodEffect,
    QuotaUse,
    RuleTaint,
)
from dra_plan.questions.impact.quotas import of_quotas, quota_uses
from dra_plan.releases import Target
from dra_plan.scheduler.new_pods import is_ordered

_WORST_FIRST: tuple[PodEffect, ...] = (
    "Gone",
    "WithoutPlace",
    "EvictedAgain",
    "Undecided",
    "Moves",
    "Restarts",
    "NoLongerStarts",
    "Refused",
    "Elsewhere",
    "Starts",
    "Waits",
    "Other",
)


@dataclass(frozen=True, repr=False)
class Impact(PrintedAnswer[ImpactDocument]):
    """The result of `impact`.

    Iterating over the result yields the affected pods. The pods that are affected most come first.
    """

    difference: ClusterDiff
    """The differences between the clusters before and after the change."""
    written: AppliedEdit
    pods: tuple[AffectedPod, ...]
    later: tuple[LaterPods, ...]
    quotas: tuple[QuotaUse, ...]
    taints: tuple[RuleTaint, ...]
    pools: tuple[BrokenPool, ...]
    refused: Refusals
    notices: tuple[Notice, ...]

    def __iter__(self) -> Iterator[AffectedPod]:
        return iter(self.pods)

    def __len__(self) -> int:
        return len(self.pods)

    def __repr__(self) -> str:
        return f"<Impact of {counted(len(self.written.applied), 'object')}: {counted(len(self), 'pod')}>"

    def _document(self) -> ImpactDocument:
        found = self.difference
        return ImpactDocument(
            target=answer_target(found.after.view.target),
            upgraded_from=_release_before(found),
            applied=list(self.written.applied),
            pods=list(self.pods),
            later_pods=list(self.later),
            claim_sets=list(found.claim_sets),
            selectors=list(found.selectors),
            held_devices=list(found.held_devices),
            pools=list(found.pools),
            quotas=list(self.quotas),
            taints=list(self.taints),
            broken_pools=list(self.pools),
            unsettled=after.message if (after := found.unsettled[1]) and not found.unsettled[0] else "",
            refusals=self.refused,
            warnings=warnings(self.notices),
        )


@dataclass(frozen=True)
class WrittenChange:
    """The cluster and its release after the change, and the applied objects (None if there are none)."""

    inventory: Inventory
    target: Target
    written: AppliedEdit | None
    refused: Sequence[ApiServerRefusal] = ()
    """The objects that are not applied because the API server rejects them."""
    notices: Sequence[Notice] = ()


def impact_of(before: Inventory, target: Target, change: WrittenChange, question: Question) -> Impact:
    """Return the effects of a change. Controllers act in both clusters until nothing changes.

    Raises the same errors as `schedule`.
    """
    sides = ((before, target), (change.inventory, change.target))
    states = [State(inventory, View.of(inventory, release)) for inventory, release in sides]
    found = compare(states[0], states[1], question)
    known = {_key(pod) for side in (before, change.inventory) for pod in side.pods}
    pods = sorted((_affected(pod, known) for pod in found.pods), key=lambda pod: _WORST_FIRST.index(pod.effect))
    written = change.written or AppliedEdit(edit="Apply")
    names = {(one.kind, one.namespace, one.name) for one in written.applied}
    after = change.inventory
    taken = accepted(after, change.target, lambda pod: (pod.kind, *_key(pod)) in names, question.runtime_config)
    rules = [rule for rule in after.taint_rules if (rule.kind, *_key(rule)) in names]
    taints = rule_taints(before, states[1].view, rules)
    quotas = [
        one
        for one in quota_uses(after, found.end, names, pods)
        if question.namespace is None or one.namespace == question.namespace
    ]
    refused = [*change.refused, *(entries(taken.refused) or ())]
    return Impact(
        found,
        written,
        tuple(pods),
        tuple(_later(found.end, pods)),
        tuple(quotas),
        tuple(taints),
        tuple(broken_pools(states[0].view, states[1].view)),
        refused or UNSET,
        (*change.notices, *found.notices, *of_rules(taints, after), *of_quotas(quotas, after)),
    )


def _later(end: Inventory, pods: Sequence[AffectedPod]) -> Iterator[LaterPods]:
    """Yield the pods that ordered StatefulSets do not create because an affected pod gets no node."""
    there = {_key(pod) for pod in end.pods} | {(pod.namespace, pod.name) for pod in pods}
    waiting: dict[tuple[str, str], str] = {}
    for pod in sorted(pods, key=lambda pod: (len(pod.name), pod.name)):
        if pod.after is not None and pod.after.node_name is None:
            waiting.setdefault((pod.namespace, pod.owner), pod.name)
    for workload in end.workloads:
        namespace, name = _key(workload)
        first = waiting.get((namespace, f"StatefulSet/{name}"))
        if first is not None and is_ordered(workload):
            names = [f"{name}-{ordinal}" for ordinal in range(wanted(workload, ()).number)]
            missing = [each for each in names if (namespace, each) not in there]
            if missing:
                yield LaterPods(namespace=namespace, stateful_set=name, waits_for=first, pods=missing)


def _release_before(found: ClusterDiff) -> AnswerTarget | UnsetType:
    """Return the release before, if it differs."""
    before, after = found.before.view.target, found.after.view.target
    return answer_target(before) if before.release != after.release else UNSET


def _key(obj: object) -> tuple[str, str]:
    metadata = obj.metadata  # type: ignore[attr-defined]
    return metadata.namespace, metadata.name


def _affected(pod: ChangedPod, known: Collection[tuple[str, str]]) -> AffectedPod:
    foreseen = (pod.namespace, pod.name) not in known
    return AffectedPod(**structs.asdict(pod), effect=effect_of(pod), foreseen=foreseen)


def effect_of(pod: ChangedPod) -> PodEffect:
    """Return how the change affects the pod."""
    before, after = pod.before, pod.after
    if pod.change == "Undecided":
        return "Undecided"
    if before is not None and before.running:
        return _of_running(pod)
    if after is None:
        return "Gone"
    if after.outcome == "Refused":
        return "Refused"
    was, now = before is not None and before.node_name is not None, after.node_name is not None
    if was is not now:
        return "Starts" if now else "NoLongerStarts"
    return "Elsewhere" if now else "Waits" if before is None else "Other"


def _of_running(pod: ChangedPod) -> PodEffect:
    after = pod.after
    if after is None or after.outcome == "Ended":
        return "Gone"
    if after.ended is not None and after.ended.endless:
        return "EvictedAgain"
    if after.node_name is None:
        return "WithoutPlace"
    return "Restarts" if pod.before is not None and after.node_name == pod.before.node_name else "Moves"
