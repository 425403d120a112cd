"""The wording of explanations: from the parts of an Explanation to short sentences. docs/style.md has the rules.

Nothing here knows of layout: text and markdown put the same sentences in their own order of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from dra_plan.api.resource import CapacityRequestPolicy, DeviceTaint, DeviceToleration
from dra_plan.documents.base import ClaimName, ObjectName, RequestName
from dra_plan.documents.clauses import FoundName
from dra_plan.documents.devices import ClaimHolder, DeviceCheck, PassedOver, RemovedDevices, TaintName
from dra_plan.documents.explanation import AbsentName, RequestDevices
from dra_plan.documents.reasons import (
    BlockingClaim,
    BlockingCounter,
    BlockingElement,
    BlockingRequest,
    OwedToDefects,
    UnusablePool,
)
from dra_plan.documents.suggestions import RequestChange

Refused = RemovedDevices | PassedOver | DeviceCheck
"""What has the code of a device's reason, and the fields of that code."""


NAMES = 3
"""Names that a sentence lists before it counts the rest."""


def counted(number: int, one: str, many: str = "") -> str:
    """`1 device`, `2 devices`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(names: list[str], most: int = NAMES) -> str:
    """`a`, `a and b`, `a, b, c and 4 more`."""
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(sentence: str, name: str = "") -> str:
    """The sentence with a capital first letter, unless it begins with the name, which stays as it is."""
    return sentence if name and sentence.startswith(f"{name} ") else sentence[:1].upper() + sentence[1:]


def ended(sentence: str) -> str:
    """The sentence with a full stop, unless it ends in a question."""
    return sentence if sentence.endswith("?") else f"{sentence}."


def claim(of: ClaimName | ClaimHolder | ObjectName) -> str:
    """NAMESPACE/NAME."""
    return f"{of.namespace}/{of.name}"


def request(of: RequestName | RequestChange) -> str:
    """`request gpu of claim train`."""
    return request_of(of.claim, of.request)


def request_of(claim: ClaimName, name: str) -> str:
    """The same, of the claim and the request's name."""
    return f"{'alternative' if '/' in name else 'request'} {name} of claim {claim.name}"


def requests(of: Sequence[RequestName]) -> str:
    """`requests a and b of claim train`; those of several claims one after the other."""
    by_claim: dict[str, list[str]] = {}
    for one in of:
        by_claim.setdefault(one.claim.name, []).append(one.request)
    said = [
        f"{'request' if len(names) == 1 else 'requests'} {listed(names, 8)} of claim {name}"
        for name, names in by_claim.items()
    ]
    return listed(said, 8)


def holder(of: ClaimHolder) -> str:
    """A claim and the pods that use it."""
    if of.own:
        return f"{claim(of)} (of this set itself)"
    return used_claim(of, of.pods)


def used_claim(of: ClaimName | ClaimHolder, pods: list[str]) -> str:
    """A claim, and pods that use it if there are any."""
    return claim(of) + (f" ({'pod' if len(pods) == 1 else 'pods'} {listed(pods)})" if pods else "")


def user(of: ObjectName) -> str:
    """`claim ml/train`, `template ml/train`."""
    return f"{'template' if of.kind.endswith('Template') else 'claim'} {claim(of)}"


def absent(of: AbsentName) -> str:
    """A value that no device of the cluster has, and those that there are."""
    there = [f"{value(one.value)} on {one.count}" for one in of.values]
    others = [f"{of.other_values} other values"] if of.other_values else []
    name = "driver" if of.kind == "driver" else of.name
    whose = f"the selector of class {of.class_}" if of.class_ else f"the selector of {request(of)}"
    return (
        f"No device on any node has {name} {value(of.wanted)}, which {whose} asks for;"
        f" there is {', '.join([*there, *others])}."
    )


def taint(of: TaintName | DeviceTaint | DeviceToleration) -> str:
    """KEY=VALUE:EFFECT, as kubectl writes it."""
    return f"{of.key}{f'={of.value}' if of.value else ''}:{of.effect}"


def value(of: Any) -> str:
    """A value as CEL would write it."""
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, list):
        return f"[{', '.join(value(item) for item in of)}]"
    return f'"{of}"' if isinstance(of, str) else str(of)


def one_line(expression: str) -> str:
    """An expression without its line breaks, for reading only."""
    return " ".join(expression.split())


def selector(position: int | None, class_name: str | None) -> str:
    """`selector of the request`, `selector #1 of class gpu`."""
    number = f" #{position}" if position else ""
    return f"selector{number} of {f'class {class_name}' if class_name else 'the request'}"


# -- reasons -------------------------------------------------------------------------------------------------------


def removed(of: Refused) -> str:
    """Why devices were taken away, to stand behind their number."""
    return _REMOVED[of.code](of)


def _holders(of: Refused) -> list[str]:
    return [] if isinstance(of, DeviceCheck) else [holder(one) for one in of.holders]


def _in_use(of: Refused) -> str:
    holders, wanted = _holders(of), of.wanted if isinstance(of, RemovedDevices) else None
    if wanted == 0:
        return "in use (would not match anyway)"
    some = f", {wanted} of them otherwise suitable" if isinstance(of, RemovedDevices) and wanted != of.count else ""
    if not holders:
        return f"in use{some}"
    return f"in use{some}, by {'claim' if len(holders) == 1 else 'claims'} {listed(holders)}"


def _shared_by(of: Refused) -> str:
    holders = _holders(of)
    return f" (used by {listed(holders)})" if holders else ""


def _expression(of: Refused) -> str:
    """The expression, unless the parts of it that decide are told."""
    told = of.selectors if isinstance(of, RemovedDevices) else None
    whole = not told or any(finding.clause == of.expression.strip() for finding in told)
    return f": {one_line(of.expression)}" if whole else ""


def _published(of: Refused) -> str:
    return f"; there is {listed(of.published, 8)}" if isinstance(of, RemovedDevices) and of.published else ""


def _policy(of: Refused) -> str:
    """What was asked, what it is rounded to, and what the request policies allow; those of several devices differ."""
    asked, policies = (of.asked, of.policies) if isinstance(of, RemovedDevices) else ("", None)
    rounded = f", rounded to {of.amount}," if asked and asked != of.amount else ""
    allowed = [_allowed(policy) for policy in policies or ()]
    allows = f"; allowed is {listed(allowed)}" if any(allowed) else ""
    return f"capacity {of.capacity}: {asked or of.amount}{rounded} is against the request policy{allows}"


def _allowed(policy: CapacityRequestPolicy) -> str:
    if policy.valid_values:
        return listed([str(value) for value in policy.valid_values], 10)
    if policy.valid_range is None:
        return ""
    ends = (("from", policy.valid_range.min), ("to", policy.valid_range.max), ("in steps of", policy.valid_range.step))
    return " ".join(f"{word} {end}" for word, end in ends if end is not None)


_REMOVED: dict[str, Callable[[Refused], str]] = {
    "pool-unusable": lambda of: f"in a pool that is {of.state}",
    "in-use": _in_use,
    "taken-already": lambda _: "taken already for this claim set",
    "binding-conditions-off": lambda _: "with binding conditions, and feature gate DRADeviceBindingConditions is off",
    "selector-false": lambda of: f"{selector(of.selector, of.class_)} is false{_expression(of)}",
    "selector-error": lambda of: f"{selector(of.selector, of.class_)} can't be evaluated: {of.error}",
    "other-node": lambda _: "on other nodes only",
    "capacity-missing": lambda of: f"capacity {of.capacity} is missing{_published(of)}",
    "capacity-policy": _policy,
    "capacity-short": lambda of: f"capacity {of.capacity}: {of.need} needed, {of.left} left{_shared_by(of)}",
    "counters-off": lambda _: "sharing counters, and feature gate DRAPartitionableDevices is off",
    "counter-short": lambda of: (
        f"counter {of.counter_set}/{of.counter}: {of.need} needed, {of.left} left{_shared_by(of)}"
    ),
    "not-tolerated": lambda of: f"taint {of.taint and taint(of.taint)} not tolerated",
    "attribute-missing": lambda of: f"without attribute {of.attribute}, which constraint #{of.constraint} compares",
    "attribute-differs": lambda of: (
        f"{of.attribute} is {value(of.offered)}, other than {value(of.pinned)} of the devices before"
    ),
    "attribute-repeats": lambda of: f"{of.attribute} is {value(of.offered)}, as on a device before",
    "led-nowhere": lambda _: "tried, but then nothing was left for what comes after",
}


def found(of: FoundName) -> list[str]:
    """What devices have under a name that a selector reads: one sentence, or two."""
    name = of.name if of.kind != "domain" else f'"{of.domain}" in device.attributes'
    table = "attribute" if of.kind != "capacity" else "capacity"
    if of.problem in ("missing", "unknown-domain", "wrong-domain", "wrong-kind"):
        return [_absent(of, table)]
    values = [f"{value(one.value)} on {one.count}" for one in of.values]
    if of.other_values:
        values.append(f"{of.other_values} other values")
    missing = [f"missing on {of.missing}"] if of.missing else []
    said = [f"{name} is {', '.join([*values, *missing])}"]
    if of.problem == "wrong-type":
        kinds = sorted({one.type for one in of.values})
        said.append(f"{name} is of type {listed(kinds)}, compared with {_a(of.hint)}: never equal")
    return said


def _a(kind: str | None) -> str:
    return f"an {kind}" if kind and kind[0] in "aeiou" else f"a {kind}"


def _absent(of: FoundName, table: str) -> str:
    meant = f"; did you mean {of.hint}?" if of.hint else ""
    if of.known:
        meant = f", which has {listed(of.known, 8)}"
    if of.problem == "wrong-kind":
        return f"no device has {table} {of.name} in domain {of.domain}; there it is {_a(of.hint)}"
    if of.problem == "wrong-domain":
        return f"no device has {table} {of.name} in domain {of.domain}; it is in domain {of.hint}"
    if of.problem == "unknown-domain":
        return f"no device has any {table} in domain {of.domain}{meant}"
    return f"no device has {table} {of.name} in domain {of.domain}{meant}"


def unusable_pool(of: UnusablePool) -> str:
    """A pool that is not looked at, and why."""
    devices = f"; {counted(of.devices, 'device')} not looked at" if of.devices else ""
    slices = f" ({'slice' if len(of.slices) == 1 else 'slices'} {listed(of.slices)})" if of.slices else ""
    if of.code == "pool-incomplete":
        expected = counted(of.expected or 0, "slice")
        why = f"is incomplete: {of.seen} of {expected} of generation {of.generation}{slices}"
    elif of.code == "pool-invalid":
        why = f"is invalid: {of.problem}{slices}"
    else:
        why = f"is obsolete here: generation {of.generation}, newer is {of.superseded_by}{slices}"
    return f"pool {of.pool} {why}{devices}"


def problem(of: RequestDevices, what: str = "") -> str:
    """Why a request can't be met alone; `what` names it in other words."""
    what = what or request(of)
    on_class = f", class {of.class_}" if of.class_ else ""
    if of.problem == "nothing-matches":
        return f"{what} wants all devices of its kind{on_class}; there are none"
    if of.problem == "all-not-free":
        return f"{what} wants all {of.need} devices of its kind{on_class}; {_available(str(of.left), of.left or 2)}"
    if of.problem == "too-many-devices":
        return f"{what} would get {of.need} devices; a claim may have 32"
    left = "none" if of.left == 0 else f"only {of.left}"
    return f"{what} needs {counted(of.need, 'device')}{on_class}; {_available(f'{left} of {of.devices}', of.left)}"


def _available(number: str, left: int) -> str:
    return f"{number} {'is' if left < 2 else 'are'} available"


def elements(of: Sequence[BlockingElement]) -> list[str]:
    """The elements of a blocking set; requests with the same devices to choose from stand together if they are many."""
    alike: dict[str, list[BlockingElement]] = {}
    for one in of:
        same = replace(one, request="") if isinstance(one, BlockingRequest) else one
        alike.setdefault(str(same), []).append(one)
    said = []
    for group in alike.values():
        several = [one for one in group if isinstance(one, BlockingRequest)]
        if len(several) > NAMES:
            said.append(f"{requests(several)}{_passing(several[0], 'each needs')}")
        else:
            said += [element(one) for one in group]
    return said


def element(of: BlockingElement) -> str:
    """An element of a blocking set."""
    if isinstance(of, BlockingRequest):
        return f"{request(of)}{_passing(of)}"
    if isinstance(of, BlockingClaim):
        return f"claim {holder(of.claim)}, which has devices here"
    if isinstance(of, BlockingCounter):
        left = f" ({of.left} left of {of.total})" if of.left else ""
        return f"counter {of.counter_set}/{of.counter} of pool {of.pool}{left}"
    among = f" among {listed(of.requests, 8)}" if of.requests else ""
    rule = f"different {of.distinct_attribute}" if of.match_attribute is None else f"the same {of.match_attribute}"
    return f"constraint #{of.constraint} of claim {of.claim.name}: {rule}{among}"


def _passing(of: BlockingRequest, needs: str = "needs") -> str:
    if of.left_devices is None:
        return ""
    names = [str(one) for one in of.left_devices]
    which = f"only {listed(names)}" if of.left == len(names) else f"{of.left} devices"
    verb = "passes" if of.left == 1 else "pass"
    return f" ({needs} {of.need}; {which} {verb} every check)"


def defect(of: OwedToDefects) -> list[str]:
    """Known defects of the release, and what the answer would be without them."""
    said = []
    for one in of.defects:
        issue = f" (kubernetes#{one.issue})" if one.issue else ""
        said.append(f"Known defect {one.id}{issue}: {one.title}.")
    without = f"Without {'it' if len(of.defects) == 1 else 'them'}"
    said.append(f"{without} {_PROMISED[of.promised]}.")
    return said


_PROMISED = {
    "Fits": "the claims would fit here",
    "DoesNotFit": "the claims would not fit here either, but that would not keep them from other nodes",
    "NodeError": "an error would reject only this node",
    "Error": "an error would end the attempt",
}
