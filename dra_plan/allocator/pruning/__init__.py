"""Pruning, which decides hard searches fast and never changes a result. `docs/internals/search.md` explains the rules.

`PrunedWalk` applies rules R0 and R3. R1 is in `outlook`, R2 in `packing`; R4, R5 and R7 are in `agreement`, and R6 is
in `outlook`, `stocks` and `packing`. No rule writes to the ledger.
"""

from .pruned_walk import PrunedWalk

__all__ = ["PrunedWalk"]
