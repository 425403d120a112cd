"""The limits of searches: the step budget of all together, and the user's time limit.

Without a time limit, steps bound an answer, not seconds, so that it does not depend on the machine: when most steps are
spent, later questions get few, or are skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_CLAIMS = 8
"""Up to twice as many claims, a step costs about the same."""


@dataclass
class StepBudget:
    """The remaining steps.

    A search takes `each` steps at most, and `brief` ones once `total` are spent.

    With `brief` the plain walk ends, and a question that pruning refutes at once is answered. Once `brief_total` more
    steps have been spent, no further questions are examined.
    """

    each: int = 5_000
    total: int = 20_000
    brief: int = 600
    brief_total: int = 40_000
    spent: int = 0

    @property
    def is_spent(self) -> bool:
        """Return whether no further questions are examined."""
        return self.spent >= self.total + self.brief_total

    @property
    def next(self) -> int:
        """The steps that the next search may take."""
        return self.each if self.spent < self.total else self.brief

    def spend(self, steps: int, claims: int) -> None:
        """Charge the steps of a search for this number of claims: the more claims, the more expensive a step.

        A question itself costs about ten steps.
        """
        self.spent += (steps + 10) * max(1, claims // _CLAIMS)


@dataclass
class SearchTime:
    """The end of a search apart from its steps: a monotonic time, or being `stopped`.

    `progress` is called with the number of examined kinds of nodes, and the total.
    """

    deadline: float | None = None
    stopped: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] | None = None

    @property
    def is_over(self) -> bool:
        """Return whether no further questions are examined."""
        return self.stopped() or (self.deadline is not None and time.monotonic() > self.deadline)

    @property
    def seconds(self) -> float | None:
        """The remaining seconds; None without a limit."""
        if self.stopped():
            return 0.0
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
