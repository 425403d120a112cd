"""What goes wrong while a placement is sought."""

from __future__ import annotations

from dra_plan.errors import DraPlanError, UsageError


class SolverMissingError(UsageError):
    """The question needs an integer program, and the library that solves it is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "how different pods share the nodes is an integer program, and its solver is not installed:"
            " pip install 'dra-plan[place]' brings it (HiGHS, by the package highspy)"
        )


class UnverifiedPlacementError(DraPlanError):
    """A placement was found that the allocator or a filter refuses: a defect of dra-plan, never an answer."""

    def __init__(self, pod: str, node: str, why: str) -> None:
        super().__init__(f"internal error: the placement of pod {pod} on node {node} could not be verified: {why}")
