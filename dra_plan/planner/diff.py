"""`diff`: what two states of a cluster, or two releases, answer differently."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dra_plan.allocator import View
from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.base import AppliedEdit, answer_target, warnings
from dra_plan.documents.devices import ClaimHolder
from dra_plan.documents.diff import (
    ChangedClaimSet,
    ChangedPod,
    ChangedPool,
    ChangedSelector,
    ComparedPod,
    ComparedState,
    DiffDocument,
    DiffReason,
    HeldDevice,
)
from dra_plan.planner.differences.claim_sets import changed_claim_sets
from dra_plan.planner.differences.held import held_devices
from dra_plan.planner.differences.others import AskedState, because_of_others
from dra_plan.planner.differences.pods import PodKey, changed_pods, pod_states
from dra_plan.planner.differences.pools import changed_pools
from dra_plan.planner.differences.selectors import changed_selectors
from dra_plan.planner.differences.switches import Ask, with_switches
from dra_plan.planner.differences.why import reasons
from dra_plan.releases import Target

from . import notices
from .allocation import AllocationPlan, plan_claim_sets
from .answer import PrintedAnswer, counted
from .owners import chosen_pods
from .question import Question
from .scheduling import Chosen, SchedulePlan, choice, schedule_chosen, schedule_pods


class State(NamedTuple):
    """One side: objects, seen as one target sees them, and the changes that led to them."""

    inventory: Inventory
    view: View
    what_if: tuple[AppliedEdit, ...] = ()


@dataclass(frozen=True, repr=False)
class ClusterDiff(PrintedAnswer[DiffDocument]):
    """The answer of `diff`: what differs, which `for` goes through: claim sets, pods, pools, devices, selectors."""

    before: State
    after: State
    claim_sets: tuple[ChangedClaimSet, ...]
    pods: tuple[ChangedPod, ...]
    pools: tuple[ChangedPool, ...]
    held_devices: tuple[HeldDevice, ...]
    selectors: tuple[ChangedSelector, ...]
    notices: tuple[Notice, ...]

    def __iter__(self) -> Iterator[ChangedClaimSet | ChangedPod | ChangedPool | HeldDevice | ChangedSelector]:
        yield from self.claim_sets
        yield from self.pods
        yield from self.pools
        yield from self.held_devices
        yield from self.selectors

    def __len__(self) -> int:
        return sum(map(len, (self.claim_sets, self.pods, self.pools, self.held_devices, self.selectors)))

    def __repr__(self) -> str:
        return f"<ClusterDiff: {counted(len(self), 'difference')}>"

    def _document(self) -> DiffDocument:
        return DiffDocument(
            target=answer_target(self.after.view.target),
            before=_compared(self.before),
            after=_compared(self.after),
            claim_sets=list(self.claim_sets),
            pods=list(self.pods),
            pools=list(self.pools),
            held_devices=list(self.held_devices),
            selectors=list(self.selectors),
            warnings=warnings(self.notices),
        )


def _compared(state: State) -> ComparedState:
    return ComparedState(target=answer_target(state.view.target), what_if=list(state.what_if))


def compare(before: State, after: State, question: Question) -> ClusterDiff:
    """Asks both states the same question, and tells what differs. Raises what `allocate` and `schedule` raise.

    With `together` only the claims are asked about, not the pods.
    """
    old, new = (plan_claim_sets(state.inventory, state.view, question) for state in (before, after))
    selectors = tuple(changed_selectors((before.inventory, before.view), (after.inventory, after.view)))

    def why(claim_set: ClaimSet) -> list[DiffReason]:
        return reasons(claim_set, old, new, before.view, selectors)

    plans = [] if question.together else [schedule_pods(s.inventory, s.view.target, question) for s in (before, after)]
    asked = _asked((before, after), plans, question)
    pods: Iterable[ChangedPod] = ()
    if plans:
        pods = changed_pods(plans[0].document, plans[1].document, asked)
        pods = because_of_others(
            pods, *(_asking_pods(*side, question) for side in zip((before, after), plans, strict=True))
        )
    pools = tuple(changed_pools(before.view, after.view))
    told = [[*plan.notices] for plan in (old, new)]
    for notices_of_side, plan in zip(told, plans, strict=False):
        notices_of_side += plan.outcome.notices
    return ClusterDiff(
        before,
        after,
        tuple(with_switches(list(changed_claim_sets(old, new, why)), old, after.view.target, _asking(after, question))),
        tuple(pods),
        pools,
        tuple(held_devices(pools, before.view, after.view, _asked_holders((before, after), question, asked))),
        selectors,
        _told(told[0], told[1], same=before.view.target.release == after.view.target.release),
    )


def _asking(state: State, question: Question) -> Ask:
    """Asks the state about some claim sets again, as another target sees it."""

    def ask(target: Target, sets: Sequence[ChangedClaimSet]) -> AllocationPlan:
        names = {f"{one.owner.kind}/{one.owner.name}" for one in sets if one.owner is not None}
        names |= {f"ResourceClaim/{claim.name}" for one in sets if one.owner is None for claim in one.claims}
        asked = question if question.together else replace(question, owners=sorted(names))
        return plan_claim_sets(state.inventory, state.view.at(target), asked)

    return ask


def _asked(states: Iterable[State], plans: Iterable[SchedulePlan], question: Question) -> Callable[[str, str], bool]:
    """Whether the pod of that namespace and name was chosen, in a state that has it."""
    found: set[tuple[str, str]] = set()
    for state, plan in zip(states, plans, strict=False):
        chosen = choice(state.inventory, state.view.target, question)
        pods = (record.pod for record in plan.outcome.pods if chosen(record.pod))
        found.update((pod.metadata.namespace, pod.metadata.name) for pod in pods)
    return lambda namespace, name: (namespace, name) in found


def _asked_holders(
    states: Iterable[State], question: Question, asked: Callable[[str, str], bool]
) -> Callable[[ClaimHolder], bool]:
    """Whether an allocated claim is asked about: named itself, of a pod that is, or nothing is chosen."""
    if not question.owners and question.namespace is None and question.selector is None:
        return lambda _: True
    named = [chosen_pods(state.inventory, state.view.target, question) for state in states]

    def is_asked(holder: ClaimHolder) -> bool:
        if any(choice is not None and choice.has_claim(holder.namespace, holder.name) for choice in named):
            return True
        return any(asked(holder.namespace, pod) for pod in holder.pods)

    return is_asked


def _told(before: Iterable[Notice], after: Iterable[Notice], *, same: bool) -> tuple[Notice, ...]:
    """The notices of both sides, each once. That kubelets are of another release is what an upgrade is about."""
    kept = (each for each in after if same or each.code != notices.OTHER_KUBELETS)
    return tuple(dict.fromkeys((*before, *kept)))


def _asking_pods(state: State, plan: SchedulePlan, question: Question) -> AskedState:
    """Asks the state about pods again, some of which do not wait then."""

    def asked(key: PodKey, chosen: Chosen) -> ComparedPod | None:
        outcome = schedule_chosen(state.inventory, state.view.target, question, chosen)
        return pod_states(SchedulePlan(outcome).document).get(key)

    def alone(key: PodKey) -> ComparedPod | None:
        return asked(key, lambda pod: _key(pod) == key)

    def without(key: PodKey, others: Collection[PodKey]) -> ComparedPod | None:
        chosen = choice(state.inventory, state.view.target, question)
        return asked(key, lambda pod: chosen(pod) and _key(pod) not in others)

    return AskedState(sum(record.attempts > 0 for record in plan.outcome.pods), alone, without)


def _key(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name
