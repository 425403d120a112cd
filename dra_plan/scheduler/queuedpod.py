"""A pod in the scheduling queue, with the history of its attempts (upstream: QueuedPodInfo)."""

from __future__ import annotations

from dataclasses import dataclass, field

from dra_plan.api.core import Pod

from .events import Event
from .nodeinfo import PodInfo


@dataclass(eq=False)
class QueuedPod:
    """A pod in the queue and its history. `timestamp` is when it entered the queue, or when it failed last."""

    info: PodInfo
    timestamp: float
    order: int = 0
    """Breaks ties of the timestamp: the order of arrival."""
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    rejected_by: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    gated_by: str = ""
    gate_message: str = ""
    backoff_until: float = 0.0
    passed: int = 0
    """When the pod first passed PreEnqueue, in the order of all pods; 0 before that."""
    announced: str = ""
    """The node that the pod's status named when it failed to bind last; "" if it did not get that far."""
    fruitless: int = 0
    """How often a failed binding woke the pod since anything else happened."""
    replay: list[Event] = field(default_factory=list)
    """What happened while the pod was being scheduled or bound."""

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.info.pod

    @property
    def uid(self) -> str:
        """The pod's uid."""
        return self.info.uid

    @property
    def profile(self) -> str:
        """The name of the profile that schedules the pod."""
        return self.info.profile
