"""The wording of obstacles and errors."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from dra_plan import wording
from dra_plan.documents.reasons import (
    AttemptFault,
    BlockingClaim,
    BlockingConstraint,
    BlockingCounter,
    BlockingElement,
    BlockingRequest,
    CompetingRequest,
    MetValues,
    NotTogether,
    SeenCounterSet,
    Shortage,
)
from dra_plan.text import columns, words
from dra_plan.text.columns import Lines, Verbatim, indented
from dra_plan.text.placed import unready_sentence
from dra_plan.text.words import scheduler_says


def lines(of: NotTogether) -> Lines:
    """Yield the requests, constraints and claims that conflict, with details, and the amounts that are too small."""
    for said, below in _told(of.elements):
        yield f"- {said}"
        yield from indented(below, 4)
    yield from (f"{shortage(short)}." for short in of.shortages)


def _told(of: Sequence[BlockingElement]) -> Iterator[tuple[str, list[str]]]:
    """Yield each element and the lines below it.

    Many requests with the same candidate devices are grouped, and so are the counters in one set.
    """
    alike: dict[str, list[BlockingElement]] = {}
    for one in of:
        alike.setdefault(_kind(one), []).append(one)
    for group in alike.values():
        several = [one for one in group if isinstance(one, BlockingRequest)]
        counters = [one for one in group if isinstance(one, BlockingCounter)]
        if len(several) > words.NAMES:
            yield f"{words.requests(several)}{_passing(several[0], 'each needs')}", []
        elif len(counters) > words.NAMES:
            names = words.listed([one.counter for one in counters])
            yield f"counters {names} of counter set {counters[0].counter_set}, pool {counters[0].pool}", []
        else:
            yield from ((element(one), _values(one)) for one in group)


def _kind(of: BlockingElement) -> str:
    if isinstance(of, BlockingCounter):
        return f"{of.pool} {of.counter_set}"
    return str(replace(of, request="") if isinstance(of, BlockingRequest) else of)


def _values(of: BlockingElement) -> list[str]:
    """Return the values that meet at a constraint, by request."""
    if not isinstance(of, BlockingConstraint):
        return []
    attribute = (of.match_attribute or of.distinct_attribute or "").rpartition("/")[2]
    said = []
    for met in of.values:
        there = wording.values(((one.value, one.count) for one in met.values), met.other_values, met.missing)
        said.append(f"{attribute} for {met.request}: {', '.join(there)}")
    return said


def shortage(of: Shortage) -> str:
    """Return the amount that is needed and the amount that is left.

    For example, `Counter card/memory: 60Gi needed (a 20Gi + b 40Gi), 40Gi left`.
    """
    where = f" on {words.listed([str(device) for device in of.devices])}" if of.devices else ""
    which = f"Counter {of.counter_set}/{of.name}" if of.pool is not None else f"Capacity {of.name}"
    said = f"{which}: {_needed(of)}, " if of.needs else f"{which} is overdrawn: "
    return f"{said}{of.left} left{where}"


def _needed(of: Shortage) -> str:
    several = len({need.claim.name for need in of.needs}) > 1
    names = [_short(need, several=several) for need in of.needs]
    parts = " + ".join(f"{name} {need.need}" for name, need in zip(names, of.needs, strict=True))
    return f"{of.sum} needed ({parts})" if len(of.needs) > 1 else f"{of.sum} needed by {names[0]}"


def slot_lines(of: Sequence[SeenCounterSet]) -> Iterator[str]:
    """Yield the counters that are slots of a device, as rows of free and used slots."""
    for seen in of:
        for line in columns.lines(seen.total, seen.left):
            yield f"Counter set {seen.counter_set} of pool {seen.pool}, {line}"


def element(of: BlockingElement) -> str:
    """Return a phrase for a request, constraint, counter or claim that takes part in a conflict."""
    if isinstance(of, BlockingRequest):
        return f"{words.competing(of)}{_passing(of)}"
    if isinstance(of, BlockingClaim):
        return f"claim {words.holder(of.claim)}, which has devices here"
    if isinstance(of, BlockingCounter):
        left = f" ({of.left} of {of.total} left)" if of.left else ""
        return f"counter {of.counter_set}/{of.counter} of pool {of.pool}{left}"
    requests = f" for {words.listed(of.requests, 8)}" if of.requests else ""
    differ = f"{of.distinct_attribute} must differ"
    rule = differ if of.match_attribute is None else f"{of.match_attribute} must be the same"
    return f"constraint #{of.constraint} of claim {of.claim.name}: {rule}{requests or ' for all devices of the claim'}"


def conflict(of: NotTogether, where: str = "") -> str:
    """Return a line about what cannot be met together, what is free, and what uses the rest.

    For example, `gpu and nic need the same pcieRoot; gpu can have "pci0000:20", nic can have "pci0000:10" (in use by
    ...)`. `where` is the beginning of sentences about a single node. The line is empty if nothing is known.
    """
    constraint = next((one for one in of.elements if isinstance(one, BlockingConstraint) and one.values), None)
    holders = [words.holder(one.claim) for one in of.elements if isinstance(one, BlockingClaim)]
    rest = f" (others are in use by {words.listed(holders)})" if holders else ""
    if constraint is None:
        said = "; ".join(map(shortage, of.shortages)) or _too_few(of)
        return f"{where}{said}{rest}" if said else ""
    attribute = (constraint.match_attribute or constraint.distinct_attribute or "").rpartition("/")[2]
    rule = values_of(attribute, distinct=constraint.match_attribute is None)
    needs = {one.request: one.need or 1 for one in _requests(of)}
    names = [
        f"{met.request} ({needs[met.request]} devices)" if needs.get(met.request, 1) > 1 else met.request
        for met in constraint.values
    ]
    verb = "need" if len(names) > 1 else "needs"
    if constraint.match_attribute is not None and len(names) == 1:
        [met] = constraint.values
        return f"{names[0]} {verb} {rule}; {where}{_apart(met, needs.get(met.request, 1))}{rest}"
    free = [f"{met.request} can have {_free(met)}" for met in constraint.values]
    return f"{words.listed(names)} {verb} {rule}; {where}{', '.join(free)}{rest}"


def values_of(attribute: str, *, distinct: bool) -> str:
    """Return what a constraint requires of an attribute's values."""
    return f"different values of {attribute}" if distinct else f"the same {attribute}"


def _apart(met: MetValues, need: int) -> str:
    """Return how the values of the devices that are free for one request differ."""
    most = max((one.count for one in met.values), default=0)
    if most >= need:
        return f"{met.request} can have {_free(met)}"
    if most == 1:
        free = len(met.values) + met.other_values + met.missing
        values = f": {_free(met)}" if free <= words.NAMES else ""
        return f"no two of the {free} free devices have the same{values}"
    return f"no value is on more than {most} of the free devices: {_free(met)}"


def _requests(of: NotTogether) -> Iterator[BlockingRequest]:
    return (one for one in of.elements if isinstance(one, BlockingRequest))


def _too_few(of: NotTogether) -> str:
    """Return the number of devices that requests need together, if there are fewer; "" if that is not known."""
    if not of.need:
        return ""
    asked = [*_requests(of)]
    several = len({str(one.claim) for one in asked}) > 1
    names = [_short(one, several=several) for one in asked]
    if len({one.entry for one in asked if one.entry}) == len(asked):
        names = [f"{len(asked)} claims of the pod ({words.listed([one.entry for one in asked])})"]
    if any(one.serves is not None for one in asked):
        names = [words.competing(one) for one in asked]
    comma = "," if asked[-1].serves is not None else ""
    are = "is" if of.left == 1 else "are"
    return f"{words.listed(names)}{comma} need {of.need} devices together, {of.left or 'none'} {are} available"


def _short(of: CompetingRequest, *, several: bool) -> str:
    """Return the name of a request, with its claim if there are several."""
    if of.serves is not None:
        return words.asked_amount(of.serves)
    return f"{of.claim.name}/{of.request}" if several else of.request


def _free(met: MetValues) -> str:
    there = [wording.value(one.value) + (f" on {one.count} devices" if one.count > 1 else "") for one in met.values]
    there += [f"{met.other_values} more"] if met.other_values else []
    there += [f"no value on {met.missing}"] if met.missing else []
    return words.listed(there)


def _passing(of: BlockingRequest, needs: str = "needs") -> str:
    if of.left_devices is None:
        return ""
    names = [str(one) for one in of.left_devices]
    which = f"only {words.listed(names)}" if of.left == len(names) else f"{of.left} devices"
    verb = "passes" if of.left == 1 else "pass"
    return f" ({needs} {of.need}; {which} {verb} every check)"


def fault(of: AttemptFault) -> list[str]:
    """Return the lines about an error that ended the scheduling attempt: the cause, and the scheduler's message."""
    return [*_FAULTS.get(of.code, _plain_fault)(of), scheduler_says(of.message.splitlines()[0])]


def _where(of: AttemptFault) -> str:
    if of.object is None:
        return "the input"
    thing = of.object
    name = f"{thing.namespace}/{thing.name}" if thing.namespace else thing.name
    made = f", generated from template {of.template}" if of.template else ""
    return f"{thing.kind} {name}" + (f" ({of.source})" if of.source else "") + made


def _meant(of: AttemptFault) -> str:
    if of.hint:
        return f" Did you mean {of.hint}?"
    return f" There are: {words.listed(of.known, 8)}." if of.known else ""


def _selector_fault(of: AttemptFault) -> list[str]:
    number = f" #{of.selector}" if of.selector else ""
    asked = f", request {of.request}," if of.request else ""
    if of.code == "selector-compile":
        said = [f"The selector{number} of {_where(of)}{asked} does not compile:"]
    else:
        said = [f"The selector{number} of {_where(of)}{asked} fails on device {of.device}:"]
    said += _indented(of.expression or "")
    if of.rewrite:
        outcome = {"Fits": "the claims fit", "DoesNotFit": "there is no error, but the claims do not fit"}
        then = outcome.get(of.rewrite.outcome, f"the result is {of.rewrite.outcome}")
        said += [f"With the following expression, {then} (this was tested):", *_indented(of.rewrite.expression)]
    if of.gate:
        said.append(f"The device has a list attribute, and feature gate {of.gate} is off.")
    return said


def _indented(expression: str) -> list[str]:
    return [Verbatim(f"    {line}") for line in expression.strip().splitlines()]


def _class_missing(of: AttemptFault) -> list[str]:
    name = of.missing.name if of.missing is not None else ""
    said = f"{_where(of)}, request {of.request or ''}: device class {name} does not exist."
    stays = "A generated claim cannot be edited. "
    again = "the class in the template, and recreate template and pod."
    if of.hint:
        return [f"{said}{_meant(of)}", *([f"{stays}Correct {again}"] if of.template else [])]
    made = "Create the class, or install what provides it, such as the driver of its devices."
    return [said, f"{made}{_meant(of)}", *([f"{stays}To use another class, change {again}"] if of.template else [])]


def _feature_off(of: AttemptFault) -> list[str]:
    return [f"{_where(of)}, request {of.request or ''}: needs feature gate {of.gate or ''}, which is off."]


def _plain_fault(of: AttemptFault) -> list[str]:
    kind = _KINDS.get(of.code, "error")
    if of.object is None:
        return [f"{words.capital(kind)}.{_meant(of)}"]
    asked = f", request {of.request}" if of.request else ""
    return [f"{_where(of)}{asked}: {kind}.{_meant(of)}"]


def _set_error(of: AttemptFault) -> list[str]:
    if of.missing is None:
        return [f"{_where(of)} cannot use its claims."]
    missing = of.missing
    if of.maker is not None:
        return [f"{_where(of)} needs {missing.kind} {words.claim(missing)}, which is not in the input.", _made(of)]
    said = f"{_where(of)} needs {missing.kind} {words.claim(missing)}, which is not in the input.{_meant(of)}"
    made = " (or the object from which a controller creates it)" if missing.kind == "ResourceClaimTemplate" else ""
    create = (
        f"Create this {missing.kind} in namespace {missing.namespace}{made}, or name another {missing.kind} in the "
        "pod's resourceClaims."
    )
    return [said, *([] if of.hint else [create])]


def _made(of: AttemptFault) -> str:
    """Return whose controller creates what is missing, and why this controller's pod is not ready, if that is known."""
    maker = of.maker
    if maker is None:
        return ""
    said = f"The controller of {maker.kind} {words.claim(maker)} creates it."
    if of.maker_pods:
        return f"{said} {unready_sentence(of.maker_pods[0])}"
    describe = shlex.join(["kubectl", "describe", maker.kind.lower(), maker.name, "-n", maker.namespace])
    return f"{said} Its messages: {describe}"


ABOUT_POOLS = ("all-and-broken-pool", "invalid-pool")
"""The codes of errors that are caused by incomplete or invalid pools."""


_KINDS = {
    "class-not-named": "the request names no device class",
    "count-mode": "the allocation mode is unknown",
    "request-empty": "a request or selector is empty, or of an unknown kind",
    "too-many-devices": "the claim asks for more than 32 devices, the maximum for one claim",
    "constraint-unknown": "a constraint is empty, or of a kind that is unknown in this release",
    "capacity-request": "a capacity request is negative, or its steps cannot be counted",
    "all-and-broken-pool": "a request for all devices fails while any pool on the node is incomplete or invalid",
    "all-and-constraint": "a request for all devices includes a device that its constraint rejects",
    "invalid-pools": "no device was found, and an invalid pool was skipped",
    "invalid-pool": "the search reached an invalid pool",
    "node-selector-terms": (
        "a device's node selector has several terms, which this release cannot store in the allocation"
    ),
    "node-selector-invalid": "a node selector cannot be read",
}


_FAULTS: dict[str, Callable[[AttemptFault], list[str]]] = {
    "selector-compile": _selector_fault,
    "selector-runtime": _selector_fault,
    "claim-set-error": _set_error,
    "class-missing": _class_missing,
    "feature-off": _feature_off,
}
