"""Several processes give the document of one, to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_plan import allocate
from tests.allocator.build import claim, device, device_class, exactly, is_v, pool


def cluster() -> list[dict[str, Any]]:
    """Three nodes; of five claims one does not fit, one has a selector that fails, and one meets a known defect."""
    objects: list[dict[str, Any]] = [device_class()]
    for index in range(3):
        objects.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{index}"}})
        devices = [device(f"d{number}", v=number % 2) for number in range(4 + index)]
        objects += pool(*devices, name=f"p{index}", nodeName=f"n{index}")
    claims = [
        claim(exactly("one"), name="one"),
        claim(exactly("many", 5, where=is_v(0)), name="many"),
        claim(exactly("wrong", where='device.attributes["x"].y == 1'), name="wrong"),
        claim(exactly("pair", 2), name="pair", constraints=[{"matchAttribute": "a.example.com/v"}]),
        claim(exactly("three", 3), name="three", constraints=[{"distinctAttribute": "a.example.com/v"}]),
    ]
    return [*objects, *claims]


def text(jobs: int, **options: Any) -> str:
    return json.dumps(allocate(cluster(), jobs=jobs, **options).to_dict())


def test_two_processes_give_the_same_document() -> None:
    alone = text(1)
    assert {s["outcome"] for s in json.loads(alone)["claimSets"]} == {"Fits", "DoesNotFit", "Error"}
    assert any(warning["code"] == "upstream-defect" for warning in json.loads(alone)["warnings"])
    assert text(2) == alone


def test_reasons_are_found_with_several_processes_too() -> None:
    assert text(2, explain=True) == text(1, explain=True)


def test_more_processes_than_claim_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("dra_plan.planner.parallel.plan_sets", lambda *_, **__: asked.append(1))
    allocate([*cluster()[:-4]], jobs=8)
    assert not asked, "one claim set needs no other process"


@pytest.mark.long
def test_dask_gives_the_same_document() -> None:
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers),
        joblib.parallel_config(backend="dask"),
    ):
        assert text(2) == text(1)
