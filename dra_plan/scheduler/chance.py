"""What timing and lots decide in a cluster: which of the best nodes a pod gets, and in which order nodes are examined.

kube-scheduler draws lots among the nodes with the highest score, and its list of nodes has the order in which they
came. A simulation takes the first and sorts by name; with a seed it draws as well, the same on every run.
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
"""How one of several best nodes is taken."""


@dataclass(frozen=True)
class Chance:
    """How ties are broken, by which seed; and the order of nodes, 0 for that of their names, otherwise a shuffled one.

    UsageError for an unknown way to break ties.
    """

    ties: str = FIRST
    seed: int = 0
    order: int = 0

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise UsageError(f"unknown ties {self.ties!r}: use one of {', '.join(TIES)}")

    def picker(self) -> Callable[[Sequence[int]], int]:
        """What takes one of the indices of the best nodes."""
        if self.ties == FIRST:
            return winner
        return random.Random(self.seed).choice

    def arranged(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes in their order, which for each of them is the same whichever others there are."""
        if not self.order:
            return by_name(nodes)
        return sorted(nodes, key=lambda node: random.Random(f"{self.order}/{node.metadata.name}").random())


USUAL = Chance()
"""The first of the best nodes, in the order of names."""
