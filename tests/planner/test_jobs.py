"""Several processes give the document of one, to the byte."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from dra_plan import allocate, releases
from dra_plan.allocator import View
from dra_plan.errors import UsageError
from dra_plan.manifests.decode import from_dicts
from dra_plan.planner import parallel
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


def test_processes_that_joblib_starts_give_the_same_document(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = text(1)
    monkeypatch.setattr(parallel, "_may_fork", lambda: False)
    assert text(2) == alone


def test_the_backend_that_the_caller_chose_is_used() -> None:
    import joblib

    with joblib.parallel_config(backend="threading"):
        assert parallel._may_fork() is False
        assert text(2) == text(1)


def _where(given: str, items: Sequence[int]) -> list[tuple[str, int, int]]:
    return [(given, item, os.getpid()) for item in items]


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests may have left threads, with which nothing is forked."""
    if sys.platform != "linux":
        pytest.skip("forks are for Linux")
    monkeypatch.setattr(parallel, "_may_fork", lambda: True)


@pytest.mark.usefixtures("forks")
def test_forked_processes_give_the_same_document() -> None:
    assert text(3) == text(1)


@pytest.mark.usefixtures("forks")
def test_one_share_is_done_here() -> None:
    answers = parallel.in_shares(_where, "given", range(5), 2)
    assert [(given, item) for given, item, _ in answers] == [("given", item) for item in range(5)]
    here = [process == os.getpid() for _, _, process in answers]
    assert here == [True, False, True, False, True]


def _end_elsewhere(own: int, items: Sequence[int]) -> list[int]:
    if os.getpid() != own:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(items)


@pytest.mark.usefixtures("forks")
def test_the_share_of_a_process_that_was_ended_is_done_here() -> None:
    assert parallel.in_shares(_end_elsewhere, os.getpid(), range(6), 3) == [*range(6)]


def _fail(_given: int, items: Sequence[int]) -> list[int]:
    if 1 in items:
        raise UsageError(f"wrong {items[0]}")
    return list(items)


@pytest.mark.usefixtures("forks")
def test_what_goes_wrong_elsewhere_is_raised_here() -> None:
    with pytest.raises(UsageError, match="wrong 1"):
        parallel.in_shares(_fail, os.getpid(), range(2), 2)


def test_answers_are_the_same_after_they_were_written_and_read() -> None:
    config = {"requests": ["one"], "opaque": {"driver": "a.example.com", "parameters": {"size": 2**70}}}
    given = [*cluster(), claim(exactly("one"), name="configured", config=[config])]
    answers = [node for plan in allocate(given) for node in plan.nodes]
    for answer, read in zip(answers, pickle.loads(pickle.dumps(answers)), strict=True):
        assert (read.node, read.outcome, read.message, read.steps) == (
            answer.node,
            answer.outcome,
            answer.message,
            answer.steps,
        )
        assert read.allocations == answer.allocations
        assert read.sighted == answer.sighted
        assert type(read.error) is type(answer.error)


def test_a_view_is_written_without_what_follows_from_it() -> None:
    view = View.of(from_dicts(cluster()), releases.target())
    bare = len(pickle.dumps(view))
    assert view.gatherer.slices
    assert view.state.dedicated == {}
    assert len(pickle.dumps(view)) == bare
    assert pickle.loads(pickle.dumps(view)).slices == view.slices


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
