"""What is asked of the claim sets of an input: which of them, on which nodes, for which release, at what effort.

How the answer is found, and what is made of it, does not belong here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dra_plan.allocator import Probe
from dra_plan.api.meta import LabelSelector

Progress = Callable[[int, int], None]
"""Called with the number of node questions answered, and their total."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question that `allocate` and `explain` answer. None stands for no choice, the newest release, no limit."""

    kubernetes_version: str | None = None
    feature_gates: Mapping[str, bool] | None = None
    quirks: str = "upstream"
    nodes: Sequence[str] | None = None
    """The names of the nodes to look at."""
    namespace: str | None = None
    selector: LabelSelector | None = None
    together: bool = False
    """Whether all pending claims are one set."""
    infer_nodes: bool = False
    """Whether nodes are made from what the slices say, when the input has none."""
    max_steps: int | None = None
    """The budget of one search."""
    timeout: float | None = None
    """Seconds for the whole run; what is not answered by then is Undecided."""
    progress: Progress | None = None
    probe: Probe | None = None
    """Hears the search, of which there may be one only: one claim set on one node."""
