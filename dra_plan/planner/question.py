"""What is asked of a cluster: which of its claims and pods, on which nodes, at what effort.

How the answer is found, and what is made of it, does not belong here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dra_plan.allocator import Probe
from dra_plan.api.meta import LabelSelector

Progress = Callable[[int, int], None]
"""Called with the number of node questions answered, and their total."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question that a method of `Cluster` answers. None stands for no choice or no limit."""

    owners: Sequence[str] = ()
    """Whose claim sets or pods: of pods, workloads or claims, named as kubectl does (`ownernames`)."""
    names_groups: bool = False
    """Whether pod groups are named, so that without other owners no claim set is asked about."""
    nodes: Sequence[str] = ()
    """The names of the nodes to look at; all of them without a name."""
    namespace: str | None = None
    selector: LabelSelector | None = None
    together: bool = False
    """Whether all claims that are planned are one set."""
    devices_only: bool = False
    """Whether the filters that look at the node and the pod alone are left out."""
    infer_nodes: bool = False
    """Whether nodes are made from what the slices say, when the input has none."""
    max_steps: int | None = None
    """The budget of one search."""
    timeout: float | None = None
    """Seconds for the whole run; what is not answered by then is Undecided."""
    progress: Progress | None = None
    probe: Probe | None = None
    """Hears the search, of which there may be one only: one claim set on one node."""

    def deadline(self) -> float | None:
        """The monotonic time at which searches end, if the run begins now."""
        return None if self.timeout is None else time.monotonic() + self.timeout
