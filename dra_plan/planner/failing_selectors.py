"""Selectors that fail with an error on a device in the input, even if the scheduler does not reach that device now.

The scheduler evaluates a request's selectors on one device after another until it has enough. An error ends the pod's
attempt on all nodes (`structured.Allocate`), so the result may depend on which devices are in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_plan.allocator import Outcome, PoolDevice, View
from dra_plan.allocator.requests import SelectorCondition, Want
from dra_plan.api.inventory import Notice
from dra_plan.cel.parts import references
from dra_plan.claims.sets import ClaimSet
from dra_plan.explanation.selectors import mended
from dra_plan.planner.claim_sets import ClaimSetPlan
from dra_plan.planner.notices import about
from dra_plan.shown import line
from dra_plan.validation.matches import ConditionOutcome, Matches

MAY_FAIL = "selector-may-fail"
"""The code of the warning."""

MOST_DEVICES = 4_000
"""The maximum number of devices for which selectors are evaluated. Sorting more of them by kind takes too long."""

MOST_SETS = 50
"""The maximum number of claim sets whose selectors are evaluated."""


def of_failing_selectors(view: View, plans: Iterable[ClaimSetPlan]) -> list[Notice]:
    """Return a warning for each selector of the claim sets that fails with an error on a device in the input.

    Claim sets whose search ended with an error are left out, because their results already contain the error.
    """
    judged = [plan.claim_set for plan in plans if plan.outcome in (Outcome.FITS, Outcome.DOES_NOT_FIT)][:MOST_SETS]
    wanted = [(each, want) for each in judged for want in _wants(view, each) if any(map(_reads, want.conditions))]
    devices = list(_devices(view)) if wanted else []
    if not devices or len(devices) > MOST_DEVICES:
        return []
    matches = Matches(devices, view.target)
    found = (notice for claim_set, want in wanted for notice in _of_request(view, matches, claim_set, want))
    return list({(one.message, one.object): one for one in found}.values())


def _wants(view: View, claim_set: ClaimSet) -> Iterator[Want]:
    for ready in view.requests(claim for claim in claim_set.claims if claim.allocation is None):
        for options in ready.requests:
            yield from options


def _reads(condition: SelectorCondition) -> bool:
    """Return whether the selector reads a value that a device may lack."""
    return any(one.kind in ("attribute", "capacity", "domain") for one in references(condition.expression, "read"))


def _devices(view: View) -> Iterator[PoolDevice]:
    for pool, slices in view.gatherer.slices.items():
        newest = view.gatherer.newest(pool).newest
        yield from (device for one in slices if one.generation == newest for device in one.devices)


def _of_request(view: View, matches: Matches, claim_set: ClaimSet, want: Want) -> Iterator[Notice]:
    for position, condition in enumerate(want.conditions):
        outcome = matches.outcome(want.conditions[: position + 1])
        if outcome is not None and outcome.fails:
            yield _notice(view, matches, claim_set, want, condition, outcome)


def _notice(
    view: View, matches: Matches, claim_set: ClaimSet, want: Want, condition: SelectorCondition, told: ConditionOutcome
) -> Notice:
    def fails_on(text: str) -> PoolDevice | None:
        return matches.first_failing(SelectorCondition("", None, 0, text, view.compile), told.fails)

    failing, of = told.fails.count, told.asked.count
    whose = f"class {condition.class_name}" if condition.class_name is not None else f"request {want.full_name}"
    where = f"{failing} of {of} devices" if of > 1 else "the only device"
    better = mended(condition.expression, fails_on) if failing < of else None
    use = f"; with this expression it does not fail: {line(better)}" if better is not None else ""
    subject, source = about(claim_set)
    return Notice(
        MAY_FAIL,
        f"the selector of {whose} fails on {where}, such as {told.fails.first.id} ({line(told.text)}): "
        f"if the scheduler checks one of these devices, the attempt ends with an error, "
        f"even if another node would fit{use}",
        subject,
        source,
    )
