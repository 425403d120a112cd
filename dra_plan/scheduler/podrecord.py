"""What is known of each pod's scheduling: where it went, or why it did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dra_plan.api.core import NodeAllocatableResourceClaimStatus, Pod
from dra_plan.documents.schedule import PodOutcome

from .keys import pod_uid


@dataclass
class PodRecord:
    """What is known of a pod's scheduling."""

    pod: Pod
    node: str = ""
    reason: str = ""
    message: str = ""
    nominated: str = ""
    best: Sequence[str] = ()
    fatal: dict[str, str] = field(default_factory=dict)
    attempts: int = 0
    waiting: str = ""
    """What the pod waits for: at a gate, or on its way to a node."""
    on_its_way: bool = False
    """A node is chosen and reserved; something is missing before the pod can be bound."""
    node_allocatable: list[NodeAllocatableResourceClaimStatus] = field(default_factory=list)
    """What the devices of the pod's claims take from its node."""
    ran_out: bool = False
    """The time ran out before the pod was tried, or tried again."""
    skipped: bool = False
    """The scheduler leaves the pod alone: it has finished, is going, was not chosen or belongs to another scheduler."""

    @property
    def outcome(self) -> PodOutcome:
        """One word: Bound, Skipped, Waiting (on its way), Undecided, Unschedulable, Error or Gated."""
        if self.node:
            return "Bound"
        if self.ran_out:
            return "Undecided"
        if self.skipped:
            return "Skipped"
        if self.on_its_way:
            return "Waiting"
        if self.reason == "SchedulerError":
            return "Error"
        return "Unschedulable" if self.reason else "Gated"

    def skip(self, why: str) -> None:
        """The scheduler leaves the pod alone."""
        self.skipped, self.waiting = True, why

    def cut_short(self) -> None:
        """The time ran out, and the pod would have been tried, or tried again."""
        self.ran_out = True
        self.waiting = f"the time ran out before it was tried{' again' if self.attempts else ''}"

    def wait(self, message: str) -> None:
        """A node is reserved, and something has to happen before the pod can be bound."""
        self.waiting, self.on_its_way = message, True

    def fail(self, message: str, *, with_error: bool) -> None:
        """An attempt ended without a node."""
        self.node, self.message, self.waiting, self.on_its_way = "", message, "", False
        self.reason = "SchedulerError" if with_error else "Unschedulable"

    def bind(self, node: str) -> None:
        """The pod is on the node."""
        self.node, self.message, self.reason = node, "", ""
        self.nominated, self.waiting, self.on_its_way = "", "", False


class PodRecords:
    """The records of all pods by uid, in the order in which the scheduler saw them."""

    def __init__(self) -> None:
        self.by_uid: dict[str, PodRecord] = {}

    def of(self, pod: Pod) -> PodRecord:
        """The pod's record, made when it is first asked for."""
        return self.by_uid.setdefault(pod_uid(pod), PodRecord(pod))
