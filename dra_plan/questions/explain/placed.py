"""`explain`: what keeps pods from starting on their nodes, and which taints will evict them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from dra_plan.allocator import View
from dra_plan.api.core import ContainerStatus, Pod
from dra_plan.api.inventory import HeardEvent, Inventory
from dra_plan.documents.base import DeviceName
from dra_plan.documents.devices import TaintName
from dra_plan.documents.stories import DriverPod
from dra_plan.documents.verdict_parts import PodEvent, TaintEviction
from dra_plan.documents.verdicts import OwnerVerdict
from dra_plan.questions.explain.bindings import devices_of, volumes_elsewhere

if TYPE_CHECKING:
    from dra_plan.controllers.foreseen import ForeseenEviction, ForeseenEvictions
    from dra_plan.explanation.driver_pods import DriverPods

MOST_EVENTS = 3
"""The maximum number of reasons of events that are shown for a pod."""


_REPEATED = ("Failed", "BackOff", "InspectFailed")
"""Reasons of events that the status of a container repeats."""


class PlacedPods:
    """The verdicts on pods that already have a node."""

    def __init__(self, inventory: Inventory, view: View) -> None:
        self._inventory, self._view = inventory, view

    def of_pod(self, made: OwnerVerdict, pod: Pod) -> OwnerVerdict:
        """Return the verdict on a pod that has a node, with what keeps it from starting."""
        made = structs.replace(made, evictions=self.evictions([pod]))
        if pod.status.phase not in ("", "Pending"):
            return made
        return structs.replace(
            made,
            volumes_elsewhere=volumes_elsewhere(self._inventory, pod),
            events=self._events(pod),
            driver_pods=self._driver_pods(pod),
        )

    def evictions(self, pods: Iterable[Pod]) -> list[TaintEviction]:
        """Return the taint evictions of these pods, the earliest first. Pods that will not be evicted are left out."""
        first = [next(iter(self._foreseen.of(pod)), None) for pod in pods]
        return [_taint_eviction(each) for each in sorted(filter(None, first), key=lambda each: each.seconds)]

    @cached_property
    def _foreseen(self) -> ForeseenEvictions:
        from dra_plan.controllers.foreseen import ForeseenEvictions

        return ForeseenEvictions(self._inventory, self._view.target)

    @cached_property
    def drivers(self) -> DriverPods:
        """The pods of device drivers."""
        from dra_plan.explanation.driver_pods import DriverPods

        return DriverPods(self._inventory)

    @cached_property
    def _heard(self) -> Mapping[tuple[str, str], list[HeardEvent]]:
        """The events by namespace and name of the pod, the latest first."""
        found: dict[tuple[str, str], list[HeardEvent]] = {}
        for one in sorted(self._inventory.events, key=lambda one: one.time, reverse=True):
            found.setdefault((one.namespace, one.pod), []).append(one)
        return found

    def _events(self, pod: Pod) -> list[PodEvent]:
        """Return the last event of each reason about the pod, the latest first."""
        uid = pod.metadata.uid
        last: dict[str, PodEvent] = {}
        repeated = _REPEATED if any(map(_is_told, pod.status.container_statuses)) else ()
        for one in self._heard.get((pod.metadata.namespace, pod.metadata.name), ()):
            is_it = not one.uid or not uid or one.uid == uid
            if is_it and one.reason not in last and one.reason not in repeated:
                last[one.reason] = PodEvent(
                    reason=one.reason, message=one.message, component=one.said_by, time=one.time, count=one.times
                )
        return list(last.values())[:MOST_EVENTS]

    def _driver_pods(self, pod: Pod) -> list[DriverPod]:
        """Return the pods of its devices' drivers on its node that are not ready."""
        node = next((one for one in self._inventory.nodes if one.metadata.name == pod.spec.node_name), None)
        drivers = {device.driver for device in devices_of(self._inventory, pod)} if node is not None else set()
        if node is None or not drivers:
            return []
        return [each for driver in sorted(drivers) for each in self.drivers.on_node(self._view, driver, node)]


def _is_told(status: ContainerStatus) -> bool:
    return status.state.waiting is not None and bool(status.state.waiting.message)


def _taint_eviction(of: ForeseenEviction) -> TaintEviction:
    return TaintEviction(
        pod=of.pod.metadata.name,
        second=round(of.seconds, 1),
        time=of.time,
        taint=TaintName(key=of.key, value=of.value, effect="NoExecute"),
        device=DeviceName(driver=of.device[0], pool=of.device[1], device=of.device[2]) if of.device else None,
        claim=of.claim,
        node=of.node,
        rule=of.rule,
    )
