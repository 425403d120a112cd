"""New nodes are made in batches: what is found is what it is with one after the other, and costs little."""

from __future__ import annotations

from typing import Any

import pytest

from dra_plan import Cluster
from dra_plan.questions.autoscale import scale_up
from dra_plan.scheduler.cluster.cluster import SimulatedCluster
from tests.questions.autoscale.clusters import grouped, waiting
from tests.questions.autoscale.test_recorded import CASES


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: str(case["id"]))
def test_the_size_of_batches_changes_no_answer(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {"nodeGroups": case["nodeGroups"], "options": case["options"]}
    cluster = Cluster.of(case["objects"], kubernetes_version="1.36.2")
    expected = cluster.autoscale(groups).to_dict()
    for size in (1, 2, 64):
        monkeypatch.setattr(scale_up, "AT_ONCE", size)
        assert cluster.autoscale(groups).to_dict() == expected


def test_slices_are_gathered_anew_a_few_times_however_many_nodes_come(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = []
    original = SimulatedCluster.set_slices
    monkeypatch.setattr(
        SimulatedCluster, "set_slices", lambda self, slices: (gathered.append(1), original(self, slices))[1]
    )
    found = Cluster.of(waiting(200)).autoscale(grouped(300)).to_dict()
    assert found["scaleUp"]["plan"] == [{"group": "pool", "from": 0, "to": 200}]
    assert len(gathered) < 12, "doubling batches: 16, 16, 32, 64, 128"


def test_no_more_nodes_are_added_than_there_is_room_for() -> None:
    found = Cluster.of(waiting(30)).autoscale(grouped(21)).to_dict()
    assert found["scaleUp"]["plan"] == [{"group": "pool", "from": 0, "to": 21}]
    assert len(found["scaleUp"]["triggered"]) == 21
