"""The wording of explanations: from the parts of an Explanation to short sentences. docs/style.md has the rules.

Nothing here knows of layout: text and markdown put the same sentences in their own order of lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Data = dict[str, Any]

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


def device(of: Data) -> str:
    """DRIVER/POOL/DEVICE."""
    return f"{of['driver']}/{of['pool']}/{of['device']}"


def pool(of: Data) -> str:
    """DRIVER/POOL."""
    return f"{of['driver']}/{of['pool']}"


def claim(of: Data) -> str:
    """NAMESPACE/NAME."""
    return f"{of['namespace']}/{of['name']}"


def request(of: Data) -> str:
    """`request gpu of claim train`."""
    kind, name = ("alternative", of["request"]) if "/" in of["request"] else ("request", of["request"])
    return f"{kind} {name} of claim {of['claim']['name']}"


def requests(of: list[Data]) -> str:
    """`requests a and b of claim train`; those of several claims one after the other."""
    by_claim: dict[str, list[str]] = {}
    for one in of:
        by_claim.setdefault(one["claim"]["name"], []).append(one["request"])
    said = [
        f"{'request' if len(names) == 1 else 'requests'} {listed(names, 8)} of claim {name}"
        for name, names in by_claim.items()
    ]
    return listed(said, 8)


def holder(of: Data) -> str:
    """A claim and the pods that use it."""
    if of.get("own"):
        return f"{claim(of)} (of this set itself)"
    pods = of.get("pods") or []
    return claim(of) + (f" ({'pod' if len(pods) == 1 else 'pods'} {listed(pods)})" if pods else "")


def taint(of: Data) -> str:
    """KEY=VALUE:EFFECT, as kubectl writes it."""
    value = f"={of['value']}" if of.get("value") else ""
    return f"{of['key']}{value}:{of['effect']}"


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


def selector(of: Data) -> str:
    """`selector of the request`, `selector #1 of class gpu`."""
    number = f" #{of['selector']}" if of["selector"] else ""
    whose = f"class {of['class']}" if of.get("class") else "the request"
    return f"selector{number} of {whose}"


# -- reasons -------------------------------------------------------------------------------------------------------


def removed(of: Data) -> str:
    """Why devices were taken away, to stand behind their number."""
    return _REMOVED[of["code"]](of)


def _in_use(of: Data) -> str:
    holders = [holder(one) for one in of.get("holders", ())]
    some = f", {of['wanted']} of them otherwise suitable" if 0 < of["wanted"] < of["count"] else ""
    if not of["wanted"]:
        return "in use, none of them suitable otherwise"
    return (
        f"in use{some}, by {'claim' if len(holders) == 1 else 'claims'} {listed(holders)}"
        if holders
        else f"in use{some}"
    )


def _shared_by(of: Data) -> str:
    holders = [holder(one) for one in of.get("holders", ())]
    return f" (used by {listed(holders)})" if holders else ""


def _expression(of: Data) -> str:
    """The expression, unless the parts of it that decide are told."""
    told = of.get("selectors") or []
    whole = not told or any(finding["clause"] == of["expression"].strip() for finding in told)
    return f": {one_line(of['expression'])}" if whole else ""


def _published(of: Data) -> str:
    return f"; there is {listed(of['published'], 8)}" if of.get("published") else ""


def _policy(of: Data) -> str:
    """What was asked, what it is rounded to, and what the request policies allow; those of several devices differ."""
    asked = of.get("asked", of["amount"])
    rounded = f", rounded to {of['amount']}," if asked != of["amount"] else ""
    allowed = [_allowed(policy) for policy in of.get("policies", ())]
    allows = f"; allowed is {listed(allowed)}" if any(allowed) else ""
    return f"capacity {of['capacity']}: {asked}{rounded} is against the request policy{allows}"


def _allowed(policy: Data) -> str:
    if policy.get("validValues"):
        return listed(policy["validValues"], 10)
    ends = policy.get("validRange", {})
    named = (("min", "from"), ("max", "to"), ("step", "in steps of"))
    return " ".join(f"{word} {ends[name]}" for name, word in named if name in ends)


_REMOVED: dict[str, Callable[[Data], str]] = {
    "pool-unusable": lambda of: f"in a pool that is {of['state']}",
    "in-use": _in_use,
    "taken-already": lambda _: "taken already for this claim set",
    "binding-conditions-off": lambda _: "with binding conditions, and feature gate DRADeviceBindingConditions is off",
    "selector-false": lambda of: f"{selector(of)} is false{_expression(of)}",
    "selector-error": lambda of: f"{selector(of)} can't be evaluated: {of['error']}",
    "other-node": lambda _: "on other nodes only",
    "capacity-missing": lambda of: f"capacity {of['capacity']} is missing{_published(of)}",
    "capacity-policy": _policy,
    "capacity-short": lambda of: f"capacity {of['capacity']}: {of['need']} needed, {of['left']} left{_shared_by(of)}",
    "counters-off": lambda _: "sharing counters, and feature gate DRAPartitionableDevices is off",
    "counter-short": lambda of: (
        f"counter {of['counterSet']}/{of['counter']}: {of['need']} needed, {of['left']} left{_shared_by(of)}"
    ),
    "not-tolerated": lambda of: f"taint {taint(of['taint'])} not tolerated",
    "attribute-missing": lambda of: (
        f"without attribute {of['attribute']}, which constraint #{of['constraint']} compares"
    ),
    "attribute-differs": lambda of: (
        f"{of['attribute']} is {value(of['offered'])}, other than {value(of['pinned'])} of the devices before"
    ),
    "attribute-repeats": lambda of: f"{of['attribute']} is {value(of['offered'])}, as on a device before",
    "led-nowhere": lambda _: "tried, but then nothing was left for what comes after",
}


def found(of: Data) -> list[str]:
    """What devices have under a name that a selector reads: one sentence, or two."""
    name = of["name"] if of["kind"] != "domain" else f'"{of["domain"]}" in device.attributes'
    table = "attribute" if of["kind"] != "capacity" else "capacity"
    if of["problem"] in ("missing", "unknown-domain", "wrong-domain", "wrong-kind"):
        return [_absent(of, table)]
    values = [f"{value(one['value'])} on {one['count']}" for one in of["values"]]
    if of["otherValues"]:
        values.append(f"{of['otherValues']} other values")
    missing = [f"missing on {of['missing']}"] if of["missing"] else []
    said = [f"{name} is {', '.join([*values, *missing])}"]
    if of["problem"] == "wrong-type":
        kinds = sorted({one["type"] for one in of["values"]})
        said.append(f"{name} is of type {listed(kinds)}, compared with {_a(of['hint'])}: never equal")
    return said


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _absent(of: Data, table: str) -> str:
    meant = f"; did you mean {of['hint']}?" if of.get("hint") else ""
    if of.get("known"):
        meant = f", which has {listed(of['known'], 8)}"
    if of["problem"] == "wrong-kind":
        return f"no device has {table} {of['name']} in domain {of['domain']}; there it is {_a(of['hint'])}"
    if of["problem"] == "wrong-domain":
        return f"no device has {table} {of['name']} in domain {of['domain']}; it is in domain {of['hint']}"
    if of["problem"] == "unknown-domain":
        return f"no device has any {table} in domain {of['domain']}{meant}"
    return f"no device has {table} {of['name']} in domain {of['domain']}{meant}"


def unusable_pool(of: Data) -> str:
    """A pool that is not looked at, and why."""
    devices = f"; {counted(of['devices'], 'device')} not looked at" if of["devices"] else ""
    slices = f" ({'slice' if len(of['slices']) == 1 else 'slices'} {listed(of['slices'])})" if of["slices"] else ""
    if of["code"] == "pool-incomplete":
        expected = counted(of["expected"], "slice")
        why = f"is incomplete: {of['seen']} of {expected} of generation {of['generation']}{slices}"
    elif of["code"] == "pool-invalid":
        why = f"is invalid: {of['problem']}{slices}"
    else:
        why = f"is obsolete here: generation {of['generation']}, newer is {of['supersededBy']}{slices}"
    return f"pool {pool(of['pool'])} {why}{devices}"


def problem(of: Data, what: str = "") -> str:
    """Why a request can't be met alone; `what` names it in other words."""
    what = what or request(of)
    on_class = f", class {of['class']}" if of.get("class") else ""
    if of["problem"] == "nothing-matches":
        return f"{what} wants all devices of its kind{on_class}; there are none"
    if of["problem"] == "all-not-free":
        return f"{what} wants all {of['need']} devices of its kind{on_class}; {of['left']} can be had"
    if of["problem"] == "too-many-devices":
        return f"{what} would get {of['need']} devices; a claim may have 32"
    left = "none" if of["left"] == 0 else f"only {of['left']}"
    return f"{what} needs {counted(of['need'], 'device')}{on_class}; {left} of {of['devices']} can be had"


def elements(of: list[Data]) -> list[str]:
    """The elements of a blocking set; requests with the same devices to choose from stand together if they are many."""
    alike: dict[str, list[Data]] = {}
    for one in of:
        same = {name: part for name, part in one.items() if one["kind"] != "request" or name != "request"}
        alike.setdefault(str(same), []).append(one)
    said = []
    for group in alike.values():
        if len(group) > NAMES:
            said.append(f"{requests(group)}{_passing(group[0], 'each needs')}")
        else:
            said += [element(one) for one in group]
    return said


def element(of: Data) -> str:
    """An element of a blocking set."""
    if of["kind"] == "request":
        return f"{request(of)}{_passing(of)}"
    if of["kind"] == "claim":
        return f"claim {holder(of['claim'])}, which has devices here"
    if of["kind"] == "counter":
        left = f" ({of['left']} left of {of['total']})" if "left" in of else ""
        return f"counter {of['counterSet']}/{of['counter']} of pool {pool(of['pool'])}{left}"
    among = f" among {listed(of['requests'], 8)}" if of["requests"] else ""
    rule = f"the same {of['matchAttribute']}" if "matchAttribute" in of else f"different {of['distinctAttribute']}"
    return f"constraint #{of['constraint']} of claim {of['claim']['name']}: {rule}{among}"


def _passing(of: Data, needs: str = "needs") -> str:
    if "left" not in of:
        return ""
    names = [device(one) for one in of["leftDevices"]]
    which = f"only {listed(names)}" if of["left"] == len(names) else f"{of['left']} devices"
    verb = "passes" if of["left"] == 1 else "pass"
    return f" ({needs} {of['need']}; {which} {verb} every check)"


def defect(of: Data) -> list[str]:
    """Known defects of the release, and what the answer would be without them."""
    said = []
    for one in of["defects"]:
        issue = f" (kubernetes#{one['issue']})" if one["issue"] else ""
        said.append(f"Known defect {one['id']}{issue}: {one['title']}.")
    without = f"Without {'it' if len(of['defects']) == 1 else 'them'}"
    said.append(f"{without} {_PROMISED[of['promised']]}.")
    return said


_PROMISED = {
    "Fits": "the claims would fit here",
    "DoesNotFit": "the claims would not fit here either, but that would not keep them from other nodes",
    "NodeError": "an error would reject only this node",
    "Error": "an error would end the attempt",
}
