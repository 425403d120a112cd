"""Settling a cluster in which nobody is evicted costs little more than one pass of the scheduler."""

from __future__ import annotations

import time
from typing import Any

import pytest

from dra_plan import Cluster
from tests.build import gpus, pod, template, workload
from tests.work import instructions

MOST = 1.5
"""Of what `schedule` costs."""
SHAPE = pod(templates={"gpu": "t"}, labels={"app": "w"})


def fleet(kind: str, nodes: int, owners: int, each: int, **spec: Any) -> Cluster:
    """Nodes with eight devices each, and workloads of so many pods."""
    objects = [*gpus(*(f"n{number}" for number in range(nodes)), each=8), template()]
    objects += [workload(kind, f"w{number}", SHAPE, replicas=each, **spec) for number in range(owners)]
    return Cluster.of(objects)


def settle(cluster: Cluster) -> None:
    plan = cluster.schedule(settle=True)
    assert plan.settled is not None
    assert not plan.settled.server.ended
    assert all(one.node_name for one in plan)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "spec"),
    [("Deployment", {}), ("StatefulSet", {}), ("StatefulSet", {"podManagementPolicy": "Parallel"})],
    ids=["Deployment", "ordered", "parallel"],
)
def test_a_small_cluster(kind: str, spec: dict[str, Any]) -> None:
    fleet(kind, 2, 1, 2, **spec).schedule(settle=True)  # what is remembered is remembered for both
    alone = instructions(lambda: fleet(kind, 100, 4, 30, **spec).schedule().document)
    both = instructions(lambda: settle(fleet(kind, 100, 4, 30, **spec)))
    assert both < MOST * alone


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_2000_pods_on_1000_nodes(kind: str) -> None:
    """The best of three, in processor time."""
    spent: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(3):
        for settles, times in spent.items():
            cluster = fleet(kind, 1000, 20, 100)
            began = time.process_time()
            _ = cluster.schedule(settle=settles).document
            times.append(time.process_time() - began)
    assert min(spent[True]) < MOST * min(spent[False])
