"""How an allocation can end without an answer: the three kinds that upstream keeps apart, and the step budget."""

from __future__ import annotations

from dra_plan.errors import DraPlanError


class AllocationError(DraPlanError):
    """Ends the whole scheduling attempt of the pod, on all nodes; the text is upstream's."""


class SelectorError(AllocationError):
    """A selector that does not compile, or fails on a device.

    `expression` is the selector, `device` the device it failed on (None: it does not compile).
    """

    def __init__(self, message: str, expression: str, device: object = None) -> None:
        super().__init__(message)
        self.expression = expression
        self.device = device

    def __reduce__(self) -> tuple[type[SelectorError], tuple[str, str, object]]:
        """How it comes from another process."""
        return SelectorError, (str(self), self.expression, self.device)


class NodeAllocationError(DraPlanError):
    """Rejects only this node; the text is upstream's."""


class StepsExhaustedError(DraPlanError):
    """The step budget ran out before the search ended: neither yes nor no."""
