"""Scheduler extenders as the cycle sees them: a port. Who talks HTTP stands outside the scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dra_plan.api.core import Pod
from dra_plan.errors import DraPlanError

from .cluster import SimulatedCluster
from .nodeinfo import NodeInfo
from .victims import Candidate


class ExtenderError(DraPlanError):
    """An extender could not be asked, or answered with an error."""


class ExtenderFilterResult:
    """The nodes an extender leaves, and why it refuses the others."""

    __slots__ = ("failed", "nodes", "unresolvable")

    def __init__(self, nodes: Sequence[str], failed: dict[str, str], unresolvable: dict[str, str]) -> None:
        self.nodes = list(nodes)
        self.failed = failed
        self.unresolvable = unresolvable


class Extender(Protocol):
    """One configured extender."""

    name: str
    ignorable: bool
    weight: int
    is_filter: bool
    is_prioritizer: bool
    is_binder: bool
    supports_preemption: bool

    def is_interested(self, pod: Pod) -> bool:
        """Whether the pod asks for one of the resources the extender manages; without any, every pod does."""

    def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> ExtenderFilterResult:
        """Which nodes remain. ExtenderError if it can't be asked."""

    def prioritize(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, int]:
        """Scores from 0 to 10 by node. ExtenderError if it can't be asked."""

    def process_preemption(
        self, pod: Pod, candidates: Sequence[Candidate], cluster: SimulatedCluster
    ) -> list[Candidate]:
        """The candidates that remain, perhaps with other victims. ExtenderError if it can't be asked."""

    def bind(self, pod: Pod, node: str) -> None:
        """Bind the pod. ExtenderError if that fails."""
