"""How many steps searches may take together: what is asked too late is asked briefly, or not at all.

Steps, not seconds, so that an answer does not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

_CLAIMS = 8
"""Up to twice as many claims a step costs about the same."""


@dataclass
class StepBudget:
    """What is left to be spent. A search takes `each` steps at most, and `brief` ones once `total` are spent.

    With `brief` the plain walk ends, and a question that pruning refutes at once is answered. Once that much again
    has been spent as `brief_total` says, nothing is asked any more.
    """

    each: int = 5_000
    total: int = 20_000
    brief: int = 600
    brief_total: int = 40_000
    spent: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether nothing is to be asked any more."""
        return self.spent >= self.total + self.brief_total

    @property
    def next(self) -> int:
        """The steps that the next search may take."""
        return self.each if self.spent < self.total else self.brief

    def spend(self, steps: int, claims: int) -> None:
        """A search for that many claims took so many steps: the more claims, the dearer a step.

        Asking itself costs about as much as ten steps.
        """
        self.spent += (steps + 10) * max(1, claims // _CLAIMS)
