"""`diff`: how the results differ between two states of a cluster, or between two releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.inventory import Inventory, Notice
from dra_plan.api.resource import DeviceSelector
from dra_plan.claims.index import Index
from dra_plan.claims.owners import controller_names, ended
from dra_plan.claims.sets import ClaimSet
from dra_plan.controllers.document import unsettled_cluster
from dra_plan.documents.base import AppliedEdit, answer_target, warnings
from dra_plan.documents.devices import ChangedPool, ChangedSelector, ClaimHolder
from dra_plan.documents.scheduling import UnsettledCluster
from dra_plan.planner import notices
from dra_plan.planner.answer import PrintedAnswer, counted
from dra_plan.planner.creation import has_quotas
from dra_plan.planner.owners import chosen_pods
from dra_plan.planner.question import Question
from dra_plan.planner.settling import FOR_EVER, with_successors
from dra_plan.planner.suspended import resumed
from dra_plan.questions.allocate.answer import AllocationPlan, plan_claim_sets
from dra_plan.questions.diff.differences import (
    PodKey,
    changed_claim_sets,
    changed_pods,
    changed_pools,
    followed_states,
    held_devices,
)
from dra_plan.questions.diff.document import (
    ChangedClaimSet,
    ChangedPod,
    ComparedState,
    DiffDocument,
    DifferentNode,
    DiffReason,
    HeldDevice,
    new_edits,
)
from dra_plan.questions.diff.nodes import changed_nodes
from dra_plan.questions.diff.other_order import lost_in_reverse
from dra_plan.questions.diff.others import AskedState, because_of_others
from dra_plan.questions.diff.selectors import changed_selectors, with_usage
from dra_plan.questions.schedule.answer import SchedulePlan, choice, schedule_pods
from dra_plan.releases import DEFECTS, Features, Quirks, Target, target


class State(NamedTuple):
    """One side of a comparison: the objects, the view of them at a release, and the edits that were applied."""

    inventory: Inventory
    view: View
    what_if: tuple[AppliedEdit, ...] = ()


@dataclass(frozen=True, repr=False)
class ClusterDiff(PrintedAnswer[DiffDocument]):
    """The result of `diff`.

    Iterating over the result yields the claim sets, pods, pools, devices and selectors that differ.
    """

    before: State
    after: State
    claim_sets: tuple[ChangedClaimSet, ...]
    pods: tuple[ChangedPod, ...]
    nodes: tuple[DifferentNode, ...]
    pools: tuple[ChangedPool, ...]
    held_devices: tuple[HeldDevice, ...]
    selectors: tuple[ChangedSelector, ...]
    notices: tuple[Notice, ...]
    unsettled: tuple[UnsettledCluster | None, ...] = (None, None)
    """Why the first and the second state never settle, or None for a state that settles."""
    end: Inventory = field(default_factory=Inventory)
    """The objects of the second state after its pods have been placed."""

    def __iter__(
        self,
    ) -> Iterator[ChangedClaimSet | ChangedPod | DifferentNode | ChangedPool | HeldDevice | ChangedSelector]:
        yield from self.claim_sets
        yield from self.pods
        yield from self.nodes
        yield from self.pools
        yield from self.held_devices
        yield from self.selectors

    def __len__(self) -> int:
        return sum(map(len, (self.claim_sets, self.pods, self.nodes, self.pools, self.held_devices, self.selectors)))

    def __repr__(self) -> str:
        return f"<ClusterDiff: {counted(len(self), 'difference')}>"

    def _document(self) -> DiffDocument:
        return DiffDocument(
            target=answer_target(self.after.view.target),
            before=_compared(self.before, self.unsettled[0]),
            after=_compared(self.after, self.unsettled[1]),
            claim_sets=list(self.claim_sets),
            pods=list(self.pods),
            nodes=list(self.nodes),
            pools=list(self.pools),
            held_devices=list(self.held_devices),
            selectors=list(self.selectors),
            warnings=warnings(self.notices),
        )


def _compared(state: State, unsettled: UnsettledCluster | None) -> ComparedState:
    target = answer_target(state.view.target)
    made = ComparedState(target=target, what_if=list(state.what_if))
    if unsettled is None:
        return made
    return structs.replace(made, unsettled=unsettled.message, unsettled_pods=unsettled.pods)


def compare(before: State, after: State, question: Question) -> ClusterDiff:
    """Compare the results for two states.

    If `together` is set, claims are compared, but pods are not. Raises the same errors as `allocate` and `schedule`.
    """
    before, after = (
        state._replace(inventory=resumed(state.inventory, question.owners, question.namespace))
        for state in (before, after)
    )
    old, new = (plan_claim_sets(state.inventory, state.view, question) for state in (before, after))
    changed_now = changed_selectors((before.inventory, before.view), (after.inventory, after.view))
    selectors = tuple(with_usage(changed_now, before.inventory))

    def why(claim_set: ClaimSet) -> list[DiffReason]:
        return reasons(claim_set, old, new, before.view, selectors)

    # Whoever is asked about, all pods compete.
    every = structs.replace(question, owners=(), namespace=None, selector=None)
    plans = [] if question.together else _scheduled((before, after), every)
    asked = _asked((before, after), plans, question)
    pods: Iterable[ChangedPod] = ()
    if plans:
        pods = changed_pods(followed_states(plans[0]), followed_states(plans[1]), asked)
        sides = zip((before, after), plans, strict=True)
        pods = because_of_others(pods, *(AskedState(side.inventory, side.view, plan, every) for side, plan in sides))
        pods = _with_gates(pods, before.view.target, after.view.target)
        pods = _with_owners(pods, (before.inventory, after.inventory), plans)
    pools = tuple(changed_pools(before.view, after.view))
    told = [[*plan.notices] for plan in (old, new)]
    for side, notices_of_side, plan in zip((before, after), told, plans, strict=False):
        notices_of_side += _with_real_names(plan, side.inventory)
    if plans:
        told[1] += _by_luck(before, after, plans[1], every)
    changed = list(changed_claim_sets(old, new, why))
    if plans:
        changed = list(_without_displaced(changed, before.inventory, after.inventory))
    return ClusterDiff(
        before,
        after,
        tuple(with_switches(changed, old, after.view.target, _asking(after, question))),
        tuple(pods),
        tuple(changed_nodes(before.inventory.nodes, after.inventory.nodes, (*before.what_if, *after.what_if))),
        pools,
        tuple(held_devices(pools, before.view, after.view, _asked_holders((before, after), question, asked))),
        selectors,
        _told(told[0], told[1], same=before.view.target.release == after.view.target.release),
        tuple(map(_unsettled, plans)) or (None, None),
        _end(plans[1], after.inventory) if plans else after.inventory,
    )


def broken_selectors(before: State, after: State) -> Iterator[ChangedSelector]:
    """Yield the selectors in use that match no device in the second state, or that fail on more devices than before."""
    changed = changed_selectors((before.inventory, before.view), (after.inventory, after.view))
    yield from (each for each in with_usage(changed, before.inventory) if each.lost or each.stops)


def _by_luck(before: State, after: State, plan: SchedulePlan, question: Question) -> Iterator[Notice]:
    """Yield warnings about pods that keep a node only if evicted pods are recreated in this order."""
    edits = new_edits(before.what_if, after.what_if)
    settle, target = plan.settled is not None, after.view.target

    def scheduled(inventory: Inventory) -> SchedulePlan:
        return schedule_pods(inventory, target, question, settle=settle, patience=FOR_EVER if settle else None)

    yield from lost_in_reverse(after.inventory, edits, plan, scheduled)


def _with_real_names(plan: SchedulePlan, before: Inventory) -> Iterator[Notice]:
    """Yield the notices of the schedule; a pod whose name is a placeholder is named after the one that it replaces.

    If it replaces none, it is named after its controller.
    """
    names: dict[str, str] = {}
    there = {pod.key for pod in before.pods}
    for pod in (record.pod for record in plan.outcome.pods):
        controllers = controller_names(pod.metadata)
        if pod.key not in there and controllers and controllers[0][0] != "StatefulSet":
            kind, name = controllers[-1]
            names[f"Pod {pod.key}"] = f"{kind} {pod.metadata.namespace}/{name}"
    for (namespace, name), (_, heir) in plan.settled.places.items() if plan.settled is not None else ():
        if heir is not None:
            names[f"Pod {heir.key}"] = f"Pod {namespace}/{name}"
    for notice in plan.outcome.notices:
        yield structs.replace(notice, object=names.get(notice.object, notice.object))


def _without_displaced(
    changed: Iterable[ChangedClaimSet], before: Inventory, after: Inventory
) -> Iterator[ChangedClaimSet]:
    """Yield the changes without claim sets that only one state plans because their pods run in the other.

    The pod changes cover those pods, which in a drain are all pods.
    """
    ran = {"New": _running_owners(before), "Gone": _running_owners(after)}
    for one in changed:
        owner = one.owner
        if owner is None or (owner.kind, owner.namespace, owner.name) not in ran.get(one.change, ()):
            yield one


def _running_owners(inventory: Inventory) -> set[tuple[str, str, str]]:
    """Return kind, namespace and name of the pods that have a node, and of their controllers."""
    index = Index(inventory)
    found: set[tuple[str, str, str]] = set()
    for pod in inventory.pods:
        if pod.spec.node_name and not ended(pod):
            metadata = pod.metadata
            names = [("Pod", metadata.name), *controller_names(metadata)]
            names += [(each.kind, each.metadata.name) for each in index.owners.above(metadata)]
            found.update((kind, metadata.namespace, name) for kind, name in names)
    return found


def _with_owners(
    changed: Iterable[ChangedPod], inventories: Iterable[Inventory], plans: Iterable[SchedulePlan]
) -> Iterator[ChangedPod]:
    """Yield the pods with their controllers, a Deployment in place of its ReplicaSet."""
    owners: dict[PodKey, str] = {}
    pods = [record.pod for plan in plans for record in plan.outcome.pods]
    for pod in (*pods, *(pod for inventory in inventories for pod in inventory.pods)):
        named = controller_names(pod.metadata)
        if named:
            owners[(pod.metadata.namespace, pod.metadata.name)] = "/".join(named[-1])
    for one in changed:
        yield structs.replace(one, owner=owners.get((one.namespace, one.name), ""))


def _with_gates(changed: Iterable[ChangedPod], before: Target, after: Target) -> Iterator[ChangedPod]:
    """Yield the pods; if only the second state evicts because of device taints, with the gate that is the reason."""
    for one in changed:
        ending = one.after.ended if one.after is not None else None
        if one.after is None or ending is None or ending.device is None:
            yield one
            continue
        gate = _new_gate(before.features, after.features, by_rule=bool(ending.device.rule))
        ending = structs.replace(ending, device=structs.replace(ending.device, gate=gate))
        yield structs.replace(one, after=structs.replace(one.after, ended=ending))


def _new_gate(before: Features, after: Features, *, by_rule: bool) -> str:
    if by_rule and after.device_taint_rules and not before.device_taint_rules:
        return "DRADeviceTaintRules"
    return "DRADeviceTaints" if after.device_taints and not before.device_taints else ""


def _end(plan: SchedulePlan, before: Inventory) -> Inventory:
    """Return the final objects."""
    if plan.settled is not None:
        return plan.settled.state.inventory
    return replace(before, claims=list(plan.outcome.claims))


def _unsettled(plan: SchedulePlan) -> UnsettledCluster | None:
    return unsettled_cluster(plan.settled) if plan.settled is not None else None


def _scheduled(states: Sequence[State], question: Question) -> list[SchedulePlan]:
    """Return the schedule of each state; both are settled if controllers would act in one of them."""
    if not any(has_quotas(state.inventory) for state in states):
        plans = [schedule_pods(state.inventory, state.view.target, question) for state in states]
        if not any(plan.outlook for plan in plans):
            return plans
    return [
        schedule_pods(state.inventory, state.view.target, question, settle=True, patience=FOR_EVER) for state in states
    ]


def _asking(state: State, question: Question) -> Ask:
    """Return a function that asks the state about some claim sets again, as seen by another target."""

    def ask(target: Target, sets: Sequence[ChangedClaimSet]) -> AllocationPlan:
        names = {f"{one.owner.kind}/{one.owner.name}" for one in sets if one.owner is not None}
        names |= {f"ResourceClaim/{claim.name}" for one in sets if one.owner is None for claim in one.claims}
        asked = question if question.together else structs.replace(question, owners=sorted(names))
        return plan_claim_sets(state.inventory, state.view.at(target), asked)

    return ask


def _asked(states: Iterable[State], plans: Iterable[SchedulePlan], question: Question) -> Callable[[str, str], bool]:
    """Return a function that says whether the pod of that namespace and name was selected, in a state that has it."""
    found: set[tuple[str, str]] = set()
    for state, plan in zip(states, plans, strict=False):
        chosen = with_successors(choice(state.inventory, state.view.target, question), state.inventory.pods)
        pods = (record.pod for record in plan.outcome.pods if chosen(record.pod))
        found.update((pod.metadata.namespace, pod.metadata.name) for pod in pods)
    return lambda namespace, name: (namespace, name) in found


def _asked_holders(
    states: Iterable[State], question: Question, asked: Callable[[str, str], bool]
) -> Callable[[ClaimHolder], bool]:
    """Return a function that says whether an allocated claim is selected: by name, by pod, or by default."""
    if not question.owners and question.namespace is None and question.selector is None:
        return lambda _: True
    named = [chosen_pods(state.inventory, state.view.target, question) for state in states]

    def is_asked(holder: ClaimHolder) -> bool:
        if any(choice is not None and choice.has_claim(holder.namespace, holder.name) for choice in named):
            return True
        return any(asked(holder.namespace, pod) for pod in holder.pods)

    return is_asked


def _told(before: Iterable[Notice], after: Iterable[Notice], *, same: bool) -> tuple[Notice, ...]:
    """Return the notices of both sides without duplicates, and without kubelet versions, which an upgrade changes."""
    kept = (each for each in after if same or each.code != notices.OTHER_KUBELETS)
    return tuple(dict.fromkeys((*before, *kept)))


def reasons(
    claim_set: ClaimSet, before: AllocationPlan, after: AllocationPlan, view: View, selectors: Sequence[ChangedSelector]
) -> list[DiffReason]:
    """Return all known reasons why the results for a claim set differ. `view` must be the view of the first state."""
    return [
        *_defects("defect-ended", claim_set, before, after.target.quirks),
        *_defects("defect-began", claim_set, after, before.target.quirks),
        *_selectors(claim_set, view, {changed.expression: changed for changed in selectors}),
    ]


def _defects(code: str, claim_set: ClaimSet, plan: AllocationPlan, others: Quirks) -> Iterator[DiffReason]:
    name, _ = notices.about(claim_set)
    met = {defect for notice in plan.notices if notice.object == name for defect in notice.defects or ()}
    for defect in DEFECTS:
        if defect.id in met and not getattr(others, defect.quirk):
            yield DiffReason(code=code, defect=defect.id, title=defect.title)


def _selectors(claim_set: ClaimSet, view: View, changed: dict[str, ChangedSelector]) -> Iterator[DiffReason]:
    for expression, device_class in dict.fromkeys(_expressions(claim_set, view)):
        found = changed.get(expression)
        if found is None:
            continue
        for attribute in found.reads_gone:
            yield DiffReason(
                code="attribute-gone", expression=expression, device_class=device_class, attribute=attribute
            )
        if not found.reads_gone:
            yield DiffReason(
                code="selector-matches-fewer" if found.after < found.before else "selector-matches-more",
                expression=expression,
                device_class=device_class,
                before=found.before,
                after=found.after,
            )


def _expressions(claim_set: ClaimSet, view: View) -> Iterator[tuple[str, str]]:
    """Yield the expressions that apply to the set's requests, each with the class that has it."""
    for claim in claim_set.claims:
        for request in claim.spec.devices.requests:
            for part in [request.exactly] if request.exactly is not None else request.first_available:
                name = part.device_class_name
                device_class = view.classes.get(name)
                yield from _each(device_class.spec.selectors if device_class is not None else (), name)
                yield from _each(part.selectors, "")


def _each(selectors: Sequence[DeviceSelector], device_class: str) -> Iterator[tuple[str, str]]:
    for selector in selectors:
        if selector.cel is not None:
            yield selector.cel.expression, device_class


MOST_SWITCHES = 40
"""The maximum number of feature gates and defects that are switched one by one, in the order of the releases."""


MOST_SETS = 50
"""The maximum number of claim sets that are planned again after each switch."""


Ask = Callable[[Target, Sequence[ChangedClaimSet]], AllocationPlan]
"""Returns what these claim sets get in the second state, for another target."""


def with_switches(
    changed: Sequence[ChangedClaimSet], before: AllocationPlan, after: Target, ask: Ask
) -> list[ChangedClaimSet]:
    """Return the changed claim sets, with reasons added to those that have none.

    A reason is a feature gate or a known defect that differs between the targets, and that restores the first result if
    it is switched back.
    """
    decided = [one for one in changed if one.change not in ("Undecided", "New", "Gone")]
    open_ = [one for one in decided if not one.reasons][:MOST_SETS]
    found: dict[object, list[DiffReason]] = {}
    for number, (reason, other) in enumerate(_switched(before.target, after)):
        if not open_ or number >= MOST_SWITCHES:
            break
        still = {_key(one) for one in changed_claim_sets(before, ask(other, open_), lambda _: [])}
        for one in open_:
            if _key(one) not in still:
                found.setdefault(_key(one), []).append(reason)
    return [structs.replace(one, reasons=[*one.reasons, *found.get(_key(one), ())]) for one in changed]


def _key(one: ChangedClaimSet) -> object:
    if one.owner is not None:
        return one.owner.kind, one.owner.namespace, one.owner.name, one.part
    return tuple((claim.namespace, claim.name) for claim in one.claims)


def _switched(before: Target, after: Target) -> Iterator[tuple[DiffReason, Target]]:
    """Yield each switch that differs, and the second target with it as in the first state. A new gate was off."""
    for gate, is_on in after.gates.items():
        was = before.gates.get(gate, False)
        if is_on is was:
            continue
        other = target(after.release, {**after.gates, gate: was}, after.quirk_mode)
        other = other.with_quirks(after.quirks)
        if (other.features, other.rules) != (after.features, after.rules):
            yield DiffReason(code="gate-on" if is_on else "gate-off", gate=gate), other
    for defect in DEFECTS:
        now, was = (getattr(each.quirks, defect.quirk) for each in (after, before))
        if now is not was:
            code = "defect-began" if now else "defect-ended"
            reason = DiffReason(code=code, defect=defect.id, title=defect.title)
            yield reason, after.with_quirks(structs.replace(after.quirks, **{defect.quirk: was}))
