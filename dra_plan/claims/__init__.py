"""Build claim sets, which are claims that must be satisfied on one node together, from pods, workloads and claims."""

from .expand import expand
from .sets import ClaimSet, Expansion, Owner

__all__ = ["ClaimSet", "Expansion", "Owner", "expand"]
