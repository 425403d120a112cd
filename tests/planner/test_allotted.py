"""The time that a whole answer may take, and what hears how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from dra_plan import Cluster, DraPlanError, OutOfTimeError, UsageError
from dra_plan.allotted import allotted, check, steps
from tests.cli.running import ROOT

CLUSTER = Cluster.load([ROOT / "fixtures" / "quickstart"])

ASKED: dict[str, Callable[[float | None], Any]] = {
    "capacity": lambda seconds: CLUSTER.capacity(timeout=seconds),
    "diff": lambda seconds: CLUSTER.diff(CLUSTER.drain("gpu-a"), timeout=seconds),
    "drain_each": lambda seconds: CLUSTER.drain_each(timeout=seconds),
    "grow": lambda seconds: CLUSTER.grow(like="gpu-a", timeout=seconds),
    "impact": lambda seconds: CLUSTER.impact(CLUSTER, timeout=seconds),
    "repack": lambda seconds: CLUSTER.repack(free="1xA100=1", timeout=seconds),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_an_answer_that_takes_too_long_is_an_error(ask: Callable[[float | None], Any]) -> None:
    with pytest.raises(OutOfTimeError, match="no result within 0 seconds") as raised:
        ask(0)
    assert isinstance(raised.value, DraPlanError)
    assert isinstance(raised.value, TimeoutError)
    assert str(ask(None)) == str(ask(3600))


def test_wrong_times_are_refused() -> None:
    with pytest.raises(UsageError, match="timeout: expected a number of seconds"):
        CLUSTER.capacity(timeout=-1)
    with pytest.raises(UsageError, match="progress: expected a function"):
        CLUSTER.capacity(progress=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_node_that_was_drained_is_heard_of(jobs: int) -> None:
    heard: list[tuple[int, int]] = []
    CLUSTER.drain_each(jobs=jobs, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_each_owner_that_was_counted_is_heard_of() -> None:
    heard: list[tuple[int, int]] = []
    CLUSTER.capacity(progress=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 2), (2, 2)]


def test_the_shorter_time_counts_and_other_threads_have_their_own() -> None:
    other: list[str] = []

    def elsewhere() -> None:
        check()
        other.append("went on")

    with allotted(0), allotted(3600):
        time.sleep(0.001)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        with pytest.raises(OutOfTimeError, match="within 0 seconds"):
            list(steps([1], 1))
    check()
    assert other == ["went on"]
