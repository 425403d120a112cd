"""The limits on searches: the step budget for all searches together, and the user's time limit.

If there is no time limit, the number of steps is limited instead of seconds, so that results do not depend on the
machine. When most steps are spent, later queries get few steps, or are skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_CLAIMS = 8
"""The number of claims up to twice which a step costs about the same."""


@dataclass
class StepBudget:
    """The number of search steps that may be taken.

    A search takes at most `each` steps. Once `total` steps are spent, a search takes at most `brief` steps: the plain
    walk then ends early, but a query that pruning refutes immediately is still decided. Once `brief_total` more steps
    are spent, no further queries are examined.
    """

    each: int = 5_000
    total: int = 20_000
    brief: int = 600
    brief_total: int = 40_000
    spent: int = 0

    @property
    def is_spent(self) -> bool:
        """True if no further queries are examined."""
        return self.spent >= self.total + self.brief_total

    @property
    def next(self) -> int:
        """The number of steps that the next search may take."""
        return self.each if self.spent < self.total else self.brief

    def spend(self, steps: int, claims: int) -> None:
        """Charge the steps of a search for this number of claims. With more claims, each step costs more.

        The query itself costs about ten steps.
        """
        self.spent += (steps + 10) * max(1, claims // _CLAIMS)


@dataclass
class SearchTime:
    """The limits that end a search apart from its steps: a `deadline` in monotonic time, and the callback `stopped`.

    `stopped` returns whether to stop. `progress` is called with the number of kinds of nodes examined so far, and the
    number of all kinds.
    """

    deadline: float | None = None
    stopped: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] | None = None

    @property
    def is_over(self) -> bool:
        """True if no further queries are examined."""
        return self.stopped() or (self.deadline is not None and time.monotonic() > self.deadline)

    @property
    def seconds(self) -> float | None:
        """The number of seconds that are left, or None if there is no limit."""
        if self.stopped():
            return 0.0
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
