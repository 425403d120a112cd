"""`explain podgroup/NAME`: why a group starts or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dra_plan.documents.podgroups import ExplainedPodGroup, TriedPod

from .explain_layout import Lines, indented
from .explain_words import counted, listed, scheduler_says

NO_OTHER = "They are tried in this order and in no other."
ALONE = "The gate GenericWorkload is off, or the release has no pod groups: each pod is scheduled by itself."


def group_lines(of: ExplainedPodGroup) -> Lines:
    """What is told of one group: whether it starts, the scheduler's words, and its pods as they were tried."""
    yield f"podgroup/{of.namespace}/{of.name}: {_HEADLINES[of.state](of)}."
    yield from indented(_details(of))


def _details(of: ExplainedPodGroup) -> Iterator[str]:
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
    at_once = f"{counted(found, 'pod')} of it {'finds' if found == 1 else 'find'} a node at the same time"
    have = f", {of.bound} {_have(of.bound)} one already" if of.bound else ""
    return f"{at_once}{have}, and it needs {of.min_count or 1}"


def _tried(of: ExplainedPodGroup) -> Iterator[str]:
    by_node: dict[str, list[str]] = {}
    for each in of.last_cycle:
        if each.node:
            by_node.setdefault(each.node, []).append(_name(each))
    for node, names in by_node.items():
        yield f"{listed(names)} {'finds' if len(names) == 1 else 'find'} {node}."
    yield from _by_message(each for each in of.last_cycle if not each.node)
    if by_node and of.state == "Unschedulable":
        yield NO_OTHER


def _by_message(pods: Iterable[TriedPod]) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    for each in pods:
        said.setdefault(each.message, []).append(_name(each))
    for message, names in said.items():
        yield f"{listed(names)}: {message}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _there(of: ExplainedPodGroup) -> str:
    there = f"{counted(of.pods, 'pod')} of it {'is' if of.pods == 1 else 'are'} there"
    return f"{there}, and it needs {of.min_count}" if of.pods < of.min_count else there


def _name(pod: TriedPod) -> str:
    return pod.pod.rpartition("/")[2]


_HEADLINES: dict[str, Callable[[ExplainedPodGroup], str]] = {
    "Scheduled": lambda of: f"starts: {of.bound} of its {counted(of.pods, 'pod')} {_have(of.bound)} a node",
    "Unschedulable": lambda of: f"does not start: {_needed(of)}",
    "Error": lambda _of: "does not start: an error ends the attempt for all of its pods",
    "Gated": lambda of: f"is not tried: {_there(of)}",
    "Empty": lambda _of: "has no pods",
    "Alone": lambda _of: "counts for nothing",
}
