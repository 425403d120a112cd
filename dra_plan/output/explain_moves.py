"""`explain --moves`: how room can be made for a pod that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_plan.documents.base import ObjectName
from dra_plan.documents.moves import MoveStep, PodsLeftAlone, RoomForPod

from .explain_layout import Lines, indented
from .explain_words import counted, listed, scheduler_says
from .placement import devices_of


def room_lines(of: RoomForPod) -> Lines:
    """What is told of one pod, or of several that are alike: the verdict, the steps, and who was left alone."""
    yield f"{_whose(of)}: {_HEADLINES[of.outcome](of)}."
    yield from indented(_details(of))


def _whose(of: RoomForPod) -> str:
    first = f"Room for {_pod(of.pods[0])}"
    others = len(of.pods) - 1
    return f"{first}, or any one of {counted(others, 'pod')} like it" if others else first


def _details(of: RoomForPod) -> Iterator[str]:
    if of.outcome in ("Impossible", "Undecided") and of.message:
        yield scheduler_says(of.message)
    for number, step in enumerate(of.steps, start=1):
        yield f"{number}. {_STEPS[step.action](step)}{_with(step)}."
    if of.steps:
        yield (
            "Fewer do not do, which is proved."
            if of.fewest
            else "Whether fewer do is open: not all sets of pods could be tried to the end."
        )
    if any(step.devices_matter for step in of.steps):
        yield "The devices matter: with others, which the scheduler might choose by itself, a later step fails."
    if of.left_alone:
        yield f"Left alone: {'; '.join(map(_alone, of.left_alone))}."


_HEADLINES: dict[str, Callable[[RoomForPod], str]] = {
    "Fits": lambda _of: "there is enough, nobody has to move",
    "Moves": lambda of: f"enough when {counted(of.moved, 'running pod')} {_move(of.moved)}, and all go on running",
    "Preemption": lambda of: (
        f"enough when {counted(of.preempted, 'pod')} of lower priority {_go(of.preempted)}"
        + (f" and {counted(of.moved, 'pod')} {_move(of.moved)}" if of.moved else "")
        + "; to move pods alone does not do"
        + ("" if of.fewest else ", as far as that was tried")
    ),
    "Impossible": lambda of: f"none, whichever {counted(of.limit, 'running pod')} would have to leave",
    "Undecided": lambda of: (
        f"none was found with {counted(of.limit, 'running pod')} or fewer, and it is not proved that there is none"
    ),
}


def _move(number: int) -> str:
    return "moves" if number == 1 else "move"


def _go(number: int) -> str:
    return "goes" if number == 1 else "go"


_STEPS: dict[str, Callable[[MoveStep], str]] = {
    "Move": lambda step: (
        f"{_name(step)} moves from {step.from_node} to {step.node}"
        if step.node != step.from_node
        else f"{_name(step)} starts anew on {step.node}"
    ),
    "Evict": lambda step: f"{_name(step)} leaves {step.from_node} and waits",
    "Place": lambda step: f"{_name(step)} starts on {step.node}",
    "Preempt": lambda step: f"{_name(step)} leaves {step.from_node}, and there is no place for it",
    "Start": lambda step: f"{_name(step)} starts on {step.node}",
}


def _with(step: MoveStep) -> str:
    devices = devices_of(step.claims)
    return f", with {devices}" if devices else ""


_REASONS: dict[str, Callable[[str], str]] = {
    "NoController": lambda pods: f"{pods} that nothing would make anew",
    "DaemonSet": lambda pods: f"{pods} of DaemonSets",
    "Static": lambda pods: f"{pods} of nodes themselves (static pods)",
    "DisruptionBudget": lambda pods: f"{pods} that a PodDisruptionBudget protects",
    "HigherPriority": lambda pods: f"{pods} of higher priority",
    "Leaving": lambda pods: f"{pods} being deleted already",
}


def _alone(of: PodsLeftAlone) -> str:
    names = [_pod(pod) for pod in of.examples]
    told = listed(names) if of.pods <= len(names) else f"{', '.join(names)} and {of.pods - len(names)} more"
    return f"{_REASONS[of.reason](counted(of.pods, 'pod'))} ({told})"


def _pod(pod: ObjectName) -> str:
    return f"{pod.namespace}/{pod.name}"


def _name(step: MoveStep) -> str:
    return f"{step.namespace}/{step.name}"
