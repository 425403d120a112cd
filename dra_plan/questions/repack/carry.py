"""Puts moves into waves, and simulates each wave with the scheduler and the controllers.

A pod moves once the pods that occupy its place have left. The scheduler chooses the new nodes, which need not be those
of the integer program, as long as every pod has a node in the end. Nodes are cordoned to keep pods away: those that are
to be freed and, if necessary, those that are meant for other pods. Pods that wait for each other's devices leave
together. If the scheduler would then return them to their old nodes, they leave in turn, and one of them stays pending
until the next has left.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.claims.index import Index
from dra_plan.claims.owners import wanted
from dra_plan.documents.base import ObjectName
from dra_plan.placement.repacking import Move
from dra_plan.planner.question import Question
from dra_plan.planner.waves import AtRest, PodKey, come_to_rest, devices_of, let_go, pod_key, without_place
from dra_plan.questions.repack.document import RepackedPod, RepackWave, RoomPlace
from dra_plan.questions.repack.wanted import RoomAsked
from dra_plan.releases import Target
from dra_plan.scheduler.cluster.common import Common
from dra_plan.whatif.edits import cordoned, pod_name, replaced


class Way(enum.Enum):
    """How closely the scheduler is guided. Less guidance makes the moves easier to carry out."""

    LOOSE = "only the nodes to be freed are cordoned"
    LED = "nodes that are meant for others are cordoned, too, and fewer pods move at a time where more do not do"
    ONE_BY_ONE = "and pods move one at a time"
    IN_TURN = "pods that wait for each other are evicted before the node that they wait for is free"


@dataclass(frozen=True)
class RepackedCluster:
    """The waves, and the nodes that the wanted pods get.

    `inventory` is the cluster at the end. `path` contains the cluster after each wave.
    """

    waves: tuple[RepackWave, ...]
    places: tuple[RoomPlace, ...]
    inventory: Inventory
    path: tuple[Inventory, ...] = ()


@dataclass(frozen=True)
class Stopped:
    """Why the moves cannot be carried out."""

    message: str


@dataclass(frozen=True)
class MoveCarrier:
    """Carries out moves in a simulated cluster. In `inventory`, the wanted pods are pending."""

    inventory: Inventory
    target: Target
    question: Question
    room: RoomAsked
    prices: dict[PodKey, int]
    common: Common

    def out(self, moves: Sequence[Move], roomy: Collection[str], rooms: int) -> RepackedCluster | Stopped:
        """Return the moves in waves, or why they cannot be carried out.

        The scheduler is guided as little as possible. `roomy` are the nodes to free. In the end, `rooms` of the wanted
        pods must fit.
        """
        stopped = Stopped("")
        has_circles = False
        for way in Way:
            if way is Way.IN_TURN and not has_circles:
                break
            attempt = _Attempt(self, list(moves), frozenset(roomy), way, rooms)
            found = attempt.run()
            if isinstance(found, RepackedCluster):
                return found
            stopped, has_circles = found, has_circles or attempt.has_circles
        return stopped

    def places(self, inventory: Inventory, number: int) -> RepackedCluster | Stopped:
        """Return the nodes that the scheduler chooses for the wanted pods in this cluster.

        If fewer than `number` of them fit, returns the reason.
        """
        keys = set(self.room.pods)
        after = come_to_rest(inventory, self.target, self.question, lambda pod: pod_key(pod) in keys, self.common)
        if after.evicts:
            return Stopped("other pods would be evicted for those that need the room")
        records = [after.records[key] for key in self.room.pods if key in after.records]
        devices = devices_of(after.inventory, {pod_key(record.pod) for record in records})
        told, message = [], ""
        for key in self.room.pods:
            record = after.records.get(key)
            if record is None or not record.node:
                message = (record.message or record.waiting) if record is not None else ""
                continue
            namespace = "" if self.room.asked == "Free" else key[0]
            held = devices.get(pod_key(record.pod), [])
            told.append(RoomPlace(namespace=namespace, name=key[1], node=record.node, devices=held))
        if len(told) < number:
            return Stopped(message or "the scheduler does not schedule the pods that need the room")
        return RepackedCluster((), tuple(told), after.inventory)


class _Attempt:
    """One way to carry the moves out."""

    def __init__(self, given: MoveCarrier, moves: list[Move], roomy: frozenset[str], way: Way, rooms: int) -> None:
        self._given, self._left, self._roomy, self._way, self._rooms = given, moves, roomy, way, rooms
        self._now = given.inventory
        self._waves: list[RepackWave] = []
        self._path: list[Inventory] = []
        self._waiting: dict[PodKey, tuple[Move, Pod]] = {}
        """The evicted pods without a node, by the name of the replacement."""
        self.has_circles = False

    def run(self) -> RepackedCluster | Stopped:
        """Return the waves and the final nodes, or the reason why the moves could not be carried out."""
        while self._left:
            stopped = self._step()
            if stopped is not None:
                return stopped
        found = self._given.places(self._now, self._rooms)
        if isinstance(found, RepackedCluster):
            return replace(found, waves=tuple(self._waves), path=tuple(self._path))
        return found

    def _step(self) -> Stopped | None:
        """Carry out one wave: moves that need not wait; else one that fits now all the same; else a cycle at once."""
        ready = [move for move in self._left if not self._before(move)]
        if not ready:
            self.has_circles = True
            if self._way is Way.IN_TURN:
                return self._in_turn(self._circle())
            if any(self._wave([move]) is None for move in list(self._left)):
                return None
            return self._wave(self._circle())
        stopped = self._wave(ready if self._way is not Way.ONE_BY_ONE else ready[:1])
        while stopped is not None and self._way is Way.LED and len(ready) > 1:
            ready = ready[: len(ready) // 2]
            stopped = self._wave(ready)
        return stopped

    def _before(self, move: Move) -> list[Move]:
        return [each for each in self._left if each is not move and each.resident.node == move.to_node]

    def _circle(self) -> list[Move]:
        """Return the first move with all moves that must precede it, directly or indirectly."""
        found = [self._left[0]]
        for move in found:
            found += [each for each in self._before(move) if each not in found]
        return found

    def _in_turn(self, circle: list[Move]) -> Stopped | None:
        """Evict pods whose new node is not free yet, then those on it: the first are the first to be scheduled there.

        The other nodes of the circle are cordoned meanwhile, so that no pod returns.
        """
        closed = self._roomy | {node for move in circle for node in (move.to_node, move.resident.node)}
        while circle or self._waiting:
            going = [] if self._waiting else [circle.pop(0)]
            [first, *_] = [*(move for move, _ in self._waiting.values()), *going]
            going += [move for move in circle if move.resident.node == first.to_node]
            circle = [move for move in circle if move not in going]
            stopped = self._wave(going, closed - {first.to_node}, may_wait=True)
            if stopped is not None:
                return stopped
        return None

    def _wave(
        self, moves: Sequence[Move], cordons: Collection[str] | None = None, *, may_wait: bool = False
    ) -> Stopped | None:
        """Evict the pods, and schedule them and those that wait; with `may_wait`, some may stay without a node."""
        index = Index(self._now)
        going = self._going(moves, index) if moves else []
        if isinstance(going, Stopped) or (may_wait and len(going) < len(moves)):
            return (
                going
                if isinstance(going, Stopped)
                else Stopped("a budget does not allow all of the pods to be evicted")
            )
        cordons = self._cordons(moves) if cordons is None else cordons
        given, before = self._given, self._now
        nodes = [cordoned(node) if node.metadata.name in cordons else node for node in before.nodes]
        vacated = replaced(replace(before, nodes=nodes), going, index, recreates=True).inventory
        keys = {pod_key(pod) for pod in going}
        chosen = keys | set(self._waiting)
        after = come_to_rest(vacated, given.target, given.question, lambda pod: pod_key(pod) in chosen, given.common)
        names = {pod.key for pod in going} if may_wait else set()
        lost = next((each for each in without_place(before, after) if each[0] not in names), None)
        if lost is not None:
            return Stopped(f"pod {lost[0]} cannot be scheduled after its move: {lost[2]}".rstrip(": "))
        if after.evicts:
            return Stopped("the scheduler would evict other pods for the pods that move")
        meant = {move.resident.key: move for move in moves}
        waited = {key: pod for key, (_, pod) in self._waiting.items()}
        left = dict(self._waiting) | {pod_key(pod): (meant[pod_key(pod)], pod) for pod in going}
        told = list(self._moved(index, after, waited | {pod_key(pod): pod for pod in going}))
        if not told:
            return Stopped("pods that wait for each other do not get their nodes")
        placed = {(each.namespace, each.name) for each in told}
        self._waiting = {
            pod_key(after.records[key].pod): (move, pod)
            for key, (move, pod) in left.items()
            if pod_key(pod) not in placed
        }
        waiting = [pod_name(pod) for pod in going if pod_key(pod) not in placed]
        own = {node.metadata.name for node in before.nodes if node.spec.unschedulable}
        self._waves.append(RepackWave(cordoned=sorted(set(cordons) - own), moved=told, waiting=waiting))
        self._left = [move for move in self._left if move.resident.key not in keys]
        self._now = replace(after.inventory, nodes=given.inventory.nodes)
        self._path.append(self._now)
        return None

    def _moved(self, index: Index, after: AtRest, pods: Mapping[PodKey, Pod]) -> Iterator[RepackedPod]:
        """Yield those of the pods that have a node now, by the name of the pod that waited for it."""
        records = {key: after.records[key] for key in pods}
        devices = devices_of(after.inventory, {pod_key(record.pod) for record in records.values()})
        owners = _Owners(index)
        for key, pod in pods.items():
            record = records[key]
            if record.node:
                yield RepackedPod(
                    namespace=pod.metadata.namespace,
                    name=pod.metadata.name,
                    owner=owners.of(pod),
                    replicas=owners.replicas(pod),
                    from_node=pod.spec.node_name,
                    to_node=record.node,
                    devices=devices.get(pod_key(record.pod), []),
                    price=self._given.prices[pod_key(pod)],
                )

    def _going(self, moves: Sequence[Move], index: Index) -> list[Pod] | Stopped:
        """Return the pods of these moves that budgets allow to evict now."""
        keys = {move.resident.key: position for position, move in enumerate(moves)}
        leaving = [pod for pod in self._now.pods if pod_key(pod) in keys]
        if self._way is Way.IN_TURN:
            leaving.sort(key=lambda pod: keys[pod_key(pod)])
        going, budget = let_go(index, leaving)
        if not going or len(leaving) < len(keys):
            return Stopped(f"budget {budget} does not let the pods go" if budget else "a pod is gone before its move")
        return going

    def _cordons(self, moves: Sequence[Move]) -> set[str]:
        """Return the nodes that these pods must avoid."""
        meant = {move.to_node for move in moves}
        found = set(self._roomy)
        if self._way is not Way.LOOSE:
            found |= {move.to_node for move in self._left}
            found |= {move.resident.node for move in self._left}
        return found - meant


class _Owners:
    """The controllers that recreate pods."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def of(self, pod: Pod) -> ObjectName | None:
        """Return the topmost workload above the pod that is in the input.

        If no such workload is in the input, return the pod's controller. For a bare pod, return None.
        """
        top = self._index.top_of(pod)
        if top is not None:
            return ObjectName(kind=top.kind, namespace=top.metadata.namespace, name=top.metadata.name)
        controller = pod.metadata.controller
        if controller is None:
            return None
        return ObjectName(kind=controller.kind, namespace=pod.metadata.namespace, name=controller.name)

    def replicas(self, pod: Pod) -> int | None:
        """Return the number of pods that the pod's workload wants, or None if the workload is not in the input."""
        top = self._index.top_of(pod)
        return None if top is None else wanted(top, self._index.pods_of(top)).number
