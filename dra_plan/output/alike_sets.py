"""Claim sets that the same is said of: tables tell them in one row, with their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from dra_plan.documents.allocation import PlannedClaimSet, PlannedNode
from dra_plan.documents.base import ClaimName, ObjectName
from dra_plan.documents.explanation import ExplainedClaimSet
from dra_plan.documents.suggestions import PatchedObject, TriedChanges
from dra_plan.explanation.parts import Renaming

from . import text

MOST_NAMES = 3
"""Names in one cell; of more claim sets the first is named."""


def alike(claim_sets: Iterable[PlannedClaimSet]) -> list[list[PlannedClaimSet]]:
    """The claim sets in groups of the same answer on every node, in the order of the first ones."""
    groups: dict[tuple[object, ...], list[list[PlannedClaimSet]]] = {}
    found: list[list[PlannedClaimSet]] = []
    for claim_set in claim_sets:
        key = (claim_set.outcome, len(claim_set.claims), len(claim_set.fitting_nodes), len(claim_set.nodes))
        known = groups.setdefault(key, [])
        group = next((group for group in known if _same_answers(group[0], claim_set)), None)
        if group is None:
            group = []
            known.append(group)
            found.append(group)
        group.append(claim_set)
    return found


def explained_alike(claim_sets: Iterable[ExplainedClaimSet]) -> list[list[ExplainedClaimSet]]:
    """The claim sets in groups of which the same is told, but for names, in the order of the first ones."""
    known: dict[tuple[object, ...], list[tuple[ExplainedClaimSet, list[ExplainedClaimSet]]]] = {}
    found: list[list[ExplainedClaimSet]] = []
    for claim_set in claim_sets:
        nameless = _without_names(claim_set)
        key = (claim_set.outcome, len(claim_set.claims), len(claim_set.stories), len(claim_set.fitting_nodes))
        groups = known.setdefault(key, [])
        group = next((group for first, group in groups if first == nameless), None)
        if group is None:
            group = []
            groups.append((nameless, group))
            found.append(group)
        group.append(claim_set)
    return found


def _without_names(of: ExplainedClaimSet) -> ExplainedClaimSet:
    """The same with numbers for the names of its claims, and without its owner."""
    numbers = {claim: ClaimName(namespace="", name=str(number)) for number, claim in enumerate(of.claims)}
    nameless = Renaming(numbers).of(of)
    suggestions = [_without_owner(each, of.owner) for each in nameless.suggestions]
    return structs.replace(nameless, owner=None, part="", copies=1, not_judged=[], suggestions=suggestions)


def _without_owner(of: TriedChanges, owner: ObjectName | None) -> TriedChanges:
    """The same with patches of nobody's in place of those of the owner."""
    if owner is None or all(patch.object.kind != owner.kind for patch in of.patches):
        return of
    nobody = PatchedObject(api_version="v1", kind=owner.kind, namespace="", name="owner")
    name = (owner.kind, owner.namespace, owner.name)
    patches = [
        structs.replace(patch, object=nobody)
        if (patch.object.kind, patch.object.namespace, patch.object.name) == name
        else patch
        for patch in of.patches
    ]
    return structs.replace(of, patches=patches)


def names(group: Sequence[PlannedClaimSet | ExplainedClaimSet]) -> str:
    """The names of a group: `pod/default/a, pod/default/b`, or `pod/default/a and 299 more`."""
    first = text.claim_set_name(group[0])
    if len(group) > MOST_NAMES:
        return f"{first} and {len(group) - 1} more"
    return ", ".join([first, *map(text.claim_set_name, group[1:])])


def _same_answers(one: PlannedClaimSet, other: PlannedClaimSet) -> bool:
    return (
        one.leading == other.leading
        and one.fitting_nodes == other.fitting_nodes
        and all(a is b or _same_answer(a, b) for a, b in zip(one.nodes, other.nodes, strict=True))
    )


def _same_answer(one: PlannedNode, other: PlannedNode) -> bool:
    return (
        one.steps == other.steps
        and one.outcome is other.outcome
        and one.message == other.message
        and one.excluded_by == other.excluded_by
        and len(one.claims) == len(other.claims)
        and all(a.allocation == b.allocation for a, b in zip(one.claims, other.claims, strict=True))
        and [reason.code for reason in one.reasons] == [reason.code for reason in other.reasons]
    )
