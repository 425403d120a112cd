"""Why a pod group starts or does not: a part of `Explanation`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .base import Amount, DocumentPart, FailedScheduling, GroupPods, MinCount, Text, one_of

GroupState = Literal["Scheduled", "Unschedulable", "Error", "Gated", "Empty", "Alone"]
"""As `schedule` says it. Alone: the gate is off, so the pods are scheduled without regard to the group."""


class TriedPod(DocumentPart, frozen=True, kw_only=True):
    """A pod in the last cycle of its group: the node that it found, or why it found none."""

    pod: Text
    node: str = ""
    message: Annotated[str, FailedScheduling] = ""


class ExplainedPodGroup(DocumentPart, frozen=True, kw_only=True):
    """A pod group that was named, and why it starts or does not, with all pods of the input around it."""

    namespace: str
    name: Text
    state: GroupState
    policy: Annotated[str, one_of("gang", "basic", "")]
    min_count: Annotated[Amount, MinCount]
    pods: Annotated[Amount, GroupPods]
    bound: Annotated[Amount, Meta(description="Those of them that have a node in the end.")]
    message: Annotated[str, Meta(description="What the scheduler says of the group, verbatim.")]
    last_cycle: Annotated[list[TriedPod], Meta(description="In the order in which the pods were tried.")]
    waiting: Annotated[list[TriedPod], Meta(description="Pods that are kept out of the queue, and why.")]
