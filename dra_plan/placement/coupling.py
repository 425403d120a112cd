"""What pods on several nodes can't have at the same time, where nodes share devices: one clash after the other.

The program first takes the nodes for independent. Its solution is asked about as a whole (`together`); if that does not
fit, the smallest part of it that does not is forbidden in the program from then on, wherever nodes look the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from .candidates import PodKind, PodToPlace
from .ground import Ground
from .nodekinds import AlikeNodes
from .program import Clash
from .rooms import Combination, Room, RoomAnswer
from .together import Assigned, JointAnswer, Together

MOST_CLASHES = 300
MOST_COLUMNS = 4_000
_MOST_SHAPES = 5
"""Different combinations on nodes of one kind, in one clash."""

OPEN = JointAnswer(RoomAnswer.OPEN, {})


class Coupling:
    """The clashes that are known of these kinds of pods on these kinds of nodes."""

    def __init__(self, ground: Ground, kinds: Sequence[PodKind], node_kinds: Sequence[AlikeNodes]) -> None:
        self._together, self._kinds = Together(ground), kinds
        self._node_kinds = {node.name: index for index, kind in enumerate(node_kinds) for node in kind.nodes}
        self._known: dict[tuple[tuple[int, Combination], ...], JointAnswer] = {}
        self.clashes: list[Clash] = []

    def ask(self, assigned: Assigned) -> JointAnswer:
        """Whether these pods have their devices on these nodes at the same time."""
        key = tuple(sorted((self._node_kinds[name], self._combination(pods)) for name, pods in assigned))
        known = self._known.get(key)
        if known is None or known.answer is RoomAnswer.YES:
            known = self._known[key] = self._together.ask(assigned)
        return known

    def learn(self, assigned: Assigned) -> bool:
        """Forbids the smallest part of this that does not fit. False if it can't be told in a clash."""
        left = [(name, list(pods)) for name, pods in assigned]
        for index in reversed(range(len(left))):
            trial = [*left[:index], *left[index + 1 :]]
            if self.ask(trial).answer is RoomAnswer.NO:
                left = trial
        for name, pods in left:
            for pod in list(pods):
                fewer = [each for each in pods if each is not pod]
                if self.ask([(n, fewer if n == name else p) for n, p in left]).answer is RoomAnswer.NO:
                    pods.remove(pod)
        shapes = Counter((self._node_kinds[name], self._combination(pods)) for name, pods in left if pods)
        by_kind = Counter(kind for kind, _ in shapes)
        if not shapes or max(by_kind.values()) > _MOST_SHAPES or len(self.clashes) >= MOST_CLASHES:
            return False
        clash = Clash(tuple((kind, holds, number) for (kind, holds), number in sorted(shapes.items())))
        if clash in self.clashes:
            return False
        self.clashes.append(clash)
        return True

    def _combination(self, pods: Sequence[PodToPlace]) -> Combination:
        there = {id(pod) for pod in pods}
        return tuple(sum(id(member) in there for member in kind.members) for kind in self._kinds)


def combinations_below(room: Room) -> Iterator[Combination]:
    """All that fit, or are not excluded: each combination below one of the largest."""
    seen: set[Combination] = set()
    for largest in room.outer:
        for each in product(*(range(number, -1, -1) for number in largest)):
            if any(each) and each not in seen:
                seen.add(each)
                yield each
                if len(seen) > MOST_COLUMNS:
                    return
