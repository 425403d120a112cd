"""Pruning, which decides hard searches fast and never changes a result. `docs/internals/search.md` explains the rules.

The search needs only `PrunedWalk`, which applies rules R0 and R3. R1 is in `outlook` and, with R2, in `packing`;
R4, R5 and R7 are in `agreement`, R6 in `outlook`, `stocks` and `packing`. None of them writes to the ledger.
"""

from .pruned_walk import PrunedWalk

__all__ = ["PrunedWalk"]
