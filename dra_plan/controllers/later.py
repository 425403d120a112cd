"""Move a settling cluster to the state in a later input.

Only the differences between two inputs are written to the API server, so what the scheduler and the controllers have
done since the earlier input is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dra_plan.api.core import Pod
from dra_plan.api.inventory import Inventory
from dra_plan.manifests import kinds
from dra_plan.scheduler.cluster.keys import pod_uid
from dra_plan.scheduler.simulate import LaterState
from dra_plan.scheduler.simulation import Simulation

from .apiserver import ApiServer
from .endings import BY_EVENT, maker

_APART = ("pods", "claims")
"""The kinds that the simulation itself holds."""

_Key = tuple[str, str, str]


def go_to(simulation: Simulation, server: ApiServer, before: Inventory, after: Inventory) -> None:
    """Advance to the time of the later input, and write the differences between the two inputs to the API server."""
    later = LaterState(simulation, before, after)
    later.pass_time()
    for holder in dict.fromkeys(kind.holder for kind in kinds.every() if kind.holder not in _APART):
        old, new = getattr(before, holder), getattr(after, holder)
        if old != new:
            server.replace_objects(holder, list(_changed(server.objects(holder), old, new)))
    later.claims()
    _LaterPods(simulation, server).go_to(before.pods, after.pods, later)


def _changed(now: Any, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Any]:
    """Yield the current objects with the differences; an object that is the same in both inputs stays unchanged."""
    was, will = _by_name(old), _by_name(new)
    for key, each in _by_name(now).items():
        if key in will:
            yield each if was.get(key) == will[key] else will[key]
        elif key not in was:
            yield each
    there = _by_name(now)
    yield from (each for key, each in will.items() if key not in there)


def _by_name(objects: Any) -> Mapping[_Key, Any]:
    return {(each.kind, each.metadata.namespace, each.metadata.name): each for each in objects}


class _LaterPods:
    """The pods in two inputs."""

    def __init__(self, simulation: Simulation, server: ApiServer) -> None:
        self._simulation, self._server = simulation, server

    def go_to(self, before: Sequence[Pod], after: Sequence[Pod], later: LaterState) -> None:
        old = {pod_uid(pod): pod for pod in map(self._simulation.admitted, before)}
        new = {pod_uid(pod): pod for pod in map(self._simulation.admitted, after)}
        there = self._simulation.cluster.pods
        for uid in old:
            if uid not in new and uid in there:
                self._server.delete_pod(there[uid], BY_EVENT)
        for uid, pod in new.items():
            if uid not in old:
                self._arrived(pod)
            elif uid in there:
                later.change_pod(old[uid], pod, there[uid])

    def _arrived(self, pod: Pod) -> None:
        """Handle a pod in the next input.

        If a pod of its controller is expected, the cluster has already created it.
        """
        foreseen = next(self._foreseen(pod), None)
        if foreseen is not None:
            self._server.delete_pod(foreseen, BY_EVENT)
        self._server.put_pod(pod)

    def _foreseen(self, pod: Pod) -> Iterator[Pod]:
        """Yield pods created here to which the new pod may correspond, by its name, or else by its controller."""
        made = [each for uid, each in self._simulation.cluster.pods.items() if uid in self._server.made]
        yield from (each for each in made if each.key == pod.key)
        owner = maker(pod.metadata)
        if owner[0] not in ("", "StatefulSet"):
            yield from (each for each in made if maker(each.metadata) == owner)
