"""Sentences about pods that get no node because other pending pods take precedence."""

from __future__ import annotations

from collections.abc import Sequence

from dra_plan.documents.scheduling import ContestedPods
from dra_plan.documents.verdict_parts import OtherPod
from dra_plan.text import words
from dra_plan.text.naming import named


def other(pod: OtherPod) -> str:
    """Return the name of a pod, with its priority."""
    return f"{pod.namespace}/{pod.name} (priority {pod.priority})"


def room_taken(who: str, node: str, first: Sequence[OtherPod]) -> str:
    """Return the end of a sentence saying that the pods in `first` take the room on the node.

    `who` names the pods that would otherwise fit.
    """
    others = words.listed([other(pod) for pod in first])
    comes = "comes first and takes the room" if len(first) == 1 else "come first and take the room"
    return f"{who} would fit{f' on {node}' if node else ''}, but {others} {comes}."


def only_some(alone: int, pods: int) -> str:
    """Return a sentence saying that not all pods would fit even if no other pods were pending."""
    return f"Even if no other pods were pending, only {alone} of the {pods} pods would fit."


def contested(of: ContestedPods) -> str:
    """Return which other pods take the room, and how many of the owner's pods would otherwise fit."""
    more = of.would_bind_alone - of.would_bind
    if of.pods == 1:
        who = "it"
    elif more == of.pods:
        who = f"all {of.pods} pods of {named(of.owner)}"
    else:
        who = f"{more}{' more' if of.would_bind else ''} of the {of.pods} pods of {named(of.owner)}"
    said = room_taken(who, of.node_name, of.first)
    return f"{said} {only_some(of.would_bind_alone, of.pods)}" if of.would_bind_alone < of.pods else said
