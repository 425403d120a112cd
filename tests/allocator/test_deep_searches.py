"""Searches that nest deeper than Python's recursion limit, and the limit afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from dra_plan.allocator import NodeOutcome, Outcome
from tests.build import node

from .build import claim, device, device_class, exactly, pool
from .searching import TARGETS, Cluster, Equals, answers

CLAIMS = 12


@pytest.fixture(autouse=True)
def limit() -> Iterator[int]:
    before = sys.getrecursionlimit()
    yield before
    assert sys.getrecursionlimit() == before


def deep(where: str = "true", devices: int = CLAIMS * 32) -> NodeOutcome:
    """The answer for claims of 32 devices each, the last of which also minds `where`."""
    claims = [
        claim(exactly("r", 32, allocationMode="ExactCount"), name=f"c{number:02}") for number in range(CLAIMS - 1)
    ]
    claims.append(claim(exactly("r", 32, allocationMode="ExactCount", where=where), name="last"))
    offered = pool(*(device(f"d{number:03}") for number in range(devices)))
    any_device = {**device_class(), "spec": {}}
    [answer] = answers(Cluster.of([node(), any_device, *offered, *claims]), TARGETS["upstream"])
    return answer


def test_after_a_solution(limit: int) -> None:
    assert deep().outcome is Outcome.FITS
    assert limit < CLAIMS * 32 * 3, "the search must need more than Python allows"


def test_after_a_pruned_search_without_solution() -> None:
    answer = deep(devices=CLAIMS * 32 - 1)
    assert answer.outcome is Outcome.DOES_NOT_FIT
    assert answer.steps > 500


def test_after_an_error_at_the_bottom() -> None:
    answer = deep(where="missing=1")
    assert answer.outcome is Outcome.ERROR
    assert answer.steps > CLAIMS * 30


def test_after_an_exception_that_nobody_expects(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Equals, "matches", breaks)
    with pytest.raises(KeyboardInterrupt):
        deep(where="true")


def test_with_threads() -> None:
    with ThreadPoolExecutor(4) as workers:
        found = list(workers.map(lambda _: deep().outcome, range(4)))
    assert set(found) == {Outcome.FITS}


@pytest.mark.parametrize("count", [0, -1, -(2**63)])
def test_a_count_that_the_api_server_refuses_takes_no_room_away(count: int) -> None:
    wanted = claim(exactly("r", count, allocationMode="ExactCount"))
    [answer] = answers(
        Cluster.of([node(), {**device_class(), "spec": {}}, *pool(device("d")), wanted]), TARGETS["upstream"]
    )
    assert answer.outcome is Outcome.FITS
    assert answer.allocations[0].devices.results == []
