"""The wording of explanations: the parts of an Explanation as short sentences (docs/internals/style.md).

Text and Markdown show the same sentences in different layouts.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from dra_plan import wording
from dra_plan.api.core import Taint
from dra_plan.api.quantity import parse
from dra_plan.api.resource import DeviceTaint, DeviceToleration
from dra_plan.documents.base import ClaimName, ObjectName, RequestName, ServedResource
from dra_plan.documents.claim_changes import RequestChange
from dra_plan.documents.devices import ClaimHolder, TaintName
from dra_plan.documents.reasons import CompetingRequest, LeadingReason, OwedToDefects, UnusablePool
from dra_plan.documents.stories import AbsentName, RequestDevices, StoryRequest
from dra_plan.wording import NAMES, listed, value

__all__ = ["NAMES", "listed", "value"]


CHANGES = {
    "FewerNodes": "Fewer nodes",
    "MoreNodes": "More nodes",
    "OtherNodes": "Other nodes",
    "OtherNode": "Other node",
    "OtherDevices": "Other devices",
    "OtherAllocation": "Other allocation",
    "OtherMessage": "Other reason",
}
"""The wording of changes between two states. Changes that are not listed are shown as they are."""


_HOUR, _DAY = 3600, 86400


def when(second: float, time: str = "") -> str:
    """Return when something happens, such as `at once` or `after 30 s`.

    After an hour or more, the text also contains the date and time, if known.
    """
    if second < _HOUR:
        return f"after {second:,.1f}".removesuffix(".0") + " s" if second else "at once"
    if not time:
        return f"after {_long(second)}"
    return f"on {time[:10]} {time[11:16]} UTC, {_long(second)} after the newest object of the input"


def span(second: float, time: str = "") -> str:
    """Return how long something takes, such as `30 s`.

    For an hour or more, the text also contains the date and time at which it ends, if known.
    """
    if second < _HOUR:
        return f"{second:g} s"
    return f"{_long(second)}{f' ({time[:10]} {time[11:16]} UTC)' if time else ''}"


def _long(second: float) -> str:
    """Return a long time in two units: `14 days 21 h`, `2 h 5 min`."""
    days, rest = divmod(int(second), _DAY)
    hours, minutes = rest // _HOUR, rest % _HOUR // 60
    if days:
        return f"{counted(days, 'day')}{f' {hours} h' if hours else ''}"
    return f"{hours} h{f' {minutes} min' if minutes else ''}"


KEPT = {
    "NoController": "without a controller",
    "HigherPriority": "with a higher priority",
    "DisruptionBudget": "protected by a PodDisruptionBudget",
    "SharedClaim": "sharing a claim with other pods",
    "SharedDevices": "using devices that several nodes can reach",
    "PodGroup": "in a pod group",
    "OtherScheduler": "with another scheduler",
    "Leaving": "being deleted",
}


def fits(who: str) -> str:
    """Return "fit" if the subject is plural, and otherwise "fits"."""
    return "fit" if who.endswith("s") else "fits"


BARE_PODS = "Pods without a controller have to be deleted and recreated: nothing does that for you."
"""Advice about pods that have to move but are not recreated by a controller."""


def kept_pods(reason: str, number: int) -> str:
    """Return the number of pods that are not moved, and the reason."""
    if reason in ("DaemonSet", "Static"):
        return counted(number, "DaemonSet pod" if reason == "DaemonSet" else "static pod")
    return f"{counted(number, 'pod')} {KEPT[reason]}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return the number and the noun, such as `1 device` or `3,268 devices`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


UNKNOWN = "the input lacks the objects needed to decide this"
"""The reason that is shown if the input lacks the deciding objects."""


def capital(sentence: str, name: str = "") -> str:
    """Return the sentence with a capital first letter, or unchanged if it starts with `name`."""
    return sentence if name and sentence.startswith(f"{name} ") else sentence[:1].upper() + sentence[1:]


def scheduler_says(message: str) -> str:
    """Return the scheduler's message, marked as a quotation."""
    return f"The scheduler says: {message}"


def class_selector(name: str) -> str:
    """Return `the selector of class NAME`."""
    return f"the selector of class {name}"


def ended(sentence: str) -> str:
    """Return the sentence with a full stop, unless it ends with a question mark."""
    return sentence if sentence.endswith("?") else f"{sentence}."


def claim(of: ClaimName | ClaimHolder | ObjectName) -> str:
    """Return the claim as NAMESPACE/NAME."""
    return f"{of.namespace}/{of.name}"


def request(of: RequestName | RequestChange) -> str:
    """Return a phrase that identifies a request, such as `request gpu of claim train`."""
    return request_of(of.claim, of.request)


def competing(of: CompetingRequest) -> str:
    """Return a phrase that identifies a request, or the extended resource for which the scheduler created it."""
    if of.serves is None:
        return request(of)
    containers = f"container{'s' if len(of.serves.containers) > 1 else ''} {listed(of.serves.containers)}"
    return f"{asked_amount(of.serves)} of {containers}, which class {of.serves.class_} serves"


def asked_amount(of: ServedResource) -> str:
    """Return the amount of an extended resource, as in `nvidia.com/gpu=1`."""
    return f"{of.resource}={of.amount}"


def request_of(claim: ClaimName, name: str) -> str:
    """Return a phrase that identifies a claim's request by its name, such as `request gpu of claim train`."""
    return f"{'alternative' if '/' in name else 'request'} {name} of {asking(claim)}"


def asking(claim: ClaimName) -> str:
    """Return a phrase that identifies a claim or the template to change, such as `claim train` or `template train`."""
    if claim.is_template_absent:
        return f"template {claim.namespace}/{claim.template} (not in the input)"
    return f"template {claim.template}" if claim.template is not UNSET else f"claim {claim.name}"


def requests(of: Sequence[RequestName]) -> str:
    """Return a phrase that identifies several requests, such as `requests a and b of claim train`."""
    by_claim: dict[str, list[str]] = {}
    for one in of:
        by_claim.setdefault(one.claim.name, []).append(one.request)
    said = [
        f"{'request' if len(names) == 1 else 'requests'} {listed(names, 8)} of claim {name}"
        for name, names in by_claim.items()
    ]
    return listed(said, 8)


def holder(of: ClaimHolder) -> str:
    """Return a claim and the pods that use it."""
    if of.own:
        return f"{claim(of)} (requested here too)"
    if of.finished:
        return f"{claim(of)} (its pods have finished)"
    return used_claim(of, [f"{pod}, which is being deleted" if pod in of.leaving else pod for pod in of.pods])


def used_claim(of: ClaimName | ClaimHolder, pods: list[str]) -> str:
    """Return the claim, followed by the names of the pods that use it, if any."""
    return claim(of) + (f" ({'pod' if len(pods) == 1 else 'pods'} {listed(pods)})" if pods else "")


def released(of: ClaimName, pods: list[str]) -> str:
    """Return a claim to release, followed by the pods that use it, if any.

    The text has no parentheses, because the text that follows has some.
    """
    return claim(of) + (f", held by {'pod' if len(pods) == 1 else 'pods'} {listed(pods)}" if pods else "")


def user(of: ObjectName) -> str:
    """Return the kind and name of a claim or template, such as `claim ml/train` or `template ml/train`."""
    return f"{'template' if of.kind.endswith('Template') else 'claim'} {claim(of)}"


def absent(of: AbsentName) -> str:
    """Return a sentence about a required value that no device has, with the values that devices have instead."""
    there = wording.values(((one.value, one.count) for one in of.values), of.other_values)
    name = "driver" if of.kind == "driver" else of.name
    whose = class_selector(of.class_) if of.class_ else f"the selector in {request(of)}"
    said = f"No device on any node has {name} {value(of.wanted)}, which {whose} requires; found: {', '.join(there)}."
    return (
        f"{said} Check that this driver runs on the nodes, and whether it was renamed." if of.kind == "driver" else said
    )


def taint(of: Taint | TaintName | DeviceTaint | DeviceToleration) -> str:
    """Return a taint as KEY=VALUE:EFFECT, as in kubectl."""
    return f"{of.key}{f'={of.value}' if of.value else ''}:{of.effect}"


def one_line(expression: str) -> str:
    """Return an expression on one line, for display only."""
    return " ".join(expression.split())


def in_brackets(message: str) -> str:
    """Return a message on one line and in brackets, as part of a sentence, or "" if the message is empty."""
    return f" ({one_line(message).rstrip('.')})" if message else ""


def selector(position: int | None, class_name: str | None) -> str:
    """Return a phrase that identifies a selector, such as `selector of the request` or `selector #1 of class gpu`."""
    number = f" #{position}" if position else ""
    return f"selector{number} of {f'class {class_name}' if class_name else 'the request'}"


def unusable_pool(of: UnusablePool) -> str:
    """Return a phrase about a skipped pool, with the reason."""
    devices = f"; {counted(of.devices, 'device')} not checked" if of.devices else ""
    slices = f" ({'slice' if len(of.slices) == 1 else 'slices'} {listed(of.slices)})" if of.slices else ""
    if of.code == "devices-with-counters":
        have = f"slice {of.slices[0]} has" if len(of.slices) == 1 else f"slices {listed(of.slices)} have"
        return (
            f"{have} both devices and sharedCounters, which this release does not accept in one slice:"
            f" {counted(of.devices, 'device')} not used. Move the sharedCounters to another slice of the pool"
        )
    if of.counts:
        return (
            f"pool {of.pool} is never complete: its slices contradict each other about resourceSliceCount"
            f" ({listed(list(map(str, of.counts)))}){devices}"
        )
    if of.code == "pool-incomplete":
        if of.seen is not None and of.expected is not None and of.seen >= of.expected:
            is_are = "is" if of.seen == 1 else "are"
            why = f"{of.seen} {is_are} in the input, of generation {of.generation}{slices}"
            return f"pool {of.pool} is never complete: resourceSliceCount is {of.expected}, and {why}{devices}"
        expected = counted(of.expected or 0, "slice")
        why = f"is incomplete: the input has {of.seen} of {expected} of generation {of.generation}{slices}"
    elif of.code == "pool-invalid":
        why = f"is invalid: {of.problem}{f' (did you mean {of.hint}?)' if of.hint else ''}{slices}"
    else:
        why = (
            f"is obsolete on this node: generation {of.generation}; the newest generation is {of.superseded_by}{slices}"
        )
    return f"pool {of.pool} {why}{devices}"


def problem(of: RequestDevices, what: str = "") -> str:
    """Return why a request cannot be satisfied even alone. `what`, if given, replaces the name of the request."""
    what = what or request(of)
    on_class = f" of class {of.class_}" if of.class_ else ""
    if of.problem == "nothing-matches":
        return f"{what} asks for all devices{on_class}; there are none"
    if of.problem == "all-not-free":
        number = f"{of.need} " if devices_differ(of) == "" else ""
        left = _differing(of) or _available(str(of.left), of.left or 2)
        return f"{what} asks for all {number}devices{on_class}; {left}"
    if of.problem == "too-many-devices":
        return f"{what} would get {of.need} devices, but a claim can have at most 32"
    matches = bool(of.removed) and all(each.step == "selector" for each in of.removed)
    is_are = ("matches", "match") if matches else ("is available", "are available")
    left = _differing(of, *is_are)
    if not left and of.left == of.devices:
        left = f"the node has {f'only {of.left}' if of.left else 'none'}"
    return f"{what} needs {counted(of.need, 'device')}{on_class}; {left or _left(of.left, of.devices, *is_are)}"


def devices_differ(of: RequestDevices) -> str:
    """Return the number of devices on the nodes of a group as a range, or "" if the nodes do not differ."""
    return _range(of.devices_from, of.devices_to) if isinstance(of, StoryRequest) else ""


def left_differs(of: RequestDevices) -> str:
    """Return the number of devices left on the nodes of a group as a range, or "" if the nodes do not differ."""
    return _range(of.left_from, of.left_to) if isinstance(of, StoryRequest) else ""


def _range(least: int, most: int) -> str:
    return f"{least} to {most}" if least != most else ""


def _differing(of: RequestDevices, one: str = "is available", several: str = "are available") -> str:
    """Return the number of devices left on nodes that differ; "" if they do not."""
    devices, left = devices_differ(of), left_differs(of)
    if left and left == devices:
        return f"the nodes have {left}"
    if left:
        return f"{left} of {devices or of.devices} {several}"
    if not devices:
        return ""
    return f"only {of.left} {one if of.left == 1 else several}" if of.left else f"no device {one}"


def _left(left: int, devices: int, one: str = "is available", several: str = "are available") -> str:
    """Return the number of devices that are left or match."""
    if left:
        return f"only {left} of {devices} {one if left == 1 else several}"
    if devices == 1:
        return f"the only device {one.replace('is ', 'is not ').replace('matches', 'does not match')}"
    return f"{'neither' if devices == 2 else 'none'} of the {devices} devices {one}"


def _available(number: str, left: int) -> str:
    return f"{number} {'is' if left < 2 else 'are'} available"


def defect(of: OwedToDefects) -> list[str]:
    """Return lines about the known defects that cause a result, and the result without them."""
    said = []
    for one in of.defects:
        issue = f" (kubernetes#{one.issue})" if one.issue else ""
        said.append(f"Known defect {one.id}{issue}: {one.title}.")
    without = "Even without" if of.promised == "DoesNotFit" else "Without"
    defects = "this defect" if len(of.defects) == 1 else "these defects"
    said.append(f"{without} {defects}, {_PROMISED[of.promised]}.")
    return said


_PROMISED = {
    "Fits": "the claims would fit here",
    "DoesNotFit": "the claims would not fit here, but other nodes would not be affected",
    "NodeError": "an error would reject only this node",
    "Error": "the scheduler would stop with an error",
}


MOST = 6
"""The maximum number of reasons in one line."""


def summary(reasons: Sequence[LeadingReason]) -> str:
    """Return a line about many nodes, with the number of nodes for each reason.

    For example, `817 nodes: constraint on pcieRoot (571), too few free devices (246).`.
    """
    total = sum(reason.nodes for reason in reasons)
    if len(reasons) == 1:
        return f"{counted(total, 'node')}: {phrase(reasons[0])}."
    told = [f"{phrase(reason)} ({reason.nodes})" for reason in reasons[:MOST]]
    rest = sum(reason.nodes for reason in reasons[MOST:])
    told += [f"other reasons ({rest})"] if rest else []
    return f"{counted(total, 'node')}: {', '.join(told)}."


def cell(reason: LeadingReason) -> str:
    """Return a short description of a reason, with the amounts needed and free."""
    if reason.need is None or reason.left is None or reason.left >= reason.need:
        return phrase(reason)
    if reason.left_from is not None:
        number = f"at most {reason.left} of {reason.need}"
    elif reason.need_from is not None:
        number = f"{reason.left} of {reason.need_from} to {reason.need_to}"
    else:
        number = f"{reason.left} of {reason.need}"
    return f"{phrase(reason)} ({number} for {reason.request})"


def phrase(reason: LeadingReason) -> str:
    """Return a few words that describe a reason."""
    name = reason.name
    if reason.pool is not None:
        which = f"invalid pool{'s, such as' if reason.nodes > 1 else ''} {reason.pool}: {name}"
        return f"{which}{f' (did you mean {reason.hint}?)' if reason.hint else ''}"
    if reason.code == "not-together":
        return f"constraint on {name.rpartition('/')[2]}" if name else "requests conflict"
    if reason.class_:
        return f"not of class {reason.class_}"
    if reason.code == "claim-elsewhere":
        return f"claim {name} allocated elsewhere"
    if reason.code in _NAMED and name:
        return f"{_NAMED[reason.code]} {name}"
    return _PLAIN.get(reason.code, reason.code.replace("-", " "))


_NAMED = {
    "selector-error": "selector fails on",
    "capacity-missing": "no capacity",
    "capacity-policy": "policy of capacity",
    "capacity-short": "capacity",
    "counter-short": "counter",
    "not-tolerated": "taint",
    "attribute-missing": "no attribute",
    "class-missing": "no class",
    "selector-false": "selector on",
}


_PLAIN = {
    "in-use": "too few free devices",
    "selector-false": "selector",
    "too-few-devices": "too few devices",
    "nothing-matches": "no such device",
    "pool-unusable": "pool not complete",
    "no-devices": "no devices",
    "too-many-devices": "more than 32 devices",
    "other-node": "devices of other nodes",
    "class-missing": "class missing",
}


NOT_MADE = "nothing recreates it"


BYTES = ("memory", "ephemeral-storage", "hugepages-", "storage")
"""The resources, or the beginnings of their names, whose amounts are shown in units of bytes."""

_UNITS = {
    **{unit: 1 << 10 * power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi"), start=1)},
    **{unit: 1000**power for power, unit in enumerate("kMGTP", start=1)},
}
"""The units of bytes, and what one of each is."""

_LONG = 6
"""The number of digits from which an amount is rounded."""

_NANO = 10**9


def amount(resource: str, needed: str, amount: str) -> str:
    """Return an amount in the unit that `need` chooses for the needed amount.

    For example, `7.5Gi` is shown next to `12Gi`, and `24.88` cores next to `40`. Bytes are rounded down. Other amounts,
    and amounts that would be rounded to zero, do not change.
    """
    if resource == "cpu" and needed.isdecimal() and amount.endswith("m"):
        return f"{int(amount[:-1]) / 1000:.3f}".rstrip("0").rstrip(".")
    unit = _unit(resource, needed)
    if unit is None or amount.endswith(unit):
        return amount
    return _tenths(parse(amount).nano * 10 // (_UNITS[unit] * _NANO), unit) or amount


def need(resource: str, needed: str) -> str:
    """Return a needed amount. Bytes with many digits are given in a larger unit and rounded up to a tenth.

    Because it is rounded up, the amount stays greater than smaller amounts in the same unit.
    """
    unit = _unit(resource, needed)
    if unit is None or needed.endswith(unit):
        return needed
    return _tenths(-(-parse(needed).nano * 10 // (_UNITS[unit] * _NANO)), unit)


def _unit(resource: str, amount: str) -> str | None:
    """Return the unit of an amount of bytes; of one with many digits, the largest binary unit that it has one of."""
    digits = amount.rstrip("KkMGTPi")
    unit = amount[len(digits) :]
    if not resource.startswith(BYTES) or not digits.isdecimal():
        return None
    if len(digits) < _LONG:
        return unit if unit in _UNITS else None
    number = int(digits) * _UNITS.get(unit, 1)
    return max((each for each in _UNITS if each.endswith("i") and _UNITS[each] <= number), key=_UNITS.__getitem__)


def _tenths(number: int, unit: str) -> str:
    whole, tenth = divmod(number, 10)
    return f"{whole}{f'.{tenth}' if tenth else ''}{unit}" if number else ""
