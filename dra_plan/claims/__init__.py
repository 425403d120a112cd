"""Build claim sets from pods, workloads and claims. The claims in a set must all be satisfied on one node."""

from .expand import expand
from .sets import ClaimSet, Expansion, Owner

__all__ = ["ClaimSet", "Expansion", "Owner", "expand"]
