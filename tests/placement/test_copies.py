"""Copies of pods: the most that can run beside what runs, alone and in proportion."""

from __future__ import annotations

from typing import Any

import pytest

import dra_plan
from dra_plan.api.core import Pod
from dra_plan.placement import solver
from dra_plan.placement.search import BestPlacement, seek_copies
from dra_plan.placement.solver import SolverMissingError
from tests.build import device_class, node, pod, request, slice_, template


def _objects(gpus: dict[str, int], cpu: str = "16") -> list[dict[str, Any]]:
    made = [device_class()]
    for name, number in gpus.items():
        made += [
            slice_(name, *(f"gpu-{index}" for index in range(number))),
            node(name, cpu=cpu, memory="64Gi", pods="20"),
        ]
    for name, count in (("one", 1), ("three", 3)):
        made += [template(name, request(count=count)), pod(name, memory=None, templates={"gpus": name})]
    return made


def _most(objects: list[dict[str, Any]], shares: dict[str, int], limit: int = 100) -> BestPlacement:
    cluster = dra_plan.Cluster.of(objects)
    pods: dict[str, Pod] = {pod.metadata.name: pod for pod in cluster.inventory.pods}
    return seek_copies(cluster.inventory, cluster.target, [(pods[name], n) for name, n in shares.items()], limit)


def test_copies_of_one_pod_fill_every_node() -> None:
    found = _most(_objects({"a": 4, "b": 5, "c": 7}), {"three": 1})
    assert (found.reached, found.bounds) == ((4,), (4,))
    assert [placed.node for placed in found.placed] == ["a", "b", "c", "c"]


def test_no_more_copies_than_the_limit() -> None:
    found = _most(_objects({"a": 40, "b": 40}, cpu="64"), {"one": 1}, limit=7)
    assert (found.reached, found.bounds, len(found.placed)) == ((7,), (7,), 7)


def test_cpu_counts_as_devices_do() -> None:
    found = _most(_objects({"a": 8, "b": 8}, cpu="3"), {"one": 1})
    assert (found.reached, found.bounds) == ((6,), (6,))


def test_pods_that_run_keep_their_room() -> None:
    objects = _objects({"a": 8}, cpu="5")
    running = pod("running", memory=None, nodeName="a")
    assert _most([*objects, running], {"one": 1}).reached == (4,)


def test_copies_in_proportion_are_counted_as_whole_sets() -> None:
    """16 devices: three sets of one large and two small pods take 15."""
    found = _most(_objects({"a": 7, "b": 9}), {"three": 1, "one": 2})
    assert (found.reached, found.bounds, len(found.placed)) == ((3,), (3,), 9)


def test_one_kind_of_pods_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise SolverMissingError("no such file")

    monkeypatch.setattr(solver, "_library", missing)
    assert _most(_objects({"a": 4, "b": 5}), {"three": 1}).reached == (2,)
    with pytest.raises(SolverMissingError, match=r"HiGHS, can't be loaded .* no such file"):
        _most(_objects({"a": 4, "b": 5}), {"three": 1, "one": 1})
