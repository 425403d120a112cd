"""The limits of searches: a number of steps, and the time limit of the user.

Without a time limit, steps are limited instead of seconds, so that results do not depend on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_CLAIMS = 8
"""The number of claims up to twice which a step costs about the same."""


@dataclass
class StepBudget:
    """The number of steps that searches may take.

    A search may take `each` steps until `total` steps are spent, and then `brief` steps, which are enough for pods that
    pruning rejects at once. Once `brief_total` more steps are spent, there are no further searches.
    """

    each: int = 5_000
    total: int = 20_000
    brief: int = 600
    brief_total: int = 40_000
    spent: int = 0

    @property
    def is_spent(self) -> bool:
        """True if no further searches may start."""
        return self.spent >= self.total + self.brief_total

    @property
    def next(self) -> int:
        """The number of steps that the next search may take."""
        return self.each if self.spent < self.total else self.brief

    def spend(self, steps: int, claims: int) -> None:
        """Count the steps of a search as spent, and ten more for its start.

        Each step costs more if there are many claims.
        """
        self.spent += (steps + 10) * max(1, claims // _CLAIMS)


@dataclass
class SearchTime:
    """The time limit of searches: a `deadline` (`time.monotonic`), and `stopped`, which returns whether to stop.

    `progress` is called with the number of node kinds that are done, and the number of all node kinds.
    """

    deadline: float | None = None
    stopped: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] | None = None

    @property
    def is_over(self) -> bool:
        """True if the time is over."""
        return self.stopped() or (self.deadline is not None and time.monotonic() > self.deadline)

    @property
    def seconds(self) -> float | None:
        """The number of seconds left, or None if there is no limit."""
        if self.stopped():
            return 0.0
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
