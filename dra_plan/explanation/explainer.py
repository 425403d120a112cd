"""The explanation of a claim set: groups of nodes, the findings for each group, and suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from msgspec import Struct, field, structs

from dra_plan.allocator import AllocationError, Allocator, NodeOutcome, Outcome, View
from dra_plan.allocator.reasons import InUse
from dra_plan.api.core import Node
from dra_plan.api.inventory import Inventory
from dra_plan.api.resource import ResourceClaim
from dra_plan.claims.sets import ClaimSet
from dra_plan.explanation.suggest.admissions import NodeOpening
from dra_plan.explanation.suggest.trials import Suggestion, SuggestionSearch

from . import elements, errors, funnel, names
from .absent import AbsentValue, Published, absent_values, decisive_parts_of
from .elements import BlockingSet
from .errors import ErrorDetails
from .funnel import Funnel, NodeOffer, offer
from .groups import NodeGroup
from .parts import Renaming
from .placement import Budget, Placement, Placements
from .reasons import SelectorFailed, group_key

# -- findings that are kept --------------------------------------------------------------------------------------------
# The funnels of nodes, which follow from the requests, the holders of devices in the node's pools, and the published
# devices. Statements about several nodes together are found again each time.

Holders = tuple[tuple[str, object], ...]
"""The claims that have devices in a node's pools, as NAMESPACE/NAME, with those devices."""


class KnownFindings:
    """Findings for claims with the same requests. They are reused while nothing but claims changes in the cluster."""

    def __init__(self) -> None:
        self._funnels: dict[str, tuple[Node, Holders, list[Funnel]]] = {}
        self.published: Published = {}
        """The values of devices under the names that selectors read."""

    def offer(self, placement: Placement) -> NodeOffer:
        """Return what the node offers to the claims.

        A known offer is reused until a device in the node's pools gets another holder. An offer is not reused if pools
        with the same name share counters (Q1), because it then depends on other nodes, or if its error messages name
        other claims.
        """
        if placement.view.shared_counter_names:
            return offer(placement)
        name = placement.node.metadata.name
        holders = tuple(
            (claim.key, claim.allocation.devices.results) for claim in placement.allocated if claim.allocation
        )
        known = self._funnels.get(name)
        if known is not None and known[0] is placement.node and known[1] == holders:
            wants = placement.wants()
            return offer(
                placement, [structs.replace(old, want=want) for old, want in zip(known[2], wants, strict=True)]
            )
        made = offer(placement)
        if not any(map(_names_claims, made.funnels)):
            self._funnels[name] = (placement.node, holders, made.funnels)
        return made


def _names_claims(funnel: Funnel) -> bool:
    return any(isinstance(refusal, SelectorFailed) for removal in funnel.removals for refusal in removal.refusals)


# -- explaining one claim set ------------------------------------------------------------------------------------------

Key = tuple[object, ...]

MOST_BLOCKING_SETS = 24
"""The maximum number of nodes on which a new blocking set is searched for.

Other nodes are tested with the known sets.
"""


class SetExplanation(Struct):
    """The explanation of a claim set. Groups of nodes that reject the claims come first."""

    groups: list[NodeGroup]
    suggestions: list[Suggestion]
    tried: int
    """The number of changes and combinations of changes that were tried."""
    error: ErrorDetails | None = None
    absent: list[AbsentValue] = field(default_factory=list)
    """The required values that no device in the cluster has.

    If there are any, findings on single nodes do not matter.
    """
    admissions: tuple[NodeOpening, ...] = ()
    """Changes that would admit the pods to excluded nodes that have enough devices."""
    admissions_tried: int = 0
    renaming: Renaming | None = None
    """The names to use if the findings come from claims with other names."""


def explain(
    view: View,
    inventory: Inventory,
    claim_set: ClaimSet,
    nodes: Sequence[Node],
    answers: Sequence[NodeOutcome],
    *,
    max_steps: int | None = None,
    suggests: bool = True,
    deadline: float | None = None,
    kept: Sequence[ResourceClaim] = (),
    known: KnownFindings | None = None,
) -> SetExplanation:
    """Explain the results for a claim set.

    `answers` contains the results for `nodes`, in the same order. Suggestions do not release the devices of claims in
    `kept`. `known` contains findings for claims with the same requests in an earlier state of the cluster. After
    `deadline`, in monotonic time, the allocator is no longer called, so blocking sets are not proven and nothing is
    suggested.
    """
    if claim_set.error is not None:
        return SetExplanation([], [], 0, errors.of_set(claim_set, inventory))
    known = known or KnownFindings()
    own = (*claim_set.allocated, *kept)
    several = claim_set.claims if len(claim_set.claims) > 1 else []
    sources = [names.edited_object(claim, inventory) for claim in several]
    placements = Placements(view, claim_set.claims, max_steps, own, deadline, sources)
    explainer = _Explainer(placements, claim_set, inventory, known)
    groups = explainer.groups(nodes, answers)
    for group in groups:
        explainer.explain(group)
    absent = (
        []
        if any(Outcome.FITS is answer.outcome for answer in answers)
        else absent_values(view, groups, known.published)
    )
    search = SuggestionSearch(placements, groups, inventory, frozenset(found.clause for found in absent))
    if suggests:
        search.seek()
    return SetExplanation(groups, search.found(), search.tried, absent=absent)


def exemplified(told: SetExplanation, node: str) -> SetExplanation:
    """Return the explanation with this node as the example of the nodes on which the claims fit."""
    groups = list(told.groups)
    for at, group in enumerate(groups):
        if group.answer.outcome is not Outcome.FITS or group.placement is None:
            continue
        if (led := group.led_by(node)) is not None:
            led.placement = replace(group.placement, node=led.nodes[0])
            led.choices = funnel.of(led.placement)
            groups[at] = led
    return structs.replace(told, groups=groups)


class RefusingExplanation(Struct, frozen=True):
    """The nodes that reject the claims, the results on these nodes, and the explanation."""

    told: SetExplanation
    answers: Sequence[tuple[Node, NodeOutcome]]


def explain_refusing(
    view: View,
    inventory: Inventory,
    claim_set: ClaimSet,
    nodes: Sequence[Node],
    *,
    max_steps: int | None,
    suggests: bool = False,
    kept: Sequence[ResourceClaim] = (),
    known: KnownFindings | None = None,
    answered: Mapping[str, NodeOutcome] | None = None,
) -> RefusingExplanation:
    """Run the allocator on the nodes, and explain the nodes that reject the claims.

    Nodes that cannot reach the devices of allocated claims are explained too. `answered` contains known results of the
    allocator, by node.
    """
    allocator, there = Allocator(claim_set.claims, view, max_steps=max_steps), answered or {}
    answers = [(node, there.get(node.metadata.name) or allocator.allocate(node)) for node in nodes]
    refusing = [
        (node, answer) for node, answer in answers if answer.outcome is not Outcome.FITS or claim_set.out_of_reach(node)
    ]
    told = explain(
        view,
        inventory,
        claim_set,
        [node for node, _ in refusing],
        [answer for _, answer in refusing],
        max_steps=max_steps,
        suggests=suggests,
        kept=kept,
        known=known,
    )
    return RefusingExplanation(told, refusing)


class _Explainer:
    def __init__(self, placements: Placements, claim_set: ClaimSet, inventory: Inventory, known: KnownFindings) -> None:
        self._earlier = known
        self._placements, self._claim_set, self._inventory = placements, claim_set, inventory
        self._known: list[elements.KnownBlockingSet] = []
        self._budget = Budget(elements.ALL_STEPS, elements.STEPS_EACH)

    # -- grouping ------------------------------------------------------------------------------------------------

    def groups(self, nodes: Sequence[Node], answers: Sequence[NodeOutcome]) -> list[NodeGroup]:
        """Return groups of nodes with the same findings. The order is the order of the groups' first nodes.

        Groups whose findings decide the claim set's outcome come first. Nodes without any devices come last, because
        nothing else can be said about them.
        """
        grouped: dict[Key, NodeGroup] = {}
        for node, answer in zip(nodes, answers, strict=True):
            offer = self._offer(node) if answer.outcome is not Outcome.FITS else None
            elsewhere = self._claim_set.out_of_reach(node)
            together = _is_together(offer, answer) and not elsewhere
            found = self._blocking(offer) if offer is not None and together else None
            kept_away = tuple(claim.key for claim in elsewhere)
            key = (_key(offer, answer, together=together), kept_away, _blocking_key(found), answer.sighted)
            group = grouped.setdefault(key, NodeGroup([], [], [], blocking=found, elsewhere=elsewhere))
            group.add(node, answer, offer)
        grouped = self._by_defect(grouped)
        for group in grouped.values():
            if group.blocking is None:
                group.lead()
        found_outcomes = {answer.outcome for answer in answers}
        first = next((o for o in (Outcome.ERROR, Outcome.FITS) if o in found_outcomes), None)
        return sorted(grouped.values(), key=lambda group: (group.answer.outcome is not first, _is_bare(group)))

    def _by_defect(self, groups: dict[Key, NodeGroup]) -> dict[Key, NodeGroup]:
        """Merge groups that differ only in defects that were met, and not in those that decide."""
        merged: dict[Key, NodeGroup] = {}
        for key, group in groups.items():
            if group.answer.outcome not in (Outcome.FITS, Outcome.UNDECIDED):
                group.defect = names.defects(self._placements.on(group.nodes[0]), group.answer)
            known = merged.setdefault((*key[:-1], group.defect), group)
            if known is not group:
                for node, answer, offer in zip(group.nodes, group.answers, group.offers, strict=True):
                    known.add(node, answer, offer)
        return merged

    def _offer(self, node: Node) -> NodeOffer | None:
        try:
            return self._earlier.offer(self._placements.on(node))
        except AllocationError:
            return None

    def _blocking(self, offer: NodeOffer) -> BlockingSet | None:
        """Return a blocking set of this node: a known one from another node if it is enough here, or a new one."""
        for known in self._known:
            if known.found.has_holders and not _is_in_use(offer):
                continue  # no claims hold devices here, so the obstacle is a different one
            if known.is_enough(offer.placement.node, self._budget):
                return known.found
        if len(self._known) >= MOST_BLOCKING_SETS or self._budget.spent:
            return BlockingSet((), proven=False)
        found = elements.blocking_set(offer.placement, self._budget)
        if found is not None and found.elements:
            self._known.append(elements.KnownBlockingSet(found, offer.placement))
        return found

    # -- running the allocator again -------------------------------------------------------------------------------

    def explain(self, group: NodeGroup) -> None:
        """Run the allocator again on the first node of the group, and add the findings to the group."""
        placement = group.placement = self._placements.on(group.nodes[0])
        outcome = group.answer.outcome
        if outcome is Outcome.FITS:
            group.choices = funnel.of(placement)
            return
        if group.answer.error is not None:
            group.error = errors.of_error(placement, group.answer.error, self._claim_set, self._inventory)
        group.decisive_parts = decisive_parts_of([offer for offer in group.offers if offer is not None])


def _is_in_use(offer: NodeOffer) -> bool:
    """Return whether other claims have devices on the node."""
    removals = (removal for told in offer.funnels for removal in told.removals)
    return any(isinstance(removal.refusal, InUse) for removal in removals)


def _is_bare(group: NodeGroup) -> bool:
    return group.offer is not None and group.offer.devices == 0


def _is_together(offer: NodeOffer | None, answer: NodeOutcome) -> bool:
    """Return whether the node rejects although each request alone could be met."""
    refuses = answer.outcome in (Outcome.DOES_NOT_FIT, Outcome.NODE_ERROR)
    return refuses and offer is not None and not offer.failing()


def _key(offer: NodeOffer | None, answer: NodeOutcome, *, together: bool) -> tuple[object, ...]:
    """Return the properties that nodes in one group share: the outcome, and the reason that blocks each request."""
    if answer.outcome is Outcome.FITS:
        return (answer.outcome,)
    if answer.outcome is Outcome.ERROR:
        return answer.outcome, answer.message
    key: list[object] = [answer.outcome]
    if offer is not None:
        key += [() if together else _funnel_key(offer, told) for told in offer.funnels]
        key += sorted({found.code for found in offer.unusable})
        key.append(offer.devices == 0)
    return tuple(key)


def _funnel_key(offer: NodeOffer, told: Funnel) -> tuple[object, ...]:
    """Return the reasons that stop the want.

    A device in use that would not fit even if free is counted under the requirement that it fails.
    """
    if told.causes is None:
        causes: set[object] = set()
        for removal in told.removals:
            if not isinstance(removal.refusal, InUse):
                causes.add(removal.key)
                continue
            for device in removal.devices:
                unfit = offer.checks.selector(told.want, device)
                causes.add(removal.key if unfit is None else group_key(unfit))
        told.causes = frozenset(causes)
    return told.problem, told.causes


def _blocking_key(found: BlockingSet | None) -> tuple[object, ...]:
    if found is None:
        return ()
    same = (element for element in found.elements if isinstance(element, elements.SAME_EVERYWHERE))
    return (found.proven, found.has_holders, *same)
