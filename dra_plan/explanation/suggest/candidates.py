"""Changes that might make a claim set fit: candidates drawn from what was found, none of them tried here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from dra_plan.allocator import PoolState
from dra_plan.allocator.reasons import (
    AttributeMissing,
    BindingConditionsOff,
    CapacityMissing,
    CapacityShort,
    CounterShort,
    CountersOff,
    InUse,
    NotTolerated,
    PolicyViolated,
    SelectorRefused,
)
from dra_plan.allocator.requests import RESULTS_LIMIT, Want
from dra_plan.api.resource import DeviceToleration
from dra_plan.documents.base import ClaimName
from dra_plan.documents.suggestions import (
    ClaimReleased,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    GateEnabled,
    NodeLabelled,
    PoolAwaited,
    RequestDropped,
    SelectorChanged,
    TaintTolerated,
)
from dra_plan.explanation import edits
from dra_plan.explanation.blocking import BlockingSet
from dra_plan.explanation.elements import ClaimElement, ConstraintElement, CounterElement, RequestElement
from dra_plan.explanation.errors import ErrorDetails
from dra_plan.explanation.funnel import Funnel, NodeOffer, Removal
from dra_plan.explanation.holders import counter_holders, holders
from dra_plan.explanation.names import claim_name, pool_name, request_name
from dra_plan.explanation.placement import Placement
from dra_plan.explanation.reasons import SelectorFailed
from dra_plan.explanation.selectors import DecisivePart

from . import capacities, classes, selectors
from .change import Change, edit_want
from .labels import missing_labels

_BINDING_GATE = "DRADeviceBindingConditions"


def candidates(
    offer: NodeOffer,
    blocking: BlockingSet | None,
    decisive_parts: dict[tuple[int, int], list[DecisivePart]],
    *,
    blames_all: bool = False,
    nowhere: Collection[str] = (),
) -> list[Change]:
    """Everything worth trying on this node, by rank. `decisive_parts` are those of (want position, removal position).

    Of requests that could be met alone only those in the blocking set are changed, unless `blames_all`: where the
    refusal is owed to a defect, any of them may be what brings it out. Clauses that are true `nowhere` in the cluster
    are kept in classes, which say what others may have, too. Claims of one template are changed by the first of them.
    """
    funnels = [funnel for funnels in offer.failing() for funnel in funnels]
    made: list[Change] = []
    for position, funnel in enumerate(offer.funnels):
        if offer.placement.first_alike(funnel.want.claim_index) != funnel.want.claim_index:
            continue
        if funnel not in funnels and not blames_all and not _is_blamed(offer.placement, funnel.want, blocking):
            continue
        made += _of_want(funnel)
        for number, removal in enumerate(funnel.removals):
            found = decisive_parts.get((position, number), [])
            made += _of_removal(offer, funnel, removal, found, nowhere)
        if funnel in funnels:
            made += classes.of_funnel(offer, funnel)
    made += _of_blocking(offer, blocking)
    if blames_all:
        made += of_claims(offer.placement)
    made += _of_pools(offer)
    made += (_labelled(labels) for labels in missing_labels(offer.placement))
    unique: dict[str, Change] = {}
    for change in made:
        told = change.told
        if isinstance(told, ClaimReleased) and f"{told.release.namespace}/{told.release.name}" in offer.placement.own:
            continue
        unique.setdefault(str(told), change)
    return sorted(unique.values(), key=lambda change: change.rank)


def of_error(placement: Placement, error: ErrorDetails) -> list[Change]:
    """What may help against an error: another class, fewer devices, the feature gate that is off."""
    made: list[Change] = []
    for want in placement.wants():
        if error.code == "class-missing" and want.full_name == error.request and error.hint is not None:
            told = ClassChanged(code="change-class", **request_name(want), to=error.hint)
            made.append(Change(told, edit_want(want, edits.set_class(error.hint))))
        elif error.code == "too-many-devices" and not want.takes_all:
            made += _fewer(want, min(want.count - 1, RESULTS_LIMIT))
    if error.want is not None and error.mended is not None and error.mended.outcome == "Fits":
        made.append(_rewritten(error.want, error, error.mended.expression))
    if error.gate is not None:
        made.append(_enable(error.gate))
    return made


def _rewritten(want: Want, error: ErrorDetails, expression: str) -> Change:
    name = error.object[2] if error.object is not None and error.object[0] == "DeviceClass" else None
    position = error.selector or 0
    about = {"class_": name} if name is not None else request_name(want)
    return Change(
        SelectorChanged(
            code="guard-selector",
            **about,
            selector=position,
            expression=error.expression or "",
            replacement=expression,
        ),
        lambda placement: edits.replace_selector(placement, want, name, position, expression),
    )


def _enable(gate: str) -> Change:
    return Change(GateEnabled(code="enable-gate", gate=gate), lambda placement: placement.with_gate(gate))


def _labelled(labels: dict[str, str]) -> Change:
    return Change(NodeLabelled(code="label-node", labels=labels), lambda placement: edits.label_node(placement, labels))


def _is_blamed(placement: Placement, want: Want, blocking: BlockingSet | None) -> bool:
    """Whether the request, or that of another claim from the same template, is in the blocking set."""
    return any(
        isinstance(element, RequestElement)
        and (placement.first_alike(element.claim), element.request) == (want.claim_index, want.request_name)
        for element in (blocking.elements if blocking is not None else ())
    )


def _of_want(funnel: Funnel) -> Iterator[Change]:
    want = funnel.want
    if want.takes_all:
        for count in _steps_down(len(funnel.left)):
            told = CountLowered(code="count-instead-of-all", **request_name(want), to=count)
            yield Change(told, edit_want(want, edits.set_count(count)), count)
        return
    yield from _fewer(want, min(want.count - 1, len(funnel.left)))


def _fewer(want: Want, highest: int) -> Iterator[Change]:
    for count in _steps_down(highest):
        told = CountLowered(code="lower-count", **request_name(want), from_=want.count, to=count)
        yield Change(told, edit_want(want, edits.set_count(count)), count)


def _steps_down(highest: int) -> Iterable[int]:
    return range(highest, 0, -1)


def _of_removal(
    offer: NodeOffer, funnel: Funnel, removal: Removal, found: Sequence[DecisivePart], nowhere: Collection[str]
) -> Iterator[Change]:
    want = funnel.want
    for refusal in dict.fromkeys(removal.refusals):
        if isinstance(refusal, NotTolerated):
            yield _toleration(want, refusal)
        elif isinstance(refusal, SelectorRefused | SelectorFailed):
            yield from selectors.of_selector(want, refusal, found, nowhere)
        elif isinstance(refusal, CapacityMissing):
            yield from capacities.of_missing(want, refusal, removal)
        elif isinstance(refusal, CapacityShort):
            yield from capacities.of_short(want, refusal)
        elif isinstance(refusal, PolicyViolated):
            yield from capacities.of_policy(want, refusal, removal)
    if isinstance(removal.refusal, CountersOff | BindingConditionsOff):
        yield _enable("DRAPartitionableDevices" if isinstance(removal.refusal, CountersOff) else _BINDING_GATE)
    if isinstance(removal.refusal, AttributeMissing):
        yield _drop_constraint(offer.placement, ConstraintElement(want.claim_index, removal.refusal.constraint))
    if isinstance(removal.refusal, InUse | CapacityShort | CounterShort):
        yield from (release(offer.placement, key) for key in holders(offer, want, removal))


def _toleration(want: Want, taint: NotTolerated) -> Change:
    operator = "Equal" if taint.value else "Exists"
    toleration = DeviceToleration(key=taint.key, operator=operator, value=taint.value, effect=taint.effect)
    told = TaintTolerated(code="tolerate-taint", **request_name(want), toleration=toleration)
    return Change(told, edit_want(want, edits.tolerate(toleration)))


def release(placement: Placement, key: str) -> Change:
    """An allocated claim gives its devices back."""
    namespace, _, name = key.partition("/")
    claim = next((claim for claim in placement.allocated if claim.key == key), None)
    reserved = claim.status.reserved_for if claim is not None and claim.status is not None else []
    pods = [consumer.name for consumer in reserved if consumer.resource == "pods"]
    told = ClaimReleased(code="release-claim", release=ClaimName(namespace=namespace, name=name), pods=pods)
    return Change(told, lambda changed: changed.without_allocated([key]))


def _of_blocking(offer: NodeOffer, blocking: BlockingSet | None) -> Iterator[Change]:
    if blocking is None:
        return
    several = sum(len(claim.spec.devices.requests) for claim in offer.placement.claims) > 1
    for element in blocking.elements:
        if isinstance(element, ConstraintElement):
            yield _drop_constraint(offer.placement, element)
        elif isinstance(element, ClaimElement):
            yield release(offer.placement, element.claim)
        elif isinstance(element, CounterElement):
            held = counter_holders(offer, element.pool, element.counter_set, element.counter)
            yield from (release(offer.placement, key) for key in held)
        elif several:
            yield _drop_request(offer.placement, element)


def of_claims(placement: Placement) -> list[Change]:
    """Every constraint dropped, and every request of several: to try when nothing shows what is in the way."""
    claims = list(enumerate(placement.claims))
    constraints = [
        _drop_constraint(placement, ConstraintElement(index, number))
        for index, claim in claims
        for number in range(len(claim.spec.devices.constraints))
    ]
    requests = [
        _drop_request(placement, RequestElement(index, request.name))
        for index, claim in claims
        for request in reversed(claim.spec.devices.requests)
    ]
    return [*constraints, *requests] if len(requests) > 1 else [*constraints]


def _drop_constraint(placement: Placement, element: ConstraintElement) -> Change:
    claim = placement.claims[element.claim]
    constraint = claim.spec.devices.constraints[element.position]
    told = ConstraintDropped(
        code="drop-constraint",
        claim=claim_name(placement.claims[placement.first_alike(element.claim)]),
        constraint=element.position,
        attribute=constraint.match_attribute or constraint.distinct_attribute or "",
    )
    return Change(told, lambda changed: edits.drop_constraint(changed, element.claim, element.position))


def _drop_request(placement: Placement, element: RequestElement) -> Change:
    claim = claim_name(placement.claims[placement.first_alike(element.claim)])
    told = RequestDropped(code="drop-request", claim=claim, request=element.request)
    return Change(told, lambda changed: edits.drop_request(changed, element.claim, element.request))


def _of_pools(offer: NodeOffer) -> Iterator[Change]:
    for found in offer.unusable:
        pool = found.pool
        if pool.state is not PoolState.INCOMPLETE:
            continue
        generation, seen = pool.generation, pool.seen
        told = PoolAwaited(
            code="wait-for-slice",
            pool=pool_name(pool.id),
            generation=generation,
            seen=seen,
            expected=pool.expected,
        )

        def apply(
            placement: Placement, pool_id: Any = pool.id, generation: int = generation, seen: int = seen
        ) -> Placement:
            return edits.complete_pool(placement, pool_id, generation, seen)

        yield Change(told, apply)
