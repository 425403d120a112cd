"""How an allocation can end without an answer: the three kinds that upstream keeps apart, and the step budget.

An error is a value: its `cause` says what kind it is and what it is about. The text is upstream's, to be shown and
never to be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dra_plan.errors import DraPlanError

from .identity import PoolID

ErrorCode = Literal[
    "class-missing",
    "class-not-named",
    "feature-off",
    "count-mode",
    "request-empty",
    "constraint-unknown",
    "too-many-devices",
    "all-and-broken-pool",
    "all-and-constraint",
    "invalid-pool",
    "invalid-pools",
    "node-selector-terms",
    "node-selector-invalid",
    "capacity-request",
    "selector-compile",
    "selector-runtime",
]
"""The kinds of errors; docs/reasons.md describes each."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an attempt ends with an error: its kind, upstream's text, and what it is about; empty where nothing is.

    `claim` is NAMESPACE/NAME, `request` REQUEST or REQUEST/ALTERNATIVE, `gate` the feature gate that is off.
    """

    code: ErrorCode
    message: str
    claim: str = ""
    request: str = ""
    device_class: str = ""
    gate: str = ""
    pool: PoolID | None = None


class AllocationError(DraPlanError):
    """Ends the whole scheduling attempt of the pod, on all nodes."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """How it comes from another process."""
        return type(self), (self.cause,)


class SelectorError(AllocationError):
    """A selector that does not compile, or fails on a device.

    `position` is its index among the selectors of its class or request, `detail` the language's own words, `device`
    the device it failed on (None: it does not compile); `of_device` says that no selector can be evaluated on it.
    """

    def __init__(
        self, cause: Cause, position: int, expression: str, detail: str, device: object = None, of_device: bool = False
    ) -> None:
        super().__init__(cause)
        self.position, self.expression, self.detail = position, expression, detail
        self.device, self.of_device = device, of_device

    def __reduce__(self) -> tuple[Any, ...]:
        """How it comes from another process."""
        parts = (self.cause, self.position, self.expression, self.detail, self.device, self.of_device)
        return SelectorError, parts


class NodeAllocationError(DraPlanError):
    """Rejects only this node."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        """How it comes from another process."""
        return type(self), (self.cause,)


class StepsExhaustedError(DraPlanError):
    """The step budget ran out before the search ended: neither yes nor no."""
