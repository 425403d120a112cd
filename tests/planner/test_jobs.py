"""Several processes give the document of one, to the byte."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dra_plan import Cluster, allocate, releases
from dra_plan.allocator import View
from dra_plan.allocator.search import pack
from dra_plan.errors import UsageError
from dra_plan.manifests.decode import from_dicts
from dra_plan.planner import parallel
from tests.allocator.build import claim, device, device_class, exactly, is_v, pool
from tests.build import node


def cluster() -> list[dict[str, Any]]:
    """Three nodes; of five claims one does not fit, one has a selector that fails, and one meets a known defect."""
    objects: list[dict[str, Any]] = [device_class()]
    for index in range(3):
        objects.append(node(f"n{index}"))
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


@pytest.mark.parametrize("forks", [True, False])
def test_progress_is_told_of_all_questions(monkeypatch: pytest.MonkeyPatch, forks: bool) -> None:
    monkeypatch.setattr(parallel, "_may_fork", lambda: forks and sys.platform == "linux")
    heard: list[tuple[int, int]] = []
    Cluster.of(cluster()).allocate(jobs=2, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (15, 15)
    assert [done for done, _ in heard] == sorted({done for done, _ in heard})
    assert len(heard) >= 5


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


def _where(given: str, items: Iterable[int]) -> Iterator[tuple[str, int, int]]:
    return ((given, item, os.getpid()) for item in items)


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
@pytest.mark.parametrize("count", [2, 5, parallel.MOST_PORTIONS, parallel.MOST_PORTIONS + 1, 1000])
def test_answers_come_in_order_whoever_gives_them(count: int) -> None:
    answers = parallel.in_shares(_where, "given", range(count), 3)
    assert [(given, item) for given, item, _ in answers] == [("given", item) for item in range(count)]


def _wait_for(marks: Path, number: int) -> None:
    """Until so many marks are there; for ever they are not waited for."""
    for _ in range(60_000):
        if len(list(marks.iterdir())) >= number:
            return
        time.sleep(0.001)


def _wait_for_another(marks: Path, items: Iterable[int]) -> Iterator[int]:
    """The first item of each process is done when another process has begun with one, too."""
    for _ in items:
        (marks / str(os.getpid())).touch()
        _wait_for(marks, 2)
        yield os.getpid()


@pytest.mark.usefixtures("forks")
def test_this_process_and_another_take_items(tmp_path: Path) -> None:
    processes = parallel.in_shares(_wait_for_another, tmp_path, range(9), 2)
    assert os.getpid() in processes
    assert len(set(processes)) == 2


def _slow_at_first(marks: Path, items: Iterable[int]) -> Iterator[int]:
    """Who gets the first item waits until all others are done."""
    for item in items:
        if item == 0:
            _wait_for(marks, 8)
        (marks / str(item)).touch()
        yield os.getpid()


@pytest.mark.usefixtures("forks")
def test_who_is_slow_gets_fewer_items(tmp_path: Path) -> None:
    slow, *others = parallel.in_shares(_slow_at_first, tmp_path, range(9), 2)
    assert slow not in others


def _end_elsewhere(own: int, items: Iterable[int]) -> Iterator[int]:
    for item in items:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        yield item


@pytest.mark.usefixtures("forks")
def test_items_of_a_process_that_was_ended_are_done_here() -> None:
    assert parallel.in_shares(_end_elsewhere, os.getpid(), range(600), 3) == [*range(600)]


@pytest.mark.usefixtures("forks")
def test_where_no_process_may_be_started_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    answers = parallel.in_shares(_where, "given", range(5), 3)
    assert {process for _, _, process in answers} == {os.getpid()}


@pytest.mark.usefixtures("forks")
def test_a_short_pipe_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("fcntl.fcntl", refuse)
    assert len(set(parallel.in_shares(_wait_for_another, tmp_path, range(9), 2))) == 2
    assert text(2) == text(1)


def _die_while_telling(given: tuple[int, Path], items: Iterable[int]) -> Iterator[bytes]:
    """Another process has more to tell than a pipe holds, and is ended while it waits for that to be read."""
    own, marks = given
    for _ in items:
        if os.getpid() == own:
            _wait_for(marks, 1)
            [other] = marks.iterdir()
            time.sleep(0.2)
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(other.name), signal.SIGKILL)
            yield b"own"
        else:
            (marks / str(os.getpid())).touch()
            yield bytes(4 * parallel.PIPE_SIZE)


@pytest.mark.usefixtures("forks")
def test_half_an_answer_is_none(tmp_path: Path) -> None:
    assert parallel.in_shares(_die_while_telling, (os.getpid(), tmp_path), range(9), 2) == [b"own"] * 9


def _fail(_given: int, items: Iterable[int]) -> Iterator[int]:
    for item in items:
        if item == 1:
            raise UsageError(f"wrong {item}")
        yield item


@pytest.mark.usefixtures("forks")
def test_what_goes_wrong_elsewhere_is_raised_here() -> None:
    with pytest.raises(UsageError, match="wrong 1"):
        parallel.in_shares(_fail, os.getpid(), range(600), 2)


def test_answers_are_the_same_after_they_were_written_and_read() -> None:
    config = {"requests": ["one"], "opaque": {"driver": "a.example.com", "parameters": {"size": 2**70}}}
    given = [*cluster(), claim(exactly("one"), name="configured", config=[config])]
    plans = list(allocate(given))
    assert {pack(plan.nodes) is None for plan in plans} == {True, False}, "some go packed, others as they are"
    answers = [each for plan in plans for each in plan.nodes]
    for answer, read in zip(
        answers, [each for plan in pickle.loads(pickle.dumps(plans)) for each in plan.nodes], strict=True
    ):
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
