"""Timing and chance: which of the best nodes is chosen, and in what order nodes are examined.

kube-scheduler chooses at random among the nodes with the highest score, and lists nodes in the order in which they
arrived. A simulation takes the first node, with nodes sorted by name, or chooses at random if a seed is given. The same
seed gives the same choices.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dra_plan.api.core import Node
from dra_plan.errors import UsageError

from .cluster.cluster import by_name
from .cycle import winner

FIRST, RANDOM = "first", "random"
TIES = (FIRST, RANDOM)
"""How to choose one of several best nodes."""


@dataclass(frozen=True)
class Chance:
    """How ties are broken, the seed of the random choices, and the order of nodes.

    The order 0 sorts nodes by name; any other number shuffles them. Raises UsageError for an unknown way to break ties.
    """

    ties: str = FIRST
    seed: int = 0
    order: int = 0

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise UsageError(f"unknown ties {self.ties!r}: use one of {', '.join(TIES)}")

    def picker(self) -> Callable[[Sequence[int]], int]:
        """Return a function that picks one of the indices of the best nodes."""
        if self.ties == FIRST:
            return winner
        return random.Random(self.seed).choice

    def arranged(self, nodes: Iterable[Node]) -> list[Node]:
        """Return the nodes in order. The relative order of two nodes does not depend on the other nodes."""
        if not self.order:
            return by_name(nodes)
        return sorted(nodes, key=lambda node: random.Random(f"{self.order}/{node.metadata.name}").random())


USUAL = Chance()
"""The usual choice: the first of the best nodes, with nodes in name order."""
