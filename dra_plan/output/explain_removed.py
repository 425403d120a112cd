"""The wording of why devices were refused, and of what they have under the names that selectors read."""

from __future__ import annotations

from collections.abc import Callable

from dra_plan.api.go_text import allowed
from dra_plan.documents.clauses import FoundName
from dra_plan.documents.devices import DeviceCheck, PassedOver, RemovedDevices

from . import explain_words as words

Refused = RemovedDevices | PassedOver | DeviceCheck
"""What has the code of a device's reason, and the fields of that code."""


def removed(of: Refused) -> str:
    """Why devices were taken away, to stand behind their number."""
    return _REMOVED[of.code](of)


def _holders(of: Refused) -> list[str]:
    return [] if isinstance(of, DeviceCheck) else [words.holder(one) for one in of.holders]


def _in_use(of: Refused) -> str:
    holders, wanted = _holders(of), of.wanted if isinstance(of, RemovedDevices) else None
    if wanted == 0:
        return "in use (would not match anyway)"
    some = f", {wanted} of them otherwise suitable" if isinstance(of, RemovedDevices) and wanted != of.count else ""
    if not holders:
        return f"in use{some}"
    return f"in use{some}, by {'claim' if len(holders) == 1 else 'claims'} {words.listed(holders)}{_there(of)}"


def _shared_by(of: Refused) -> str:
    holders = _holders(of)
    return f" (used by {words.listed(holders)}{_there(of)})" if holders else ""


def _there(of: Refused) -> str:
    """Where the holders have the devices, if it is not the same on all nodes."""
    return f" on {of.holders_on}" if isinstance(of, RemovedDevices) and of.holders_on else ""


def _expression(of: Refused) -> str:
    """The expression, unless the parts of it that decide are told."""
    told = of.selectors if isinstance(of, RemovedDevices) else None
    whole = not told or any(finding.clause == of.expression.strip() for finding in told)
    return f": {words.one_line(of.expression)}" if whole else ""


def _published(of: Refused) -> str:
    return f"; there is {words.listed(of.published, 8)}" if isinstance(of, RemovedDevices) and of.published else ""


def _policy(of: Refused) -> str:
    """What was asked, what it is rounded to, and what the request policies allow; those of several devices differ."""
    asked, policies = (of.asked, of.policies) if isinstance(of, RemovedDevices) else ("", None)
    rounded = f", rounded to {of.amount}," if asked and asked != of.amount else ""
    allows = [allowed(policy, _values) for policy in policies or ()]
    told = f"; allowed is {words.listed(allows)}" if any(allows) else ""
    return f"capacity {of.capacity}: {asked or of.amount}{rounded} is against the request policy{told}"


def _values(names: list[str]) -> str:
    return words.listed(names, 10)


_REMOVED: dict[str, Callable[[Refused], str]] = {
    "pool-unusable": lambda of: f"in a pool that is {of.state}",
    "in-use": _in_use,
    "taken-already": lambda _: "taken already for this claim set",
    "binding-conditions-off": lambda _: "with binding conditions, and feature gate DRADeviceBindingConditions is off",
    "selector-false": lambda of: f"{words.selector(of.selector, of.class_)} is false{_expression(of)}",
    "selector-error": lambda of: f"{words.selector(of.selector, of.class_)} can't be evaluated: {of.error}",
    "other-node": lambda _: "on other nodes only",
    "capacity-missing": lambda of: f"capacity {of.capacity} is missing{_published(of)}",
    "capacity-policy": _policy,
    "capacity-short": lambda of: f"capacity {of.capacity}: {of.need} needed, {of.left} left{_shared_by(of)}",
    "counters-off": lambda _: "sharing counters, and feature gate DRAPartitionableDevices is off",
    "counter-short": lambda of: (
        f"counter {of.counter_set}/{of.counter}: {of.need} needed, {of.left} left{_shared_by(of)}"
    ),
    "not-tolerated": lambda of: f"taint {of.taint and words.taint(of.taint)} not tolerated",
    "attribute-missing": lambda of: f"without attribute {of.attribute}, which constraint #{of.constraint} compares",
    "attribute-differs": lambda of: (
        f"{of.attribute} is {words.value(of.offered)}, other than {words.value(of.pinned)} of the devices before"
    ),
    "attribute-repeats": lambda of: f"{of.attribute} is {words.value(of.offered)}, as on a device before",
    "led-nowhere": lambda _: "tried, but then nothing was left for what comes after",
}


def found(of: FoundName) -> list[str]:
    """What devices have under a name that a selector reads: one sentence, or two."""
    name = of.name if of.kind != "domain" else f'"{of.domain}" in device.attributes'
    table = "attribute" if of.kind != "capacity" else "capacity"
    if of.problem in ("missing", "unknown-domain", "wrong-domain", "wrong-kind"):
        return [_absent(of, table)]
    values = [f"{words.value(one.value)} on {one.count}" for one in of.values]
    if of.other_values:
        values.append(f"{of.other_values} other values")
    missing = [f"missing on {of.missing}"] if of.missing else []
    said = [f"{name} is {', '.join([*values, *missing])}"]
    if of.problem == "wrong-type":
        kinds = sorted({one.type for one in of.values})
        said.append(f"{name} is of type {words.listed(kinds)}, compared with {_a(of.hint)}: never equal")
    return said


def _a(kind: str | None) -> str:
    return f"an {kind}" if kind and kind[0] in "aeiou" else f"a {kind}"


def _absent(of: FoundName, table: str) -> str:
    meant = f"; did you mean {of.hint}?" if of.hint else ""
    if of.known:
        meant = f", which has {words.listed(of.known, 8)}"
    if of.problem == "wrong-kind":
        return f"no device has {table} {of.name} in domain {of.domain}; there it is {_a(of.hint)}"
    if of.problem == "wrong-domain":
        return f"no device has {table} {of.name} in domain {of.domain}; it is in domain {of.hint}"
    if of.problem == "unknown-domain":
        return f"no device has any {table} in domain {of.domain}{meant}"
    return f"no device has {table} {of.name} in domain {of.domain}{meant}"
