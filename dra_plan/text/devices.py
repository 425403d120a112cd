"""Texts about devices: why checks remove devices, which devices are chosen, and all checks of a single device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from dra_plan.api.go_text import allowed
from dra_plan.documents.base import ClaimName
from dra_plan.documents.claim_sets import DeviceStory, PlacedPodClaim
from dra_plan.documents.devices import (
    CapacityDetail,
    ConstraintDetail,
    CounterDetail,
    Detail,
    DeviceCheck,
    PassedOver,
    RemovedDevices,
    SelectorDetail,
    TaintDetail,
)
from dra_plan.documents.stories import ChosenDevice, NodeStory, PassedAlternative, RequestDevices, StoryRequest
from dra_plan.explanation.hints import alternatives, found_lines
from dra_plan.text import words
from dra_plan.text.columns import Lines, indented
from dra_plan.text.folding import ranges
from dra_plan.text.naming import claim_set_name
from dra_plan.text.words import listed

Refused = RemovedDevices | PassedOver | DeviceCheck
"""The types that contain a device's reason, as its code and fields."""


def removed(of: Refused) -> str:
    """Return why a check removed devices, as a phrase that follows the number of devices."""
    return _REMOVED[of.code](of)


def _holders(of: Refused) -> list[str]:
    return [] if isinstance(of, DeviceCheck) else [words.holder(one) for one in of.holders]


def _in_use(of: Refused) -> str:
    holders, wanted = _holders(of), of.wanted if isinstance(of, RemovedDevices) else None
    if wanted == 0:
        return "in use, and would not match anyway"
    some = f", {wanted} of them otherwise suitable" if isinstance(of, RemovedDevices) and wanted != of.count else ""
    if not holders:
        return f"in use{some}"
    return f"in use{some}, by {'claim' if len(holders) == 1 else 'claims'} {words.listed(holders)}{_there(of)}"


_UNASKED = {"default": "the default of its requestPolicy", "whole": "the whole capacity of a device"}


def _short(of: Refused) -> str:
    """Return `50G needed, 40G left`, with a range if devices differ."""
    need_to, left_from = (of.need_to, of.left_from) if isinstance(of, RemovedDevices) else ("", "")
    need = f"{of.need} to {need_to}" if need_to else of.need
    unasked = of.unasked if isinstance(of, RemovedDevices) else ""
    asked = of.asked if isinstance(of, RemovedDevices) else ""
    which = f" ({_UNASKED[unasked]}, because the request names no amount)" if unasked else ""
    which = f" ({asked} requested, rounded up by its requestPolicy)" if asked else which
    return f"{need} needed{which}, {f'{left_from} to {of.left}' if left_from else of.left} left"


def _shared_by(of: Refused) -> str:
    holders = _holders(of)
    return f" (used by {words.listed(holders)}{_there(of)})" if holders else ""


def _there(of: Refused) -> str:
    """Return where the holders have the devices, if this differs between nodes."""
    return f" on {of.holders_on}" if isinstance(of, RemovedDevices) and of.holders_on else ""


def _expression(of: Refused) -> str:
    """Return the expression, unless its deciding parts are shown."""
    told = of.selectors if isinstance(of, RemovedDevices) else None
    whole = not told or any(finding.clause == of.expression.strip() for finding in told)
    return f": {words.one_line(of.expression)}" if whole else ""


def _published(of: Refused) -> str:
    return f"; there is {words.listed(of.published, 8)}" if isinstance(of, RemovedDevices) and of.published else ""


def _policy(of: Refused) -> str:
    """Return the requested and the rounded amount, and the amounts that the request policies allow."""
    asked, policies = (of.asked, of.policies) if isinstance(of, RemovedDevices) else ("", None)
    rounded = f", rounded to {of.amount}," if asked and asked != of.amount else ""
    allows = [allowed(policy, _values) for policy in policies or ()]
    told = f"; allowed: {words.listed(allows)}" if any(allows) else ""
    return f"capacity {of.capacity}: {asked or of.amount}{rounded} violates the request policy{told}"


def _values(names: list[str]) -> str:
    return words.listed(names, 10)


def _constraint(of: Refused) -> str:
    """Return the words for a constraint, with its index unless the claim has only one."""
    compared = of.compared if isinstance(of, RemovedDevices) else None
    return "the claim's constraint" if compared is not None and compared.is_only else f"constraint #{of.constraint}"


def _tolerates(of: Refused) -> str:
    """Return what the request tolerates instead, under the same key."""
    tolerated = of.tolerated if isinstance(of, RemovedDevices) else ""
    return f" (the request tolerates {tolerated})" if tolerated else ""


_REMOVED: dict[str, Callable[[Refused], str]] = {
    "pool-unusable": lambda of: f"in an {of.state} pool",
    "in-use": _in_use,
    "taken-already": lambda _: "already taken for this pod",
    "binding-conditions-off": lambda _: "with binding conditions, but feature gate DRADeviceBindingConditions is off",
    "selector-false": lambda of: f"{words.selector(of.selector, of.class_)} is false{_expression(of)}",
    "selector-error": lambda of: f"{words.selector(of.selector, of.class_)} fails: {of.error}",
    "other-node": lambda _: "on other nodes only",
    "capacity-missing": lambda of: f"capacity {of.capacity} is missing{_published(of)}",
    "capacity-policy": _policy,
    "capacity-short": lambda of: f"capacity {of.capacity}: {_short(of)}{_shared_by(of)}",
    "counters-off": lambda _: "sharing counters, but feature gate DRAPartitionableDevices is off",
    "counter-short": lambda of: f"counter {of.counter_set}/{of.counter}: {_short(of)}{_shared_by(of)}",
    "not-tolerated": lambda of: f"taint {of.taint and words.taint(of.taint)} not tolerated{_tolerates(of)}",
    "attribute-missing": lambda of: f"without attribute {of.attribute}, which {_constraint(of)} compares",
    "attribute-differs": lambda of: (
        f"{of.attribute} is {words.value(of.offered)}, but {words.value(of.pinned)} on earlier devices"
    ),
    "attribute-repeats": lambda of: f"{of.attribute} is {words.value(of.offered)}, as on an earlier device",
    "led-nowhere": lambda _: "tried, but then nothing was left for later requests",
}


def request_lines(story: NodeStory) -> Lines:
    """Yield the requests that cannot be satisfied even alone. Requests with the same checks and results are merged."""
    for of, others in alike(failing(story)):
        yield f"{words.capital(words.problem(of))}."
        if others:
            yield f"  The same holds for {words.requests(others)}."
        yield from indented(funnel_lines(of))


def failing(story: NodeStory) -> list[StoryRequest]:
    """Return the requests that cannot be satisfied even alone. Alternatives are included only if all of them fail."""
    stuck: dict[tuple[str, str], bool] = {}
    for of in story.requests:
        key = (of.claim.name, of.request.partition("/")[0])
        stuck[key] = stuck.get(key, True) and of.problem is not None
    return [of for of in story.requests if stuck[of.claim.name, of.request.partition("/")[0]]]


_NO_CLAIM = ClaimName(namespace="", name="")


def alike(requests: list[StoryRequest]) -> list[tuple[StoryRequest, list[StoryRequest]]]:
    """Return the requests in groups with the same checks and results.

    A group is its first request and a list of the others.
    """
    groups: dict[str, tuple[StoryRequest, list[StoryRequest]]] = {}
    for of in requests:
        same = str(replace(of, claim=_NO_CLAIM, request="", alternative=False))
        if same in groups:
            groups[same][1].append(of)
        else:
            groups[same] = (of, [])
    return list(groups.values())


def funnel_lines(of: StoryRequest | PassedAlternative) -> Lines:
    """Yield the number of devices on the node, the numbers that each check removes, and the number left."""
    width = len(str(of.devices)) + 1
    devices = f"{'device' if of.devices == 1 else 'devices'} on the node"
    yield f"{of.devices:>{width}}  {devices}{devices_spread(of)}"
    for each in of.removed:
        yield f"{'-' + str(each.count):>{width}}  {removed(each)}{removed_spread(each)}"
        yield from indented(finding_lines(each), width + 4)
    names = [str(device) for device in of.left_devices]
    more = [f"{of.left - len(names)} more"] if of.left > len(names) else []
    which = f": {words.listed([*names, *more], len(names) + 1)}" if names else ""
    yield f"{of.left:>{width}}  left{which}{left_spread(of)}"


def devices_spread(of: RequestDevices) -> str:
    """Return the number of devices on each node of the group as a range, or "" if the nodes do not differ."""
    return _on_these(words.devices_differ(of))


def left_spread(of: RequestDevices) -> str:
    """Return the number of devices left on each node of the group as a range, or "" if the nodes do not differ."""
    return _on_these(words.left_differs(of))


def _on_these(found: str) -> str:
    return f" ({found} on these nodes)" if found else ""


def removed_spread(removed: RemovedDevices) -> str:
    """Return the number of devices that a check removes on each node as a range, or "" if the nodes do not differ."""
    least, most = removed.count_from, removed.count_to
    return _on_these(f"{least} to {most}" if least != most else "")


def finding_lines(removed: RemovedDevices) -> Iterator[str]:
    """Yield the decisive parts of a selector, with the values that the devices have instead.

    Numbers of devices are left out if the parts describe several nodes.
    """
    findings = removed.selectors or []
    counted = sum(finding.count for finding in findings) <= removed.count
    for finding in findings:
        some = (
            f" on {words.counted(finding.count, 'device')}"
            if counted
            else " on some devices"
            if len(findings) > 1
            else ""
        )
        if finding.clause != removed.expression.strip():
            yield f"false{some}: {words.one_line(finding.clause)}"
        if finding.error:
            yield f"fails{some}: {finding.error}"
        for item in finding.found:
            yield from found_lines(item, counted=counted)
        for part in finding.computed:
            values = [
                f"{one.value} on {words.counted(one.count, 'device')}" if counted else one.value for one in part.values
            ]
            yield f"{words.one_line(part.part)} is {', '.join(values) if counted else alternatives(values)}"


def choice_lines(choices: list[ChosenDevice]) -> Lines:
    """Yield the chosen devices, by request."""
    for _, slots in groupby(choices, key=lambda choice: (choice.claim.name, choice.request)):
        yield from _of_request(list(slots))


def _of_request(slots: list[ChosenDevice]) -> Lines:
    what = words.capital(words.request(slots[0]))
    if len(slots) == 1:
        yield f"{what} gets {_device(slots[0])}."
    else:
        yield f"{what} gets {words.counted(len(slots), 'device')}:"
    for alternative in slots[0].alternatives_before:
        yield from indented(_not(alternative))
    for slot in slots:
        if len(slots) > 1:
            yield f"  {_device(slot)}"
        yield from indented(_passed(slot), 4 if len(slots) > 1 else 2)


def _device(slot: ChosenDevice) -> str:
    return str(slot.device) if slot.device else "nothing: there are no devices"


def _passed(slot: ChosenDevice) -> Lines:
    """Yield the devices checked before the chosen device, except those in other classes."""
    for passed in slot.passed_over:
        if passed.code != "selector-false" or not passed.class_:
            yield f"skipped {words.counted(passed.count, 'device')}: {removed(passed)}"


def _not(alternative: PassedAlternative) -> Lines:
    """Yield the reasons why an earlier alternative was not chosen."""
    what = f"alternative {alternative.request.rpartition('/')[2]}"
    if alternative.problem is None:
        yield f"skipped {what}: with it, not all other requests can be met"
        return
    yield f"skipped {what}, because {words.problem(alternative, 'it')}:"
    yield from indented(funnel_lines(alternative))


_STEPS = {
    "pool": "its pool is complete",
    "in-use": "free",
    "feature": "the feature gates that it needs are on",
    "selector": "selectors of the class and the request are true",
    "node": "usable on the node",
    "capacity": "enough capacity",
    "counter": "enough left of the counters",
    "taint": "taints tolerated",
    "constraint": "has the attributes that constraints compare",
}


def device_lines(of: DeviceStory) -> Iterator[str]:
    """Yield the result of every check for a device."""
    yield f"device {of.device} (slice {words.listed(of.slices)})"
    if not of.nodes:
        yield "  None of the selected nodes can use this device: its slice is for other nodes, or its pool is obsolete."
        return
    yield f"  Nodes that can use this device: {words.listed(of.nodes)}. The checks below are for node {of.nodes[0]}."
    if of.holders:
        claims = "claim" if len(of.holders) == 1 else "claims"
        yield f"  In use by {claims} {words.listed([words.holder(holder) for holder in of.holders])}."
    if of.pool is not None:
        yield f"  Its {words.unusable_pool(of.pool)}."
    for claim_set in of.claim_sets:
        for request in claim_set.requests:
            yield ""
            verdict = "could" if request.passes else "cannot"
            yield f"  {claim_set_name(claim_set)}: this device {verdict} be used for {words.request(request)}"
            for check in request.checks:
                yield from (f"    {line}" for line in _check_lines(check, of.device.device))


def _check_lines(check: DeviceCheck, device: str) -> Iterator[str]:
    if check.passed:
        yield f"yes  {_STEPS[check.step]}"
    elif check.code == "selector-false":
        yield f"NO   {words.selector(check.selector, check.class_)} is false"
    else:
        yield f"NO   {removed(check)}"
    for detail in check.details:
        yield from (f"       {line}" for line in _detail(detail, device))


def _detail(of: Detail, device: str) -> Iterator[str]:
    match of:
        case SelectorDetail():
            yield from _selector(of, device)
        case CapacityDetail():
            yield f"{of.capacity}: takes {of.need}; {of.left} of {of.total} free"
        case CounterDetail():
            yield f"{of.counter_set}/{of.counter}: takes {of.need}; {of.left} free"
        case TaintDetail():
            state = "tolerated" if of.tolerated else "not tolerated"
            yield f"{words.taint(of)}: {state if of.blocks else 'informs only'}"
        case ConstraintDetail():
            has = words.value(of.value) if of.value is not None else "missing"
            yield f"constraint #{of.constraint}: {of.attribute} is {has}"


def _selector(of: SelectorDetail, device: str) -> Iterator[str]:
    result = {True: "true", False: "false", None: "error"}[of.result]
    yield f"{words.selector(of.selector, of.class_)} is {result}: {of.expression}"
    for finding in of.selectors or ():
        if finding.clause != of.expression.strip():
            yield f"  {'fails' if finding.error else 'false'}: {finding.clause}"
        for item in finding.found:
            yield from (f"  {line}" for line in found_lines(item, device))


def devices_of(claims: Sequence[PlacedPodClaim]) -> str:
    """Return the devices that the claims get, by driver, with their number if there are many."""
    names: dict[str, list[str]] = {}
    for claim in claims:
        for result in claim.allocation.devices.results:
            names.setdefault(result.driver, []).append(result.device)
    return "; ".join(f"{driver}: {listed(ranges(found))}" for driver, found in names.items())
