"""Why a claim set's answer is another one: defects that a release has and the other has not, and selectors.

A defect counts if the plan of its release says that it changed an answer for this very set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_plan.allocator import View
from dra_plan.api.resource import DeviceSelector
from dra_plan.claims.sets import ClaimSet
from dra_plan.documents.diff import ChangedSelector, DiffReason
from dra_plan.planner import notices
from dra_plan.planner.allocation import AllocationPlan
from dra_plan.releases import DEFECTS, Quirks


def reasons(
    claim_set: ClaimSet, before: AllocationPlan, after: AllocationPlan, view: View, selectors: Sequence[ChangedSelector]
) -> list[DiffReason]:
    """All that is known; `view` is that of the state before."""
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
    """The expressions that the set's requests stand under, each with the class that has it."""
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
