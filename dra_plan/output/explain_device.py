"""`explain --device` as text: every check of every request for one device."""

from __future__ import annotations

from collections.abc import Iterator

from dra_plan.documents.devices import (
    CapacityDetail,
    ConstraintDetail,
    CounterDetail,
    Detail,
    DeviceCheck,
    SelectorDetail,
    TaintDetail,
)
from dra_plan.documents.explanation import DeviceStory

from . import explain_removed, text
from . import explain_words as words

_STEPS = {
    "pool": "its pool is complete",
    "in-use": "free",
    "feature": "the features it needs are on",
    "selector": "selectors of class and request",
    "node": "usable on the node",
    "capacity": "enough capacity",
    "counter": "enough of its counters",
    "taint": "taints tolerated",
    "constraint": "has what constraints compare",
}


def device_lines(of: DeviceStory) -> Iterator[str]:
    """The story of one device."""
    yield f"device {of.device} (slice {words.listed(of.slices)})"
    if not of.nodes:
        yield "  None of the nodes asked about sees it: its slice targets other nodes, or is of an old pool generation."
        return
    yield f"  Seen by {words.listed(of.nodes)}; told for {of.nodes[0]}."
    if of.holders:
        yield f"  In use, by {words.listed([words.holder(holder) for holder in of.holders])}."
    if of.pool is not None:
        yield f"  Its {words.unusable_pool(of.pool)}."
    for claim_set in of.claim_sets:
        for request in claim_set.requests:
            yield ""
            verdict = "could be used" if request.passes else "can't be used"
            yield f"  {text.claim_set_name(claim_set)}, {words.request(request)}: {verdict}"
            for check in request.checks:
                yield from (f"    {line}" for line in _check_lines(check))


def _check_lines(check: DeviceCheck) -> Iterator[str]:
    if check.passed:
        yield f"yes  {_STEPS[check.step]}"
    elif check.code == "selector-false":
        yield f"NO   {words.selector(check.selector, check.class_)} is false"
    else:
        yield f"NO   {explain_removed.removed(check)}"
    for detail in check.details:
        yield from (f"       {line}" for line in _detail(detail))


def _detail(of: Detail) -> Iterator[str]:
    match of:
        case SelectorDetail():
            yield from _selector(of)
        case CapacityDetail():
            yield f"{of.capacity}: takes {of.need}, {of.left} left of {of.total}"
        case CounterDetail():
            yield f"{of.counter_set}/{of.counter}: takes {of.need}, {of.left} left"
        case TaintDetail():
            state = "tolerated" if of.tolerated else "not tolerated"
            yield f"{words.taint(of)}: {state if of.blocks else 'informs only'}"
        case ConstraintDetail():
            has = words.value(of.value) if of.value is not None else "missing"
            yield f"constraint #{of.constraint}: {of.attribute} is {has}"


def _selector(of: SelectorDetail) -> Iterator[str]:
    result = {True: "true", False: "false", None: "error"}[of.result]
    yield f"{words.selector(of.selector, of.class_)} is {result}: {of.expression}"
    for finding in of.selectors or ():
        if finding.clause != of.expression.strip():
            yield f"  false: {finding.clause}"
        for item in finding.found:
            yield from (f"  {line}" for line in explain_removed.found(item))
