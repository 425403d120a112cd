"""The settings for pruning.

The rules are in `pruning`, which is imported only when needed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

PruningRule = Literal["R0", "R1", "R2", "R3", "R4", "R5", "R6", "R6b", "R6c", "R7", "R7b", "R8"]
"""The rules, as numbered in `docs/internals/search.md`."""

ALL_RULES: frozenset[PruningRule] = frozenset(get_args(PruningRule))

ESCALATE_AFTER = 500
"""The number of steps that the plain walk takes before pruning is prepared."""


class Pruning(NamedTuple):
    """The settings for pruning: when it starts, and which rules it uses.

    Pruning starts after `after` steps of the plain walk, or never if `after` is None.
    """

    after: int | None = ESCALATE_AFTER
    rules: frozenset[PruningRule] = ALL_RULES

    def without(self, *rules: PruningRule) -> Pruning:
        """Return these settings without the named rules."""
        return self._replace(rules=self.rules.difference(rules))


USUAL = Pruning()
ALWAYS = Pruning(after=0)
"""Prune from the first step."""
NEVER = Pruning(after=None)
"""Use only the plain walk."""
