"""Claim sets whose answers differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import structs

from dra_plan.allocator import Outcome
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.allocation import PlannedClaimSet, PlannedNode
from dra_plan.documents.diff import ChangedClaimSet, ChangedNode, ComparedSet, DiffReason, SetChange
from dra_plan.planner.allocation import AllocationPlan

from .nodes import allocation, devices, refusal, said

Key = tuple[object, ...]


def changed_claim_sets(
    before: AllocationPlan, after: AllocationPlan, why: Callable[[ClaimSet], list[DiffReason]]
) -> Iterator[ChangedClaimSet]:
    """The sets that differ, in the order of the state before, then those that are new; `why` tells their reasons."""
    old, new = _by_key(before), _by_key(after)
    for key in dict.fromkeys((*old, *new)):
        was, now = (found[1] if found is not None else None for found in (old.get(key), new.get(key)))
        change = _change(was, now)
        if change is not None:
            claim_set = (new.get(key) or old[key])[0]
            yield structs.replace(
                _told(change, was, now), reasons=why(claim_set) if was and now and change != "Undecided" else []
            )


def _by_key(plan: AllocationPlan) -> Mapping[Key, tuple[ClaimSet, PlannedClaimSet]]:
    """Claim sets and their answers, by owner and part; those that nobody owns by their claims."""
    answers = zip(plan.claim_sets, plan.document.claim_sets, strict=True)
    return {_key(answer): (asked.claim_set, answer) for asked, answer in answers}


def _key(one: PlannedClaimSet) -> Key:
    if one.owner is not None:
        return one.owner.kind, one.owner.namespace, one.owner.name, one.part
    return tuple((claim.namespace, claim.name) for claim in one.claims)


def _change(before: PlannedClaimSet | None, after: PlannedClaimSet | None) -> SetChange | None:
    if before is None or after is None:
        return "New" if before is None else "Gone"
    if _undecided(before, after):
        return "Undecided"
    if before.outcome is not after.outcome and Outcome.FITS in (before.outcome, after.outcome):
        return "Lost" if before.outcome is Outcome.FITS else "Gained"
    old, new = set(before.fitting_nodes), set(after.fitting_nodes)
    if old != new:
        if len(old) == len(new):
            return "OtherNodes"
        return "FewerNodes" if len(old) > len(new) else "MoreNodes"
    return _of_nodes(before, after)


def _undecided(before: PlannedClaimSet, after: PlannedClaimSet) -> bool:
    """Whether it is not known in one of the states if the set fits, or if it fits on a node where it does in the other.

    An error that ends the attempt is known, whatever the devices of nodes would give.
    """
    sides = (before, after)
    if Outcome.UNDECIDED in (side.outcome for side in sides):
        return True
    cut_short = {node.name for side in sides for node in side.nodes if node.outcome is Outcome.UNDECIDED}
    return not cut_short.isdisjoint({*before.fitting_nodes} ^ {*after.fitting_nodes})


def _of_nodes(before: PlannedClaimSet, after: PlannedClaimSet) -> SetChange | None:
    """What is other about a set that fits on the same nodes.

    What the devices of a node would give that the pod can't go to in any case is no difference.
    """
    others = {node.name: node for node in after.nodes if not node.excluded_by}
    pairs = [(node, others[node.name]) for node in before.nodes if node.name in others and not node.excluded_by]
    if any(devices(old) != devices(new) for old, new in pairs):
        return "OtherDevices"
    if any(allocation(old) != allocation(new) for old, new in pairs):
        return "OtherAllocation"
    said = [(old.outcome, old.message) != (new.outcome, new.message) for old, new in pairs]
    return "OtherMessage" if any(said) or before.outcome is not after.outcome else None


def _told(change: SetChange, before: PlannedClaimSet | None, after: PlannedClaimSet | None) -> ChangedClaimSet:
    one = after if after is not None else before
    assert one is not None
    return ChangedClaimSet(
        owner=one.owner,
        claims=one.claims,
        part=one.part,
        change=change,
        before=_state(before),
        after=_state(after),
        nodes=list(_nodes(before, after)),
        reasons=[],
    )


def _state(one: PlannedClaimSet | None) -> ComparedSet | None:
    if one is None:
        return None
    decisive = sorted(one.nodes, key=lambda node: node.outcome is not one.outcome)
    messages = list(dict.fromkeys(message for message in map(refusal, decisive) if message))
    return ComparedSet(outcome=one.outcome, fitting_nodes=one.fitting_nodes, messages=messages)


def _nodes(before: PlannedClaimSet | None, after: PlannedClaimSet | None) -> Iterator[ChangedNode]:
    old, new = _nodes_of(before), _nodes_of(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if was is None or now is None or _answer(was) != _answer(now):
            yield ChangedNode(name=name, before=said(was, now), after=said(now, was))


def _nodes_of(one: PlannedClaimSet | None) -> Mapping[str, PlannedNode]:
    return {} if one is None else {node.name: node for node in one.nodes}


def _answer(node: PlannedNode) -> object:
    return refusal(node) if node.excluded_by else (node.outcome, node.message, allocation(node))
