"""Pruning: deciding hard searches fast without ever changing an answer. `docs/internals/search.md` explains the rules.

`PrunedWalk` is all that the search needs. The rules are one file each; none of them writes to the ledger.
"""

from .pruned_walk import PrunedWalk

__all__ = ["PrunedWalk"]
