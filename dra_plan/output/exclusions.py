"""Nodes that the scheduler's rules keep a pod off, whatever devices they have: told apart from the other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dra_plan.allocator import Outcome
from dra_plan.documents.allocation import NodeExclusion, PlannedClaimSet
from dra_plan.documents.explanation import ExplainedClaimSet

from .explain_words import listed, scheduler_says


def excluded_nodes(claim_set: PlannedClaimSet | ExplainedClaimSet) -> list[tuple[list[str], Sequence[NodeExclusion]]]:
    """The excluded nodes, those with the same exclusions together."""
    if isinstance(claim_set, ExplainedClaimSet):
        return [(each.nodes, each.excluded_by) for each in claim_set.excluded]
    groups: dict[tuple[NodeExclusion, ...], list[str]] = {}
    for node in claim_set.nodes:
        if node.excluded_by:
            groups.setdefault(tuple(node.excluded_by), []).append(node.name)
    return [(nodes, exclusions) for exclusions, nodes in groups.items()]


def plugins(exclusions: Iterable[NodeExclusion]) -> str:
    """The plugins that exclude."""
    return ", ".join(dict.fromkeys(each.plugin for each in exclusions))


def messages(exclusions: Iterable[NodeExclusion]) -> str:
    """What they say, in the scheduler's words."""
    return ", ".join(dict.fromkeys(each.message for each in exclusions))


def room(claim_set: PlannedClaimSet) -> str:
    """For a set that fits nowhere: the excluded nodes whose devices would do; that all are excluded; or ""."""
    found = [node for node in claim_set.nodes if node.outcome is Outcome.FITS and node.excluded_by]
    if claim_set.fitting_nodes:
        return ""
    if not found:
        every = claim_set.outcome is Outcome.DOES_NOT_FIT and all(node.excluded_by for node in claim_set.nodes)
        causes = plugins(each for node in claim_set.nodes for each in node.excluded_by)
        return f"all nodes excluded by {causes}" if every and causes else ""
    causes = plugins(each for node in found for each in node.excluded_by)
    return f"room only on {listed([node.name for node in found])}, excluded by {causes}"


def lines(claim_set: ExplainedClaimSet) -> Iterator[str]:
    """For each kind of exclusion the nodes, whether there is room, and below it the scheduler's words."""
    for each in claim_set.excluded:
        causes = plugins(each.excluded_by)
        if each.has_room:
            has = "has" if len(each.nodes) == 1 else "have"
            yield f"{listed(each.nodes)}: {has} room, but excluded by {causes}."
        else:
            yield f"{listed(each.nodes)}: excluded by {causes}, whatever devices are there."
        yield f"  {scheduler_says(messages(each.excluded_by))}"
