"""Which waiting pods an event is put to: whoever is not asked would have said no.

In random clusters whose pods wait for claims, devices and nodes, every pod that the queue leaves alone at an event is
asked all the same.
"""

from __future__ import annotations

import pytest

from dra_plan.manifests.decode import from_dicts
from dra_plan.releases import target
from dra_plan.scheduler.events import Event, Resource
from dra_plan.scheduler.framework.types import QueuedPod
from dra_plan.scheduler.queue import SchedulingQueue
from dra_plan.scheduler.simulate import simulate
from dra_plan.scheduler.simulation import Simulation
from tests.build import claim, gpus, pod, request
from tests.scheduler.reading import plan

from .random_clusters import cluster, later

SEEDS = 30
hearing = SchedulingQueue._hearing


def test_who_is_not_asked_would_have_said_no(monkeypatch: pytest.MonkeyPatch) -> None:
    silent: dict[Resource, int] = {}

    def checked(queue: SchedulingQueue, event: Event) -> list[QueuedPod]:
        heard = hearing(queue, event)
        asked = {item.uid for item in heard}
        for item in queue._unschedulable.values():
            if item.uid not in asked:
                assert not item.gated_by
                assert queue._interested(item, event) is None
                silent[event.resource] = silent.get(event.resource, 0) + 1
        return heard

    monkeypatch.setattr(SchedulingQueue, "_hearing", checked)
    for seed in range(SEEDS):
        first = cluster(seed)
        states = [from_dicts(objects) for objects in (first, later(seed + 1, first))]
        simulate(Simulation(states[0], target=target("1.36")), states[1:])
    assert silent[Resource.CLAIM] > 500
    assert len(silent) > 2


def test_a_claim_that_changes_is_heard_of_by_who_uses_it() -> None:
    too_many = claim("d", request(count=9))
    pods = [pod("p1", claims={"x": "c"}), pod("p2", claims={"x": "c"}), pod("q", claims={"x": "d"})]
    document = plan([*gpus("a"), claim("c"), too_many, *pods], trace=True)
    wakes = [(wake["pod"], wake["event"]) for wake in document["trace"]["wakes"]]
    assert wakes == [("default/p2", "ResourceClaimUpdate")]
