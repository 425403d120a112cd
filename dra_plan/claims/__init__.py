"""Build claim sets from pods, workloads and claims: claims that must be satisfied on one node together."""

from .expand import expand
from .sets import ClaimSet, Expansion, Owner

__all__ = ["ClaimSet", "Expansion", "Owner", "expand"]
