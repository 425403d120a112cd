"""`explain --device` as text: every check of every request for one device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import explain_words as words
from . import text

Data = dict[str, Any]

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


def device_lines(of: Data) -> Iterator[str]:
    """The story of one device."""
    yield f"device {words.device(of['device'])} (slice {words.listed(of['slices'])})"
    if not of["nodes"]:
        yield "  None of the nodes asked about sees it: its slice targets other nodes, or is of an old pool generation."
        return
    yield f"  Seen by {words.listed(of['nodes'])}; told for {of['nodes'][0]}."
    if of["holders"]:
        yield f"  In use, by {words.listed([words.holder(holder) for holder in of['holders']])}."
    if of["pool"] is not None:
        yield f"  Its {words.unusable_pool(of['pool'])}."
    for claim_set in of["claimSets"]:
        for request in claim_set.requests:
            yield ""
            verdict = "could be used" if request["passes"] else "can't be used"
            yield f"  {text.claim_set_name(claim_set)}, {words.request(request)}: {verdict}"
            for check in request["checks"]:
                yield from (f"    {line}" for line in _check_lines(check))


def _check_lines(check: Data) -> Iterator[str]:
    if check["passed"]:
        yield f"yes  {_STEPS[check['step']]}"
    else:
        of_selector = check["code"] == "selector-false"
        said = f"{words.selector(check)} is false" if of_selector else words.removed({"wanted": 1, "count": 1, **check})
        yield f"NO   {said}"
    for detail in check.get("details", ()):
        yield from (f"       {line}" for line in _DETAILS[check["step"]](detail))


def _selector(of: Data) -> Iterator[str]:
    result = {True: "true", False: "false", None: "error"}[of["result"]]
    yield f"{words.selector(of)} is {result}: {of['expression']}"
    for finding in of.get("selectors", ()):
        if finding["clause"] != of["expression"].strip():
            yield f"  false: {finding['clause']}"
        for item in finding["found"]:
            yield from (f"  {line}" for line in words.found(item))


def _capacity(of: Data) -> Iterator[str]:
    yield f"{of['capacity']}: takes {of['need']}, {of['left']} left of {of['total']}"


def _counter(of: Data) -> Iterator[str]:
    yield f"{of['counterSet']}/{of['counter']}: takes {of['need']}, {of['left']} left"


def _taint(of: Data) -> Iterator[str]:
    state = "tolerated" if of["tolerated"] else "not tolerated"
    yield f"{words.taint(of)}: {state if of['blocks'] else 'informs only'}"


def _constraint(of: Data) -> Iterator[str]:
    has = words.value(of["value"]) if of["value"] is not None else "missing"
    yield f"constraint #{of['constraint']}: {of['attribute']} is {has}"


_DETAILS = {
    "selector": _selector,
    "capacity": _capacity,
    "counter": _counter,
    "taint": _taint,
    "constraint": _constraint,
}
