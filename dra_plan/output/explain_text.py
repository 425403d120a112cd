"""`explain` as text for people: short lines, the cause first, the numbers after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import explain_changes, explain_faults, text
from . import explain_words as words
from .columns import Screen
from .explain_device import device_lines
from .notices import printable

Data = dict[str, Any]


def render(document: Data, _screen: Screen | None) -> str:
    """The whole explanation."""
    blocks = ["\n".join(set_lines(claim_set)) for claim_set in document["claimSets"]]
    blocks += ["\n".join(device_lines(story)) for story in document["devices"]]
    if not blocks:
        blocks = ["Nothing to explain: the input has no pending claim, and no pod or workload that uses one."]
    return printable("\n\n".join([*blocks, text.target(document)])) + "\n"


def set_lines(of: Data) -> Iterator[str]:
    """The explanation of one claim set, line by line."""
    total = sum(len(story["nodes"]) for story in of["stories"])
    yield headline(of, total)
    if of["fault"] is not None:
        yield from (f"  {line}" for line in explain_faults.fault(of["fault"]))
    for story in of["stories"]:
        yield ""
        yield from _story_lines(story)
    yield from _suggestion_lines(of)


def headline(of: Data, total: int) -> str:
    """Who, and whether it fits."""
    name = text.claim_set_name(of)
    fitting = of["fittingNodes"]
    if of["outcome"] == "Fits":
        return f"{name}: fits on {len(fitting)} of {words.counted(total, 'node')}."
    if of["outcome"] == "Error":
        also = f" It would fit on {words.listed(fitting)}." if fitting else ""
        return f"{name}: an error ends the attempt on all nodes.{also}"
    if of["outcome"] == "Undecided":
        return f"{name}: undecided within the step budget."
    return f"{name}: does not fit ({words.counted(total, 'node')} looked at)."


def nodes(story: Data) -> str:
    """`node-1`, or `node-1 and 36 nodes like it`."""
    first, *rest = story["nodes"]
    if not rest:
        return str(first)
    if len(rest) <= words.NAMES:
        return words.listed(story["nodes"], words.NAMES + 1)
    return f"{first} and {len(rest)} nodes like it"


def _story_lines(story: Data) -> Iterator[str]:
    if story["outcome"] == "Fits":
        yield f"{nodes(story)}: fits."
        yield from (f"  {line}" for choice in story["choices"] for line in choice_lines(choice))
        return
    yield f"{nodes(story)}: {_OUTCOMES[story['outcome']]}"
    yield from (f"  {line}" for line in _cause_lines(story))


_OUTCOMES = {
    "DoesNotFit": "does not fit.",
    "NodeError": "rejected with an error.",
    "Error": "error.",
    "Undecided": "undecided.",
}


def _cause_lines(story: Data) -> Iterator[str]:
    if story["defect"] is not None:
        yield from words.defect(story["defect"])
    if story["fault"] is not None:
        yield from explain_faults.fault(story["fault"])
    if story["outcome"] == "Undecided":
        yield f"No answer within {story['steps']} search steps (--max-steps)."
    for claim in story["claimsElsewhere"]:
        yield f"Claim {words.claim(claim)} is allocated already, for other nodes."
    if story["outcome"] == "Error":
        yield from unpublished(story)
        return
    if story["devices"] == 0:
        yield "No resource slice offers a device to this node."
        return
    yield from (f"{_capital(words.unusable_pool(pool))}." for pool in story["pools"])
    yield from _request_lines(story)
    yield from blocking_lines(story)


def unpublished(story: Data) -> Iterator[str]:
    """What a selector that fails reads, and no device has."""
    told = [
        line
        for request in story["requests"]
        for removed in request["removed"]
        if removed["code"] == "selector-error"
        for finding in removed["selectors"]
        for item in finding["found"]
        if item["problem"] is not None
        for line in words.found(item)
    ]
    yield from (f"{_capital(line)}." for line in dict.fromkeys(told))


def _request_lines(story: Data) -> Iterator[str]:
    for of, others in alike(failing(story)):
        yield f"{_capital(words.problem(of))}."
        if others:
            yield f"  The same holds for {words.requests(others)}."
        yield from (f"  {line}" for line in funnel_lines(of))


def failing(story: Data) -> list[Data]:
    """The requests that can't be met alone; alternatives only where all of a request fail."""
    stuck: dict[tuple[str, str], bool] = {}
    for of in story["requests"]:
        key = (of["claim"]["name"], of["request"].partition("/")[0])
        stuck[key] = stuck.get(key, True) and of["problem"] is not None
    return [of for of in story["requests"] if stuck[of["claim"]["name"], of["request"].partition("/")[0]]]


def alike(requests: list[Data]) -> list[tuple[Data, list[Data]]]:
    """Requests with the same funnel together: the first, and the others."""
    groups: dict[str, tuple[Data, list[Data]]] = {}
    for of in requests:
        same = str({name: part for name, part in of.items() if name not in ("request", "alternative")})
        if same in groups:
            groups[same][1].append(of)
        else:
            groups[same] = (of, [])
    return list(groups.values())


def funnel_lines(of: Data) -> Iterator[str]:
    """All devices, those that each check takes away, and those left."""
    width = len(str(of["devices"])) + 1
    yield f"{of['devices']:>{width}}  {'device' if of['devices'] == 1 else 'devices'} on the node"
    for removed in of["removed"]:
        spread = ""
        if removed["countFrom"] != removed["countTo"]:
            spread = f" ({removed['countFrom']} to {removed['countTo']} on these nodes)"
        yield f"{'-' + str(removed['count']):>{width}}  {words.removed(removed)}{spread}"
        for line in finding_lines(removed):
            yield f"{'':>{width}}    {line}"
    names = [words.device(device) for device in of["leftDevices"]]
    more = [f"{of['left'] - len(names)} more"] if of["left"] > len(names) else []
    yield f"{of['left']:>{width}}  left{': ' + words.listed([*names, *more], len(names) + 1) if names else ''}"


def finding_lines(removed: Data) -> Iterator[str]:
    """What decides in a selector, and what the devices have instead."""
    for finding in removed["selectors"]:
        if finding["clause"] != removed["expression"].strip():
            yield f"false on {finding['count']}: {words.one_line(finding['clause'])}"
        if finding.get("error"):
            yield f"fails on {finding['count']}: {finding['error']}"
        for item in finding["found"]:
            yield from words.found(item)
        for part in finding.get("computed", ()):
            values = [f"{one['value']} on {one['count']}" for one in part["values"]]
            yield f"{words.one_line(part['part'])} is {', '.join(values)}"


def blocking_lines(story: Data) -> Iterator[str]:
    """The blocking set."""
    blocking = story["blockingSet"]
    if blocking is None:
        return
    if not blocking["elements"]:
        yield "Each request alone could be met, all together can't; which of them collide was not found out."
        return
    one = sum(element["kind"] == "request" for element in blocking["elements"]) == 1
    yield (
        "Enough devices pass every check, but one by one only. These can't be met together:"
        if one
        else "Each request alone could be met, but not these together:"
    )
    yield from (f"  - {words.element(element)}" for element in blocking["elements"])
    if blocking["proven"]:
        yield "Without any one of them, the others could."
    else:
        yield "Not proven to be the fewest: the search for them was given up."


def choice_lines(choice: Data) -> Iterator[str]:
    """A chosen device, and those before it."""
    got = words.device(choice["device"]) if choice["device"] else "nothing"
    yield f"{_capital(words.request(choice))}: {got}"
    for passed in choice["passedOver"]:
        if passed["code"] != "selector-false" or not passed.get("class"):
            yield f"  before it {passed['count']}: {words.removed({'wanted': 0, **passed})}"


def _suggestion_lines(of: Data) -> Iterator[str]:
    if of["outcome"] == "Fits" or not of["stories"]:
        return
    yield ""
    if not of["suggestions"]:
        yield _in_vain(of["tried"])
        return
    yield "What would make it fit (each was tried):"
    for number, suggestion in enumerate(of["suggestions"], start=1):
        yield f"  {number}. {explain_changes.suggestion(suggestion)} (then it fits on {suggestion['node']})"


def _in_vain(tried: int) -> str:
    if tried == 0:
        return "There is nothing to try that would make it fit."
    if tried == 1:
        return "One change was tried; it does not make it fit."
    return f"{tried} changes were tried; none makes it fit."


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
