"""The wording for obstacles, faults, and changes that would help."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from dra_plan import wording
from dra_plan.documents.reasons import (
    AttemptFault,
    BlockingClaim,
    BlockingConstraint,
    BlockingCounter,
    BlockingElement,
    BlockingRequest,
    MetValues,
    NotTogether,
    SeenCounterSet,
    Shortage,
)
from dra_plan.documents.suggestions import (
    AlternativeAdded,
    CapacityChanged,
    ClaimReleased,
    ClaimTemplated,
    ClassChanged,
    ConstraintDropped,
    CountLowered,
    GateEnabled,
    NodeAdded,
    NodeAwaited,
    NodeLabelled,
    NodeRequirementsMerged,
    NodeSelectorChanged,
    NodeTaintMet,
    NodeUncordoned,
    PodRuleRelaxed,
    PodsGone,
    PoolAwaited,
    ReplicasLowered,
    RequestDropped,
    ResourceLowered,
    ResourceRenamed,
    ResourceServed,
    RolloutLoosened,
    SelectorChanged,
    SuggestedChange,
    TaintTolerated,
    TriedChanges,
)
from dra_plan.text import columns, words
from dra_plan.text.columns import Lines, Verbatim, indented
from dra_plan.text.words import scheduler_says


def lines(of: NotTogether) -> Lines:
    """Yield the elements, each with its details, and then the amounts that are short."""
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
    """Return the needed amount and the amount left: `Counter card/memory: 60Gi needed (a 20Gi + b 40Gi), 40Gi left`."""
    where = f" on {words.listed([str(device) for device in of.devices])}" if of.devices else ""
    which = f"Counter {of.counter_set}/{of.name}" if of.pool is not None else f"Capacity {of.name}"
    said = f"{which}: {_needed(of)}, " if of.needs else f"{which} is overdrawn: "
    return f"{said}{of.left} left{where}"


def _needed(of: Shortage) -> str:
    several = len({need.claim.name for need in of.needs}) > 1
    names = [f"{need.claim.name}/{need.request}" if several else need.request for need in of.needs]
    parts = " + ".join(f"{name} {need.need}" for name, need in zip(names, of.needs, strict=True))
    return f"{of.sum} needed ({parts})" if len(of.needs) > 1 else f"{of.sum} needed by {names[0]}"


def slot_lines(of: Sequence[SeenCounterSet]) -> Iterator[str]:
    """Yield the counters that are slots of a device, as rows of free and used slots."""
    for seen in of:
        for line in columns.lines(seen.total, seen.left):
            yield f"Counter set {seen.counter_set} of pool {seen.pool}, {line}"


def element(of: BlockingElement) -> str:
    """Return an element of a blocking set."""
    if isinstance(of, BlockingRequest):
        return f"{words.request(of)}{_passing(of)}"
    if isinstance(of, BlockingClaim):
        return f"claim {words.holder(of.claim)}, which has devices here"
    if isinstance(of, BlockingCounter):
        left = f" ({of.left} left of {of.total})" if of.left else ""
        return f"counter {of.counter_set}/{of.counter} of pool {of.pool}{left}"
    among = f" among {words.listed(of.requests, 8)}" if of.requests else ""
    rule = f"different {of.distinct_attribute}" if of.match_attribute is None else f"the same {of.match_attribute}"
    return f"constraint #{of.constraint} of claim {of.claim.name}: {rule}{among}"


def conflict(of: NotTogether, where: str = "") -> str:
    """Return, in one line, what cannot be met together, what is free and who has the rest; "" if nothing is known.

    `gpu and nic need the same pcieRoot; gpu can have "pci0000:20", nic can have "pci0000:10" (in use by ...)`. `where`
    begins sentences about a single node.
    """
    constraint = next((one for one in of.elements if isinstance(one, BlockingConstraint) and one.values), None)
    holders = [words.holder(one.claim) for one in of.elements if isinstance(one, BlockingClaim)]
    rest = f" (others are in use by {words.listed(holders)})" if holders else ""
    if constraint is None:
        said = "; ".join(map(shortage, of.shortages)) or _too_few([*_requests(of)])
        return f"{where}{said}{rest}" if said else ""
    attribute = (constraint.match_attribute or constraint.distinct_attribute or "").rpartition("/")[2]
    rule = f"different values of {attribute}" if constraint.match_attribute is None else f"the same {attribute}"
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


def _apart(met: MetValues, need: int) -> str:
    """Return how the values of the devices that are free for one request differ."""
    most = max((one.count for one in met.values), default=0)
    if most >= need:
        return f"{met.request} can have {_free(met)}"
    if most == 1:
        return f"no two of the free devices have the same: {_free(met)}"
    return f"no value is on more than {most} of the free devices: {_free(met)}"


def _requests(of: NotTogether) -> Iterator[BlockingRequest]:
    return (one for one in of.elements if isinstance(one, BlockingRequest))


def _too_few(asked: Sequence[BlockingRequest]) -> str:
    """Return the number of devices that requests need together, if there are fewer; "" if that is not known."""
    devices = {str(device) for one in asked for device in one.left_devices or ()}
    need = sum(one.need or 0 for one in asked)
    if len(asked) < 2 or any(one.left != len(one.left_devices or ()) for one in asked) or need <= len(devices):
        return ""
    several = len({one.claim.name for one in asked}) > 1
    names = [f"{one.claim.name}/{one.request}" if several else one.request for one in asked]
    are = "is" if len(devices) == 1 else "are"
    return f"{words.listed(names)} need {need} devices together, {len(devices)} {are} available"


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
    """Return the lines about an error that ended the attempt: the cause, then the scheduler's message."""
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
        said += [f"With the following expression, {then} (this was tried):", *_indented(of.rewrite.expression)]
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
    said = f"{_where(of)} needs {missing.kind} {words.claim(missing)}, which is not in the input.{_meant(of)}"
    create = f"Create it in namespace {missing.namespace}, or name another one in the pod's resourceClaims."
    return [said, *([] if of.hint else [create])]


ABOUT_POOLS = ("all-and-broken-pool", "invalid-pool")
"""The errors caused by incomplete or invalid pools."""


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


_VERBS = {"guard-selector": "extend", "fix-spelling": "correct", "change-value": "change"}


def suggestion(of: TriedChanges, who: str = "the pod") -> str:
    """Return changes that were tried together, and the nodes on which the pod or claims (`who`) then fit."""
    some = f"{of.would_bind} of its pods can then be scheduled"
    evicting = f" after evicting {words.listed(of.evicts)}" if of.evicts else ""
    fits = words.fits(who)
    then = some if of.would_bind else f"{who} then {fits} on {of.node}{evicting}"
    return f"{', and '.join(_change_of(one, of) for one in of.changes)} ({then})"


def _change_of(one: SuggestedChange, of: TriedChanges) -> str:
    """Return the words for one of the changes; a label also needs the node on which it is set."""
    nodes = [each.object.name for each in of.patches if each.object.kind == "Node"]
    if isinstance(one, NodeLabelled) and len(nodes) == 1:
        return change(one).replace("label the node", f"label node {nodes[0]}", 1)
    return change(one)


def together(found: Sequence[TriedChanges], who: str = "the pod") -> list[str]:
    """Return a line for each suggestion, or one line for all claims if releasing any one of them is enough.

    Before them stands what to find out about taints of devices: without a taint, the devices are as good as with its
    toleration, which was tried.
    """
    return [*islice(_untainted(found, who), MOST_UNTAINTED), *_released_together(found, who)]


MOST_UNTAINTED = 2
"""The number of taints for which the text says what is to be found out."""


def _untainted(found: Sequence[TriedChanges], who: str) -> Iterator[str]:
    """Yield for each taint that the claims do not tolerate where they fit when it is gone."""
    for of in found:
        first = of.changes[0]
        if len(of.changes) == 1 and isinstance(first, TaintTolerated) and first.tainted:
            has = "has" if len(first.tainted) == 1 else "have"
            since = f" (since {first.since})" if first.since else ""
            taint = words.taint(first.toleration)
            fits = words.fits(who)
            yield (
                f"find out why {words.listed(first.tainted)} {has} the taint {taint}{since}: when the taint is gone, "
                + (f"{of.would_bind} of its pods can be scheduled" if of.would_bind else f"{who} {fits} on {of.node}")
            )


def _released_together(found: Sequence[TriedChanges], who: str) -> list[str]:
    releases = {at: one for at, each in enumerate(found) if (one := _release(each)) is not None}
    if len(releases) < 2:
        return [suggestion(one, who) for one in found]
    claims = [words.used_claim(one.release, one.pods) for one in releases.values()]
    any_one = (
        f"release any one of these {len(claims)} claims: {words.listed(claims)} (--moves N shows where pods could go)"
    )
    first = min(releases)
    kept = [at for at in range(len(found)) if at == first or at not in releases]
    return [any_one if at == first else suggestion(found[at], who) for at in kept]


def _release(of: TriedChanges) -> ClaimReleased | None:
    """Return the released claim, if this is the only change."""
    first = of.changes[0]
    return first if len(of.changes) == 1 and isinstance(first, ClaimReleased) else None


def change(of: SuggestedChange) -> str:
    """Return the instruction for a change."""
    match of:
        case SelectorChanged():
            return _selector(of)
        case TaintTolerated():
            taint = words.taint(of.toleration)
            return f"tolerate the taint {taint} in {words.request(of)}, if you want to use such a device"
        case PoolAwaited():
            return _pool_awaited(of)
        case CountLowered(from_=None):
            return f"ask for {words.counted(of.to, 'device')} instead of all in {words.request(of)}"
        case CountLowered():
            return f"ask for {of.to} instead of {of.from_} in {words.request(of)}"
        case CapacityChanged():
            return f"{_capacity(of)} in {words.request(of)}"
        case AlternativeAdded():
            return f"add an alternative to {words.request(of)}: class {of.class_}, count {of.count}"
        case ClassChanged():
            return f"use class {of.to} in {words.request(of)}"
        case RequestDropped():
            return f"leave out {words.request(of)}"
        case ConstraintDropped():
            return f"drop constraint #{of.constraint} ({of.attribute}) of {words.asking(of.claim)}"
        case NodeLabelled():
            return f"label the node {', '.join(f'{name}={value}' for name, value in of.labels.items())}"
        case NodeUncordoned():
            return f"uncordon {of.uncordon}"
        case NodeAdded():
            return f"add a node like {of.like}"
        case NodeAwaited():
            since = f" (since {of.since})" if of.since else ""
            keys = list(dict.fromkeys(one.key for one in of.taints))
            taints = f"taint{'s' if len(keys) > 1 else ''} {words.listed(keys)}"
            return f"find out why {of.awaited} has {taints}{since}, and get the node ready again"
        case NodeTaintMet(code="tolerate-node-taint"):
            return f"add a toleration for taint {words.taint(of.taint)}"
        case NodeTaintMet():
            return f"remove taint {words.taint(of.taint)} from {of.tainted}"
        case NodeSelectorChanged():
            instead = of.label if of.to_label else of.from_
            return f"ask for a node with {of.to_label or of.label}={of.to} instead of {instead}"
        case NodeRequirementsMerged():
            return f"accept each of these values in one expression: {of.label} In [{', '.join(of.values)}]"
        case PodRuleRelaxed(code="honor-taints"):
            return (
                f"spread over {of.topology_key} without the nodes that the pod does not tolerate "
                "(nodeTaintsPolicy: Honor)"
            )
        case PodRuleRelaxed(code="relax-spread"):
            return f"make the topology spread over {of.topology_key} a preference (whenUnsatisfiable: ScheduleAnyway)"
        case PodRuleRelaxed(code="relax-anti-affinity"):
            return f"prefer the pod anti-affinity in {of.topology_key} instead of requiring it"
        case PodRuleRelaxed():
            return f"do without host port {of.port}"
        case ResourceLowered():
            return f"ask for {of.to} instead of {of.from_} {of.resource} in container {of.container}"
        case ResourceRenamed():
            return f"ask for {of.to} instead of {of.resource}"
        case ReplicasLowered():
            return f"run {of.to} instead of {of.from_} pods"
        case ResourceServed():
            return f"have class {of.class_} serve {of.resource} (its extendedResourceName)"
        case RolloutLoosened():
            return f"let the rollout delete an old pod first: maxUnavailable {of.to} in deployment {of.deployment}"
        case ClaimTemplated():
            claim = f"claim {words.claim(of.shared)}"
            return (
                f"give each pod its own claim: create ResourceClaimTemplate {of.template} with the spec of {claim}, "
                "and name it in the pods (resourceClaimTemplateName)"
            )
        case PodsGone():
            return _pods_gone(of)
        case ClaimReleased():
            return f"release claim {words.released(of.release, of.pods)}"
        case GateEnabled():
            return f"enable feature gate {of.gate}"


def _pool_awaited(of: PoolAwaited) -> str:
    """Return where to look at the driver's pod, if its slices are for one node, and what to wait for."""
    are = "is" if of.seen == 1 else "are"
    wait = (
        f"wait until the driver publishes all slices of pool {of.pool}: {of.seen} of "
        f"{of.expected} {are} in the input, if resourceSliceCount is right"
    )
    if not of.on:
        return wait
    known = next((one for one in of.driver_pods if one.pod), None)
    if known is not None:
        said = ": ".join(filter(None, (known.reason, words.one_line(known.message)))) or "not ready"
        return f"look at pod {known.pod} of the driver on {of.on} ({said}), and {wait}"
    command = shlex.join(["kubectl", "get", "pods", "-A", "--field-selector", f"spec.nodeName={of.on}"])
    return f"look at the driver's pod on {of.on} ({command}), and {wait}"


def _pods_gone(of: PodsGone) -> str:
    pods = f"pod {of.pods[0]}" if len(of.pods) == 1 else f"pods {words.listed(of.pods)}"
    is_deleted = "is being deleted" if len(of.pods) == 1 else "are being deleted"
    if of.code == "await-pods":
        return f"wait until {pods} on {of.on}, which {is_deleted}, {'is' if len(of.pods) == 1 else 'are'} gone"
    they = "it cannot end by itself" if len(of.pods) == 1 else "they cannot end by themselves"
    return f"delete {pods} with --force, if node {of.on} is off: the node does not report, so {they}"


def _selector(of: SelectorChanged) -> str:
    whose = words.request_of(of.claim, of.request) if of.claim is not None else f"class {of.class_}"
    number = f" #{of.selector}" if of.selector else ""
    if of.code in _VERBS:
        said = f"{_VERBS[of.code]} the selector{number} of {whose} to {words.one_line(of.replacement or '')}"
    elif of.dropped:
        said = f"drop `{words.one_line(of.dropped)}` from the selector of {whose}"
    else:
        said = f"drop the selector of {whose}: {words.one_line(of.expression)}"
    return f"{said}{_users(of)}"


def _users(of: SelectorChanged) -> str:
    """Return the other users whose devices would change."""
    if not of.used_by:
        return ""
    return f", which {words.listed([words.user(one) for one in of.used_by])} use{'s' if len(of.used_by) == 1 else ''}"


def _capacity(of: CapacityChanged) -> str:
    if not of.to:
        return f"do not ask for capacity {of.capacity}"
    if of.code == "request-capacity" and of.also:
        amounts = {of.capacity: of.to, **of.also}
        told = words.listed([f"{to} of {name}" for name, to in amounts.items()], len(amounts))
        return f"ask for {told}, not for all that a device has,"
    if of.code == "request-capacity":
        return f"ask for {of.to} of capacity {of.capacity}, not the default {of.from_},"
    if of.from_:
        return f"ask for {of.capacity} {of.to} instead of {of.from_}"
    return f"ask for capacity {of.to} instead of {of.capacity}"
