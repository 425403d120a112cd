"""The text of `explain` about owners without claims, pod groups, and pods that would have to leave."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from dra_plan.api.well_known import IMPLICIT_PREFIX
from dra_plan.documents.base import ObjectName
from dra_plan.documents.claim_sets import AskedResource, PlannedClaim, UnplannedOwner
from dra_plan.questions.explain.document import (
    AllowedRoom,
    ExplainedPodGroup,
    MoveStep,
    PodsLeftAlone,
    RoomForPod,
    TriedPod,
)
from dra_plan.text import words
from dra_plan.text.columns import Lines, indented
from dra_plan.text.devices import devices_of
from dra_plan.text.naming import consumed, device_name, named
from dra_plan.text.placed import container_failing, container_line
from dra_plan.text.words import counted, listed, scheduler_says

NOTHING = "Nothing to explain: the input has no pending claims, and no pods or workloads that use claims."


def nothing(placed: int) -> str:
    """Return a sentence that says that nothing is pending. `placed` is the number of selected pods that have nodes."""
    if not placed:
        return NOTHING
    them = "it" if placed == 1 else "them"
    return f"Nothing to explain: {counted(placed, 'pod')} match, and none is pending. Name {them} to see more."


def room_lines(of: RoomForPod) -> Lines:
    """Yield the lines about room for a pod or for several equal pods.

    They contain the verdict, the steps, and the pods that stay.
    """
    yield f"{_whose(of)} {_HEADLINES[of.outcome](of)}."
    yield from indented(_details(of))


def _whose(of: RoomForPod) -> str:
    first = _pod(of.pods[0])
    others = len(of.pods) - 1
    return f"{first}, or any one of {counted(others, 'pod')} like it," if others else first


def _details(of: RoomForPod) -> Iterator[str]:
    if of.outcome in ("Impossible", "Undecided") and of.message:
        yield scheduler_says(of.message)
    yield from _steps(of.steps)
    if of.steps:
        yield (
            "Proven minimal: no plan moves fewer pods."
            if of.fewest
            else "Moving fewer pods may be enough, because not all sets of pods were tried."
        )
    if of.left_alone:
        yield f"Not moved: {'; '.join(map(_alone, of.left_alone))}."
    for each in of.allowing:
        yield from _allowed(each)


def _steps(steps: Sequence[MoveStep]) -> Iterator[str]:
    for number, step in enumerate(steps, start=1):
        yield f"{number}. {_STEPS[step.action](step)}{_with(step)}."
    if any(step.devices_matter for step in steps):
        yield "If the scheduler chooses other devices than these, a later step fails."


def _allowed(of: AllowedRoom) -> Iterator[str]:
    """Yield the result with pods that are left alone, and the steps to it."""
    pods = f"pods {' and pods '.join(words.KEPT[reason] for reason in of.kinds)}"
    if of.outcome == "Impossible":
        yield f"Moving {pods} as well would not make room either."
    elif of.outcome == "Undecided":
        yield f"Whether moving {pods} as well would make room is undecided."
    else:
        yield f"If {pods} may move as well, it {_HEADLINES[of.outcome](of)}:"
        yield from _steps(of.steps)
        if "NoController" in of.kinds:
            yield words.BARE_PODS


def _in_vain(of: RoomForPod) -> str:
    """Return which moves were tried and do not make room."""
    if not of.movable:
        return "does not fit, and no running pod may be moved"
    pods = f"the {of.movable} pods that may move" if of.movable > 1 else "the only pod that may move"
    if of.movable <= of.limit:
        which = "" if of.movable == 1 else "any or all of "
    else:
        which = "any 1 of " if of.limit == 1 else f"up to {of.limit} of "
    return f"does not fit: moving {which}{pods} does not make room"


_HEADLINES: dict[str, Callable[[Any], str]] = {
    "Fits": lambda _of: "fits without moving any pod",
    "Moves": lambda of: (
        f"fits if {counted(of.moved, 'running pod')} {_move(of.moved)} to"
        f" {'another node' if of.moved == 1 else 'other nodes'}"
    ),
    "Preemption": lambda of: (
        f"fits if {counted(of.preempted, 'pod')} with a lower priority {_go(of.preempted)}"
        + (f" and {counted(of.moved, 'pod')} {_move(of.moved)}" if of.moved else "")
        + "; moving pods alone is not enough"
        + ("" if of.fewest else ", as far as it was tried")
    ),
    "Impossible": _in_vain,
    "Undecided": lambda of: f"may fit, but no way was found that moves {counted(of.limit, 'running pod')} or fewer",
}


def _move(number: int) -> str:
    return "moves" if number == 1 else "move"


def _go(number: int) -> str:
    return "goes" if number == 1 else "go"


_STEPS: dict[str, Callable[[MoveStep], str]] = {
    "Move": lambda step: (
        f"{_name(step)} moves from {step.from_node} to {step.node}"
        if step.node != step.from_node
        else f"{_name(step)} restarts on {step.node}"
    ),
    "Evict": lambda step: f"{_name(step)} is evicted from {step.from_node} and stays pending",
    "Place": lambda step: f"{_name(step)} starts on {step.node}",
    "Preempt": lambda step: f"{_name(step)} is evicted from {step.from_node} and cannot be scheduled again",
    "Start": lambda step: f"{_name(step)} starts on {step.node}",
}


def _with(step: MoveStep) -> str:
    devices = devices_of(step.claims)
    return f", with {devices}" if devices else ""


def _alone(of: PodsLeftAlone) -> str:
    names = [_pod(pod) for pod in of.examples]
    told = listed(names) if of.pods <= len(names) else f"{', '.join(names)} and {of.pods - len(names)} more"
    return f"{words.kept_pods(of.reason, of.pods)} ({told})"


def _pod(pod: ObjectName) -> str:
    return f"{pod.namespace}/{pod.name}"


def _name(step: MoveStep) -> str:
    return f"{step.namespace}/{step.name}"


SCHEDULE = "To see what happens to the pod, run `dra-plan schedule` with the same arguments."


def unplanned_lines(
    of: UnplannedOwner,
    start: Iterable[str] = (),
    *,
    headed: bool = True,
    lacking: Collection[str] = (),
    of_requests: bool = True,
) -> Lines:
    """Yield the lines about an owner that is not planned, with its devices or requests.

    If `headed` is set, the first line is its kind. `start` are lines about what keeps a pod from starting. That no node
    has the resources in `lacking` has been said. If `of_requests` is False, its requests for cpu and memory do not
    matter.
    """
    if headed:
        yield f"{named(of.owner)}: {_OWNER_HEADLINES[of.state](of)}."
    yield from indented(_waiting(of))
    yield from indented(start)
    yield from indented(_having(of, headed=headed))
    if of_requests or any("/" in ask.name for ask in of.asks):
        yield from indented(_asking(of, lacking, headed=headed))


_OWNER_HEADLINES: dict[str, Callable[[UnplannedOwner], str]] = {
    "Bound": lambda of: f"already bound to {of.node_name}{_failing(of)}",
    "Finished": lambda of: f"has finished{f' ({of.phase})' if of.phase else ''} and holds no devices",
    "Deleting": lambda of: f"is being deleted{f', on {of.node_name}' if of.node_name else ''}",
    "Allocated": lambda of: f"already allocated{_users(of)}",
    "WithoutClaims": lambda of: f"does not use any resource claims{'' if _is_served(of) else _NO_DEVICES}",
}


def _failing(of: UnplannedOwner) -> str:
    """Return the container that does not start, or crashes, if the kubelet says why."""
    found = next(filter(None, map(container_failing, of.waiting)), "")
    return f", but its {found}" if found else ""


_NO_DEVICES = ", so there are no devices to choose for it"


def _is_served(of: UnplannedOwner) -> bool:
    """Return whether devices are requested as extended resources."""
    return any(ask.device_class for ask in of.asks)


def _users(of: UnplannedOwner) -> str:
    users = [f"{user.kind.lower()}/{user.name}" for user in of.used_by]
    return f" and reserved for {words.listed(users)}" if users else ", but not reserved for any pod"


def _waiting(of: UnplannedOwner) -> Iterator[str]:
    yield from (container_line(one, of.owner.namespace, of.owner.name) for one in of.waiting)


def _having(of: UnplannedOwner, *, headed: bool) -> Iterator[str]:
    if of.finalizers:
        yield f"It exists until its finalizers are removed: {words.listed(of.finalizers)}."
    for claim in of.claims:
        yield from _devices(claim)
    for pending in of.pending_claims:
        yield f"Claim {pending.name} has no devices."
    for entry in of.missing_claims:
        yield (
            f"The claim for {entry} is not in the input, so its devices are unknown: add the "
            "output of `kubectl get resourceclaims -A -o yaml`."
        )
    if headed and of.state == "Bound" and not (of.waiting or of.claims or of.pending_claims or of.missing_claims):
        yield "It has no resource claims."


def _devices(claim: PlannedClaim) -> Iterator[str]:
    results = claim.allocation.devices.results
    if not results:
        yield f"Claim {claim.name} is allocated without devices."
    for result in results:
        taken = consumed(result)
        share = f" ({taken})" if taken else ""
        yield f"Request {result.request} of claim {claim.name} has {device_name(result)}{share}."


def _asking(of: UnplannedOwner, lacking: Collection[str], *, headed: bool) -> Iterator[str]:
    if not of.asks:
        return
    yield f"It requests {words.listed([f'{ask.name}={ask.amount}' for ask in of.asks], len(of.asks))}."
    for ask in of.asks:
        yield from _extended(ask, is_told=ask.name in lacking)
    if of.state == "WithoutClaims" and headed:
        yield SCHEDULE


def _extended(of: AskedResource, *, is_told: bool) -> Iterator[str]:
    """Yield the providers of a resource that has a domain of its own.

    That no node has it is said only once (`is_told`).
    """
    if of.device_class:
        also = f" (a device plugin on {words.counted(of.nodes, 'node')} has precedence)" if of.nodes else ""
        yield f"{of.name} is served by devices of class {of.device_class}{also}."
    elif "/" in of.name and of.nodes:
        verb = "advertises" if of.nodes == 1 else "advertise"
        nodes = words.counted(of.nodes, "node")
        yield f"{_unserved(of)}; {nodes} {verb} it through a device plugin."
    elif "/" in of.name:
        near = f" Class {of.near_class} serves {of.near}: did you mean that?" if of.near else ""
        having = f"{listed(of.emptied)} advertise{'s' if len(of.emptied) == 1 else ''} 0 of it"
        none = "" if is_told else ", and no node advertises it"
        yield f"{_unserved(of)}{f', and {having}' if of.emptied else none}.{near}"
    if of.gate and not of.nodes:
        yield f"If this gate is on in the cluster, add --feature-gates {of.gate}=true."


def _unserved(of: AskedResource) -> str:
    """Return that no class serves the resource, or which one would if its feature gate were on."""
    if not of.gate and of.name.startswith(IMPLICIT_PREFIX):
        return f"There is no DeviceClass {of.name.removeprefix(IMPLICIT_PREFIX)}"
    if not of.gate:
        return f"No device class serves {of.name}"
    return f"Class {of.gated_class} would serve {of.name}, but feature gate {of.gate} is off"


NO_OTHER = "The scheduler tries the pods only in this order."


ALONE = "The gate GenericWorkload is off, or the release has no pod groups: each pod is scheduled alone."


def group_lines(of: ExplainedPodGroup) -> Lines:
    """Yield the lines about a pod group.

    They contain whether the group starts, the scheduler's message, and the pods of the group that were tried.
    """
    yield f"podgroup/{of.namespace}/{of.name}: {_GROUP_HEADLINES[of.state](of)}."
    yield from indented(_group_details(of))


def _group_details(of: ExplainedPodGroup) -> Iterator[str]:
    if of.state == "Alone":
        yield ALONE
        return
    if of.message:
        yield scheduler_says(of.message)
    if of.state in ("Unschedulable", "Error"):
        yield from _tried(of)
    elif of.bound < of.pods:
        yield from _by_message(each for each in of.last_cycle if not each.node)
    yield from _by_message(each for each in of.waiting if each.message != of.message)


def _needed(of: ExplainedPodGroup) -> str:
    found = sum(bool(each.node) for each in of.last_cycle)
    at_once = f"{found} of its pods {'fits' if found == 1 else 'fit'} at the same time"
    have = f", {of.bound} already {_have(of.bound)} a node" if of.bound else ""
    return f"{at_once}{have}, and the group needs {of.min_count or 1}"


def _tried(of: ExplainedPodGroup) -> Iterator[str]:
    by_node: dict[str, list[str]] = {}
    for each in of.last_cycle:
        if each.node:
            by_node.setdefault(each.node, []).append(_group_name(each))
    for node, names in by_node.items():
        yield f"{listed(names)} {'fits' if len(names) == 1 else 'fit'} on {node}."
    yield from _by_message(each for each in of.last_cycle if not each.node)
    if by_node and of.state == "Unschedulable":
        yield NO_OTHER


def _by_message(pods: Iterable[TriedPod]) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    for each in pods:
        said.setdefault(each.message, []).append(_group_name(each))
    for message, names in said.items():
        yield f"{listed(names)}: {message}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _there(of: ExplainedPodGroup) -> str:
    there = f"{of.pods} of its pods {'exists' if of.pods == 1 else 'exist'}"
    return f"{there}, and the group needs {of.min_count}" if of.pods < of.min_count else there


def _group_name(pod: TriedPod) -> str:
    return pod.pod.rpartition("/")[2]


_GROUP_HEADLINES: dict[str, Callable[[ExplainedPodGroup], str]] = {
    "Scheduled": lambda of: f"starts: {of.bound} of its {counted(of.pods, 'pod')} {_have(of.bound)} a node",
    "Unschedulable": lambda of: f"does not start: {_needed(of)}",
    "Error": lambda _of: "does not start: the scheduler stops with an error for all pods in the group",
    "Gated": lambda of: f"is not tried: {_there(of)}",
    "Empty": lambda _of: "has no pods",
    "Alone": lambda _of: "has no effect",
}
